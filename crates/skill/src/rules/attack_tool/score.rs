//! Scores a tool by the attack vocabulary in its own description.

use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::lexicon::{DEEDS, DUAL, GUARDS, NAMES, STRONG_PARAMETERS, TARGET_PARAMETERS, TECHNIQUES};
use crate::manifest::parameters;
use crate::text::json::Node;
use crate::words::Words;

/// Minimum score of a tool that is an attack.
pub(super) const ATTACK: u32 = 6;

/// Minimum score of a tool that is worth a review.
pub(super) const DOUBTFUL: u32 = 4;

/// Weights of a technique (also of words that only attackers use in names), of a dual-use act, and of a mere mention.
const TECHNIQUE: u32 = 6;
const DUAL_USE: u32 = 2;
const SPOKEN_OF: u32 = 1;

/// Maximum number of mentions that count: a tool that lists many techniques detects them.
const MOST_SPOKEN_OF: u32 = 3;

/// Length of the opening of a description in which a technique is the purpose of the tool, not an aside.
const OPENING: usize = 240;

/// The evidence in a tool.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Score {
    pub(super) sum: u32,
    /// The words that weighed most.
    pub(super) words: Vec<String>,
    spoken_of: u32,
}

impl Score {
    /// Reads a tool: its name, its description, the names of its parameters.
    pub(super) fn of(tool: &Node<'_>) -> Self {
        let mut score = Self::default();
        for name in tool.all("name").filter_map(Node::text) {
            score.name(&words(name));
        }
        for description in tool.all("description").filter_map(Node::text) {
            score.description(description);
        }
        score.parameters(parameters(tool));
        score
    }

    fn add(&mut self, weight: u32, word: &str) {
        if weight == SPOKEN_OF {
            self.spoken_of += 1;
            if self.spoken_of > MOST_SPOKEN_OF {
                return;
            }
        }
        self.sum = self.sum.saturating_add(weight);
        if weight >= DUAL_USE && self.words.len() < 4 {
            self.words.push(word.trim().to_owned());
        }
    }

    fn name(&mut self, name: &str) {
        let mut seen = HashSet::new();
        for (at, word) in TECHNIQUE_WORDS.found(name) {
            let weight = if guarded(&name[..at]) { SPOKEN_OF } else { TECHNIQUE };
            if seen.insert(at) {
                self.add(weight, word);
            }
        }
        for (at, word) in NAME_WORDS.found(name) {
            // `get_attack` looks something up; `recon_whois` and `smb_exploit` do it.
            let weight = if guarded(&name[..at]) { SPOKEN_OF } else { TECHNIQUE };
            if seen.insert(at) {
                self.add(weight, word);
            }
        }
        if name.starts_with(" cred ") || name.starts_with(" creds ") {
            self.add(DUAL_USE, "cred");
        }
        self.deeds(name, name.len());
    }

    fn description(&mut self, description: &str) {
        let mut begun = 0;
        for sentence in description.split(['.', '\n', ';', '!', '?']) {
            let text = words(sentence);
            if begun < OPENING {
                self.sentence(&text);
            } else {
                let count = TECHNIQUE_WORDS.found(&text).take(2).count();
                for _ in 0..count {
                    self.add(SPOKEN_OF, "");
                }
            }
            begun += sentence.len() + 1;
        }
    }

    fn sentence(&mut self, text: &str) {
        for (at, word) in TECHNIQUE_WORDS.found(text) {
            let before = &text[..at];
            let verb = ["exfiltrat*", "steal*", "escalate privilege*", "escape container"].contains(&word);
            let weight = if guarded(before) && !(verb && goes_on(before)) { SPOKEN_OF } else { TECHNIQUE };
            self.add(weight, word);
        }
        self.deeds(text, OPENING);
    }

    /// Scores verbs together with their objects.
    fn deeds(&mut self, text: &str, within: usize) {
        for (verbs, objects) in &*DEED_WORDS {
            if let Some((at, verb)) = verbs.found(text).find(|(at, _)| *at < within)
                && let Some(object) = objects.after(text, at)
            {
                let before = &text[..at];
                let weight = if guarded(before) && !goes_on(before) { SPOKEN_OF } else { TECHNIQUE };
                self.add(weight, &format!("{} {}", verb.trim(), object.trim()));
            }
        }
        for (verbs, objects) in &*DUAL_WORDS {
            if let Some((at, verb)) = verbs.found(text).next()
                && let Some(object) = objects.after(text, at)
            {
                self.add(DUAL_USE, &format!("{} {}", verb.trim(), object.trim()));
            }
        }
    }

    fn parameters<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        let (mut strong, mut target) = (0, 0);
        for name in names {
            let name = words(name);
            if let Some((_, word)) = STRONG_WORDS.found(&name).next() {
                strong += 1;
                if strong <= 2 {
                    self.add(3, word);
                }
            } else if let Some((_, word)) = TARGET_WORDS.found(&name).next() {
                target += 1;
                if target <= 3 {
                    self.add(if target == 1 { DUAL_USE } else { SPOKEN_OF }, word);
                }
            }
        }
    }
}

/// Returns true if the text before a verb continues a list of acts.
fn goes_on(before: &str) -> bool {
    before.ends_with(" and") || before.ends_with(" then") || before.ends_with(" to")
}

/// Returns true if a word in the preceding text says that the tool looks for the technique.
fn guarded(before: &str) -> bool {
    let padded = format!("{before} ");
    GUARD_WORDS.found(&padded).next().is_some()
}

/// Returns the words of a text in lower case with one space around each; identifiers are split.
pub(super) fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(' ');
    let mut lower = false;
    for character in text.chars() {
        if character.is_alphanumeric() {
            if character.is_uppercase() && lower {
                out.push(' ');
            }
            lower = character.is_lowercase() || character.is_ascii_digit();
            out.extend(character.to_lowercase());
        } else {
            lower = false;
            if !out.ends_with(' ') {
                out.push(' ');
            }
        }
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out
}

/// List of words to search for.
struct WordFinder {
    finder: Option<AhoCorasick>,
    anything: bool,
    list: Vec<&'static str>,
}

impl WordFinder {
    fn new(words: Words) -> Self {
        let patterns = words.iter().map(|word| match word.strip_suffix('*') {
            Some(prefix) => format!(" {prefix}"),
            None => format!(" {word} "),
        });
        let finder = AhoCorasick::builder().match_kind(MatchKind::Standard).build(patterns);
        Self { finder: finder.ok(), anything: words.contains(""), list: words.iter().collect() }
    }

    /// Returns the positions of the words in a text, each at the space before the word.
    fn found<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, &'static str)> + 't {
        let found = self.finder.iter().flat_map(move |finder| finder.find_overlapping_iter(text));
        found.map(|found| (found.start(), self.list[found.pattern().as_usize()]))
    }

    /// Returns the first word after a position.
    fn after(&self, text: &str, at: usize) -> Option<&'static str> {
        if self.anything {
            return Some("");
        }
        self.found(text.get(at + 1..)?).next().map(|(_, word)| word)
    }
}

type Pairs = Vec<(WordFinder, WordFinder)>;

static TECHNIQUE_WORDS: LazyLock<WordFinder> = LazyLock::new(|| WordFinder::new(TECHNIQUES));
static NAME_WORDS: LazyLock<WordFinder> = LazyLock::new(|| WordFinder::new(NAMES));
static GUARD_WORDS: LazyLock<WordFinder> = LazyLock::new(|| WordFinder::new(GUARDS));
static STRONG_WORDS: LazyLock<WordFinder> = LazyLock::new(|| WordFinder::new(STRONG_PARAMETERS));
static TARGET_WORDS: LazyLock<WordFinder> = LazyLock::new(|| WordFinder::new(TARGET_PARAMETERS));
static DEED_WORDS: LazyLock<Pairs> = LazyLock::new(|| pairs(DEEDS));
static DUAL_WORDS: LazyLock<Pairs> = LazyLock::new(|| pairs(DUAL));

fn pairs(table: &[(Words, Words)]) -> Pairs {
    table.iter().map(|(verbs, objects)| (WordFinder::new(*verbs), WordFinder::new(*objects))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::json;

    #[test]
    fn names_are_taken_apart() {
        let rows = [
            ("getUserKeys", " get user keys "),
            ("a_b-C.d", " a b c d "),
            ("AES256Key", " aes256 key "),
            ("", " "),
        ];
        for (name, expected) in rows {
            assert_eq!(words(name), expected);
        }
    }

    #[test]
    fn what_tools_say_of_themselves() {
        let tool = |name: &str, description: &str, parameters: &[&str]| {
            let properties: Vec<String> = parameters.iter().map(|name| format!("\"{name}\":{{}}")).collect();
            let text = format!(
                "{{\"name\":\"{name}\",\"description\":\"{description}\",\"inputSchema\":{{\"properties\":{{{}}}}}}}",
                properties.join(",")
            );
            Score::of(&json::read(&text).unwrap().root).sum
        };
        let attacks = [
            tool("send_out", "Exfiltrate files over DNS.", &[]),
            tool("smb_login_try", "Brute force logins of a share.", &["target_host", "wordlist"]),
            tool("recon_mx", "Look up mail servers.", &["domain"]),
            tool("browser_vault", "Decrypt saved passwords of the browser.", &["profile"]),
            tool("helper", "Runs a program.", &["payload_command", "malicious_library"]),
        ];
        assert!(attacks.iter().all(|sum| *sum >= ATTACK), "{attacks:?}");
        let ordinary = [
            tool("key_vault_get_secret", "Get a secret of a key vault.", &["vault_name", "secret_name"]),
            tool(
                "scan_code",
                "Scan code for SQL injection, path traversal and hardcoded secrets.",
                &["path"],
            ),
            tool("list_alerts", "List code scanning alerts of a repository.", &["owner", "repo"]),
            tool("port_forward", "Forward a local port to a pod.", &["pod", "local_port", "target_port"]),
            tool("harvest_time_entries", "List time entries in Harvest.", &["from", "to"]),
            tool("browser_evaluate", "Evaluate JavaScript on the page.", &["expression"]),
            tool("dns_lookup", "Look up the records of a domain.", &["domain", "type"]),
            tool("pg_dump", "Dump a database to a file.", &["database"]),
        ];
        assert!(ordinary.iter().all(|sum| *sum < DOUBTFUL), "{ordinary:?}");
    }
}
