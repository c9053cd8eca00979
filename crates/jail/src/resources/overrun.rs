//! A limit that was reached, and the words for it.

use std::fmt;
use std::time::Duration;

/// A limit that ends a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Time from start to end.
    WallClock,
    /// Time without output.
    Idle,
    /// Memory of all processes together.
    Memory,
    /// Processes and threads at once.
    Processes,
    /// Processor time of one process.
    Cpu,
    /// Size of one file.
    FileSize,
    /// Size of the private temporary directory.
    Tmp,
}

impl Limit {
    /// Every limit, in the order of the policy file.
    pub const ALL: [Self; 7] =
        [Self::WallClock, Self::Idle, Self::Memory, Self::Processes, Self::Cpu, Self::FileSize, Self::Tmp];

    /// The word of the policy file, below `limits`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::WallClock => "wall-clock",
            Self::Idle => "idle",
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::Cpu => "cpu",
            Self::FileSize => "file-size",
            Self::Tmp => "tmp",
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::WallClock => "the command ran longer and was ended",
            Self::Idle => "the command was silent for longer and was ended",
            Self::Memory => "its processes together wanted more",
            Self::Processes => "no further process or thread could be started",
            Self::Cpu => "one of its processes computed for longer and was ended",
            Self::FileSize => "a file would have become larger",
            Self::Tmp => "the private temporary directory is full",
        }
    }
}

/// A limit that a command reached.
///
/// ```
/// use ringfence_jail::{Amount, Limit, Overrun};
/// let overrun = Overrun::new(Limit::Tmp, Amount::Bytes(1_000_000_000));
/// assert_eq!(overrun.message(), "limit reached: tmp (1GB): the private temporary directory is full");
/// assert_eq!(overrun.hint(), "raise limits.tmp in your policy");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overrun {
    /// Which one.
    pub limit: Limit,
    /// Amount that is allowed.
    pub allowed: Amount,
    /// Amount that was used, where it was measured.
    pub used: Option<Amount>,
}

/// Amount of a resource, shown with the unit a person would write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Time.
    Time(Duration),
    /// A number of things.
    Count(u64),
}

impl Overrun {
    /// Returns a limit that was reached by an amount that was not measured.
    #[must_use]
    pub const fn new(limit: Limit, allowed: Amount) -> Self {
        Self { limit, allowed, used: None }
    }

    /// The same with what was used.
    #[must_use]
    pub const fn used(mut self, used: Amount) -> Self {
        self.used = Some(used);
        self
    }

    /// Returns a message that says what happened.
    #[must_use]
    pub fn message(&self) -> String {
        let used = self.used.map(|used| format!(" ({used} seen)")).unwrap_or_default();
        let Self { limit, allowed, .. } = self;
        format!("limit reached: {} ({allowed}): {}{used}", limit.word(), limit.sentence())
    }

    /// Returns a hint on how to let it go on.
    #[must_use]
    pub fn hint(&self) -> String {
        format!("raise limits.{} in your policy", self.limit.word())
    }
}

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message(), self.hint())
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Bytes(bytes) => show_bytes(f, bytes),
            Self::Time(time) => show_time(f, time),
            Self::Count(count) => write!(f, "{count}"),
        }
    }
}

/// As written in a policy where that is exact and short, else cut to one digit after the point.
fn show_bytes(f: &mut fmt::Formatter<'_>, bytes: u64) -> fmt::Result {
    let fits =
        |(_, unit): &&(&str, u64)| bytes.is_multiple_of(*unit) && (1..10_000).contains(&(bytes / unit));
    if let Some((name, unit)) = EXACT.iter().find(fits) {
        return write!(f, "{}{name}", bytes / unit);
    }
    match DECIMAL.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => write!(f, "{}.{}{name}", bytes / unit, bytes % unit / (unit / 10)),
        None => write!(f, "{bytes}B"),
    }
}

fn show_time(f: &mut fmt::Formatter<'_>, time: Duration) -> fmt::Result {
    let mut left = time.as_millis();
    if left == 0 {
        return f.write_str("0s");
    }
    for (name, unit) in [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)] {
        if left >= unit {
            write!(f, "{}{name}", left / unit)?;
            left %= unit;
        }
    }
    Ok(())
}

/// The largest first; of two that are exact, the rounder number wins.
const EXACT: [(&str, u64); 8] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1_000),
];
const DECIMAL: [(&str, u64); 4] =
    [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_like_a_policy() {
        let bytes = [
            (0, "0B"),
            (999, "999B"),
            (1_000, "1KB"),
            (1_024, "1KiB"),
            (1_500, "1.5KB"),
            (50_000, "50KB"),
            (3_000_000_000, "3GB"),
            (16 << 30, "16GiB"),
            (2_800_000 << 10, "2.8GB"),
            (2_999_999_999, "2.9GB"),
            (u64::MAX, "18446744.0TB"),
        ];
        for (amount, expected) in bytes {
            assert_eq!(Amount::Bytes(amount).to_string(), expected);
        }
        for (milliseconds, expected) in
            [(0, "0s"), (500, "500ms"), (90_000, "1m30s"), (600_000, "10m"), (5_400_000, "1h30m")]
        {
            assert_eq!(Amount::Time(Duration::from_millis(milliseconds)).to_string(), expected);
        }
        assert_eq!(Amount::Count(1024).to_string(), "1024");
    }

    #[test]
    fn what_a_person_reads() {
        let amount = |limit| match limit {
            Limit::WallClock | Limit::Idle | Limit::Cpu => Amount::Time(Duration::from_secs(600)),
            Limit::Processes => Amount::Count(1024),
            Limit::Memory | Limit::FileSize | Limit::Tmp => Amount::Bytes(3_000_000_000),
        };
        let lines: Vec<_> = Limit::ALL.map(|limit| Overrun::new(limit, amount(limit)).to_string()).into();
        let expected = "\
limit reached: wall-clock (10m): the command ran longer and was ended; raise limits.wall-clock in your policy
limit reached: idle (10m): the command was silent for longer and was ended; raise limits.idle in your policy
limit reached: memory (3GB): its processes together wanted more; raise limits.memory in your policy
limit reached: processes (1024): no further process or thread could be started; raise limits.processes in your policy
limit reached: cpu (10m): one of its processes computed for longer and was ended; raise limits.cpu in your policy
limit reached: file-size (3GB): a file would have become larger; raise limits.file-size in your policy
limit reached: tmp (3GB): the private temporary directory is full; raise limits.tmp in your policy";
        assert_eq!(lines.join("\n"), expected);
        let used = Overrun::new(Limit::Memory, Amount::Bytes(1 << 30)).used(Amount::Bytes(1_200_000_000));
        let expected = "limit reached: memory (1GiB): its processes together wanted more (1200MB seen)";
        assert_eq!(used.message(), expected);
    }
}
