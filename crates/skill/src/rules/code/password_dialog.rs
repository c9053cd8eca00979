//! A dialog asks for the password, and the input is passed on.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{CODE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_PASSWORD_DIALOG",
    category: Category::CredentialAccess,
    severity: Severity::Critical,
    title: "a dialog asks for the password and sends it on",
    why: "The system asks for passwords itself. A dialog of a script that looks like it collects them.",
    fix: "remove it; let the system ask where it needs a password",
    places: CODE,
    anchors: words![
        "hidden answer",
        "zenity --password",
        "kdialog --password",
        "promptforcredential",
        "get-credential",
    ],
    check: Check::Unit(hits),
};

patterns! {
    ASKS = r"with hidden answer|zenity\s+--password|kdialog\s+--password|promptforcredential|get-credential";
    SENDS = r"\b(?:curl|wget|nc|ncat)\s|GetNetworkCredential\(\)\.Password[^\n]{0,200}|urlopen|requests\.post|fetch\(";
    WEB = r"Invoke-WebRequest|Invoke-RestMethod|\biwr\b|\birm\b|UploadString";
    PRETENDS = r"display dialog[^\n]{0,160}\b(?:macOS|System (?:Preferences|Settings|Update)|Apple|Keychain|Software Update)\b[^\n]{0,200}hidden answer|hidden answer[^\n]{0,80}with title[^\n]{0,10}(?:macOS|System (?:Preferences|Settings|Update)|Apple|Keychain)";
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text().as_bytes();
    let Some(asked) = ASKS.find(text) else { return Vec::new() };
    let plain = memchr::memmem::find(text, b"GetNetworkCredential").is_some();
    let of_windows = asked.as_bytes().to_ascii_lowercase().ends_with(b"credential");
    let sends = if of_windows { plain && WEB.is_match(text) } else { SENDS.is_match(text) };
    if sends || PRETENDS.is_match(text) { vec![Hit::at(asked.range())] } else { Vec::new() }
}
