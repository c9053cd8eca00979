//! The system, or all files of a user, are removed.

use crate::code::command::Step;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "DESTROY_FILES",
    category: Category::Destruction,
    severity: Severity::Critical,
    title: "everything below a directory of the system or a person is removed",
    why: "What is removed like this does not come back.",
    fix: "name the directory that the skill has made itself",
    places: ANYWHERE,
    anchors: words![
        "\\brm -",
        "-delete",
        "shred ",
        "remove-item",
        "rmdir /s",
        "del /",
        "format c:",
        "rimraf",
        "rm --",
    ],
    check: Check::Unit(hits),
};

patterns! {
    WINDOWS = r#"\b(?:remove-item\b[^\n]{0,80}?-recurse\b[^\n]{0,40}|rmdir\s+/s[^\n]{0,20}|del\s+(?:/[sfq]\s+){1,3})\s*['"]?[a-z]:\\(?:\*|users\\?|windows\\?|\s|['"]|$)|\bformat\s+c:"#;
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let windows = WINDOWS.find_iter(unit.text().as_bytes()).take(5).map(|found| Hit::at(found.range()));
    windows.chain(unit.commands().steps().filter_map(hit).take(20)).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    let name = step.name();
    let removes = match name.as_str() {
        "rm" => step.has_short('r') || step.has_short('R') || step.has("--recursive"),
        "rimraf" | "shred" => true,
        "find" => {
            step.has("-delete")
                || step.words().windows(2).any(|pair| pair[0].text == "-exec" && pair[1].text == "rm")
        }
        _ => false,
    };
    let hit = removes
        && step
            .words()
            .iter()
            .any(|word| !word.text.starts_with('-') && is_whole(step.spelled(word), &word.text));
    (hit && !(name == "find" && is_narrow(step))).then(|| Hit::at(step.range()))
}

/// Returns true if a search is limited by name or by age, and so removes something in particular.
fn is_narrow(step: Step<'_>) -> bool {
    ["-name", "-iname", "-mtime", "-path", "-regex", "-size", "-empty"].iter().any(|option| step.has(option))
}

/// Returns true if a path is a directory that is never removed on purpose.
fn is_whole(spelled: &str, text: &str) -> bool {
    let spelled = spelled.replace(['"', '\''], "");
    let path = if spelled.starts_with('$') || spelled.starts_with('~') { spelled.as_str() } else { text };
    let path = path.strip_suffix("/*").or_else(|| path.strip_suffix("/.*")).unwrap_or(path);
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    let home = ["~", "$HOME", "${HOME}", "$USERPROFILE"];
    let of_person = ["Documents", "Desktop", "Downloads", "Pictures", ".ssh", ".config", ".gnupg"];
    if path.is_empty() {
        return spelled.starts_with('/');
    }
    let below_home =
        home.iter().find_map(|home| path.strip_prefix(home)).and_then(|rest| rest.strip_prefix('/'));
    home.contains(&path)
        || below_home.is_some_and(|rest| of_person.contains(&rest))
        || matches!(
            path,
            "/" | "/bin"
                | "/boot"
                | "/dev"
                | "/etc"
                | "/home"
                | "/lib"
                | "/lib64"
                | "/opt"
                | "/proc"
                | "/root"
                | "/sbin"
                | "/srv"
                | "/sys"
                | "/usr"
                | "/var"
                | "/Users"
                | "/System"
                | "/Library"
                | "/Applications"
                | "/var/lib"
                | "/usr/local"
                | "/usr/bin"
                | "/usr/lib"
                | "/mnt"
                | "/var/www"
        )
}
