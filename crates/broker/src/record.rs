//! Records of connections and requests. A connection that is not recorded does not happen.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use audit::{By, Event, FilePath, Name, Sink, Text};
use hyper::{Method, Request, StatusCode};
use policy::{Code, Endpoint, Reason};

use crate::connections::Connection;
use crate::gate::Program;
use crate::refusal::Refusal;
use crate::report::Report;
use crate::screen::REFUSED;

/// Names of the run in every record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The session.
    pub session: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// Id of the run.
    pub id: Option<String>,
}

impl Origin {
    fn by(&self) -> By<'_> {
        By { session: self.session.as_deref(), agent: self.agent.as_deref(), id: self.id.as_deref() }
    }
}

/// Writes records and counts for the report.
pub(crate) struct Recorder {
    sink: Arc<dyn Sink>,
    origin: Origin,
    report: Mutex<Report>,
}

/// A request from inside, for its record or that of its refusal.
pub(crate) struct Asked {
    method: Method,
    /// The path without its query.
    path: String,
    started: Instant,
}

impl Asked {
    /// Notes a request before it is judged. `None` for one that opens a tunnel or could not be read.
    pub(crate) fn of<B>(request: &Request<B>) -> Option<Self> {
        let readable = *request.method() != Method::CONNECT && request.method().as_str() != REFUSED;
        readable.then(|| Self::new(request))
    }

    /// Notes a request that is passed on.
    pub(crate) fn new<B>(request: &Request<B>) -> Self {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        Self { method, path, started: Instant::now() }
    }
}

impl Recorder {
    pub(crate) fn new(sink: Arc<dyn Sink>, origin: Origin) -> Self {
        Self { sink, origin, report: Mutex::default() }
    }

    /// Returns the totals so far.
    pub(crate) fn report(&self) -> Report {
        self.totals().clone()
    }

    /// Records a refusal. It stays refused when that fails.
    pub(crate) fn refused(&self, refusal: &Refusal, program: Option<&Program>) {
        self.refused_request(refusal, program, None);
    }

    /// Records the refusal of a request.
    pub(crate) fn refused_request(
        &self,
        refusal: &Refusal,
        program: Option<&Program>,
        asked: Option<&Asked>,
    ) {
        self.totals().add_refusal(refusal.listed());
        let host = refusal.endpoint.as_ref().map_or_else(|| "-".to_owned(), |end| end.host.to_string());
        let recorded = self.sink.record(&Event::BrokerEgressDenied {
            by: self.origin.by(),
            host: Name(&host),
            port: refusal.endpoint.as_ref().map(|end| end.port.into()),
            code: refusal.code,
            reason: Text(&refusal.text),
            rule: refusal.rule.as_ref(),
            remedy: refusal.remedy.as_deref().map(Text),
            program: program.map(|program| FilePath(&program.executable)),
            pid: program.map(|program| program.pid.into()),
            method: asked.map(|asked| Name(asked.method.as_str())),
            // A path may be the place of the placeholder, which is not recorded.
            path: asked.filter(|_| refusal.code != Code::PlaceholderElsewhere).map(|asked| Text(&asked.path)),
        });
        self.count_lost(recorded.is_err());
    }

    /// Records that a connection is about to be opened.
    pub(crate) fn opened(
        &self,
        id: u64,
        endpoint: &Endpoint,
        reason: &Reason,
        program: Option<&Program>,
    ) -> Result<(), Refusal> {
        let host = endpoint.host.to_string();
        let recorded = self.sink.record(&Event::BrokerConnected {
            by: self.origin.by(),
            connection: id,
            host: Name(&host),
            port: endpoint.port.into(),
            program: program.map(|program| FilePath(&program.executable)),
            pid: program.map(|program| program.pid.into()),
            code: reason.code,
            rule: reason.rule.as_ref(),
        });
        recorded.map_err(|_| Refusal::unrecorded(endpoint))?;
        self.totals().connections += 1;
        Ok(())
    }

    /// Records the end of a connection.
    pub(crate) fn closed(&self, connection: &Connection) {
        let (sent, received) = connection.bytes();
        let host = connection.endpoint.host.to_string();
        let address = connection.address().map(|address| address.to_string());
        let recorded = self.sink.record(&Event::BrokerDisconnected {
            by: self.origin.by(),
            connection: connection.id,
            host: Name(&host),
            port: connection.endpoint.port.into(),
            address: address.as_deref().map(Name),
            program: connection.caller.now().map(|program| FilePath(&program.executable)),
            pid: connection.caller.now().map(|program| program.pid.into()),
            sent,
            received,
            duration_ms: u64::try_from(connection.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        let mut totals = self.totals();
        totals.sent += sent;
        totals.received += received;
        drop(totals);
        self.count_lost(recorded.is_err());
    }

    /// Records a request when the head of its response is there.
    pub(crate) fn request(
        &self,
        connection: &Connection,
        asked: &Asked,
        secret: Option<&str>,
        status: StatusCode,
    ) -> Result<(), Refusal> {
        let (endpoint, program) = (&connection.endpoint, connection.caller.now());
        let host = endpoint.host.to_string();
        let recorded = self.sink.record(&Event::BrokerRequest {
            by: self.origin.by(),
            host: Name(&host),
            port: endpoint.port.into(),
            method: Name(asked.method.as_str()),
            path: Text(&asked.path),
            status: status.as_u16().into(),
            secret: secret.map(Name),
            connection: connection.id,
            rule: connection.reason.rule.as_ref(),
            program: program.map(|program| FilePath(&program.executable)),
            pid: program.map(|program| program.pid.into()),
            duration_ms: u64::try_from(asked.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        recorded.map_err(|_| Refusal::unrecorded(endpoint))
    }

    fn count_lost(&self, lost: bool) {
        self.totals().unrecorded += u64::from(lost);
    }

    fn totals(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
