//! Packages from an index that anybody on the way can change.

use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::destination::{Kind, classify};
use crate::rule::{Category, Check, Hit, Rule, Severity, file, text};
use crate::scan::compiled;
use crate::unit::{ANYWHERE, Unit};

pub(super) const RULE: Rule = Rule {
    id: "PACKAGE_INDEX",
    category: Category::SupplyChain,
    severity: Severity::Critical,
    title: "packages from an index that is not to be trusted",
    why: "Whoever runs the index, or sits on the way to it, decides what is installed. Installing runs code.",
    fix: "use the index of the language, or one of your own with https",
    places: ANYWHERE,
    anchors: &[
        "index-url",
        "--registry",
        "--find-links",
        "--trusted-host",
        "registry=http",
        "pip_index_url",
        "uv_index",
        "--index",
        "--default-index",
    ],
    check: Check::Unit(hits),
    hits: &[
        text("pip install --index-url http://packages.collect.site/simple x"),
        text("```sh\nnpm install x --registry=http://8.8.4.4:4873\n```"),
        file("requirements.txt", "--extra-index-url http://packages.collect.site/simple\nx==1\n"),
        file(".npmrc", "registry=http://packages.collect.site/\n"),
    ],
    misses: &[
        text("pip install torch --index-url https://download.pytorch.org/whl/cpu"),
        text("pip install --index-url https://test.pypi.org/simple x"),
        text("```sh\nnpm install --registry http://localhost:4873\n```"),
        text("az acr build --registry myregistry --image app:v1 ."),
        text("npm publish --registry https://npm.pkg.github.com"),
    ],
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let Some(pattern) = OPTION.as_ref() else { return Vec::new() };
    let found = pattern.captures_iter(unit.text().as_bytes()).filter_map(|found| found.get(1));
    found
        .filter_map(|url| {
            let host = classify(&String::from_utf8_lossy(url.as_bytes()));
            let own = matches!(host.kind, Kind::Private);
            let bad = !own && (!host.encrypted || host.is_throwaway());
            let severity = (host.kind == Kind::Placeholder).then_some(Severity::Warning);
            bad.then(|| Hit { severity, ..Hit::at(url.range()) })
        })
        .collect()
}

static OPTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r"(?:--(?:extra-)?index-url|--registry|--find-links|--default-index|--index|\bregistry|(?:extra-)?index-url|pip_(?:extra_)?index_url|uv_index(?:_url)?)(?:\s*=\s*|\s+)['\x22]?(https?://[^\s'\x22`)<>]+)";
    compiled(pattern)
});
