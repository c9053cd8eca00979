//! Reports of `run --verbose` and of JSON output. They go to standard error: standard output belongs to the command.

use jail::{End, Layer, Mode, Network, View};
use policy::Shown;
use ringfence::run::{JailReport, Outcome};
use serde_json::{Value, json};

/// Renders the jail for people.
pub(crate) fn jail_text(jail: &JailReport<'_>) -> String {
    let mut text = format!("jail       {} by profile {}\n", jail.provider.word(), Shown::text(jail.profile));
    for layer in Layer::ALL {
        let reached = jail.enforcement.reached(layer);
        let gap = reached.gap.as_ref().map(|gap| format!("; not: {gap}")).unwrap_or_default();
        let said = format!("{}{gap}", reached.by);
        line(&mut text, layer.word(), &reached.level.to_string(), &Shown::text(&said).to_string());
    }
    for view in views(jail) {
        line(&mut text, "view", mode(view.mode), &Shown::path(&view.path).to_string());
    }
    let sees = match jail.spec.network {
        Network::None => "no network",
        Network::Broker => "the broker",
        Network::Open => "the host's network",
    };
    line(&mut text, "sees", sees, "");
    besides(jail, &mut text);
    let names = variables(jail);
    text + &format!("variables  {}\n", names.collect::<Vec<_>>().join(" "))
}

/// Renders toolchains, the files they were found by, their hidden parts, and ports.
fn besides(jail: &JailReport<'_>, text: &mut String) {
    for found in &jail.spec.toolchains.found {
        let by: Vec<_> = found.by.iter().map(|path| Shown::path(path).to_string()).collect();
        line(text, "toolchain", found.name, &by.join(" "));
        for (path, why) in &found.left_out {
            line(text, "", "", &format!("without {}: {why}", Shown::path(path)));
        }
    }
    for port in jail.ports {
        line(text, "port", &port.to_string(), "");
    }
}

/// Returns the views of the spec, then those of toolchains.
fn views<'a>(jail: &'a JailReport<'_>) -> impl Iterator<Item = &'a View> {
    jail.spec.views.iter().chain(&jail.spec.toolchains.views)
}

fn variables(jail: &JailReport<'_>) -> impl Iterator<Item = String> {
    let all = jail.spec.environment.iter().chain(&jail.spec.toolchains.variables);
    all.map(|(name, _)| Shown::bytes(name.as_encoded_bytes()).to_string())
}

/// Renders the jail for programs.
pub(crate) fn jail_json(jail: &JailReport<'_>) -> Value {
    let layers = Layer::ALL.map(|layer| {
        let reached = jail.enforcement.reached(layer);
        json!({
            "layer": layer.word(),
            "level": reached.level.to_string(),
            "by": reached.by,
            "gap": reached.gap,
        })
    });
    let views = views(jail)
        .map(|view| json!({ "path": Shown::path(&view.path).to_string(), "mode": mode(view.mode) }));
    let names = variables(jail);
    let toolchains = jail.spec.toolchains.found.iter().map(|found| {
        let left_out = found.left_out.iter();
        let left_out =
            left_out.map(|(path, why)| json!({ "path": Shown::path(path).to_string(), "why": why }));
        let by = found.by.iter().map(|path| Shown::path(path).to_string());
        json!({ "name": found.name, "by": by.collect::<Vec<_>>(), "left_out": left_out.collect::<Vec<_>>() })
    });
    json!({
        "version": 1,
        "event": "started",
        "provider": jail.provider.word(),
        "profile": jail.profile,
        "network": network(jail.spec.network),
        "layers": layers,
        "toolchains": toolchains.collect::<Vec<_>>(),
        "ports": jail.ports.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "views": views.collect::<Vec<_>>(),
        "variables": names.collect::<Vec<_>>(),
    })
}

/// Renders the outcome for programs.
pub(crate) fn ended_json(outcome: &Outcome, summary: &[Value]) -> Value {
    let (exit, signal) = match outcome.end {
        End::Exited(code) => (Some(code), None),
        End::Signaled(signal) => (None, Some(signal)),
        End::Limit(_) | End::Stopped => (None, None),
    };
    json!({
        "version": 1,
        "event": "ended",
        "exit": exit,
        "signal": signal,
        "limited": matches!(outcome.end, End::Limit(_)),
        "duration_ms": u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
        "ledger_head": outcome.ledger_head.to_string(),
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
