//! Facts out of scripts.

mod kept;
mod opened;

use super::calls::{CALLS, Does};
use super::{
    Access, Channel, Destination, FactKind, Flow, Hostile, Part, Ran, Reading, commands, environment,
    network, persist,
};
use crate::code::flow::{is_header, trace};
use crate::code::script::{self, Arg, Call, HOLE, Script, TokenKind, Tokens};
use crate::code::secret::{self, Secret};
use crate::text::language::Language;

use std::collections::HashMap;
use std::sync::LazyLock;

/// Maximum number of commands of one script that are read as commands.
const MAX_COMMANDS: usize = 256;

static BY_NAME: LazyLock<HashMap<&'static str, Does>> = LazyLock::new(|| CALLS.iter().copied().collect());

/// Reads a script.
pub(super) fn read(text: &str, language: Language, depth: u32) -> Reading {
    let script = script::read(text, language);
    let mut finder = Finder::new(&script, language, depth);
    finder.sources = environment::sources(&script, &mut finder.reading);
    finder.hosts();
    finder.find_opened();
    for call in &script.calls {
        finder.call(call);
    }
    finder.files();
    finder.flows();
    finder.started();
    finder.shapes();
    finder.reading
}

struct Finder<'a> {
    script: &'a Script<'a>,
    language: Language,
    reading: Reading,
    /// Sources: token and fact.
    sources: Vec<(usize, usize)>,
    /// Sinks: their tokens, the part they are, and the fact.
    sinks: Vec<(Tokens, Part, usize)>,
    /// Calls that read files: their tokens and what they are given.
    readers: Vec<(usize, Tokens)>,
    /// Texts that name secret files.
    mentions: Vec<(usize, secret::Store, String)>,
    /// Destination of connections.
    peer: Option<Destination>,
    /// Destinations of requests and connections that have names.
    opened: HashMap<String, Destination>,
    commands: usize,
    /// The files that it writes, as the script names them.
    kept: Vec<String>,
    /// Number of texts around this one.
    depth: u32,
}

/// Returns the effect of a call, by its name.
pub(super) fn does(name: &str, language: Language) -> Option<Does> {
    let found = BY_NAME.get(name).copied().or_else(|| {
        let dot = name.rfind('.')?;
        let last_two = name[..dot].rfind('.').map_or(name, |before| &name[before + 1..]);
        BY_NAME.get(last_two).or_else(|| BY_NAME.get(&name[dot..])).copied()
    });
    let found = found
        .or_else(|| BY_NAME.get(name.strip_prefix("().").map(|rest| &name[2..2 + 1 + rest.len()])?).copied());
    match (found, language) {
        // `exec` is a command where `child_process` was imported by that name; in PHP and Ruby it always is.
        (Some(Does::Code), Language::JavaScript) if name == "exec" => None,
        (Some(Does::Code), Language::Code) if name == "exec" => Some(Does::Shell),
        (Some(Does::Module), Language::Python | Language::Code) if name == "require" => None,
        (Some(Does::Shell | Does::Open), Language::JavaScript | Language::PowerShell)
            if matches!(name, "system" | "open") =>
        {
            None
        }
        (Some(Does::Get), language)
            if matches!(name, "curl" | "wget") && language != Language::PowerShell =>
        {
            None
        }
        (found, _) => found,
    }
}

impl<'a> Finder<'a> {
    fn new(script: &'a Script<'a>, language: Language, depth: u32) -> Self {
        let reading = Reading { is_cut: script.is_cut, ..Reading::default() };
        Self {
            script,
            language,
            reading,
            sources: Vec::new(),
            sinks: Vec::new(),
            readers: Vec::new(),
            mentions: Vec::new(),
            peer: None,
            opened: HashMap::new(),
            commands: 0,
            kept: Vec::new(),
            depth,
        }
    }

    /// Hosts and secret files that texts name.
    fn hosts(&mut self) {
        for at in 0..self.script.len() {
            let TokenKind::Text { .. } = self.script.kind(at) else { continue };
            let text = self.script.token(at);
            if text.len() > 2048 {
                continue;
            }
            if let Some(host) = network::host_of(text) {
                self.reading.push(FactKind::Host(host), self.script.range(&(at..at + 1)));
            } else if let Some(store) = secret::of_path(text)
                .or_else(|| secret::of_directory(text))
                .or_else(|| secret::of_ending(text).filter(|_| !self.is_left_out(at)))
            {
                self.mentions.push((at, store, text.to_owned()));
            }
        }
    }

    fn source(&mut self, what: FactKind, call: &Call) {
        let fact = self.reading.push(what, self.script.range(&call.tokens));
        self.sources.extend(fact.map(|fact| (call.tokens.start, fact)));
    }

    fn call(&mut self, call: &Call) {
        let Some(does) = does(&call.name, self.language) else {
            self.unknown(call);
            return;
        };
        match does {
            Does::Get | Does::Post => self.web(call, does == Does::Post),
            Does::Send(channel) => {
                let to = self.peer.clone().unwrap_or_default();
                self.send(call, to, channel, true);
            }
            Does::Lookup => self.lookup(call),
            Does::Connect => self.peer = Some(self.peer_of(call)),
            Does::Decode => self.decode(call),
            Does::Code => self.run(call, Ran::Code),
            Does::Objects => self.run(call, Ran::Objects),
            Does::Module => self.module(call),
            Does::Shell => self.command(call, true),
            Does::Start => self.command(call, self.is_shell(call)),
            Does::Read => self.readers.push((call.tokens.start, call.tokens.clone())),
            Does::Open => self.open(call),
            Does::Write => self.save(call),
            Does::Serialise => self.sink(FactKind::Serialises, call, Part::Body),
            Does::Capture(capture) => self.source(FactKind::Captures(capture), call),
            Does::Memory => {
                self.reading.push(FactKind::Hostile(Hostile::Shellcode), self.script.range(&call.tokens));
            }
            Does::Password => self.source(FactKind::AsksPassword, call),
        }
    }

    /// Calls that no row knows: sockets and the like by what they are called on; built-in functions by computed names.
    fn unknown(&mut self, call: &Call) {
        if self.script.pack_of(&call.name).is_some() {
            self.readers.push((call.tokens.start, call.tokens.clone()));
            return;
        }
        let (base, last) = call.name.rsplit_once('.').unwrap_or(("", &call.name));
        let base = base.rsplit('.').next().unwrap_or(base).to_ascii_lowercase();
        let socket = ["ws", "sock", "xhr", "conn", "socket", "s", "client"]
            .iter()
            .any(|name| base == *name || base.ends_with("socket"));
        if matches!(last, "end" | "write" | "request" | "send")
            && let Some(to) = self.opened(call)
        {
            self.send(call, to, Channel::Web, true);
            return;
        }
        match last {
            "send" | "emit" if socket => {
                let to = self.peer.clone().unwrap_or_default();
                self.send(call, to, Channel::Socket, true);
            }
            "post" | "put" | "patch" if self.looks_like_address(call) => self.web(call, true),
            "getattr" | "__getattribute__" => self.hidden_call(call),
            "vars" => self.looked_up(call),
            "map" if call.args.first().is_some_and(|arg| self.script.source(&arg.tokens) == "chr") => {
                self.source(FactKind::Decodes, call);
            }
            "exec" | "eval" | "compile" | "__import__"
                if call.name.contains("__builtins__") || call.name.contains("__dict__") =>
            {
                self.reading.push(FactKind::Hostile(Hostile::HiddenCall), self.script.range(&call.tokens));
            }
            "dup2" if self.peer.is_some() || self.script.text.contains("socket") => {
                self.reading.push(FactKind::Hostile(Hostile::RemoteShell), self.script.range(&call.tokens));
            }
            _ => {}
        }
    }

    fn looks_like_address(&self, call: &Call) -> bool {
        self.script.first(call).is_some_and(|value| value.text.contains("://"))
    }

    /// `getattr(__builtins__, …)`, and any other `getattr` whose name is put together to one that runs something.
    fn hidden_call(&mut self, call: &Call) {
        let first = call.args.first().map(|arg| self.script.source(&arg.tokens)).unwrap_or_default();
        let built_in = ["__builtins__", "builtins", "__import__"].iter().any(|name| first.starts_with(name));
        let Some(second) = call.args.get(1) else { return };
        let name = self.script.value(second);
        let in_pieces = name.is_known && second.tokens.len() > 1;
        let runs = match name.text.as_str() {
            "exec" | "eval" | "compile" | "system" | "popen" | "__import__" => built_in || in_pieces,
            "run" | "Popen" | "call" | "check_output" | "check_call" | "getoutput" | "spawn" | "urlopen"
            | "b64decode" => in_pieces,
            _ => false,
        };
        if runs {
            self.reading.push(FactKind::Hostile(Hostile::HiddenCall), self.script.range(&call.tokens));
        }
    }

    fn destination(&self, arg: Option<&Arg>) -> Destination {
        let value = arg.map(|arg| self.script.value(arg)).unwrap_or_default();
        // An address without quotes is many tokens and one word.
        let bare = arg.map(|arg| self.script.source(&arg.tokens)).unwrap_or_default();
        if self.language == Language::PowerShell && !value.text.contains("://") && bare.contains("://") {
            let word = bare.split_ascii_whitespace().find(|word| word.contains("://"));
            return Destination::new(word.unwrap_or(bare), value.is_decoded);
        }
        Destination::new(&value.text, value.is_decoded)
    }

    /// A request: what comes back is a source, what goes along is a sink.
    fn web(&mut self, call: &Call, posts: bool) {
        let positional: Vec<&Arg> = call.args.iter().filter(|arg| arg.key.is_none()).collect();
        let named = |name: &[&str]| {
            call.args.iter().find(|arg| arg.key.as_deref().is_some_and(|key| name.contains(&key)))
        };
        let is_method = |arg: &&Arg| {
            let text = self.script.value(arg).text;
            matches!(text.as_str(), "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "get" | "post" | "put")
        };
        let skip = usize::from(positional.first().is_some_and(is_method));
        let address = positional.get(skip).copied().or_else(|| named(&["url", "uri"]));
        let to = self.address(address);
        if call.name.ends_with("urlretrieve")
            || call.name.ends_with(".DownloadFile")
            || call.name == "wget.download"
        {
            let file = named(&["filename", "out"]).or_else(|| positional.get(skip + 1).copied());
            self.kept.extend(file.and_then(|arg| self.file_name(arg)));
        }
        let body = named(&["data", "json", "files", "content", "body", "infile", "method"]).is_some()
            || positional.iter().any(|arg| self.has_body(arg));
        self.source(FactKind::Fetches(to.clone()), call);
        let what = FactKind::Sends { to, channel: Channel::Web, is_upload: posts || body };
        let Some(fact) = self.reading.push(what, self.script.range(&call.tokens)) else { return };
        for arg in &call.args {
            let is_address = address.is_some_and(|address| address.tokens == arg.tokens);
            self.part_of(arg, is_address, fact);
        }
    }

    /// Returns the destination of a request: its address, or the `hostname` and `path` of its options.
    fn address(&self, address: Option<&Arg>) -> Destination {
        let entries = address.map(|arg| self.script.entries(&arg.tokens)).unwrap_or_default();
        let entry = |name: &str| entries.iter().find(|entry| entry.key.as_deref() == Some(name));
        if let Some(url) = entry("url") {
            return self.destination(Some(url));
        }
        if let Some(host) = entry("hostname").or_else(|| entry("host")) {
            return Destination::new(&format!("https://{}", self.script.value(host).text), false);
        }
        self.destination(address)
    }

    fn has_body(&self, arg: &Arg) -> bool {
        let entries = self.script.entries(&arg.tokens);
        entries.iter().any(|entry| {
            let key = entry.key.clone().unwrap_or_else(|| self.script.token(entry.tokens.start).to_owned());
            matches!(key.as_str(), "body" | "data" | "json" | "form")
        })
    }

    fn part_of(&mut self, arg: &Arg, is_address: bool, fact: usize) {
        let part = |key: &str| match key {
            _ if is_header(key) => Part::Header,
            "params" | "url" | "uri" | "path" | "hostname" | "host" | "query" => Part::Address,
            _ => Part::Body,
        };
        let entries = self.script.entries(&arg.tokens);
        if let Some(key) = &arg.key {
            self.sinks.push((arg.tokens.clone(), part(key), fact));
        } else if is_address && entries.is_empty() {
            self.sinks.push((arg.tokens.clone(), Part::Address, fact));
        } else if entries.is_empty() {
            self.sinks.push((arg.tokens.clone(), Part::Body, fact));
        }
        if arg.key.is_none() {
            for entry in entries {
                let key =
                    entry.key.clone().unwrap_or_else(|| self.script.token(entry.tokens.start).to_owned());
                self.sinks.push((entry.tokens, part(&key), fact));
            }
        }
    }

    fn send(&mut self, call: &Call, to: Destination, channel: Channel, is_upload: bool) {
        self.sink(FactKind::Sends { to, channel, is_upload }, call, Part::Body);
    }

    fn sink(&mut self, what: FactKind, call: &Call, part: Part) {
        if let Some(fact) = self.reading.push(what, self.script.range(&call.tokens)) {
            self.sinks.push((call.inside..call.tokens.end, part, fact));
            let piped = call.args.iter().find(|arg| arg.key.as_deref() == Some("|"));
            self.sinks.extend(piped.map(|arg| (arg.tokens.clone(), part, fact)));
        }
    }

    fn lookup(&mut self, call: &Call) {
        let name = self.script.first(call).unwrap_or_default();
        if !name.is_known {
            let to = Destination { text: name.text, host: None, is_decoded: false };
            self.sink(FactKind::Sends { to, channel: Channel::Names, is_upload: true }, call, Part::Address);
        }
    }

    fn peer_of(&self, call: &Call) -> Destination {
        let text = self.script.first(call).map(|value| value.text).unwrap_or_default();
        let inner = call.args.first().map(|arg| arg.tokens.clone()).unwrap_or_default();
        let pair = self.script.parts(inner.start + 1..inner.end.saturating_sub(1));
        let host = pair.first().map_or(text, |part| self.script.fold(part).text);
        Destination::new(&format!("tcp://{host}"), false)
    }

    fn decode(&mut self, call: &Call) {
        let buffer = call.name == "Buffer.from";
        let how = call.args.get(1).map(|arg| self.script.value(arg).text).unwrap_or_default();
        if buffer && !matches!(how.as_str(), "base64" | "hex" | "base64url") {
            return;
        }
        let made = call.name == "bytes" || call.name == "bytearray";
        if made && !call.args.first().is_some_and(|arg| self.is_computed(arg)) {
            return;
        }
        if call.name == "codecs.decode" && !how.contains("rot") && !how.contains("64") && !how.contains("hex")
        {
            return;
        }
        self.source(FactKind::Decodes, call);
    }

    /// Returns true if bytes are made one by one: a list of numbers, or something done to each of them.
    fn is_computed(&self, arg: &Arg) -> bool {
        let source = self.script.source(&arg.tokens);
        source.starts_with('[')
            || source.contains(" for ")
            || source.contains('^')
            || source.starts_with("map(")
    }

    fn run(&mut self, call: &Call, ran: Ran) {
        self.sink(FactKind::Runs(ran), call, Part::Body);
    }

    fn module(&mut self, call: &Call) {
        let name = self.script.first(call).unwrap_or_default();
        if !name.is_known || name.is_decoded {
            self.run(call, Ran::Module);
        }
    }

    fn is_shell(&self, call: &Call) -> bool {
        let truth = |arg: &Arg| matches!(self.script.source(&arg.tokens), "True" | "true");
        let named = call.args.iter().any(|arg| arg.key.as_deref() == Some("shell") && truth(arg));
        let option = call.args.iter().flat_map(|arg| self.script.entries(&arg.tokens));
        named || option.into_iter().any(|entry| entry.key.as_deref() == Some("shell") && truth(&entry))
    }

    /// A command: what it does is found as in any other command.
    fn command(&mut self, call: &Call, shell: bool) {
        let text = self.command_text(call);
        let range = self.script.range(&call.tokens);
        let ran = Ran::Command { text: text.clone(), shell };
        let Some(fact) = self.reading.push(FactKind::Runs(ran), range.clone()) else { return };
        let given = self.command_args(call);
        self.sinks.extend(given.iter().map(|arg| (arg.tokens.clone(), Part::Body, fact)));
        self.given_code(call);
        self.commands += 1;
        if self.commands > MAX_COMMANDS || self.depth >= super::MAX_DEPTH || text.trim().is_empty() {
            self.reading.is_cut |= self.commands > MAX_COMMANDS || self.depth >= super::MAX_DEPTH;
            return;
        }
        let inner = commands::read(&text.replace(HOLE, "$HOLE"), self.depth + 1);
        let first = self.reading.facts.len();
        for inner_fact in inner.facts {
            let is_send = matches!(inner_fact.what, FactKind::Sends { .. });
            let is_source = matches!(inner_fact.what, FactKind::ReadsSecret(_) | FactKind::Fetches(_));
            let Some(fact) = self.reading.push(inner_fact.what, range.clone()) else { return };
            if is_send {
                self.sinks.extend(given.iter().map(|arg| (arg.tokens.clone(), Part::Body, fact)));
            }
            if is_source {
                self.sources.push((call.tokens.start, fact));
            }
        }
        let moved =
            |flow: &Flow| Flow { source: flow.source + first, sink: flow.sink + first, part: flow.part };
        self.reading.flows.extend(inner.flows.iter().map(moved));
    }

    /// Returns the arguments of a call that are the command itself, and not how it is started.
    fn command_args<'c>(&self, call: &'c Call) -> Vec<&'c Arg> {
        let is_command = |arg: &&Arg| {
            let named =
                matches!(arg.key.as_deref(), None | Some("args" | "input" | "argumentlist" | "filepath"));
            let options = self.script.entries(&arg.tokens).iter().any(|entry| entry.key.is_some());
            named && !options
        };
        call.args.iter().filter(is_command).collect()
    }

    /// Returns a command as it would be typed: its text, or its words with blanks between.
    fn command_text(&self, call: &Call) -> String {
        let mut words = Vec::new();
        for arg in self.command_args(call) {
            let entries = self.script.entries(&arg.tokens);
            if entries.is_empty() {
                let value = self.script.value(arg).text;
                words.push(value);
            } else {
                words.extend(entries.iter().map(|entry| quoted(&self.script.value(entry).text)));
            }
        }
        words.join(" ")
    }

    /// `open(path, "w")` writes; without a mode it reads.
    fn open(&mut self, call: &Call) {
        let mode = call
            .args
            .iter()
            .find(|arg| arg.key.as_deref() == Some("mode"))
            .or_else(|| call.args.iter().filter(|arg| arg.key.is_none()).nth(1));
        let mode = mode.map(|arg| self.script.value(arg)).filter(|mode| mode.is_known);
        if mode.is_some_and(|mode| mode.text.contains(['w', 'a', 'x', '+'])) {
            self.save(call);
        } else {
            self.readers.push((call.tokens.start, call.tokens.clone()));
        }
    }

    fn save(&mut self, call: &Call) {
        let own = call.name.rsplit_once('.').map(|(base, _)| base.to_owned());
        let is_method = call.name.ends_with("write_text") || call.name.ends_with("write_bytes");
        let first = call.args.first().and_then(|arg| self.file_name(arg));
        self.kept.extend(if is_method { own } else { first });
        let method = call.name.ends_with("write_text") || call.name.ends_with("write_bytes");
        let path = if method {
            self.script.fold(&(call.tokens.start..call.inside.saturating_sub(3))).text
        } else {
            let named = call.args.iter().find(|arg| matches!(arg.key.as_deref(), Some("path" | "filepath")));
            named
                .map(|arg| self.script.value(arg))
                .or_else(|| self.script.first(call))
                .unwrap_or_default()
                .text
        };
        let range = self.script.range(&call.tokens);
        self.reading.push(FactKind::Path { path: path.clone(), access: Access::Write }, range.clone());
        if let Some(hold) = persist::of_path(&path) {
            self.reading.push(FactKind::Persists(hold, path.clone()), range);
        }
        self.sink(FactKind::Saves(path), call, Part::Body);
    }

    /// Calls that read files: which of them read secret ones.
    fn files(&mut self) {
        let readers = std::mem::take(&mut self.readers);
        let sinks: Vec<(Tokens, usize)> =
            readers.iter().enumerate().map(|(number, reader)| (reader.1.clone(), number)).collect();
        let mentions: Vec<(usize, usize)> =
            self.mentions.iter().enumerate().map(|(number, mention)| (mention.0, number)).collect();
        let mut found: Vec<(usize, secret::Store, String)> = trace(self.script, &mentions, &sinks)
            .into_iter()
            .filter_map(|(mention, reader)| {
                let (_, store, path) = self.mentions.get(mention)?;
                Some((reader, *store, path.clone()))
            })
            .collect();
        for (number, (start, tokens)) in readers.iter().enumerate() {
            let call =
                self.script.calls.iter().find(|call| call.tokens.start == *start && call.tokens == *tokens);
            let Some(call) = call else { continue };
            let path = self.read_path(call);
            let named = FactKind::Path { path: path.clone(), access: Access::Read };
            let fact = self.reading.push(named, self.script.range(&call.tokens));
            self.sources.extend(fact.map(|fact| (call.tokens.start, fact)));
            if let Some(store) = secret::of_path(&path) {
                found.push((number, store, path));
            }
        }
        found.sort_by_key(|found| found.0);
        found.dedup();
        found.extend(self.read_again(&readers, &found));
        for (reader, store, path) in found {
            let Some((start, tokens)) = readers.get(reader) else { continue };
            let secret = FactKind::ReadsSecret(Secret::File(store, path));
            let fact = self.reading.push(secret, self.script.range(tokens));
            self.sources.extend(fact.map(|fact| (*start, fact)));
        }
    }

    fn read_path(&self, call: &Call) -> String {
        let method = call.name.ends_with("read_text") || call.name.ends_with("read_bytes");
        if method {
            return self.script.fold(&(call.tokens.start..call.inside.saturating_sub(3))).text;
        }
        self.script.first(call).unwrap_or_default().text
    }

    fn flows(&mut self) {
        let sinks: Vec<(Tokens, usize)> =
            self.sinks.iter().enumerate().map(|(number, sink)| (sink.0.clone(), number)).collect();
        self.sources
            .sort_by_key(|source| !matches!(self.reading.facts[source.1].what, FactKind::ReadsSecret(_)));
        for (source, sink) in trace(self.script, &self.sources, &sinks) {
            let Some((_, part, fact)) = self.sinks.get(sink) else { continue };
            if *fact != source {
                self.reading.flows.push(Flow { source, sink: *fact, part: *part });
            }
        }
        self.reading.flows.sort_by_key(|flow| (flow.sink, flow.source));
        self.reading.flows.dedup();
    }

    /// Things that no single call shows.
    fn shapes(&mut self) {
        let text = self.script.text;
        if self.language == Language::PowerShell {
            for name in ["AmsiUtils", "amsiInitFailed", "AmsiScanBuffer"] {
                if let Some(at) = text.find(name) {
                    self.reading.push(FactKind::Hostile(Hostile::Amsi), at..at + name.len());
                }
            }
        }
    }
}

fn quoted(word: &str) -> String {
    let plain = !word.is_empty()
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=@%+,~".contains(c) || c == HOLE);
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
