//! Files are encrypted one by one, and the originals are deleted.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{CODE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_ENCRYPTS_FILES",
    category: Category::Destruction,
    severity: Severity::Critical,
    title: "files of a person are encrypted and removed",
    why: "Whoever walks over somebody's files, encrypts each and removes it holds them to ransom.",
    fix: "remove the code",
    places: CODE,
    anchors: words![".encrypt(", "createcipher", "aes.new", "fernet"],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text().to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let walks = has(&["os.walk", "rglob(", "glob(", "readdir", "walkdir"]);
    let all = has(&[
        "expanduser('~'",
        "expanduser(\"~\"",
        "path.home()",
        "homedir()",
        "walk('/'",
        "walk(\"/\"",
        "documents",
        "desktop",
    ]);
    let gone =
        has(&["os.remove", "unlink", ".locked", ".encrypted", "shutil.rmtree", "ransom", "bitcoin", " btc"]);
    let at = ["encrypt(", "createcipher"].iter().find_map(|word| text.find(word));
    match at {
        Some(at) if walks && all && gone => vec![Hit::at(at..at + 1)],
        _ => Vec::new(),
    }
}
