//! The way out of one jailed command: variables and files that lead programs to the broker, and the broker itself.
//!
//! Placeholders and the certificate of the run have to be in the jail before the command starts, so [`Egress`] is made with the
//! spec. The sockets exist when the jail stands, and the broker starts then.

mod certificates;
mod gate;
mod variables;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use broker::{
    Broker, Credentials, CredentialsSettings, FindProgram, Gate, Limits, Program, ProxyCredentials,
    ProxyProtocol, Report, Roots, SecretError, SecretName, SecretStore, Sockets, UpstreamProxy,
};
use config::Settings;
use guard::{Abort, Guard};
use jail::broker_network::{BrokerSockets, PROXY, ProgramLookup};
use jail::environment::Wanted;
use jail::{Held, Spec};
use policy::{Code, ProxyAddress, ProxyScheme, Route, SecretSource, Shown};

pub use gate::{HostAnswer, HostApprover, HostQuestion, entry as host_entry};

use crate::denied::DeniedAction;
use crate::jailed::{CloseEgress, OpenEgress, PrepareEgress};
use crate::journal::Journal;
use crate::run::{Host, RunError};
use gate::{HostGate, Person, SessionGate};

/// Largest file of certificates that is read.
const MAX_CERTIFICATES: u64 = 16 << 20;

/// Decides about the hosts of a command.
pub(crate) enum Authority {
    /// The policy alone.
    Policy,
    /// The policy, and a person at the terminal of the command.
    Terminal(Arc<dyn HostApprover>),
    /// The guard of a session, until the command ends.
    Session(Guard, Abort),
}

/// The way out of a command that has not started.
pub(crate) struct Egress {
    policy: Arc<Settings>,
    credentials: Credentials,
    upstream: Option<UpstreamProxy>,
    authority: Authority,
    missing: Vec<String>,
}

impl Egress {
    /// Returns a note on each secret that has no value.
    pub(crate) fn notes(&self) -> impl Iterator<Item = &str> {
        self.missing.iter().map(String::as_str)
    }

    /// Prepares the way out, and adds to the spec what programs inside need to find and trust it. `typed` has the variables that the user
    /// has named, `recipe` the routes of a known agent.
    ///
    /// Secrets are read here, so the command has to be authorized before.
    pub(crate) fn prepare(
        policy: &Arc<Settings>,
        (host, typed): (&Host, &[Wanted]),
        recipe: Vec<Route>,
        authority: Authority,
        spec: &mut Spec,
    ) -> Result<Self, RunError> {
        let roots = Roots { extra: extra_roots(policy)? };
        let secrets = host.secrets();
        let upstream = policy.upstream_proxy().map(|proxy| upstream(proxy, &*secrets)).transpose()?;
        let credentials = Credentials::prepare(CredentialsSettings {
            routes: policy.routes().iter().cloned().chain(recipe).collect(),
            requests: policy.request_rules().to_vec(),
            secrets: Arc::clone(&secrets),
            roots: roots.clone(),
            lifetime: None,
        });
        let credentials = credentials.map_err(|error| {
            RunError::coded(Code::SecretUnavailable, "cannot prepare the secrets of this run").because(&error)
        })?;
        let mut added = variables(&credentials);
        added.extend(certificates::add(spec, &credentials, &roots)?);
        set_variables(spec, added, typed);
        let missing = credentials.missing();
        let missing = missing
            .map(|(name, why)| format!("requests that need the secret {name} are refused: {why}"))
            .collect();
        Ok(Self { policy: Arc::clone(policy), credentials, upstream, authority, missing })
    }

    /// Starts the broker on the sockets of a jail that stands.
    pub(crate) fn open(self, jail: &mut Held, journal: &Journal) -> Result<RunningEgress, RunError> {
        let mut sockets =
            jail.broker_sockets().ok_or_else(|| RunError::new("the jail has no sockets for the broker"))?;
        let programs = sockets.diagnostics.take().and_then(|socket| jail.program_lookup(socket));
        let Self { policy, credentials, upstream, authority, .. } = self;
        let gate: Arc<dyn Gate> = match authority {
            Authority::Policy => Arc::new(HostGate::new(Arc::clone(&policy), None)),
            Authority::Terminal(approver) => {
                let questions = jail.questions().map_err(|error| RunError::from(&error))?;
                Arc::new(HostGate::new(Arc::clone(&policy), Some(Person { approver, questions })))
            }
            Authority::Session(guard, abort) => Arc::new(SessionGate::new(Arc::clone(&policy), guard, abort)),
        };
        let hosts = policy.host_addresses().to_vec();
        let settings = broker::Settings {
            gate,
            credentials,
            hosts,
            upstream,
            sink: journal.sink(),
            origin: journal.origin(),
            find_program: programs.map(find_program),
            limits: Limits::STANDARD,
        };
        let BrokerSockets { proxy, transparent, resolver_udp, resolver_tcp, .. } = sockets;
        let sockets = Sockets {
            proxy,
            transparent,
            resolver_udp: Some(resolver_udp),
            resolver_tcp: Some(resolver_tcp),
        };
        let broker = Broker::start(settings, sockets);
        broker.map(RunningEgress).map_err(|error| RunError::new("cannot start the broker").because(&error))
    }
}

fn find_program(programs: ProgramLookup) -> FindProgram {
    Arc::new(move |client, destination| {
        let found = programs.find(client, destination)?;
        Some(Program { pid: found.pid, executable: found.executable })
    })
}

/// The way out of a command that runs.
pub(crate) struct RunningEgress(Broker);

impl RunningEgress {
    /// Closes every connection and returns the totals.
    pub(crate) fn stop(self) -> Report {
        self.0.stop()
    }
}

/// The ways out of the commands of sessions, under one policy.
pub(crate) struct PolicyEgress {
    pub(crate) policy: Arc<Settings>,
    pub(crate) host: Host,
    /// True if only a built-in profile wants the broker's network.
    pub(crate) is_optional: bool,
}

impl PrepareEgress for PolicyEgress {
    fn prepare(
        &self,
        guard: &Guard,
        variables: &[(String, String)],
        spec: &mut Spec,
    ) -> Result<OpenEgress, String> {
        let typed =
            variables.iter().map(|(name, value)| Wanted { name: name.into(), value: Some(value.into()) });
        let typed: Vec<_> = typed.collect();
        let abort = Abort::new();
        let authority = Authority::Session(guard.clone(), abort.clone());
        let egress = Egress::prepare(&self.policy, (&self.host, &typed), Vec::new(), authority, spec);
        let egress = egress.map_err(|error| error.to_string())?;
        Ok(Box::new(move |jail, journal| {
            let missing = egress.missing.clone();
            let running = egress.open(jail, journal).map_err(|error| error.to_string())?;
            let close: CloseEgress = Box::new(move || {
                // A question of a command that has ended is withdrawn.
                abort.abort();
                let refused = denied(&running.stop()).into_iter().map(|(action, _)| line(&action));
                missing.into_iter().chain(refused).collect()
            });
            Ok(close)
        }))
    }

    fn is_optional(&self) -> bool {
        self.is_optional
    }
}

/// Returns the refused connections of a run, with their codes, for its summary.
pub(crate) fn denied(report: &Report) -> Vec<(DeniedAction, Code)> {
    report.refusals.iter().map(|refused| (denied_host(refused), refused.code)).collect()
}

/// Returns the line about a refused host for the notes of a command.
fn line(DeniedAction { object, by, allow, .. }: &DeniedAction) -> String {
    let remedy = if allow.is_empty() { String::new() } else { format!("; to allow it: {allow}") };
    format!("connection to {object} refused: {by}{remedy}")
}

/// Describes a refused host. The setting that would allow it is empty if there is none: a host may be out of reach.
fn denied_host(refused: &broker::RefusedHost) -> DeniedAction {
    let object = refused.endpoint.as_ref().map(ToString::to_string);
    let times = if refused.count > 1 { format!(" ({} times)", refused.count) } else { String::new() };
    DeniedAction {
        kind: policy::Kind::Connect,
        object: object.unwrap_or_else(|| "an unreadable host".to_owned()),
        by: format!("{}{times}", refused.reason),
        allow: refused.remedy.clone().unwrap_or_default(),
    }
}

/// Returns the variables that lead programs to the proxy, and those with placeholders.
fn variables(credentials: &Credentials) -> Vec<(String, String)> {
    let proxy = format!("http://{PROXY}");
    let leading = variables::PROXY.iter().map(|name| ((*name).to_owned(), proxy.clone()));
    let inside = variables::NO_PROXY.iter().map(|name| ((*name).to_owned(), variables::INSIDE.to_owned()));
    let quiet = variables::NO_UPDATES.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    leading.chain(inside).chain(quiet).chain(credentials.environment()).collect()
}

/// Sets variables, except those that the user has named on the command line.
fn set_variables(spec: &mut Spec, added: Vec<(String, String)>, typed: &[Wanted]) {
    for (name, value) in added {
        if typed.iter().all(|wanted| wanted.name != *name) {
            spec.environment.retain(|(known, _)| *known != *name);
            spec.environment.push((OsString::from(name), OsString::from(value)));
        }
    }
}

/// Returns the company's proxy, with its login from the store.
fn upstream(proxy: &ProxyAddress, secrets: &dyn SecretStore) -> Result<UpstreamProxy, RunError> {
    let login = proxy.secret.as_deref().map(|name| {
        let failed = |error: SecretError| {
            let message = format!("cannot read the login of the proxy: secret {}", Shown::text(name));
            let error = RunError::coded(Code::SecretUnavailable, message).because(&error);
            error.hint(format!("printf %s USER:PASSWORD | ringfence secret set {}", Shown::text(name)))
        };
        let name = SecretName::parse(name).map_err(failed)?;
        let value = secrets.load(&name, &SecretSource::Store).map_err(failed)?;
        ProxyCredentials::parse(&value).map_err(failed)
    });
    let protocol = match proxy.scheme {
        ProxyScheme::Http => ProxyProtocol::Http,
        ProxyScheme::Socks5h => ProxyProtocol::Socks5,
    };
    Ok(UpstreamProxy { protocol, endpoint: proxy.endpoint.clone(), credentials: login.transpose()? })
}

/// Reads the further certificate authorities of the policy.
fn extra_roots(policy: &Settings) -> Result<Vec<u8>, RunError> {
    let mut all = Vec::new();
    for path in policy.extra_roots() {
        let text = read(path).map_err(|error| {
            let message = format!("network.ca: {} cannot be read", Shown::path(path));
            RunError::coded(Code::SecretUnavailable, message).because(&error)
        })?;
        all.extend(text);
        all.push(b'\n');
    }
    Ok(all)
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)?.take(MAX_CERTIFICATES + 1).read_to_end(&mut bytes)?;
    if read as u64 > MAX_CERTIFICATES {
        return Err(std::io::Error::other("the file is too large"));
    }
    Ok(bytes)
}
