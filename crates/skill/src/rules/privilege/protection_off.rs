//! Protection of a machine is switched off.

use crate::code::command::Step;
use crate::code::destination::Kind;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::link::{Link, links};
use crate::text::unit::{ANYWHERE, Place, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PRIVILEGE_PROTECTION_OFF",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "protection of the machine is switched off",
    why: "Firewalls, scanners and checks of signatures are there for what comes next.",
    fix: "remove the command; a person decides about the protection of a machine",
    places: ANYWHERE,
    anchors: words![
        "setenforce",
        "\\bufw ",
        "firewalld",
        "iptables",
        "nft ",
        "spctl",
        "csrutil",
        "com.apple.quarantine",
        "xattr -c",
        "xattr -rc",
        "mppreference",
        "advfirewall",
        "disableantispyware",
        "apparmor",
        "auditd",
        "lsquarantine",
        "falcon",
        "crowdstrike",
        "defender",
        "clamav",
        "xprotect",
        "mpcmdrun",
        "disablerealtimemonitoring",
        "sentinel",
        "osquery",
        "fail2ban",
        "executionpolicy",
    ],
    check: Check::Unit(hits),
};

patterns! {
    FETCHED = r"\b(?:download|get|install|grab|fetch)\b[^\n]{0,120}https?://|\.(?:dmg|pkg|zip)\b";
    PASSWORD = r"\b(?:asks?|enter|type|prompts?|needs?|wants?)\b[^.\n]{0,50}\bpassword\b";
    TEXT = concat!(
        r"\bcsrutil\s+disable\b|\bspctl\s+--(?:master|global)-disable\b|\bSet-MpPreference\b[^\n]{0,80}-Disable\w+\s+(?:\$true|1)",
        r"|\bAdd-MpPreference\b[^\n]{0,40}-Exclusion\w+|\bnetsh\s+advfirewall\s+set\b[^\n]{0,40}\bstate\s+off\b|\bDisableAntiSpyware\b[^\n]{0,60}\b1\b",
        r"|\bLSQuarantine\b[^\n]{0,20}\b(?:NO|false|0)\b|\bSet-NetFirewallProfile\b[^\n]{0,80}-Enabled\s+(?:\$?false)|\bMpCmdRun(?:\.exe)?['\x22]?\s+-RemoveDefinitions"
    );
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = TEXT.find_iter(unit.text().as_bytes()).take(10).map(|found| Hit {
        severity: is_asked(unit, found.as_bytes()).then_some(Severity::Warning),
        ..Hit::at(found.range())
    });
    // A guide that sets up a firewall also says how to get back in.
    let sets_up = unit.place == Place::Inline && unit.view.text.contains("ufw enable");
    let undo = |hit: Hit, name: &str| Hit {
        severity: if sets_up && name == "ufw" { Some(Severity::Warning) } else { hit.severity },
        ..hit
    };
    let asks = |hit: Hit, name: &str| Hit {
        severity: hit.severity.filter(|_| name != "xattr" || !is_let_in(unit)),
        ..hit
    };
    let steps = unit.commands().steps().filter_map(|step| Some((hit(step)?, step.name())));
    let steps = steps.map(|(hit, name)| asks(undo(hit, &name), &name));
    text.chain(steps.take(20)).collect()
}

/// Returns true if a script excludes a directory from scans and asks before, and nothing comes from an unknown host.
fn is_asked(unit: &Unit<'_>, found: &[u8]) -> bool {
    let text = unit.text();
    let asks = ["Read-Host", "PromptForChoice", "ShouldContinue", "choice /", "set /p"];
    let unknown = |link: &Link| !matches!(link.to.kind, Kind::Vendor | Kind::UserContent | Kind::Private);
    unit.place == Place::Script
        && memchr::memmem::find(&found.to_ascii_lowercase(), b"add-mppreference").is_some()
        && asks.iter().any(|sign| text.contains(sign))
        && !links(text).iter().any(unknown)
}

/// Names of protection services, as used to start and stop them.
const GUARDS: &[&str] = &[
    "firewalld",
    "ufw",
    "iptables",
    "nftables",
    "auditd",
    "apparmor",
    "falcon-sensor",
    "falcon",
    "crowdstrike",
    "clamav",
    "clamav-daemon",
    "clamd",
    "mdatp",
    "sentinelone",
    "osqueryd",
    "fail2ban",
    "rsyslog",
    "wazuh-agent",
    "selinux",
    "carbonblack",
    "cbdaemon",
];

fn hit(step: Step<'_>) -> Option<Hit> {
    let guards = || {
        step.words().iter().any(|word| {
            GUARDS.iter().any(|guard| word.text.trim_end_matches(".service").eq_ignore_ascii_case(guard))
        })
    };
    let name = step.name();
    let is_hit = match name.as_str() {
        "setenforce" => step.has("0") || step.has("Permissive") || step.has("permissive"),
        "ufw" => step.has("disable") || step.has("reset"),
        "systemctl" | "service" | "launchctl" | "rc-service" => {
            ["stop", "disable", "mask", "unload", "bootout", "remove"].iter().any(|verb| step.has(verb))
                && guards()
        }
        "iptables" | "ip6tables" => {
            step.has("-F")
                || step.has("--flush")
                || step.words().windows(3).any(|words| words[0].text == "-P" && words[2].text == "ACCEPT")
        }
        "nft" => step.has("flush") && step.has("ruleset"),
        "pkill" | "killall" => {
            step.words().iter().any(|word| GUARDS.iter().any(|guard| word.text.contains(guard)))
        }
        "xattr" => return quarantine(step),
        _ => false,
    };
    is_hit.then(|| Hit::at(step.range()))
}

/// Programs without a signature are let in by hand all the time; those that were just downloaded are not to be.
fn quarantine(step: Step<'_>) -> Option<Hit> {
    let removes = step.has("-c")
        || step.has("-cr")
        || step.has("-rc")
        || (step.has_short('d') && step.has("com.apple.quarantine"));
    let fetched = (0..step.number)
        .rev()
        .take(20)
        .filter_map(|number| step.other(number))
        .any(|other| other.fetch().is_some());
    let named = step.has("com.apple.quarantine");
    let severity = (!fetched).then_some(if named { Severity::Warning } else { Severity::Note });
    removes.then(|| Hit { severity, ..Hit::at(step.range()) })
}

/// Returns true if a program from an unknown host is let in, and then asks for the password.
fn is_let_in(unit: &Unit<'_>) -> bool {
    let (before, after) = (unit.before(1500), unit.after(600));
    let unknown = links(before).iter().any(|link| {
        link.to.is_throwaway()
            || matches!(link.to.kind, Kind::Unknown | Kind::Placeholder | Kind::FreeHosting)
    });
    unknown
        && FETCHED.is_match(before.as_bytes())
        && [before, after].iter().any(|text| PASSWORD.is_match(text.as_bytes()))
}
