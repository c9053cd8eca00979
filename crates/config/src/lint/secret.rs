//! Secrets that are never sent, or that are sent for others to read, and addresses of hosts that nothing reaches.

use policy::{Code, Decision, Endpoint, HostName, RuleRef, Scheme, Shown, not_public};

use super::Remark;
use crate::sample::Sample;
use crate::settings::Settings;
use crate::source::Scope;
use crate::tree::{Node, find};

/// Returns remarks on routes of secrets, fixed addresses and rules on requests.
pub(super) fn remarks(settings: &Settings) -> Vec<Remark> {
    let routes = settings.routes().iter().flat_map(|route| {
        let name = Shown::text(&route.secret).to_string();
        let unsent = denied(settings, &route.endpoint).map(|why| {
            let message = format!("the secret `{name}` is never sent: {why}");
            remark(Code::NeverMatches, message, route.rule.clone())
        });
        let public = route.scheme == Scheme::Http && is_public(settings, &route.endpoint.host);
        let clear = public.then(|| {
            let message = format!(
                "the secret `{name}` goes to {} without TLS: every network on the way can read it",
                route.endpoint
            );
            remark(Code::WideAllow, message, route.rule.clone())
        });
        unsent.into_iter().chain(clear)
    });
    routes.chain(unreached(settings)).collect()
}

/// Fixed addresses of names that are denied.
fn unreached(settings: &Settings) -> impl Iterator<Item = Remark> {
    let hosts = find(&settings.table, "network.hosts").and_then(Node::table);
    settings.host_addresses().iter().filter_map(move |known| {
        let name = known.name.name()?;
        let node = hosts.and_then(|hosts| hosts.get(name)).map(|entry| &entry.node);
        let why = denied(settings, &Endpoint { host: known.name.clone(), port: 443 })?;
        let message = format!("the address of `{}` is never used: {why}", Shown::text(name));
        let place = node.filter(|node| node.source.scope != Scope::BuiltIn).map(Node::place);
        Some(remark(Code::NeverMatches, message, place))
    })
}

fn denied(settings: &Settings, endpoint: &Endpoint) -> Option<String> {
    match settings.decide(&Sample::connect(endpoint.clone()).request()) {
        Decision::Deny(reason) => Some(format!("{endpoint} is denied, {}", reason.text)),
        _ => None,
    }
}

fn is_public(settings: &Settings, host: &HostName) -> bool {
    not_public(host).is_none() && settings.host_addresses().iter().all(|known| known.name != *host)
}

fn remark(code: Code, message: String, place: Option<RuleRef>) -> Remark {
    Remark { code, message, place }
}
