//! Facts out of commands for a shell.

mod names;
mod programs;

use std::ops::Range;

use policy::{Direction, Program, Redirect, Word};
use shell::{Dialect, Surroundings};

use super::{Access, Channel, Destination, FactKind, Flow, Hostile, Part, Ran, Reading, network, persist};
use crate::code::command::Commands;
use crate::code::secret::{self, Secret, is_secret_variable};
use programs::{Habit, habit};

/// The longest text that is read as commands.
const MAX_TEXT: usize = 1 << 18;

/// Maximum number of programs looked at.
const MAX_PROGRAMS: usize = 1024;

/// Maximum distance back to the program in front of a pipe.
const MAX_BACK: usize = 64;

/// Reads the commands of a unit.
pub(super) fn of(commands: &Commands) -> Reading {
    facts(&commands.text, &commands.programs, 0)
}

/// Reads commands that stand in a text of another language.
pub(super) fn read(text: &str, depth: u32) -> Reading {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let around =
        Surroundings { dialects: &[Dialect::Bash], cwd: Some("/w"), home: Some("/home/u"), stdin: None };
    let invocation = shell::read(&text.as_bytes()[..end], &around);
    let mut reading = facts(text, &invocation.programs, depth);
    reading.is_cut |= end < text.len();
    reading
}

fn facts(text: &str, programs: &[Program], depth: u32) -> Reading {
    let programs = &programs[..programs.len().min(MAX_PROGRAMS)];
    let mut finder =
        Finder { text, reading: Reading::default(), programs: Vec::new(), held: Vec::new(), depth };
    for program in programs {
        finder.program(program);
    }
    finder.called();
    finder.variables();
    finder.loops();
    finder.connect(programs);
    finder.reading
}

/// Inputs and outputs of one program.
#[derive(Debug, Default)]
struct Doing {
    span: Range<usize>,
    brings: Vec<usize>,
    /// Facts that take something: the stretch, the part, the fact.
    takes: Vec<(Range<usize>, Part, usize)>,
    /// Facts that take what comes through the pipe.
    drinks: Vec<usize>,
    /// Files it writes.
    writes: Vec<String>,
}

struct Finder<'a> {
    text: &'a str,
    reading: Reading,
    programs: Vec<Doing>,
    /// Variables and files that hold something: the name and the facts.
    held: Vec<(String, Vec<usize>)>,
    /// Number of texts around this one.
    depth: u32,
}

impl Finder<'_> {
    fn program(&mut self, program: &Program) {
        let span = range(program.span.start, program.span.end);
        let words = program.argv.words();
        let name =
            words.first().map(|word| word.text.rsplit('/').next().unwrap_or_default()).unwrap_or_default();
        let mut doing = Doing { span: span.clone(), ..Doing::default() };
        if !name.is_empty() && words.first().is_some_and(Word::is_literal) {
            self.reading.push(FactKind::Program(name.to_owned()), span.clone());
        }
        self.hosts(words);
        let habit = habit(name);
        self.secrets(program, habit, &mut doing);
        self.reads(name, words);
        self.writes(program, name, &mut doing);
        match habit {
            Habit::Web => self.web(name, words, &mut doing),
            Habit::Environment
                if words.len() == 1 || name == "export" && words.len() == 2 && words[1].text == "-p" =>
            {
                let fact = self.reading.push(FactKind::ReadsSecret(Secret::Environment), span.clone());
                doing.brings.extend(fact);
            }
            Habit::Send(channel) => self.send(name, words, channel, &mut doing),
            Habit::Lookup => self.lookup(words, &mut doing),
            Habit::Decode if programs::decodes(words) => {
                doing.brings.extend(self.reading.push(FactKind::Decodes, span.clone()));
            }
            Habit::Interpreter => {
                self.interpreter(words, &mut doing);
                let given = program.redirects.iter().find(|redirect| redirect.direction == Direction::Text);
                if let Some(given) =
                    given.filter(|_| !words.iter().any(|word| matches!(word.text.as_str(), "-c" | "-e")))
                {
                    self.inner(words, &given.target, &mut doing);
                }
            }
            Habit::Schedule => self.schedule(name, words, &span),
            Habit::PasswordCheck if words.iter().any(|word| word.text == "-authonly") => {
                self.reading.push(FactKind::Hostile(Hostile::PasswordCheck), span.clone());
            }
            Habit::Capture(capture) => {
                doing.brings.extend(self.reading.push(FactKind::Captures(capture), span.clone()));
            }
            _ => {}
        }
        self.programs.push(doing);
    }

    fn hosts(&mut self, words: &[Word]) {
        for word in words {
            let place = range(word.span.start, word.span.end);
            if let Some(host) = network::host_of(&word.text) {
                self.reading.push(FactKind::Host(host), place);
            }
        }
    }

    /// Secret files that it reads, and secret variables among its words.
    fn secrets(&mut self, program: &Program, habit: Habit, doing: &mut Doing) {
        let reads = !matches!(habit, Habit::Names | Habit::Lookup);
        let words = program.argv.words();
        for (before, word) in words.iter().zip(words.iter().skip(1)) {
            // The credentials a program logs in with are not what it sends.
            if matches!(
                before.text.as_str(),
                "-i" | "--key" | "--cert" | "--identity" | "--env-file" | "--netrc-file"
            ) {
                continue;
            }
            let place = range(word.span.start, word.span.end);
            // Of a word that is not known for sure, what is written says more.
            let spelled = self.text.get(place.clone()).unwrap_or_default().trim_matches(['"', '\'']);
            let text = if word.is_literal() { word.text.as_str() } else { spelled };
            let text = text.trim_start_matches('@');
            let path = text.rsplit_once("=@").map_or(text, |(_, path)| path);
            let packs = words
                .first()
                .is_some_and(|word| matches!(word.text.as_str(), "tar" | "zip" | "7z" | "scp" | "rclone"));
            let store = secret::of_path(path).or_else(|| secret::of_directory(path).filter(|_| packs));
            if let Some(store) = store.filter(|_| reads) {
                let secret = FactKind::ReadsSecret(Secret::File(store, path.to_owned()));
                doing.brings.extend(self.reading.push(secret, place.clone()));
            }
            self.named_variables(&place, doing);
        }
        for redirect in &program.redirects {
            let place = range(redirect.target.span.start, redirect.target.span.end);
            match redirect.direction {
                Direction::Read | Direction::Both => {
                    let path = redirect.target.text.clone();
                    self.reading.push(FactKind::Path { path, access: Access::Read }, place.clone());
                    if let Some(store) = secret::of_path(&redirect.target.text) {
                        let secret = FactKind::ReadsSecret(Secret::File(store, redirect.target.text.clone()));
                        doing.brings.extend(self.reading.push(secret, place));
                    }
                }
                Direction::Text => self.named_variables(&place, doing),
                Direction::Write => {}
            }
        }
    }

    /// Files that it reads, where its words say no more than that.
    fn reads(&mut self, name: &str, words: &[Word]) {
        if !matches!(
            name,
            "cat" | "head" | "tail" | "less" | "source" | "python" | "python3" | "node" | "bash" | "sh"
        ) {
            return;
        }
        let operand = words.iter().skip(1).find(|word| !word.text.starts_with('-'));
        let Some(word) = operand.filter(|word| word.is_literal() && word.text.contains(['/', '.'])) else {
            return;
        };
        let place = range(word.span.start, word.span.end);
        if !word.text.contains(char::is_whitespace) {
            self.reading.push(FactKind::Path { path: word.text.clone(), access: Access::Read }, place);
        }
    }

    /// Secret variables in a stretch: `$NAME`, `${NAME}`; also `$(NAME)`, which people write for it.
    fn named_variables(&mut self, place: &Range<usize>, doing: &mut Doing) {
        for (name, at) in variables_in(self.text, place) {
            let found = at..at + name.len();
            self.reading.push(FactKind::Variable(name.to_owned()), found.clone());
            if is_secret_variable(name) {
                let secret = FactKind::ReadsSecret(Secret::Variable(name.to_owned()));
                doing.brings.extend(self.reading.push(secret, found));
            }
        }
    }

    /// Files that it writes, and what stays because of them.
    fn writes(&mut self, program: &Program, name: &str, doing: &mut Doing) {
        let redirected = program
            .redirects
            .iter()
            .filter(|redirect: &&Redirect| matches!(redirect.direction, Direction::Write | Direction::Both));
        let mut targets: Vec<(String, Range<usize>)> =
            redirected.map(|redirect| (self.named(&redirect.target), doing.span.clone())).collect();
        let words = program.argv.words();
        let mut operands = words.iter().skip(1).filter(|word| !word.text.starts_with('-'));
        match name {
            "tee" => targets.extend(operands.map(|word| (word.text.clone(), doing.span.clone()))),
            "cp" | "mv" | "ln" | "install" | "rsync" => {
                targets.extend(operands.next_back().map(|word| (word.text.clone(), doing.span.clone())));
            }
            "sed" | "perl"
                if words.iter().any(|word| word.text.starts_with("-i") || word.text == "--in-place") =>
            {
                targets.extend(operands.next_back().map(|word| (word.text.clone(), doing.span.clone())));
            }
            "curl" | "wget" => {
                let option =
                    words.iter().position(|word| matches!(word.text.as_str(), "-o" | "-O" | "--output"));
                let target = option.and_then(|at| words.get(at + 1));
                targets.extend(target.map(|word| (word.text.clone(), doing.span.clone())));
            }
            _ => {}
        }
        for (path, place) in targets {
            if path.is_empty() || path.starts_with("/dev/") || path.contains("://") {
                if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
                    self.reading.push(FactKind::Hostile(Hostile::RemoteShell), place);
                }
                continue;
            }
            self.reading.push(FactKind::Path { path: path.clone(), access: Access::Write }, place.clone());
            if let Some(hold) = persist::of_path(&path) {
                self.reading.push(FactKind::Persists(hold, path.clone()), place.clone());
            }
            let fact = self.reading.push(FactKind::Saves(path.clone()), place);
            doing.drinks.extend(fact);
            doing.takes.extend(fact.map(|fact| (doing.span.clone(), Part::Body, fact)));
            doing.writes.push(path);
        }
    }

    /// `curl`, `wget` and their kin.
    fn web(&mut self, name: &str, words: &[Word], doing: &mut Doing) {
        let request = programs::request(name, words);
        let address = request.address.map(|word| word.text.as_str()).unwrap_or_default();
        let place = request.address.map(|word| range(word.span.start, word.span.end));
        // Unknown parts of a word are left out of its text; the text around it says more.
        let spelled = place.clone().and_then(|place| self.text.get(place)).unwrap_or(address);
        let shown = if address.contains("://") { address } else { spelled.trim_matches(['"', '\'']) };
        let to = match network::host_of(shown) {
            None if !shown.contains("://") && shown.contains('.') && !shown.starts_with('$') => {
                Destination::new(&format!("http://{shown}"), false)
            }
            _ => Destination::new(shown, false),
        };
        let what = FactKind::Fetches(to.clone());
        doing.brings.extend(self.reading.push(what, doing.span.clone()));
        let is_upload = request.is_upload;
        let what = FactKind::Sends { to, channel: Channel::Web, is_upload };
        let Some(fact) = self.reading.push(what, doing.span.clone()) else { return };
        for (word, part) in request.parts {
            doing.takes.push((range(word.span.start, word.span.end), part, fact));
        }
        if request.takes_input {
            doing.drinks.push(fact);
        }
    }

    fn send(&mut self, name: &str, words: &[Word], channel: Channel, doing: &mut Doing) {
        let remote = programs::remote(name, words);
        let Some(host) = remote else { return };
        let to = Destination::new(&format!("tcp://{host}"), false);
        let what = FactKind::Sends { to, channel, is_upload: true };
        let Some(fact) = self.reading.push(what, doing.span.clone()) else { return };
        doing.takes.push((doing.span.clone(), Part::Body, fact));
        doing.drinks.push(fact);
    }

    /// A name that is computed can carry anything.
    fn lookup(&mut self, words: &[Word], doing: &mut Doing) {
        let computed = words.iter().skip(1).find(|word| {
            let spelled = self.text.get(range(word.span.start, word.span.end)).unwrap_or_default();
            !word.is_literal() && spelled.contains('.')
        });
        let Some(word) = computed else { return };
        let place = range(word.span.start, word.span.end);
        let text = self.text.get(place.clone()).unwrap_or_default().to_owned();
        let to = Destination { text, host: None, is_decoded: false };
        let what = FactKind::Sends { to, channel: Channel::Names, is_upload: true };
        let Some(fact) = self.reading.push(what, doing.span.clone()) else { return };
        doing.takes.push((place, Part::Address, fact));
    }

    /// A shell or another language: what comes through the pipe is run.
    fn interpreter(&mut self, words: &[Word], doing: &mut Doing) {
        let script = words.iter().skip(1).find(|word| !word.text.starts_with('-') || word.text == "-");
        let code = words.iter().position(|word| matches!(word.text.as_str(), "-c" | "-e" | "--eval" | "-p"));
        let text = code.is_some() || words.iter().any(|word| word.text == "-m");
        if let Some(code) = code.and_then(|at| words.get(at + 1)) {
            self.inner(words, code, doing);
        }
        let what = FactKind::Runs(Ran::Code);
        if script.is_none_or(|word| word.text == "-" || !word.is_literal()) || text {
            let Some(fact) = self.reading.push(what, doing.span.clone()) else { return };
            doing.takes.push((doing.span.clone(), Part::Body, fact));
            if !text {
                doing.drinks.push(fact);
            }
        }
    }

    /// The text of `python -c`, `node -e` and their kin.
    fn inner(&mut self, words: &[Word], code: &Word, doing: &mut Doing) {
        let name =
            words.first().map(|word| word.text.rsplit('/').next().unwrap_or_default()).unwrap_or_default();
        let Some(language) = programs::language(name) else { return };
        if self.depth >= super::MAX_DEPTH {
            self.reading.is_cut = true;
            return;
        }
        let inner = super::code::read(&code.text, language, self.depth + 1);
        let first = self.reading.facts.len();
        for fact in inner.facts {
            let brings =
                matches!(fact.what, FactKind::ReadsSecret(_) | FactKind::Fetches(_) | FactKind::Decodes);
            let Some(number) = self.reading.push(fact.what, doing.span.clone()) else { return };
            if brings {
                doing.brings.push(number);
            }
        }
        let moved =
            |flow: &Flow| Flow { source: flow.source + first, sink: flow.sink + first, part: flow.part };
        self.reading.flows.extend(inner.flows.iter().map(moved));
    }

    fn schedule(&mut self, name: &str, words: &[Word], span: &Range<usize>) {
        if let Some((hold, what)) = programs::schedules(name, words) {
            self.reading.push(FactKind::Persists(hold, what), span.clone());
        }
    }

    /// `NAME=value`: what stands in the value is held by the name.
    fn variables(&mut self) {
        let bytes = self.text.as_bytes();
        for at in memchr::memchr_iter(b'=', bytes).take(4096) {
            let start = bytes[..at]
                .iter()
                .rposition(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
                .map_or(0, |before| before + 1);
            let name = &self.text[start..at];
            let begins = start == 0 || matches!(bytes[start - 1], b'\n' | b' ' | b';' | b'\t' | b'(');
            let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            if !begins || !is_name {
                continue;
            }
            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |line| at + line);
            let inside = |place: &Range<usize>| at < place.start && place.end <= end;
            let facts: Vec<usize> = self
                .programs
                .iter()
                .filter(|doing| {
                    let before = self.text.get(at..doing.span.start).unwrap_or_default();
                    inside(&doing.span) && (before.contains("$(") || before.contains('`'))
                })
                .flat_map(|doing| doing.brings.iter().copied())
                .take(16)
                .collect();
            let variables = variables_in(self.text, &(at..end)).into_iter().take(16);
            let mut held = facts;
            for (variable, at) in variables {
                if is_secret_variable(variable) && self.text[start..at].matches(' ').count() == 0 {
                    let secret = FactKind::ReadsSecret(Secret::Variable(variable.to_owned()));
                    held.extend(self.reading.push(secret, at..at + variable.len()));
                }
            }
            if !held.is_empty() {
                self.held.push((name.to_owned(), held));
            }
        }
    }

    /// Puts programs together: through pipes, substitutions, variables and files.
    fn connect(&mut self, programs: &[Program]) {
        let mut flowing: Vec<Vec<usize>> = Vec::new();
        for number in 0..self.programs.len() {
            let before = pipe_before(programs, number);
            let mut brought = before.map(|at| flowing[at].clone()).unwrap_or_default();
            for (fact, part) in self.taken_by(number, &brought) {
                self.reading.flows.push(Flow { source: fact.0, sink: fact.1, part });
            }
            brought.extend(self.brought_to(number));
            brought.sort_unstable();
            brought.dedup();
            brought.truncate(64);
            for path in self.programs[number].writes.clone() {
                if !brought.is_empty() {
                    self.held.push((path, brought.clone()));
                }
            }
            let archive = Self::archive(programs, number);
            if !brought.is_empty() {
                self.held.extend(archive.map(|path| (path, brought.clone())));
            }
            flowing.push(brought);
        }
        self.reading.flows.sort_by_key(|flow| (flow.sink, flow.source));
        self.reading.flows.dedup();
    }

    /// Everything that a program itself, those inside its words, and names that hold something bring to it.
    fn brought_to(&self, number: usize) -> Vec<usize> {
        let doing = &self.programs[number];
        let mut facts = doing.brings.clone();
        let near = number.saturating_sub(MAX_BACK)..(number + MAX_BACK).min(self.programs.len());
        for other in near.filter(|other| *other != number) {
            let inner = &self.programs[other];
            if doing.span.start <= inner.span.start && inner.span.end <= doing.span.end {
                facts.extend(&inner.brings);
            }
        }
        facts.extend(self.held_in(&doing.span));
        facts
    }

    /// Returns what the names in a stretch bring.
    fn held_in(&self, place: &Range<usize>) -> Vec<usize> {
        let text = self.text.get(place.clone()).unwrap_or_default();
        let mut facts = Vec::new();
        for (name, held) in self.held.iter().take(256) {
            let found = if name.contains(['/', '.']) {
                text.contains(name.rsplit('/').next().unwrap_or(name))
            } else {
                variables_in(self.text, place).iter().any(|(variable, _)| variable == name)
            };
            if found {
                facts.extend(held);
            }
        }
        facts
    }

    /// The flows into what a program does.
    fn taken_by(&self, number: usize, piped: &[usize]) -> Vec<((usize, usize), Part)> {
        let doing = &self.programs[number];
        let mut flows = Vec::new();
        for sink in &doing.drinks {
            flows.extend(piped.iter().map(|source| ((*source, *sink), Part::Body)));
        }
        let inside = self.brought_to(number);
        for (place, part, sink) in &doing.takes {
            let held = self.held_in(place);
            for source in inside.iter().copied() {
                let at = &self.reading.facts[source].range;
                let stands = place.start <= at.start && at.end <= place.end;
                if (stands || held.contains(&source)) && source != *sink {
                    flows.push(((source, *sink), *part));
                }
            }
        }
        flows.retain(|((source, sink), _)| {
            // The response to a request does not go into the same request.
            let (source, sink) = (&self.reading.facts[*source], &self.reading.facts[*sink]);
            source.range != sink.range || !matches!(source.what, FactKind::Fetches(_))
        });
        flows
    }

    /// The archive that a program makes.
    fn archive(programs: &[Program], number: usize) -> Option<String> {
        let words = programs.get(number)?.argv.words();
        let name = words.first()?.text.rsplit('/').next()?;
        let ends = [".zip", ".tar", ".tgz", ".tar.gz", ".gz", ".7z", ".bz2", ".xz"];
        let is_archiver = matches!(name, "tar" | "zip" | "7z" | "gpg" | "openssl");
        let word = words.iter().skip(1).find(|word| ends.iter().any(|end| word.text.ends_with(end)));
        word.filter(|_| is_archiver).map(|word| word.text.clone())
    }
}

/// The program whose output goes into another.
fn pipe_before(programs: &[Program], number: usize) -> Option<usize> {
    let program = programs.get(number).filter(|program| program.stage > 0)?;
    (number.saturating_sub(MAX_BACK)..number).rev().find(|at| {
        let other = &programs[*at];
        other.piped && other.stage + 1 == program.stage && other.span.end <= program.span.start
    })
}

/// The variables in a stretch of a text: their names and where these stand.
fn variables_in<'t>(text: &'t str, place: &Range<usize>) -> Vec<(&'t str, usize)> {
    let inside = text.get(place.clone()).unwrap_or_default();
    let mut found = Vec::new();
    for at in memchr::memchr_iter(b'$', inside.as_bytes()).take(64) {
        let rest = inside[at + 1..].trim_start_matches(['{', '(']);
        let start = inside.len() - rest.len();
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let substituted = inside[at + 1..].starts_with('(');
        // `$(NAME)` is a command of that name, unless the name is all there is.
        if length == 0 || substituted && !rest[length..].starts_with(')') {
            continue;
        }
        found.push((&rest[..length], place.start + start));
    }
    found
}

fn range(start: u32, end: u32) -> Range<usize> {
    start as usize..end as usize
}
