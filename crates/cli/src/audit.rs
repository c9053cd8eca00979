//! `ringfence audit`: see the ledger, check it, hand it on.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use ::audit::export::{self, ExportError};
use ::audit::{
    EVENTS, Filter, Head, Record, Records, SinceError, Timestamp, Verification, VerifyError, verify,
};
use policy::{Effect, Shown};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::{Format, Terminal};

/// Subcommands of `ringfence audit`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum AuditCommand {
    /// Print the newest records
    Tail {
        /// Number of records
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
        lines: usize,
        /// Go on with what is recorded from now on
        #[arg(short, long)]
        follow: bool,
        #[command(flatten)]
        place: LedgerArgs,
    },
    /// Print the records that fit; all of them if nothing is asked for
    Show {
        #[command(flatten)]
        filter: FilterArgs,
        #[command(flatten)]
        place: LedgerArgs,
    },
    /// Check that the ledger is what was written
    Verify {
        /// A head that was kept elsewhere: the ledger must reach it
        #[arg(long, value_name = "SEQ:HASH")]
        head: Option<Head>,
        #[command(flatten)]
        place: LedgerArgs,
    },
    /// Print the newest record as SEQ:HASH, to keep somewhere else
    Head {
        #[command(flatten)]
        place: LedgerArgs,
    },
    /// Print the ledger in the words of other programs
    Export {
        /// In which words
        #[arg(long, value_enum, value_name = "FORMAT")]
        to: ExportFormat,
        #[command(flatten)]
        place: LedgerArgs,
    },
}

/// Which ledger.
#[derive(Debug, clap::Args)]
pub(crate) struct LedgerArgs {
    /// Another ledger than the one of the policy
    #[arg(long, value_name = "PATH")]
    ledger: Option<PathBuf>,
}

/// Which records.
#[derive(Debug, clap::Args)]
pub(crate) struct FilterArgs {
    /// The event, such as request.decided, tool, or mcp.*
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// The session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Records with this decision
    #[arg(long, value_name = "DECISION", value_parser = ["allow", "ask", "deny"])]
    decision: Option<String>,
    /// Not older than a time, or than 90s, 30m, 12h, 7d
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<Timestamp>,
    /// This very record
    #[arg(long, value_name = "NUMBER")]
    seq: Option<u64>,
}

/// The words of other programs.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON document
    Json,
    /// The lines as they are, one JSON object each
    Jsonl,
    /// Common Event Format
    Cef,
    /// Open Cybersecurity Schema Framework 1.8.0, one JSON object a line
    Ocsf,
}

impl AuditCommand {
    /// The ledger that was named on the command line.
    pub(crate) fn place(&self) -> Option<&Path> {
        let (Self::Tail { place, .. }
        | Self::Show { place, .. }
        | Self::Verify { place, .. }
        | Self::Head { place }
        | Self::Export { place, .. }) = self;
        place.ledger.as_deref()
    }
}

/// Does what was asked for with the ledger, which is the one at `ledger` unless the command names another.
pub(crate) fn run(
    command: &AuditCommand,
    ledger: &Path,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let ledger = command.place().unwrap_or(ledger);
    match command {
        AuditCommand::Tail { lines, follow, .. } => tail(ledger, *lines, *follow, terminal),
        AuditCommand::Show { filter, .. } => show(ledger, &filter.filter(), terminal),
        AuditCommand::Verify { head, .. } => check(ledger, head.as_ref(), terminal),
        AuditCommand::Head { .. } => head(ledger, terminal),
        AuditCommand::Export { to, .. } => export(ledger, *to, terminal),
    }
}

fn tail(ledger: &Path, lines: usize, follow: bool, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    // A ledger whose end is damaged is read from the beginning, up to the damage.
    let newest = Records::head(ledger).map_or(1, |head| head.seq);
    let from = newest.saturating_sub(lines as u64).saturating_add(1);
    let mut records = Records::from(ledger, from.min(newest)).map_err(failure)?;
    let mut last = VecDeque::new();
    let ended = records.by_ref().try_for_each(|record| {
        last.push_back(record?);
        last.drain(..last.len().saturating_sub(lines));
        Ok(())
    });
    last.iter().try_for_each(|record| print(record, terminal))?;
    ended.map_err(failure)?;
    if follow { go_on(records, terminal) } else { Ok(Exit::Ok) }
}

/// Prints new records until the reader closes the pipe.
fn go_on(mut records: Records, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    loop {
        terminal.out.flush()?;
        thread::sleep(PAUSE);
        records.more().map_err(failure)?;
        for record in records.by_ref() {
            print(&record.map_err(failure)?, terminal)?;
        }
    }
}

const PAUSE: Duration = Duration::from_millis(200);

fn show(ledger: &Path, filter: &Filter, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    if let Some(seq) = filter.seq {
        let found = Records::from(ledger, seq).map_err(failure)?.next().transpose().map_err(failure)?;
        let found = found.filter(|record| filter.matches(record));
        let record = found.ok_or_else(|| Failure::new(format!("there is no such record {seq}")))?;
        print(&record, terminal)?;
        return Ok(Exit::Ok);
    }
    for record in Records::open(ledger).map_err(failure)? {
        let record = record.map_err(failure)?;
        if filter.matches(&record) {
            print(&record, terminal)?;
        }
    }
    Ok(Exit::Ok)
}

fn check(ledger: &Path, head: Option<&Head>, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let result = verify(ledger, head);
    match (terminal.format, &result) {
        (Format::Json, Ok(verified)) => terminal.json(&in_order(verified))?,
        (Format::Json, Err(VerifyError::Damaged(damage))) => terminal.json(&json!({
            "version": 1,
            "ok": false,
            "code": damage.code.id(),
            "segment": damage.segment.to_string_lossy(),
            "line": damage.line,
            "seq": damage.seq,
            "sentence": damage.sentence,
        }))?,
        (Format::Text, Ok(verified)) => print_verified(verified, terminal)?,
        (_, Err(_)) => {}
    }
    result.map(|_| Exit::Ok).map_err(failure)
}

fn in_order(verified: &Verification) -> Value {
    json!({
        "version": 1,
        "ok": true,
        "first": verified.first,
        "records": verified.records,
        "segments": verified.segments,
        "head": verified.head.map(|head| head.to_string()),
    })
}

fn print_verified(verified: &Verification, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let Verification { first, records, segments, head, .. } = verified;
    let files = if *segments == 1 { "1 file".to_owned() } else { format!("{segments} files") };
    writeln!(terminal.out, "in order: {records} records in {files}")?;
    if *first > 1 {
        writeln!(terminal.out, "held from record {first} on; older files were deleted")?;
    }
    match head {
        Some(head) => writeln!(terminal.out, "head: {head}")?,
        None => writeln!(terminal.out, "nothing was recorded yet")?,
    }
    Ok(())
}

fn head(ledger: &Path, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let head = Records::head(ledger).map_err(failure)?;
    match terminal.format {
        Format::Text => writeln!(terminal.out, "{head}")?,
        Format::Json => {
            terminal.json(&json!({ "version": 1, "seq": head.seq, "hash": head.hash.to_string() }))?;
        }
    }
    Ok(Exit::Ok)
}

fn export(ledger: &Path, to: ExportFormat, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let format = match to {
        ExportFormat::Json => export::Format::Json,
        ExportFormat::Jsonl => export::Format::Lines,
        ExportFormat::Cef => export::Format::Cef,
        ExportFormat::Ocsf => export::Format::Ocsf,
    };
    let records = Records::open(ledger).map_err(failure)?;
    match export::write(records, format, terminal.out) {
        Ok(()) => Ok(Exit::Ok),
        Err(ExportError::Broken(broken)) => Err(failure(broken)),
        Err(ExportError::Io(error)) => Err(error.into()),
    }
}

impl FilterArgs {
    fn filter(&self) -> Filter {
        let Self { event, session, decision, since, seq } = self;
        Filter {
            event: event.clone(),
            session: session.clone(),
            decision: decision.clone(),
            since: *since,
            seq: *seq,
        }
    }
}

fn since(text: &str) -> Result<Timestamp, SinceError> {
    ::audit::since(text, Timestamp::now())
}

#[expect(clippy::needless_pass_by_value, reason = "ends what it is about")]
fn failure(broken: VerifyError) -> Failure {
    match &broken {
        VerifyError::Unreadable { path, source } if source.kind() == ErrorKind::NotFound => {
            Failure::new(format!("there is no ledger at {}", Shown::path(path)))
                .hint("it begins with the first thing that is recorded; `--ledger PATH` names another")
        }
        VerifyError::Damaged(damage) => Failure::new(format!("{damage} ({})", damage.code))
            .hint(format!("`ringfence explain {}` says what that means and what to do", damage.code)),
        broken => Failure::new("the ledger could not be checked")
            .because(broken)
            .hint(format!("`ringfence explain {}` says more", broken.code())),
    }
}

/// One record: for people a line, for programs the line of the ledger.
fn print(record: &Record, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    match terminal.format {
        Format::Json => writeln!(terminal.out, "{}", record.line())?,
        Format::Text => {
            let line = readable(record, terminal);
            writeln!(terminal.out, "{line}")?;
        }
    }
    Ok(())
}

fn readable(record: &Record, terminal: &Terminal<'_>) -> String {
    let time = record.time().replacen('T', " ", 1);
    let time = time.split_once('.').map_or(time.as_str(), |(seconds, _)| seconds);
    let mut parts =
        vec![format!("{:>6}  {}  {}", record.head().seq, Shown::text(time), Shown::text(record.event()))];
    parts.extend(record.text("decision").and_then(effect).map(|effect| terminal.effect(effect)));
    parts.extend(fields(record));
    let by = ["agent", "session", "id"].iter().filter_map(|name| Some((name, record.text(name)?)));
    parts.extend(by.map(|(name, text)| format!("{name}={}", readable_text(text))));
    parts.join("  ")
}

fn effect(word: &str) -> Option<Effect> {
    [Effect::Allow, Effect::Ask, Effect::Deny].into_iter().find(|effect| effect.word() == word)
}

/// The fields of the event in the order of its table; those of an event we do not know in the order of their names.
fn fields(record: &Record) -> Vec<String> {
    let shape = EVENTS.iter().find(|shape| shape.name == record.event());
    let known = shape.map(|shape| shape.fields.iter().map(|field| field.name).collect::<Vec<_>>());
    let names = known.unwrap_or_else(|| record.fields().keys().map(String::as_str).collect());
    let shown = names.into_iter().filter(|name| !ELSEWHERE.contains(name) && !name.ends_with("sha256"));
    shown.filter_map(|name| Some(format!("{name}={}", readable_value(record.fields().get(name)?)))).collect()
}

/// Fields that stand elsewhere in the line, or that only programs read.
const ELSEWHERE: [&str; 11] =
    ["v", "seq", "time", "event", "decision", "session", "agent", "id", "prev", "hash", "chain"];

fn readable_value(value: &Value) -> String {
    match value {
        Value::String(text) => readable_text(text),
        Value::Array(items) => items.iter().map(readable_value).collect::<Vec<_>>().join(","),
        other => readable_text(&other.to_string()),
    }
}

/// Spelled out; in quotes where it could not be told where it ends.
fn readable_text(text: &str) -> String {
    let plain = !text.is_empty() && !text.contains([' ', '"', '=', '[', ']', ',']);
    let shown = Shown::text(text).to_string();
    if plain { shown } else { format!("\"{}\"", shown.replace('"', "\\\"")) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{self, Write};

    use ::audit::{Arguments, By, Durability, Event, Impact, Ledger, Name, Options, Sink, Text};
    use clap::Parser;
    use policy::{Code, Kind, RuleRef};
    use tempfile::TempDir;

    use super::*;

    /// The command as a person types it.
    #[derive(Parser)]
    struct Typed {
        #[command(subcommand)]
        command: AuditCommand,
    }

    struct Room {
        dir: TempDir,
        ledger: Ledger,
    }

    impl Room {
        /// A ledger with one of everything a person might look for.
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let mut options = Options::new(Durability::Process);
            options.clock = || "2026-01-31T08:00:00.123456Z".parse().unwrap();
            let (ledger, _) = Ledger::open(&dir.path().join("ledger.jsonl"), options).unwrap();
            let room = Self { dir, ledger };
            room.record_all();
            room
        }

        fn record_all(&self) {
            let by = By { session: Some("s1"), agent: Some("claude"), id: Some("r1") };
            let rule = RuleRef { file: Path::new("policy.toml").into(), line: 12.try_into().unwrap() };
            self.record(&Event::RequestDecided {
                by,
                kind: Kind::Write,
                object: Text("/srv/w/a\u{1b}[2K file"),
                tool: Some(Name("write")),
                impact: None,
                decision: Effect::Deny,
                code: Code::ForbiddenName,
                reason: Text("`.env` is forbidden"),
                rule: Some(&rule),
                remedy: None,
                profile: None,
                turn: None,
                sources: None,
            });
            let tool = Name("exec");
            let arguments = Arguments("{\"command\":\"ls\"}");
            self.record(&Event::ToolStarted { by, tool, impact: Impact::Read, arguments });
            let by = By { session: Some("s2"), ..By::default() };
            self.record(&Event::SkillCleared { by, count: 3 });
        }

        fn record(&self, event: &Event<'_>) {
            self.ledger.record(event).unwrap();
        }

        fn path(&self) -> PathBuf {
            self.dir.path().join("ledger.jsonl")
        }

        fn run(&self, line: &str) -> Ran {
            run_at(&self.path(), line, Format::Text)
        }

        fn json(&self, line: &str) -> Ran {
            run_at(&self.path(), line, Format::Json)
        }

        /// Changes the file behind our back.
        fn edit(&self, change: impl FnOnce(String) -> String) {
            let text = fs::read_to_string(self.path()).unwrap();
            fs::write(self.path(), change(text)).unwrap();
        }
    }

    struct Ran {
        exit: Exit,
        out: String,
        err: String,
    }

    fn run_at(ledger: &Path, line: &str, format: Format) -> Ran {
        let typed = Typed::try_parse_from(format!("audit {line}").split_whitespace()).unwrap();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut terminal = Terminal { out: &mut out, err: &mut err, format, color: false };
        let (exit, failure) = match run(&typed.command, ledger, &mut terminal) {
            Ok(exit) => (exit, String::new()),
            Err(failure) => (failure.exit, failure.to_string()),
        };
        assert!(err.is_empty());
        let place = ledger.parent().unwrap().to_str().unwrap();
        let text = |text: String| text.replace(place, "DIR").replace(env!("CARGO_PKG_VERSION"), "VERSION");
        Ran { exit, out: text(String::from_utf8(out).unwrap()), err: text(failure) }
    }

    #[test]
    fn records_are_lines_that_people_can_read() {
        let ran = Room::new().run("tail");
        assert_eq!(ran.exit, Exit::Ok);
        insta::assert_snapshot!(ran.out, @r#"
        1  2026-01-31 08:00:00  ledger.started  version=VERSION
        2  2026-01-31 08:00:00  request.decided  deny  kind=write  object="/srv/w/a\u{1b}[2K file"  tool=write  code=RF-F003  reason="`.env` is forbidden"  rule=policy.toml:12  agent=claude  session=s1  id=r1
        3  2026-01-31 08:00:00  tool.started  tool=exec  impact=read  arguments="{\"command\":\"ls\"}"  agent=claude  session=s1  id=r1
        4  2026-01-31 08:00:00  skill.cleared  count=3  session=s2
        "#);
    }

    #[test]
    fn programs_get_the_lines_of_the_ledger() {
        let room = Room::new();
        assert_eq!(
            room.json("show").out,
            fs::read_to_string(room.path()).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION")
        );
    }

    #[test]
    fn tail_prints_so_many() {
        let room = Room::new();
        for (lines, seqs) in
            [(0, vec![]), (1, vec![4]), (3, vec![2, 3, 4]), (4, vec![1, 2, 3, 4]), (99, vec![1, 2, 3, 4])]
        {
            assert_eq!(seqs_of(&room.json(&format!("tail -n {lines}")).out), seqs, "{lines}");
        }
    }

    #[test]
    fn show_prints_those_that_fit() {
        let room = Room::new();
        let rows: &[(&str, &[u64])] = &[
            ("show", &[1, 2, 3, 4]),
            ("show --event tool.started", &[3]),
            ("show --event tool", &[3]),
            ("show --event *.de*", &[]),
            ("show --event re*", &[2]),
            ("show --session s1", &[2, 3]),
            ("show --decision deny", &[2]),
            ("show --decision allow", &[]),
            ("show --since 2026-01-31T08:00:00Z", &[1, 2, 3, 4]),
            ("show --since 2026-01-31T08:00:01Z", &[]),
            ("show --seq 3", &[3]),
            ("show --session s1 --event request", &[2]),
        ];
        for (line, seqs) in rows {
            assert_eq!(seqs_of(&room.json(line).out), *seqs, "{line}");
        }
        let missing = room.run("show --seq 9");
        assert_eq!(
            (missing.exit, missing.err.as_str()),
            (Exit::Failed, "error: there is no such record 9\n")
        );
    }

    fn seqs_of(lines: &str) -> Vec<u64> {
        lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap())
            .collect()
    }

    #[test]
    fn verify_says_what_is_in_order() {
        let room = Room::new();
        let head = room.ledger.head().to_string();
        let ran = room.run(&format!("verify --head {head}"));
        assert_eq!((ran.exit, ran.out), (Exit::Ok, format!("in order: 4 records in 1 file\nhead: {head}\n")));
        assert_eq!(room.run("head").out, format!("{head}\n"));
        let json: Value = serde_json::from_str(&room.json("verify").out).unwrap();
        assert_eq!((&json["ok"], &json["records"]), (&json!(true), &json!(4)));
        let json: Value = serde_json::from_str(&room.json("head").out).unwrap();
        assert_eq!(json["seq"], 4);
    }

    #[test]
    fn a_broken_ledger_fails_with_code_sentence_and_hint() {
        let room = Room::new();
        let head = room.ledger.head();
        room.edit(|text| text.replacen("forbidden", "fine", 1));
        for line in ["verify", "show", "export --to cef"] {
            let ran = room.run(line);
            assert_eq!(ran.exit, Exit::Failed, "{line}");
            insta::allow_duplicates! {
                insta::assert_snapshot!(ran.err, @r"
                error: DIR/ledger.jsonl:2: record 2 was changed: the record does not match its own hash (RF-A002)
                hint: `ringfence explain RF-A002` says what that means and what to do
                ");
            }
        }
        let json: Value = serde_json::from_str(&room.json("verify").out).unwrap();
        assert_eq!((&json["ok"], &json["code"], &json["seq"]), (&json!(false), &json!("RF-A002"), &json!(2)));

        let room = Room::new();
        room.edit(|text| text.split_inclusive('\n').take(3).collect());
        assert_eq!(room.run("verify").exit, Exit::Ok);
        let cut = room.run(&format!("verify --head {head}"));
        assert!(cut.err.contains("RF-A005") && cut.exit == Exit::Failed, "{}", cut.err);
    }

    #[test]
    fn tail_of_a_torn_ledger_prints_what_is_whole_and_fails() {
        let room = Room::new();
        room.edit(|text| text + "{\"v\":1,");
        let ran = room.json("tail -n 2");
        assert_eq!((ran.exit, seqs_of(&ran.out)), (Exit::Failed, vec![3, 4]));
        assert!(ran.err.contains("RF-A006"), "{}", ran.err);
    }

    #[test]
    fn a_missing_ledger_is_a_failure_that_says_so() {
        let dir = tempfile::tempdir().unwrap();
        for line in ["tail", "show", "show --seq 1", "verify", "head", "export --to json"] {
            let ran = run_at(&dir.path().join("ledger.jsonl"), line, Format::Text);
            assert_eq!((ran.exit, ran.out.as_str()), (Exit::Failed, ""), "{line}");
            insta::allow_duplicates! {
                insta::assert_snapshot!(ran.err, @r"
                error: there is no ledger at DIR/ledger.jsonl
                hint: it begins with the first thing that is recorded; `--ledger PATH` names another
                ");
            }
        }
    }

    #[test]
    fn another_ledger_can_be_named() {
        let room = Room::new();
        let elsewhere = Path::new("/nonexistent/ledger.jsonl");
        let path = room.path();
        for line in ["tail", "show", "verify", "head", "export --to jsonl"] {
            let ran = run_at(elsewhere, &format!("{line} --ledger {}", path.display()), Format::Text);
            assert_eq!(ran.exit, Exit::Ok, "{line}: {}", ran.err);
        }
    }

    #[test]
    fn every_export_has_one_event_a_record() {
        let room = Room::new();
        assert_eq!(room.run("export --to jsonl").out.lines().count(), 4);
        assert!(room.run("export --to cef").out.lines().all(|line| line.starts_with("CEF:0|Ringfence|")));
        let ocsf = room.run("export --to ocsf").out;
        assert!(ocsf.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["class_uid"].is_u64()));
        let document: Value = serde_json::from_str(&room.run("export --to json").out).unwrap();
        assert_eq!(document["records"].as_array().unwrap().len(), 4);
    }

    #[test]
    fn wrong_words_are_not_accepted() {
        for line in [
            "verify --head 7",
            "show --decision maybe",
            "show --since yesterday",
            "export",
            "export --to xml",
        ] {
            let words = format!("audit {line}");
            assert!(Typed::try_parse_from(words.split_whitespace()).is_err(), "{line}");
        }
    }

    /// Reads so many lines, records one more each time, and then goes away.
    struct Reader<'r> {
        room: &'r Room,
        text: String,
        lines: usize,
    }

    impl Write for Reader<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.text.lines().count() >= self.lines {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.text.push_str(std::str::from_utf8(bytes).unwrap());
            if bytes.ends_with(b"\n") {
                self.room.record_all();
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn follow_goes_on_until_nobody_reads() {
        let room = Room::new();
        let mut reader = Reader { room: &room, text: String::new(), lines: 12 };
        let mut err = Vec::new();
        let typed = Typed::try_parse_from(["audit", "tail", "-n", "2", "--follow"]).unwrap();
        let mut terminal = Terminal { out: &mut reader, err: &mut err, format: Format::Json, color: false };
        let failure = run(&typed.command, &room.path(), &mut terminal).unwrap_err();
        assert_eq!((failure.exit, failure.to_string().as_str()), (Exit::Ok, ""));
        assert_eq!(seqs_of(&reader.text), (3..15).collect::<Vec<_>>());
    }
}
