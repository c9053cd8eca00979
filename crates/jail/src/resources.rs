//! Resource use of a jail: which bounds are set, whether one was reached, and what the user is told. Nothing here touches
//! the machine.

mod level;
mod overrun;
mod pace;
mod rlimit;
mod verdict;

pub(crate) use level::{Bounds, Means, reached};
pub use overrun::{Amount, Limit, Overrun};
pub(crate) use pace::{Crowd, Pace, Refusals};
pub(crate) use rlimit::{Bound, Resource, rlimits};
pub(crate) use verdict::{Observed, Status, survived, verdict};
