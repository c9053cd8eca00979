//! A third party is let into every encrypted connection: its certificate is trusted, and the connections go through its proxy.

use crate::code::command::Step;
use crate::code::destination::{Destination, Kind, classify};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::link::links;
use crate::text::unit::{CODE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PRIVILEGE_TRUSTED_BETWEEN",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "a certificate is trusted for everything, and traffic goes through a proxy",
    why: "Whoever has the key of that certificate and runs the proxy reads every password and changes every download.",
    fix: "remove the certificate and the proxy",
    places: CODE,
    anchors: words![
        "add-trusted-cert",
        "update-ca-certificates",
        "update-ca-trust",
        "addstore",
        "node_extra_ca_certs",
        "trust anchor",
        "import-certificate",
    ],
    check: Check::Unit(hits),
};

patterns! {
    TRUSTS = r"\badd-trusted-cert\b|\bupdate-ca-(?:certificates|trust)\b|\bcertutil(?:\.exe)?\s[^\n]{0,40}-addstore\b|\bImport-Certificate\b|\bNODE_EXTRA_CA_CERTS=|\btrust anchor\b";
    PROXY = r"(?:\bhttps?[_.]?proxy\b|\bproxy-server\b|\bset proxy\b|\bset(?:secure)?webproxy\b|\ball_proxy\b)[^\n]{0,60}?([a-z0-9-]+(?:\.[a-z0-9-]+)+)";
    CERTIFICATE = r"\.(?:crt|cer|pem|der|p7b)\b";
}

/// Both in one place, and the certificate was just fetched from an untrusted host.
fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let Some(trusts) = TRUSTS.find(text.as_bytes()) else { return Vec::new() };
    let is_anybodys =
        |to: &Destination| !matches!(to.kind, Kind::Private | Kind::Vendor) && !to.host.is_empty();
    let through = PROXY.captures_iter(text.as_bytes()).take(20).filter_map(|found| found.get(1));
    let is_through = through
        .map(|host| classify(&format!("http://{}", String::from_utf8_lossy(host.as_bytes()))))
        .any(|to| is_anybodys(&to));
    let brought = unit.commands().steps().filter_map(Step::fetch).any(|fetch| is_anybodys(&fetch.from))
        || links(text).iter().any(|link| is_anybodys(&link.to) && CERTIFICATE.is_match(link.text.as_bytes()));
    if is_through && brought { vec![Hit::at(trusts.range())] } else { Vec::new() }
}
