//! Keys, credentials, wallets and memories that are sent away.

use crate::code::fact::SENDS;
use crate::code::secret::Secret;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::{Words, words};

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_FILE_SENT",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "a file with secrets is sent away",
    why: "Keys, logins, wallets, browsers' stores and an agent's memory belong to the person at this machine. What leaves it is lost.",
    fix: "remove the request; a skill never needs these files elsewhere",
    places: ANYWHERE,
    anchors: ANCHORS,
    check: Check::Requiring(&[&SENDS], check),
};

/// Parts of paths that lead to secrets.
pub(crate) const ANCHORS: Words = words![
    ".ssh",
    ".aws",
    ".gnupg",
    "id_rsa",
    "id_ed25519",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".kube",
    "gcloud",
    ".azure",
    ".docker/config",
    ".env",
    "login data",
    "cookies.sqlite",
    "logins.json",
    "key4.db",
    "keychain",
    "wallet",
    ".electrum",
    "solana",
    "keystore",
    ".password-store",
    "1password",
    "bitwarden",
    ".claude",
    ".codex",
    ".openclaw",
    ".clawdbot",
    ".moltbot",
    ".mcp.json",
    "_history",
    "/etc/shadow",
    "chrome",
    "firefox",
    "hosts.yml",
    ".cursor/mcp",
];

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::sent(unit, |secret| matches!(secret, Secret::File(..)))
}
