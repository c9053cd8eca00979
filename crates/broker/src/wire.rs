//! Parsers of bytes from inside the jail: pure functions that take what has arrived and say whether it is complete.
//!
//! Each returns `Ok(None)` while more bytes are needed. None of them keeps state, and none reads past what it was given.

pub mod client_hello;
pub mod dns;
pub mod http_head;
pub mod socks;
