//! Cause of refused user namespaces: the likeliest explanation that files offer for a measured refusal.

use jail::probe::{Machine, Step};

/// Cause of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// A seccomp filter that was there before us, as container engines install it.
    Filter,
    /// `AppArmor` takes the capabilities of a user namespace away from programs without a profile.
    AppArmor,
    /// An administrator switched them off for ordinary users.
    SwitchedOff,
    /// An administrator set the number to zero, or it is used up.
    Limit,
    /// The kernel was built without them.
    NotBuilt,
    /// Nothing that files show.
    Unknown,
}

impl Cause {
    /// The cause of the first refusal; none if user namespaces work or were not tried.
    pub(super) fn of(machine: &Machine) -> Option<Self> {
        let (step, errno) = machine.namespaces.as_ref().ok()?.first_failure()?;
        if !matches!(step, Step::User | Step::Map) {
            return None;
        }
        let facts = &machine.facts;
        let forbidden = matches!(errno.name(), Some("EPERM" | "EACCES"));
        let filtered = step == Step::User && facts.confined.seccomp == Some(2);
        let ordinary = machine.uid != 0;
        Some(match errno.name() {
            Some("ENOSPC" | "EUSERS") => Self::Limit,
            Some("ENOSYS" | "EINVAL") if !filtered => Self::NotBuilt,
            _ if forbidden && filtered => Self::Filter,
            _ if forbidden && ordinary && facts.apparmor.restricts_userns.is_some_and(on) => Self::AppArmor,
            _ if forbidden && ordinary && facts.userns_clone == Some(0) => Self::SwitchedOff,
            _ => Self::Unknown,
        })
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Filter => "a seccomp filter that was here before us forbids it, as container engines do",
            Self::AppArmor => {
                "AppArmor takes the capabilities away: kernel.apparmor_restrict_unprivileged_userns"
            }
            Self::SwitchedOff => "switched off for ordinary users: kernel.unprivileged_userns_clone = 0",
            Self::Limit => "none left to make: user.max_user_namespaces, or too many inside each other",
            Self::NotBuilt => "this kernel was built without user namespaces",
            Self::Unknown => "forbidden, and no file says by whom: a security module, a filter or a chroot",
        }
    }

    /// Returns the remedy. Nothing here opens more than Ringfence needs: a setting for every program of every user is the
    /// administrator's choice, and is left as it was found.
    pub(super) fn remedy(self, machine: &Machine) -> String {
        let remedy = match self {
            Self::Filter => ALLOW_IN_FILTER,
            Self::AppArmor if machine.facts.apparmor.installed => RELOAD_PROFILE,
            Self::AppArmor => ADD_PROFILE,
            Self::SwitchedOff | Self::Limit => {
                "ask an administrator, whose choice it is for the whole machine"
            }
            Self::NotBuilt => "a kernel with CONFIG_USER_NS=y",
            Self::Unknown => "ask whoever runs this machine",
        };
        let without = if machine.landlock.abi() > 0 { "the `landlock` provider needs none, or " } else { "" };
        format!("{without}{remedy}")
    }
}

fn on(setting: u64) -> bool {
    setting != 0
}

const ALLOW_IN_FILTER: &str = "start the container with --security-opt seccomp=PROFILE.json, a copy of the engine's own \
     profile that also allows unshare, clone, mount, umount2 and pivot_root";

const ADD_PROFILE: &str = "install the program as /usr/bin/ringfence, owned by root, then: printf 'abi <abi/4.0>,\\n\
     include <tunables/global>\\nprofile ringfence /usr/bin/ringfence flags=(unconfined) {\\n  userns,\\n}\\n' | sudo tee \
     /etc/apparmor.d/ringfence && sudo apparmor_parser -r /etc/apparmor.d/ringfence";

const RELOAD_PROFILE: &str = "/etc/apparmor.d/ringfence is there and does not cover this program: start it as \
     /usr/bin/ringfence, or load the profile with: sudo apparmor_parser -r /etc/apparmor.d/ringfence";
