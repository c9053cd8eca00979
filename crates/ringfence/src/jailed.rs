//! A command in its jail, held and then followed to its end. Runs, learning and sessions all go this way.

use std::io;

use jail::bridge::{Bridges, Closed, Doors, Port};
use jail::{
    Choice, Command, Early, Enforcement, GitStateSnapshot, Held, JailError, Outcome, Provider,
    RemovedInstruction, Running, Spec, Stop,
};

/// A jail that was made. The command waits; dropping this ends it.
pub(crate) struct HeldJail {
    held: Held,
    doors: Doors,
}

/// Explains why no jail was made.
#[derive(Debug)]
pub(crate) enum HoldError {
    /// A port of the host cannot be opened.
    Port(Closed),
    /// The jail cannot be made.
    Jail(JailError),
}

/// Explains why a held command was not released.
#[derive(Debug)]
pub(crate) enum ReleaseError {
    /// Ports cannot be bridged.
    Ports(io::Error),
    /// The jail failed.
    Jail(JailError),
}

impl HeldJail {
    /// Makes the jail and opens the host's side of its ports.
    pub(crate) fn make(
        early: Option<Early>,
        choice: Choice,
        spec: &Spec,
        command: &Command,
        ports: &[Port],
    ) -> Result<Self, HoldError> {
        let doors = Doors::open(ports).map_err(HoldError::Port)?;
        let mut spec = spec.clone();
        (spec.listen, spec.dial) = (doors.listen(), doors.dials());
        let held = match early {
            Some(early) => early.hold(choice, &spec, command),
            None => jail::hold(choice, &spec, command),
        };
        Ok(Self { held: held.map_err(HoldError::Jail)?, doors })
    }

    pub(crate) fn provider(&self) -> Provider {
        self.held.provider()
    }

    pub(crate) fn enforcement(&self) -> &Enforcement {
        self.held.enforcement()
    }

    /// Returns a handle that ends the command from another thread.
    pub(crate) fn stop(&mut self) -> Result<Stop, JailError> {
        self.held.stop()
    }

    /// Captures the state of git in the workspace, bridges the ports and releases the command.
    pub(crate) fn release(mut self, spec: &Spec) -> Result<RunningJail, ReleaseError> {
        let bridges = self.doors.bridge(self.held.listeners(), self.held.sockets());
        let bridges = bridges.map_err(ReleaseError::Ports)?;
        let snapshot = GitStateSnapshot::capture(spec);
        let running = self.held.release().map_err(ReleaseError::Jail)?;
        Ok(RunningJail { running, bridges, snapshot })
    }
}

/// A command that runs in its jail. Dropping this ends it.
pub(crate) struct RunningJail {
    running: Running,
    bridges: Bridges,
    snapshot: GitStateSnapshot,
}

/// The end of a jail.
#[cfg_attr(not(feature = "policy-file"), expect(dead_code, reason = "jobs report them by the last step"))]
pub(crate) struct EndedJail<T> {
    /// Outcome, if the command could be followed to its end.
    pub(crate) outcome: Result<Outcome, JailError>,
    /// Result of the last step.
    pub(crate) last: T,
    /// Note on connections that the ports refused.
    pub(crate) refused_connections: Option<String>,
}

impl RunningJail {
    /// Waits for the end, removes instructions that would make git run a program outside, and calls `last` while the signals
    /// that would end this process are still blocked.
    pub(crate) fn wait_then<T>(
        self,
        last: impl FnOnce(Result<&Outcome, &JailError>, Vec<RemovedInstruction>) -> T,
    ) -> EndedJail<T> {
        let Self { running, bridges, snapshot } = self;
        let (outcome, last) = running.wait_then(|waited| last(waited, snapshot.remove_new()));
        let count = bridges.end();
        let refused_connections =
            (count > 0).then(|| format!("{count} connections to ports were turned away: too many at once"));
        EndedJail { outcome, last, refused_connections }
    }
}
