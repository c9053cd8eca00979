//! The words of Ringfence, and the pure decision.

mod code;
mod shown;

pub use code::Code;
pub use shown::{Shown, misleads};
