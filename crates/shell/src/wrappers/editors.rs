//! Editors, debuggers and consoles: commands in a word that start programs.

use policy::Word;

use super::options::{Found, Item, Options};
use super::programs::effect;
use super::scan::names;
use super::words::{from, with_text};
use super::{Launch, Start};

/// `vi` and its family: `-c COMMAND`, `+COMMAND`.
pub(super) fn vi(words: &[Word], launch: &mut Launch) {
    const VI: &str = "-c|--cmd: -S:! -s: -es -Es -e -E -u: -U: -i: -T: -t? -q? -w:! -W:! -r? -L? -p? -o? -O? -V? -b -d -D -f \
        -F -g -h -H -l: -m -M -n -N -R -v -x -X -y -Z --clean --noplugin --headless --embed --listen: --server: \
        --remote-send:! --remote-expr:! --servername: --startuptime:! --not-a-term --help. --version.";
    for item in Options::new(words, VI) {
        match item {
            Item::Found(Found { name: "-c", value: Some(command), at, .. }) => ex(&command, at, launch),
            Item::Found(Found { name: "-es" | "-Es", .. }) => launch.starts.push(Start::ForeignStdin),
            Item::Found(found) => effect(&found, launch),
            Item::Operand(at) => {
                if let Some(word) = words.get(at).filter(|word| word.text.starts_with('+')) {
                    ex(&with_text(word, word.text.get(1..).unwrap_or_default()), at, launch);
                }
            }
            Item::Strange(_) => {}
        }
    }
}

/// `ex` reads its commands from standard input.
pub(super) fn ex_mode(words: &[Word], launch: &mut Launch) {
    vi(words, launch);
    launch.starts.push(Start::ForeignStdin);
}

/// One command line of `ex`.
fn ex(command: &Word, at: usize, launch: &mut Launch) {
    if !command.is_literal() {
        return launch.unprovable(command, "the editor's command is not known before it runs");
    }
    let text = command.text.as_str();
    if let Some(code) = bang(text) {
        launch.hazard(at);
        launch.own_code(command, "editor");
        launch.code(with_text(command, code));
    } else if names(text).any(|(_, name)| is_ex_code(name)) {
        launch.hazard(at);
        launch.own_code(command, "editor");
    }
}

/// The code behind a `!` that starts a program. Behind the name of a command it means only "anyway": `q!`.
fn bang(text: &str) -> Option<&str> {
    text.match_indices('!').find_map(|(at, _)| {
        let before = text.get(..at)?;
        let start = before.rfind(|char: char| !char.is_ascii_alphabetic()).map_or(0, |at| at + 1);
        let name = before.get(start..)?;
        let reads = matches!(name, "" | "r" | "re" | "rea" | "read") || name.starts_with("ter");
        if reads { text.get(at + 1..).filter(|code| !code.is_empty()) } else { None }
    })
}

fn is_ex_code(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "call",
        "exe",
        "exec",
        "execu",
        "execut",
        "execute",
        "grep",
        "job_start",
        "jobstart",
        "libcall",
        "lua",
        "luado",
        "luafile",
        "make",
        "norm",
        "norma",
        "normal",
        "perl",
        "perldo",
        "py",
        "py3",
        "py3do",
        "pydo",
        "pyfile",
        "python",
        "python3",
        "pyx",
        "ruby",
        "rubydo",
        "sh",
        "shell",
        "so",
        "sour",
        "source",
        "system",
        "systemlist",
        "tcl",
        "te",
        "ter",
        "term",
        "termi",
        "terminal",
        "termopen",
        "term_start",
        "feedkeys",
        "eval",
        "mz",
        "mzscheme",
        "autocmd",
        "au",
    ];
    NAMES.contains(&name)
}

/// `ed`: its file can be a program, and its commands come from standard input.
pub(super) fn ed(words: &[Word], launch: &mut Launch) {
    for (at, word) in words.iter().enumerate().skip(1) {
        if let Some(code) = word.text.strip_prefix('!') {
            launch.hazard(at);
            launch.code(with_text(word, code));
        }
    }
    launch.starts.push(Start::ForeignStdin);
}

/// `gdb`: commands in words, and the program that it debugs.
pub(super) fn gdb(words: &[Word], launch: &mut Launch) {
    const GDB: &str = "-ex|--ex|-iex|--iex|-eval-command|--eval-command|-init-eval-command|--init-eval-command: \
        -x|-command|--command|-ix|--init-command:! -batch|--batch|-batch-silent|--batch-silent -args|--args -q|-quiet \
        --quiet -silent --silent -n|-nx --nx -nh --nh -nw --nw -w -tui --tui -p|-pid|--pid: -c|-core|--core: -s|-symbols|--symbols: \
        -e|-exec|--exec: -se|--se: -d|-directory|--directory: -cd|--cd:@ -D|-data-directory: -i|--interpreter: -tty|--tty: \
        -return-child-result --return-child-result -readnow -readnever --readnever -write -statistics --help. --version. -version. \
        -l: -b: -ui:";
    let mut batch = false;
    let mut options = Options::new(words, GDB);
    while let Some(item) = options.next() {
        match item {
            Item::Found(Found { effect: Some('.'), .. }) => return,
            Item::Found(Found { name: "-ex", value: Some(command), at, .. }) => debug(&command, at, launch),
            Item::Found(Found { name: "-args", .. }) => {
                launch.program(from(words, options.position()).to_vec(), false);
                break;
            }
            Item::Found(found) => {
                batch |= found.name == "-batch";
                effect(&found, launch);
            }
            Item::Operand(at) => {
                launch.program(words.get(at..=at).unwrap_or_default().to_vec(), false);
                break;
            }
            Item::Strange(at) => super::prefix::strange(words, at, launch),
        }
    }
    batch |= words.iter().any(|word| matches!(word.text.as_str(), "-batch" | "--batch"));
    if !batch {
        launch.starts.push(Start::ForeignStdin);
    }
    later_commands(from(words, options.position()), options.position(), launch);
}

/// Commands may stand behind the program too.
fn later_commands(words: &[Word], first: usize, launch: &mut Launch) {
    for (at, pair) in words.windows(2).enumerate() {
        if let [option, command] = pair
            && matches!(option.text.as_str(), "-ex" | "--ex" | "-iex" | "--iex")
        {
            debug(command, first + at, launch);
        }
    }
}

/// One command of `gdb`.
fn debug(command: &Word, at: usize, launch: &mut Launch) {
    if !command.is_literal() {
        return launch.unprovable(command, "the debugger's command is not known before it runs");
    }
    let text = command.text.trim_start();
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if let Some(code) = text.strip_prefix('!').or_else(|| is_shell(name).then_some(rest)) {
        launch.hazard(at);
        launch.own_code(command, "debugger");
        launch.code(with_text(command, code));
    } else if is_debug_code(name) || text.contains('(') || text.starts_with('|') {
        launch.hazard(at);
        launch.own_code(command, "debugger");
    }
}

fn is_shell(name: &str) -> bool {
    name.len() > 2 && "shell".starts_with(name)
}

fn is_debug_code(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "python",
        "py",
        "pi",
        "python-interactive",
        "guile",
        "gu",
        "gr",
        "source",
        "compile",
        "call",
        "make",
        "pipe",
        "define",
        "document",
        "eval",
        "commands",
        "target",
    ];
    NAMES.contains(&name)
}

/// `sqlite3`: dot commands that start programs.
pub(super) fn sqlite(words: &[Word], launch: &mut Launch) {
    for (at, word) in words.iter().enumerate().skip(1) {
        word.text.lines().for_each(|line| sqlite_line(line.trim_start(), word, at, launch));
        if word.text.contains("load_extension") || word.text.contains("edit(") {
            launch.hazard(at);
            launch.own_code(word, "SQLite");
        } else if word.text.contains("writefile(") || word.text == "-init" {
            launch.hazard(at);
        }
    }
}

fn sqlite_line(line: &str, word: &Word, at: usize, launch: &mut Launch) {
    let Some(command) = line.strip_prefix('.') else { return };
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let code = rest.trim().trim_matches(['\'', '"']);
    match name {
        "" => return,
        _ if begins("shell", name, 2) || begins("system", name, 2) => launch.code(with_text(word, rest)),
        _ if code.starts_with('|') => launch.code(with_text(word, code.trim_start_matches('|'))),
        _ if begins("load", name, 2) || begins("excel", name, 3) || begins("www", name, 1) => {}
        _ if begins("output", name, 1) || begins("once", name, 2) || begins("backup", name, 1) => {
            return launch.hazard(at);
        }
        _ => return,
    }
    launch.hazard(at);
    launch.own_code(word, "SQLite");
}

/// Returns true if a name is a beginning of another, and long enough to be no third.
fn begins(known: &str, name: &str, least: usize) -> bool {
    name.len() >= least && known.starts_with(name)
}

/// `psql`: `\!` and the other commands that start programs.
pub(super) fn psql(words: &[Word], launch: &mut Launch) {
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.text.as_str();
        let code = text
            .split_once("\\!")
            .or_else(|| text.split_once('|').filter(|(before, _)| before.contains('\\')));
        let program =
            text.to_ascii_lowercase().contains("program") && text.to_ascii_lowercase().contains("copy");
        if let Some((_, code)) = code.filter(|(_, code)| !code.trim().is_empty()) {
            launch.hazard(at);
            launch.own_code(word, "psql");
            launch.code(with_text(word, code.trim()));
        } else if program {
            launch.hazard(at);
            launch.own_code(word, "psql");
            let code = text.split('\'').nth(1).unwrap_or_default();
            launch.code(with_text(word, code));
        }
    }
}
