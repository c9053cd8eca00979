//! Instructions in the state files of git that make it run a program.

use policy::git_settings;

/// A file of a state.
#[derive(Clone, Copy)]
pub(super) struct StateFile {
    pub(super) state: &'static str,
    pub(super) name: &'static str,
    pub(super) mend: Mend,
    /// Says why a line, or the whole text, makes git run a program.
    pub(super) runs: fn(&[u8]) -> Option<&'static str>,
}

impl StateFile {
    /// The largest size that is read, in bytes.
    pub(super) const fn longest(&self) -> u64 {
        match self.mend {
            Mend::Lines => 4 << 20,
            Mend::Remove => 64 << 10,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mend {
    /// Each line counts by itself, and is commented out.
    Lines,
    /// The file counts as a whole, and is removed.
    Remove,
}

pub(super) const FILES: &[StateFile] = &[
    StateFile { state: "rebase-merge", name: "git-rebase-todo", mend: Mend::Lines, runs: line },
    StateFile { state: "rebase-merge", name: "strategy", mend: Mend::Remove, runs: strategy },
    StateFile { state: "rebase-merge", name: "strategy_opts", mend: Mend::Remove, runs: strategy_options },
    StateFile { state: "rebase-merge", name: "autostash", mend: Mend::Remove, runs: stash },
    StateFile { state: "rebase-merge", name: "gpg_sign_opt", mend: Mend::Remove, runs: signing },
    StateFile { state: "rebase-apply", name: "apply-opt", mend: Mend::Remove, runs: applying },
    StateFile { state: "rebase-apply", name: "strategy", mend: Mend::Remove, runs: strategy },
    StateFile { state: "rebase-apply", name: "strategy_opts", mend: Mend::Remove, runs: strategy_options },
    StateFile { state: "rebase-apply", name: "autostash", mend: Mend::Remove, runs: stash },
    StateFile { state: "rebase-apply", name: "gpg_sign_opt", mend: Mend::Remove, runs: signing },
    StateFile { state: "sequencer", name: "opts", mend: Mend::Remove, runs: options },
];

/// Commands of a todo list that start nothing, but for the user's own editor.
const HARMLESS: &[&str] = &[
    "pick",
    "p",
    "revert",
    "edit",
    "e",
    "reword",
    "r",
    "fixup",
    "f",
    "squash",
    "s",
    "label",
    "l",
    "reset",
    "t",
    "merge",
    "m",
    "update-ref",
    "u",
    "break",
    "b",
    "drop",
    "d",
    "noop",
];
/// Strategies that git brings along. Any other name is the name of a program, and may be a path.
const STRATEGIES: &[&str] = &["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

fn line(line: &[u8]) -> Option<&'static str> {
    let line = line.trim_ascii_start();
    let end = line.iter().position(|byte| byte.is_ascii_whitespace() || *byte == 0).unwrap_or(line.len());
    // A line that begins with punctuation is a comment or an error.
    let word = line[..end].first().is_some_and(u8::is_ascii_alphanumeric);
    let harmless = HARMLESS.iter().any(|known| known.as_bytes() == &line[..end]);
    (word && !harmless).then_some("git runs this line when the rebase is continued")
}

fn strategy(text: &[u8]) -> Option<&'static str> {
    let known = STRATEGIES.iter().any(|known| known.as_bytes() == text.trim_ascii());
    (!known && !text.trim_ascii().is_empty()).then_some("git runs the merge strategy that it names")
}

/// Options that git's own strategy has. Other strategies pass theirs on to programs, which may write files that an option names.
const STRATEGY_OPTIONS: &[&str] = &[
    "ours",
    "theirs",
    "patience",
    "histogram",
    "minimal",
    "ignore-space-change",
    "ignore-all-space",
    "ignore-space-at-eol",
    "ignore-cr-at-eol",
    "renormalize",
    "no-renormalize",
    "find-renames",
    "no-renames",
    "subtree",
];
/// Those of them that have a value.
const STRATEGY_VALUES: &[&str] = &["diff-algorithm", "find-renames", "rename-threshold", "subtree"];

const STRATEGY_OPTION: &str = "git passes options to the merge strategy that may write other files";

fn strategy_options(text: &[u8]) -> Option<&'static str> {
    let words = text.split(u8::is_ascii_whitespace);
    let mut words = words.filter(|word| !word.is_empty());
    words.any(|word| !is_strategy_option(unquote(word))).then_some(STRATEGY_OPTION)
}

/// Removes the quotes around a word; any that are left are no part of an option.
fn unquote(word: &[u8]) -> &[u8] {
    let inside = |quote: &[u8]| word.strip_prefix(quote)?.strip_suffix(quote);
    inside(b"'").or_else(|| inside(b"\"")).unwrap_or(word)
}

fn is_strategy_option(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"--").unwrap_or(word);
    let is = |names: &[&str], name: &[u8]| names.iter().any(|known| known.as_bytes() == name);
    match word.iter().position(|byte| *byte == b'=') {
        None => is(STRATEGY_OPTIONS, word),
        Some(at) => {
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._/%-".contains(byte);
            is(STRATEGY_VALUES, &word[..at]) && word[at + 1..].iter().all(plain)
        }
    }
}

fn stash(text: &[u8]) -> Option<&'static str> {
    let name = text.trim_ascii().iter().all(u8::is_ascii_hexdigit);
    (!name).then_some("git passes it to `git stash`, and it is not the name of a stash")
}

fn signing(text: &[u8]) -> Option<&'static str> {
    // Without a key it is the user's own choice of one.
    let own = matches!(text.trim_ascii(), b"" | b"-S");
    (!own).then_some("git signs with the key that it names")
}

fn applying(text: &[u8]) -> Option<&'static str> {
    const KNOWN: &[&[u8]] = &[
        b"-C",
        b"-p",
        b"--whitespace=",
        b"--ignore-space-change",
        b"--ignore-whitespace",
        b"--directory=",
        b"--exclude=",
        b"--include=",
        b"--reject",
    ];
    let words = text.split(u8::is_ascii_whitespace);
    let mut words = words.filter(|word| !word.is_empty());
    let harmless = |word: &[u8]| {
        let word = word.strip_prefix(b"'").unwrap_or(word);
        KNOWN.iter().any(|known| word.starts_with(known))
    };
    words.any(|word| !harmless(word)).then_some("git applies patches with options that no patch needs")
}

fn options(text: &[u8]) -> Option<&'static str> {
    let Ok(settings) = git_settings(text) else { return Some("its options cannot be parsed") };
    let is = |name: &str, values: &[&[u8]]| {
        let mut named = settings.iter().filter(|setting| setting.is(name));
        named.any(|setting| values.contains(&setting.value.as_deref().unwrap_or_default().trim_ascii()))
    };
    // These are scripts, which pass options on.
    let script = is("options.strategy", &[b"resolve", b"octopus"]);
    settings.iter().find_map(|setting| {
        let value = setting.value.as_deref().unwrap_or_default();
        if setting.is("options.strategy") {
            strategy(value)
        } else if setting.is("options.gpg-sign") {
            signing(value)
        } else if setting.is("options.strategy-option") {
            (script || !is_strategy_option(value)).then_some(STRATEGY_OPTION)
        } else {
            None
        }
    })
}

/// Returns the parts of a text that make git run a program.
pub(super) fn running(file: &StateFile, text: &[u8]) -> Vec<Vec<u8>> {
    let parts: Vec<_> = match file.mend {
        Mend::Lines => text.split(|byte| *byte == b'\n').collect(),
        Mend::Remove => vec![text],
    };
    parts.into_iter().filter(|part| (file.runs)(part).is_some()).map(<[u8]>::to_vec).collect()
}
