//! The program behind a connection, looked up beside the traffic: finding it takes longer than opening the connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::SetOnce;

use crate::gate::Program;

/// Finds the program inside that has a connection, by the address of its socket and the address that it connected to.
pub type FindProgram = Arc<dyn Fn(SocketAddr, SocketAddr) -> Option<Program> + Send + Sync>;

/// Longest wait for a program whose connection is refused or asked about.
const PATIENCE: Duration = Duration::from_millis(100);

/// The program behind a connection, once it is known. For records and questions; nothing is decided by it.
#[derive(Clone)]
pub(crate) struct Caller(Arc<SetOnce<Option<Program>>>);

impl Caller {
    /// A caller that is not looked up.
    pub(crate) fn unknown() -> Self {
        Self(Arc::new(SetOnce::new_with(Some(None))))
    }

    /// Starts the search.
    pub(crate) fn find(find: &FindProgram, client: SocketAddr, destination: SocketAddr) -> Self {
        let caller = Self(Arc::new(SetOnce::new()));
        let (found, find) = (Arc::clone(&caller.0), Arc::clone(find));
        drop(tokio::task::spawn_blocking(move || found.set(find(client, destination)).is_ok()));
        caller
    }

    /// Returns the program if it is known by now.
    pub(crate) fn now(&self) -> Option<&Program> {
        self.0.get().and_then(Option::as_ref)
    }

    /// Waits a moment for the program.
    pub(crate) async fn found(&self) -> Option<&Program> {
        tokio::time::timeout(PATIENCE, self.0.wait()).await.ok().and_then(Option::as_ref)
    }
}
