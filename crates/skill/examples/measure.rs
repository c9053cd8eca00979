//! Measures the scanner on labelled skills: `measure DIR [--half dev|held] [--list] [--page REASONS] [--rules base]`.
//!
//! DIR has a `labels.csv` (id, label, split, kind, category, source, licence) and a directory for each id.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a program for people")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ringfence_skill::{Content, Entry, Report, Scanner, Severity, Tree};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(root) = words.first().map(PathBuf::from) else {
        eprintln!("usage: measure DIR [--half dev|held] [--list] [--page REASONS] [--rules base]");
        std::process::exit(64);
    };
    let option = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
    let rules = if option("--rules").is_some() {
        ringfence_skill::base_rules()
    } else {
        ringfence_skill::all_rules()
    };
    let scanner = Scanner::new(&rules);
    let samples = samples(&root, option("--half").map(String::as_str));
    let started = Instant::now();
    let all: Vec<(Sample, Report)> = samples
        .into_iter()
        .map(|sample| {
            let report = scanner.scan(&sample.tree);
            (sample, report)
        })
        .collect();
    let cold = started.elapsed();
    let started = Instant::now();
    for (sample, _) in &all {
        std::hint::black_box(scanner.scan(&sample.tree));
    }
    let took = Took { cold, warm: started.elapsed() };
    match option("--page") {
        Some(reasons) => page(&all, &took, &std::fs::read_to_string(reasons).unwrap_or_default()),
        None => show(&all, &took, words.iter().any(|word| word == "--list")),
    }
}

/// Time that everything took: with the first use of every pattern, and again.
struct Took {
    cold: Duration,
    warm: Duration,
}

impl Took {
    fn speed(&self, bytes: usize) -> String {
        let speed = |took: Duration| bytes as u128 / took.as_micros().max(1);
        format!(
            "{} MB/s with the first use of every pattern, {} MB/s after that",
            speed(self.cold),
            speed(self.warm)
        )
    }
}

struct Sample {
    id: String,
    malicious: bool,
    kind: String,
    category: String,
    tree: Tree,
}

fn samples(root: &Path, half: Option<&str>) -> Vec<Sample> {
    let labels = std::fs::read_to_string(root.join("labels.csv")).unwrap_or_default();
    let rows = labels.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    rows.filter_map(|row| {
        let (id, label) = (row.first()?, row.get(1)?);
        let even = u8::from_str_radix(id.get(id.len() - 1..)?, 16).ok()? % 2 == 0;
        let wanted = match half {
            Some("dev") => even,
            Some("held") => !even,
            _ => true,
        };
        let tree = Tree { name: (*id).to_owned(), entries: entries(&root.join(id), &root.join(id)) };
        let (kind, category) = ((*row.get(3)?).to_owned(), (*row.get(4)?).to_owned());
        wanted.then(|| Sample {
            id: (*id).to_owned(),
            malicious: *label == "malicious",
            kind,
            category,
            tree,
        })
    })
    .collect()
}

fn entries(root: &Path, directory: &Path) -> Vec<Entry> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(entries(root, &path));
        } else if let (Ok(bytes), Ok(below)) = (std::fs::read(&path), path.strip_prefix(root)) {
            found.push(Entry { path: below.to_owned(), content: Content::File { bytes, executable: false } });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

#[derive(Default)]
struct Row {
    all: usize,
    blocked: usize,
    flagged: usize,
}

fn show(all: &[(Sample, Report)], took: &Took, list: bool) {
    let mut rows: BTreeMap<(bool, String), Row> = BTreeMap::new();
    for (sample, report) in all {
        for name in
            [String::from(" all"), sample.kind.clone(), format!("{} {}", sample.kind, sample.category)]
        {
            let row = rows.entry((sample.malicious, name)).or_default();
            row.all += 1;
            row.blocked += usize::from(report.worst() == Some(Severity::Critical));
            row.flagged += usize::from(report.worst() == Some(Severity::Warning));
        }
        if list {
            listed(sample, report);
        }
    }
    for ((malicious, name), row) in rows {
        let label = if malicious { "malicious" } else { "benign" };
        let part = |count: usize| 100 * count / row.all.max(1);
        println!(
            "{label:9} {name:50} {:5}  blocked {:4} ({:3} %)  flagged {:4} ({:3} %)",
            row.all,
            row.blocked,
            part(row.blocked),
            row.flagged,
            part(row.flagged)
        );
    }
    let bytes: usize = all.iter().map(|(_, report)| report.bytes).sum();
    println!("{bytes} bytes: {}", took.speed(bytes));
}

fn listed(sample: &Sample, report: &Report) {
    let worst = report.worst();
    let wrong =
        if sample.malicious { worst != Some(Severity::Critical) } else { worst >= Some(Severity::Warning) };
    if !wrong {
        return;
    }
    let found: Vec<String> = report
        .findings
        .iter()
        .filter(|finding| Some(finding.severity) == worst)
        .take(4)
        .map(|finding| {
            format!("{}:{} {} {:?}", finding.path.display(), finding.line, finding.rule.id, finding.matched)
        })
        .collect();
    let label = if sample.malicious { "MISS" } else { "FALSE" };
    println!("{label} {} {} {} {worst:?} {}", sample.id, sample.kind, sample.category, found.join(" | "));
}

/// The page of `docs/`, with a reason for everything that went wrong: lines of `id,reason`.
fn page(all: &[(Sample, Report)], took: &Took, reasons: &str) {
    println!("# What the scanner finds, measured\n");
    println!(
        "Made by `cargo run --release -p ringfence-skill --example measure -- DIR --page docs/measured/reasons.csv`"
    );
    println!(
        "over labelled skills and manifests. Blocked: a critical finding. Flagged: a warning is the worst.\n"
    );
    let blocked = |malicious: bool| count(all, malicious, |worst| worst == Some(Severity::Critical));
    let (caught, wrong) = (blocked(true), blocked(false));
    println!("| | all | blocked | flagged |\n|---|---:|---:|---:|");
    for (malicious, label) in [(true, "malicious"), (false, "benign")] {
        let flagged = count(all, malicious, |worst| worst == Some(Severity::Warning));
        let of = count(all, malicious, |_| true);
        println!("| {label} | {of} | {} | {} |", share(blocked(malicious), of), share(flagged, of));
    }
    println!("\nPrecision of a block: {}.\n", share(caught, caught + wrong));
    println!(
        "## By kind and category\n\n| label | kind | category | all | blocked | flagged |\n|---|---|---|---:|---:|---:|"
    );
    for ((malicious, name), row) in rows(all) {
        let label = if malicious { "malicious" } else { "benign" };
        println!("| {label} | {} | {} | {} | {} | {} |", name.0, name.1, row.all, row.blocked, row.flagged);
    }
    let reason = |id: &str| {
        let found = reasons.lines().filter_map(|line| line.split_once(',')).find(|(other, _)| *other == id);
        found.map_or("not looked into", |(_, reason)| reason).to_owned()
    };
    for (malicious, title) in [(true, "Missed"), (false, "Blocked or flagged wrongly")] {
        println!("\n## {title}\n\n| id | category | worst | why |\n|---|---|---|---|");
        for (sample, report) in all.iter().filter(|(sample, _)| sample.malicious == malicious) {
            let worst = report.worst().unwrap_or(Severity::Note);
            if malicious == (worst < Severity::Critical) && (malicious || worst >= Severity::Warning) {
                println!(
                    "| {} | {} | {} | {} |",
                    sample.id,
                    sample.category,
                    worst.name(),
                    reason(&sample.id)
                );
            }
        }
    }
    let bytes: usize = all.iter().map(|(_, report)| report.bytes).sum();
    println!("\n## Speed\n\n{bytes} bytes on one core: {}.", took.speed(bytes));
}

fn rows(all: &[(Sample, Report)]) -> BTreeMap<(bool, (String, String)), Row> {
    let mut rows: BTreeMap<(bool, (String, String)), Row> = BTreeMap::new();
    for (sample, report) in all {
        let row = rows.entry((sample.malicious, (sample.kind.clone(), sample.category.clone()))).or_default();
        row.all += 1;
        row.blocked += usize::from(report.worst() == Some(Severity::Critical));
        row.flagged += usize::from(report.worst() == Some(Severity::Warning));
    }
    rows
}

fn count(all: &[(Sample, Report)], malicious: bool, wanted: impl Fn(Option<Severity>) -> bool) -> usize {
    all.iter().filter(|(sample, report)| sample.malicious == malicious && wanted(report.worst())).count()
}

fn share(part: usize, of: usize) -> String {
    format!("{part} ({}.{} %)", 100 * part / of.max(1), 1000 * part / of.max(1) % 10)
}
