//! Files that a script writes and uses again: what it fetched and starts, what it packed and sends.

use policy::ProgramClass;

use super::super::calls::Does;
use super::super::{Destination, FactKind};
use super::{Finder, does};
use crate::code::script::{Arg, Call, TokenKind, Tokens};
use crate::code::secret;

impl Finder<'_> {
    /// Returns a script's name for a file: a name, or the path where that is written there.
    pub(super) fn file_name(&self, arg: &Arg) -> Option<String> {
        if arg.tokens.len() == 1 && self.script.kind(arg.tokens.start) == TokenKind::Name {
            return Some(self.script.token(arg.tokens.start).to_owned());
        }
        let value = self.script.value(arg);
        (value.is_known && value.text.len() > 3).then_some(value.text)
    }

    /// A program is started whose file was fetched before.
    pub(super) fn started(&mut self) {
        let Some(from) = self.worst_fetched().filter(|_| !self.kept.is_empty()) else { return };
        let is_start =
            |call: &&Call| matches!(does(&call.name, self.language), Some(Does::Shell | Does::Start));
        let starts: Vec<&Call> = self.script.calls.iter().filter(is_start).take(64).collect();
        for call in starts {
            if self.starts_kept(call) {
                self.reading.push(FactKind::RunsSaved(from.clone()), self.script.range(&call.tokens));
            }
        }
    }

    /// Returns true if the program of a command, or the script of its interpreter, is a file that was written before.
    fn starts_kept(&self, call: &Call) -> bool {
        let words = self.words(call);
        let is_kept = |tokens: &Tokens| {
            let name = tokens.len() == 1 && self.script.kind(tokens.start) == TokenKind::Name;
            name && self.kept.iter().any(|kept| kept == self.script.token(tokens.start))
        };
        let text = |tokens: &Tokens| self.script.fold(tokens).text;
        let Some(first) = words.first() else { return false };
        let interpreted = |word: &str| {
            let name = word.rsplit('/').next().unwrap_or(word);
            ProgramClass::Shell.has(name)
                || ProgramClass::Interpreter.has(name)
                || matches!(name, "java" | "open" | "msiexec")
        };
        let own = matches!(self.script.source(first), "sys.executable" | "process.execPath");
        let line = text(first);
        let mut spoken =
            line.split([' ', ';', '&']).filter(|word| !word.is_empty() && !word.starts_with('-'));
        let named =
            |word: &str| self.kept.iter().any(|kept| kept.len() > 3 && kept.contains('/') && word == kept);
        let (program, script) = (spoken.next().unwrap_or_default(), spoken.next().unwrap_or_default());
        is_kept(first)
            || named(program)
            || interpreted(program) && named(script)
            || (own || interpreted(&line))
                && words.iter().skip(1).take(4).any(|word| is_kept(word) || named(&text(word)))
    }

    /// The worst address that something is fetched from.
    fn worst_fetched(&self) -> Option<Destination> {
        let fetched = self.reading.facts.iter().filter_map(|fact| match &fact.what {
            FactKind::Fetches(from) => Some(from),
            _ => None,
        });
        fetched.max_by_key(|from| crate::code::destination::classify(&from.text).weight_of_running()).cloned()
    }

    /// Secret files that were copied or packed, and are read from where they lie then.
    pub(super) fn read_again(
        &self,
        readers: &[(usize, Tokens)],
        found: &[(usize, secret::Store, String)],
    ) -> Vec<(usize, secret::Store, String)> {
        let calls: Vec<Option<&Call>> = readers
            .iter()
            .map(|(_, tokens)| self.script.calls.iter().find(|call| call.tokens == *tokens))
            .collect();
        let call_of = |number: usize| calls.get(number).copied().flatten();
        let mut again = Vec::new();
        for (reader, store, path) in found {
            let Some(copy) = call_of(*reader).map(|call| self.copied_to(call)).filter(|copy| copy.len() > 3)
            else {
                continue;
            };
            let others = (0..readers.len()).filter(|other| other != reader).take(256);
            let reads =
                |other: &usize| call_of(*other).is_some_and(|call| self.read_path(call).starts_with(&copy));
            again.extend(others.filter(reads).map(|other| (other, *store, path.clone())));
        }
        again
    }

    /// The file that a call puts what it reads into; empty where that is not known.
    fn copied_to(&self, call: &Call) -> String {
        if let Some(pack) = self.script.pack_of(&call.name) {
            return pack.file.clone();
        }
        let target = match call.name.as_str() {
            "shutil.make_archive" => call.args.first(),
            "shutil.copy" | "shutil.copyfile" | "shutil.copy2" | "shutil.copytree" => call.args.get(1),
            _ => None,
        };
        let value = target.map(|arg| self.script.value(arg)).filter(|value| value.is_known);
        value.map(|value| value.text).unwrap_or_default()
    }
}
