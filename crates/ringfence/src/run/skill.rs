//! A command of a skill (`run --skill`), confined to the needs of the skill's own code.
//!
//! The profile of a skill takes away from the jail and from the policy, and adds nothing but a view of the skill's directory.

use std::path::PathBuf;

use config::{JailSettings, Jailing, Settings, Wish};
use jail::{Mode, Network, View};
use policy::Shown;
use skill::Profile;

use super::error::{RunError, RunErrorKind};

/// Confines a command to the needs of a skill that was scanned, judged and recorded.
#[derive(Debug)]
pub struct SkillConfinement {
    profile: Profile,
    outside: Option<PathBuf>,
}

impl SkillConfinement {
    /// Creates the confinement of a skill; `outside` is its directory, if that is not in the workspace.
    #[must_use]
    pub fn new(profile: Profile, outside: Option<PathBuf>) -> Self {
        Self { profile, outside }
    }

    /// Adds a view of the skill, as far as the policy admits it.
    pub(crate) fn show(&self, wish: &mut Wish) {
        let view = self.outside.iter().map(|path| View { path: path.clone(), mode: Mode::ReadOnly });
        wish.views.extend(view);
    }

    /// Takes away rights that the skill's code does not need.
    pub(crate) fn narrow_jail(&self, settings: &mut JailSettings) -> Result<(), RunError> {
        if let Jailing::Never(rule) | Jailing::WhereAvailable(rule) = &settings.jailing {
            let error = RunError::new("a command of a skill is run in a jail or not at all");
            return Err(error.hint(format!("the jail is not required ({rule})")).kind(RunErrorKind::Refused));
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

    /// Returns a note on the hosts of the skill, none of which can be reached.
    pub(crate) fn note(&self) -> Option<String> {
        let hosts: Vec<_> = self.profile.hosts.iter().map(|host| Shown::text(host).to_string()).collect();
        let name = Shown::text(&self.profile.name);
        (!hosts.is_empty()).then(|| {
            let hosts = hosts.join(", ");
            format!("the skill {name} wants to reach {hosts}; commands of a skill have no network")
        })
    }
}
