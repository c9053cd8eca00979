//! Accounts, keys and rights are added.

use crate::command::Step;
use crate::rule::{Category, Check, Hit, Rule, Severity, text};
use crate::unit::{ANYWHERE, Unit};

pub(super) const RULE: Rule = Rule {
    id: "PRIVILEGE_ACCOUNTS",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "an account, a key or the rights of an administrator are added",
    why: "Whoever knows the account or the key can come back and do everything on the machine.",
    fix: "remove the command; a person sets up accounts",
    places: ANYWHERE,
    anchors: &[
        "nopasswd",
        "sudoers",
        "authorized_keys",
        "useradd",
        "usermod",
        "adduser",
        "net user",
        "net localgroup",
        "chpasswd",
        "/etc/passwd",
        "dseditgroup",
    ],
    check: Check::Unit(hits),
    hits: &[
        text("`echo 'x ALL=(ALL) NOPASSWD: ALL' >> /etc/sudoers`"),
        text("`echo \"$USER ALL=(ALL) NOPASSWD:ALL\" | sudo tee /etc/sudoers.d/x`"),
        text("`echo 'ssh-rsa AAAA x' >> ~/.ssh/authorized_keys`"),
        text("`useradd -o -u 0 x`"),
        text("`usermod -aG sudo x`"),
        text("`net user x y /add`"),
        text("`net localgroup administrators x /add`"),
        text("`echo 'x::0:0::/root:/bin/sh' >> /etc/passwd`"),
        text("`curl -s https://a.b/k.pub >> ~/.ssh/authorized_keys`"),
    ],
    misses: &[
        text("`useradd -m app`"),
        text("`sudo usermod -aG docker $USER`"),
        text("`cat ~/.ssh/authorized_keys`"),
        text("`ssh-copy-id x@a.b`"),
        text("Do not add NOPASSWD to sudoers."),
    ],
};

patterns! {
    WINDOWS = r"\bnet1?\s+user\s+\S+\s+\S+\s+/add\b|\bnet1?\s+localgroup\s+administrators\s[^\n]{0,60}/add\b|\bdseditgroup\b[^\n]{0,60}-a\s+\S+[^\n]{0,40}\badmin\b";
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let windows = WINDOWS.find_iter(unit.text().as_bytes()).take(5).map(|found| Hit::at(found.range()));
    windows.chain(unit.commands().steps().filter_map(hit).take(20)).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    let name = step.name();
    let is_hit = match name.as_str() {
        "useradd" | "adduser" => {
            step.has("-o") || step.has("0") && step.value(&["-u", "--uid"]).is_some() || joins_admins(step)
        }
        "usermod" => joins_admins(step),
        "chpasswd" => step.feeders().any(|from| from.line().contains("root")),
        _ => false,
    };
    let writes = step.writes().any(|file| is_of_accounts(&file));
    (is_hit || writes).then(|| Hit::at(step.range()))
}

fn joins_admins(step: Step<'_>) -> bool {
    let groups = step.value(&["-aG", "-G", "-a", "--groups", "-Ga"]);
    let joins =
        |text: &str| text.split(',').any(|group| matches!(group, "sudo" | "wheel" | "root" | "admin"));
    groups.is_some_and(|groups| joins(&groups.text))
        || step.has("-aG") && step.words().iter().any(|word| joins(&word.text))
}

fn is_of_accounts(file: &str) -> bool {
    file.starts_with("/etc/sudoers")
        || matches!(file, "/etc/passwd" | "/etc/shadow")
        || file.ends_with(".ssh/authorized_keys")
        || file.ends_with(".ssh/authorized_keys2")
}
