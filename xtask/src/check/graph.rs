//! Allowed dependencies between crates.

use crate::offence::Offence;
use crate::workspace::{Dependency, Kind, Package};

/// The crates and their allowed dependencies. `cli` and `xtask` may use every crate.
const CRATES: &[(&str, &[&str])] = &[
    ("policy", &[]),
    ("shell", &["policy"]),
    ("skill", &["policy", "shell"]),
    ("source", &["policy"]),
    ("audit", &["policy"]),
    ("guard", &["policy", "audit"]),
    ("git", &[]),
    ("jail", &["policy", "git"]),
    ("overlay", &["policy", "git"]),
    ("config", &["policy", "shell", "jail"]),
    ("broker", &["policy", "audit"]),
    (
        "ringfence",
        &[
            "policy", "config", "shell", "skill", "source", "audit", "guard", "git", "jail", "overlay",
            "broker",
        ],
    ),
    ("tools", &["ringfence"]),
    ("gateway", &["ringfence", "tools", "broker"]),
    ("cli", ALL),
    ("xtask", ALL),
    ("fuzz", ALL),
];

const ALL: &[&str] = &["*"];

/// External dependencies that only some crates may have.
const OUTSIDE: &[Limited] = &[
    Limited { dependency: "toml", crates: &["config", "xtask"], in_tests: true },
    Limited { dependency: "toml_edit", crates: &["config", "xtask"], in_tests: true },
    Limited {
        dependency: "tokio",
        crates: &["ringfence", "tools", "broker", "gateway", "cli"],
        in_tests: false,
    },
];

struct Limited {
    dependency: &'static str,
    crates: &'static [&'static str],
    /// True if every crate may have it as a dev-dependency.
    in_tests: bool,
}

impl Limited {
    fn allows(&self, krate: &str, is_test: bool) -> bool {
        self.crates.contains(&krate) || is_test && self.in_tests
    }
}

/// Crates that may not have a dependency with this prefix, except for tests.
const KEPT_OUT: &[(&str, &str)] = &[("policy", "serde")];

/// Checks the packages against the table.
pub(crate) fn check(packages: &[Package]) -> Vec<Offence> {
    packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Package) -> Vec<Offence> {
    let Some((krate, allowed)) = find(&package.name) else {
        return vec![Offence::of(
            &package.name,
            "no such crate; add it to ARCHITECTURE.md and to this check",
        )];
    };
    let home = if matches!(krate, "xtask" | "fuzz") { krate.to_owned() } else { format!("crates/{krate}") };
    let mut texts: Vec<String> =
        package.dependencies.iter().filter_map(|dependency| judge(krate, allowed, dependency)).collect();
    if package.dir != home {
        texts.push(format!("lies in {}, not in {home}", package.dir));
    }
    texts.into_iter().map(|text| Offence::of(&package.name, text)).collect()
}

/// Returns the problem with one dependency of a crate, if any.
fn judge(krate: &str, allowed: &[&str], dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    if !dependency.local {
        return judge_outside(krate, dependency);
    }
    let Some((used, _)) = find(name) else {
        return Some(format!("uses {name}, which is no crate"));
    };
    let fine = allowed == ALL || allowed.contains(&used);
    (!fine).then(|| format!("may not use {used}; it may use {}", list(allowed)))
}

fn judge_outside(krate: &str, dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    let is_test = dependency.kind == Kind::Dev;
    let limited = OUTSIDE.iter().find(|limited| limited.dependency == name);
    if let Some(limited) = limited.filter(|it| !it.allows(krate, is_test)) {
        return Some(format!("may not use {name}; only {} may", list(limited.crates)));
    }
    let kept_out = KEPT_OUT.iter().any(|&(kept, prefix)| krate == kept && name.starts_with(prefix));
    (kept_out && !is_test).then(|| format!("may not use {name}: this crate is kept free of it"))
}

fn list(crates: &[&str]) -> String {
    if crates.is_empty() { "no other crate".into() } else { crates.join(", ") }
}

/// Returns the crate of a package, by the names packages have.
fn find(package: &str) -> Option<(&'static str, &'static [&'static str])> {
    let krate = match package {
        "xtask" | "ringfence" => package,
        _ => package.strip_prefix("ringfence-")?,
    };
    CRATES.iter().copied().find(|&(name, _)| name == krate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offences(package: &str, dependency: (&str, Kind, bool)) -> Vec<String> {
        let (name, kind, local) = dependency;
        let dependencies = vec![Dependency { name: name.into(), kind, local }];
        let krate = package.trim_start_matches("ringfence-");
        let dir = if krate == "xtask" { "xtask".into() } else { format!("crates/{krate}") };
        let package = Package { name: package.into(), dir, dependencies };
        check(&[package]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn edges_of_the_table_are_fine() {
        let rows = [
            ("ringfence-config", "ringfence-jail"),
            ("ringfence-guard", "ringfence-audit"),
            ("ringfence", "ringfence-skill"),
            ("ringfence-tools", "ringfence"),
            ("ringfence-cli", "ringfence-gateway"),
            ("xtask", "ringfence-cli"),
        ];
        for (package, used) in rows {
            assert_eq!(offences(package, (used, Kind::Normal, true)), [""; 0], "{package} -> {used}");
        }
    }

    #[test]
    fn other_edges_are_named() {
        let rows = [
            (
                "ringfence-policy",
                "ringfence-audit",
                "ringfence-policy: may not use audit; it may use no other crate",
            ),
            (
                "ringfence-jail",
                "ringfence-audit",
                "ringfence-jail: may not use audit; it may use policy, git",
            ),
            (
                "ringfence-config",
                "ringfence-cli",
                "ringfence-config: may not use cli; it may use policy, shell, jail",
            ),
            ("ringfence-audit", "leftpad", "ringfence-audit: uses leftpad, which is no crate"),
        ];
        for (package, used, message) in rows {
            for kind in [Kind::Normal, Kind::Build, Kind::Dev] {
                assert_eq!(offences(package, (used, kind, true)), [message]);
            }
        }
    }

    #[test]
    fn what_comes_from_outside_is_limited() {
        let rows = [
            ("ringfence-config", "toml", Kind::Normal, true),
            ("ringfence-policy", "toml", Kind::Dev, true),
            ("ringfence-cli", "toml_edit", Kind::Normal, false),
            ("ringfence-policy", "serde", Kind::Normal, false),
            ("ringfence-policy", "serde_json", Kind::Build, false),
            ("ringfence-policy", "serde_json", Kind::Dev, true),
            ("ringfence-audit", "serde_json", Kind::Normal, true),
            ("ringfence-audit", "tokio", Kind::Dev, false),
            ("ringfence-broker", "tokio", Kind::Normal, true),
        ];
        for (package, used, kind, fine) in rows {
            assert_eq!(offences(package, (used, kind, false)).is_empty(), fine, "{package} -> {used}");
        }
    }

    #[test]
    fn unknown_crates_and_wrong_homes_are_named() {
        let package =
            |name: &str, dir: &str| Package { name: name.into(), dir: dir.into(), dependencies: vec![] };
        let found =
            check(&[package("ringfence-attic", "crates/attic"), package("ringfence-jail", "crates/cage")]);
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found[0], "ringfence-attic: no such crate; add it to ARCHITECTURE.md and to this check");
        assert_eq!(found[1], "ringfence-jail: lies in crates/cage, not in crates/jail");
    }
}
