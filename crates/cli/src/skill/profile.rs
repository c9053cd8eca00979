//! Derives the narrowest jail profile in which a skill can do what its code does, as far as the code tells.

use std::path::Path;

use config::Scope;
use config::edit::Edit;
use policy::Shown;
use skill::{Loaded, Need, Needs};

use crate::failure::Failure;
use crate::report;

/// The profile, as a part of a policy file. It begins with nothing: the workspace is readable, no host is reachable; it can be changed only
/// if the skill's code changes files there. What the code needs outside the workspace stands in the text and is not given: a person
/// has to agree. Everything the skill tries beyond that fails, and is recorded under the name of the profile. `outside` is the path of the
/// skill, if that is not in the workspace.
pub(crate) fn of(loaded: &Loaded, needs: &Needs, outside: Option<&Path>) -> Result<String, Failure> {
    let name = profile_name(&loaded.name);
    let drawn = |problem: config::Problem| report::failure(&problem.into());
    let mut edit = Edit::new("").map_err(drawn)?;
    let key = |key: &str| format!("profiles.{name}.{key}");
    let writes = needs.writes.iter().any(|need| is_inside(&need.name));
    let base = if writes { "workspace-write-no-network" } else { "readonly" };
    edit.set(&key("extends"), base).map_err(drawn)?;
    edit.set(&key("network"), "none").map_err(drawn)?;
    if let Some(path) = outside {
        let text = path.to_str().ok_or_else(|| {
            Failure::new(format!("{} cannot be written in a policy: it is no text", Shown::path(path)))
        })?;
        edit.extend(&key("read"), &[text.to_owned()]).map_err(drawn)?;
    }
    let text =
        edit.finish(Scope::User, Path::new("profile")).map_err(|problems| report::failure(&problems))?;
    let part = text.split_once("\n\n").map_or(text.as_str(), |(_, part)| part);
    Ok(format!("# ringfence run --profile {name} -- COMMAND\n{part}{}", asked(needs)))
}

/// Lists the needs of the code beyond the profile, for a person to agree with, line by line.
fn asked(needs: &Needs) -> String {
    let beyond =
        |list: &[Need]| list.iter().filter(|need| !is_inside(&need.name)).cloned().collect::<Vec<_>>();
    let rows = [
        ("read", beyond(&needs.reads)),
        ("write", beyond(&needs.writes)),
        ("host", needs.hosts.clone()),
        ("variable", needs.variables.clone()),
        ("program", needs.programs.clone()),
        ("tool", needs.tools.clone()),
    ];
    let mut lines = Vec::new();
    for (kind, list) in rows {
        let shown = list.iter().take(MOST).map(|need| {
            let (name, path) = (Shown::text(&need.name), Shown::path(&need.path));
            format!("# {kind:8} {name} ({path}:{})\n", need.line)
        });
        lines.extend(shown);
        if list.len() > MOST {
            lines.push(format!("# {kind:8} and {} more\n", list.len() - MOST));
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let head =
        "\n# Its code also asks for these. None of the first four is given; add what you agree with.\n";
    format!("{head}{}", lines.concat())
}

/// Maximum number of items listed of each kind.
const MOST: usize = 40;

/// Returns true if a path is one of the workspace.
fn is_inside(path: &str) -> bool {
    !path.starts_with(['/', '~', '\\']) && !path.split('/').any(|part| part == "..")
}

/// A name that can be a key: what is no letter or digit becomes a dash.
fn profile_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let plain: String = name.chars().take(64).map(plain).collect();
    format!("skill-{}", plain.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_a_name_that_can_be_a_key() {
        for (name, expected) in
            [("pdf-tools", "skill-pdf-tools"), ("A b.c\u{1b}", "skill-a-b-c"), ("é", "skill-")]
        {
            assert_eq!(profile_name(name), expected, "{name}");
        }
    }
}
