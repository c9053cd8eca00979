//! A package that comes from an address instead of a registry.

use crate::code::destination::{Destination, Kind, classify};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PACKAGE_ADDRESS",
    category: Category::SupplyChain,
    severity: Severity::Critical,
    title: "a package from an address that nobody answers for",
    why: "Whoever answers at the address, or sits on the way to it, decides what is installed. Installing runs code.",
    fix: "name a package of the registry with its version",
    places: ANYWHERE,
    anchors: words![
        "@ http",
        "@http",
        "git+http",
        ".whl",
        ".tar.gz",
        ".tgz",
        ".zip",
        "source 'http:",
        "source \"http:",
    ],
    check: Check::Unit(hits),
};

patterns! {
    REQUIRED = r"^[\s\x22']*(?:[\w.\[\],-]+\s*@\s*|-e\s+|--editable\s+)?(?:git\+)?(https?://[^\s\x22']+)";
    VALUE = r#""[^"\n]{1,80}"\s*:\s*"(?:git\+)?(https?://[^"\s]+(?:\.tgz|\.tar\.gz|\.zip|\.git)[^"\s]*)""#;
    SOURCE = r#"^\s*source\s+['"](http://[^'"\s]+)['"]"#;
    GROUP = r#""(?:dev|peer|optional|bundled)?dependencies"\s*:\s*\{[^}]*"#;
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let name =
        unit.view.path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    let bytes = unit.text().as_bytes();
    let found = |pattern: &regex::bytes::Regex, within: std::ops::Range<usize>| -> Vec<Hit> {
        let all = pattern.captures_iter(&bytes[within.clone()]).filter_map(|found| found.get(1)).take(20);
        all.filter_map(|url| {
            let severity = weight(&classify(&String::from_utf8_lossy(url.as_bytes())))?;
            let range = within.start + url.start()..within.start + url.end();
            Some(Hit { severity: Some(severity), ..Hit::at(range) })
        })
        .collect()
    };
    let whole = 0..bytes.len();
    match name.as_str() {
        _ if is_list(&name) || name == "pyproject.toml" => found(&REQUIRED, whole),
        "gemfile" => found(&SOURCE, whole),
        "package.json" => {
            GROUP.find_iter(bytes).take(8).flat_map(|group| found(&VALUE, group.range())).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns true if a file lists packages for `pip`.
pub(super) fn is_list(name: &str) -> bool {
    let is_text = name.rsplit_once('.').is_some_and(|(_, ending)| ending == "txt" || ending == "in");
    is_text && (name.contains("requirement") || name.contains("constraints"))
}

/// Rates the source of a list of packages, which is used, not shown: a placeholder name counts as any other.
fn weight(from: &Destination) -> Option<Severity> {
    match from.kind {
        Kind::Private | Kind::UserContent => None,
        Kind::Vendor => (!from.encrypted).then_some(Severity::Note),
        _ if from.is_throwaway() || !from.encrypted => Some(Severity::Critical),
        _ => Some(Severity::Warning),
    }
}
