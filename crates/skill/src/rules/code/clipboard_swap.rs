//! Addresses of wallets on the clipboard are exchanged for others.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::{CODE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_CLIPBOARD_SWAP",
    category: Category::DynamicCode,
    severity: Severity::Critical,
    title: "addresses of wallets on the clipboard are exchanged",
    why: "Whoever copies an address to pay somebody pastes another one, and the money goes there.",
    fix: "remove it",
    places: CODE,
    anchors: words![
        "pyperclip",
        "clipboard",
        "pbcopy",
        "xclip",
        "xsel",
        "wl-copy",
        "clipboardy",
        "win32clipboard",
    ],
    check: Check::Requiring(&[&WRITES, &READS, &ADDRESSES], hits),
};

/// Calls that write to the clipboard.
static WRITES: Phrases = Phrases::new(words![
    r"pyperclip\.copy|clipboard\.(?:writeText|write|writeSync|set|copy)|setclipboard|set-clipboard|pbcopy|xclip\b|xsel\b|wl-copy|clipboard_append",
]);

/// Calls that read the clipboard.
static READS: Phrases = Phrases::new(words![
    r"pyperclip\.(?:paste|waitForNewPaste)|clipboard\.(?:readText|read|readSync|get|paste)|getclipboard|get-clipboard|pbpaste|xclip\b[^\n]{0,40}-o|xsel\b[^\n]{0,40}-(?:o|b)|wl-paste|clipboard_get",
]);

/// Patterns that match wallet addresses: Bitcoin, Ethereum, Tron, Monero, Litecoin, Solana.
static ADDRESSES: Phrases = Phrases::new(words![
    r"\bbc1\b|\(bc1|\[13\]|0x\[|\^T\[|\^4\[|\[48\]\[|\^ltc1|\[LM3\]|\[1-9A-HJ-NP-Za-km-z\]\{3|\[a-zA-HJ-NP-Z0-9\]\{2|\{40\}|\{33\}",
]);

patterns! {
    WRITTEN = r"pyperclip\.copy|clipboard\.(?:writeText|write|writeSync|set|copy)|setclipboard|set-clipboard|pbcopy|xclip\b|xsel\b|wl-copy|clipboard_append";
    READ = r"pyperclip\.(?:paste|waitForNewPaste)|clipboard\.(?:readText|read|readSync|get|paste)|getclipboard|get-clipboard|pbpaste|xclip\b[^\n]{0,40}-o|xsel\b[^\n]{0,40}-(?:o|b)|wl-paste|clipboard_get";
    PATTERN = r"(?:\bbc1|\[13\]|\[13|\^3)[^\n]{0,16}\[[^\]\n]{3,40}\]\{\d{2}|\b0x\[[^\]\n]{3,24}\]\{40\}|\^?T\[[^\]\n]{3,40}\]\{33\}|\^?[48]\[[^\n]{3,60}\{9[0-9]\}|(?:ltc1|\[LM3?\])\[?[^\n]{3,50}\{\d{2}|\[1-9A-HJ-NP-Za-km-z\]\{3[0-9],\s?4[0-9]\}";
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text().as_bytes();
    let written = WRITTEN.find(text);
    let all = READ.is_match(text) && PATTERN.is_match(text);
    written.filter(|_| all).map(|found| Hit::at(found.range())).into_iter().collect()
}
