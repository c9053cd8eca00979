//! Refusals, and the texts that a program inside reads.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use policy::{Code, Endpoint, HostName, Reason, RuleRef, Shown};

use crate::Body;
use crate::report::RefusedHost;

/// A connection or request that does not happen, and why.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) endpoint: Option<Endpoint>,
    pub(crate) code: Code,
    pub(crate) text: Arc<str>,
    pub(crate) remedy: Option<Arc<str>>,
    pub(crate) rule: Option<RuleRef>,
    pub(crate) status: StatusCode,
}

impl Refusal {
    /// Refuses with a sentence. The status of the answer follows from the code.
    pub(crate) fn new(endpoint: Option<&Endpoint>, code: Code, text: impl Into<Arc<str>>) -> Self {
        let status = match code {
            Code::NameMismatch | Code::BadRequest | Code::BadHost => StatusCode::BAD_REQUEST,
            Code::Unreachable => StatusCode::BAD_GATEWAY,
            Code::TrafficLimit | Code::LedgerUnwritable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::FORBIDDEN,
        };
        let (endpoint, text) = (endpoint.cloned(), text.into());
        Self { endpoint, code, text, remedy: None, rule: None, status }
    }

    /// Refuses by a decision of the policy or of a person.
    pub(crate) fn by_policy(endpoint: &Endpoint, reason: &Reason) -> Self {
        let grants = matches!(reason.code, Code::UnknownHost | Code::AskUnanswered | Code::NobodyAnswered);
        let remedy = reason.remedy.clone().or_else(|| grants.then(|| allow_line(endpoint)));
        let rule = reason.rule.clone();
        Self { remedy, rule, ..Self::new(Some(endpoint), reason.code, Arc::clone(&reason.text)) }
    }

    /// Refuses a request that has more than one reading.
    pub(crate) fn malformed(text: impl Into<Arc<str>>) -> Self {
        Self::new(None, Code::BadRequest, text)
    }

    /// Refuses names that disagree.
    pub(crate) fn mismatch(endpoint: &Endpoint, text: impl Into<Arc<str>>) -> Self {
        Self::new(Some(endpoint), Code::NameMismatch, text)
    }

    /// Refuses because a limit of the broker is reached.
    pub(crate) fn limit(text: impl Into<Arc<str>>) -> Self {
        Self::new(None, Code::TrafficLimit, text)
    }

    /// Reports a host that is allowed and does not answer.
    pub(crate) fn unreachable(endpoint: &Endpoint, text: impl Into<Arc<str>>) -> Self {
        Self::new(Some(endpoint), Code::Unreachable, text)
    }

    /// Refuses an address that a name leads to.
    pub(crate) fn private(endpoint: &Endpoint, address: std::net::IpAddr, why: &str) -> Self {
        let text = format!("{} leads to {address}: {why}", endpoint.host);
        let remedy = format!("network.hosts = {{ \"{}\" = \"{address}\" }}", endpoint.host);
        Self { remedy: Some(remedy.into()), ..Self::new(Some(endpoint), Code::PrivateAddress, text) }
    }

    /// Refuses the metadata service of a cloud, which no rule allows.
    pub(crate) fn metadata(endpoint: &Endpoint) -> Self {
        let text = "metadata services hand out the credentials of this machine";
        Self::new(Some(endpoint), Code::MetadataAddress, text)
    }

    /// Refuses traffic that is neither TLS nor HTTP where no rule names the port, or where it is one of theirs.
    pub(crate) fn unreadable(endpoint: &Endpoint) -> Self {
        if matches!(endpoint.port, 80 | 443) {
            let text = "neither TLS nor HTTP, and this port carries nothing else";
            return Self::new(Some(endpoint), Code::UnreadableTraffic, text);
        }
        let text = "neither TLS nor HTTP, and no rule names the port";
        let remedy = format!("network.allow = [\"{endpoint}\"]").into();
        Self { remedy: Some(remedy), ..Self::new(Some(endpoint), Code::UnreadableTraffic, text) }
    }

    /// Refuses because the ledger did not take the record.
    pub(crate) fn unrecorded(endpoint: &Endpoint) -> Self {
        let text = "the connection cannot be recorded, so it is refused";
        Self::new(Some(endpoint), Code::LedgerUnwritable, text)
    }

    /// Replaces the status of the answer.
    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Names the host that the request was about.
    pub(crate) fn about(mut self, endpoint: &Endpoint) -> Self {
        self.endpoint = Some(endpoint.clone());
        self
    }

    /// Makes the HTTP answer, after which the connection is closed.
    pub(crate) fn response(&self, json: bool) -> Response<Body> {
        let (text, media) = if json {
            (self.json(), "application/json")
        } else {
            (self.plain(), "text/plain; charset=utf-8")
        };
        let body = Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed();
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
        if self.status == StatusCode::BAD_REQUEST || self.status.as_u16() == 431 {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// Makes the whole HTTP/1.1 answer as text, for a client that is not served by hyper.
    pub(crate) fn page(&self) -> String {
        let (status, body) = (self.status, self.plain());
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
    }

    /// Makes the line for the summary of a run.
    pub(crate) fn listed(&self) -> RefusedHost {
        RefusedHost {
            endpoint: self.endpoint.clone(),
            code: self.code,
            reason: self.text.to_string(),
            remedy: self.remedy.as_deref().map(str::to_owned),
            count: 1,
        }
    }

    fn plain(&self) -> String {
        let subject = self.endpoint.as_ref().map_or_else(|| "request".to_owned(), ToString::to_string);
        let first =
            format!("ringfence: {subject} refused: {} ({})\n", Shown::text(&self.text), self.code.id());
        let rule = self.rule.as_ref().map(|rule| format!("rule: {rule}\n"));
        let remedy = self.remedy.as_ref().map(|line| format!("to allow it: {}\n", Shown::text(line)));
        [Some(first), rule, remedy].into_iter().flatten().collect()
    }

    fn json(&self) -> String {
        let value = serde_json::json!({
            "error": "refused",
            "code": self.code.id(),
            "reason": &*self.text,
            "host": self.endpoint.as_ref().map(|endpoint| endpoint.host.to_string()),
            "port": self.endpoint.as_ref().map(|endpoint| endpoint.port),
            "rule": self.rule.as_ref().map(ToString::to_string),
            "remedy": self.remedy.as_deref(),
        });
        format!("{value}\n")
    }
}

/// Returns the one line that would allow a host.
fn allow_line(endpoint: &Endpoint) -> Arc<str> {
    let web = matches!(endpoint.port, 80 | 443) && matches!(endpoint.host, HostName::Name(_));
    let host = if web { endpoint.host.to_string() } else { endpoint.to_string() };
    format!("ringfence run --allow {host} … (or network.allow = [\"{host}\"] in the policy)").into()
}
