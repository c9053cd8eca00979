//! An operating system that is not supported: everything is absent, so nothing is promised.

use std::path::Path;
use std::process;
use std::time::Duration;

use crate::host::probe::{
    Actions, AppArmor, Bwrap, Cgroup, Confined, Errno, Hierarchy, HostFacts, Landlock, Namespaces, Object,
    Unmeasured,
};

/// A number that no account has.
pub(crate) fn uid() -> u32 {
    u32::MAX
}

pub(crate) fn is_typed(_: std::os::fd::BorrowedFd<'_>) -> bool {
    false
}

pub(crate) fn errno_name(_: Errno) -> Option<&'static str> {
    None
}

pub(crate) fn landlock() -> Landlock {
    Landlock::OtherSystem
}

pub(crate) fn actions() -> Actions {
    Actions { kill_process: Err(NOT_THERE), errno: Err(NOT_THERE), notify: Err(NOT_THERE) }
}

pub(crate) fn namespaces_here() -> Result<Namespaces, Unmeasured> {
    Err(Unmeasured::OtherSystem)
}

pub(crate) fn run_bounded(_: process::Command, _: Duration) -> Result<Vec<u8>, Unmeasured> {
    Err(Unmeasured::OtherSystem)
}

pub(crate) fn bubblewrap(_: &Path, _: Duration) -> Bwrap {
    Bwrap::Absent
}

pub(crate) fn cgroup(_: &Path) -> Cgroup {
    Cgroup { hierarchy: Hierarchy::None, missing: Some("not on this operating system".to_owned()) }
}

pub(crate) fn object(_: &Path) -> Result<Object, Errno> {
    Err(NOT_THERE)
}

pub(crate) fn host_facts(_: &Path) -> HostFacts {
    HostFacts {
        release: None,
        machine: std::env::consts::ARCH.to_owned(),
        distribution: None,
        family: Vec::new(),
        modules: None,
        apparmor: AppArmor::default(),
        selinux: None,
        ptrace_scope: None,
        userns_clone: None,
        max_user_namespaces: None,
        confined: Confined::default(),
        containers: Vec::new(),
    }
}

/// No number that any system uses for something else.
const NOT_THERE: Errno = Errno::UNKNOWN;

use crate::enforcement::Enforcement;
use crate::launch::{Command, JailError, Outcome, Provider};
use crate::plan::{Conflict, Sight};
use crate::spec::{Looked, Spec};

/// There is no jail here, so there is no value of this type.
pub(crate) enum Held {}
/// As above.
pub(crate) enum Running {}
/// As above.
#[derive(Clone)]
pub(crate) enum Stop {}

/// As above.
#[derive(Clone)]
pub(crate) enum Questions {}

impl Questions {
    pub(crate) fn ask(&self, _: &str, _: std::time::Duration) -> Option<String> {
        match *self {}
    }
}

/// As above.
pub(crate) enum ProgramLookup {}

impl ProgramLookup {
    pub(crate) fn find(
        &self,
        _: std::net::SocketAddr,
        _: std::net::SocketAddr,
    ) -> Option<crate::broker_network::ConnectedProgram> {
        match *self {}
    }
}

impl Stop {
    pub(crate) fn ask(&self) {
        match *self {}
    }
}

impl Held {
    pub(crate) fn enforcement(&self) -> &Enforcement {
        match *self {}
    }

    pub(crate) fn listeners(&mut self) -> Vec<std::net::TcpListener> {
        match *self {}
    }

    pub(crate) fn dialers(&mut self) -> Vec<std::os::fd::OwnedFd> {
        match *self {}
    }

    pub(crate) fn broker_sockets(&mut self) -> Option<crate::broker_network::BrokerSockets> {
        match *self {}
    }

    pub(crate) fn program_lookup(&self, _: std::os::fd::OwnedFd) -> Option<ProgramLookup> {
        match *self {}
    }

    pub(crate) fn stop(&mut self) -> Result<Stop, JailError> {
        match *self {}
    }

    pub(crate) fn questions(&mut self) -> Result<Questions, JailError> {
        match *self {}
    }

    pub(crate) fn release(self) -> Result<Running, JailError> {
        match self {}
    }
}

impl Running {
    pub(crate) fn restore_terminal() {}

    pub(crate) fn wait_then<T>(
        self,
        _: impl FnOnce(&mut Result<Outcome, JailError>) -> T,
    ) -> (Result<Outcome, JailError>, T) {
        match self {}
    }
}

/// As above.
pub(crate) enum Early {}

pub(crate) fn early() -> Option<Early> {
    None
}

pub(crate) fn sight(spec: &Spec) -> Result<Sight, Conflict> {
    Err(Conflict::Missing(spec.workspace.clone()))
}

pub(crate) fn look(_: &Spec, _: Option<&Path>) -> Result<Looked, Conflict> {
    Ok(Looked::default())
}

pub(crate) fn hold(provider: Provider, _: Option<Early>, _: &Spec, _: &Command) -> Result<Held, JailError> {
    Err(JailError::Unavailable { provider, what: "confine anything on this system".to_owned(), errno: None })
}
