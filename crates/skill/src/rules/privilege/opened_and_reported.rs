//! A machine is opened to others, and its address is reported.

use crate::code::destination::{Kind, classify};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{CODE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PRIVILEGE_OPENED",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "the machine is opened to others, and its address is told",
    why: "Whoever reaches the port controls the machine without a password. Telling a stranger the address invites him in.",
    fix: "remove both; let services listen on the machine itself only",
    places: CODE,
    anchors: words![
        ":2375",
        "tcp://0.0.0.0",
        "permitrootlogin yes",
        "permitemptypasswords",
        "--auth none",
        "--auth=none",
        "notebookapp.token",
        "serverapp.token",
        "-nopw",
        "securitytypes none",
    ],
    check: Check::Unit(hits),
};

patterns! {
    OPENS = r"tcp://(?:0\.0\.0\.0|\[::\])?:?237[56]|-H\s+tcp://0\.0\.0\.0|PermitRootLogin\s+yes|PermitEmptyPasswords\s+yes|--auth[ =]none|(?:Notebook|Server)App\.token=['\x22]{0,2}(?:\s|$)|\bx11vnc\b[^\n]{0,60}-nopw|SecurityTypes\s+None";
    TELLS = r"\b(?:curl|wget)\b[^\n]{0,160}\$\(\s*(?:(?:curl|wget)\b[^\n)]{0,60}(?:ifconfig|ipify|icanhazip|checkip|ipinfo|myip|whatismyip|ident\.me|api\.ip)|hostname|ip\s+-?\w|uname)[^\n]{0,160}";
    ADDRESS = r#"https?://[^\s"'`$)]+"#;
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text().as_bytes();
    let Some(opened) = OPENS.find(text) else { return Vec::new() };
    let told = TELLS.find_iter(text).take(8).any(|told| {
        let mut hosts = ADDRESS.find_iter(told.as_bytes());
        hosts.any(|address| {
            let to = classify(&String::from_utf8_lossy(address.as_bytes()));
            !matches!(to.kind, Kind::Private | Kind::Vendor | Kind::UserContent) && !is_mirror(&to.host)
        })
    });
    let severity = (!told).then_some(Severity::Note);
    vec![Hit { severity, ..Hit::at(opened.range()) }]
}

/// Hosts that only return the address of the caller.
fn is_mirror(host: &str) -> bool {
    ["ifconfig", "ipify", "icanhazip", "checkip", "ipinfo", "myip", "ident.me", "api.ip"]
        .iter()
        .any(|word| host.contains(word))
}
