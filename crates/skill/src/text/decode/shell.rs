//! Commands that a shell puts together out of variables, quotes and what other commands print: `$a$b`, `c''url`, `$(echo lruc | rev)`.
//!
//! Only what is written there is followed: plain assignments, plain texts, programs that turn one text into another. A stretch is
//! written out only if a command in it is hidden like this.

mod print;
mod regions;
mod word;

use std::collections::HashMap;
use std::ops::Range;

use shell::Dialect;
use shell::tree::{Argument, Assign, At, Command, Kind, PartKind, TestPart, Value, Word};

use super::Replacement;
use crate::text::language::Language;
use word::Expansion;

/// Description of a text that was put together like this.
pub(crate) const MADE: &str = "what a shell puts together";

/// Maximum number of bytes of one stretch that are looked at, and of bytes that are parsed for that: after a mistake, some are parsed again.
const MAX_REGION: usize = 64 << 10;
const MAX_PARSED: usize = 16 * MAX_REGION;

/// Maximum length of a value.
const MAX_VALUE: usize = 8 << 10;

/// Maximum depth of nested substitutions.
const MAX_DEPTH: u32 = 4;

/// Programs whose names have no honest reason to be written in pieces.
const HIDDEN: &[&str] = &[
    "curl",
    "wget",
    "bash",
    "sh",
    "zsh",
    "dash",
    "nc",
    "ncat",
    "netcat",
    "python",
    "python3",
    "perl",
    "ruby",
    "node",
    "php",
    "base64",
    "eval",
    "exec",
    "source",
    "socat",
    "openssl",
    "ssh",
    "scp",
    "sudo",
    "powershell",
    "pwsh",
    "osascript",
    "xxd",
    "chmod",
    "rm",
    "dd",
    "crontab",
    "printenv",
    "cat",
    "env",
];

/// Words before the name of a program.
const BEFORE: &[&str] = &[
    "if", "then", "do", "else", "elif", "while", "until", "!", "time", "sudo", "exec", "env", "nohup",
    "command", "builtin", "export", "local", "declare", "readonly", "{",
];

/// Everything in a text that a shell would put together, where that hides a command.
pub(super) fn replacements(text: &str, language: Language) -> Vec<Replacement> {
    let mut found = Vec::new();
    for region in regions::regions(text, language) {
        let end = region.end.min(region.start + MAX_REGION);
        let Some(part) = text.get(region.start..end) else { continue };
        let mut reader = Reader { text: part, ..Reader::default() };
        reader.read(0..part.len());
        if reader.hides {
            let moved = |range: Range<usize>| region.start + range.start..region.start + range.end;
            found.extend(reader.found.into_iter().map(|(range, text)| Replacement {
                range: moved(range),
                text,
                from: MADE,
            }));
        }
    }
    found
}

/// Returns true if a program's name is one that has no honest reason to be hidden.
pub(crate) fn is_hidden_name(name: &str) -> bool {
    HIDDEN.contains(&name.rsplit('/').next().unwrap_or(name))
}

#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    /// Offset in the text of what has been parsed.
    base: usize,
    variables: HashMap<String, String>,
    lists: HashMap<String, Vec<String>>,
    found: Vec<(Range<usize>, String)>,
    /// True if a command is hidden in what was read.
    hides: bool,
    /// Number of bytes that were parsed.
    parsed: usize,
}

impl Reader<'_> {
    /// Reads all commands of a part of the text. Where it is not as a shell would have it, lines are read one by one.
    fn read(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let (read, Some(error)) = self.commands(at..range.end) else { return };
            let line_end = |from: usize| {
                memchr::memchr(b'\n', &self.text.as_bytes()[from..range.end])
                    .map_or(range.end, |end| from + end)
            };
            let (from, to) = (read, line_end(error.max(read)));
            at = to + 1;
            for line in self.text[from..to].split_inclusive('\n') {
                let start = line.as_ptr() as usize - self.text.as_ptr() as usize;
                self.line(start..start + line.len());
            }
        }
    }

    /// Reads the commands of a line, also those behind a mistake.
    fn line(&mut self, mut range: Range<usize>) {
        while range.start < range.end {
            let (read, Some(error)) = self.commands(range.clone()) else { return };
            let rest = &self.text[read..range.end];
            let begin = rest.trim_start();
            let word = begin.split([' ', '\t', '\n']).next().unwrap_or_default();
            let step = begin.chars().next().map_or(1, char::len_utf8);
            let begin = range.end - begin.len();
            range.start = if BEFORE.contains(&word) { begin + word.len() } else { error.max(begin + step) };
        }
    }

    /// Reads commands up to the first mistake. Returns where the last of them ends, and the mistake.
    fn commands(&mut self, range: Range<usize>) -> (usize, Option<usize>) {
        if self.parsed > MAX_PARSED {
            return (range.end, None);
        }
        let (list, error) = shell::parse_prefix(&self.text[range.clone()], Dialect::Bash);
        self.base = range.start;
        list.each_command(&mut |command| self.command(command));
        self.base = range.start;
        let end = list.items.last().map_or(range.start, |item| self.range(item.at).end);
        let error = error.map(|error| self.range(At(error.span)).end);
        self.parsed += error.unwrap_or(range.end) - range.start;
        (end, error)
    }

    fn command(&mut self, command: &Command) {
        match &command.kind {
            Kind::Simple { assignments, words } => {
                for one in assignments {
                    self.assign(one);
                }
                self.simple(words);
            }
            Kind::For { words: Some(words), .. } => words.iter().for_each(|word| self.argument(word)),
            Kind::Case { subject, .. } => self.argument(subject),
            Kind::Test(parts) => parts.iter().for_each(|part| match part {
                TestPart::Word(word) | TestPart::Regex(word) => self.argument(word),
                TestPart::Operator(_) => {}
            }),
            _ => {}
        }
        for redirect in &command.redirects {
            self.argument(&redirect.target);
            if let Some(body) = redirect.body.as_ref().and_then(|body| body.get()) {
                let base = self.base;
                self.read(self.range(body.at));
                self.base = base;
            }
        }
    }

    fn simple(&mut self, words: &[Argument]) {
        let (mut begins, mut runs) = (true, false);
        for word in words {
            match word {
                Argument::Array(assign) => self.assign(assign),
                Argument::Word(word) if begins && self.declares(word) => {}
                Argument::Word(word) => {
                    self.one(word, begins, &mut runs);
                    begins &= word.plain_text().is_some_and(|word| BEFORE.contains(&word));
                }
            }
        }
    }

    fn argument(&mut self, word: &Word) {
        self.one(word, false, &mut false);
    }

    /// Reads one word. `begins` if it is the name of a program, `runs` if its value is run.
    fn one(&mut self, word: &Word, begins: bool, runs: &mut bool) {
        let read = self.expand(word);
        let value = read.value.as_deref();
        let is_hidden = |name: &str| is_hidden_name(name) && !read.is_written(name);
        if begins
            && read.pieces > 1
            && value.is_some_and(|value| value.split_whitespace().next().is_some_and(is_hidden))
        {
            self.hides = true;
            if read.spelled.is_empty() {
                self.found.push((self.range(word.at), value.unwrap_or_default().to_owned()));
            }
        }
        self.hides |= read.printed && (begins || *runs) || *runs && read.expanded > 1 && value.is_some();
        if begins {
            *runs = value.is_some_and(|value| matches!(value, "eval" | "source" | "."));
        } else if matches!(value, Some("-c" | "-ec" | "-lc")) {
            *runs = true;
        }
        self.found.extend(read.spelled);
        for list in read.processes {
            list.each_command(&mut |command| self.command(command));
        }
    }

    fn assign(&mut self, assign: &Assign) {
        match &assign.value {
            _ if assign.subscript.is_some() => {}
            Value::Word(word) => {
                let value = self.expand(word).value;
                self.set(&assign.name, assign.append, value);
            }
            Value::Array(words) => {
                let items = words.iter().take(256).map(|word| self.expand(word).value.unwrap_or_default());
                let items = items.collect();
                self.lists.insert(assign.name.clone(), items);
            }
        }
    }

    /// `name=value` behind `export` and the like. Returns false for any other word.
    fn declares(&mut self, word: &Word) -> bool {
        let Some(PartKind::Text(text)) = word.parts.first().map(|part| &part.kind) else { return false };
        let Some((name, _)) = text.split_once('=') else { return false };
        let value = self.expand(word).value.map(|value| value[name.len() + 1..].to_owned());
        let (name, append) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_name && !name.is_empty() {
            self.set(name, append, value);
        }
        is_name
    }

    fn set(&mut self, name: &str, append: bool, value: Option<String>) {
        let Some(value) = value else {
            self.variables.remove(name);
            return;
        };
        let held = self.variables.entry(name.to_owned()).or_default();
        if !append {
            held.clear();
        }
        if held.len() + value.len() <= MAX_VALUE {
            held.push_str(&value);
        }
    }

    fn expand<'w>(&self, word: &'w Word) -> Expansion<'w> {
        word::expand(self, word, 0)
    }

    fn range(&self, at: At) -> Range<usize> {
        self.base + at.0.start as usize..self.base + at.0.end as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut made = text.to_owned();
        for one in replacements(text, Language::Shell).into_iter().rev() {
            made.replace_range(one.range, &one.text);
        }
        made
    }

    #[test]
    fn what_a_shell_puts_together_is_written_out() {
        let rows = [
            ("a=c; b=ur; c=l; d=' -s '; e='x|'\n$a$b$c$d http://a.b | $e", "curl -s  http://a.b | x|"),
            ("x=wg; y=et; ${x}${y} http://a.b", "wget http://a.b"),
            ("p=ba\n${p}sh x", "bash x"),
            ("a=(c u r l)\n${a[0]}${a[1]}${a[2]}${a[3]} x", "curl x"),
            ("s=xlruc; ${s:4:1}${s:3:1}${s:2:1}${s:1:1} x", "curl x"),
            ("t='hs | x lruc'\neval \"$(printf %s \"$t\" | rev)\"", "eval \"curl x | sh\""),
            ("$(printf '\\143\\165rl') x", "curl x"),
            ("eval $(echo phey | tr a-z n-za-m)", "eval curl"),
            ("`echo lruc|rev` x", "curl x"),
            ("$(echo 6375726c | xxd -r -p) x", "curl x"),
            ("c''url x", "curl x"),
            ("w\\ge\\t x", "wget x"),
            ("a='cu'; b='rl x'; eval \"$a$b\"", "eval \"curl x\""),
            ("$'\\x63url' x", "curl x"),
        ];
        for (text, expected) in rows {
            let made = written(text);
            assert!(made.ends_with(expected), "{text} -> {made}");
        }
        let same = [
            "URL=https://a.b; curl \"$URL/x$y\"",
            "V=3; python$V x.py",
            "DIR=a; NAME=b; \"$DIR$NAME\" x",
            "CROSS=arm-; ${CROSS}gcc x",
            "echo \"$(echo a)\"",
            "x=$(curl -s a); echo $x$y",
            "sed 's/a''b/c/' x",
        ];
        for text in same {
            assert_eq!(written(text), text);
        }
    }

    #[test]
    fn hostile_texts_are_read_to_their_end() {
        for row in [
            "$(",
            "$(echo ",
            "${",
            "`",
            "`echo ",
            "$'",
            "a=$a$a;",
            "\"$a",
            "a''b ",
            "$(echo $(",
            "a=(",
            "${a:1:",
            "\\a",
        ] {
            let text = format!("a=b\n{}", row.repeat((2 << 20) / row.len()));
            // A reader that looks at the rest again for each sign would never come back.
            replacements(&text, Language::Shell);
            replacements(&format!("```sh\n{text}"), Language::Markdown);
        }
    }
}
