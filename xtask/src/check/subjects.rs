//! Subjects of commits: short, and in the imperative.

use std::path::Path;
use std::process::Command;

use crate::offence::Offence;
use crate::step::Outcome;

/// Last commit whose subject was written before there was this check.
const BASE: &str = "ab8291e";

/// Longest subject, in characters.
const LONGEST: usize = 72;

/// Verbs in the imperative that end like a past tense or a gerund.
const IMPERATIVES: &[&str] =
    &["bring", "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "string", "succeed"];

/// Past tenses that do not end in `ed`.
const PAST_TENSES: &[&str] = &[
    "built", "came", "did", "found", "gave", "held", "kept", "made", "said", "took", "told", "was", "were",
    "wrote",
];

/// Checks every commit since [`BASE`] that is no merge.
pub(crate) fn check(root: &Path) -> Outcome {
    let git = |words: &[&str]| Command::new("git").args(words).current_dir(root).output();
    if !git(&["merge-base", "--is-ancestor", BASE, "HEAD"]).is_ok_and(|output| output.status.success()) {
        return Outcome::Skipped("there is no git history that reaches the first commit to check".into());
    }
    match git(&["log", "--no-merges", "--format=%h %s", &format!("{BASE}..HEAD")]) {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            text.lines().filter_map(offence).collect::<Vec<_>>().into()
        }
        Ok(output) => Outcome::Failed(vec![String::from_utf8_lossy(&output.stderr).into_owned()]),
        Err(error) => Outcome::Failed(vec![format!("git: {error}")]),
    }
}

/// Judges a line of the form `HASH SUBJECT`.
fn offence(line: &str) -> Option<Offence> {
    let (hash, subject) = line.split_once(' ')?;
    let length = subject.chars().count();
    if length > LONGEST {
        let text = format!("subject of {length} characters, over {LONGEST}: {subject}");
        return Some(Offence::of(hash, text));
    }
    let change = subject.split_once(": ").map_or(subject, |(_, change)| change);
    let verb = change.split(' ').next().unwrap_or(change).to_lowercase();
    let text = || format!("`{verb}` is not in the imperative: {subject}");
    (!is_imperative(&verb)).then(|| Offence::of(hash, text()))
}

fn is_imperative(verb: &str) -> bool {
    let inflected = verb.ends_with("ed") || verb.ends_with("ing") || PAST_TENSES.contains(&verb);
    !inflected || IMPERATIVES.contains(&verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_short_and_imperative() {
        let long = format!("overlay: show {}", "x".repeat(59));
        let rows = [
            ("overlay: show renames as renames", true),
            ("show renames", true),
            ("jail: embed the init program", true),
            (&long[..72], true),
            (&long, false),
            ("overlay: showed renames", false),
            ("Showing renames", false),
            ("overlay: made renames visible", false),
        ];
        for (subject, fine) in rows {
            assert_eq!(offence(&format!("abc {subject}")).is_none(), fine, "{subject}");
        }
    }

    #[test]
    fn a_directory_without_history_is_skipped() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(check(dir.path()), Outcome::Skipped(_)));
    }
}
