//! Programs that make, divide or wipe disks.

use policy::{Code, Word};

use super::options::Piece;
use super::programs::Role;
use super::{Trial, paths, shown};

pub(crate) fn judge(trial: &mut Trial<'_>) {
    let word = match trial.role {
        Role::Format => formatted(trial),
        Role::Partition => partitioned(trial),
        Role::DiskVerb => verb(trial),
        _ => option(trial),
    };
    let Some(word) = word else { return };
    let text = format!("`{}` with `{}` would destroy what is on a disk", trial.name, shown(&word.text));
    let remedy = "no rule allows this; ask the person to do it";
    trial.report(Code::Destructive, word, text, remedy);
}

/// Every operand is formatted: a file can be a link to a disk.
fn formatted<'a>(trial: &Trial<'a>) -> Option<&'a Word> {
    let parts = trial.parts("tLUobpsCFn", &["type", "label", "uuid", "offset"]);
    let dry = parts.has("", &["help", "version"]) || (trial.name != "wipefs" && parts.has("V", &[]));
    parts.operands().next_back().filter(|_| !dry).map(|piece| piece.word)
}

/// A disk is named, and it is not only listed.
fn partitioned<'a>(trial: &Trial<'a>) -> Option<&'a Word> {
    let lists = |word: &Word| {
        let text = word.text.as_str();
        match trial.name {
            "parted" => matches!(text, "-l" | "--list" | "print" | "p" | "--help" | "--version"),
            "sgdisk" => {
                matches!(text, "-p" | "--print" | "-v" | "--verify" | "-L" | "-O" | "-E" | "-F")
                    || text.starts_with("-i")
            }
            _ => matches!(
                text,
                "-l" | "-lu"
                    | "--list"
                    | "-x"
                    | "--list-details"
                    | "-s"
                    | "--show-size"
                    | "-d"
                    | "--dump"
                    | "-J"
                    | "--json"
                    | "-V"
                    | "--verify"
                    | "-F"
                    | "--list-free"
                    | "--help"
            ),
        }
    };
    if trial.words.iter().any(lists) {
        return None;
    }
    let is_device = |word: &&Word| trial.place(Piece::whole(word)).row(paths::DEVICES).is_some();
    trial.words.iter().find(is_device)
}

/// A verb that destroys.
fn verb<'a>(trial: &Trial<'a>) -> Option<&'a Word> {
    let verbs: &[&str] = match trial.name {
        "cryptsetup" => &["luksformat", "erase", "lukserase", "reencrypt", "tcrypterase"],
        "nvme" => &["format", "sanitize", "delete-ns", "write", "write-zeroes", "write-uncor", "dsm"],
        "zpool" => &["destroy", "labelclear"],
        _ => &[
            "erasedisk",
            "erasevolume",
            "eraseoptical",
            "zerodisk",
            "randomdisk",
            "secureerase",
            "partitiondisk",
            "reformat",
            "deletecontainer",
            "deletevolume",
        ],
    };
    trial.words.iter().find(|word| verbs.contains(&word.text.to_ascii_lowercase().as_str()))
}

/// An option that destroys.
fn option<'a>(trial: &Trial<'a>) -> Option<&'a Word> {
    let begins: &[&str] = match trial.name {
        "mdadm" => &["--zero-superblock", "--create"],
        "hdparm" => &[
            "--security-erase",
            "--trim-sector",
            "--write-sector",
            "--repair-sector",
            "--fwdownload",
            "--make-bad-sector",
            "--dco-restore",
            "--sanitize-block-erase",
            "--sanitize-crypto",
            "--sanitize-overwrite",
        ],
        _ => return trial.parts("bcdept", &[]).option("w", &[]).map(|piece| piece.word),
    };
    trial.words.iter().find(|word| begins.iter().any(|begin| word.text.starts_with(begin)))
}
