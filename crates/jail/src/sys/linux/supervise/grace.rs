//! Grace periods: the time between a request to end and the end by force.

use std::time::Duration;

/// Time between `SIGTERM` and `SIGKILL` for a command that is asked to end.
pub(super) const KILL_GRACE: Duration = Duration::from_secs(1);

/// Time that the caller gets to take the last output of a command that has ended.
pub(super) const OUTPUT_GRACE: Duration = Duration::from_secs(10);
