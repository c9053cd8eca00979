//! Programs that would take a whole root away: the floor.

use policy::{Code, Word};

use super::change::Extent;
use super::name::is_everything;
use super::options::{Parts, Piece};
use super::place::Root;
use super::{Trial, base, is_known, shown};

const REMEDY: &str = "name what is meant inside the workspace, such as `rm -r build`";

impl Trial<'_> {
    /// Says so if a piece names a root. `act` goes on after the name of the program.
    pub(crate) fn takes_root(&mut self, piece: Piece<'_>, act: &str) -> bool {
        let nothing = piece.text.is_empty().then_some(Root::Unsure);
        let Some(root) = nothing.or_else(|| self.place(piece).root()) else { return false };
        let (name, path) = (self.name, shown(piece.text));
        if root == Root::Unsure || !is_known(piece) {
            let text = format!(
                "`{name}` would {act} `{path}`, and which directory that is depends on values at run time"
            );
            self.report(
                Code::Unprovable,
                piece.word,
                text,
                "write the path out, or begin it with a known directory",
            );
            return true;
        }
        let what =
            if root == Root::System { "a directory that the system needs" } else { "a home directory" };
        let text = format!("`{name}` would {act} `{path}`, which is {what} or all that is in it");
        self.report(Code::Destructive, piece.word, text, REMEDY);
        true
    }

    /// A root recursively, or else a protected path.
    fn takes(&mut self, piece: Piece<'_>, act: &str, recursive: bool) {
        if recursive && self.takes_root(piece, act) {
            return;
        }
        let place = self.place(piece);
        if is_known(piece) && !recursive && place.root().is_some() && is_everything(place.name(), true) {
            let text = format!("`{}` would {act} every file of `{}`", self.name, shown(piece.text));
            return self.report(Code::ProtectedPath, piece.word, text, REMEDY);
        }
        self.changes(piece, Extent::Whole);
    }

    /// The switch that takes the last guard away.
    fn unguarded(&mut self, parts: &Parts<'_>) {
        let switch = parts.long_names().find(|(name, _)| *name == "no-preserve-root");
        if let Some((_, piece)) = switch {
            let text = format!("`--no-preserve-root` lets `{}` work on the root of all files", self.name);
            self.report(Code::Destructive, piece.word, text, "leave the option out");
        }
    }
}

/// A word without a known text could be any option.
fn any_unknown(words: &[Word]) -> bool {
    words.iter().any(|word| !word.is_literal() && word.text.is_empty())
}

/// `rm`, `rmdir`, `unlink`.
pub(crate) fn remove(trial: &mut Trial<'_>) {
    let parts = trial.parts("", &[]);
    trial.unguarded(&parts);
    let given = parts.has("rR", &["recursive"]) || parts.has("", &["no-preserve-root"]);
    let recursive = trial.name == "rm" && given;
    let perhaps = trial.name == "rm" && any_unknown(trial.words);
    for piece in parts.operands() {
        // A word that may be an option is no target, unless the options are known.
        let target = given || !piece.text.is_empty();
        trial.takes(piece, "delete", target && (recursive || perhaps));
    }
}

/// `shred` overwrites what it names.
pub(crate) fn shred(trial: &mut Trial<'_>) {
    let parts = trial.parts("ns", &["iterations", "size", "random-source"]);
    parts.operands().for_each(|piece| trial.takes(piece, "overwrite", false));
}

/// `chmod`, `chown`, `chgrp` and the like. Their first word is what they set.
pub(crate) fn rights(trial: &mut Trial<'_>) {
    let parts = trial.parts("", &[]);
    trial.unguarded(&parts);
    let recursive = parts.has("R", &["recursive"]);
    let settings =
        usize::from(trial.name != "setfacl" && !parts.has("", &["reference"]) && !sets_by_option(trial));
    parts.operands().skip(settings).for_each(|piece| trial.takes(piece, "change the rights of", recursive));
}

/// `chmod -x file`: what is set looks like an option.
fn sets_by_option(trial: &Trial<'_>) -> bool {
    let is_mode = |word: &Word| word.text.len() > 1 && word.text.starts_with('-') && mode_letters(&word.text);
    matches!(trial.name, "chmod" | "chattr") && trial.words.iter().any(is_mode)
}

fn mode_letters(text: &str) -> bool {
    text.bytes().skip(1).all(|byte| b"rwxXst,+-=ugoai".contains(&byte))
}

/// `mv`: what is moved is gone from its place.
pub(crate) fn relocate(trial: &mut Trial<'_>) {
    let parts = trial.parts("St", &["suffix", "target-directory"]);
    let directory = parts.option("t", &["target-directory"]);
    let mut operands: Vec<_> = parts.operands().collect();
    let target = directory.or_else(|| if operands.len() > 1 { operands.pop() } else { None });
    for piece in operands {
        if piece.text.is_empty() || !trial.takes_known_root(piece, "move") {
            trial.changes(piece, Extent::Whole);
        }
    }
    if let Some(target) = target {
        trial.copies_to(target);
    }
}

impl Trial<'_> {
    /// Like [`Trial::takes_root`], where a value that is not known is too common to be worth a question.
    fn takes_known_root(&mut self, piece: Piece<'_>, act: &str) -> bool {
        is_known(piece) && self.place(piece).root() != Some(Root::Unsure) && self.takes_root(piece, act)
    }
}

const RSYNC_VALUES: &[&str] = &[
    "rsh",
    "filter",
    "exclude",
    "exclude-from",
    "include",
    "include-from",
    "files-from",
    "temp-dir",
    "backup-dir",
    "suffix",
    "max-size",
    "min-size",
    "bwlimit",
    "compare-dest",
    "copy-dest",
    "link-dest",
    "timeout",
    "port",
    "log-file",
    "password-file",
    "out-format",
    "partial-dir",
    "rsync-path",
    "chmod",
    "chown",
    "info",
    "block-size",
];

/// `rsync`: the last word is written to, and emptied of what is not in the source.
pub(crate) fn mirror(trial: &mut Trial<'_>) {
    let parts = trial.parts("efTBM", RSYNC_VALUES);
    let deletes = parts.long_names().any(|(name, _)| name.starts_with("del"));
    if parts.operands().count() < 2 {
        return;
    }
    let Some(target) = parts.operands().next_back().filter(|piece| !piece.text.contains(':')) else { return };
    if !deletes || !trial.takes_known_root(target, "delete files in") {
        trial.copies_to(target);
    }
}

/// `find`: with `-delete`, or with a program that deletes.
pub(crate) fn find(trial: &mut Trial<'_>) {
    if !deletes(trial.words) {
        return;
    }
    let narrow = is_narrow(trial.words);
    let starts = starts(trial.words);
    if starts.is_empty() {
        let here = Word { text: ".".to_owned(), ..trial.first.clone() };
        return found_below(trial, Piece::whole(&here), narrow);
    }
    for word in starts {
        found_below(trial, Piece::whole(word), narrow);
    }
}

fn found_below(trial: &mut Trial<'_>, start: Piece<'_>, narrow: bool) {
    if narrow || !trial.takes_root(start, "delete all below") {
        trial.changes(start, Extent::Whole);
    }
}

/// The directories that a search starts from.
pub(crate) fn starts(words: &[Word]) -> &[Word] {
    let is_flag =
        |word: &&Word| matches!(word.text.as_str(), "-H" | "-L" | "-P" | "-X" | "-x" | "-E" | "-d" | "-s");
    let flags = words.iter().take_while(is_flag).count();
    let words = words.get(flags..).unwrap_or_default();
    let is_start = |word: &&Word| !word.text.starts_with('-') && word.text != "(" && word.text != "!";
    words.get(..words.iter().take_while(is_start).count()).unwrap_or_default()
}

/// Returns true if a search starts programs.
pub(crate) fn executes(words: &[Word]) -> bool {
    words.iter().any(|word| is_execute(&word.text))
}

fn is_execute(text: &str) -> bool {
    matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir")
}

fn deletes(words: &[Word]) -> bool {
    let mut executing = false;
    words.iter().any(|word| {
        executing = (executing && word.text != ";" && word.text != "+") || is_execute(&word.text);
        word.text == "-delete"
            || (executing && matches!(base(&word.text), "rm" | "unlink" | "shred" | "rmdir"))
    })
}

/// Returns true if every file that is found has a name of its own. Alternatives and negations widen, so they count as no.
fn is_narrow(words: &[Word]) -> bool {
    let widens = |word: &Word| matches!(word.text.as_str(), "-o" | "-or" | "," | "!" | "-not");
    !words.iter().any(widens)
        && words.windows(2).any(|pair| matches!(pair, [test, value] if narrows(test, value)))
}

fn narrows(test: &Word, value: &Word) -> bool {
    let by_name = matches!(
        test.text.as_str(),
        "-name"
            | "-iname"
            | "-path"
            | "-ipath"
            | "-wholename"
            | "-iwholename"
            | "-regex"
            | "-iregex"
            | "-samefile"
            | "-inum"
    );
    let letters = |text: &str| text.bytes().any(|byte| byte.is_ascii_alphanumeric());
    test.text == "-empty" || (by_name && letters(&value.text))
}
