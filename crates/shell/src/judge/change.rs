//! Programs and redirections that change files of the system, or files that decide what runs later.

use policy::{Code, Direction, Redirect};

use super::options::Piece;
use super::place::Place;
use super::{Trial, is_known, paths, shown};

const REMEDY: &str = "work on a copy inside the workspace, and ask the person to put it in place";

/// The row of a file in a home directory that decides what runs later, or who may log in.
fn start_up(place: &Place) -> Option<&'static paths::Row> {
    place.home_row(paths::START_UP).or_else(|| place.home_row(&paths::CHANGED_CREDENTIALS))
}

/// Extent of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The file or directory itself.
    Whole,
    /// The content, if it is a directory.
    Inside,
}

/// Returns the code and reason if changing a place does harm.
pub(crate) fn harm(place: &Place, extent: Extent) -> Option<(Code, &'static str)> {
    if place.path() == "/dev/null" || place.fits_any(paths::FREE_DEVICES) {
        return None;
    }
    if let Some(row) = place.row(paths::DEVICES).or_else(|| place.row(paths::KERNEL)) {
        return Some((Code::Destructive, row.why));
    }
    let whole = || place.row(paths::WHOLE).filter(|_| extent == Extent::Whole);
    let row = place.row(paths::SYSTEM).or_else(|| start_up(place)).or_else(whole);
    row.map(|row| (Code::ProtectedPath, row.why))
        .or_else(|| (place.path() == "/").then_some((Code::ProtectedPath, "the root of all files")))
}

impl Trial<'_> {
    /// Says what is wrong with changing what a piece names.
    pub(crate) fn changes(&mut self, piece: Piece<'_>, extent: Extent) {
        // A value that is not known at all says nothing about a place.
        let known = is_known(piece);
        if piece.text.is_empty() || (!known && piece.text == "/") {
            return;
        }
        let place = self.place(piece);
        let extent = if known { extent } else { Extent::Inside };
        let Some((code, why)) = harm(&place, extent) else { return };
        self.report_change(piece, code, why);
    }

    fn report_change(&mut self, piece: Piece<'_>, code: Code, why: &str) {
        let (name, path) = (self.name, shown(piece.text));
        match code {
            Code::Destructive => {
                let text = format!("`{name}` would write to `{path}`, which is {why}");
                self.report(code, piece.word, text, "write to a file in the workspace instead");
            }
            _ if !is_known(piece) => {
                let text =
                    format!("`{name}` would change `{path}` or a file below a directory that is not known");
                self.report(Code::Unprovable, piece.word, text, "write the path out");
            }
            _ => {
                let text = format!("`{name}` would change `{path}`, which is {why}");
                self.report(code, piece.word, text, REMEDY);
            }
        }
    }

    /// The target of a copy. A world-writable directory may take it.
    pub(crate) fn copies_to(&mut self, piece: Piece<'_>) {
        let shared = self.place(piece).fits_any(paths::SHARED);
        self.changes(piece, if shared { Extent::Inside } else { Extent::Whole });
    }
}

/// `cp`, `install`, `ln`: what they read is free, what they write is not.
pub(crate) fn copy(trial: &mut Trial<'_>) {
    let parts = match trial.name {
        "install" => trial.parts("gmoSt", &["group", "mode", "owner", "suffix", "target-directory"]),
        _ => trial.parts("St", &["suffix", "target-directory"]),
    };
    if trial.name == "install" && parts.has("d", &["directory"]) {
        parts.operands().for_each(|piece| trial.changes(piece, Extent::Inside));
        return;
    }
    match parts.option("t", &["target-directory"]) {
        Some(directory) => trial.copies_to(directory),
        None if parts.operands().count() > 1 => {
            parts.operands().next_back().into_iter().for_each(|piece| trial.copies_to(piece));
        }
        None => {}
    }
}

/// Programs that write every file they name.
pub(crate) fn write(trial: &mut Trial<'_>) {
    let parts = match trial.name {
        "touch" => trial.parts("drt", &["date", "reference", "time"]),
        "truncate" => trial.parts("rs", &["reference", "size"]),
        "patch" => trial.parts("ipdFDVYBzr", &["input", "strip", "fuzz", "reject-file"]),
        _ => trial.parts("mZ", &["mode"]),
    };
    let output = ["output", "directory"];
    let outputs = parts.values(if trial.name == "patch" { "od" } else { "" }, &output);
    outputs.chain(parts.operands()).for_each(|piece| trial.changes(piece, Extent::Inside));
}

/// A directory that is already there stays as it is.
pub(crate) fn make_directory(trial: &mut Trial<'_>) {
    let parts = trial.parts("m", &["mode"]);
    for piece in parts.operands() {
        if !is_directory_row(&trial.place(piece)) {
            trial.changes(piece, Extent::Inside);
        }
    }
}

/// Returns true if a place is a directory that a table protects, and nothing below it.
fn is_directory_row(place: &Place) -> bool {
    let row = start_up(place).or_else(|| place.row(paths::SYSTEM));
    row.and_then(|row| row.path.strip_suffix("/**"))
        .is_some_and(|path| place.path().ends_with(&format!("/{path}")))
}

/// `sed`: only with `-i`, and its first word is the script.
pub(crate) fn edit_stream(trial: &mut Trial<'_>) {
    let parts = trial.parts("efl", &["expression", "file", "line-length"]);
    if !parts.has("iI", &["in-place"]) {
        return;
    }
    let scripts = usize::from(!parts.has("ef", &["expression", "file"]));
    let files = parts.operands().filter(|piece| !piece.text.is_empty()).skip(scripts);
    files.for_each(|piece| trial.changes(piece, Extent::Inside));
}

/// `perl` and `ruby`: only with `-i`, and their first word is the script unless one is given.
pub(crate) fn edit_code(trial: &mut Trial<'_>) {
    let parts = trial.parts("eEIMmCrx", &[]);
    if !parts.has("i", &[]) {
        return;
    }
    let scripts = usize::from(!parts.has("eE", &[]));
    parts.operands().skip(scripts).for_each(|piece| trial.changes(piece, Extent::Inside));
}

/// `dd` writes to `of=`.
pub(crate) fn blocks(trial: &mut Trial<'_>) {
    for word in trial.words {
        let Some(target) = word.text.strip_prefix("of=") else { continue };
        let piece = Piece { text: target, word };
        if target.is_empty() && !word.is_literal() {
            let text = "`dd` writes to a place that is not known, which may be a disk".to_owned();
            trial.report(Code::Unprovable, word, text, "write the path after `of=` out");
        }
        trial.changes(piece, Extent::Inside);
    }
}

/// Archives that are unpacked somewhere else.
pub(crate) fn unpack(trial: &mut Trial<'_>) {
    if trial.name == "unzip" {
        let parts = trial.parts("dxP", &[]);
        return parts.values("d", &[]).for_each(|piece| trial.copies_to(piece));
    }
    let parts = trial.parts("fCTXbI", &["file", "directory", "exclude", "transform", "strip-components"]);
    let old_style =
        trial.words.first().is_some_and(|word| !word.text.starts_with('-') && word.text.contains('x'));
    if old_style || parts.has("x", &["extract", "get"]) {
        parts.values("C", &["directory"]).for_each(|piece| trial.copies_to(piece));
    }
}

/// `crontab` changes what runs by the clock, unless it lists.
pub(crate) fn clock(trial: &mut Trial<'_>) {
    let parts = trial.parts("u", &[]);
    if parts.has("l", &[]) || parts.has("Vh", &["help", "version"]) {
        return;
    }
    let text = "`crontab` changes which commands run by the clock".to_owned();
    trial.report(
        Code::ProtectedPath,
        trial.first,
        text,
        "list it with `crontab -l`, and ask the person to change it",
    );
}

/// Judges the target of a redirection.
pub(crate) fn redirect(trial: &mut Trial<'_>, redirect: &Redirect) {
    let piece = Piece::whole(&redirect.target);
    if redirect.direction == Direction::Text || piece.text.is_empty() || piece.text == "/dev/null" {
        return;
    }
    let place = trial.place(piece);
    if let Some(row) = place.row(paths::CONNECTIONS) {
        let text = format!("the shell turns `{}` into {}", shown(piece.text), row.why);
        return trial.report(
            Code::RedirectTarget,
            piece.word,
            text,
            "use a program that is made for the network",
        );
    }
    if redirect.direction == Direction::Read {
        return;
    }
    let Some((code, why)) = harm(&place, Extent::Inside) else { return };
    let text = format!("the redirection would write to `{}`, which is {why}", shown(piece.text));
    let (code, remedy) = match code {
        Code::Destructive => (code, "redirect to a file in the workspace"),
        _ if is_known(piece) => (Code::RedirectTarget, "redirect to a file in the workspace or below `/tmp`"),
        _ => (Code::Unprovable, "write the path out"),
    };
    trial.report(code, piece.word, text, remedy);
}
