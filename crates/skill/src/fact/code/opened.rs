//! Connections that are opened in one place and written to in another, and programs that are given code.

use super::super::calls::Does;
use super::super::{Destination, Hostile, Part, Ran, What};
use super::{Finder, does};
use crate::script::{Call, Tokens};

/// How many tokens around a text say what it is for.
const AROUND: usize = 16;

impl Finder<'_> {
    /// Where a request or a connection leads that a call is made on: `r` of `r = https.request(…)`.
    pub(super) fn opened(&self, call: &Call) -> Option<Destination> {
        let (base, _) = call.name.rsplit_once('.')?;
        let opens = |other: &&Call| {
            let is_request = other.name.ends_with(".request");
            match does(&other.name, self.language) {
                Some(Does::Post) => is_request,
                Some(Does::Connect) => other.name.ends_with("Connection"),
                _ => false,
            }
        };
        let given = self.script.assigns.iter().filter(|assign| assign.name == base).take(16);
        let ranges: Vec<Tokens> = if base.ends_with("request()") || base.ends_with("Connection()") {
            std::iter::once(call.tokens.start..call.inside).collect()
        } else {
            given.map(|assign| assign.tokens.clone()).collect()
        };
        let mut calls = self.script.calls.iter().filter(|other| {
            ranges.iter().any(|range| range.start <= other.tokens.start && other.tokens.end <= range.end)
        });
        let opening = calls.find(opens)?;
        match does(&opening.name, self.language) {
            Some(Does::Connect) => Some(self.peer_of(opening)),
            _ => Some(self.address(opening.args.first())),
        }
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
            && let Some(fact) = self.reading.push(What::Runs(Ran::Code), range.clone())
        {
            self.sinks.push((tokens, Part::Body, fact));
        }
        let input = call.args.iter().find(|arg| arg.key.as_deref() == Some("stdin"));
        let is_connection = input.is_some_and(|arg| self.script.source(&arg.tokens).contains(".fileno("));
        if is_connection && self.peer.is_some() {
            self.reading.push(What::Hostile(Hostile::RemoteShell), range);
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
            self.reading
                .push(What::Hostile(Hostile::HiddenCall), self.script.range(&(call.tokens.start..close + 1)));
        }
    }

    /// Whether what stands around a text says that such files are left out.
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
