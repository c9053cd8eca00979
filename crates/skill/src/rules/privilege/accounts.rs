//! Accounts, keys and rights are added.

use crate::code::command::Step;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Place, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PRIVILEGE_ACCOUNTS",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "an account, a key or the rights of an administrator are added",
    why: "Whoever knows the account or the key can come back and do everything on the machine.",
    fix: "remove the command; a person sets up accounts",
    places: ANYWHERE,
    anchors: words![
        "nopasswd",
        "sudoers",
        "authorized_keys",
        "useradd",
        "usermod",
        "adduser",
        "net user",
        "net localgroup",
        "chpasswd",
        "/etc/passwd",
        "dseditgroup",
    ],
    check: Check::Unit(hits),
};

patterns! {
    WINDOWS = r"\bnet1?\s+user\s+\S+\s+\S+\s+/add\b|\bnet1?\s+localgroup\s+administrators\s[^\n]{0,60}/add\b|\bdseditgroup\b[^\n]{0,60}-a\s+\S+[^\n]{0,40}\badmin\b";
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let windows = WINDOWS.find_iter(unit.text().as_bytes()).take(5).map(|found| Hit::at(found.range()));
    let is_script = unit.place == Place::Script;
    windows.chain(unit.commands().steps().filter_map(|step| hit(step, is_script)).take(20)).collect()
}

/// Rates a step: a guide tells how a person sets up a machine; a script of a skill does it.
fn hit(step: Step<'_>, is_script: bool) -> Option<Hit> {
    let guide = if is_script { Severity::Critical } else { Severity::Warning };
    let severity = match step.name().as_str() {
        "useradd" | "adduser"
            if step.has("-o") || step.has("0") && step.value(&["-u", "--uid"]).is_some() =>
        {
            Severity::Critical
        }
        "useradd" | "adduser" | "usermod" if joins_admins(step) => guide,
        "chpasswd" if step.feeders().any(|from| from.line().contains("root")) => Severity::Critical,
        _ => {
            let file = step.writes().find(|file| is_of_accounts(file))?;
            if file.contains("authorized_keys") { weight_of_key(step, guide)? } else { Severity::Critical }
        }
    };
    Some(Hit { severity: Some(severity), ..Hit::at(step.range()) })
}

/// Rates a step by the owner of the key. A step that only removes keys, or restores earlier ones, adds none.
fn weight_of_key(step: Step<'_>, guide: Severity) -> Option<Severity> {
    let from: Vec<Step<'_>> = std::iter::once(step).chain(step.sources()).collect();
    let fetched = from.iter().filter_map(|step| step.fetch()).map(|fetch| fetch.from.weight_of_running());
    if let Some(weight) = fetched.max() {
        return Some(weight);
    }
    let mut words = from.iter().flat_map(|step| step.words().iter().map(move |word| (step, word)));
    if words.clone().any(|(_, word)| is_key(&word.text)) {
        return Some(Severity::Critical);
    }
    let removes = |step: &Step<'_>| match step.name().as_str() {
        "grep" | "egrep" | "fgrep" => step.has_short('v') || step.has("--invert-match"),
        "sed" | "awk" => true,
        "cp" | "mv" | "install" => {
            step.words().iter().filter(|word| word.text.contains("authorized_keys")).count() > 1
        }
        _ => false,
    };
    if from.iter().any(removes) {
        return None;
    }
    let is_readers = words.any(|(step, word)| is_to_be_filled_in(step.spelled(word)));
    Some(if is_readers { guide } else { Severity::Critical })
}

patterns! {
    KEY = r"\bAAAA[A-Za-z0-9+/]{16,}";
}

/// Returns true if a text holds a literal key.
pub(crate) fn is_key(text: &str) -> bool {
    KEY.is_match(text.as_bytes())
}

/// Returns true if a key is a placeholder for the reader's: a variable, a file of the reader, dots, a name to be put in.
pub(crate) fn is_to_be_filled_in(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["...", "…", "<", "your", "$", "{", ".pub", "xxx"].iter().any(|mark| lower.contains(mark))
}

fn joins_admins(step: Step<'_>) -> bool {
    let groups = step.value(&["-aG", "-G", "-a", "--groups", "-Ga"]);
    let joins =
        |text: &str| text.split(',').any(|group| matches!(group, "sudo" | "wheel" | "root" | "admin"));
    groups.is_some_and(|groups| joins(&groups.text))
        || step.has("-aG") && step.words().iter().any(|word| joins(&word.text))
}

fn is_of_accounts(file: &str) -> bool {
    file.starts_with("/etc/sudoers")
        || matches!(file, "/etc/passwd" | "/etc/shadow")
        || file.ends_with(".ssh/authorized_keys")
        || file.ends_with(".ssh/authorized_keys2")
}
