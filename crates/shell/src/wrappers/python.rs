//! Python code: strings and comments are skipped, names are judged.

use policy::Word;

use super::Launch;
use super::scan::{Call, call, is_name};

/// Names that start programs or evaluate text.
const NAMES: &[&str] = &[
    "InteractiveConsole",
    "InteractiveInterpreter",
    "__builtins__",
    "__dict__",
    "__getattribute__",
    "__globals__",
    "__import__",
    "__loader__",
    "__subclasses__",
    "_posixsubprocess",
    "attrgetter",
    "builtins",
    "cProfile",
    "cffi",
    "compile",
    "create_subprocess_exec",
    "create_subprocess_shell",
    "ctypes",
    "dill",
    "eval",
    "exec",
    "exec_module",
    "execl",
    "execle",
    "execlp",
    "execlpe",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "fork",
    "forkpty",
    "getattr",
    "getoutput",
    "getstatusoutput",
    "globals",
    "imp",
    "import_module",
    "importlib",
    "interact",
    "load_module",
    "load_source",
    "locals",
    "marshal",
    "methodcaller",
    "modules",
    "pdb",
    "pexpect",
    "pickle",
    "popen",
    "popen2",
    "popen3",
    "popen4",
    "posix",
    "posix_spawn",
    "posix_spawnp",
    "pty",
    "runpy",
    "spawnl",
    "spawnle",
    "spawnlp",
    "spawnlpe",
    "spawnv",
    "spawnve",
    "spawnvp",
    "spawnvpe",
    "startfile",
    "subprocess",
    "subprocess_exec",
    "subprocess_shell",
    "system",
    "timeit",
    "vars",
];

/// Names whose first argument is shell code or a list of words.
const CALLS: &[&str] = &[
    "Popen",
    "call",
    "check_call",
    "check_output",
    "create_subprocess_shell",
    "getoutput",
    "getstatusoutput",
    "popen",
    "run",
    "spawn",
    "system",
];

/// Judges Python code.
pub(super) fn judge(code: &Word, launch: &mut Launch) {
    if !code.is_literal() {
        return launch.unprovable(code, "the Python code is not known before it runs");
    }
    let mut reader = Reader { text: &code.text, next: 0, runs: false, calls: Vec::new() };
    reader.read();
    if reader.runs {
        launch.own_code(code, "Python");
        reader.calls.into_iter().for_each(|call| call.start(code, launch));
    }
}

struct Reader<'a> {
    text: &'a str,
    next: usize,
    runs: bool,
    calls: Vec<Call>,
}

impl<'a> Reader<'a> {
    fn read(&mut self) {
        while let Some(char) = self.rest().chars().next() {
            match char {
                '#' => self.next += self.rest().find('\n').unwrap_or(self.rest().len()),
                '\'' | '"' => self.string(char, false),
                _ if is_name(char) => self.name(),
                _ => {
                    // Letters outside ASCII can be another spelling of a name.
                    self.runs |= !char.is_ascii();
                    self.next += char.len_utf8();
                }
            }
        }
    }

    fn name(&mut self) {
        let rest = self.rest();
        let start = self.next;
        let length = rest.find(|char| !is_name(char)).unwrap_or(rest.len());
        let name = rest.get(..length).unwrap_or_default();
        self.next += length;
        if let Some(quote) = self.rest().chars().next().filter(|char| matches!(char, '\'' | '"'))
            && name.len() <= 2
            && name.bytes().all(|byte| b"rRbBuUfFtT".contains(&byte))
        {
            return self.string(quote, name.contains(['f', 'F', 't', 'T']));
        }
        self.judge(start, name);
    }

    fn judge(&mut self, start: usize, name: &'a str) {
        let before = self.text.get(..start).unwrap_or_default().trim_end();
        self.runs |= NAMES.binary_search(&name).is_ok() && !harmless(before, name, self.rest());
        let called = self.rest().trim_start().starts_with('(');
        if called && CALLS.contains(&name) {
            self.calls.extend(call(self.rest()));
        }
    }

    /// Goes behind a string. What stands in a formatted one is code too.
    fn string(&mut self, quote: char, live: bool) {
        let rest = self.rest();
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        let long = rest.starts_with(&triple);
        let opening = if long { 3 } else { 1 };
        let inner = rest.get(opening..).unwrap_or_default();
        let length = string_length(inner, if long { &triple } else { triple.get(..1).unwrap_or_default() });
        if live {
            let inside = inner.get(..length).unwrap_or_default();
            self.runs |= super::scan::names(inside).any(|(_, name)| NAMES.binary_search(&name).is_ok());
        }
        self.next += opening + length;
        self.next += if self.rest().starts_with(&triple) && long {
            3
        } else {
            usize::from(self.rest().starts_with(quote))
        };
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.next..).unwrap_or_default()
    }
}

/// Returns the length of a string up to its end; one with single quotes ends with its line.
fn string_length(text: &str, end: &str) -> usize {
    let mut escaped = false;
    for (at, char) in text.char_indices() {
        let here = text.get(at..).unwrap_or_default();
        if !escaped && (here.starts_with(end) || (end.len() == 1 && char == '\n')) {
            return at;
        }
        escaped = !escaped && char == '\\';
    }
    text.len()
}

/// Uses of such names that are common: `re.compile`, `model.eval()`, `importlib.metadata`.
fn harmless(before: &str, name: &str, behind: &str) -> bool {
    match name {
        "compile" => before.ends_with("re."),
        // `platform.system()`: without an argument nothing starts.
        "system" => behind.starts_with("()"),
        "eval" | "exec" => before.ends_with('.'),
        "importlib" => [".metadata", ".resources"].iter().any(|known| behind.starts_with(known)),
        "locals" | "vars" | "modules" => !before.ends_with("sys.") && !behind.trim_start().starts_with('('),
        _ => false,
    }
}
