//! Git: what it takes away from others, and from a root.

use policy::{Code, Word};

use super::options::{Grammar, Parts};
use super::place::Root;
use super::{Trial, shown};

pub(crate) fn judge(trial: &mut Trial<'_>) {
    let Some(call) = Call::new(trial.words) else { return };
    match call.verb.text.as_str() {
        "push" => push(trial, &call),
        "clean" => clean(trial, &call),
        _ => {}
    }
}

/// A call of git behind its global options.
struct Call<'a> {
    directories: Vec<&'a str>,
    verb: &'a Word,
    words: &'a [Word],
}

impl<'a> Call<'a> {
    fn new(words: &'a [Word]) -> Option<Self> {
        let mut directories = Vec::new();
        let mut at = 0;
        loop {
            let word = words.get(at)?;
            let text = word.text.as_str();
            if !text.starts_with('-') {
                return Some(Self { directories, verb: word, words: words.get(at + 1..)? });
            }
            if matches!(text, "-C" | "--work-tree") {
                directories.push(words.get(at + 1)?.text.as_str());
            }
            directories.extend(text.strip_prefix("--work-tree="));
            at += 1 + usize::from(takes_value(text));
        }
    }
}

fn takes_value(option: &str) -> bool {
    matches!(
        option,
        "-C" | "-c"
            | "--work-tree"
            | "--git-dir"
            | "--namespace"
            | "--exec-path"
            | "--config-env"
            | "--super-prefix"
            | "--attr-source"
    )
}

fn push(trial: &mut Trial<'_>, call: &Call<'_>) {
    let grammar = Grammar { shorts: "o", longs: &["repo", "receive-pack", "exec", "push-option"] };
    let parts = Parts::new(call.words, grammar);
    let by_option = parts
        .option("fd", &["force", "force-with-lease", "mirror", "delete", "prune"])
        .map(|piece| piece.word);
    let by_name = || parts.operands().map(|piece| piece.word).find(|word| is_forced(&word.text));
    let Some(_) = by_option.or_else(by_name) else { return };
    let word =
        call.words.iter().find(|word| is_forced(&word.text) || is_forcing(&word.text)).unwrap_or(call.verb);
    let text = format!("`{}` replaces or deletes what others have already fetched", shown(&word.text));
    trial.report(
        Code::ForcedPush,
        word,
        text,
        "push without it; if the server refuses, fetch and rebase first",
    );
}

/// `+main` replaces, `:main` deletes.
fn is_forced(text: &str) -> bool {
    text.starts_with('+') || (text.starts_with(':') && text.len() > 1)
}

fn is_forcing(text: &str) -> bool {
    match text.strip_prefix("--") {
        Some(name) => ["f", "mi", "de", "prun"].iter().any(|start| name.starts_with(start)),
        None => text.starts_with('-') && text.contains(['f', 'd']),
    }
}

/// `git clean -fdx` where the work tree is a root.
fn clean(trial: &mut Trial<'_>, call: &Call<'_>) {
    let parts = Parts::new(call.words, Grammar { shorts: "e", longs: &["exclude"] });
    if !parts.has("f", &["force"]) || parts.has("n", &["dry-run"]) || !parts.has("dxX", &[]) {
        return;
    }
    let directory = call.directories.join("/");
    let here = if directory.is_empty() { "." } else { directory.as_str() };
    let root = trial.view.resolve(here, false).root();
    if matches!(root, Some(Root::System | Root::Home)) {
        let text = format!("`git clean` would delete all that git does not know in `{}`", shown(here));
        trial.report(Code::Destructive, call.verb, text, "run it in a directory of the workspace");
    }
    for piece in parts.operands() {
        trial.takes_root(piece, "clean");
    }
}
