//! `ringfence skill load`: what the model would see, if the policy lets it.

use std::path::{Path, PathBuf};

use ::audit::{By, Digest, Event, FilePath, Name, Names, Text};
use config::{Oversize, ScanSettings};
use policy::{Code, Shown};
use ringfence::run::Host;
use serde_json::{Value, json};
use skill::clean::{self, Size};
use skill::{Accepted, Judged, Loaded, Profile, Refused, Scanner, Severity, Verdict};

use super::one::{One, unreadable};
use super::pins::{Difference, Pins, pin_name};
use super::profile;
use super::scan::allows;
use super::text::counted_as;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::terminal::{Format, Terminal};

/// What a person types after `ringfence skill load`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXITS)]
pub(crate) struct LoadArgs {
    /// The directory of a skill, its SKILL.md, or an archive with one skill; `-` for standard input
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Only as it is pinned in this file
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
    /// Also print the narrowest jail profile for what the skill says that it does
    #[arg(long)]
    profile: bool,
}

const EXITS: &str = "Exit codes: 0 loaded, warnings are told; 1 not loaded, because it cannot be read or is too long; \
                     2 blocked;\n3 changed since it was pinned.";

/// Maximum number of differences shown.
const MOST: usize = 20;

/// Loads a skill and prints what the model would see.
pub(crate) fn run(args: &LoadArgs, around: &Host, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let settings = crate::policy::settings(around, terminal)?;
    let journal = Journal::of(&settings)?;
    let subject = Subject::find(&args.path, around)?;
    let scan = settings.skills();
    let scanner = Scanner::new(&skill::all_rules());
    let loaded = match subject.load(&scanner, &scan) {
        Ok(loaded) => loaded,
        Err(refused) => return Err(subject.refuse(&refused, &scan, &journal)?),
    };
    if let Some(lock) = &args.lock {
        subject.is_pinned(&Pins::read(lock)?, &journal)?;
    }
    let tools = wanted(&loaded, &settings.tools);
    subject.record(&loaded, &tools, &journal)?;
    let profile = if args.profile {
        Some(profile::of(&loaded, &skill::capabilities(subject.one.skill()), subject.outside())?)
    } else {
        None
    };
    match terminal.format {
        Format::Json => terminal.json(&subject.json(&loaded, &tools, profile.as_deref()))?,
        Format::Text => {
            write!(terminal.out, "{}", loaded.framed())?;
            profile.iter().try_for_each(|profile| write!(terminal.out, "\n{profile}"))?;
            terminal.out.flush()?;
        }
    }
    tell(&loaded, &scan, &subject, terminal)?;
    Ok(Exit::Ok)
}

/// Loads a skill for a command of it, as `skill load` does, and returns its profile and where it lies, if that is not in the
/// workspace.
pub(crate) fn load_profile(
    path: &Path,
    lock: Option<&Path>,
    settings: &config::Settings,
    around: &Host,
) -> Result<(Profile, Option<PathBuf>), Failure> {
    let journal = Journal::of(settings)?;
    let subject = Subject::find(path, around)?;
    let scan = settings.skills();
    let scanner = Scanner::new(&skill::all_rules());
    let loaded = match subject.load(&scanner, &scan) {
        Ok(loaded) => loaded,
        Err(refused) => return Err(subject.refuse(&refused, &scan, &journal)?),
    };
    if let Some(lock) = lock {
        subject.is_pinned(&Pins::read(lock)?, &journal)?;
    }
    subject.record(&loaded, &wanted(&loaded, &settings.tools), &journal)?;
    let tree = subject.one.skill();
    // A skill in an archive cannot be started from it.
    let place = subject.one.real.as_deref().filter(|_| subject.one.packed.is_none());
    let profile = Profile::new(&loaded.name, &skill::capabilities(tree), tree, place);
    Ok((profile, subject.outside().map(Path::to_owned)))
}

/// The skill that is to be loaded.
struct Subject {
    shown: PathBuf,
    /// Path as a policy names it; `None` for standard input.
    named: Option<PathBuf>,
    one: One,
    sha256: Digest,
}

impl Subject {
    fn find(path: &Path, around: &Host) -> Result<Self, Failure> {
        // The file that makes a directory a skill stands for the directory.
        let is_main = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
        let directory = match path.parent() {
            Some(parent) if is_main && parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) if is_main => parent,
            _ => path,
        };
        let one = One::at(directory)?;
        let workspace = &around.places.workspace;
        let named = one.real.as_deref().map(|real| real.strip_prefix(workspace).unwrap_or(real).to_owned());
        let sha256 = Digest::of(&one.came.listing());
        Ok(Self { shown: directory.to_owned(), named, one, sha256 })
    }

    /// Returns its path, as it is recorded.
    fn path(&self) -> FilePath<'_> {
        FilePath(self.one.real.as_deref().unwrap_or(&self.shown))
    }

    /// Returns its path, if that is not in the workspace.
    fn outside(&self) -> Option<&Path> {
        self.named.as_deref().filter(|named| named.is_absolute())
    }

    /// Loads it. Of an archive all is looked at, also what is beside the skill.
    fn load(&self, scanner: &Scanner, scan: &ScanSettings) -> Result<Loaded, Refused> {
        let settings = self.settings(scan);
        let mut loaded = skill::load(self.one.skill(), scanner, &settings)?;
        if self.one.packed.is_none() || !scan.enabled {
            return Ok(loaded);
        }
        let above = self.named.as_deref().and_then(Path::parent);
        let judged = settings.accepted.judge(&self.one.came, above, scanner.scan(&self.one.came));
        match Verdict::of(&judged, scan.block_on_critical) {
            Verdict::Blocked => return Err(Refused::Blocked(Box::new(judged))),
            verdict if verdict > loaded.verdict => (loaded.verdict, loaded.judged) = (verdict, judged),
            _ => {}
        }
        Ok(loaded)
    }

    fn settings(&self, scan: &ScanSettings) -> skill::Settings {
        let oversize = match scan.oversize {
            Oversize::Refuse => clean::Oversize::Refuse,
            Oversize::Truncate => clean::Oversize::Truncate,
        };
        skill::Settings {
            scan: scan.enabled,
            block_on_critical: scan.block_on_critical,
            size: Size { max_chars: scan.max_chars, oversize },
            accepted: Accepted { allow: allows(scan), inline: false, baseline: None },
            root: self.root(),
        }
    }

    /// Returns the path of the skill, as a policy names it; below its archive.
    fn root(&self) -> Option<PathBuf> {
        let packed = self.one.packed.as_ref();
        let below = packed.map(|packed| packed.below.as_path()).filter(|below| !below.as_os_str().is_empty());
        self.named.as_deref().map(|named| below.map_or_else(|| named.to_owned(), |below| named.join(below)))
    }

    /// Records why nothing is loaded, and says it.
    fn refuse(&self, refused: &Refused, scan: &ScanSettings, journal: &Journal) -> Result<Failure, Failure> {
        let none = Judged::default();
        let judged = if let Refused::Blocked(judged) = refused { judged } else { &none };
        journal.record(&Event::SkillBlocked {
            by: By::default(),
            skill: Name(&self.one.skill().name),
            path: self.path(),
            sha256: Some(self.sha256),
            critical: judged.count(Severity::Critical) as u64,
            warnings: judged.count(Severity::Warning) as u64,
            codes: Names(&judged.rules()),
            reason: Text(&refused.to_string()),
        })?;
        let shown = Shown::path(&self.shown);
        let failure = match refused {
            Refused::Blocked(_) => {
                Failure::coded(Code::SkillBlocked, format!("{shown} is blocked: {refused}"))
                    .exit(Exit::Blocked)
                    .hint(format!("`ringfence skill scan {shown}` shows them"))
            }
            Refused::Oversize(_) => {
                let limit = scan.max_chars;
                Failure::coded(Code::SkillOversize, format!("{shown} is too long: {refused}"))
                    .hint(format!("`skills.scan.max-chars` is {limit}, and `skills.scan.oversize` refuses"))
            }
            other => unreadable(&self.shown, &other.to_string()),
        };
        Ok(failure)
    }

    /// Checks that it matches the pins. It was scanned already, so that what is new in it has been looked at once.
    fn is_pinned(&self, pins: &Pins, journal: &Journal) -> Result<(), Failure> {
        let differences = pins.differences(&pin_name(self.named.as_deref(), &self.one.came), &self.one.came);
        if differences.is_empty() {
            return Ok(());
        }
        let shown = Shown::path(&self.shown);
        let message = format!("{shown} is not what was pinned");
        journal.record(&Event::SkillBlocked {
            by: By::default(),
            skill: Name(&self.one.skill().name),
            path: self.path(),
            sha256: Some(self.sha256),
            critical: 0,
            warnings: 0,
            codes: Names(&[Code::SkillChanged.id()]),
            reason: Text(&message),
        })?;
        let mut failure = Failure::coded(Code::SkillChanged, message).exit(Exit::Ask);
        failure.causes.extend(differences.iter().take(MOST).map(Difference::line));
        Err(failure.hint(format!("`ringfence skill scan {shown}` shows what is in it now")))
    }

    fn record(&self, loaded: &Loaded, tools: &[&str], journal: &Journal) -> Result<(), Failure> {
        let (judged, by) = (&loaded.judged, By::default());
        let (skill, path) = (Name(&loaded.name), self.path());
        let warnings = judged.count(Severity::Warning) as u64;
        if loaded.verdict == Verdict::Flagged {
            let critical = judged.count(Severity::Critical) as u64;
            let rules = judged.rules();
            let (sha256, codes) = (self.sha256, Names(&rules));
            journal.record(&Event::SkillFlagged { by, skill, path, sha256, critical, warnings, codes })?;
        }
        journal.record(&Event::SkillLoaded {
            by: By::default(),
            skill: Name(&loaded.name),
            path: self.path(),
            sha256: self.sha256,
            critical: judged.excused() as u64,
            warnings,
            tools: Names(tools),
        })
    }

    fn json(&self, loaded: &Loaded, tools: &[&str], profile: Option<&str>) -> Value {
        let findings: Vec<_> = loaded
            .judged
            .open
            .iter()
            .map(|finding| {
                json!({
                    "rule": finding.rule.id,
                    "severity": finding.severity.name(),
                    "path": super::json::path(&finding.path),
                    "line": finding.line,
                    "column": finding.column,
                })
            })
            .collect();
        json!({
            "version": 1,
            "name": loaded.name,
            "description": loaded.description,
            "path": super::json::path(&self.shown),
            "sha256": self.sha256.to_string(),
            "verdict": loaded.verdict.word(),
            "truncated": loaded.truncated,
            "tools": tools,
            "text": loaded.framed(),
            "findings": findings,
            "profile": profile,
        })
    }
}

/// Says what a person should know of a skill that was loaded.
fn tell(
    loaded: &Loaded,
    scan: &ScanSettings,
    subject: &Subject,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    let shown = Shown::path(&subject.shown);
    if !scan.enabled {
        let warning = terminal.warning(Code::SkillUnscanned);
        writeln!(
            terminal.err,
            "{warning}: {shown} was loaded without a look at it: skills.scan.enabled is false"
        )?;
    }
    if loaded.truncated {
        let warning = terminal.warning(Code::SkillOversize);
        writeln!(terminal.err, "{warning}: {shown} was cut after {} characters", scan.max_chars)?;
    }
    if loaded.verdict == Verdict::Flagged {
        let warning = terminal.warning(Code::SkillFlagged);
        let count = counted_as(loaded.judged.open.len(), "finding");
        writeln!(terminal.err, "{warning}: {shown} has {count}: `ringfence skill scan {shown}`")?;
    }
    Ok(())
}

/// The tools that are left: those of the policy, as far as the skill wants them.
fn wanted(loaded: &Loaded, tools: &policy::ToolSet) -> Vec<&'static str> {
    let Some(wanted) = &loaded.tools else { return tools.tools().collect() };
    tools.narrow(wanted).tools().collect()
}
