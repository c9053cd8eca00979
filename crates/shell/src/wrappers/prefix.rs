//! Programs that start the command behind their own options.

use policy::{Assignment, KnownProgram, Word};

use super::options::{Found, Item, Options};
use super::programs::effect;
use super::words::{assignment, from, is_anything, with_text};
use super::{Launch, Start};
use crate::Dialect;

/// Number of times that `env -S` may bring another `-S`.
const MAX_SPLITS: usize = 8;

/// A program that starts another.
pub(super) struct Wrapper {
    spec: &'static str,
    /// Words between the options and the command.
    operands: Operands,
    /// True if it does nothing but start the command.
    alone: bool,
    /// True if `NAME=VALUE` before the command sets a variable.
    assigns: bool,
    /// True if it starts a shell when no command is there.
    shell: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    None,
    One,
    /// A word that is there only when it is a number.
    Number,
}

impl Wrapper {
    /// A wrapper with these options that does nothing else.
    pub(super) const fn new(spec: &'static str) -> Self {
        Self { spec, operands: Operands::None, alone: true, assigns: false, shell: false }
    }

    /// A wrapper of the table.
    pub(super) fn of(program: KnownProgram) -> Self {
        let has = |word: &str| program.how.split(' ').any(|known| known == word);
        let operands = match (has("one"), has("number")) {
            (true, _) => Operands::One,
            (_, true) => Operands::Number,
            _ => Operands::None,
        };
        Self { operands, alone: !has("busy"), shell: has("shell"), ..Self::new(program.options) }
    }

    /// It does more than to start the command.
    pub(super) const fn busy(self) -> Self {
        Self { alone: false, ..self }
    }

    /// One word stands before the command.
    pub(super) const fn one(self) -> Self {
        Self { operands: Operands::One, ..self }
    }

    /// Variables may be set before the command.
    pub(super) const fn assigns(self) -> Self {
        Self { assigns: true, ..self }
    }

    /// Looks through it.
    pub(super) fn inspect(&self, words: &[Word], launch: &mut Launch) {
        if let Some(at) = self.command(words, launch) {
            self.start(words, at, launch);
        }
    }

    fn start(&self, words: &[Word], at: usize, launch: &mut Launch) {
        let command = from(words, at);
        if command.is_empty() && self.shell {
            launch.starts.push(Start::Stdin(Dialect::Sh));
        }
        launch.program(command.to_vec(), self.alone);
    }

    /// Returns the index of the command; `None` when none starts.
    pub(super) fn command(&self, words: &[Word], launch: &mut Launch) -> Option<usize> {
        let options = Options::new(words, self.spec);
        let mut at = words.len();
        for item in options {
            match item {
                Item::Found(found) if found.effect == Some('.') => return None,
                Item::Found(found) => effect(&found, launch),
                Item::Strange(at) => strange(words, at, launch),
                Item::Operand(first) => {
                    at = first;
                    break;
                }
            }
        }
        let at = self.behind_operands(words, at, launch);
        uncertain_before(words, at, launch);
        Some(at)
    }

    /// The word with one of these options, before the command.
    fn option(&self, words: &[Word], names: &[&str]) -> Option<usize> {
        let own = Options::new(words, self.spec).take_while(|item| !matches!(item, Item::Operand(_)));
        own.into_iter().find_map(|item| match item {
            Item::Found(found) if names.contains(&found.name) => Some(found.at),
            _ => None,
        })
    }

    fn behind_operands(&self, words: &[Word], at: usize, launch: &mut Launch) -> usize {
        let at = at + usize::from(words.get(at).is_some_and(|word| self.takes(word)));
        if self.assigns { assigned(words, at, launch) } else { at }
    }

    fn takes(&self, word: &Word) -> bool {
        match self.operands {
            Operands::None => false,
            Operands::One => true,
            Operands::Number => word.text.bytes().all(|digit| digit.is_ascii_digit()),
        }
    }
}

/// Variables that are set before the command; gives where it begins.
fn assigned(words: &[Word], mut at: usize, launch: &mut Launch) -> usize {
    while let Some((word, (name, value))) =
        words.get(at).and_then(|word| Some((word, assignment(&word.text)?)))
    {
        launch.assignments.push(Assignment { name: name.to_owned(), value: with_text(word, value) });
        at += 1;
    }
    at
}

/// An unknown option: it may have a value, and then the command is another word.
pub(super) fn strange(words: &[Word], at: usize, launch: &mut Launch) {
    if let (Some(program), Some(word)) = (words.first(), words.get(at)) {
        launch
            .unprovable(word, format!("`{}` has no option `{}` that is known here", program.text, word.text));
    }
}

/// A word before the command that could become several, or none.
pub(super) fn uncertain_before(words: &[Word], at: usize, launch: &mut Launch) {
    let before = words.iter().take(at).skip(1);
    if let Some(word) = before.into_iter().find(|word| !word.is_literal()) {
        launch.unprovable(word, "a word before the command is not known, so the command is not certain");
    }
}

/// `env`, which can also split its words itself.
pub(super) fn env(words: &[Word], launch: &mut Launch) {
    let mut words = words.to_vec();
    for _ in 0..MAX_SPLITS {
        match env_split(&words) {
            Some(split) => words = split,
            None => return env_plain(&words, launch),
        }
    }
    if let Some(word) = words.first() {
        launch.unprovable(word, "`env -S` inside `env -S`, too often");
    }
}

const ENV: &str = "-i|--ignore-environment -0|--null -u|--unset: -C|--chdir:@ -S|--split-string: -v|--debug -P: \
    -a|--argv0: --block-signal? --default-signal? --ignore-signal? --list-signal-handling --help. --version.";

fn env_split(words: &[Word]) -> Option<Vec<Word>> {
    let mut options = Options::new(words, ENV);
    loop {
        match options.next()? {
            Item::Operand(_) => return None,
            Item::Found(Found { name: "-S", value: Some(value), at, .. }) => {
                let mut split = words.get(..at)?.to_vec();
                split.extend(super::split::as_env(&value));
                split.extend_from_slice(from(words, options.position()));
                return Some(split);
            }
            Item::Found(_) | Item::Strange(_) => {}
        }
    }
}

fn env_plain(words: &[Word], launch: &mut Launch) {
    const PLAIN: Wrapper = Wrapper::new(ENV).assigns();
    let Some(mut at) = PLAIN.command(words, launch) else { return };
    // A dash alone is an old spelling of `-i`.
    if words.get(at).is_some_and(|word| word.text == "-" && word.is_literal()) {
        at = assigned(words, at + 1, launch);
    }
    PLAIN.start(words, at, launch);
}

/// `sudo`, which can also start a shell.
pub(super) fn sudo(words: &[Word], launch: &mut Launch) {
    const SUDO: Wrapper = Wrapper::new(
        "-A|--askpass -b|--background -B|--bell -C|--close-from: -D|--chdir:@ -e|--edit -E --preserve-env? \
         -g|--group: -H|--set-home -h|--host: -i|--login -K|--remove-timestamp. -k|--reset-timestamp -l|--list. \
         -n|--non-interactive -N|--no-update -P|--preserve-groups -p|--prompt: -R|--chroot: -r|--role: -S|--stdin \
         -s|--shell -T|--command-timeout: -t|--type: -U|--other-user: -u|--user: -V|--version. -v|--validate. --help. \
         -a|--auth-type: -c|--login-class:",
    )
    .assigns()
    .busy();
    let Some(at) = SUDO.command(words, launch) else { return };
    if let Some(edit) = SUDO.option(words, &["-e"]) {
        return launch.hazard(edit);
    }
    if at >= words.len() && SUDO.option(words, &["-s", "-i"]).is_some() {
        launch.starts.push(Start::Stdin(Dialect::Sh));
    }
    SUDO.start(words, at, launch);
}

/// `setarch`, whose first word may be a machine.
pub(super) fn setarch(words: &[Word], launch: &mut Launch) {
    let machine = words.get(1).is_some_and(|word| !word.text.starts_with('-') && !is_anything(word));
    if let Some(program) = KnownProgram::named("linux32") {
        Wrapper::of(program).inspect(from(words, usize::from(machine)), launch);
    }
}

/// `su` and `runuser`: code behind `-c`, or words for the shell of a user.
pub(super) fn su(words: &[Word], launch: &mut Launch) {
    const SU: &str = "-c|--command:$ --session-command:$ -s|--shell: -l|--login -m|-p|--preserve-environment -f|--fast \
        -g|--group: -G|--supp-group: -w|--whitelist-environment: -P|--pty -T|--no-pty -u|--user: --help. --version.";
    let (mut operands, mut user) = (Vec::new(), false);
    for item in Options::new(words, SU) {
        match item {
            Item::Found(found) if found.effect == Some('.') => return,
            Item::Found(found) => {
                user |= found.name == "-u";
                effect(&found, launch);
            }
            Item::Strange(at) => strange(words, at, launch),
            Item::Operand(at) if user => return launch.program(from(words, at).to_vec(), false),
            Item::Operand(at) => operands.push(at),
        }
    }
    su_shell(words, &operands, launch);
}

/// Without code the shell reads a script that is named, or its standard input.
fn su_shell(words: &[Word], operands: &[usize], launch: &mut Launch) {
    let is_dash = |at: &&usize| words.get(**at).is_some_and(|word| word.text == "-");
    let arguments = operands.iter().filter(|at| !is_dash(at)).skip(1).filter_map(|at| words.get(*at));
    let shell: Vec<_> = std::iter::once(&Word::literal("sh")).chain(arguments).cloned().collect();
    if launch.starts.is_empty() {
        launch.program(shell, false);
    }
}

/// `xargs`: what it reads becomes words of the command.
pub(super) fn xargs(words: &[Word], launch: &mut Launch) {
    const XARGS: Wrapper = Wrapper::new(
        "-0|--null -a|--arg-file: -d|--delimiter: -E: -e|--eof? -I: -i|--replace? -J: -L: -l|--max-lines? \
         -n|--max-args: -P|--max-procs: -R: -S: -s|--max-chars: -r|--no-run-if-empty -t|--verbose -p|--interactive \
         -x|--exit -o|--open-tty --process-slot-var: --show-limits --help. --version.",
    );
    let Some(at) = XARGS.command(words, launch) else { return };
    let Some(first) = words.get(at) else { return };
    let command = match placeholder(Options::new(words, XARGS.spec)) {
        Some(place) => super::words::filled(from(words, at), &place),
        None => from(words, at).iter().cloned().chain([super::words::anything(first)]).collect(),
    };
    launch.program(command, true);
}

fn placeholder(options: Options<'_>) -> Option<String> {
    options.map_while(|item| if let Item::Found(found) = item { Some(found) } else { None }).find_map(
        |found| {
            let named = found.value.map(|value| value.text);
            matches!(found.name, "-I" | "-i" | "-J").then(|| named.unwrap_or_else(|| "{}".to_owned()))
        },
    )
}

/// `watch`: its words become shell code, unless it is told to start them as they are.
pub(super) fn watch(words: &[Word], launch: &mut Launch) {
    const WATCH: Wrapper = Wrapper::new(
        "-b|--beep -c|--color -C|--no-color -d --differences? -e|--errexit -g|--chgexit -q|--equexit: -n|--interval: \
         -p|--precise -t|--no-title -w|--no-wrap -x|--exec -r|--no-rerun -f|--follow -s|--shotsdir:! -h|--help. -v|--version.",
    );
    let Some(at) = WATCH.command(words, launch) else { return };
    if WATCH.option(words, &["-x"]).is_some() {
        return launch.program(from(words, at).to_vec(), false);
    }
    launch.joined(from(words, at));
}

/// `tmux`: what stands behind a command of its own that opens a window is shell code.
pub(super) fn tmux(words: &[Word], launch: &mut Launch) {
    const TMUX: Wrapper = Wrapper::new("-c:$ -f:! -L: -S: -T: -2 -C -D -l -N -u -v -V.");
    const WINDOW: Wrapper = Wrapper::new(
        "-c:@ -e: -F: -f: -l: -n: -s: -S: -t: -T: -w: -h: -x: -y: -p: -A -B -C -D -E -P -X -a -b -d -k -I -v -Z -g -q -r",
    );
    let Some(at) = TMUX.command(words, launch) else { return };
    let name = words.get(at).map(|word| word.text.as_str()).unwrap_or_default();
    let opens = ["new", "split", "respawn", "run", "popup", "display-popup", "if", "pipe", "send", "source"];
    if !opens.iter().any(|open| name.starts_with(open)) {
        return;
    }
    launch.hazard(at);
    let rest = from(words, at);
    if let Some(code) = WINDOW.command(rest, launch) {
        launch.joined(from(rest, code));
    }
}

/// `entr`: a command for files that change; with `-s` its first word is code.
pub(super) fn entr(words: &[Word], launch: &mut Launch) {
    const ENTR: Wrapper = Wrapper::new("-a -c -d -n -p -r -s -x -z").busy();
    let Some(at) = ENTR.command(words, launch) else { return };
    if ENTR.option(words, &["-s"]).is_some() {
        return launch.joined(from(words, at));
    }
    launch.program(super::words::filled(from(words, at), "/_"), false);
}

/// `flock FILE COMMAND…`, `flock FILE -c CODE`, `flock NUMBER`.
pub(super) fn flock(words: &[Word], launch: &mut Launch) {
    const FLOCK: Wrapper = Wrapper::new(
        "-s|--shared -x|-e|--exclusive -u|--unlock -n|--nb|--nonblock -w|--wait|--timeout: -o|--close \
         -E|--conflict-exit-code: -F|--no-fork --verbose --fcntl -h|--help. -V|--version.",
    )
    .one();
    let Some(at) = FLOCK.command(words, launch) else { return };
    let is_code = words.get(at).is_some_and(|word| matches!(word.text.as_str(), "-c" | "--command"));
    match words.get(at + 1) {
        Some(code) if is_code => launch.code(code.clone()),
        _ => launch.program(from(words, at).to_vec(), false),
    }
}

/// `script`: code behind `-c`, or a command behind the file, or a shell.
pub(super) fn script(words: &[Word], launch: &mut Launch) {
    const SCRIPT: &str = "-a|--append -c|--command:$ -e|--return -E|--echo: -f|--flush -I|--log-in:! -O|--log-out:! \
        -B|--log-io:! -T|--log-timing:! -t|--timing? -m|--logging-format: -o|--output-limit: -q|--quiet --force -F: -k \
        -p -r -d -h|--help. -V|--version.";
    let mut operands = 0;
    for item in Options::new(words, SCRIPT) {
        match item {
            Item::Found(found) if found.effect == Some('.') => return,
            Item::Found(found) => effect(&found, launch),
            Item::Strange(at) => strange(words, at, launch),
            Item::Operand(at) if operands == 1 => return launch.program(from(words, at).to_vec(), false),
            Item::Operand(_) => operands += 1,
        }
    }
    if launch.starts.is_empty() {
        launch.starts.push(Start::Stdin(Dialect::Sh));
    }
}

/// `capsh`: what stands behind `--` or `==` goes to a shell.
pub(super) fn capsh(words: &[Word], launch: &mut Launch) {
    let Some(at) = words.iter().position(|word| matches!(word.text.as_str(), "--" | "==")) else { return };
    let named = words.iter().find_map(|word| Some(with_text(word, word.text.strip_prefix("--shell=")?)));
    let mut shell = vec![named.unwrap_or_else(|| Word::literal("bash"))];
    shell.extend_from_slice(from(words, at + 1));
    uncertain_before(words, at, launch);
    launch.program(shell, false);
}

/// `bwrap`, whose options all have a fixed number of values.
pub(super) fn bwrap(words: &[Word], launch: &mut Launch) {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with("--")) {
        at += 1;
        if word.text == "--" {
            break;
        }
        match super::table::bwrap_values(&word.text) {
            Some(values) => at += values,
            None => strange(words, at - 1, launch),
        }
    }
    uncertain_before(words, at, launch);
    launch.program(from(words, at).to_vec(), false);
}

/// `start-stop-daemon`: the program is the value of an option, its words follow.
pub(super) fn daemon(words: &[Word], launch: &mut Launch) {
    const DAEMON: &str = "-x|--exec: -a|--startas: -S|--start -K|--stop. -d|--chdir:@ -r|--chroot: -u|--user: \
        -c|--chuid: -g|--group: -n|--name: -p|--pidfile: -P|--procsched: -I|--iosched: -k|--umask: -s|--signal: \
        -R|--retry: -N|--nicelevel: -b|--background -m|--make-pidfile -o|--oknodo -q|--quiet -t|--test -v|--verbose \
        -O|--output:! -T|--status. -C|--no-close --ppid: --notify-await --notify-timeout: --remove-pidfile -H|--help. \
        -V|--version. -1|--stdout:! -2|--stderr:! -e|--env: -i|--interpreted -w|--wait:";
    let (mut program, mut startas, mut rest) = (None, None, Vec::new());
    for item in Options::new(words, DAEMON) {
        match item {
            Item::Found(Found { effect: Some('.'), .. }) => return,
            Item::Found(Found { name: "-x", value, .. }) => program = value,
            Item::Found(Found { name: "-a", value, .. }) => startas = value,
            Item::Found(found) => effect(&found, launch),
            Item::Strange(at) => strange(words, at, launch),
            Item::Operand(at) => rest.extend(words.get(at).cloned()),
        }
    }
    if let Some(program) = startas.or(program) {
        rest.insert(0, program);
        launch.program(rest, false);
    }
}

/// `parallel`: a template that a shell reads, or without one the lines that it reads.
pub(super) fn parallel(words: &[Word], launch: &mut Launch) {
    const PARALLEL: Wrapper = Wrapper::new(super::table::PARALLEL).busy();
    let Some(at) = PARALLEL.command(words, launch) else { return };
    let is_source = |word: &Word| word.text.starts_with(":::");
    let template: Vec<_> = from(words, at).iter().take_while(|word| !is_source(word)).cloned().collect();
    let source = words.get(at + template.len());
    let Some(code) = super::words::joined(&template) else { return lines(words, source, launch) };
    if PARALLEL.option(words, &["-q"]).is_some() {
        return launch.program(super::words::filled(&template, "{}"), false);
    }
    launch.starts.push(template_code(&code));
}

/// Without a template, every argument is a line of code.
fn lines(words: &[Word], source: Option<&Word>, launch: &mut Launch) {
    let Some(source) = source else { return launch.starts.push(Start::Stdin(Dialect::Sh)) };
    let at = words.iter().position(|word| std::ptr::eq(word, source)).unwrap_or_default();
    if source.text != ":::" {
        return launch.unprovable(source, "the lines of a file would be run as code");
    }
    for word in from(words, at + 1) {
        launch.code(word.clone());
    }
}

/// The argument becomes `$1`. Inside quotes it could be read as code, so then nothing is certain.
fn template_code(code: &Word) -> Start {
    let places = code.text.contains('{');
    let certain = !places || !code.text.contains(['\'', '"', '`', '\\', '$', '(']);
    let text = if places { with_arguments(&code.text) } else { format!("{} \"$1\"", code.text) };
    let code = if certain { with_text(code, text) } else { super::words::unknown(code, code.text.clone()) };
    let arguments = vec![Word::literal("parallel"), super::words::anything(&code)];
    Start::Code { code, dialect: Dialect::Sh, arguments }
}

fn with_arguments(template: &str) -> String {
    let mut pieces = template.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text.push_str("$1");
        text.push_str(piece.split_once('}').map_or(piece, |(_, behind)| behind));
    }
    text
}

/// `fd -x COMMAND… ;`.
pub(super) fn fd(words: &[Word], launch: &mut Launch) {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        let text = word.text.as_str();
        let cluster = !text.starts_with("--") && text.starts_with('-') && text.ends_with(['x', 'X']);
        if text == "--" {
            break;
        }
        if cluster || text.starts_with("--exec") {
            let attached = text.split_once('=').map(|(_, program)| with_text(word, program));
            let command = from(words, at).iter().take_while(|word| word.text != ";").cloned();
            let command: Vec<_> = attached.into_iter().chain(command).collect();
            at += command.len();
            launch.program(fd_filled(&command), false);
        }
    }
}

fn fd_filled(command: &[Word]) -> Vec<Word> {
    let places = ["{}", "{/}", "{//}", "{.}", "{/.}"];
    let filled = places.iter().fold(command.to_vec(), |words, place| super::words::filled(&words, place));
    // Without a place of its own, the file comes last.
    let last = command.first().filter(|_| filled == command).map(super::words::anything);
    filled.into_iter().chain(last).collect()
}

/// `firejail`, whose options all have their values behind `=`.
pub(super) fn firejail(words: &[Word], launch: &mut Launch) {
    let options =
        words.iter().skip(1).take_while(|word| word.text.starts_with('-') && word.text != "--").count();
    let at = 1 + options + usize::from(words.get(1 + options).is_some_and(|word| word.text == "--"));
    uncertain_before(words, at, launch);
    launch.program(from(words, at).to_vec(), false);
}

/// `socat`, whose addresses can be programs.
pub(super) fn socat(words: &[Word], launch: &mut Launch) {
    for (at, word) in words.iter().enumerate().skip(1) {
        let Some((kind, code)) = word.text.split_once(':') else { continue };
        if ["exec", "system", "shell"].iter().any(|known| kind.eq_ignore_ascii_case(known)) {
            launch.hazard(at);
            launch.code(with_text(word, code.split(',').next().unwrap_or(code)));
        }
    }
}
