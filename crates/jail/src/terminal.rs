//! What passes between a jailed program and the caller's terminal. Pure: bytes in, bytes out.

mod filter;
mod sequence;
mod utf8;

pub(crate) use filter::Filter;
