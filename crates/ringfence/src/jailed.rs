//! A command in its jail, held and then followed to its end. Runs, learning and sessions all go this way.

use std::io;

use guard::Guard;
use jail::bridge::{Bridges, Closed, Doors, Port};
use jail::{
    Choice, Command, Early, Enforcement, GitStateSnapshot, Held, JailError, Outcome, Provider,
    RemovedInstruction, Running, Spec, Stop,
};

use crate::journal::Journal;

/// Opens the way out of a jail that stands, and returns the step that closes it.
pub(crate) type OpenEgress = Box<dyn FnOnce(&mut Held, &Journal) -> Result<CloseEgress, String> + Send>;

/// Closes the way out of a jail, and returns a line for each refused host.
pub(crate) type CloseEgress = Box<dyn FnOnce() -> Vec<String> + Send>;

/// Makes ways out for the commands of a session.
pub(crate) trait PrepareEgress: Send + Sync {
    /// Prepares the way out of a command, and adds to the spec what programs inside need for it. `guard` decides about hosts, and
    /// `variables` are those that the agent asked for.
    fn prepare(
        &self,
        guard: &Guard,
        variables: &[(String, String)],
        spec: &mut Spec,
    ) -> Result<OpenEgress, String>;

    /// Returns true if a command may go without a network where no provider has that of the broker.
    fn is_optional(&self) -> bool;
}

/// The way out of one command of a session.
pub(crate) struct SessionEgress {
    /// The spec with everything that the way out adds.
    pub(crate) spec: Spec,
    pub(crate) open: OpenEgress,
    /// True if the command may go without a network where no provider has that of the broker.
    pub(crate) is_optional: bool,
}

/// Note on a jail without the broker's network.
pub(crate) const NO_BROKER: &str =
    "this provider has no broker's network: the command has none; `ringfence doctor` says why";

/// A jail that was made. The command waits; dropping this ends it.
pub(crate) struct HeldJail {
    held: Held,
    doors: Doors,
}

/// Explains why no jail was made.
#[derive(Debug)]
pub(crate) enum HoldError<E> {
    /// A step before it failed.
    #[cfg_attr(not(feature = "policy-file"), expect(dead_code, reason = "only runs have such steps"))]
    Run(E),
    /// A port of the host cannot be opened.
    Port(Closed),
    /// The jail cannot be made.
    Jail(JailError),
}

/// Explains why a held command was not released. `E`: the way out of the jail could not be opened.
#[derive(Debug)]
pub(crate) enum ReleaseError<E> {
    /// The way out.
    Egress(E),
    /// Ports cannot be bridged.
    Ports(io::Error),
    /// The jail failed.
    Jail(JailError),
}

impl HeldJail {
    /// Makes the jail and opens the host's side of its ports.
    pub(crate) fn make<E>(
        early: Option<Early>,
        choice: Choice,
        spec: &Spec,
        command: &Command,
        ports: &[Port],
    ) -> Result<Self, HoldError<E>> {
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

    /// Bridges the ports, opens the way out, captures the state of git in the workspace and releases the command.
    pub(crate) fn release<T, E>(
        mut self,
        spec: &Spec,
        open: impl FnOnce(&mut Held) -> Result<T, E>,
    ) -> Result<RunningJail<T>, ReleaseError<E>> {
        let bridges = self.doors.bridge(self.held.listeners(), self.held.sockets());
        let bridges = bridges.map_err(ReleaseError::Ports)?;
        let egress = open(&mut self.held).map_err(ReleaseError::Egress)?;
        let snapshot = GitStateSnapshot::capture(spec);
        let running = self.held.release().map_err(ReleaseError::Jail)?;
        Ok(RunningJail { running, bridges, snapshot, egress })
    }
}

/// A command that runs in its jail. Dropping this ends it.
pub(crate) struct RunningJail<T> {
    running: Running,
    bridges: Bridges,
    snapshot: GitStateSnapshot,
    egress: T,
}

/// The end of a jail.
#[cfg_attr(not(feature = "policy-file"), expect(dead_code, reason = "jobs report them by the last step"))]
pub(crate) struct EndedJail<L> {
    /// Outcome, if the command could be followed to its end.
    pub(crate) outcome: Result<Outcome, JailError>,
    /// Result of the last step.
    pub(crate) last: L,
    /// Note on connections that the ports refused.
    pub(crate) refused_connections: Option<String>,
}

impl<T> RunningJail<T> {
    /// Waits for the end, removes instructions that would make git run a program outside, and calls `last` while the signals
    /// that would end this process are still blocked. It closes the way out.
    pub(crate) fn wait_then<L>(
        self,
        last: impl FnOnce(Result<&Outcome, &JailError>, Vec<RemovedInstruction>, T) -> L,
    ) -> EndedJail<L> {
        let Self { running, bridges, snapshot, egress } = self;
        let (outcome, last) = running.wait_then(|waited| last(waited, snapshot.remove_new(), egress));
        let count = bridges.end();
        let refused_connections =
            (count > 0).then(|| format!("{count} connections to ports were turned away: too many at once"));
        EndedJail { outcome, last, refused_connections }
    }
}
