//! A key that may log in from elsewhere.

use crate::code::fact::Hold;
use crate::rules::privilege::{is_key, is_to_be_filled_in};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity, file, text};
use crate::text::unit::{CODE, Unit};

pub(super) const RULE: Rule = Rule {
    id: "PERSIST_LOGIN_KEYS",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "a key is added that may log in",
    why: "Whoever holds the other half of the key can come back at any time.",
    fix: "let a person add keys themselves",
    places: CODE,
    anchors: &["authorized_keys"],
    check: Check::Unit(check),
    hits: &[
        text("```bash\necho 'ssh-ed25519 AAAAC3Nz x@y' >> ~/.ssh/authorized_keys\n```"),
        file(
            "x.py",
            "with open(os.path.expanduser('~/.ssh/authorized_keys'), 'a') as f:\n    f.write(KEY)\n",
        ),
    ],
    misses: &[
        text("```bash\ncat ~/.ssh/id_ed25519.pub >> ~/.ssh/authorized_keys\n```"),
        text("```bash\nchmod 600 ~/.ssh/authorized_keys\n```"),
        text("```bash\necho 'ssh-ed25519 AAAA... me@laptop' >> ~/.ssh/authorized_keys\n```"),
        text("```bash\nsed -i '/old@laptop/d' ~/.ssh/authorized_keys\n```"),
    ],
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::holds(unit, &[Hold::Keys], severity)
}

fn severity(_: &str, text: &str) -> Severity {
    let removes =
        ["grep -v", "sed -i", "--in-place", "authorized_keys.bak"].iter().any(|sign| text.contains(sign));
    let own = text.contains(".pub") || text.contains('$');
    if is_key(text) {
        Severity::Critical
    } else if removes || own {
        Severity::Note
    } else if is_to_be_filled_in(text) {
        Severity::Warning
    } else {
        Severity::Critical
    }
}
