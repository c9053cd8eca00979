//! Rights for all users, or for every user that runs a file.

use crate::code::command::Step;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PRIVILEGE_OPEN_RIGHTS",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "rights on files of the system are opened",
    why: "Whoever can write there, or run a file with its owner's rights, can do everything on the machine.",
    fix: "give one user the right that is needed, on the file that needs it",
    places: ANYWHERE,
    anchors: words!["chmod ", "setcap ", "chown ", "icacls "],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    unit.commands().steps().filter_map(hit).take(20).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    let severity = match step.name().as_str() {
        "chmod" => of_chmod(step)?,
        "setcap" => step
            .words()
            .iter()
            .any(|word| {
                ["cap_setuid", "cap_sys_admin", "cap_dac_override", "cap_sys_ptrace", "=ep"]
                    .iter()
                    .any(|cap| word.text.starts_with(cap))
            })
            .then_some(Severity::Critical)?,
        _ => return None,
    };
    Some(Hit { severity: Some(severity), ..Hit::at(step.range()) })
}

fn of_chmod(step: Step<'_>) -> Option<Severity> {
    let mut words = step
        .words()
        .iter()
        .map(|word| word.text.as_str())
        .filter(|word| !word.starts_with('-') || word.len() < 2);
    let mode = words.next()?;
    let on_system = step.words().iter().any(|word| is_of_system(&word.text));
    if sets_owner(mode) {
        return Some(Severity::Critical);
    }
    let opens = matches!(
        mode,
        "777" | "0777" | "666" | "0666" | "a+rwx" | "ugo+rwx" | "a+w" | "o+w" | "a=rwx" | "go+w"
    );
    match (opens, on_system) {
        (true, true) => Some(Severity::Critical),
        (true, false) => Some(Severity::Note),
        _ => None,
    }
}

/// `u+s`, `+s`, `4755`: every user that runs the file has the rights of its owner.
fn sets_owner(mode: &str) -> bool {
    let digits = mode.bytes().all(|byte| byte.is_ascii_digit());
    match mode.split_once('+') {
        Some((who, what)) => what.contains('s') && (who.is_empty() || who.contains(['u', 'a'])),
        None => digits && mode.len() == 4 && mode.starts_with(['4', '6']),
    }
}

fn is_of_system(path: &str) -> bool {
    let path = path.trim_matches('"');
    path == "/"
        || [
            "/etc",
            "/usr",
            "/opt",
            "/bin",
            "/sbin",
            "/boot",
            "/root",
            "/lib",
            "/var/run/docker.sock",
            "/dev/",
            "/srv",
            "/Library",
            "/System",
            "/home",
            "/var/lib",
            "/var/spool",
        ]
        .iter()
        .any(|start| {
            path.strip_prefix(start)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || start.ends_with('/'))
        })
}
