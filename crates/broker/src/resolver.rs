//! The resolver inside: every valid name gets a synthetic address, and nothing is asked outside.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use policy::HostName;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

use crate::Shared;
use crate::names::is_synthetic;
use crate::refusal::Refusal;
use crate::stream::Session;
use crate::wire::dns::{self, Answer, MAX_QUERY, QueryType};

/// Pause after an error of the socket.
const AFTER_ERROR: Duration = Duration::from_millis(10);

/// Answers queries over UDP for ever.
pub(crate) async fn serve_udp(shared: Arc<Shared>, socket: UdpSocket) {
    let mut buffer = vec![0; MAX_QUERY + 1];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            // It belongs to an earlier answer that its client did not wait for. One that lasts must not take a processor.
            tokio::time::sleep(AFTER_ERROR).await;
            continue;
        };
        if let Some(answer) = answer(&shared, &buffer[..length]) {
            let _sent = socket.send_to(&answer, from).await.is_ok();
        }
    }
}

/// Answers queries over one TCP connection, each behind its length.
pub(crate) async fn serve_tcp(shared: Arc<Shared>, _session: Arc<Session>, mut stream: TcpStream) {
    loop {
        let Ok(Some(query)) = timeout(shared.limits.head, read_query(&mut stream)).await else { return };
        let Some(answer) = answer(&shared, &query) else { return };
        let Ok(length) = u16::try_from(answer.len()) else { return };
        let framed = [&length.to_be_bytes()[..], &answer].concat();
        if stream.write_all(&framed).await.is_err() {
            return;
        }
    }
}

async fn read_query(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let length = usize::from(stream.read_u16().await.ok()?);
    if length > MAX_QUERY {
        return None;
    }
    let mut query = vec![0; length];
    stream.read_exact(&mut query).await.ok()?;
    Some(query)
}

/// Makes the answer to a message; `None` if it deserves none.
fn answer(shared: &Shared, message: &[u8]) -> Option<Vec<u8>> {
    match dns::parse(message) {
        Ok(query) => Some(dns::answer(&query, &resolve(shared, &query.name, query.kind))),
        Err(error) => dns::error_answer(error),
    }
}

fn resolve(shared: &Shared, name: &str, kind: QueryType) -> Answer {
    if kind == QueryType::Ptr {
        return reverse(shared, name);
    }
    let Ok(HostName::Name(name)) = HostName::parse(name) else { return Answer::NoSuchName };
    let local = *name == *"localhost" || name.ends_with(".localhost");
    match kind {
        QueryType::A if local => Answer::Address(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        QueryType::Aaaa if local => Answer::Address(IpAddr::V6(Ipv6Addr::LOCALHOST)),
        QueryType::A => synthetic(shared, &name),
        _ => Answer::Empty,
    }
}

fn synthetic(shared: &Shared, name: &str) -> Answer {
    if let Some(address) = shared.names.address(name) {
        return Answer::Address(address.into());
    }
    shared.recorder.refused(&Refusal::limit("too many names were looked up"), None);
    Answer::Failure
}

fn reverse(shared: &Shared, name: &str) -> Answer {
    let address = dns::reverse_address(name).filter(|address| is_synthetic(*address));
    match address.and_then(|address| shared.names.name(address)) {
        Some(HostName::Name(name)) => Answer::Name(name.into()),
        _ => Answer::NoSuchName,
    }
}
