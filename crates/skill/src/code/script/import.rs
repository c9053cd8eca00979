//! Resolves imported names: `import … as …`, `from … import …`, `const {…} = require(…)`.

use super::{Script, TokenKind};

/// Maximum number of names kept of one import.
const MAX_NAMES: usize = 64;

/// A module's name, the same in all its spellings: `node:fs/promises` is `fs.promises`.
pub(super) fn module(text: &str) -> String {
    let text = text.strip_prefix("node:").unwrap_or(text);
    text.replace('/', ".")
}

impl Script<'_> {
    pub(super) fn find_imports(&mut self) {
        for at in 0..self.tokens.len() {
            if !self.is_name(at) {
                continue;
            }
            match self.token(at) {
                "import" => self.import_at(at),
                "require" if self.is_symbol(at + 1, b'(') => self.require_at(at),
                _ => {}
            }
        }
    }

    fn alias(&mut self, name: &str, target: String) {
        if !name.is_empty() && name != target {
            self.aliases.insert(name.to_owned(), target);
        }
    }

    /// `import a.b as c, d`, `from a import b as c`, `import c, {d as e} from 'a'`.
    fn import_at(&mut self, at: usize) {
        if let Some(module) = self.module_before(at) {
            for (name, alias) in self.listed(at + 1) {
                self.alias(&alias, format!("{module}.{name}"));
            }
            return;
        }
        let mut end = at + 1;
        while end < self.tokens.len() && end < at + 4 * MAX_NAMES {
            match self.kind(end) {
                TokenKind::Text { .. } => break,
                TokenKind::Line if !self.is_symbol(end + 1, b'}') && !self.in_braces(at, end) => break,
                _ => end += 1,
            }
        }
        if matches!(self.kind(end), TokenKind::Text { .. }) {
            let module = module(self.token(end));
            self.names_of(at + 1, end, &module);
        } else {
            for (name, alias) in self.listed(at + 1) {
                self.alias(&alias, name);
            }
        }
    }

    /// Returns true if a place lies between braces that were opened since another.
    fn in_braces(&self, from: usize, at: usize) -> bool {
        (from..at).any(|open| self.is_symbol(open, b'{') && self.mate(open) > at)
    }

    /// The names of an import of JavaScript.
    fn names_of(&mut self, start: usize, end: usize, module: &str) {
        let mut braces = false;
        let mut at = start;
        while at < end {
            match self.kind(at) {
                TokenKind::Symbol(b'{') => braces = true,
                TokenKind::Symbol(b'}') => braces = false,
                TokenKind::Symbol(b'*') => {
                    let name = self.token(at + 2).to_owned();
                    self.alias(&name, module.to_owned());
                    at += 2;
                }
                TokenKind::Name if self.token(at) != "from" && self.token(at) != "type" => {
                    let name = self.token(at).to_owned();
                    let renamed = self.token(at + 1) == "as";
                    let alias = if renamed { self.token(at + 2).to_owned() } else { name.clone() };
                    let target = if braces { format!("{module}.{name}") } else { module.to_owned() };
                    self.alias(&alias, target);
                    at += if renamed { 2 } else { 0 };
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The module of `from MODULE import`, where the import ends.
    fn module_before(&self, import: usize) -> Option<String> {
        let mut at = import.checked_sub(1)?;
        let mut parts = Vec::new();
        while parts.len() < 16 {
            match self.kind(at) {
                TokenKind::Name if self.token(at) == "from" => {
                    parts.reverse();
                    return Some(parts.concat());
                }
                TokenKind::Name | TokenKind::Symbol(b'.') => parts.push(self.token(at)),
                _ => return None,
            }
            at = at.checked_sub(1)?;
        }
        None
    }

    /// `a.b as c, d`: each name and what it is called here.
    fn listed(&self, start: usize) -> Vec<(String, String)> {
        let mut names = Vec::new();
        let mut at = start;
        let brackets = self.is_symbol(at, b'(');
        let mut name = String::new();
        let mut alias = String::new();
        while at < self.tokens.len() && names.len() < MAX_NAMES {
            match self.kind(at) {
                TokenKind::Name if self.token(at) == "as" => {
                    self.token(at + 1).clone_into(&mut alias);
                    at += 1;
                }
                TokenKind::Name => name.push_str(self.token(at)),
                TokenKind::Symbol(b'.') => name.push('.'),
                TokenKind::Symbol(b'(') => {}
                TokenKind::Line if brackets => {}
                TokenKind::Symbol(b',') => {
                    push_name(&mut names, &mut name, &mut alias);
                }
                _ => break,
            }
            at += 1;
        }
        push_name(&mut names, &mut name, &mut alias);
        names
    }

    /// `const a = require('b')`, `const {a, b: c} = require('d')`.
    fn require_at(&mut self, at: usize) {
        let TokenKind::Text { .. } = self.kind(at + 2) else { return };
        if !self.is_symbol(at + 3, b')') {
            return;
        }
        let module = module(self.token(at + 2));
        let member =
            if self.is_symbol(at + 4, b'.') { format!(".{}", self.token(at + 5)) } else { String::new() };
        let Some(equals) = at.checked_sub(1).filter(|at| self.is_symbol(*at, b'=')) else { return };
        let Some(last) = equals.checked_sub(1) else { return };
        if self.is_name(last) {
            let name = self.token(last).to_owned();
            self.alias(&name, format!("{module}{member}"));
        } else if self.is_symbol(last, b'}') && self.mate(last) < last {
            for part in self.parts(self.mate(last) + 1..last) {
                let name = self.token(part.start).to_owned();
                let alias = self.token(part.end - 1).to_owned();
                self.alias(&alias, format!("{module}{member}.{name}"));
            }
        }
    }
}

fn push_name(names: &mut Vec<(String, String)>, name: &mut String, alias: &mut String) {
    let name = std::mem::take(name);
    let alias = std::mem::take(alias);
    if !name.is_empty() {
        // `import a.b` binds `a`, which is itself.
        let here = if alias.is_empty() { name.clone() } else { alias };
        names.push((name, here));
    }
}
