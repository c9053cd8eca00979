//! Connections that are open, and the means to close them from outside.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use policy::{Endpoint, Reason};
use tokio::sync::watch;

use crate::Shared;
use crate::caller::Caller;
use crate::refusal::Refusal;

/// Every open connection, by its number.
#[derive(Default)]
pub(crate) struct Connections {
    next: AtomicU64,
    open: Mutex<HashMap<u64, (Endpoint, watch::Sender<bool>)>>,
}

impl Connections {
    /// Closes every connection to an endpoint.
    pub(crate) fn close(&self, endpoint: &Endpoint) {
        for (_, cancel) in self.lock().values().filter(|(open, _)| open == endpoint) {
            cancel.send_replace(true);
        }
    }

    /// Returns the number of open connections.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, (Endpoint, watch::Sender<bool>)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One allowed connection to a host. Its end is recorded when the last reference is dropped.
pub(crate) struct Connection {
    pub(crate) id: u64,
    pub(crate) endpoint: Endpoint,
    /// The permission that it was opened under.
    pub(crate) reason: Reason,
    pub(crate) caller: Caller,
    pub(crate) started: Instant,
    address: OnceLock<SocketAddr>,
    sent: AtomicU64,
    received: AtomicU64,
    cancel: watch::Receiver<bool>,
    shared: Arc<Shared>,
}

impl Connection {
    /// Records an allowed connection and makes it known.
    pub(crate) fn open(
        shared: &Arc<Shared>,
        endpoint: &Endpoint,
        reason: &Reason,
        caller: &Caller,
    ) -> Result<Arc<Self>, Refusal> {
        let id = shared.connections.next.fetch_add(1, Ordering::Relaxed) + 1;
        shared.recorder.opened(id, endpoint, reason, caller.now())?;
        let (sender, cancel) = watch::channel(false);
        shared.connections.lock().insert(id, (endpoint.clone(), sender));
        Ok(Arc::new(Self {
            id,
            endpoint: endpoint.clone(),
            reason: reason.clone(),
            caller: caller.clone(),
            started: Instant::now(),
            address: OnceLock::new(),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            cancel,
            shared: Arc::clone(shared),
        }))
    }

    /// Notes the address that was connected to.
    pub(crate) fn set_address(&self, address: SocketAddr) {
        self.address.get_or_init(|| address);
    }

    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.address.get().copied()
    }

    /// Counts bytes from the jail to the host.
    pub(crate) fn add_sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts bytes from the host to the jail.
    pub(crate) fn add_received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Returns the bytes sent and received so far.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.sent.load(Ordering::Relaxed), self.received.load(Ordering::Relaxed))
    }

    /// Waits until the connection is closed from outside.
    pub(crate) async fn cancelled(&self) {
        let mut cancel = self.cancel.clone();
        // The sender lives as long as this connection, so an error cannot occur before the end.
        if cancel.wait_for(|closed| *closed).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.connections.lock().remove(&self.id);
        self.shared.recorder.closed(self);
    }
}
