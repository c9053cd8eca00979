//! Texts that a careless reader spends for ever on, or all memory.

use std::fmt::Write as _;

/// Makes a text of about so many bytes.
pub(crate) type Shape = fn(usize) -> String;

/// Every shape with its name.
pub(crate) const SHAPES: &[(&str, Shape)] = &[
    ("nested substitutions", |size| nested("$(", "a", ")", size)),
    ("open substitutions", |size| repeated("$(", size)),
    ("open parentheses", |size| repeated("(", size)),
    ("nested parentheses", |size| nested("( ", "a", " )", size)),
    ("open arithmetic", |size| repeated("$((", size)),
    ("nested groups", |size| nested("{ ", "a", "; }", size)),
    ("nested defaults", |size| nested("${x:-", "a", "}", size)),
    ("defaults in quotes", |size| nested("\"${x:-", "a", "}\"", size)),
    ("substitutions in quotes", |size| nested("\"$(a ", "a", ")\"", size)),
    ("single quotes", |size| repeated("'", size)),
    ("double quotes", |size| repeated("\"", size)),
    ("ANSI quotes", |size| repeated("$'\\''", size)),
    ("backticks", |size| repeated("`", size)),
    ("backslashes", |size| repeated("\\", size)),
    ("backslashes in backticks", |size| format!("`{}`", repeated("\\\\\\`", size))),
    ("continued lines", |size| repeated("\\\n", size)),
    ("braces that multiply", |size| repeated("{a,b}", size)),
    ("braces that nest", |size| nested("{a,", "b", "}", size)),
    ("ranges that multiply", |size| repeated("{1..999999}", size)),
    ("heredocs on one line", |size| repeated("<<A ", size)),
    ("heredocs one after the other", |size| repeated("cat <<A\na\nA\n", size)),
    ("heredoc without an end", |size| format!("cat <<A\n{}", repeated("A \n", size))),
    ("one long word", |size| repeated("a", size)),
    ("many words", |size| format!("a{}", repeated(" a", size))),
    ("many commands", |size| repeated("a;", size)),
    ("long pipeline", |size| format!("a{}", repeated("|a", size))),
    ("many conditions", |size| format!("a{}", repeated("&&a", size))),
    ("many assignments", |size| repeated("x=$x$x;", size)),
    ("doubling assignments", |size| format!("x=aaaaaaaa;{}$x", repeated("x=$x$x;", size))),
    ("many redirections", |size| format!("a{}", repeated(" >b", size))),
    ("nested conditions", |size| nested("if a;then ", "a", ";fi", size)),
    ("nested cases", |size| nested("case a in a) ", "a", ";;esac", size)),
    ("functions that call each other", functions),
    ("functions that call the last twice", doubling),
    ("many aliases", |size| repeated("alias a='a a'\na\n", size)),
    ("evaluation of evaluation", |size| format!("{}a", repeated("eval ", size))),
    ("wrappers in a row", |size| format!("{}a", repeated("env ", size))),
    ("shells in a row", |size| format!("{}a", repeated("sh -c ", size))),
    ("changes of directory", |size| repeated("cd a;", size)),
    ("open tests", |size| repeated("[[ ( ", size)),
    ("globs", |size| repeated("*?[a]", size)),
    ("misleading characters", |size| repeated("\u{202e}", size)),
    ("comments", |size| repeated("#'\n", size)),
];

fn repeated(piece: &str, size: usize) -> String {
    piece.repeat(size / piece.len())
}

fn nested(open: &str, inside: &str, close: &str, size: usize) -> String {
    let depth = size / (open.len() + close.len());
    [&open.repeat(depth), inside, &close.repeat(depth)].concat()
}

/// Each function calls the one before.
fn functions(size: usize) -> String {
    let mut text = String::new();
    for number in 1..size / 20 {
        write!(text, "f{number}(){{ f{};}};", number - 1).unwrap();
    }
    text + "f9"
}

/// Each function calls the one before twice, so that following every call never ends.
fn doubling(size: usize) -> String {
    let count = size / 26;
    let mut text = String::new();
    for number in 1..count {
        write!(text, "f{number}(){{ f{0};f{0};}};", number - 1).unwrap();
    }
    text + &format!("f{}", count - 1)
}
