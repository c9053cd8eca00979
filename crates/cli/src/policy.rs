//! `ringfence policy`: see, question and change the policy.

use std::path::{Path, PathBuf};

use audit::{AuditError, By, Digest, Durability, Event, FilePath, Head, Ledger, Options, Sink as _, Text};
use config::{
    Files, Outcome, Row, Sample, Scope, Settings, Source, diff, from_sources, from_sources_for, lint, load,
    programs_in_reach, rows,
};
use policy::{Effect, RuleRef, Shown};
use ringfence::run::Host;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;
use crate::terminal::{Format, Terminal};
use crate::unbuilt;
use crate::write::replace;

/// Subcommands of `ringfence policy`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum PolicyCommand {
    /// Print the policy that holds here: all layers merged, defaults included
    Show {
        /// Say for each value who set it, and where
        #[arg(long)]
        origin: bool,
        /// Print the built-in policy file instead, to which messages refer by line
        #[arg(long, conflicts_with_all = ["origin", "file"])]
        builtin: bool,
        #[command(flatten)]
        subject: Subject,
    },
    /// Find rules that load but do not do what they seem to
    Lint {
        #[command(flatten)]
        subject: Subject,
    },
    /// Check the examples of all rules, and your own cases
    Test {
        /// A file of cases, one a line: `deny read secrets/key`, `allow connect github.com`
        #[arg(value_name = "CASES")]
        cases: Option<PathBuf>,
        #[command(flatten)]
        subject: Subject,
    },
    /// Compare two policy files by what they decide
    Diff {
        /// The policy file before
        old: PathBuf,
        /// The policy file after
        new: PathBuf,
        /// More requests to compare, one a line: `read secrets/key`
        #[arg(long, value_name = "FILE")]
        cases: Option<PathBuf>,
    },
    /// List the profiles that `run -p` takes here
    Profiles,
    /// Print the JSON Schema of the policy file, for editors
    Schema,
    /// Set one key in a policy file; comments stay
    Set {
        /// The key, such as network.unknown
        key: String,
        /// The value as TOML; a plain word is taken as a text
        value: String,
        /// Change the project's file instead of yours
        #[arg(long)]
        project: bool,
    },
}

/// Which policy is meant.
#[derive(Debug, clap::Args)]
pub(crate) struct Subject {
    /// Use this file alone, of any owner, instead of the layers that apply here
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Subject {
    fn settings(&self, around: &Host, terminal: &mut Terminal<'_>) -> Result<Settings, Failure> {
        match &self.file {
            Some(file) => single(file, around),
            None => settings(around, terminal),
        }
    }
}

/// Runs a policy command.
pub(crate) fn run(
    command: &PolicyCommand,
    around: &Host,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    match command {
        PolicyCommand::Show { builtin: true, .. } => {
            write!(terminal.out, "{}", config::BUILT_IN)?;
            Ok(Exit::Ok)
        }
        PolicyCommand::Show { origin, subject, .. } => {
            let settings = subject.settings(around, terminal)?;
            unbuilt::warn(&settings, terminal)?;
            show(&settings, *origin, terminal)
        }
        PolicyCommand::Lint { subject } => lint_all(&subject.settings(around, terminal)?, terminal),
        PolicyCommand::Test { cases, subject } => {
            let settings = subject.settings(around, terminal)?;
            unbuilt::warn(&settings, terminal)?;
            test(&settings, cases.as_deref(), terminal)
        }
        PolicyCommand::Diff { old, new, cases } => compare(old, new, cases.as_deref(), around, terminal),
        PolicyCommand::Profiles => profiles(&settings(around, terminal)?, terminal),
        PolicyCommand::Schema => {
            write!(terminal.out, "{}", config::schema::json())?;
            Ok(Exit::Ok)
        }
        PolicyCommand::Set { key, value, project } => set(key, value, *project, around, terminal),
    }
}

/// Loads the policy; problems become a drawn failure, or JSON where that was asked for.
pub(crate) fn settings(around: &Host, terminal: &mut Terminal<'_>) -> Result<Settings, Failure> {
    let problems = match around.load() {
        Ok(settings) => return Ok(settings),
        Err(problems) => problems,
    };
    if terminal.format == Format::Json {
        let list: Vec<_> = problems.0.iter().map(report::json).collect();
        terminal.json(&json!({ "version": 1, "problems": list }))?;
    }
    Err(report::failure(&problems))
}

fn profiles(settings: &Settings, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let names = settings.profiles();
    match terminal.format {
        Format::Text => names.iter().try_for_each(|name| writeln!(terminal.out, "{}", Shown::text(name)))?,
        Format::Json => terminal.json(&json!({ "version": 1, "profiles": names }))?,
    }
    Ok(Exit::Ok)
}

fn show(settings: &Settings, origin: bool, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let rows = rows(settings);
    if terminal.format == Format::Json {
        let values: Vec<_> = rows.iter().map(row_json).collect();
        let exceptions: Vec<_> = exceptions(settings).into_iter().map(exception_json).collect();
        terminal.json(&json!({ "version": 1, "values": values, "exceptions": exceptions }))?;
        return Ok(Exit::Ok);
    }
    let mut current = ("", None);
    for row in &rows {
        if (row.table.as_str(), row.entry) != current {
            let header =
                if row.entry.is_some() { format!("[[{}]]", row.table) } else { format!("[{}]", row.table) };
            writeln!(terminal.out, "\n{header}")?;
            current = (&row.table, row.entry);
        }
        writeln!(terminal.out, "{} = {}{}", row.name, Shown::text(&row.toml), note(row, origin))?;
    }
    for (index, (allow, ask)) in settings.rules.exceptions().into_iter().enumerate() {
        let line = if index == 0 { "\n" } else { "" };
        let place = |rule: &policy::Rule| {
            rule.reason.rule.as_ref().map(|place| format!(" ({place})")).unwrap_or_default()
        };
        let words = |rule: &policy::Rule| format!("{}{}", config::subject_words(rule), place(rule));
        writeln!(terminal.out, "{line}# {} is an exception to {}", words(allow), words(ask))?;
    }
    Ok(Exit::Ok)
}

/// Permissions that are exceptions to a question: where each stands, and where the question does.
fn exceptions(settings: &Settings) -> Vec<(RuleRef, RuleRef)> {
    let place = |rule: &policy::Rule| rule.reason.rule.clone();
    settings.rules.exceptions().into_iter().filter_map(|(allow, ask)| place(allow).zip(place(ask))).collect()
}

fn exception_json((allow, ask): (RuleRef, RuleRef)) -> Value {
    let place = |place: &RuleRef| json!({ "file": place.file.to_string_lossy(), "line": place.line });
    json!({ "allow": place(&allow), "ask": place(&ask) })
}

fn note(row: &Row, origin: bool) -> String {
    let origin = origin.then(|| match row.scope {
        Scope::BuiltIn => "built-in".to_owned(),
        scope => format!("{} {}", scope.word(), row.place),
    });
    let built = (!row.built).then(|| "not built yet".to_owned());
    let notes: Vec<_> = origin.into_iter().chain(built).collect();
    if notes.is_empty() { String::new() } else { format!("  # {}", notes.join(", ")) }
}

fn row_json(row: &Row) -> Value {
    json!({
        "table": row.table,
        "entry": row.entry,
        "key": row.name,
        "value": row.toml,
        "scope": row.scope.word(),
        "file": row.place.file.to_string_lossy(),
        "line": row.place.line,
        "built": row.built,
    })
}

/// Counts warnings, and keys whose feature is not built yet.
fn counted(warnings: usize, unbuilt: usize) -> String {
    let plural = if warnings == 1 { "" } else { "s" };
    let unbuilt = if unbuilt == 0 { String::new() } else { format!(", {unbuilt} not built yet") };
    format!("{warnings} warning{plural}{unbuilt}")
}

fn lint_all(settings: &Settings, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut remarks = lint(settings);
    remarks.extend(programs_in_reach(settings, &std::env::split_paths(&path).collect::<Vec<_>>()));
    remarks.extend(unknown_rules(settings));
    // A key whose feature is not built yet is no fault of the policy's author.
    let faults = remarks.iter().filter(|remark| remark.code != policy::Code::NotBuilt).count();
    match terminal.format {
        Format::Json => {
            let place =
                |place: &policy::RuleRef| json!({ "file": place.file.to_string_lossy(), "line": place.line });
            let list: Vec<_> = remarks
                .iter()
                .map(|remark| json!({ "code": remark.code.id(), "message": remark.message, "place": remark.place.as_ref().map(place) }))
                .collect();
            terminal.json(&json!({ "version": 1, "remarks": list }))?;
        }
        Format::Text => {
            for remark in &remarks {
                let place = remark.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
                writeln!(terminal.out, "{place}{} {}", remark.code, Shown::text(&remark.message))?;
            }
            writeln!(terminal.err, "{}", counted(faults, remarks.len() - faults))?;
        }
    }
    Ok(if faults == 0 { Exit::Ok } else { Exit::Failed })
}

/// Accepted findings of rules that do not exist. The file alone cannot tell: the rules belong to the scanner.
fn unknown_rules(settings: &Settings) -> Vec<config::Remark> {
    let known: Vec<_> = skill::all_rules().iter().map(|rule| rule.id).collect();
    let unknown = settings.skills().allow.into_iter().filter(|allow| !known.contains(&allow.rule.as_str()));
    let remark = |allow: config::ScanAllow| config::Remark {
        code: policy::Code::NeverMatches,
        message: format!(
            "allow `{}` can never match: the skill scanner has no such rule",
            Shown::text(&allow.rule)
        ),
        place: Some(allow.place),
    };
    unknown.map(remark).collect()
}

/// One line of a test: what was expected, what came out.
struct Tested {
    line: String,
    place: Option<String>,
    outcome: Outcome,
    detail: String,
}

fn test(settings: &Settings, cases: Option<&Path>, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let mut tested: Vec<_> = settings.examples.iter().map(example).collect();
    if let Some(path) = cases {
        for (number, line) in case_lines(path)? {
            tested.push(case(settings, path, number, &line)?);
        }
    }
    let count = |outcome| tested.iter().filter(|test| test.outcome == outcome).count();
    let (held, failed, unchecked) = (count(Outcome::Holds), count(Outcome::Fails), count(Outcome::Unchecked));
    match terminal.format {
        Format::Json => {
            let list: Vec<_> = tested.iter().map(tested_json).collect();
            terminal.json(&json!({ "version": 1, "passed": held, "failed": failed, "unchecked": unchecked, "tests": list }))?;
        }
        Format::Text => {
            for test in tested.iter().filter(|test| test.outcome != Outcome::Holds) {
                let place = test.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
                writeln!(
                    terminal.out,
                    "{} {place}{} ({})",
                    word(test.outcome),
                    Shown::text(&test.line),
                    test.detail
                )?;
            }
            writeln!(terminal.out, "{held} passed, {failed} failed, {unchecked} not checked")?;
        }
    }
    Ok(if failed == 0 { Exit::Ok } else { Exit::Failed })
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "passed",
        Outcome::Fails => "FAILED",
        Outcome::Unchecked => "not checked",
    }
}

fn tested_json(test: &Tested) -> Value {
    json!({ "line": test.line, "place": test.place, "outcome": word(test.outcome), "detail": test.detail })
}

fn example(example: &config::Example) -> Tested {
    let detail = match example.outcome {
        Outcome::Unchecked => "it cannot be read",
        _ if example.expected => "match",
        _ => "not-match",
    };
    Tested {
        line: example.node.text().unwrap_or_default().to_owned(),
        place: Some(example.node.place().to_string()),
        outcome: example.outcome,
        detail: detail.to_owned(),
    }
}

fn case(settings: &Settings, path: &Path, number: usize, line: &str) -> Result<Tested, Failure> {
    let place = format!("{}:{number}", Shown::path(path));
    let wrong = |why: &str| {
        let hint = "a case is a decision, a kind and an object: `deny read secrets/key`";
        Failure::usage(format!("{place}: {why}")).hint(hint)
    };
    let (expected, request) = line.split_once(' ').ok_or_else(|| wrong("this is not a case"))?;
    let expected =
        [Effect::Allow, Effect::Ask, Effect::Deny].into_iter().find(|effect| effect.word() == expected);
    let expected = expected.ok_or_else(|| wrong("a case begins with allow, ask or deny"))?;
    let sample = Sample::parse(request, &settings.places).map_err(|error| wrong(&error))?;
    let decision = settings.decide(&sample.request());
    let outcome = if decision.effect() == expected { Outcome::Holds } else { Outcome::Fails };
    let detail =
        format!("{} {}: {}", decision.effect().word(), decision.reason().code, decision.reason().text);
    Ok(Tested { line: line.to_owned(), place: Some(place), outcome, detail })
}

/// The lines of a file of cases, numbered, without comments and blank lines.
fn case_lines(path: &Path) -> Result<Vec<(usize, String)>, Failure> {
    let text = config::read_named(path).map_err(|problem| report::failure(&problem.into()))?;
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim().to_owned()));
    Ok(lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).collect())
}

fn compare(
    old: &Path,
    new: &Path,
    cases: Option<&Path>,
    around: &Host,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let (old, new) = (single(old, around)?, single(new, around)?);
    let cases = cases.map(case_lines).transpose()?.unwrap_or_default();
    let lines: Vec<_> = cases.into_iter().map(|(_, line)| line).collect();
    let (changes, count) = diff(&old, &new, &lines);
    match terminal.format {
        Format::Json => {
            let list: Vec<_> = changes
                .iter()
                .map(|change| {
                    let after = change.after.reason();
                    json!({ "request": change.line, "before": change.before.effect().word(), "after": change.after.effect().word(), "code": after.code.id(), "text": &*after.text })
                })
                .collect();
            terminal.json(&json!({ "version": 1, "compared": count, "changes": list }))?;
        }
        Format::Text => {
            for change in &changes {
                let (before, after) =
                    (terminal.effect(change.before.effect()), terminal.effect(change.after.effect()));
                writeln!(terminal.out, "{before} -> {after}  {}", Shown::text(&change.line))?;
            }
            writeln!(terminal.err, "{} of {count} sample requests change", changes.len())?;
        }
    }
    Ok(Exit::Ok)
}

/// A policy of one file, on top of the built-in layer.
fn single(path: &Path, around: &Host) -> Result<Settings, Failure> {
    let text = config::read_named(path).map_err(|problem| report::failure(&problem.into()))?;
    let source = Source::new(Scope::User, path, text);
    let agent = around.agent.as_deref();
    from_sources_for(vec![source], &around.places, agent).map_err(|problems| report::failure(&problems))
}

fn set(
    key: &str,
    value: &str,
    project: bool,
    around: &Host,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let (scope, path) = if project {
        (Scope::Project, around.files.project.clone())
    } else {
        (Scope::User, around.files.user.clone())
    };
    let path =
        path.ok_or_else(|| Failure::new("there is no file to change").hint("set HOME or --user-policy"))?;
    let drawn = |problem: config::Problem| report::failure(&problem.into());
    // By the same rules as for use: a link that the agent put there is not followed, neither now nor when writing.
    let source = config::read(scope, &path, &around.places.workspace).map_err(drawn)?;
    let mut edit =
        config::edit::Edit::new(source.as_ref().map_or("", |source| &source.text)).map_err(drawn)?;
    edit.set(key, value).map_err(drawn)?;
    let text = edit.finish(scope, &path).map_err(|problems| report::failure(&problems))?;
    let settings = check_layers(scope, &path, &text, around)?;
    let head = record_change(&settings, &path, &format!("{key} = {value}"), &text)?;
    replace(scope, &path, &text)?;
    writeln!(terminal.err, "{} changed; the ledger's head is {head}", Shown::path(&path))?;
    Ok(Exit::Ok)
}

/// No record, no action: a change that cannot be recorded is not made. The record says what is about to happen, and
/// its hash what the file then holds; if writing fails after it, the file shows that it did not.
pub(crate) fn record_change(
    settings: &Settings,
    path: &Path,
    change: &str,
    text: &str,
) -> Result<Head, Failure> {
    let place = settings.ledger().ok_or_else(|| {
        Failure::new("cannot determine the ledger path: HOME and XDG_STATE_HOME are unset")
            .hint("set HOME or XDG_STATE_HOME")
    })?;
    let failed = |error: AuditError| {
        let code = error.code();
        Failure::new("the change cannot be recorded, so it is not made")
            .because(&error)
            .hint(format!("`ringfence explain {code}` says more"))
    };
    let (ledger, _) = Ledger::open(&place, Options::new(Durability::Disk)).map_err(failed)?;
    let event = Event::PolicyChanged {
        by: By::default(),
        file: Some(FilePath(path)),
        tool: None,
        change: Text(change),
        sha256: Some(Digest::of(text.as_bytes())),
    };
    ledger.record(&event).map_err(failed)?;
    Ok(ledger.head())
}

/// The changed file must still load together with the other layers.
pub(crate) fn check_layers(
    scope: Scope,
    path: &Path,
    text: &str,
    around: &Host,
) -> Result<Settings, Failure> {
    let mut files = around.files.clone();
    match scope {
        Scope::Project => files.project = None,
        _ => files = Files { user: None, project: None, ..files },
    }
    let failure = |problems: config::Problems| report::failure(&problems);
    let others = load(&files, &around.places).map_err(failure)?;
    let written = others.sources.iter().filter(|source| source.scope != Scope::BuiltIn);
    let mut sources: Vec<_> =
        written.map(|source| Source::new(source.scope, &source.path, source.text.clone())).collect();
    sources.push(Source::new(scope, path, text.to_owned()));
    from_sources(sources, &around.places).map_err(failure)
}
