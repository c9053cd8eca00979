//! Rows: a line of words, and what looking through it gives.
//!
//! `P:` a program that a wrapper only starts, `p:` one besides the wrapper, `c:` code (`cb:` bash, `cz:` zsh), `<-` its
//! arguments, `script:`, `stdin`, `foreign`, `set:` a variable, `cd:` a directory, `h3` a hazard at word 3, `own` code of
//! its own, `unsure` not provable. A word that is not all known has `?` before it.

mod rows;

use policy::{Certainty, Code, KnownProgram, Span, Word};

use super::{Launch, Start, inspect};
use crate::Dialect;

#[test]
fn looking_through_words() {
    let mut wrong = Vec::new();
    for (line, expected) in rows::ROWS {
        let found = shown(&inspect(&words(line)));
        if found != *expected {
            wrong.push(format!("{line}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows::ROWS.len(), wrong.join("\n"));
}

#[test]
fn the_names_of_python_are_sorted_so_that_they_can_be_searched() {
    for name in ["system", "subprocess", "__import__", "vars", "InteractiveConsole", "execvpe", "popen"] {
        let words = [Word::literal("python3"), Word::literal("-c"), Word::literal(format!("{name}(x)"))];
        assert_eq!(inspect(&words).findings.len(), 1, "{name}");
    }
}

#[test]
fn a_name_counts_wherever_it_lies_and_whatever_its_version() {
    for name in ["python", "python3", "python3.11", "/usr/bin/python3", "./python-3.12"] {
        assert_eq!(shown(&inspect(&[Word::literal(name)])), "foreign", "{name}");
    }
    for name in ["pythonic", "ls", "5", "ldd", ".", "3.1", ""] {
        assert_eq!(inspect(&[Word::literal(name)]), Launch::default(), "{name}");
    }
}

#[test]
fn any_words_of_any_tool_are_looked_at_without_a_panic() {
    let pieces = [
        "-",
        "--",
        "-c",
        "-S'",
        "-é",
        "--é=",
        "-o",
        "a=b",
        "s/é/[é/e",
        "\\",
        "$",
        "`é",
        "-exec",
        "1e",
        "system(\"é",
    ];
    for program in KnownProgram::all().filter(|program| !program.starts.is_empty()) {
        for first in pieces {
            for second in pieces {
                for certainty in [Certainty::Literal, Certainty::Unknown] {
                    let last = Word { certainty, ..Word::literal(second) };
                    let words =
                        [Word::literal(program.name), Word { certainty, ..Word::literal(first) }, last];
                    inspect(&words);
                }
            }
        }
    }
}

#[test]
fn long_words_take_time_in_proportion() {
    let long = 200_000;
    for (name, option, piece) in [
        ("sed", "-e", "s/[/]/x/;"),
        ("sed", "-e", "[["),
        ("awk", "-v", "\"a\" | "),
        ("awk", "--", "/[/"),
        ("python3", "-c", "x='''"),
        ("python3", "-c", "system("),
        ("perl", "-e", "system "),
        ("perl", "-e", "open "),
        ("env", "-S", "\\_ "),
        ("node", "-e", "require("),
        ("ruby", "-e", "%x("),
        ("php", "-r", "$a"),
    ] {
        let words =
            [Word::literal(name), Word::literal(option), Word::literal(piece.repeat(long / piece.len()))];
        let started = std::time::Instant::now();
        inspect(&words);
        assert!(started.elapsed().as_secs() < 4, "{name} {piece}");
    }
}

/// Splits a line at blanks; quotes keep words together, and `$name` is not known.
fn words(line: &str) -> Vec<Word> {
    let (mut words, mut current, mut quote) = (Vec::new(), None::<Word>, ' ');
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        if quote == ' ' && char == ' ' {
            words.extend(current.take());
            continue;
        }
        let word = current.get_or_insert(Word { span: Span::new(0, 1), ..Word::literal("") });
        match char {
            '\'' | '"' if quote == ' ' => quote = char,
            _ if char == quote => quote = ' ',
            '\\' if quote != '\'' => word.text.extend(chars.next()),
            '$' if quote != '\'' => {
                while chars.next_if(char::is_ascii_alphanumeric).is_some() {}
                word.certainty = Certainty::Unknown;
            }
            _ => word.text.push(char),
        }
    }
    words.extend(current);
    words
}

fn shown(launch: &Launch) -> String {
    let mut parts: Vec<_> = launch.starts.iter().map(start).collect();
    parts.extend(launch.assignments.iter().map(|set| format!("set:{}={}", set.name, word(&set.value))));
    parts.extend(launch.directory.iter().map(|directory| format!("cd:{}", word(directory))));
    parts.extend(launch.writes.iter().map(|file| format!("w:{}", word(file))));
    parts.extend(launch.hazards.iter().map(|at| format!("h{at}")));
    parts.extend(launch.findings.iter().map(|finding| {
        let name = match finding.code {
            Code::CodeOfItsOwn => "own",
            Code::Unprovable => "unsure",
            _ => "other",
        };
        name.to_owned()
    }));
    parts.join("; ")
}

fn start(start: &Start) -> String {
    match start {
        Start::Program { words, alone: true } => format!("P:{}", line(words)),
        Start::Program { words, alone: false } => format!("p:{}", line(words)),
        Start::Code { code, dialect, arguments } => {
            let letter = match dialect {
                Dialect::Sh => "",
                Dialect::Bash => "b",
                Dialect::Zsh => "z",
            };
            let arguments =
                if arguments.is_empty() { String::new() } else { format!(" <- {}", line(arguments)) };
            format!("c{letter}:{}{arguments}", word(code))
        }
        Start::Stdin(dialect) => format!("stdin {dialect:?}").to_lowercase(),
        Start::ForeignStdin => "foreign".to_owned(),
        Start::Script { file, .. } => format!("script:{}", word(file)),
    }
}

fn line(words: &[Word]) -> String {
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn word(word: &Word) -> String {
    let mark = if word.is_literal() { "" } else { "?" };
    format!("{mark}{}", word.text)
}
