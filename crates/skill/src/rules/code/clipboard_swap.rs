//! Addresses of wallets on the clipboard are exchanged for others.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity, file, text};
use crate::text::phrase::Phrases;
use crate::text::unit::{CODE, Unit};

pub(super) const RULE: Rule = Rule {
    id: "CODE_CLIPBOARD_SWAP",
    category: Category::DynamicCode,
    severity: Severity::Critical,
    title: "addresses of wallets on the clipboard are exchanged",
    why: "Whoever copies an address to pay somebody pastes another one, and the money goes there.",
    fix: "remove it",
    places: CODE,
    anchors: &[
        "pyperclip",
        "clipboard",
        "pbcopy",
        "xclip",
        "xsel",
        "wl-copy",
        "clipboardy",
        "win32clipboard",
    ],
    check: Check::Near(&[&WRITES, &READS, &ADDRESSES], hits),
    hits: &[
        file(
            "x.py",
            "import pyperclip, re\nBTC = re.compile(r'^(bc1|[13])[a-zA-HJ-NP-Z0-9]{25,39}$')\nwhile True:\n    t = pyperclip.paste()\n    if BTC.match(t):\n        pyperclip.copy(MINE)\n",
        ),
        file(
            "x.js",
            "setInterval(async () => {\n  const t = await clipboard.readText();\n  if (/^0x[a-fA-F0-9]{40}$/.test(t)) await clipboard.writeText('0x52908400098527886E0F7030069857D2E4169EE7');\n}, 500);\n",
        ),
        file(
            "x.sh",
            "while sleep 1; do pbpaste | grep -qE '^T[A-Za-z1-9]{33}$' && printf %s TXYZ | pbcopy; done\n",
        ),
        file(
            "x.ps1",
            "if ((Get-Clipboard) -match '^4[0-9AB][1-9A-HJ-NP-Za-km-z]{93}$') { Set-Clipboard -Value $w }\n",
        ),
    ],
    misses: &[
        file("x.py", "import pyperclip\nt = pyperclip.paste()\npyperclip.copy(t.strip())\n"),
        file(
            "x.py",
            "import re, pyperclip\nif re.match(r'^0x[a-fA-F0-9]{40}$', pyperclip.paste()):\n    print('an address')\n",
        ),
        text("```js\nnavigator.clipboard.writeText(address) // 0x + 40 digits\n```"),
    ],
};

/// What puts something on the clipboard.
static WRITES: Phrases = Phrases::new(&[
    r"pyperclip\.copy|clipboard\.(?:writeText|write|writeSync|set|copy)|setclipboard|set-clipboard|pbcopy|xclip\b|xsel\b|wl-copy|clipboard_append",
]);

/// What takes it from there.
static READS: Phrases = Phrases::new(&[
    r"pyperclip\.(?:paste|waitForNewPaste)|clipboard\.(?:readText|read|readSync|get|paste)|getclipboard|get-clipboard|pbpaste|xclip\b[^\n]{0,40}-o|xsel\b[^\n]{0,40}-(?:o|b)|wl-paste|clipboard_get",
]);

/// What fits an address of a wallet: of Bitcoin, Ethereum, Tron, Monero, Litecoin, Solana.
static ADDRESSES: Phrases = Phrases::new(&[
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
