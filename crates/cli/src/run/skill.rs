//! `run --skill`: a command of a skill, with no more than the skill's own code needs.
//!
//! The skill is loaded as `skill load` does it: scanned, judged, recorded. Its profile takes away from the jail and the policy in
//! force and adds nothing but the sight of the skill's own directory.

use std::path::{Path, PathBuf};

use config::{JailSettings, Jailing, Settings, Wish};
use jail::{Mode, Network, View};
use policy::Shown;
use ringfence::run::Host;
use skill::Profile;

use super::RunArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::skill::load_profile;

/// The skill whose command is run.
pub(crate) struct RunSkill {
    profile: Profile,
    /// Where it lies, if that is not in the workspace.
    outside: Option<PathBuf>,
}

impl RunSkill {
    /// Loads the skill that was asked for. One that is blocked, or not what was pinned, runs nothing.
    pub(crate) fn load(args: &RunArgs, policy: &Settings, around: &Host) -> Result<Option<Self>, Failure> {
        let Some(name) = &args.skill else { return Ok(None) };
        let path = found(name, around)?;
        let lock = args.skill_lock.as_deref();
        let (profile, outside) = load_profile(&path, lock, policy, around).map_err(refused)?;
        Ok(Some(Self { profile, outside }))
    }

    /// Lets the command see the skill, as far as the policy does.
    pub(crate) fn show(&self, wish: &mut Wish) {
        let view = self.outside.iter().map(|path| View { path: path.clone(), mode: Mode::ReadOnly });
        wish.views.extend(view);
    }

    /// Takes away what the skill's code does not need.
    pub(crate) fn narrow_jail(&self, settings: &mut JailSettings) -> Result<(), Failure> {
        if let Jailing::Never(rule) | Jailing::WhereAvailable(rule) = &settings.jailing {
            let failure = Failure::new("a command of a skill is run in a jail or not at all");
            return Err(failure.hint(format!("the jail is not required ({rule})")).exit(Exit::Refused));
        }
        (settings.network, settings.network_rule) = (Network::None, None);
        settings.ports.clear();
        if !self.profile.writes {
            settings.writable = false;
            let writable = settings.views.iter_mut().filter(|view| view.mode == Mode::ReadWrite);
            writable.for_each(|view| view.mode = Mode::ReadOnly);
        }
        Ok(())
    }

    /// Denies every program that is not the skill's.
    pub(crate) fn narrow_policy(&self, mut policy: Settings) -> Settings {
        policy.chain = policy.chain.narrowed_by(self.profile.clone().link());
        policy
    }

    /// What a person should know: hosts are listed, and none can be reached.
    pub(crate) fn note(&self) -> Option<String> {
        let hosts: Vec<_> = self.profile.hosts.iter().map(|host| Shown::text(host).to_string()).collect();
        let name = Shown::text(&self.profile.name);
        (!hosts.is_empty()).then(|| {
            let hosts = hosts.join(", ");
            format!("the skill {name} wants to reach {hosts}; there is no broker yet, so it has no network")
        })
    }
}

/// Nothing is run: an exit code of its own would be taken for the command's.
fn refused(failure: Failure) -> Failure {
    match failure.exit {
        Exit::Blocked | Exit::Ask => failure.exit(Exit::Refused),
        _ => failure,
    }
}

/// Where skills usually lie, below the workspace and below the home directory.
const PLACES: &[&str] = &["skills", ".claude/skills", ".agents/skills", ".codex/skills"];

/// The directory of a skill: a path as it was typed, or a name in the usual places.
fn found(name: &Path, around: &Host) -> Result<PathBuf, Failure> {
    if name.components().count() != 1 || around.cwd.join(name).join("SKILL.md").exists() {
        return Ok(around.cwd.join(name));
    }
    let tops = [Some(&around.places.workspace), around.places.home.as_ref()];
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
