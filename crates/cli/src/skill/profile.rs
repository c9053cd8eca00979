//! What a skill says that it does -> the narrowest jail profile in which it can do that.

use std::path::Path;

use config::Scope;
use config::edit::Edit;
use skill::{Loaded, Tree};

use crate::failure::Failure;
use crate::report;

/// The profile, as a part of a policy file.
pub(crate) fn of(loaded: &Loaded, _tree: &Tree) -> Result<String, Failure> {
    let name = profile_name(&loaded.name);
    let drawn = |problem: config::Problem| report::failure(&problem.into());
    let mut edit = Edit::new("").map_err(drawn)?;
    let key = |key: &str| format!("profiles.{name}.{key}");
    edit.set(&key("extends"), "readonly").map_err(drawn)?;
    edit.set(&key("network"), "none").map_err(drawn)?;
    edit.finish(Scope::User, Path::new("profile")).map_err(|problems| report::failure(&problems))
}

/// A name that can be a key: what is no letter or digit becomes a dash.
fn profile_name(name: &str) -> String {
    let plain =
        name.chars().take(64).map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
    format!("skill-{}", plain.collect::<String>().trim_matches('-'))
}
