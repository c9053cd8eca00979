//! Tests of the summary of a run, in text for people and in JSON for programs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use audit::{Durability, Ledger, Options};
use jail::{Amount, End, Outcome, Overrun, ProtectedCommit, ProtectedWrite, WriteResult};
use jail::{Denial, Limit, Spec, Uses};
use policy::{Limits, Protected, ProtectedName};
use ringfence::run::{DeniedAction, Journal, SummaryInput, Tripwire, TripwireHits};

use super::*;

fn row(name: &str) -> &'static ProtectedName {
    Protected::names().find(|row| row.name == name).unwrap()
}

fn commit(id: &str, subject: &str, paths: &[&str]) -> ProtectedCommit {
    ProtectedCommit {
        repository: "/ws/.git".into(),
        id: id.to_owned(),
        subject: subject.into(),
        paths: paths.iter().map(|path| (PathBuf::from(path), row("CLAUDE.md"))).collect(),
    }
}

fn outcome(end: End) -> Outcome {
    Outcome {
        end,
        survived: None,
        duration: Duration::from_secs(1),
        denials: Vec::new(),
        protected_writes: Vec::new(),
        commits: Vec::new(),
        uses: Uses::default(),
        lost_output: None,
        lost_files: 0,
        notes: Vec::new(),
        captured: None,
    }
}

/// A workspace in which the command has changed `CLAUDE.md`.
struct Stage(tempfile::TempDir);

impl Stage {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn top(&self) -> PathBuf {
        std::fs::canonicalize(self.0.path()).unwrap()
    }

    fn summary(&self, outcome: &Outcome, memory: Option<u64>) -> Summary {
        let top = self.top();
        let spec = Spec::for_workspace(&top, Path::new("/home/me"), Limits::none());
        std::fs::write(top.join("CLAUDE.md"), "one\ntwo\n").unwrap();
        let wire = Tripwire::set(&spec);
        std::fs::write(top.join("CLAUDE.md"), "one\ntwo\nthree\n").unwrap();
        let input = SummaryInput {
            outcome,
            denials: outcome.denials.iter().map(|denial| DeniedAction::of(denial, &spec, "mine")).collect(),
            wire: &wire,
            hits: TripwireHits::default(),
            raise: &|name| format!("raise limits.{name} in your policy"),
            memory,
            unprotected: &[],
        };
        Summary::new(input, &top)
    }

    fn everything(&self) -> Outcome {
        let top = self.top();
        let write =
            |path: &str, name, result| ProtectedWrite { path: top.join(path), name: row(name), result };
        let mut outcome = outcome(End::Exited(3));
        outcome.denials = vec![
            Denial::File("/etc/shadow".into()),
            Denial::Protected("/ws/a b/.envrc".into(), row(".envrc")),
        ];
        outcome.protected_writes = vec![
            write("CLAUDE.md", "CLAUDE.md", WriteResult::Allowed),
            write("a;curl x|sh/.envrc", ".envrc", WriteResult::Withheld),
            write(".envrc", ".envrc", WriteResult::Withheld),
            write(".vscode", ".vscode", WriteResult::Known),
        ];
        outcome.commits = vec![
            commit("1a2b3c4d5e6f7a8b", "say \u{1b}[31mmore", &[".envrc", "CLAUDE.md"]),
            commit("2a2b3c4d5e6f7a8b", &"long ".repeat(20), &["a", "b", "c", "d", "e", "f", "g"]),
        ];
        outcome.lost_output = Some("output could not be written: No space left on device".to_owned());
        outcome.lost_files = 3;
        outcome.notes = vec!["2 connections to ports were turned away: too many at once".to_owned()];
        outcome
    }
}

/// Builds the summary of an outcome, without regard to the place of the run.
fn summary(outcome: &Outcome, memory: Option<u64>) -> Summary {
    Stage::new().summary(outcome, memory)
}

#[test]
fn what_a_person_reads() {
    let stage = Stage::new();
    let summary = stage.summary(&stage.everything(), Some(200 << 20));
    insta::assert_snapshot!(text(&summary, Audience::Person, "warning[RF-J013]"), @r#"
    withheld[RF-J011]: a;curl x|sh/.envrc: new content was kept out: direnv runs it on entering the directory; take it outside, with `git restore 'a;curl x|sh/.envrc'` if it was committed; or --unprotect .envrc
    withheld[RF-J011]: .envrc: new content was kept out: direnv runs it on entering the directory; take it outside, with `git restore .envrc` if it was committed; or --unprotect .envrc
    denied[RF-J011]: read /etc/shadow: no view of profile `mine` shows it; to allow it: --read /etc/shadow, or jail.read-only
    denied[RF-J011]: write /ws/a b/.envrc: `.envrc` is protected: direnv runs it on entering the directory; to allow it: --unprotect .envrc, or jail.unprotected
    changed: CLAUDE.md: changed, 2 lines before and 3 now: instructions that an agent follows; to prevent it: protect = "all" in a profile
    commit: 1a2b3c4d5e "say \u{1b}[31mmore" changes .envrc, CLAUDE.md; look at it before you use it: git show 1a2b3c4d5e
    commit: 2a2b3c4d5e "long long long long long long long long long long long long …" changes a, b, c, d, e and 2 more; look at it before you use it: git show 2a2b3c4d5e
    lost: output could not be written: No space left on device
    lost: 3 files in the private home are gone; to keep such files: --write DIRECTORY
    note: 2 connections to ports were turned away: too many at once
    limit: each process was limited to 200MiB of memory; one that asks for more is refused, and fails in its own way; to raise it: --limit memory=SIZE
    "#);
}

#[test]
fn what_a_log_gets() {
    let stage = Stage::new();
    let summary = stage.summary(&stage.everything(), None);
    let kinds = |audience| {
        let text = text(&summary, audience, "warning");
        let kind = |line: &str| line.split([':', '[']).next().unwrap_or_default().to_owned();
        let mut kinds: Vec<_> = text.lines().map(kind).collect();
        kinds.dedup();
        kinds.join(" ")
    };
    assert_eq!(kinds(Audience::Log), "withheld denied lost note");
    assert_eq!(kinds(Audience::Person), "withheld denied changed commit lost note");
    assert_eq!(kinds(Audience::Curious), "withheld denied changed commit lost known note");
}

#[test]
fn nothing_to_say_is_silence() {
    for end in [End::Exited(0), End::Exited(1), End::Signaled(9), End::Stopped] {
        let summary = summary(&outcome(end), None);
        assert_eq!(text(&summary, Audience::Curious, "warning"), "", "{end:?}");
        assert_eq!(json(&summary), Vec::<Value>::new(), "{end:?}");
    }
}

#[test]
fn a_limit_on_memory_is_said_where_it_may_be_the_cause() {
    let said = |end| text(&summary(&outcome(end), Some(200_000_000)), Audience::Log, "warning");
    let limited = "limit: each process was limited to 200MB of memory; one that asks for more is refused, and fails in its own \
                   way; to raise it: --limit memory=SIZE\n";
    assert_eq!(said(End::Exited(0)), "");
    assert_eq!(said(End::Exited(1)), limited);
    assert_eq!(said(End::Signaled(6)), limited);
    let overrun = Overrun::new(Limit::Memory, Amount::Bytes(200_000_000));
    insta::assert_snapshot!(said(End::Limit(overrun)), @r"
    error[RF-J009]: limit reached: memory (200MB): its processes together wanted more
    hint: raise limits.memory in your policy
    hint: `ringfence explain RF-J009` says more
    ");
}

#[test]
fn many_rows_become_a_number() {
    let mut outcome = outcome(End::Exited(0));
    outcome.denials = (0..25).map(|number| Denial::File(format!("/x/{number}").into())).collect();
    let summary = summary(&outcome, None);
    let person = text(&summary, Audience::Person, "warning");
    assert_eq!(person.lines().count(), 11, "{person}");
    assert!(person.ends_with("denied: and 15 more; `ringfence audit show` has all of them\n"), "{person}");
    assert_eq!(text(&summary, Audience::Curious, "warning").lines().count(), 25);
    assert_eq!(json(&summary).len(), 25);
}

#[test]
fn what_a_program_reads() {
    let stage = Stage::new();
    let rows = json(&stage.summary(&stage.everything(), None));
    let kinds: Vec<_> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    let expected = [
        "withheld", "withheld", "denied", "denied", "changed", "commit", "commit", "lost", "lost", "known",
        "note",
    ];
    assert_eq!(kinds, expected);
    insta::assert_snapshot!(rows[1], @r#"{"code":"RF-J011","kind":"withheld","object":".envrc","reason":"new content was kept out: direnv runs it on entering the directory","setting":"take it outside, with `git restore .envrc` if it was committed; or --unprotect .envrc"}"#);
    insta::assert_snapshot!(rows[3], @r#"{"act":"write","code":"RF-J011","kind":"denied","object":"/ws/a b/.envrc","reason":"`.envrc` is protected: direnv runs it on entering the directory","setting":"to allow it: --unprotect .envrc, or jail.unprotected"}"#);
    insta::assert_snapshot!(rows[5], @r#"{"code":null,"kind":"commit","object":"1a2b3c4d5e6f7a8b","reason":"changes .envrc, CLAUDE.md","setting":"look at it before you use it: git show 1a2b3c4d5e","subject":"say \\u{1b}[31mmore"}"#);
}

/// Every row but the gaps themselves is a record.
#[test]
fn what_is_told_is_recorded() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("ledger");
    let (ledger, _) = Ledger::open(&path, Options::new(Durability::Process)).unwrap();
    let journal = Journal::new(Arc::new(ledger), "run-1", "test");
    let stage = Stage::new();
    let mut summary = stage.summary(&stage.everything(), None);
    let rows = summary.rows().len();
    summary.record(&journal);
    assert_eq!(summary.rows().len(), rows, "{summary:?}");
    drop(journal);
    let ledger = std::fs::read_to_string(path).unwrap();
    let events =
        |name: &str| ledger.lines().filter(|line| line.contains(&format!("\"event\":\"{name}\""))).count();
    let counted = ["jail.wrote", "jail.committed", "request.decided", "jail.noted"].map(events);
    assert_eq!(counted, [4, 2, 2, 3], "{ledger}");
    assert!(ledger.contains("\"result\":\"withheld\"") && ledger.contains("1a2b3c4d5e6f7a8b"), "{ledger}");
}
