//! Start and stop. The runtime is built when the first connection is there.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::watch;

use crate::connections::Connections;
use crate::dial::Dialer;
use crate::judge::Judge;
use crate::names::Names;
use crate::record::Recorder;
use crate::transparent::Destination;
use crate::{Report, Settings, Shared, Sockets, listen};

/// Threads that carry traffic.
const WORKERS: usize = 2;
/// Threads that resolve names.
const RESOLVERS: usize = 32;
/// Descriptors of a tunnel: two sockets and two pipes.
const DESCRIPTORS: u64 = 6;
/// Time that open connections get to end after a stop.
const GRACE: Duration = Duration::from_secs(1);

/// A broker for one jail, on threads of its own.
pub struct Broker {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    wake: OwnedFd,
    thread: JoinHandle<()>,
}

/// Explains why a broker did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A pipe or thread could not be made.
    #[error("cannot start the broker: {0}")]
    Io(#[from] io::Error),
}

impl Broker {
    /// Starts to wait for connections.
    pub fn start(settings: Settings, sockets: Sockets) -> Result<Self, StartError> {
        Self::start_with(settings, sockets, Destination::Redirected)
    }

    /// Starts as if every connection of the transparent path had been meant for one address. For tests without a redirect in the kernel.
    #[doc(hidden)]
    pub fn start_with(
        settings: Settings,
        sockets: Sockets,
        destination: Destination,
    ) -> Result<Self, StartError> {
        let shared = Arc::new(Shared::new(settings));
        let (stop, stopped) = watch::channel(false);
        let (woken, wake) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("broker".into()).spawn(move || {
            if wait_for_first(&sockets, woken.as_fd()) {
                serve(own, sockets, destination, stopped);
            }
        })?;
        Ok(Self { shared, stop, wake, thread })
    }

    /// Ends the use of a secret and closes the connections that it was used on.
    pub fn revoke(&self, secret: &str) {
        for endpoint in self.shared.credentials.revoke(secret) {
            self.shared.connections.close(&endpoint);
        }
    }

    /// Returns the number of connections that are open.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.shared.connections.count()
    }

    /// Closes every connection and returns the totals.
    #[must_use]
    pub fn stop(self) -> Report {
        self.stop.send_replace(true);
        drop(self.wake);
        // A panic of the thread leaves the totals as they are.
        let _ended = self.thread.join().is_ok();
        self.shared.recorder.report()
    }
}

impl Shared {
    pub(crate) fn new(settings: Settings) -> Self {
        let Settings { gate, credentials, hosts, upstream, sink, origin, find_program, limits } = settings;
        Self {
            judge: Judge::new(Arc::clone(&gate), &limits),
            dialer: Dialer::new(gate, hosts, upstream, limits.connect),
            credentials,
            recorder: Recorder::new(sink, origin),
            connections: Connections::default(),
            names: Names::new(limits.names),
            find_program,
            limits,
        }
    }
}

/// Waits until a socket is readable. Returns false if the broker was stopped before.
fn wait_for_first(sockets: &Sockets, woken: BorrowedFd<'_>) -> bool {
    let listeners = sockets.proxy.iter().chain(&sockets.transparent).chain(&sockets.resolver_tcp);
    let sources = listeners.map(AsFd::as_fd).chain(sockets.resolver_udp.iter().map(AsFd::as_fd));
    let mut waiting: Vec<_> =
        std::iter::once(woken).chain(sources).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    loop {
        match poll(&mut waiting, None) {
            Ok(_) => return waiting[0].revents().is_empty(),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Raises the soft limit on descriptors as far as the connections need and the hard limit permits.
fn raise_descriptor_limit(connections: usize) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let needed = connections as u64 * DESCRIPTORS + 256;
    let wanted = maximum.map_or(needed, |maximum| needed.min(maximum));
    if current.is_some_and(|current| current < wanted) {
        // Without it fewer connections are accepted at once.
        let _raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).is_ok();
    }
}

/// Builds the runtime and serves until the broker is stopped.
fn serve(shared: Arc<Shared>, sockets: Sockets, destination: Destination, stopped: watch::Receiver<bool>) {
    raise_descriptor_limit(shared.limits.connections);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(WORKERS).max_blocking_threads(RESOLVERS).thread_name("broker").enable_all();
    // Without a runtime every connection stays unanswered until the listeners close, which happens here.
    let Ok(runtime) = builder.build() else { return };
    runtime.block_on(listen::run(shared, sockets, destination, stopped));
    runtime.shutdown_timeout(GRACE);
}
