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
    StateFile { state: "rebase-merge", name: "gpg_sign_opt", mend: Mend::Remove, runs: signing },
    StateFile { state: "rebase-apply", name: "apply-opt", mend: Mend::Remove, runs: applying },
    StateFile { state: "rebase-apply", name: "strategy", mend: Mend::Remove, runs: strategy },
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
    settings.iter().find_map(|setting| {
        let value = setting.value.as_deref().unwrap_or_default();
        match (setting.is("options.strategy"), setting.is("options.gpg-sign")) {
            (true, _) => strategy(value),
            (_, true) => signing(value),
            _ => None,
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
