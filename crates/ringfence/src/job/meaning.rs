//! Meaning of an exit code where it is no error: for programs that answer a question with it.

use shell::tree::{Argument, Command, Item, Kind, List, PartKind, Pipeline, Word};
use shell::{Dialect, parse};

/// Returns the meaning of an exit code, if the program that it comes from is known and says something by it.
///
/// ```
/// use ringfence::job::meaning;
/// assert_eq!(meaning("ps aux | grep sshd", 1), Some("no match; this is not an error"));
/// assert_eq!(meaning("cd src && grep x y", 1), None);
/// assert_eq!(meaning("echo 'a && b'; test -e x", 1), Some("false; this is not an error"));
/// ```
#[must_use]
pub fn meaning(line: &str, code: u8) -> Option<&'static str> {
    let list = parse(line, Dialect::Bash).ok()?;
    let name = answering(&list)?;
    let (_, meanings) = PROGRAMS.iter().find(|(names, _)| names.contains(&name.as_str()))?;
    meanings.get(usize::from(code)).copied()
}

/// Programs that answer by their exit code: what 0 and 1 mean. Other codes are errors.
const PROGRAMS: &[(&[&str], [&str; 2])] = &[
    (&["grep", "rg", "egrep", "fgrep"], ["found", "no match; this is not an error"]),
    (&["diff", "cmp"], ["identical", "different; this is not an error"]),
    (&["test", "["], ["true", "false; this is not an error"]),
    (&["find"], ["complete", "some directories could not be read; the result is partial"]),
];

/// The program whose exit code is that of the line, if that is certain.
fn answering(list: &List) -> Option<String> {
    let (final_item, others) = list.items.split_last()?;
    let pipeline = alone(final_item)?;
    let (answer, _) = pipeline.commands.last()?;
    // A line that changes what names or codes mean does so by more than plain programs.
    let plain = |pipeline: &Pipeline| pipeline.commands.iter().all(is_plain);
    let certain = others.iter().all(|item| alone(item).is_some_and(plain)) && plain(pipeline);
    name(answer).filter(|_| certain && pipeline.bangs == 0)
}

/// The pipeline of an item that runs in the foreground and without conditions.
fn alone(item: &Item) -> Option<&Pipeline> {
    match item.pipelines.as_slice() {
        [(_, pipeline)] if !item.background => Some(pipeline),
        _ => None,
    }
}

/// A program by its name, which is none of those that change the shell.
fn is_plain((command, _): &(Command, bool)) -> bool {
    name(command).is_some_and(|name| !CHANGING.contains(&name.as_str()))
}

const CHANGING: &[&str] = &[
    "set", "shopt", "alias", "trap", "exit", "exec", "return", "eval", "source", ".", "enable", "hash",
    "builtin", "command",
];

/// The name of a simple command, without its directory.
fn name(command: &Command) -> Option<String> {
    let Kind::Simple { words, assignments } = &command.kind else { return None };
    match words.first() {
        Some(Argument::Word(word)) => {
            let text = literal(word)?;
            Some(text.rsplit('/').next().unwrap_or_default().to_owned())
        }
        Some(Argument::Array(_)) => None,
        // Only assignments: known, and no program.
        None => (!assignments.is_empty()).then(String::new),
    }
}

/// The text of a word that means what it says.
fn literal(word: &Word) -> Option<String> {
    let mut text = String::new();
    for part in &word.parts {
        match &part.kind {
            PartKind::Text(plain) | PartKind::Single(plain) => text.push_str(plain),
            PartKind::Escaped(one) => text.push(*one),
            PartKind::Double(inner) => {
                for part in inner {
                    let PartKind::Text(plain) = &part.kind else { return None };
                    text.push_str(plain);
                }
            }
            _ => return None,
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows() {
        let rows = [
            ("grep x y", 0, Some("found")),
            ("grep x y", 1, Some("no match; this is not an error")),
            ("grep x y", 2, None),
            ("/usr/bin/grep x y 2>/dev/null", 1, Some("no match; this is not an error")),
            ("'grep' x y", 1, Some("no match; this is not an error")),
            ("cat x | rg '&&' | grep -v '||'", 1, Some("no match; this is not an error")),
            ("cd x; grep y z", 1, Some("no match; this is not an error")),
            ("x=1\ndiff a b", 1, Some("different; this is not an error")),
            ("LC_ALL=C cmp a b", 1, Some("different; this is not an error")),
            ("[ -e x ]", 1, Some("false; this is not an error")),
            ("find / -name x", 1, Some("some directories could not be read; the result is partial")),
            ("grep x y | cat", 1, None),
            ("grep x y && echo", 1, None),
            ("grep x y || echo", 1, None),
            ("a || b; grep x y", 1, None),
            ("! grep x y", 1, None),
            ("grep x y &", 0, None),
            ("(grep x y)", 1, None),
            ("set -o pipefail; a | grep x", 1, None),
            ("set -e; a; grep x", 1, None),
            ("grep() { false; }; grep x y", 1, None),
            ("alias grep=false; grep x y", 1, None),
            ("$program x y", 1, None),
            ("exit 1; grep x", 1, None),
            ("echo 'grep", 1, None),
            ("", 1, None),
            ("test -e x >out 2>&1", 0, Some("true")),
        ];
        for (line, code, expected) in rows {
            assert_eq!(meaning(line, code), expected, "{line}");
        }
    }
}
