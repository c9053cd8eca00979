//! `run --skill`: finds the skill whose command is run and loads it as `skill load` does: scanned, judged, recorded.

use std::path::{Path, PathBuf};

use config::Settings;
use policy::Shown;
use ringfence::run::{Host, SkillConfinement};

use super::RunArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::skill::load_profile;

/// Loads the skill that was asked for. One that is blocked, or does not match its pin, runs nothing.
pub(crate) fn load(
    args: &RunArgs,
    policy: &Settings,
    host: &Host,
) -> Result<Option<SkillConfinement>, Failure> {
    let Some(name) = &args.skill else { return Ok(None) };
    let path = find(name, host)?;
    let lock = args.skill_lock.as_deref();
    let (profile, outside) = load_profile(&path, lock, policy, host).map_err(refused)?;
    Ok(Some(SkillConfinement::new(profile, outside)))
}

/// Changes the exit code of a skill that is not loaded: its own would be taken for the command's.
fn refused(failure: Failure) -> Failure {
    match failure.exit {
        Exit::Blocked | Exit::Ask => failure.exit(Exit::Refused),
        _ => failure,
    }
}

/// Usual directories of skills, below the workspace and below the home directory.
const PLACES: &[&str] = &["skills", ".claude/skills", ".agents/skills", ".codex/skills"];

/// Finds the directory of a skill: a path as it was typed, or a name in the usual directories.
fn find(name: &Path, host: &Host) -> Result<PathBuf, Failure> {
    if name.components().count() != 1 || host.cwd.join(name).join("SKILL.md").exists() {
        return Ok(host.cwd.join(name));
    }
    let tops = [Some(&host.places.workspace), host.places.home.as_ref()];
    let all = tops.into_iter().flatten().flat_map(|top| PLACES.iter().map(move |place| top.join(place)));
    let mut known: Vec<_> = all.map(|place| place.join(name)).filter(|path| path.is_dir()).collect();
    let shown = Shown::path(name);
    match (known.pop(), known.as_slice()) {
        (Some(path), []) => Ok(path),
        (Some(path), others) => {
            let mut failure = Failure::usage(format!("there are several skills called {shown}"));
            let paths = others.iter().chain([&path]);
            failure.causes.extend(paths.map(|path| Shown::path(path).to_string()));
            Err(failure.hint("name the directory"))
        }
        (None, _) => {
            let failure = Failure::usage(format!("there is no skill called {shown}"));
            Err(failure.hint(format!("name its directory, or put it in one of {}", PLACES.join(", "))))
        }
    }
}
