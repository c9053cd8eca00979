//! Bounds on time, memory and number. Each of them fails to a refusal.

use std::time::Duration;

/// Bounds of a broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections from inside at once.
    pub connections: usize,
    /// Bytes of a request line and its headers, and of a `ClientHello`.
    pub head_bytes: usize,
    /// Headers of a request.
    pub headers: usize,
    /// Time in which a head must be complete.
    pub head: Duration,
    /// Time after which a connection without traffic is closed.
    pub idle: Duration,
    /// Time in which a host must be resolved and connected to.
    pub connect: Duration,
    /// Time in which a person must answer.
    pub answer: Duration,
    /// Questions to a person at once.
    pub questions: usize,
    /// Names that get a synthetic address.
    pub names: usize,
    /// Requests of one HTTP/2 connection at once.
    pub streams: u32,
}

impl Limits {
    /// Limits of a run without settings of its own.
    pub const STANDARD: Self = Self {
        connections: 2048,
        head_bytes: 64 * 1024,
        headers: 128,
        head: Duration::from_secs(10),
        idle: Duration::from_secs(600),
        connect: Duration::from_secs(15),
        answer: Duration::from_secs(120),
        questions: 16,
        names: 65_536,
        streams: 128,
    };
}
