//! Packages from an index that an attacker on the network path can change.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::address::is_list;
use crate::code::destination::{Kind, classify};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::scan::compiled;
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PACKAGE_INDEX",
    category: Category::SupplyChain,
    severity: Severity::Critical,
    title: "packages from an index that is not to be trusted",
    why: "Whoever runs the index, or sits on the way to it, decides what is installed. Installing runs code.",
    fix: "use the index of the language, or one of your own with https",
    places: ANYWHERE,
    anchors: words![
        "index-url",
        "--registry",
        "--find-links",
        "--trusted-host",
        "registry=http",
        "pip_index_url",
        "uv_index",
        "--index",
        "--default-index",
        "config set",
        "trusted=yes",
        "--allow-unauthenticated",
    ],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let Some(pattern) = OPTION.as_ref() else { return Vec::new() };
    let found = pattern.captures_iter(unit.text().as_bytes()).filter_map(|found| found.get(1));
    let used = is_used(unit);
    found
        .filter_map(|url| {
            let host = classify(&String::from_utf8_lossy(url.as_bytes()));
            let own = matches!(host.kind, Kind::Private);
            let bad = !own && (!host.encrypted || host.is_throwaway());
            let open = host.host.contains(['<', '{', '$', '%'])
                || host.host.starts_with("your")
                || host.host.starts_with("my-");
            let shown = host.kind == Kind::Placeholder && (open || !used);
            let severity = (shown || host.kind == Kind::Vendor).then_some(Severity::Warning);
            bad.then(|| Hit { severity, ..Hit::at(url.range()) })
        })
        .collect()
}

/// Returns true if the index is put to use, so that a placeholder name counts as any other: in a file that a package manager
/// reads, for all that is installed later, or with a trusted host that cannot prove its identity.
fn is_used(unit: &Unit<'_>) -> bool {
    let name =
        unit.view.path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    let text = unit.text();
    is_list(&name)
        || matches!(name.as_str(), ".npmrc" | "pip.conf" | ".yarnrc" | ".yarnrc.yml" | "uv.toml")
        || text.contains("config set") && text.contains("trusted-host")
        || text.contains("trusted=yes")
}

static OPTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r"(?:--(?:extra-)?index-url|--registry|--find-links|--default-index|--index|\bregistry|(?:extra-)?index-url|pip_(?:extra_)?index_url|uv_index(?:_url)?|\bdeb\s+\[[^\]\n]{0,80}trusted=yes[^\]\n]{0,80}\])(?:\s*=\s*|\s+)['\x22]?(https?://[^\s'\x22`)<>]+)";
    compiled(pattern)
});
