//! What `run --verbose` says. On standard error: standard output belongs to the command.

use std::time::Duration;

use jail::bridge::Port;
use jail::{Enforcement, Layer, Mode, Network, Spec, View};
use policy::Shown;
use serde_json::{Value, json};

use super::record::Came;

/// What is said before the command starts.
pub(crate) struct Before<'a> {
    /// Who made the jail.
    pub(crate) provider: &'a str,
    /// The profile.
    pub(crate) profile: &'a str,
    /// The jail.
    pub(crate) spec: &'a Spec,
    /// The ports that are bridged.
    pub(crate) ports: &'a [Port],
    /// What the kernel does.
    pub(crate) reached: &'a Enforcement,
    /// Whether the profile wanted the broker and has no network instead.
    pub(crate) without_broker: bool,
}

impl Before<'_> {
    /// For people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("jail       {} by profile {}\n", self.provider, Shown::text(self.profile));
        for layer in Layer::ALL {
            let reached = self.reached.reached(layer);
            let gap = reached.gap.as_ref().map(|gap| format!("; not: {gap}")).unwrap_or_default();
            let said = format!("{}{gap}", reached.by);
            line(&mut text, layer.word(), &reached.level.to_string(), &Shown::text(&said).to_string());
        }
        for view in self.views() {
            line(&mut text, "view", mode(view.mode), &Shown::path(&view.path).to_string());
        }
        let sees = match self.spec.network {
            Network::None => "no network",
            Network::Broker => "the broker",
            Network::Open => "the host's network",
        };
        let why = if self.without_broker {
            "the profile is meant for the broker, which is not built yet"
        } else {
            ""
        };
        line(&mut text, "sees", sees, why);
        self.besides(&mut text);
        let names = self.variables();
        text + &format!("variables  {}\n", names.collect::<Vec<_>>().join(" "))
    }

    /// Toolchains with how they were found and what of them is left out, and ports.
    fn besides(&self, text: &mut String) {
        for found in &self.spec.toolchains.found {
            let by: Vec<_> = found.by.iter().map(|path| Shown::path(path).to_string()).collect();
            line(text, "toolchain", found.name, &by.join(" "));
            for (path, why) in &found.left_out {
                line(text, "", "", &format!("without {}: {why}", Shown::path(path)));
            }
        }
        for port in self.ports {
            line(text, "port", &port.to_string(), "");
        }
    }

    /// What somebody asked for, then what toolchains bring.
    fn views(&self) -> impl Iterator<Item = &View> {
        self.spec.views.iter().chain(&self.spec.toolchains.views)
    }

    fn variables(&self) -> impl Iterator<Item = String> {
        let all = self.spec.environment.iter().chain(&self.spec.toolchains.variables);
        all.map(|(name, _)| Shown::bytes(name.as_encoded_bytes()).to_string())
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        let layers = Layer::ALL.map(|layer| {
            let reached = self.reached.reached(layer);
            json!({
                "layer": layer.word(),
                "level": reached.level.to_string(),
                "by": reached.by,
                "gap": reached.gap,
            })
        });
        let views = self
            .views()
            .map(|view| json!({ "path": Shown::path(&view.path).to_string(), "mode": mode(view.mode) }));
        let names = self.variables();
        let toolchains = self.spec.toolchains.found.iter().map(|found| {
            let left_out = found.left_out.iter();
            let left_out = left_out.map(|(path, why)| json!({ "path": Shown::path(path).to_string(), "why": why }));
            let by = found.by.iter().map(|path| Shown::path(path).to_string());
            json!({ "name": found.name, "by": by.collect::<Vec<_>>(), "left_out": left_out.collect::<Vec<_>>() })
        });
        json!({
            "version": 1,
            "event": "started",
            "provider": self.provider,
            "profile": self.profile,
            "network": network(self.spec.network),
            "layers": layers,
            "toolchains": toolchains.collect::<Vec<_>>(),
            "ports": self.ports.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "views": views.collect::<Vec<_>>(),
            "variables": names.collect::<Vec<_>>(),
        })
    }
}

/// What is said after the end, for programs.
pub(crate) fn ended_json(came: Came, duration: Duration, head: &str, summary: &[Value]) -> Value {
    let (exit, signal) = match came {
        Came::Exited(code) => (Some(code), None),
        Came::Signaled(signal) => (None, Some(signal)),
        Came::Limited => (None, None),
    };
    json!({
        "version": 1,
        "event": "ended",
        "exit": exit,
        "signal": signal,
        "limited": came == Came::Limited,
        "duration_ms": u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        "ledger_head": head,
        "summary": summary,
    })
}

fn line(text: &mut String, name: &str, word: &str, rest: &str) {
    let line = format!("{name:<10} {word:<10} {rest}");
    text.push_str(line.trim_end());
    text.push('\n');
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::ReadOnly => "read-only",
        Mode::ReadWrite => "read-write",
        Mode::Hidden => "hidden",
        Mode::Private => "private",
        Mode::Layered => "layered",
    }
}

fn network(network: Network) -> &'static str {
    match network {
        Network::None => "none",
        Network::Broker => "broker",
        Network::Open => "open",
    }
}
