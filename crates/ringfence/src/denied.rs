//! Actions that the jail refused, in words for people and the ledger.

use std::path::Path;

use jail::{Denial, Mode, Spec};
use policy::{Act, Ground, Kind, Shown, Verdict};

/// One refused action in words. Text from the command is escaped.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeniedAction {
    /// Kind of the action.
    pub kind: Kind,
    /// Object of the action.
    pub object: String,
    /// Setting that refuses it.
    pub by: String,
    /// Setting that would allow it.
    pub allow: String,
}

impl DeniedAction {
    /// Explains a refusal in a jail. A protected name that exists already is refused by a view of its own; the explanation is that
    /// it is protected.
    #[must_use]
    pub fn of(denial: &Denial, spec: &Spec, profile: &str) -> Self {
        let protected = match denial {
            Denial::ReadOnly(path) => protected(path, spec),
            _ => None,
        };
        let mut denied = Self::new(protected.as_ref().unwrap_or(denial), profile);
        let is_masked = |path: &Path| spec.masks.iter().any(|mask| path.starts_with(&mask.path));
        if let Denial::Hidden(path) = denial
            && is_masked(path)
        {
            "`files.forbidden` of the policy names it".clone_into(&mut denied.by);
            "name it in files.exempt".clone_into(&mut denied.allow);
        }
        denied
    }

    fn new(denial: &Denial, profile: &str) -> Self {
        let shown = |path: &Path| Shown::path(path).to_string();
        let profile = Shown::text(profile);
        let unseen = format!("no view of profile `{profile}` shows it");
        let (kind, object, by, allow) = match denial {
            Denial::File(path) => {
                (Kind::Read, shown(path), unseen, format!("--read {}, or jail.read-only", quote_path(path)))
            }
            Denial::Program(path) => {
                let directory = quote_path(path.parent().unwrap_or(path));
                (Kind::Exec, shown(path), unseen, format!("--read {directory}, or jail.read-only"))
            }
            Denial::ReadOnly(path) => {
                let by = format!("profile `{profile}` shows it read-only");
                (Kind::Write, shown(path), by, format!("--write {}, or jail.shared", quote_path(path)))
            }
            Denial::Hidden(path) => {
                let by = format!("profile `{profile}` or the jail itself hides it");
                (Kind::Read, shown(path), by, "take it out of `hide`, if it is there".to_owned())
            }
            Denial::Protected(path, name) => {
                let by = format!("`{}` is protected: {}", name.name, name.because);
                (Kind::Write, shown(path), by, format!("--unprotect {}, or jail.unprotected", name.name))
            }
            Denial::Connection(to) => {
                let by = format!("profile `{profile}` has no network");
                let to = Shown::text(to).to_string();
                let allow = format!("--network broker --allow {to}");
                (Kind::Connect, to, by, allow)
            }
        };
        Self { kind, object, by, allow }
    }
}

/// A path as one word of a command line that a person may copy. Its name is the command's choice.
pub(crate) fn quote_path(path: &Path) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:,+@%=".contains(byte);
    let shown = Shown::path(path).to_string();
    let option = if shown.starts_with('-') { "./" } else { "" };
    let is_plain = !shown.is_empty() && shown.as_bytes().iter().all(plain);
    if is_plain { format!("{option}{shown}") } else { format!("'{option}{}'", shown.replace('\'', r"'\''")) }
}

fn protected(path: &Path, spec: &Spec) -> Option<Denial> {
    let views = spec.views.iter().filter(|view| view.mode == Mode::ReadWrite);
    let below = views
        .filter_map(|view| path.strip_prefix(&view.path).ok())
        .max_by_key(|below| below.as_os_str().len())?;
    match spec.protected.judge(Ground::Tree, below, Act::File) {
        Verdict::Kept(name) | Verdict::Pointer(name) if spec.mode_at(path) == Some(Mode::ReadWrite) => {
            Some(Denial::Protected(path.to_owned(), name))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_names_what_refuses_it_and_the_setting_that_would_allow_it() {
        let rows = [
            (
                Denial::File("/etc/shadow".into()),
                "read /etc/shadow: no view of profile `review` shows it; to allow it: --read /etc/shadow, or jail.read-only",
            ),
            (
                Denial::Program("/opt/bin/x".into()),
                "exec /opt/bin/x: no view of profile `review` shows it; to allow it: --read /opt/bin, or jail.read-only",
            ),
            (
                Denial::ReadOnly("/usr/x".into()),
                "write /usr/x: profile `review` shows it read-only; to allow it: --write /usr/x, or jail.shared",
            ),
            (
                Denial::Hidden("/w/x".into()),
                "read /w/x: profile `review` or the jail itself hides it; to allow it: take it out of `hide`, if it is there",
            ),
            (
                Denial::Connection("192.0.2.1:443".into()),
                "connect 192.0.2.1:443: profile `review` has no network; to allow it: --network broker --allow 192.0.2.1:443",
            ),
            (
                Denial::File("/a\u{1b}[2K".into()),
                r"read /a\u{1b}[2K: no view of profile `review` shows it; to allow it: --read '/a\u{1b}[2K', or jail.read-only",
            ),
            (
                Denial::File("/a;rm -rf '$HOME'".into()),
                r"read /a;rm -rf '$HOME': no view of profile `review` shows it; to allow it: --read '/a;rm -rf '\''$HOME'\''', or jail.read-only",
            ),
        ];
        for (denial, text) in rows {
            let DeniedAction { kind, object, by, allow } = DeniedAction::new(&denial, "review");
            assert_eq!(format!("{} {object}: {by}; to allow it: {allow}", kind.word()), text);
        }
    }
}
