//! What `run --verbose` says. On standard error: standard output belongs to the command.

use std::time::Duration;

use jail::{Enforcement, Layer, Mode, Network, Spec};
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
        for view in &self.spec.views {
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
        let names =
            self.spec.environment.iter().map(|(name, _)| Shown::bytes(name.as_encoded_bytes()).to_string());
        text + &format!("variables  {}\n", names.collect::<Vec<_>>().join(" "))
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
            .spec
            .views
            .iter()
            .map(|view| json!({ "path": Shown::path(&view.path).to_string(), "mode": mode(view.mode) }));
        let names =
            self.spec.environment.iter().map(|(name, _)| Shown::bytes(name.as_encoded_bytes()).to_string());
        json!({
            "version": 1,
            "event": "started",
            "provider": self.provider,
            "profile": self.profile,
            "network": network(self.spec.network),
            "layers": layers,
            "views": views.collect::<Vec<_>>(),
            "variables": names.collect::<Vec<_>>(),
        })
    }
}

/// What is said after the end, for programs.
pub(crate) fn ended_json(came: Came, duration: Duration, head: &str) -> Value {
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
