//! A download is saved and run.

use crate::code::command::{Commands, Step, is_decoder, last_segment};
use crate::code::destination::{Kind, classify};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "DOWNLOAD_SAVE_THEN_RUN",
    category: Category::Download,
    severity: Severity::Critical,
    title: "a download is saved and run",
    why: "What another machine sends is run, and nothing between checks what it is.",
    fix: "check the file against a known hash before it is run",
    places: ANYWHERE,
    anchors: words!["curl", "wget", "aria2c", "base64", "xxd", "openssl", "git clone"],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let commands = unit.commands();
    let saved = saved(commands);
    let cloned = commands.steps().find_map(|step| Some((step, clones(step)?)));
    if saved.is_empty() && cloned.is_none() {
        return Vec::new();
    }
    let from_clone = |step| cloned.and_then(|(clone, severity)| out_of(clone, severity, step));
    commands
        .steps()
        .filter_map(|step| hit(commands, step, &saved).or_else(|| from_clone(step)))
        .take(20)
        .collect()
}

/// Returns the severity of running the content of a repository that is cloned from an unknown host.
fn clones(step: Step<'_>) -> Option<Severity> {
    if step.name() != "git" || !step.has("clone") {
        return None;
    }
    let from = step.words().iter().find(|word| word.text.contains("://")).map(|word| classify(&word.text))?;
    match from.kind {
        Kind::UserContent | Kind::Vendor | Kind::Private => None,
        Kind::Placeholder if from.host.contains(['<', '{', '$', '_']) || from.host.contains("your") => None,
        _ => Some(Severity::Critical),
    }
}

/// Finds a program that is run out of the repository that was cloned before.
fn out_of(clone: Step<'_>, severity: Severity, step: Step<'_>) -> Option<Hit> {
    let file = step.runs_file().filter(|file| step.number > clone.number && !file.starts_with('/'))?;
    let name = last_segment(file).to_ascii_lowercase();
    let installs =
        ["install", "setup", "bootstrap", "init", "run", "start"].iter().any(|start| name.starts_with(start))
            || file.starts_with("./");
    installs.then(|| Hit { severity: Some(severity), ..Hit::at(step.range_from(clone)) })
}

/// A file with content from elsewhere, the program that wrote it, and the severity of running it.
pub(super) struct Saved {
    pub(super) file: String,
    pub(super) by: usize,
    pub(super) severity: Severity,
    /// True if its origin is unproved: the connection is unencrypted, its certificate is not checked, or the host has no name.
    is_unproved: bool,
}

/// Maximum number of files of one unit that are followed.
const MAX_SAVED: usize = 50;

/// Returns the files that downloads and decoders write.
pub(super) fn saved(commands: &Commands) -> Vec<Saved> {
    let mut found: Vec<Saved> = Vec::new();
    for step in commands.steps() {
        if found.len() >= MAX_SAVED {
            break;
        }
        found.extend(saved_by(step).or_else(|| moved(step, &found)));
    }
    found
}

fn saved_by(step: Step<'_>) -> Option<Saved> {
    let fetch = step.fetch().filter(|_| !step.words().is_empty());
    let is_unproved = fetch.as_ref().is_some_and(|fetch| {
        let from = &fetch.from;
        let is_known = matches!(from.kind, Kind::Vendor | Kind::Private | Kind::UserContent)
            || from.host.is_empty()
            || from.kind == Kind::Placeholder
                && (from.host.contains(['<', '{', '$', '_']) || from.host.contains("your"));
        !is_known && (is_unchecked(step) || !from.encrypted || from.is_throwaway())
    });
    let (file, severity) = match fetch {
        Some(fetch) => (fetch.file, fetch.from.weight_of_running()),
        None => (written(step), brings(step)?),
    };
    let file = file.map(|file| last_segment(&file).to_owned()).filter(|file| is_runnable(file))?;
    Some(Saved { file, by: step.number, severity, is_unproved })
}

/// Returns true for `curl -k`, `wget --no-check-certificate`.
fn is_unchecked(step: Step<'_>) -> bool {
    step.has("--no-check-certificate")
        || step.has("--insecure")
        || step.name() == "curl" && step.has_short('k')
        || step.has("-SkipCertificateCheck")
}

/// Follows a file that was saved before and gets another name.
fn moved(step: Step<'_>, found: &[Saved]) -> Option<Saved> {
    if !matches!(step.name().as_str(), "mv" | "cp" | "install" | "ln") {
        return None;
    }
    let names: Vec<&str> =
        step.words().iter().map(|word| word.text.as_str()).filter(|word| !word.starts_with('-')).collect();
    let (to, from) = names.split_last()?;
    let before = found.iter().find(|saved| from.iter().any(|from| last_segment(from) == saved.file))?;
    let file = last_segment(to).to_owned();
    (is_runnable(&file) && file != before.file).then_some(Saved {
        file,
        by: before.by,
        severity: before.severity,
        is_unproved: before.is_unproved,
    })
}

/// Returns the severity of running what a program writes, if that is decoded or comes from another machine.
fn brings(step: Step<'_>) -> Option<Severity> {
    if is_decoder(step) || step.feeders().any(is_decoder) {
        return Some(Severity::Critical);
    }
    step.feeders().filter_map(Step::fetch).map(|fetch| fetch.from.weight_of_running()).max()
}

/// Returns the file that a program writes.
fn written(step: Step<'_>) -> Option<String> {
    let redirect = step.redirects().iter().find(|redirect| redirect.direction == policy::Direction::Write);
    if let Some(redirect) = redirect {
        return Some(redirect.target.text.clone());
    }
    match step.name().as_str() {
        "tee" => step.words().iter().find(|word| !word.text.starts_with('-')).map(|word| word.text.clone()),
        "openssl" => step.value(&["-out"]).map(|word| word.text.clone()),
        "base64" => step.value(&["-o", "--output"]).map(|word| word.text.clone()),
        _ => None,
    }
}

/// Returns false for files with extensions that are read, not run.
fn is_runnable(file: &str) -> bool {
    !file.is_empty()
        && !matches!(
            file.rsplit_once('.').map_or("", |(_, ending)| ending),
            "json"
                | "yaml"
                | "yml"
                | "txt"
                | "md"
                | "html"
                | "csv"
                | "png"
                | "jpg"
                | "svg"
                | "pdf"
                | "gz"
                | "tgz"
                | "zip"
                | "xz"
                | "bz2"
                | "xml"
                | "pem"
                | "crt"
                | "key"
                | "asc"
                | "gpg"
                | "log"
        )
}

fn hit(commands: &Commands, step: Step<'_>, saved: &[Saved]) -> Option<Hit> {
    if let Some(found) = prepared(step, saved) {
        let by = commands.step(found.by).filter(|_| !is_checked(commands, found.by, step.number))?;
        return Some(Hit::at(step.range_from(by)));
    }
    let file = step.runs_file().map(last_segment).filter(|file| !file.is_empty())?;
    let saved = saved.iter().rev().find(|saved| saved.by < step.number && saved.file == file)?;
    let by = commands.step(saved.by)?;
    if saved.severity == Severity::Critical && is_checked(commands, saved.by, step.number) {
        return Some(Hit { severity: Some(Severity::Note), ..Hit::at(step.range_from(by)) });
    }
    if matches!(step.name().as_str(), "open" | "xdg-open") && !file.contains(".app") {
        return None;
    }
    Some(Hit { severity: Some(saved.severity), ..Hit::at(step.range_from(by)) })
}

/// Returns true if a step between two programs checks a hash or a signature.
fn is_checked(commands: &Commands, from: usize, to: usize) -> bool {
    (from..to).filter_map(|number| commands.step(number)).any(|step| {
        let name = step.name();
        match name.as_str() {
            "sha256sum" | "sha512sum" | "shasum" | "md5sum" | "b2sum" => {
                step.has_short('c') || step.has("--check")
            }
            "gpg" | "cosign" | "minisign" | "gpgv" => {
                step.words().iter().any(|word| word.text.contains("verif") || word.text == "-V")
            }
            _ => false,
        }
    })
}

/// Finds a file of unproved origin that is made executable, or handed to an installer of packages with all rights.
fn prepared<'s>(step: Step<'_>, saved: &'s [Saved]) -> Option<&'s Saved> {
    let mut unproved = saved.iter().filter(|saved| saved.is_unproved && saved.by < step.number);
    let files: Vec<&str> = match step.name().as_str() {
        "chmod" if step.words().iter().any(|mode| makes_program(&mode.text)) => {
            let spelled = step.words().iter().map(|word| step.spelled(word).trim_matches(['"', '\'']));
            let all = spelled.clone().any(|word| word.ends_with('*'));
            if all {
                return unproved.next();
            }
            spelled.collect()
        }
        "dpkg" | "rpm" | "installer" | "dnf" | "yum" | "apt" | "apt-get" | "zypper" | "apk" | "pacman"
        | "snap" | "msiexec" | "hdiutil" => step.words().iter().map(|word| word.text.as_str()).collect(),
        _ => return None,
    };
    unproved.find(|saved| files.iter().any(|file| last_segment(file) == saved.file))
}

/// Returns true for modes such as `+x`, `u+rwx`, `755`.
fn makes_program(mode: &str) -> bool {
    let octal = mode.len() >= 3 && mode.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    match mode.split_once(['+', '=']) {
        Some((_, rights)) => rights.contains('x'),
        None => octal && mode.bytes().rev().take(3).any(|digit| digit % 2 == 1),
    }
}
