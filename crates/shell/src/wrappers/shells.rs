//! Shells: code behind `-c`, a script, or standard input.

use policy::Word;

use super::prefix::{strange, uncertain_before};
use super::words::{from, is_stdin};
use super::{Launch, Start, base_name, versioned};
use crate::Dialect;

/// Options of a shell.
#[derive(Default)]
struct Told {
    code: bool,
    stdin: bool,
    /// The first word that is no option.
    next: usize,
}

/// A shell whose language is read.
pub(super) fn shell(words: &[Word], launch: &mut Launch) {
    let dialect = words.first().map_or(Dialect::Sh, |word| dialect_of(&word.text));
    let told = options(words, dialect, launch);
    // A script that is not known could be an option too.
    uncertain_before(words, told.next + usize::from(!told.code), launch);
    if let Some(start) = start(words, &told, dialect) {
        launch.starts.push(start);
    }
}

fn start(words: &[Word], told: &Told, dialect: Dialect) -> Option<Start> {
    let operand = words.get(told.next);
    if told.code {
        let arguments = from(words, told.next + 1).to_vec();
        return Some(Start::Code { code: operand?.clone(), dialect, arguments });
    }
    Some(match operand {
        Some(file) if !told.stdin && !is_stdin(&file.text) => Start::Script { file: file.clone(), dialect },
        _ => Start::Stdin(dialect),
    })
}

/// The language of a shell by its path; one that is not known apart speaks as POSIX says.
pub(super) fn dialect_of(path: &str) -> Dialect {
    let name = base_name(path);
    let versioned = || versioned(name).and_then(Dialect::of_program);
    Dialect::of_program(name).or_else(versioned).unwrap_or(Dialect::Sh)
}

/// Reads the options. `-c` has no value: the code is the first word behind all options.
fn options(words: &[Word], dialect: Dialect, launch: &mut Launch) -> Told {
    let mut told = Told { next: 1, ..Told::default() };
    while let Some(word) = words.get(told.next) {
        let text = word.text.as_str();
        let ends = matches!(text, "-" | "--") || (dialect == Dialect::Zsh && matches!(text, "-b" | "+b"));
        if !text.starts_with(['-', '+']) || (text == "+" && dialect != Dialect::Zsh) {
            break;
        }
        told.next += 1;
        if ends {
            break;
        }
        if !long(words, &mut told, dialect, launch) {
            letters(words, &mut told, dialect, launch);
        }
    }
    told
}

/// Options with a long name; `bash` takes them behind one dash too. Says whether it was one.
fn long(words: &[Word], told: &mut Told, dialect: Dialect, launch: &mut Launch) -> bool {
    let at = told.next - 1;
    let Some(text) = words.get(at).map(|word| word.text.as_str()) else { return false };
    let (dashes, name) =
        text.strip_prefix("--").map_or((1, text.get(1..).unwrap_or_default()), |name| (2, name));
    match name {
        "rcfile" | "init-file" => {
            if let Some(file) = words.get(told.next) {
                launch.starts.push(Start::Script { file: file.clone(), dialect });
            }
            told.next += 1;
        }
        "emulate" if dashes == 2 => told.next += 1,
        "norc" | "noprofile" | "posix" | "login" | "verbose" | "restricted" | "noediting" | "debugger"
        | "version" | "help" | "dump-strings" | "dump-po-strings" | "pretty-print" | "protected"
        | "wordexp" => {}
        _ if dashes == 1 => return false,
        _ if dialect != Dialect::Zsh => strange(words, at, launch),
        _ => {}
    }
    true
}

/// A cluster of letters. `o` and `O` take the next word.
fn letters(words: &[Word], told: &mut Told, dialect: Dialect, launch: &mut Launch) {
    let at = told.next - 1;
    let Some(word) = words.get(at) else { return };
    let on = word.text.starts_with('-');
    let letters = word.text.get(1..).unwrap_or_default();
    for (index, letter) in letters.char_indices() {
        match letter {
            'c' if on => told.code = true,
            's' if on => told.stdin = true,
            'o' | 'O' if letter == 'o' || dialect == Dialect::Bash => {
                let attached = index + 1 < letters.len();
                match dialect {
                    // The rest of the word is the name.
                    Dialect::Zsh if attached => return,
                    // These shells disagree whether it is, or more letters.
                    Dialect::Sh if attached => strange(words, at, launch),
                    _ => {}
                }
                told.next += 1;
            }
            _ if letter.is_ascii_alphanumeric() => {}
            _ => strange(words, at, launch),
        }
    }
}

/// A shell whose language is not read: what it runs is not certain.
pub(super) fn foreign_shell(words: &[Word], launch: &mut Launch) {
    let Some(program) = words.first() else { return };
    let is_code = |word: &Word| {
        let option = word.text.trim_start_matches(['-', '/']).to_ascii_lowercase();
        let short = word.text.starts_with('-') && !word.text.starts_with("--") && option.ends_with('c');
        short || is_code_option(&option) || word.certainty == policy::Certainty::Unknown
    };
    let options = || words.iter().skip(1).take_while(|word| word.text.starts_with(['-', '/']));
    let code = words.iter().skip(1).take(1 + options().count()).any(is_code);
    if code {
        let span = words.last().map_or(program.span, |last| program.span.to(last.span));
        let all = Word { span, ..program.clone() };
        return launch
            .unprovable(&all, format!("the language of `{}` is not read", base_name(&program.text)));
    }
    let operand = words.get(1 + options().count());
    if operand.is_none_or(|file| is_stdin(&file.text)) {
        launch.starts.push(super::Start::ForeignStdin);
    }
}

/// `-Command`, `--commands=…`, `-EncodedCommand` and their beginnings.
fn is_code_option(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or(option);
    let begins = |known: &str| !name.is_empty() && known.starts_with(name);
    ["command", "commands", "encodedcommand", "ec", "init-command", "execute", "commandwithargs", "cwa"]
        .into_iter()
        .any(begins)
}
