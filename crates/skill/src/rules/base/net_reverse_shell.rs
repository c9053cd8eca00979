//! A shell for a remote host.

use crate::code::command::{Step, is_shell};
use crate::code::destination::{Kind, classify};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::{ANYWHERE, Place, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "NET_REVERSE_SHELL",
    category: Category::NetworkExfil,
    severity: Severity::Critical,
    title: "a shell for somebody elsewhere",
    why: "Whoever is at the other end of the connection types commands on this machine.",
    fix: "remove the command",
    places: ANYWHERE,
    anchors: words![
        "/dev/tcp",
        "/dev/udp",
        "bash -i",
        "sh -i",
        "\\bnc -",
        "\\bncat",
        "netcat",
        "\\bsocat",
        "mkfifo",
        "socket",
        "fsockopen",
        "tcpclient",
        "/inet/tcp",
        "ztcp",
        "\\btelnet",
        "s_client",
        "pty.spawn",
        "net.connect",
        "\\bnc ",
        "').connect(",
        "\").connect(",
    ],
    check: Check::Requiring(&[&NEAR], hits),
};

/// Phrases one of which occurs in every text that the rule matches.
static NEAR: Phrases = Phrases::new(words![
    r"/dev/(?:tcp|udp)|sh\b|cmd|powershell|iex|invoke-expression|dup2|(?:exec|proc_open|system|popen)\s*\(|std(?:in|out)|getline|\s--?[a-z]*[ecl]|exec:|system:|mkfifo",
]);

patterns! {
    TALKS = r"/dev/(?:tcp|udp)/([^/\s]{1,80})/";
    TO_SHELL = r"(?:exec\s+[0-9]*<>\s*|[0-9]>&1|<&[0-9]|>&\s*|\bsh\s+-i\b[^\n]{0,40})/?";
    CODE = concat!(
        r"\bsocket\b[\s\S]{0,400}?\b(?:dup2|pty\.spawn)\b[\s\S]{0,200}?sh\b",
        r"|\bsocket\b[\s\S]{0,300}?\bconnect\b[\s\S]{0,300}?(?:subprocess|os\.popen|exec)[\s\S]{0,120}?/(?:usr/)?bin/(?:ba|z|da)?sh\b",
        r"|\bfsockopen\s*\([\s\S]{0,200}?(?:exec|proc_open|system|popen)\s*\(",
        r"|\bTCPSocket[\s\S]{0,200}?(?:exec|popen|system)\b[\s\S]{0,80}?sh\b",
        r"|\bsocket\b[\s\S]{0,300}?open\s*\(\s*STD(?:IN|OUT)[\s\S]{0,200}?exec",
        r"|\bnet(?:'\)|\x22\))?\.(?:connect|Socket|createConnection)\b[\s\S]{0,300}?\bspawn\s*\(\s*['\x22](?:/bin/)?(?:ba|z|cmd|power)?sh",
        r"|child_process[\s\S]{0,300}?\bspawn\s*\(\s*['\x22](?:/bin/)?(?:ba)?sh['\x22][\s\S]{0,300}?\.connect\s*\([\s\S]{0,200}?\.pipe\s*\(",
        r"|TCPClient\s*\([\s\S]{0,500}?(?:iex|invoke-expression)\b",
        r"|/inet/tcp/[^\n]{0,200}?\|&\s*getline"
    );
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text().as_bytes();
    let code = if has(text, SINKS) { CODE.find_iter(text).take(5).collect() } else { Vec::new() };
    let mut hits: Vec<Hit> = code.into_iter().map(|found| Hit::at(found.range())).collect();
    let mut end = 0;
    for found in TALKS.captures_iter(text).take(50) {
        let (Some(all), Some(host)) = (found.get(0), found.get(1)) else { continue };
        if all.start() < end {
            continue;
        }
        let line = line_of(text, all.start());
        end = line.end;
        // In prose, the text before the connection is part of the sentence about it.
        let from = if unit.place == Place::Prose { all.start() } else { line.start };
        hits.push(Hit {
            range: from..line.end,
            ..talks(text, line, &String::from_utf8_lossy(host.as_bytes()))
        });
    }
    if has(text, PROGRAMS) {
        hits.extend(unit.commands().steps().filter_map(of_program).take(20));
    }
    hits
}

/// Functions and names that code hands a socket to.
const SINKS: &[&str] = &[
    "dup2",
    "spawn",
    "/bin/",
    "proc_open",
    "popen",
    "stdin",
    "stdout",
    "iex",
    "invoke-expression",
    "getline",
    "exec",
    "system",
];

/// Programs that connect.
const PROGRAMS: &[&str] =
    &["nc ", "nc\t", "ncat", "netcat", "socat", "telnet", "s_client", "sh -i", "mkfifo"];

/// Returns true if one of the words occurs in a text, ignoring case.
fn has(text: &[u8], words: &[&str]) -> bool {
    let lower = text.to_ascii_lowercase();
    words.iter().any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
}

/// A connection that the shell itself makes: with a shell at its end, or to probe whether the port is open.
fn talks(text: &[u8], line: std::ops::Range<usize>, host: &str) -> Hit {
    let severity = if TO_SHELL.is_match(&text[line.clone()]) {
        None
    } else if classify(host).kind == Kind::Private || host.contains('$') {
        Some(Severity::Note)
    } else {
        Some(Severity::Warning)
    };
    Hit { severity, ..Hit::at(line) }
}

fn line_of(text: &[u8], at: usize) -> std::ops::Range<usize> {
    let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |at| at + 1).max(at.saturating_sub(200));
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |found| at + found).min(at + 200);
    start..end
}

fn of_program(step: Step<'_>) -> Option<Hit> {
    let name = step.name();
    match name.as_str() {
        "nc" | "ncat" | "netcat" => of_netcat(step),
        "socat" => {
            let is_shell = step.words().iter().any(|word| {
                let text = word.text.to_ascii_lowercase();
                (text.starts_with("exec:") || text.starts_with("system:"))
                    && (text.contains("sh") || text.contains("cmd"))
            });
            is_shell.then(|| Hit::at(step.range()))
        }
        "telnet" | "openssl" => {
            let from_shell = step.feeders().any(|before| is_shell(&before.name()) && before.has_short('i'));
            from_shell.then(|| Hit::at(step.range()))
        }
        _ if is_shell(&name) && step.has_short('i') => of_interactive(step),
        _ if is_shell(&name) && step.runs_stdin() => {
            let from = step.feeders().find(|before| {
                matches!(before.name().as_str(), "nc" | "ncat" | "netcat" | "telnet")
                    || before.name() == "openssl" && before.has("s_client")
            })?;
            (!from.words().is_empty()).then(|| Hit::at(step.range_from(from)))
        }
        _ => None,
    }
}

/// With a program at its end, or listening for incoming connections.
fn of_netcat(step: Step<'_>) -> Option<Hit> {
    let words = step.words();
    let runs = words.iter().enumerate().any(|(at, word)| {
        let text = word.text.as_str();
        let next = words.get(at + 1).map_or("", |word| word.text.as_str());
        matches!(text, "--exec" | "--sh-exec")
            || text.starts_with("--exec=")
            || is_option(text)
                && text.contains(['e', 'c'])
                && (next.contains("sh") || next.contains("cmd") || text.contains('e'))
    });
    let fed = step.feeders().any(|before| is_shell(&before.name()));
    if runs || fed {
        return Some(Hit::at(step.range()));
    }
    let waits =
        words.iter().any(|word| is_option(&word.text) && word.text.contains('l') || word.text == "--listen");
    waits.then(|| Hit::at(step.range()))
}

fn is_option(text: &str) -> bool {
    text.len() > 1
        && text.len() < 9
        && text.starts_with('-')
        && text[1..].bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// `bash -i` alone is a user at a terminal; with its streams redirected it is not.
fn of_interactive(step: Step<'_>) -> Option<Hit> {
    let elsewhere = step.redirects().iter().any(|redirect| {
        redirect.target.text.starts_with("/dev/tcp") || redirect.target.text.starts_with("/dev/udp")
    });
    let severity = if elsewhere || step.program.piped { None } else { Some(Severity::Warning) };
    (step.name() == "bash" || severity.is_none()).then(|| Hit { severity, ..Hit::at(step.range()) })
}
