//! Code or settings that talk to an address made to record incoming requests.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::language::Language;
use crate::text::unit::{Place, Places, Unit};
use crate::words::{Words, words};

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_COLLECTOR",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "what a program knows goes to a collector of requests",
    why: "Such an address belongs to whoever made it a minute ago; no service that a skill needs lives there.",
    fix: "use the address of the service itself",
    places: Places::of(&[Place::Script, Place::Fence]),
    anchors: HOSTS,
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let Some(host) = HOSTS.iter().find(|host| text.contains(host)) else { return Vec::new() };
    let takes = match unit.language {
        Language::Settings | Language::Json => unit.place == Place::Script && has(text, SERVICE),
        _ => has(text, SECRETS) && has(text, SENDS),
    };
    let at = text.find(host).unwrap_or_default();
    if takes { vec![Hit::at(at..at + host.len())] } else { Vec::new() }
}

/// Hosts whose addresses are created in a minute and show incoming requests.
pub(super) const HOSTS: Words = words![
    "webhook.site",
    "requestbin.",
    "pipedream.net",
    ".ngrok.",
    ".ngrok-free.",
    "oast.",
    "oastify.com",
    "interact.sh",
    "burpcollaborator.net",
    "hookbin.com",
    "beeceptor.com",
    "trycloudflare.com",
    "serveo.net",
    "loca.lt",
    "requestcatcher.com",
    "postb.in",
    "canarytokens.com",
    "pinggy.link",
    "lhr.life",
];

/// Settings that name the address of a service.
const SERVICE: &[&str] =
    &["base_url", "baseurl", "endpoint", "callback", "proxy", "api_url", "host:", "server_url"];

/// Names of data that is not the program's own.
const SECRETS: &[&str] = &[
    "process.env",
    "os.environ",
    ".env",
    ".ssh",
    ".aws",
    "credential",
    "token",
    "homedir",
    "expanduser",
    "getenv",
];

/// Names of calls that send.
const SENDS: &[&str] = &["post", "request(", "fetch(", "write(", "send", "curl", "put("];

fn has(text: &str, words: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    words.iter().any(|word| text.contains(word))
}
