//! Files with credentials, and the environment of processes.

use policy::{Code, Direction, KnownProgram, ProgramClass, Redirect, Word};

use super::options::Piece;
use super::place::Place;
use super::programs::Role;
use super::{Trial, paths, remove, shown};

/// The files that the words of a program name.
pub(crate) fn words(trial: &mut Trial<'_>) {
    let skipped = match trial.role {
        Role::Find if remove::executes(trial.words) => return found(trial),
        _ if !shows_contents(trial) => return,
        _ => pattern_word(trial),
    };
    let near = near_secrets(trial);
    for (at, word) in trial.words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| trial.words.get(at));
        if !skipped.is_some_and(|skipped| std::ptr::eq(skipped, word))
            && (near || may_leave(word))
            && !is_own_option(trial.name, before, word)
        {
            pieces(trial, word, near);
        }
    }
}

/// Returns true if a program could show, copy or send what is in a file that it names.
fn shows_contents(trial: &Trial<'_>) -> bool {
    match trial.role {
        Role::Raise | Role::Assign | Role::Remove | Role::Rights | Role::MakeDirectory | Role::Kill => false,
        Role::Names | Role::Find | Role::Git => {
            trial.words.iter().any(|word| shows_list(trial.name, &word.text))
        }
        Role::Write => trial.name != "touch",
        // The effect of other programs on a file is not known, and left to the jail.
        Role::Other => KnownProgram::named(trial.name).is_some_and(|program| program.is(ProgramClass::Shows)),
        _ => true,
    }
}

/// Options by which a program that only takes names reads a file after all, and shows its lines.
fn shows_list(name: &str, option: &str) -> bool {
    let option = option.split_once('=').map_or(option, |(option, _)| option);
    match name {
        "git" => matches!(
            option,
            "--no-index"
                | "hash-object"
                | "--contents"
                | "-F"
                | "-f"
                | "--file"
                | "--pathspec-from-file"
                | "--template"
        ),
        "file" => option.starts_with("-f") || option == "--files-from",
        "ssh" => option.starts_with("-F"),
        "du" | "find" => option.ends_with("-files0-from"),
        "tree" => option == "--fromfile",
        _ => false,
    }
}

/// The word of a search that is a pattern and no file.
fn pattern_word<'a>(trial: &Trial<'a>) -> Option<&'a Word> {
    let searches = matches!(
        trial.name,
        "grep"
            | "egrep"
            | "fgrep"
            | "zgrep"
            | "rg"
            | "ag"
            | "ack"
            | "sed"
            | "gsed"
            | "awk"
            | "gawk"
            | "mawk"
            | "jq"
            | "yq"
    );
    if !searches {
        return None;
    }
    let parts = trial.parts("ef", &["regexp", "expression", "file", "from-file"]);
    let is_awk = trial.name.ends_with("awk");
    if parts.has(if is_awk { "efE" } else { "ef" }, &["file", "from-file"])
        || parts.has("", &["regexp", "expression"])
    {
        return parts.option("e", &["regexp", "expression"]).map(|piece| piece.word);
    }
    parts.operands().next().map(|piece| piece.word)
}

/// Returns true if a word may leave the directory: most words are relative and stay below it.
fn may_leave(word: &Word) -> bool {
    let text = word.text.as_str();
    let outward = |pair: &[u8]| matches!(pair, b".." | b"=/" | b"@/" | b":/" | b",/");
    text.starts_with(['/', '~', '$'])
        || text.as_bytes().windows(2).any(outward)
        || text.contains('~')
        || (text.starts_with('-') && text.contains('/'))
}

/// Directories below which a relative name may be a file with credentials.
const NEAR: &[&str] = &["/etc", "/proc", "/run", "/var", "/root", "/Library", "/private"];

/// Returns true if the program starts in a directory with credentials under bare names, or in an unknown one.
fn near_secrets(trial: &Trial<'_>) -> bool {
    let Some(cwd) = trial.view.cwd else { return true };
    let user = cwd.strip_prefix("/home").or_else(|| cwd.strip_prefix("/Users"));
    cwd == "/"
        || trial.view.home == Some(cwd)
        || NEAR.iter().any(|start| cwd.starts_with(start))
        || user.is_some_and(|user| !user.trim_matches('/').contains('/'))
        || ["/.", "/Library", "/snap", "//"].iter().any(|part| cwd.contains(part))
}

/// Options by which a program takes its own credentials, without showing them.
fn is_own_option(name: &str, before: Option<&Word>, word: &Word) -> bool {
    let (option, attached) = word.text.split_once('=').unwrap_or((&word.text, ""));
    let option = if attached.is_empty() { before.map_or("", |before| before.text.as_str()) } else { option };
    match name {
        "ssh" => option == "-i",
        "scp" | "sftp" => option == "-i" || option == "-F",
        "kubectl" | "helm" | "k9s" => option == "--kubeconfig",
        "curl" => option == "--netrc-file",
        "gpg" | "gpg2" => option == "--homedir",
        "npm" | "pnpm" | "yarn" => option == "--userconfig",
        "tar" | "rsync" | "zip" | "rg" | "grep" => matches!(option, "--exclude" | "--exclude-dir" | "--glob"),
        _ => false,
    }
}

/// The word itself, and what stands behind `=`, `@`, `:` or a letter of an option in it.
fn pieces(trial: &mut Trial<'_>, word: &Word, near: bool) {
    let whole = Piece::whole(word);
    if names_secret(trial, whole) {
        return;
    }
    let parts = word.text.split(['=', '@', ':', ',']).skip(1).chain(word.text.split(':').take(1));
    let option = word.text.starts_with('-').then(|| word.text.find(['/', '~'])).flatten();
    let attached = option.and_then(|at| word.text.get(at..));
    let counts =
        |text: &&str| !text.is_empty() && (near || text.starts_with(['/', '~', '$']) || text.contains(".."));
    for text in parts.chain(attached).filter(counts).filter(|text| text.len() < word.text.len()) {
        if names_secret(trial, whole.part(text)) {
            return;
        }
    }
}

fn names_secret(trial: &mut Trial<'_>, piece: Piece<'_>) -> bool {
    let Some((code, why)) = secret(&trial.place(piece)) else { return false };
    let text = format!("`{}` would use `{}`, which is {why}", trial.name, shown(piece.text));
    trial.report(code, piece.word, text, remedy(code));
    true
}

/// A search that hands every file it finds to a program.
fn found(trial: &mut Trial<'_>) {
    for word in remove::starts(trial.words) {
        names_secret(trial, Piece::whole(word));
    }
}

/// Judges a file that a redirection reads or writes.
pub(crate) fn redirect(trial: &mut Trial<'_>, redirect: &Redirect) {
    let piece = Piece::whole(&redirect.target);
    if redirect.direction == Direction::Text || piece.text.is_empty() || piece.text == "/dev/null" {
        return;
    }
    let Some((code, why)) = secret(&trial.place(piece)) else { return };
    let act = if redirect.direction == Direction::Read { "read" } else { "change" };
    let text = format!("the redirection would {act} `{}`, which is {why}", shown(piece.text));
    trial.report(code, piece.word, text, remedy(code));
}

fn remedy(code: Code) -> &'static str {
    match code {
        Code::CredentialRead => {
            "leave credentials to the program that needs them, and ask the person if one is missing"
        }
        _ => "ask for the one variable that is needed, as `printenv NAME` does",
    }
}

/// Returns the code and reason if a place is secret.
fn secret(place: &Place) -> Option<(Code, &'static str)> {
    if let Some(row) = place.row(paths::PROCESS) {
        return Some((Code::ProcessEnvironment, row.why));
    }
    let row = place.row(&paths::SYSTEM_CREDENTIALS).or_else(|| place.home_row(&paths::HOME_CREDENTIALS))?;
    (!is_public(place)).then_some((Code::CredentialRead, row.why))
}

/// Files that lie beside private keys and are public.
fn is_public(place: &Place) -> bool {
    let name = place.name();
    let beside = place.path().contains("/.ssh/") || place.path().starts_with(".ssh/");
    name.ends_with(paths::PUBLIC_END)
        || (beside && policy::public_key_names().any(|start| name.starts_with(start)))
}
