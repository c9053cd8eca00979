//! Lints of every package.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use crate::offence::Offence;

/// Lints that the workspace may not lose or weaken.
const FLOOR: &[(&str, &str)] = &[
    ("rust.unsafe_code", "forbid"),
    ("rust.missing_docs", "warn"),
    ("rust.unreachable_pub", "warn"),
    ("clippy.pedantic", "warn"),
    ("clippy.undocumented_unsafe_blocks", "deny"),
    ("clippy.unwrap_used", "deny"),
    ("clippy.expect_used", "deny"),
    ("clippy.let_underscore_must_use", "deny"),
    ("clippy.print_stdout", "deny"),
    ("clippy.print_stderr", "deny"),
    ("clippy.exit", "deny"),
    ("clippy.allow_attributes_without_reason", "deny"),
];

/// The only manifest that may write the list out, because it needs `unsafe`.
const EXCEPTION: &str = "crates/jail/Cargo.toml";

/// The lint that the exception may leave out.
const LEFT_OUT: &str = "rust.unsafe_code";

/// A manifest by its path in the repository.
pub(crate) struct Manifest {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Holds the workspace's lints against the floor, and each package's lints against the workspace's.
pub(crate) fn check(workspace: &Manifest, packages: &[Manifest]) -> Vec<Offence> {
    match lints(workspace, &["workspace", "lints"]) {
        Ok(list) => below_floor(workspace, &list)
            .chain(packages.iter().flat_map(|package| check_package(package, &list)))
            .collect(),
        Err(offence) => vec![offence],
    }
}

/// Lints with their levels, as `tool.lint`.
type Levels = BTreeMap<String, String>;

fn below_floor(workspace: &Manifest, list: &Levels) -> impl Iterator<Item = Offence> {
    let weak = FLOOR.iter().filter(|(lint, level)| list.get(*lint).is_none_or(|have| have != level));
    weak.map(|(lint, level)| Offence::of(&workspace.path, format!("lint {lint} is not \"{level}\"")))
}

fn check_package(package: &Manifest, workspace: &Levels) -> Vec<Offence> {
    let own = match lints(package, &["lints"]) {
        Ok(own) => own,
        Err(offence) => return vec![offence],
    };
    if own.get("workspace").is_some_and(|value| value == "true") {
        return Vec::new();
    }
    if package.path != EXCEPTION {
        return vec![Offence::of(&package.path, "does not say [lints] workspace = true")];
    }
    differences(&own, workspace).into_iter().map(|text| Offence::of(&package.path, text)).collect()
}

/// Returns the differences of a list written out from the workspace's: it may add lints, not lose or allow any.
fn differences(own: &Levels, workspace: &Levels) -> Vec<String> {
    let lost = workspace
        .iter()
        .filter(|(lint, level)| lint.as_str() != LEFT_OUT && own.get(*lint) != Some(level))
        .map(|(lint, level)| format!("lint {lint} is not \"{level}\" as in the workspace"));
    let allowed = own
        .iter()
        .filter(|(lint, level)| !workspace.contains_key(*lint) && *level == "allow")
        .map(|(lint, _)| format!("lint {lint} is allowed here and not in the workspace"));
    lost.chain(allowed).collect()
}

fn lints(manifest: &Manifest, path: &[&str]) -> Result<Levels, Offence> {
    let parsed = DeTable::parse(&manifest.text)
        .map_err(|error| Offence::of(&manifest.path, error.message().to_owned()))?;
    let mut table = parsed.get_ref();
    for key in path {
        match table.get(*key).and_then(|value| value.get_ref().as_table()) {
            Some(inner) => table = inner,
            None => return Ok(Levels::new()),
        }
    }
    Ok(table.iter().flat_map(|(tool, value)| levels(tool.get_ref(), value.get_ref())).collect())
}

fn levels(tool: &str, value: &DeValue<'_>) -> Vec<(String, String)> {
    match value {
        DeValue::Table(lints) => {
            let level = |value: &DeValue<'_>| value.get("level").map_or(text(value), |it| text(it.get_ref()));
            lints
                .iter()
                .map(|(lint, it)| (format!("{tool}.{}", lint.get_ref()), level(it.get_ref())))
                .collect()
        }
        value => vec![(tool.to_owned(), text(value))],
    }
}

fn text(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Boolean(truth) => truth.to_string(),
        other => other.type_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> String {
        let line = |tool: &str| {
            let of_tool = FLOOR.iter().filter_map(|(lint, level)| Some((lint.strip_prefix(tool)?, level)));
            of_tool.map(|(lint, level)| format!("{} = '{level}'\n", &lint[1..])).collect::<Vec<_>>().concat()
        };
        format!("[workspace.lints.rust]\n{}[workspace.lints.clippy]\n{}", line("rust"), line("clippy"))
    }

    fn offences(workspace: &str, path: &str, package: &str) -> Vec<String> {
        let manifest = |path: &str, text: &str| Manifest { path: path.into(), text: text.into() };
        let found = check(&manifest("Cargo.toml", workspace), &[manifest(path, package)]);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn inherited_lists_are_fine() {
        for text in ["[lints]\nworkspace = true", "lints.workspace = true"] {
            assert_eq!(offences(&workspace(), "crates/a/Cargo.toml", text), [""; 0]);
        }
    }

    #[test]
    fn a_package_without_the_list_is_named() {
        for text in ["", "[lints]\nworkspace = false", "[lints.rust]\nunsafe_code = 'forbid'"] {
            let message = "crates/a/Cargo.toml: does not say [lints] workspace = true";
            assert_eq!(offences(&workspace(), "crates/a/Cargo.toml", text), [message]);
        }
    }

    #[test]
    fn the_jail_writes_the_same_list_out() {
        let own = workspace().replace("workspace.", "").replace("unsafe_code = 'forbid'\n", "");
        assert_eq!(offences(&workspace(), EXCEPTION, &own), [""; 0]);
        let rows = [
            (own.replace("exit = 'deny'\n", ""), "lint clippy.exit is not \"deny\" as in the workspace"),
            (
                own.replace("'deny'\nexit", "'warn'\nexit"),
                "lint clippy.print_stderr is not \"deny\" as in the workspace",
            ),
            (
                own.clone() + "cast_lossless = 'allow'",
                "lint clippy.cast_lossless is allowed here and not in the workspace",
            ),
        ];
        for (text, message) in rows {
            assert_eq!(offences(&workspace(), EXCEPTION, &text), [format!("{EXCEPTION}: {message}")]);
        }
    }

    #[test]
    fn a_weaker_workspace_is_named() {
        let text = workspace().replace("unsafe_code = 'forbid'", "unsafe_code = 'deny'");
        let found = offences(&text, "crates/a/Cargo.toml", "lints.workspace = true");
        assert_eq!(found, ["Cargo.toml: lint rust.unsafe_code is not \"forbid\""]);
    }

    #[test]
    fn a_level_may_come_with_a_priority() {
        let text = workspace().replace("pedantic = 'warn'", "pedantic = { level = 'warn', priority = -1 }");
        assert_eq!(offences(&text, "crates/a/Cargo.toml", "lints.workspace = true"), [""; 0]);
    }
}
