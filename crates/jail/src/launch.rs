//! From a spec to a process that runs confined, in three steps that cannot be skipped.
//!
//! [`hold`] makes the jail, with every layer on and tried, and stops before foreign code: the holder of a [`Held`] can see what is
//! really enforced, and nothing has run yet. [`Held::release`] lets the command go, [`Running::wait`] follows it to its end.
//!
//! A jail lives no longer than the thread that holds it: its death is the end of everything inside. A pool that lets its threads
//! end takes their jails with them, so neither [`Held`] nor [`Running`] can be given to another thread:
//!
//! ```compile_fail,E0277
//! fn given_away<T: Send>() {}
//! given_away::<ringfence_jail::Held>();
//! ```
//! ```compile_fail,E0277
//! fn given_away<T: Send>() {}
//! given_away::<ringfence_jail::Running>();
//! ```

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use policy::{Code, ProtectedName, Shown};

use crate::enforcement::{Enforcement, Layer, Level};
use crate::host::probe::Errno;
use crate::masks::Masked;
use crate::plan::{Conflict, Sight};
use crate::protected_names::{Beside, check_settings, kept};
use crate::resources::Overrun;
use crate::spec::Spec;
use crate::sys;
use crate::uses::Uses;

/// Command that is started in a jail.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program and its arguments. A program without a slash is looked up in the `PATH` of the spec's environment.
    pub argv: Vec<OsString>,
    /// Directory in which it starts, inside.
    pub cwd: PathBuf,
    /// Targets of its standard streams.
    pub streams: Streams,
    /// True if uses and refusals are observed and told, see [`Uses`] and [`Denial`].
    pub observe: bool,
}

/// Targets of the standard streams of a command.
#[derive(Debug, Clone)]
pub enum Streams {
    /// To the caller's: a terminal through one of the jail's own, files and sockets through pipes. Signals to the caller
    /// reach the command.
    Inherit,
    /// Nothing to read but this, and what is written is kept: so much of its beginning and its end.
    Captured(Capture),
}

/// Input of a command, and the amount that is kept of what it writes.
#[derive(Clone)]
pub struct Capture {
    /// Standard input. Empty is the end at once.
    pub input: Vec<u8>,
    /// Number of bytes kept of each stream, half from the beginning and half from the end.
    pub keep: usize,
    /// Second receiver of what is written, while it is written.
    pub tee: Option<Arc<dyn Tee>>,
}

impl Capture {
    /// Nothing to read, and so many bytes kept of each stream.
    #[must_use]
    pub const fn keeping(keep: usize) -> Self {
        Self { input: Vec::new(), keep, tee: None }
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { input, keep, tee } = self;
        f.debug_struct("Capture")
            .field("input", input)
            .field("keep", keep)
            .field("tee", &tee.is_some())
            .finish()
    }
}

/// Receiver that follows what a command writes.
pub trait Tee: Send + Sync {
    /// Gets the next bytes of a stream: all of them, in order, from the thread that follows the command. Limits are not
    /// looked at until it comes back.
    fn write(&self, stream: Stream, bytes: &[u8]);
}

/// One of the streams that a command writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// An implementation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Namespaces, Landlock and seccomp by ourselves.
    Native,
    /// The same tree by `bwrap`.
    Bubblewrap,
    /// Landlock and seccomp, where there are no namespaces.
    Landlock,
}

impl Provider {
    /// Every one, the strongest first.
    pub const ALL: [Self; 3] = [Self::Native, Self::Bubblewrap, Self::Landlock];

    /// The word of the policy file.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
        }
    }
}

/// Which implementation is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The strongest that works here and can express the spec.
    Auto,
    /// This one or none.
    Only(Provider),
}

impl Choice {
    /// Reads the word of a policy file: `auto`, or the name of a provider.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let known = Provider::ALL.into_iter().find(|provider| provider.word() == word);
        if word == "auto" { Some(Self::Auto) } else { known.map(Self::Only) }
    }

    fn providers(&self) -> &[Provider] {
        match self {
            Self::Auto => &Provider::ALL,
            Self::Only(provider) => std::slice::from_ref(provider),
        }
    }
}

/// Makes a jail and stops before the command.
///
/// Fails if a layer is weaker than the spec requires; then nothing has run.
pub fn hold(choice: Choice, spec: &Spec, command: &Command) -> Result<Held, JailError> {
    Early(None).hold(choice, spec, command)
}

/// Returns what a jail of this spec would let a program see on this machine. Nothing is made.
pub fn sight(spec: &Spec) -> Result<Sight, Conflict> {
    sys::sight(&spec.toolchains.put_into(spec, Provider::Native))
}

/// A jail that was begun before its spec was known.
///
/// The kernel takes as long to make namespaces as a policy takes to load. A caller that begins early has both at once:
///
/// ```no_run
/// let early = ringfence_jail::Early::begin();
/// # fn load() -> (ringfence_jail::Spec, ringfence_jail::Command) { unimplemented!() }
/// let (spec, command) = load();
/// let held = early.hold(ringfence_jail::Choice::Auto, &spec, &command)?;
/// # Ok::<(), ringfence_jail::JailError>(())
/// ```
pub struct Early(Option<sys::Early>);

impl Early {
    /// Begins. Where that is not possible nothing is lost: [`Early::hold`] then says why.
    #[must_use]
    pub fn begin() -> Self {
        Self(sys::early())
    }

    /// Goes on as [`hold`] does.
    pub fn hold(mut self, choice: Choice, spec: &Spec, command: &Command) -> Result<Held, JailError> {
        let wanted = choice.providers();
        let mut refusals = Vec::new();
        for &provider in wanted {
            match hold_with(provider, self.0.take(), spec, command) {
                Err(refusal) if refusal.is_about_the_machine() => refusals.push((provider, refusal)),
                other => return other,
            }
        }
        Err(JailError::best(refusals))
    }
}

fn hold_with(
    provider: Provider,
    early: Option<sys::Early>,
    spec: &Spec,
    command: &Command,
) -> Result<Held, JailError> {
    let mut whole = spec.clone();
    whole.close_parents();
    match provider {
        Provider::Native | Provider::Bubblewrap => whole.look(None)?,
        // Landlock cannot hide a part of what it shows.
        Provider::Landlock => whole.masks.clear(),
    }
    let spec = &whole.toolchains.put_into(&whole, provider);
    let spec = match provider {
        Provider::Native | Provider::Bubblewrap => {
            check_settings(spec).map_err(JailError::Conflict)?;
            let supervised = provider == Provider::Native;
            let mut kept = kept(spec, if supervised { Beside::Supervisor } else { Beside::Nothing });
            kept.retain(|path| spec.masks.iter().all(|mask| !path.starts_with(&mask.path)));
            spec.keeping(kept)
        }
        // Landlock cannot protect a part of what may be changed.
        Provider::Landlock => Cow::Borrowed(spec),
    };
    let held = sys::hold(provider, early, &spec, command)?;
    match held.enforcement().below(&spec.require) {
        None => Ok(Held { provider, jail: held, masked: Masked::of(&spec) }),
        Some(layer) => {
            let reached = held.enforcement().reached(layer);
            Err(JailError::Below {
                layer,
                wanted: spec.require.least(layer),
                reached: reached.level,
                gap: reached.gap.clone(),
            })
        }
    }
}

/// A jail that is made, with a command that has not started.
pub struct Held {
    provider: Provider,
    pub(crate) jail: sys::Held,
    masked: Masked,
}

impl Held {
    /// Which implementation made it.
    #[must_use]
    pub const fn provider(&self) -> Provider {
        self.provider
    }

    /// Returns what is really enforced.
    #[must_use]
    pub fn enforcement(&self) -> &Enforcement {
        self.jail.enforcement()
    }

    /// Returns the sockets that [`Spec::listen`] asks for, in its order: they are in the jail's own network, and a process that connects to
    /// them inside is accepted here. This is how something outside becomes the only way out.
    #[must_use]
    pub fn listeners(&mut self) -> Vec<TcpListener> {
        self.jail.listeners()
    }

    /// Returns the sockets that [`Spec::dial`] asks for: they are in the jail's own network, regardless of which process connects them.
    #[must_use]
    pub fn sockets(&mut self) -> Vec<OwnedFd> {
        self.jail.dialers()
    }

    /// Returns a handle that ends the command from another thread. Asked before the command is released, it ends it at once.
    pub fn stop(&mut self) -> Result<Stop, JailError> {
        self.jail.stop().map(Stop)
    }

    /// Lets the command go.
    pub fn release(self) -> Result<Running, JailError> {
        let Self { jail, masked, .. } = self;
        jail.release().map(|running| Running(running, masked))
    }
}

/// A command that runs in its jail. Dropping it ends everything inside.
pub struct Running(sys::Running, Masked);

impl Running {
    /// Follows the command to its end, and ends all processes that it has left behind.
    pub fn wait(self) -> Result<Outcome, JailError> {
        self.wait_then(|_| ()).0
    }

    /// As [`Running::wait`], and does something afterwards while the signals are still blocked that the command had: what has
    /// to be done at the end is then not cut off by one of them.
    pub fn wait_then<T>(
        self,
        then: impl FnOnce(Result<&Outcome, &JailError>) -> T,
    ) -> (Result<Outcome, JailError>, T) {
        let Self(running, masked) = self;
        running.wait_then(|waited| {
            // Before any caller is told how it came out.
            if let Ok(outcome) = waited {
                outcome.notes.extend(masked.notes());
            }
            then(waited.as_ref())
        })
    }
}

/// Ends a command from another thread.
///
/// It can be kept for any length of time: it leads to the command by a handle that nothing else ever gets.
#[derive(Clone)]
pub struct Stop(sys::Stop);

impl Stop {
    /// Asks the command and its process group to end. A moment later everything inside is killed.
    ///
    /// Asking again changes nothing, nor does asking after the end.
    pub fn ask(&self) {
        self.0.ask();
    }
}

/// Leaves the caller's terminal as it was found, if a command has taken it.
///
/// A program that aborts when it panics runs no destructors; it calls this in its panic hook, so that the person gets a
/// terminal that shows what they type. Nothing can do that for a process that is killed.
pub fn restore_terminal() {
    sys::Running::restore_terminal();
}

/// Reports whether a person typed the command that this process runs: an interactive shell gives every command a process group of
/// its own in its session, and puts it into the foreground of the terminal. A command of a script is in the script's group; a command
/// that a program starts on a terminal that it made leads the session.
pub fn is_typed(terminal: impl AsFd) -> bool {
    sys::is_typed(terminal.as_fd())
}

/// Outcome of a command.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Way in which it ended.
    pub end: End,
    /// A limit that ended processes of the command, although the command itself ended with success.
    pub survived: Option<Overrun>,
    /// Time that it ran.
    pub duration: Duration,
    /// Refused actions, if they were observed.
    pub denials: Vec<Denial>,
    /// Protected names that it wrote, each once, with what came of the last write.
    pub protected_writes: Vec<ProtectedWrite>,
    /// Commits that it made and that change protected names.
    pub commits: Vec<ProtectedCommit>,
    /// Uses, if they were observed.
    pub uses: Uses,
    /// Why a part of what it wrote did not reach the caller's streams, if that is so: its own exit code does not say it.
    pub lost_output: Option<String>,
    /// Files with content that it left in its private home and that are gone, as far as a short look showed them.
    pub lost_files: u64,
    /// Further notes.
    pub notes: Vec<String>,
    /// Captured output, if any: standard output and standard error.
    pub captured: Option<[Captured; 2]>,
}

/// Way in which a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself.
    Exited(u8),
    /// By a signal.
    Signaled(u8),
    /// By a limit.
    Limit(Overrun),
    /// Because it was asked for with [`Stop::ask`], however it then went.
    Stopped,
}

impl End {
    /// The exit code that tells it: 128 and the signal, 124 for a limit, 130 as if a person had interrupted it.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::Signaled(signal) => 128_u8.saturating_add(signal),
            Self::Limit(_) => 124,
            Self::Stopped => 130,
        }
    }
}

/// Part of a stream that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// From the beginning.
    pub head: Vec<u8>,
    /// From the end; empty when everything is in `head`.
    pub tail: Vec<u8>,
    /// Total number of bytes.
    pub total: u64,
}

/// Something that was refused inside.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Denial {
    /// A file or socket that is not seen inside.
    File(PathBuf),
    /// A file that cannot be changed inside.
    ReadOnly(PathBuf),
    /// A file that the spec hides.
    Hidden(PathBuf),
    /// A program that is not seen inside.
    Program(PathBuf),
    /// A connection to somewhere.
    Connection(String),
    /// A name that tools outside trust, and why. Told whether refusals are observed or not.
    Protected(PathBuf, &'static ProtectedName),
}

/// A protected name that a command wrote. A write that was refused is a [`Denial::Protected`] instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedWrite {
    /// Path of the name.
    pub path: PathBuf,
    /// The row of the table.
    pub name: &'static ProtectedName,
    /// Result of the write.
    pub result: WriteResult,
}

/// Result of a write to a protected name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteResult {
    /// It is there: people and agents read it, and no program acts on it.
    Allowed,
    /// It is there: the repository had this content at this path before the run.
    Known,
    /// It is not there: git believes that it has checked it out, and the content is new.
    Withheld,
    /// The same, and what was there when the command started is there again.
    Restored,
}

/// A commit that was made during a run and changes protected names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedCommit {
    /// The directory of the repository.
    pub repository: PathBuf,
    /// The name of the commit, in full.
    pub id: String,
    /// The first line of its message, as it was written: not to be shown unescaped.
    pub subject: Vec<u8>,
    /// The protected names that it changes, by their paths in the working tree.
    pub paths: Vec<(PathBuf, &'static ProtectedName)>,
}

/// Why there is no jail.
#[derive(Debug)]
pub enum JailError {
    /// The spec means nothing here.
    Conflict(Conflict),
    /// The provider does not work on this machine.
    Unavailable {
        /// The provider.
        provider: Provider,
        /// Step that failed.
        what: String,
        /// The answer of the kernel, if there was one.
        errno: Option<Errno>,
    },
    /// A step failed.
    Step {
        /// Step that failed.
        what: String,
        /// The answer of the kernel.
        errno: Errno,
    },
    /// A layer is weaker than required.
    Below {
        /// The layer.
        layer: Layer,
        /// Required level.
        wanted: Level,
        /// Level that was reached.
        reached: Level,
        /// Missing part.
        gap: Option<String>,
    },
    /// There is no such program inside.
    NotFound(OsString),
    /// The program is there and cannot be executed.
    NotExecutable(OsString, Errno),
    /// The command cannot be what it says: empty, or with a zero byte.
    BadCommand(&'static str),
}

impl JailError {
    /// The code of the manual page.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Conflict(conflict) => conflict.code(),
            Self::Unavailable { .. } => Code::JailUnavailable,
            Self::Step { .. } => Code::JailStepFailed,
            Self::Below { .. } => Code::JailBelowRequired,
            Self::NotFound(_) => Code::JailNotFound,
            Self::NotExecutable(..) | Self::BadCommand(_) => Code::JailNotExecutable,
        }
    }

    /// Returns a hint on what would help.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Conflict(conflict) => Some(conflict.hint()),
            Self::Unavailable { .. } => Some("`ringfence doctor` says why and what to change".to_owned()),
            Self::Below { layer, reached, .. } => {
                let always =
                    format!("with `require = {{ {layer} = \"{reached}\" }}` in a profile of your own");
                Some(match reached {
                    Level::Partial => {
                        format!("accept it for once with `--accept-partial {layer}`, or {always}")
                    }
                    Level::None | Level::Full => format!("accept it {always}"),
                })
            }
            Self::NotFound(_) => {
                Some("programs in your home are not seen inside; show them with --read".to_owned())
            }
            Self::Step { .. } | Self::NotExecutable(..) | Self::BadCommand(_) => None,
        }
    }

    /// Returns true if another provider may do better.
    fn is_about_the_machine(&self) -> bool {
        matches!(
            self,
            Self::Unavailable { .. } | Self::Below { .. } | Self::Conflict(Conflict::NotEnforceable(..))
        )
    }

    /// Returns the error to report when every provider refused: the strongest knows best, unless a weaker one came further.
    fn best(refusals: Vec<(Provider, Self)>) -> Self {
        let further = |error: &Self| !matches!(error, Self::Unavailable { .. });
        let mut refusals: Vec<_> = refusals.into_iter().map(|(_, error)| error).collect();
        let place = refusals.iter().position(further).unwrap_or(0);
        if refusals.is_empty() {
            Self::BadCommand("no provider was asked")
        } else {
            refusals.swap_remove(place)
        }
    }
}

impl From<Conflict> for JailError {
    fn from(conflict: Conflict) -> Self {
        Self::Conflict(conflict)
    }
}

impl fmt::Display for JailError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict(conflict) => conflict.fmt(f),
            Self::Unavailable { provider, what, errno } => {
                write!(f, "the {} provider does not work here: it cannot {what}", provider.word())?;
                errno.map_or(Ok(()), |errno| write!(f, ": {errno}"))
            }
            Self::Step { what, errno } => write!(f, "the jail cannot {what}: {errno}"),
            Self::Below { layer, wanted, reached, gap } => {
                write!(
                    f,
                    "the profile requires {wanted} enforcement of {layer}, and this machine offers {reached}"
                )?;
                gap.as_ref().map_or(Ok(()), |gap| write!(f, ": {gap}"))
            }
            Self::NotFound(program) => {
                write!(f, "{} is not found inside the jail", Shown::path(program.as_ref()))
            }
            Self::NotExecutable(program, errno) => {
                write!(f, "{} cannot be executed: {errno}", Shown::path(program.as_ref()))
            }
            Self::BadCommand(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for JailError {}
