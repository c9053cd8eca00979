//! Code is written into memory and called.

use crate::code::fact::Hostile;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity, file, text};
use crate::text::unit::{ANYWHERE, Unit};

pub(super) const RULE: Rule = Rule {
    id: "CODE_SHELLCODE",
    category: Category::DynamicCode,
    severity: Severity::Critical,
    title: "code is written into memory and called",
    why: "Bytes that are copied into memory and called are read by nobody, and belong to no file.",
    fix: "remove it",
    places: ANYWHERE,
    anchors: &["virtualalloc", "rtlmovememory", "createthread", "writeprocessmemory"],
    check: Check::Unit(check),
    hits: &[file(
        "x.py",
        "import ctypes\np = ctypes.windll.kernel32.VirtualAlloc(0, n, 0x3000, 0x40)\nctypes.windll.kernel32.RtlMoveMemory(p, buf, n)\n",
    )],
    misses: &[
        file("x.py", "import ctypes\nlib = ctypes.CDLL('libc.so.6')\nlib.printf(b'x')\n"),
        text("VirtualAlloc reserves memory."),
    ],
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::hostile(unit, Hostile::Shellcode)
}
