//! Connections that are opened in one place and written to in another, and programs that are given code.

use std::collections::HashMap;

use super::super::calls::Does;
use super::super::{Destination, FactKind, Hostile, Part, Ran};
use super::{Finder, does};
use crate::code::script::{Call, Tokens};

/// Number of tokens around a text that tell its purpose.
const AROUND: usize = 16;

/// Maximum number of connections followed in one script.
const MAX_OPENED: usize = 64;

impl Finder<'_> {
    /// Requests and connections that are opened, by the names they are given: `r` of `r = https.request(…)`.
    pub(super) fn find_opened(&mut self) {
        let opens = |call: &&Call| match does(&call.name, self.language) {
            Some(Does::Post) => call.name.ends_with(".request"),
            Some(Does::Connect) => call.name.ends_with("Connection"),
            _ => false,
        };
        let opening: Vec<&Call> = self.script.calls.iter().filter(opens).take(MAX_OPENED).collect();
        if opening.is_empty() {
            return;
        }
        let leads = |call: &Call| match does(&call.name, self.language) {
            Some(Does::Connect) => self.peer_of(call),
            _ => self.address(call.args.first()),
        };
        let mut opened = HashMap::new();
        for assign in &self.script.assigns {
            let inside = |call: &&&Call| {
                assign.tokens.start <= call.tokens.start && call.tokens.end <= assign.tokens.end
            };
            if let Some(call) = opening.iter().find(inside) {
                opened.insert(assign.name.clone(), leads(call));
            }
        }
        for call in opening {
            opened.insert(format!("{}()", call.name), leads(call));
        }
        self.opened = opened;
    }

    /// Returns the destination of the request or connection that a call is made on.
    pub(super) fn opened(&self, call: &Call) -> Option<Destination> {
        self.opened.get(call.name.rsplit_once('.')?.0).cloned()
    }

    /// The words of a command, each by itself where they stand in a list.
    pub(super) fn words(&self, call: &Call) -> Vec<Tokens> {
        let mut words: Vec<Tokens> = Vec::new();
        for arg in self.command_args(call) {
            let entries = self.script.entries(&arg.tokens);
            if entries.is_empty() {
                words.push(arg.tokens.clone());
            }
            words.extend(entries.into_iter().map(|entry| entry.tokens));
        }
        words
    }

    /// `spawn(process.execPath, ["-e", code])`: the code is run. A socket as what a program reads makes it a shell for others.
    pub(super) fn given_code(&mut self, call: &Call) {
        let words = self.words(call);
        let is_code = |tokens: &Tokens| {
            matches!(self.script.fold(tokens).text.as_str(), "-e" | "-c" | "--eval" | "-command" | "-Command")
        };
        let option = words.iter().position(is_code).filter(|at| *at > 0);
        let code = option.and_then(|at| words.get(at + 1)).cloned();
        let range = self.script.range(&call.tokens);
        if let Some(tokens) = code
            && let Some(fact) = self.reading.push(FactKind::Runs(Ran::Code), range.clone())
        {
            self.sinks.push((tokens, Part::Body, fact));
        }
        let input = call.args.iter().find(|arg| arg.key.as_deref() == Some("stdin"));
        let is_connection = input.is_some_and(|arg| self.script.source(&arg.tokens).contains(".fileno("));
        if is_connection && self.peer.is_some() {
            self.reading.push(FactKind::Hostile(Hostile::RemoteShell), range);
        }
    }

    /// `vars(builtins)["ex" + "ec"]`: a function that runs code, by a name that is not written there.
    pub(super) fn looked_up(&mut self, call: &Call) {
        let open = call.tokens.end;
        if self.script.token(open) != "[" {
            return;
        }
        let close = (open + 1..open + AROUND).find(|at| self.script.token(*at) == "]");
        let Some(close) = close else { return };
        let key = open + 1..close;
        let name = self.script.fold(&key);
        let runs = matches!(
            name.text.as_str(),
            "exec" | "eval" | "compile" | "system" | "popen" | "__import__" | "Popen" | "check_output"
        );
        if name.is_known && runs {
            self.reading.push(
                FactKind::Hostile(Hostile::HiddenCall),
                self.script.range(&(call.tokens.start..close + 1)),
            );
        }
    }

    /// Returns true if the text around a place says that such files are left out.
    pub(super) fn is_left_out(&self, at: usize) -> bool {
        const OUT: &[&str] = &[
            "not",
            "exclud",
            "ignor",
            "skip",
            "deny",
            "denied",
            "forbid",
            "block",
            "secret",
            "sensitive",
            "continue",
            "redact",
            "filter",
            "unsafe",
            "private",
            "avoid",
            "omit",
            "danger",
        ];
        let around = self.script.source(&(at.saturating_sub(2 * AROUND)..at + 2 * AROUND));
        let around = around.to_ascii_lowercase();
        around.contains('!') || OUT.iter().any(|word| around.contains(word))
    }
}
