//! What a skill says that it does -> the narrowest jail profile in which it can do that.

use std::path::Path;

use config::Scope;
use config::edit::Edit;
use policy::Shown;
use skill::Loaded;

use crate::failure::Failure;
use crate::report;

/// The profile, as a part of a policy file. It begins with nothing: the workspace can be read, nothing can be changed, nobody can be reached.
/// Whatever the skill tries beyond that fails, and is recorded under the name of the profile. `outside` is where the skill lies, if that is
/// not in the workspace.
pub(crate) fn of(loaded: &Loaded, outside: Option<&Path>) -> Result<String, Failure> {
    let name = profile_name(&loaded.name);
    let drawn = |problem: config::Problem| report::failure(&problem.into());
    let mut edit = Edit::new("").map_err(drawn)?;
    let key = |key: &str| format!("profiles.{name}.{key}");
    edit.set(&key("extends"), "readonly").map_err(drawn)?;
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
    Ok(format!("# ringfence run --profile {name} -- COMMAND\n{part}"))
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
