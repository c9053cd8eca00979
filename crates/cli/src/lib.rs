//! Everything a person sees of Ringfence.

mod exit;
mod failure;
mod terminal;

pub use exit::Exit;
pub use failure::Failure;
pub use terminal::{Format, Terminal};
