//! Interprets the words of programs.

use policy::{KnownProgram, ProgramClass, Word};

use super::super::persist::Hold;
use super::super::{Capture, Channel, Part};
use crate::text::language::Language;

/// Class of a program, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    /// Requests to the web.
    Web,
    /// Prints the environment.
    Environment,
    /// Sends files or what it reads.
    Send(Channel),
    /// Looks up names.
    Lookup,
    Decode,
    /// Runs what it reads.
    Interpreter,
    /// Makes something run later.
    Schedule,
    /// Knows whether a password is right.
    PasswordCheck,
    Capture(Capture),
    /// Names files without showing what is in them.
    Names,
    /// Anything else: it may read every file that it names.
    Other,
}

/// Returns the class of a program.
pub(super) fn habit(name: &str) -> Habit {
    let Some(program) = KnownProgram::called(name) else { return Habit::Other };
    let habits = [
        (ProgramClass::Web, Habit::Web),
        (ProgramClass::Environment, Habit::Environment),
        (ProgramClass::Socket, Habit::Send(Channel::Socket)),
        (ProgramClass::Transfer, Habit::Send(Channel::Files)),
        (ProgramClass::Mail, Habit::Send(Channel::Mail)),
        (ProgramClass::LooksUp, Habit::Lookup),
        (ProgramClass::Decodes, Habit::Decode),
        (ProgramClass::Shell, Habit::Interpreter),
        (ProgramClass::Interpreter, Habit::Interpreter),
        (ProgramClass::Schedules, Habit::Schedule),
        (ProgramClass::Passwords, Habit::PasswordCheck),
        (ProgramClass::Screen, Habit::Capture(Capture::Screen)),
        (ProgramClass::Clipboard, Habit::Capture(Capture::Clipboard)),
        (ProgramClass::Names, Habit::Names),
    ];
    let habit = habits.iter().find(|(class, _)| program.is(*class)).map(|(_, habit)| *habit);
    habit.unwrap_or(if matches!(name, "eval" | "source") { Habit::Interpreter } else { Habit::Other })
}

/// The language of what a program is given to run, if that is not a shell's.
pub(super) fn language(name: &str) -> Option<Language> {
    match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "python" => Some(Language::Python),
        "node" | "bun" | "deno" | "osascript" => Some(Language::JavaScript),
        "perl" | "ruby" | "php" => Some(Language::Code),
        _ => None,
    }
}

/// Returns true if the words say that something is made readable.
pub(super) fn decodes(words: &[Word]) -> bool {
    let name = words.first().map(|word| word.text.as_str()).unwrap_or_default();
    words.iter().skip(1).any(|word| {
        matches!(word.text.as_str(), "-d" | "-D" | "--decode" | "-r" | "-rp") || word.text.starts_with("-d")
    }) || matches!(name, "gunzip" | "zcat" | "uudecode")
}

/// A request of `curl`, `wget` or their kin.
pub(super) struct Request<'a> {
    pub(super) address: Option<&'a Word>,
    /// Each word that goes along, and as what.
    pub(super) parts: Vec<(&'a Word, Part)>,
    pub(super) is_upload: bool,
    /// True if it sends what it reads.
    pub(super) takes_input: bool,
}

/// Options of `curl` that take a word and do not send it.
const OTHER_OPTIONS: &[&str] = &[
    "-o",
    "--output",
    "-m",
    "--max-time",
    "--connect-timeout",
    "-w",
    "--write-out",
    "--retry",
    "-A",
    "--user-agent",
    "-x",
    "--proxy",
    "-c",
    "--cookie-jar",
    "--cacert",
    "--cert",
    "--key",
    "-K",
    "--config",
    "--retry-delay",
    "-e",
    "--referer",
    "-O",
    "-P",
];

/// The request that words make.
pub(super) fn request<'a>(name: &str, words: &'a [Word]) -> Request<'a> {
    let mut request = Request { address: None, parts: Vec::new(), is_upload: false, takes_input: false };
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        let text = word.text.as_str();
        let (option, joined) = match text.split_once('=') {
            Some((option, _)) if text.starts_with("--") => (option, true),
            _ => (text, false),
        };
        let mut value = || {
            if joined {
                return Some(word);
            }
            at += 1;
            words.get(at - 1)
        };
        match option {
            "-H" | "--header" | "-u" | "--user" | "-b" | "--cookie" | "--oauth2-bearer" => {
                request.parts.extend(value().map(|word| (word, Part::Header)));
            }
            "-d" | "--data" | "--data-binary" | "--data-raw" | "--data-urlencode" | "-F" | "--form"
            | "--json" | "-T" | "--upload-file" | "--post-data" | "--post-file" | "--body-data"
            | "--body-file" | "--form-string" | "--data-ascii" => {
                let word = value();
                request.is_upload = true;
                request.takes_input |= word.is_some_and(|word| {
                    matches!(word.text.as_str(), "@-" | "-" | "." | "@/dev/stdin")
                        || word.text.ends_with("=@-")
                });
                request.parts.extend(word.map(|word| (word, Part::Body)));
            }
            "-X" | "--request" | "--method" => {
                let posts =
                    value().is_some_and(|word| matches!(word.text.as_str(), "POST" | "PUT" | "PATCH"));
                request.is_upload |= posts;
            }
            "--url" => request.address = value(),
            _ if OTHER_OPTIONS.contains(&option) && name != "wget" || option == "-O" => {
                value();
            }
            _ if text.starts_with('-')
                && text.len() > 2
                && !text.starts_with("--")
                && matches!(text.as_bytes()[1], b'd' | b'F' | b'T' | b'H') =>
            {
                let part = if text.as_bytes()[1] == b'H' { Part::Header } else { Part::Body };
                request.is_upload |= part == Part::Body;
                request.parts.push((word, part));
            }
            _ if text.starts_with('-') => {}
            _ => {
                let is_first = request.address.is_none();
                let method = name != "curl" && matches!(text, "GET" | "POST" | "PUT" | "PATCH" | "DELETE");
                request.is_upload |= method && text != "GET";
                if is_first && !method {
                    request.address = Some(word);
                }
                request.parts.push((word, Part::Address));
            }
        }
    }
    request
}

/// The other end of a program that sends, where its words say that it sends.
pub(super) fn remote(name: &str, words: &[Word]) -> Option<String> {
    let operands: Vec<&str> =
        words.iter().skip(1).map(|word| word.text.as_str()).filter(|text| !text.starts_with('-')).collect();
    match name {
        "nc" | "ncat" | "netcat" | "telnet" => {
            let listens = words.iter().any(|word| word.text.starts_with('-') && word.text.contains('l'));
            operands.first().filter(|_| !listens).map(|host| (*host).to_owned())
        }
        "socat" => operands
            .iter()
            .find_map(|text| text.split_once("tcp").or(text.split_once("TCP")))
            .map(|(_, rest)| rest.split(':').nth(1).unwrap_or_default().to_owned()),
        "scp" | "rsync" | "sftp" => {
            let target = operands.last()?;
            let (host, _) =
                target.split_once(':').filter(|(host, _)| !host.contains('/') && !host.is_empty())?;
            Some(host.rsplit('@').next().unwrap_or(host).to_owned())
        }
        "aws" | "gsutil" | "rclone" => {
            let copies = operands.iter().any(|word| matches!(*word, "cp" | "sync" | "mv" | "copy"));
            let target = operands.last().filter(|_| copies)?;
            (target.contains("://") || target.contains(':')).then(|| (*target).to_owned())
        }
        "gh" => (operands.first() == Some(&"gist")).then(|| String::from("gist.github.com")),
        _ if ProgramClass::Mail.has(name) => {
            operands.iter().find_map(|word| word.split_once('@')).map(|(_, host)| host.to_owned())
        }
        "ftp" | "lftp" | "croc" => operands.first().map(|host| (*host).to_owned()),
        _ => None,
    }
}

/// Returns what a program schedules to run later, if its words say so.
pub(super) fn schedules(name: &str, words: &[Word]) -> Option<(Hold, String)> {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.text.as_str()));
    let line = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let schedules = match name {
        "crontab" => !has(&["-l", "-r"]),
        "systemctl" => has(&["enable"]),
        "launchctl" => has(&["load", "bootstrap", "enable"]),
        "schtasks" => has(&["/create", "/Create", "/CREATE"]),
        "at" => words.len() > 1,
        "update-rc.d" => true,
        "reg" => {
            let run = line.to_ascii_lowercase().contains("currentversion\\run");
            return (run && has(&["add", "ADD"])).then_some((Hold::Login, line));
        }
        _ => false,
    };
    schedules.then_some((Hold::Timer, line))
}
