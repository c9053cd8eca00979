//! Data flow from reads to sends: values followed by the names they are given.
//!
//! Names are followed within their function, without regard to order, through assignments, loops, arguments of the script's own
//! functions and what these return. What cannot be followed is not guessed.

mod judge;

use std::collections::{HashMap, HashSet};

use crate::code::script::{Call, Script, TokenKind, Tokens};
pub(crate) use judge::{owner_word, sent};

/// Number of passes over the assignments.
const ROUNDS: usize = 4;

/// Maximum number of events inside one value that are looked at.
const MAX_EVENTS: usize = 256;

/// Maximum number of sources followed at once. The last number stands for all others.
const MAX_SOURCES: usize = 64;

/// Follows values: which sources (token and number) end in which sinks (tokens and number).
pub(crate) fn trace(
    script: &Script<'_>,
    sources: &[(usize, usize)],
    sinks: &[(Tokens, usize)],
) -> Vec<(usize, usize)> {
    if sources.is_empty() || sinks.is_empty() {
        return Vec::new();
    }
    let mut tracer = Tracer::new(script, sources);
    for _ in 0..ROUNDS {
        tracer.mark();
        if !tracer.round() {
            break;
        }
    }
    tracer.mark();
    let mut flows = Vec::new();
    for (tokens, sink) in sinks {
        let mask = tracer.mask(tokens);
        let bits = (0..MAX_SOURCES).filter(|bit| mask >> bit & 1 == 1);
        flows.extend(bits.filter_map(|bit| Some((sources.get(bit)?.1, *sink))));
    }
    flows
}

struct Tracer<'a> {
    script: &'a Script<'a>,
    /// The sources by their tokens.
    direct: Vec<(usize, u64)>,
    /// Uses of names that are given something somewhere: token, function, name.
    uses: Vec<(usize, usize, &'a str)>,
    /// Names that a function gives something itself.
    own: HashSet<(usize, &'a str)>,
    /// Values that names hold, by function.
    held: HashMap<(usize, &'a str), u64>,
    /// Values that names hold in any function.
    anywhere: HashMap<&'a str, u64>,
    /// Tokens at which something tainted stands, in order.
    events: Vec<(usize, u64)>,
}

impl<'a> Tracer<'a> {
    fn new(script: &'a Script<'a>, sources: &[(usize, usize)]) -> Self {
        let direct =
            sources.iter().enumerate().map(|(bit, source)| (source.0, 1 << bit.min(MAX_SOURCES - 1)));
        let mut tracer = Self {
            script,
            direct: direct.collect(),
            uses: Vec::new(),
            own: HashSet::new(),
            held: HashMap::new(),
            anywhere: HashMap::new(),
            events: Vec::new(),
        };
        tracer.find_uses();
        tracer
    }

    /// The function that a token stands in, by its number; zero for none.
    fn function(&self, at: usize) -> usize {
        self.script.functions.partition_point(|function| function.at <= at)
    }

    fn find_uses(&mut self) {
        let script = self.script;
        let mut names: HashSet<&'a str> = HashSet::new();
        for assign in &script.assigns {
            names.insert(&assign.name);
            self.own.insert((self.function(assign.tokens.start), &assign.name));
        }
        for function in &script.functions {
            for param in &function.params {
                names.insert(param);
                self.own.insert((self.function(function.at), param));
            }
        }
        for at in 0..script.len() {
            // `a.b` is no `b`, but `...b` is.
            let member = at > 0 && script.token(at - 1) == "." && (at < 2 || script.token(at - 2) != ".");
            if script.kind(at) != TokenKind::Name || member {
                continue;
            }
            let function = self.function(at);
            if let Some(name) = names.get(script.token(at)) {
                self.uses.push((at, function, name));
            }
            let mut dotted = script.token(at).to_owned();
            for part in 1..3 {
                if script.token(at + 2 * part - 1) != "." {
                    break;
                }
                dotted.push('.');
                dotted.push_str(script.token(at + 2 * part));
                if let Some(name) = names.get(dotted.as_str()) {
                    self.uses.push((at, function, name));
                }
            }
        }
    }

    /// Writes down where something tainted stands now.
    fn mark(&mut self) {
        self.events.clear();
        self.events.extend(&self.direct);
        for (at, function, name) in &self.uses {
            let mask = if self.own.contains(&(*function, *name)) {
                self.held.get(&(*function, *name))
            } else {
                self.anywhere.get(name)
            };
            if let Some(mask) = mask.filter(|mask| **mask != 0) {
                self.events.push((*at, *mask));
            }
        }
        self.events.sort_unstable();
    }

    /// Everything that stands in a range.
    fn mask(&self, tokens: &Tokens) -> u64 {
        let first = self.events.partition_point(|event| event.0 < tokens.start);
        let inside = self.events[first..].iter().take_while(|event| event.0 < tokens.end);
        inside.take(MAX_EVENTS).fold(0, |mask, event| mask | event.1)
    }

    /// Goes through all assignments once; whether something new came of it.
    fn round(&mut self) -> bool {
        let script = self.script;
        let mut changed = false;
        for assign in &script.assigns {
            let mut mask = 0;
            for (name, tokens) in self.fields(&assign.name, &assign.tokens) {
                let part = self.mask(&tokens);
                match name {
                    Some(field) => changed |= self.hold(assign.tokens.start, field, part),
                    None => mask |= part,
                }
            }
            changed |= self.hold(assign.tokens.start, &assign.name, mask);
        }
        for call in &script.calls {
            changed |= self.started(call);
            let called = script.functions.iter().position(|function| function.name == call.name);
            let Some(function) = called.and_then(|at| script.functions.get(at)) else { continue };
            for (number, arg) in call.args.iter().enumerate() {
                let named =
                    arg.key.as_deref().and_then(|key| function.params.iter().find(|name| *name == key));
                let Some(param) = named.or_else(|| function.params.get(number)) else { continue };
                let mask = self.mask(&arg.tokens);
                changed |= self.hold(function.at, param, mask);
            }
        }
        changed
    }

    /// `Thread(target=f, args=(a, b))`, `pool.submit(f, a)`: what the function is given there.
    fn started(&mut self, call: &'a Call) -> bool {
        let script = self.script;
        let named =
            |key: &str| call.args.iter().find(|arg| arg.key.as_deref() == Some(key)).map(|arg| &arg.tokens);
        let later = ["submit", "apply_async", "run_in_executor", "start_new_thread", "to_thread"];
        let is_later = later.contains(&call.name.rsplit('.').next().unwrap_or_default());
        let at = call.args.iter().position(|arg| is_later && is_function(script, &arg.tokens));
        let target = named("target").or_else(|| call.args.get(at?).map(|arg| &arg.tokens));
        let Some(target) = target.filter(|tokens| tokens.len() == 1) else { return false };
        let called = script.functions.iter().find(|function| function.name == script.token(target.start));
        let Some(function) = called else { return false };
        let given: Vec<Tokens> = match (named("args"), at) {
            (Some(args), _) => script.parts(args.start + 1..args.end.saturating_sub(1)),
            (None, Some(at)) => call.args[at + 1..].iter().map(|arg| arg.tokens.clone()).collect(),
            (None, None) => Vec::new(),
        };
        let mut changed = false;
        for (param, tokens) in function.params.iter().zip(given) {
            let mask = self.mask(&tokens);
            changed |= self.hold(function.at, param, mask);
        }
        changed
    }

    /// Separates the `headers` of an object from the rest of it, where the names are known.
    fn fields(&self, name: &str, tokens: &Tokens) -> Vec<(Option<&'a str>, Tokens)> {
        let entries = self.script.entries(tokens);
        if !entries.iter().any(|entry| entry.key.as_deref().is_some_and(is_header)) {
            return vec![(None, tokens.clone())];
        }
        let field = format!("{name}.headers");
        let known = self.own.iter().find(|(_, known)| *known == field).map(|(_, known)| *known);
        entries
            .into_iter()
            .filter_map(|entry| match entry.key.as_deref() {
                Some(key) if is_header(key) => known.map(|known| (Some(known), entry.tokens)),
                _ => Some((None, entry.tokens)),
            })
            .collect()
    }

    fn hold(&mut self, at: usize, name: &'a str, mask: u64) -> bool {
        if mask == 0 {
            return false;
        }
        let function = self.function(at);
        let held = self.held.entry((function, name)).or_default();
        let changed = *held | mask != *held;
        *held |= mask;
        *self.anywhere.entry(name).or_default() |= mask;
        changed
    }
}

/// Returns true if a single token is the name of a function of the script.
fn is_function(script: &Script<'_>, tokens: &Tokens) -> bool {
    tokens.len() == 1 && script.functions.iter().any(|function| function.name == script.token(tokens.start))
}

/// Returns true if a key of a request holds what identifies the sender.
pub(crate) fn is_header(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    matches!(
        key.as_str(),
        "headers" | "header" | "auth" | "authorization" | "x-api-key" | "cookies" | "credential"
    ) || key.ends_with("headers")
}
