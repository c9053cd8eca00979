//! A host, judged by every door through which it could be reached. An answer says what would happen, not what rules say alone.

use std::io;

use config::{JailSettings, Jailing, Settings, Wish};
use jail::Network;
use jail::bridge::Direction;
use policy::{
    Arguments, Code, Decision, Endpoint, HostName, HostSet, Phase, Reason, Request, Said, SetHost, Shown,
    ToolName, Trace, Want,
};
use serde_json::{Value, json};

use super::verdict::{Verdict, reason_json};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;
use crate::terminal::{Format, Terminal};

/// The decision about a host, and what each door says.
pub(super) struct Found {
    verdict: Verdict,
    doors: Vec<Door>,
}

/// A way to a host.
struct Door {
    tool: ToolName,
    trace: Trace,
    /// True if a rule decided, and not a tool that is missing or a jail.
    ruled: bool,
}

/// The doors that are looked at when no tool is named: one that connects by itself, and one for commands.
const DOORS: [&str; 2] = ["web_fetch", "exec"];

/// Judges every host of a set, and prints one answer for each. The exit code is the strictest decision.
pub(super) fn print_set(
    set: &HostSet,
    tool: Option<&ToolName>,
    settings: &Settings,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let samples = set.hosts.iter().filter_map(|host| Some((host, host.pattern.sample()?)));
    let judged = samples.map(|(host, endpoint)| Ok((host, judge(&endpoint.to_string(), tool, settings)?)));
    let judged = judged.collect::<Result<Vec<_>, Failure>>()?;
    match terminal.format {
        Format::Json => {
            let hosts: Vec<_> = judged.iter().map(|(host, found)| found.set_json(host)).collect();
            let json = json!({ "version": 1, "set": set.name, "because": set.because, "hosts": hosts });
            terminal.json(&json)?;
        }
        Format::Text => {
            writeln!(terminal.out, "@{}: {}", set.name, set.because)?;
            for (host, found) in &judged {
                let decision = &found.verdict.trace.decision;
                let (word, pattern) = (terminal.effect(decision.effect()), &host.pattern);
                let shared = if host.shared { ", shared" } else { "" };
                writeln!(terminal.out, "{word} {pattern}{shared}: {}", host.because)?;
                writeln!(
                    terminal.out,
                    "  {} {}",
                    decision.reason().code,
                    Shown::text(&decision.reason().text)
                )?;
            }
        }
    }
    let strictest = judged.iter().max_by_key(|(_, found)| found.verdict.trace.decision.effect());
    Ok(strictest.map_or(Exit::Deny, |(_, found)| found.verdict.exit()))
}

/// Judges a host. A text that is not a host is denied: it is what an agent would have asked for.
pub(super) fn judge(host: &str, tool: Option<&ToolName>, settings: &Settings) -> Result<Found, Failure> {
    let named: Vec<_> = match tool {
        Some(tool) => vec![tool.clone()],
        None => DOORS.iter().filter_map(|name| ToolName::parse(name).ok()).collect(),
    };
    let endpoint = match Endpoint::parse(host, 443) {
        Ok(endpoint) => endpoint,
        Err(error) => {
            let refused = || Verdict::refused(host, error);
            let doors = named.into_iter().map(|tool| Door { tool, trace: refused().trace, ruled: true });
            let doors = doors.collect();
            return Ok(Found { verdict: refused(), doors });
        }
    };
    let jail = settings.jail(&Wish::default()).map_err(|problems| report::failure(&problems))?;
    let doors: Vec<_> = named.into_iter().map(|tool| through(tool, &endpoint, settings, &jail)).collect();
    let (kind, object) = ("connect", endpoint.to_string());
    Ok(Found { verdict: Verdict { kind, object, names: Vec::new(), trace: widest(&doors) }, doors })
}

/// Returns the answer of the most permissive door. If all are closed and no rule is the reason, the answer says so.
fn widest(doors: &[Door]) -> Trace {
    let nothing = || Reason::new(Code::JailNoBroker, "nothing can reach this host");
    let open = |door: &&Door| !is_denied(&door.trace);
    let reached = doors.iter().filter(open).min_by_key(|door| door.trace.decision.effect());
    if let Some(door) = reached.or_else(|| doors.iter().find(|door| door.ruled)) {
        return door.trace.clone();
    }
    let Some(closed) = doors.last() else { return Door::fact(Decision::Deny(nothing()), Vec::new()) };
    let reason = closed.trace.decision.reason().clone();
    if doors.len() == 1 {
        return closed.trace.clone();
    }
    let text = "nothing can reach this host, though no rule denies it";
    let decision = Decision::Deny(Reason { text: text.into(), ..reason });
    Door::fact(decision, closed.trace.said.clone())
}

/// Judges a connection of this tool.
fn through(tool: ToolName, endpoint: &Endpoint, settings: &Settings, jail: &JailSettings) -> Door {
    let rules = settings.explain(&Request { tool: &tool, want: Want::Connect(endpoint) });
    let call = settings.decide(&Request { tool: &tool, want: Want::Call(&Arguments::new(Vec::new())) });
    let instead = match &call {
        Decision::Deny(reason) if !is_denied(&rules) => {
            let text = format!("the tool `{tool}` may not be called: {}", reason.text);
            Some(Decision::Deny(Reason { text: text.into(), ..reason.clone() }))
        }
        _ if is_command(&tool) => by_command(endpoint, &rules, jail),
        _ => None,
    };
    match instead {
        Some(decision) => Door { tool, trace: Door::fact(decision, rules.said), ruled: false },
        None => Door { tool, trace: rules, ruled: true },
    }
}

/// Tools whose connections are made by commands: the jail decides first, and the rules decide where it has the broker.
fn is_command(tool: &ToolName) -> bool {
    matches!(tool.as_str(), "exec" | "process")
}

/// Returns the decision that replaces the rules for a command; `None` if the rules decide, by the broker or because they deny
/// what the jail closes anyway.
fn by_command(endpoint: &Endpoint, rules: &Trace, jail: &JailSettings) -> Option<Decision> {
    let open = jail.network == Network::Open || matches!(jail.jailing, Jailing::Never(_));
    if open {
        return Some(Decision::Allow(unenforced(rules, jail)));
    }
    if is_bridged(endpoint, jail) {
        let text = "the port is bridged to the host's loopback by `jail.ports-out`";
        return Some(Decision::Allow(Reason::new(Code::Rule, text)));
    }
    (!is_denied(rules) && jail.network == Network::None).then(|| Decision::Deny(no_network(jail)))
}

fn is_denied(trace: &Trace) -> bool {
    matches!(trace.decision, Decision::Deny(_))
}

fn unenforced(rules: &Trace, jail: &JailSettings) -> Reason {
    let said = match &rules.decision {
        Decision::Allow(_) => String::new(),
        other => format!("; the rules say {}: {}", other.effect().word(), other.reason().text),
    };
    let place = match &jail.jailing {
        Jailing::Never(_) => "commands run without a jail".to_owned(),
        _ => format!("the profile `{}` has the host's network", jail.profile),
    };
    let text = format!("{place}, and rules about hosts are not enforced on commands{said}");
    Reason::new(Code::JailNoBroker, text).by(jail.network_rule.clone())
}

fn no_network(jail: &JailSettings) -> Reason {
    let text = format!("commands have no network: the profile `{}` has none", jail.profile);
    Reason::new(Code::JailNoBroker, text).by(jail.network_rule.clone()).remedy(
        "`ringfence run --profile workspace-write` lets a command reach the hosts that the policy allows",
    )
}

fn is_bridged(endpoint: &Endpoint, jail: &JailSettings) -> bool {
    let loopback = match &endpoint.host {
        HostName::Address(address) => address.is_loopback(),
        HostName::Name(name) => &**name == "localhost",
    };
    loopback && jail.ports.iter().any(|port| port.way == Direction::Out && port.inside == endpoint.port)
}

/// Prints the answer. The exit code is the decision.
pub(super) fn print(found: &Found, trace: bool, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    match terminal.format {
        Format::Json => {
            let mut json = found.verdict.json();
            if let Value::Object(fields) = &mut json {
                fields.insert("doors".to_owned(), found.doors.iter().map(Door::json).collect());
            }
            terminal.json(&json)?;
        }
        Format::Text => {
            found.verdict.text(terminal)?;
            if !found.agree() {
                found.doors.iter().try_for_each(|door| door.text(terminal))?;
            }
            if trace {
                found.verdict.trace_text(terminal)?;
            }
        }
    }
    Ok(found.verdict.exit())
}

impl Found {
    fn set_json(&self, host: &SetHost) -> Value {
        let decision = &self.verdict.trace.decision;
        json!({
            "host": host.pattern.as_str(),
            "shared": host.shared,
            "because": host.because,
            "decision": decision.effect().word(),
            "reason": reason_json(decision.reason()),
        })
    }

    /// Returns true if every door says the same.
    fn agree(&self) -> bool {
        self.doors.iter().all(|door| door.trace.decision == self.verdict.trace.decision)
    }
}

impl Door {
    /// A decision that no rule made and none overrules.
    fn fact(decision: Decision, said: Vec<Said>) -> Trace {
        Trace { decision, phase: Phase::FloorDeny, said }
    }

    fn text(&self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        let (decision, reason) = (&self.trace.decision, self.trace.decision.reason());
        let word = decision.effect().word();
        writeln!(
            terminal.out,
            "  through {}: {word}, {} {}",
            self.tool,
            reason.code,
            Shown::text(&reason.text)
        )
    }

    fn json(&self) -> Value {
        let decision = &self.trace.decision;
        json!({
            "tool": self.tool.as_str(),
            "decision": decision.effect().word(),
            "reason": reason_json(decision.reason()),
        })
    }
}
