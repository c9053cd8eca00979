//! Interval of the watchdog, and the time that a crowd may last.

use std::time::{Duration, Instant};

/// Interval of the watchdog: short while something changes, long while nothing does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    period: Duration,
    used: u64,
}

impl Pace {
    pub(crate) const SHORTEST: Duration = Duration::from_millis(50);
    pub(crate) const LONGEST: Duration = Duration::from_millis(500);

    pub(crate) const fn new() -> Self {
        Self { period: Self::SHORTEST, used: 0 }
    }

    pub(crate) const fn period(&self) -> Duration {
        self.period
    }

    /// Takes note of a look: how many thousandths of a limit are used, and what it took to find out.
    pub(crate) fn note(&mut self, used: u64, cost: Duration) {
        let moved = used.abs_diff(self.used) >= NOTABLE || used >= CLOSE;
        let wanted = if moved { Self::SHORTEST } else { self.period * 2 };
        // Looking takes at most a twentieth of one processor.
        self.period = wanted.max(cost * 20).min(Self::LONGEST);
        self.used = used;
    }
}

/// Thousandths of a limit.
const NOTABLE: u64 = 20;
const CLOSE: u64 = 700;

/// Since when a jail has been at its limit of processes.
///
/// A program that meets the limit and copes is let live; one that stays there is ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Crowd(Option<Instant>);

impl Crowd {
    /// Time that a jail may stay at the limit.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Takes note of a look, and says whether patience has run out.
    pub(crate) fn note(&mut self, crowded: bool, now: Instant) -> bool {
        self.0 = crowded.then(|| self.0.unwrap_or(now));
        self.0.is_some_and(|since| now.saturating_duration_since(since) >= Self::PATIENCE)
    }

    /// Returns true if so many of so many allowed is a crowd. A fork bomb whose processes also end stays a little below the limit.
    pub(crate) const fn is_one(count: u64, limit: u64) -> bool {
        count >= limit - limit / 20
    }
}

/// Number of times the kernel refused a process, and when we last heard of one more.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Refusals {
    count: u64,
    last: Option<Instant>,
}

impl Refusals {
    /// Takes note of the count, and says whether refusals go on. Two looks are never further apart than the longest pace.
    pub(crate) fn note(&mut self, count: u64, now: Instant) -> bool {
        if count > self.count {
            *self = Self { count, last: Some(now) };
        }
        self.last.is_some_and(|last| now.saturating_duration_since(last) < Pace::LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_seldom_while_nothing_changes() {
        let cheap = Duration::from_micros(100);
        let mut pace = Pace::new();
        let mut look = |used, cost| {
            pace.note(used, cost);
            pace.period().as_millis()
        };
        let rows =
            [(0, 100), (5, 200), (10, 400), (10, 500), (10, 500), (30, 50), (30, 100), (700, 50), (700, 50)];
        for (used, expected) in rows {
            assert_eq!(look(used, cheap), expected, "{used}");
        }
        assert_eq!(look(900, Duration::from_millis(10)), 200, "a costly look");
        assert_eq!(look(900, Duration::from_secs(10)), 500, "but never blind");
    }

    #[test]
    fn only_a_crowd_that_stays_is_ended() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut crowd = Crowd::default();
        let rows = [
            (0, true, false),
            (1_999, true, false),
            (2_000, false, false),
            (2_100, true, false),
            (4_099, true, false),
            (4_100, true, true),
            (4_200, false, false),
        ];
        for (time, crowded, ended) in rows {
            assert_eq!(crowd.note(crowded, at(time)), ended, "{time}");
        }
    }

    #[test]
    fn refusals_go_on_until_none_is_new() {
        let start = Instant::now();
        let mut refusals = Refusals::default();
        let rows =
            [(0, 0, false), (10, 1, true), (400, 1, true), (450, 2, true), (900, 2, true), (950, 2, false)];
        for (time, count, expected) in rows {
            assert_eq!(refusals.note(count, start + Duration::from_millis(time)), expected, "{time}");
        }
    }

    #[test]
    fn a_crowd_is_a_little_less_than_the_limit() {
        let rows = [
            (0, 1, false),
            (1, 1, true),
            (9, 10, false),
            (10, 10, true),
            (972, 1024, false),
            (973, 1024, true),
        ];
        for (count, limit, expected) in rows {
            assert_eq!(Crowd::is_one(count, limit), expected, "{count} of {limit}");
        }
    }
}
