//! The number allowed, the number used, and the switch that opens after failures.

use std::time::{Duration, Instant};

/// Budget of a session. `None` is no limit of this kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Time from start to end.
    pub wall_clock: Option<Duration>,
    /// Time without output.
    pub idle: Option<Duration>,
    /// Memory of all processes together, in bytes.
    pub memory: Option<u64>,
    /// Processes and threads at once.
    pub processes: Option<u64>,
    /// Processor time of one process.
    pub cpu: Option<Duration>,
    /// Open files per process.
    pub open_files: Option<u64>,
    /// Size of one file that is written, in bytes.
    pub file_size: Option<u64>,
    /// Output handed back, in bytes; the rest is kept elsewhere.
    pub output: Option<u64>,
    /// Size of the private temporary directory, in bytes.
    pub tmp: Option<u64>,
    /// Tokens of the model.
    pub tokens: Windows<u64>,
    /// Money, in millionths of a US dollar: sums of money are not floating-point numbers.
    pub cost: Windows<u64>,
    /// Steps of the agent.
    pub steps: Option<u64>,
    /// When repeated failures switch something off.
    pub breaker: Option<BreakerLimit>,
}

impl Limits {
    /// No limit of any kind.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            wall_clock: None,
            idle: None,
            memory: None,
            processes: None,
            cpu: None,
            open_files: None,
            file_size: None,
            output: None,
            tmp: None,
            tokens: Windows::none(),
            cost: Windows::none(),
            steps: None,
            breaker: None,
        }
    }
}

/// One limit per window of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows<T> {
    /// For one execution.
    pub execution: Option<T>,
    /// For a rolling hour.
    pub hour: Option<T>,
    /// For a rolling day.
    pub day: Option<T>,
}

impl<T> Windows<T> {
    /// No limit in any window.
    #[must_use]
    pub const fn none() -> Self {
        Self { execution: None, hour: None, day: None }
    }
}

/// After how many failures in a row a breaker opens, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerLimit {
    /// Failures in a row.
    pub failures: u32,
    /// Time until one probe is let through.
    pub cooldown: Duration,
}

/// The number used of one limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meter {
    allowed: Option<u64>,
    used: u64,
}

/// A limit was reached. Nothing was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{used} of {allowed} used, {wanted} more wanted")]
pub struct Exhausted {
    /// The limit.
    pub allowed: u64,
    /// Amount used so far.
    pub used: u64,
    /// Amount requested on top.
    pub wanted: u64,
}

impl Meter {
    /// An unused meter.
    #[must_use]
    pub const fn new(allowed: Option<u64>) -> Self {
        Self { allowed, used: 0 }
    }

    /// Spends, or refuses and spends nothing. Exactly up to the limit is allowed.
    pub fn spend(&mut self, cost: u64) -> Result<(), Exhausted> {
        let total = self.used.checked_add(cost);
        match (self.allowed, total) {
            (None, _) => self.used = self.used.saturating_add(cost),
            (Some(allowed), Some(total)) if total <= allowed => self.used = total,
            (Some(allowed), _) => return Err(Exhausted { allowed, used: self.used, wanted: cost }),
        }
        Ok(())
    }

    /// Gives back what was reserved and not used.
    pub fn refund(&mut self, cost: u64) {
        self.used = self.used.saturating_sub(cost);
    }

    /// Returns the amount used.
    #[must_use]
    pub const fn used(&self) -> u64 {
        self.used
    }
}

/// A switch that opens after failures in a row and lets one probe through after a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breaker {
    limit: BreakerLimit,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed {
        failures: u32,
    },
    Open {
        since: Instant,
    },
    /// One probe is on its way; all other calls wait for its result.
    Probing,
}

impl Breaker {
    /// A closed breaker.
    #[must_use]
    pub const fn new(limit: BreakerLimit) -> Self {
        Self { limit, state: State::Closed { failures: 0 } }
    }

    /// Returns true if a call may be made now. After the cooldown, exactly one call is let through.
    pub fn admit(&mut self, now: Instant) -> bool {
        match self.state {
            State::Closed { .. } => true,
            State::Probing => false,
            State::Open { since } if now.saturating_duration_since(since) < self.limit.cooldown => false,
            State::Open { .. } => {
                self.state = State::Probing;
                true
            }
        }
    }

    /// Records how a call went.
    pub fn record(&mut self, succeeded: bool, now: Instant) {
        self.state = match (self.state, succeeded) {
            (_, true) => State::Closed { failures: 0 },
            (State::Closed { failures }, false) if failures + 1 < self.limit.failures => {
                State::Closed { failures: failures + 1 }
            }
            (State::Open { since }, false) => State::Open { since },
            (State::Closed { .. } | State::Probing, false) => State::Open { since: now },
        };
    }

    /// Returns true if calls are refused until the cooldown is over.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        !matches!(self.state, State::Closed { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_stops_at_its_limit() {
        let mut meter = Meter::new(Some(10));
        assert_eq!(meter.spend(10), Ok(()));
        assert_eq!(meter.spend(1), Err(Exhausted { allowed: 10, used: 10, wanted: 1 }));
        assert_eq!(meter.spend(u64::MAX), Err(Exhausted { allowed: 10, used: 10, wanted: u64::MAX }));
        meter.refund(4);
        assert_eq!(meter.spend(4), Ok(()));
        assert_eq!(Meter::new(Some(0)).spend(1), Err(Exhausted { allowed: 0, used: 0, wanted: 1 }));
        assert_eq!(Meter::new(None).spend(u64::MAX), Ok(()));
    }

    #[test]
    fn a_breaker_opens_cools_down_and_lets_one_probe_through() {
        let cooldown = Duration::from_secs(60);
        let start = Instant::now();
        let mut breaker = Breaker::new(BreakerLimit { failures: 2, cooldown });
        breaker.record(false, start);
        breaker.record(true, start);
        breaker.record(false, start);
        assert!(breaker.admit(start) && !breaker.is_open());
        breaker.record(false, start);
        assert!(breaker.is_open() && !breaker.admit(start + cooldown / 2));
        assert!(breaker.admit(start + cooldown), "one probe");
        assert!(!breaker.admit(start + cooldown), "only one");
        breaker.record(false, start + cooldown);
        assert!(!breaker.admit(start + cooldown));
        assert!(breaker.admit(start + cooldown * 2));
        breaker.record(true, start + cooldown * 2);
        assert!(!breaker.is_open() && breaker.admit(start + cooldown * 2));
    }
}
