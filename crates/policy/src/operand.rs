//! Which files a program would touch, as far as its words say.
//!
//! This is for restrictions only. A word that is no file costs a false alarm, so what prints its words or names other
//! things by them is left out; what is not seen here still meets the jail.

use std::path::Path;

use crate::command::installed_name;
use crate::invocation::{Direction, Invocation, Program, Word};
use crate::location::{Pair, lexical};
use crate::programs::KnownProgram;
use crate::request::Kind;

/// Use that a program makes of the files among its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// Its words are no files.
    No,
    /// It reads them, also those that are written without a slash.
    Read,
    /// It reads those that stand behind an expression.
    ReadBehind,
    /// It changes them and does not read them.
    Write,
    /// It reads and changes them.
    ReadAndWrite,
}

/// Returns the use that a program makes of the files among its words; `None` when it is not known.
fn habit(program: &Program) -> Option<Habit> {
    let word = program.argv.words().first()?;
    Habit::of(KnownProgram::named(installed_name(&word.text).unwrap_or(&word.text))?)
}

impl Habit {
    fn of(program: KnownProgram) -> Option<Self> {
        Some(match program.files {
            "no" => Self::No,
            "read" => Self::Read,
            "read-behind" => Self::ReadBehind,
            "write" => Self::Write,
            "read-and-write" => Self::ReadAndWrite,
            _ => return None,
        })
    }
}

fn kinds(habit: Option<Habit>, is_hazardous: bool, strangers: Strangers) -> &'static [Kind] {
    match habit {
        Some(Habit::No) => &[],
        None => match strangers {
            Strangers::Read => &[Kind::Read],
            Strangers::Ignored => &[],
        },
        Some(Habit::Write) => &[Kind::Write],
        Some(Habit::ReadAndWrite) => &[Kind::Read, Kind::Write],
        Some(Habit::ReadBehind) if is_hazardous => &[Kind::Read, Kind::Write],
        Some(Habit::Read | Habit::ReadBehind) => &[Kind::Read],
    }
}

/// Treatment of paths among the words of programs that are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strangers {
    /// They may be read: a rule is about them.
    Read,
    /// They are left to the jail: a floor that cannot be switched off must not guess.
    Ignored,
}

/// Calls `hit` with every file that the programs would touch in one of these ways, and how, until it answers.
pub(crate) fn files<T>(
    invocation: &Invocation,
    workspace: &Path,
    ways: &[Kind],
    strangers: Strangers,
    mut hit: impl FnMut(Kind, &File) -> Option<T>,
) -> Option<T> {
    let mut touch = |word: &Word, text: &str, program: &Program, does: &[Kind]| {
        let mut does = does.iter().filter(|kind| ways.contains(kind)).peekable();
        does.peek()?;
        let file = file(word, text, program, workspace)?;
        does.find_map(|kind| hit(*kind, &file))
    };
    invocation.programs.iter().find_map(|program| {
        let redirected = program.redirects.iter().find_map(|redirect| {
            let target = &redirect.target;
            touch(target, &target.text, program, kinds_of(redirect.direction))
        });
        redirected.or_else(|| {
            let does = |habit| kinds(habit, !program.hazards.is_empty(), strangers);
            operands(program).find_map(|(word, text, habit)| touch(word, text, program, does(habit)))
        })
    })
}

fn kinds_of(direction: Direction) -> &'static [Kind] {
    match direction {
        Direction::Read => &[Kind::Read],
        Direction::Write => &[Kind::Write],
        Direction::Both => &[Kind::Read, Kind::Write],
        Direction::Text => &[],
    }
}

/// The words of a program that are paths, and the paths in them.
fn operands(program: &Program) -> impl Iterator<Item = (&Word, &str, Option<Habit>)> {
    let habit = habit(program);
    let arguments = program.argv.words().get(1..).unwrap_or_default();
    let expression = if habit == Some(Habit::ReadBehind) { expression(arguments) } else { None };
    let operands = arguments.iter().enumerate().filter(move |(at, _)| Some(*at) != expression);
    let operands = operands.map(|(_, word)| word);
    operands.filter_map(move |word| Some((word, path_in(&word.text, habit.is_some())?, habit)))
}

/// Returns the index of the expression: first, unless an option gives it.
fn expression(arguments: &[Word]) -> Option<usize> {
    let given = |word: &Word| {
        ["-e", "-f", "--regexp", "--expression", "--file"].iter().any(|option| word.text.starts_with(option))
    };
    match arguments.iter().position(given) {
        Some(at) if matches!(arguments[at].text.as_str(), "-e" | "--regexp" | "--expression") => Some(at + 1),
        Some(_) => None,
        None => arguments.iter().position(|word| !word.text.starts_with('-')),
    }
}

/// The path in a word: the word itself, or what stands behind an option.
fn path_in(text: &str, bare: bool) -> Option<&str> {
    let path = match (text.strip_prefix('-'), text.split_once('=')) {
        (_, Some((_, value))) => value,
        (Some(option), None) if !option.starts_with('-') => option.get(1..).unwrap_or_default(),
        (Some(_), None) => "",
        (None, None) => text,
    };
    let path = path.strip_prefix('@').unwrap_or(path);
    let is_option = text.starts_with('-');
    let looks = path.contains('/') && !path.contains("://");
    (!path.is_empty() && (looks || bare && !is_option)).then_some(path)
}

/// A file by its spelling alone, as if nothing on the way were a link.
#[derive(Debug)]
pub(crate) struct File {
    absolute: Vec<u8>,
    /// Offset of the name below the workspace, if it lies there.
    below: Option<usize>,
}

impl File {
    /// Follows a path from a directory.
    fn new(workspace: &[u8], cwd: &[u8], text: &[u8]) -> Self {
        let mut absolute = Vec::with_capacity(cwd.len() + text.len() + 1);
        let start = if text.starts_with(b"/") { &b""[..] } else { cwd };
        for part in start.split(|&b| b == b'/').chain(text.split(|&b| b == b'/')) {
            match part {
                b"" | b"." => {}
                b".." => absolute.truncate(absolute.iter().rposition(|&b| b == b'/').unwrap_or(0)),
                part => {
                    absolute.push(b'/');
                    absolute.extend_from_slice(part);
                }
            }
        }
        if absolute.is_empty() {
            absolute.push(b'/');
        }
        let workspace = workspace.strip_suffix(b"/").unwrap_or(workspace);
        let rest = absolute.strip_prefix(workspace).filter(|rest| rest.is_empty() || rest.starts_with(b"/"));
        let below = rest.map(|rest| absolute.len() - rest.len() + 1);
        Self { absolute, below }
    }

    /// Its name below the workspace, if it lies there, and from the root.
    pub(crate) fn pair(&self) -> Pair<'_> {
        let below =
            self.below.map(|at| self.absolute.get(at..).filter(|name| !name.is_empty()).unwrap_or(b"."));
        (below, &self.absolute)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        let (below, absolute) = self.pair();
        below.into_iter().chain([absolute])
    }
}

/// The workspace is the best guess for a program whose directory is not known.
fn file(word: &Word, text: &str, program: &Program, workspace: &Path) -> Option<File> {
    let workspace = workspace.as_os_str().as_encoded_bytes();
    let cwd = program.cwd.as_deref().map_or(workspace, str::as_bytes);
    (word.is_literal() && !text.is_empty()).then(|| File::new(workspace, cwd, text.as_bytes()))
}

/// Devices that take everything and keep nothing.
const HARMLESS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd"];

/// Returns true if a permission may cover a program: it starts in the workspace, and the shell's redirections for it lie there.
pub(crate) fn stays_inside(program: &Program, workspace: &Path) -> bool {
    let Some(cwd) = program.cwd.as_deref() else { return false };
    let inside = |path: &Path| path.starts_with(workspace) || path.starts_with("/tmp");
    let kept = |word: &Word| {
        let path = lexical(&Path::new(cwd).join(&word.text));
        word.is_literal() && (inside(&path) || HARMLESS.iter().any(|device| path.starts_with(device)))
    };
    let writes = |direction| matches!(direction, Direction::Write | Direction::Both);
    let starts_inside = if cwd.as_bytes() == workspace.as_os_str().as_encoded_bytes() {
        true
    } else if cwd.contains("..") {
        lexical(Path::new(cwd)).starts_with(workspace)
    } else {
        Path::new(cwd).starts_with(workspace)
    };
    starts_inside
        && program.redirects.iter().all(|redirect| !writes(redirect.direction) || kept(&redirect.target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Argv, Redirect};

    #[test]
    fn every_word_of_the_table_is_known() {
        for program in KnownProgram::all() {
            assert_eq!(Habit::of(program).is_some(), !program.files.is_empty(), "{program:?}");
        }
    }

    fn program(line: &str) -> Program {
        let word = |text: &str| Word::literal(text.trim_start_matches('>'));
        let (redirects, words): (Vec<_>, Vec<_>) = line.split(' ').partition(|text| text.starts_with('>'));
        let redirect =
            |text: &&str| Redirect { direction: Direction::Write, descriptor: Some(1), target: word(text) };
        let argv = Argv::new(words.into_iter().map(word).collect()).unwrap();
        let redirects = redirects.iter().map(redirect).collect();
        Program { redirects, ..Program::alone(argv, Some("/ws/sub".into())) }
    }

    #[test]
    fn names_are_those_of_the_same_location() {
        let rows = [
            "a",
            "../a",
            "../../a",
            "..",
            "../..",
            "/",
            "/etc//x/",
            "./b/./c/..",
            "/ws",
            "/wsx",
            "a/../../..",
        ];
        for text in rows {
            let path = lexical(&Path::new("/ws/sub").join(text));
            let location = crate::Location::new(Path::new("/ws"), &path).unwrap();
            let file = File::new(b"/ws", b"/ws/sub", text.as_bytes());
            assert!(file.names().eq(location.names()), "{text}");
        }
    }

    #[test]
    fn files_that_a_program_names() {
        let rows = [
            ("cat .env", "read sub/.env"),
            ("cat ../a -n /etc/x", "read a, read /etc/x"),
            ("/bin/cat a", "read sub/a"),
            ("echo .env a/b", ""),
            ("git show origin/main", ""),
            ("make a/b target", "read sub/a/b"),
            ("rm -rf a", "write sub/a"),
            ("cp a b", "read sub/a, write sub/a, read sub/b, write sub/b"),
            ("grep .env a", "read sub/a"),
            ("grep -e x .env", "read sub/.env"),
            ("cc --include=a/b -I/usr/x -Wall", "read sub/a/b, read /usr/x"),
            ("dd if=a of=/dev/x", "read sub/a, write sub/a, read /dev/x, write /dev/x"),
            ("http https://a/b.pem @a/b", "read sub/a/b"),
            ("echo x >../out", "write out"),
        ];
        for (line, expected) in rows {
            let invocation = Invocation { programs: vec![program(line)], findings: vec![] };
            let mut found = Vec::new();
            files::<()>(
                &invocation,
                Path::new("/ws"),
                &[Kind::Read, Kind::Write],
                Strangers::Read,
                |kind, file| {
                    let name = file.names().next().unwrap();
                    found.push(format!("{} {}", kind.word(), String::from_utf8_lossy(name)));
                    None
                },
            );
            assert_eq!(found.join(", "), expected, "{line}");
        }
    }

    #[test]
    fn a_permission_stays_in_the_workspace() {
        let rows = [
            ("echo x", true),
            ("echo x >a", true),
            ("echo x >../a", true),
            ("echo x >../../a", false),
            ("echo x >/etc/a", false),
            ("echo x >/dev/null", true),
            ("echo x >/dev/sda", false),
            ("echo x >/tmp/a", true),
            ("echo x >/tmp/../etc/a", false),
        ];
        for (line, expected) in rows {
            assert_eq!(stays_inside(&program(line), Path::new("/ws")), expected, "{line}");
        }
        for (cwd, expected) in [
            (None, false),
            (Some("/"), false),
            (Some("/ws/.."), false),
            (Some("/wsx"), false),
            (Some("/ws"), true),
        ] {
            let program = Program { cwd: cwd.map(Into::into), ..program("ls") };
            assert_eq!(stays_inside(&program, Path::new("/ws")), expected, "{cwd:?}");
        }
    }
}
