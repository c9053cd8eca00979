//! One shell against the reader.

use std::fmt;
use std::time::{Duration, Instant};

use policy::{Effect, Invocation};
use ringfence_shell::{Dialect, Surroundings};

use crate::arena::Arena;
use crate::driver::Outcome;
use crate::generator::{self, Line};
use crate::judged::{Mode, lists, verdict};
use crate::known::KNOWN;
use crate::known_evaluated::RUNTIME;
use crate::known_values::{ARITHMETIC, QUOTING};
use crate::shells::Shell;

/// Number of failures that are reduced and shown.
const SHOWN: usize = 5;
/// Number of tries and time to reduce one failure.
const TRIES: usize = 300;
const SHRINKING: Duration = Duration::from_secs(5);

/// Which lines, and how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) seed: u64,
    pub(crate) lines: u64,
    pub(crate) until: Instant,
}

/// Result of a contest.
pub(crate) struct Tally {
    pub(crate) shell: Shell,
    pub(crate) lines: usize,
    /// Lines that ran a hidden canary, and those of them that were allowed because every canary was listed.
    pub(crate) ran: usize,
    pub(crate) seen: usize,
    /// Tame lines that ran nothing hidden and are accepted, as far as they were refused: a false alarm.
    pub(crate) quiet: usize,
    pub(crate) alarms: usize,
    pub(crate) alarmed: Vec<String>,
    /// Lines that are not tame and were asked about without need, which may be.
    pub(crate) cautious: usize,
    pub(crate) late: usize,
    pub(crate) failed: usize,
    pub(crate) failures: Vec<String>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lines, ran, seen, quiet, alarms, cautious, late, failed, .. } = self;
        write!(
            f,
            "{:5}{lines} lines, {ran} ran something hidden ({seen} allowed with it listed, {failed} missed), \
             {alarms} false alarms on {quiet} plain lines, {cautious} cautious, {late} ended",
            self.shell.name()
        )
    }
}

/// Runs and reads line after line.
pub(crate) fn contest(arena: &mut Arena, shell: Shell, bounds: Bounds) -> Tally {
    let mut tally = Tally {
        shell,
        lines: 0,
        ran: 0,
        seen: 0,
        quiet: 0,
        alarms: 0,
        alarmed: vec![],
        cautious: 0,
        late: 0,
        failed: 0,
        failures: vec![],
    };
    for text in KNOWN.iter().chain(ARITHMETIC).chain(QUOTING).chain(RUNTIME) {
        tally.add(arena, &"known", &Line { text: (*text).to_owned(), tame: false });
    }
    for index in 0..bounds.lines {
        if Instant::now() > bounds.until {
            println!("{}: stopped by time after {} lines", shell.name(), tally.lines);
            break;
        }
        let seed = bounds.seed.wrapping_mul(1_000_003).wrapping_add(index);
        // dash knows the least, and stops at every form that it does not know.
        let line =
            if shell == Shell::Dash && index % 4 > 0 { generator::line_for_all } else { generator::line };
        tally.add(arena, &format_args!("seed {seed}"), &line(seed));
    }
    tally
}

impl Tally {
    fn add(&mut self, arena: &mut Arena, from: &dyn fmt::Display, line: &Line) {
        let (own, all) = (read(&line.text, self.shell.dialect()), read(&line.text, Dialect::ALL));
        let allowed = is_allowed(&own);
        let outcome = arena.run(&line.text, line.tame || !allowed);
        self.lines += 1;
        self.late += usize::from(outcome.late);
        self.ran += usize::from(outcome.ran());
        if outcome.ran() {
            let mut readings = [(&own, self.shell.dialect()), (&all, Dialect::ALL)].into_iter();
            match readings.find(|(invocation, _)| is_missed(invocation, outcome)) {
                Some((_, dialects)) => self.fail(arena, from, &line.text, dialects),
                None => self.seen += usize::from(allowed),
            }
        } else if outcome.parses {
            self.add_quiet(line, from, &own);
        }
    }

    fn add_quiet(&mut self, line: &Line, from: &dyn fmt::Display, own: &Invocation) {
        let alarm = !is_allowed(own);
        if !line.tame {
            self.cautious += usize::from(alarm);
            return;
        }
        self.quiet += 1;
        self.alarms += usize::from(alarm);
        if alarm && self.alarmed.len() < SHOWN * 2 {
            self.alarmed.push(format!("  {from}: {:?}: {}", line.text, said(own)));
        }
    }

    fn fail(&mut self, arena: &mut Arena, from: &dyn fmt::Display, text: &str, dialects: &[Dialect]) {
        self.failed += 1;
        if self.failures.len() >= SHOWN {
            return;
        }
        let mut still = |text: &str| is_missed(&read(text, dialects), arena.run(text, false));
        let text = shrink(text, &mut still);
        let outcome = arena.run(&text, false);
        let read = read(&text, dialects);
        self.failures.push(format!(
            "  {from}: {text:?}\n    {} ran pwn {}, aux {}; read as {dialects:?}: {}",
            self.shell.name(),
            outcome.pwn,
            outcome.aux,
            said(&read)
        ));
    }
}

fn read(text: &str, dialects: &[Dialect]) -> Invocation {
    let around = Surroundings { dialects, cwd: Some("/work"), home: Some("/work"), stdin: None };
    ringfence_shell::read(text.as_bytes(), &around)
}

fn is_allowed(read: &Invocation) -> bool {
    verdict(read, Mode::Standard) == Effect::Allow
}

/// Returns true if something ran that was neither listed nor stopped.
fn is_missed(read: &Invocation, outcome: Outcome) -> bool {
    let unlisted = |count: usize, name: &str| count > 0 && !lists(read, name);
    is_allowed(read) && (unlisted(outcome.pwn, "pwn") || unlisted(outcome.aux, "aux"))
}

fn said(read: &Invocation) -> String {
    let programs: Vec<_> = read.programs.iter().map(|program| program.argv.line()).collect();
    let codes: Vec<_> =
        read.findings.iter().map(|finding| format!("{} {}", finding.code, finding.text)).collect();
    format!("programs {programs:?}, findings {codes:?}")
}

/// Leaves out ever smaller stretches as long as it still fails.
fn shrink(text: &str, still: &mut impl FnMut(&str) -> bool) -> String {
    let (mut chars, begun, mut tries) = (text.chars().collect::<Vec<_>>(), Instant::now(), 0);
    let mut size = chars.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < chars.len() {
            tries += 1;
            if tries > TRIES || begun.elapsed() > SHRINKING {
                return chars.into_iter().collect();
            }
            let end = (at + size).min(chars.len());
            let shorter: String = chars[..at].iter().chain(&chars[end..]).collect();
            if still(&shorter) {
                chars = shorter.chars().collect();
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    chars.into_iter().collect()
}
