//! A disk is overwritten.

use crate::code::command::Step;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "DESTROY_DISK",
    category: Category::Destruction,
    severity: Severity::Critical,
    title: "a disk is written over, or a machine is made to stop",
    why: "What was on the disk does not come back.",
    fix: "remove the command",
    places: ANYWHERE,
    anchors: words![
        "of=/dev/",
        "mkfs",
        "wipefs",
        "/dev/sd",
        "/dev/nvme",
        "/dev/hd",
        "/dev/vd",
        "/dev/disk",
        "blkdiscard",
        "erasedisk",
        "(){",
        "() {",
        "vssadmin",
        "/dev/mmc",
    ],
    check: Check::Requiring(&[&NEAR], hits),
};

/// Phrases one of which occurs in every text that the rule matches.
static NEAR: Phrases =
    Phrases::new(words![r"/dev/|vssadmin|wmic|diskutil|\|[^\n|]{0,40}&|mkfs|wipefs|blkdiscard"]);

patterns! {
    BOMB = r"(?:^|[^\w])([\w:.]{1,12})\s*\(\)\s*\{\s*([\w:.]{1,12})\s*\|\s*([\w:.]{1,12})\s*&\s*\}\s*;?\s*([\w:.]{1,12})";
    WINDOWS = r"\bvssadmin(?:\.exe)?\s+delete\s+shadows|\bwmic\s+shadowcopy\s+delete|\bdiskutil\s+(?:secureErase|eraseDisk|zeroDisk)\s";
    DISK = r"^/dev/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme[0-9]|mmcblk[0-9]|r?disk[0-9])";
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text().as_bytes();
    let same = |found: &regex::bytes::Captures<'_>| {
        (2..=4).all(|part| {
            found.get(part).map(|part| part.as_bytes()) == found.get(1).map(|part| part.as_bytes())
        })
    };
    let bombs = BOMB
        .captures_iter(text)
        .take(50)
        .filter(same)
        .filter_map(|found| Some(Hit::at(found.get(0)?.range())));
    let windows = WINDOWS.find_iter(text).take(5).map(|found| Hit::at(found.range()));
    bombs.chain(windows).chain(unit.commands().steps().filter_map(hit).take(20)).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    let name = step.name();
    let is_disk = |text: &str| DISK.is_match(text.as_bytes()) && !text.ends_with('X');
    let named = || step.words().iter().any(|word| is_disk(&word.text));
    let writes = match name.as_str() {
        "dd" => step.words().iter().any(|word| word.text.strip_prefix("of=").is_some_and(is_disk)),
        "wipefs" | "blkdiscard" | "shred" | "mke2fs" => named(),
        _ => name.starts_with("mkfs") && named(),
    };
    let redirected = step
        .redirects()
        .iter()
        .any(|redirect| redirect.direction == policy::Direction::Write && is_disk(&redirect.target.text));
    (writes || redirected).then(|| Hit::at(step.range()))
}
