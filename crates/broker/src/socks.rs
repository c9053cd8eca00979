//! SOCKS5 with names: the client's name is judged, never an address that it looked up itself.

use std::sync::Arc;

use bytes::{Buf as _, BytesMut};
use policy::{Code, Endpoint};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::Shared;
use crate::connections::Connection;
use crate::dial::Dialed;
use crate::refusal::Refusal;
use crate::stream::{Client, ClientIo, Session, carry};
use crate::wire::socks::{SocksError, parse_greeting, parse_request};

/// Most bytes of a greeting or request.
const MAX_MESSAGE: usize = 512;

/// Serves one SOCKS5 client.
pub(crate) async fn serve(shared: Arc<Shared>, session: Arc<Session>, mut stream: TcpStream) {
    let mut buffer = BytesMut::new();
    let Ok(asked) = timeout(shared.limits.head, negotiate(&mut stream, &mut buffer)).await else {
        return shared
            .recorder
            .refused(&Refusal::limit("the SOCKS request was too slow"), session.program.now());
    };
    let endpoint = match asked {
        Ok(Some(endpoint)) => endpoint,
        Ok(None) => return,
        Err(error) => {
            let code = if matches!(error, SocksError::Host(_)) { Code::BadHost } else { Code::BadRequest };
            let refusal = Refusal::new(None, code, error.to_string());
            shared.recorder.refused(&refusal, session.program.now());
            return reply(&mut stream, error.reply()).await;
        }
    };
    let served = match open(&shared, &session, &endpoint).await {
        Ok((connection, dialed)) => {
            reply(&mut stream, 0).await;
            let client = Client { io: ClientIo::Tcp(stream), prefix: buffer };
            carry(&shared, &session, client, connection, dialed).await
        }
        Err(refusal) => {
            reply(&mut stream, reply_code(&refusal)).await;
            Err(refusal)
        }
    };
    if let Err(refusal) = served {
        shared.recorder.refused(&refusal, session.program.now());
    }
}

/// Judges, records and, unless the requests are to be seen, dials.
pub(crate) async fn open(
    shared: &Arc<Shared>,
    session: &Session,
    endpoint: &Endpoint,
) -> Result<(Arc<Connection>, Option<Dialed>), Refusal> {
    let reason = shared.judge.judge(endpoint, &session.program).await?;
    let connection = Connection::open(shared, endpoint, &reason, &session.program)?;
    if shared.credentials.intercepts(endpoint) {
        return Ok((connection, None));
    }
    let dialed = shared.dialer.connect(endpoint).await?;
    connection.set_address(dialed.address);
    Ok((connection, Some(dialed)))
}

/// Reads greeting and request. Returns `None` if the client is gone; further bytes stay in the buffer.
async fn negotiate(stream: &mut TcpStream, buffer: &mut BytesMut) -> Result<Option<Endpoint>, SocksError> {
    let greeting = loop {
        match parse_greeting(buffer) {
            Ok(Some(length)) => break length,
            Ok(None) => {}
            Err(error) => {
                // The reply of RFC 1928 to methods that are not served; the client may be gone.
                let _told = stream.write_all(&[5, 0xff]).await.is_ok();
                return Err(error);
            }
        }
        if !read_more(stream, buffer).await {
            return Ok(None);
        }
    };
    buffer.advance(greeting);
    if stream.write_all(&[5, 0]).await.is_err() {
        return Ok(None);
    }
    loop {
        if let Some((endpoint, length)) = parse_request(buffer)? {
            buffer.advance(length);
            return Ok(Some(endpoint));
        }
        if !read_more(stream, buffer).await {
            return Ok(None);
        }
    }
}

async fn read_more(stream: &mut TcpStream, buffer: &mut BytesMut) -> bool {
    buffer.len() < MAX_MESSAGE && matches!(stream.read_buf(buffer).await, Ok(1..))
}

async fn reply(stream: &mut TcpStream, code: u8) {
    // The address that was bound does not concern the client. It may be gone already.
    let _told = stream.write_all(&[5, code, 0, 1, 0, 0, 0, 0, 0, 0]).await.is_ok();
}

fn reply_code(refusal: &Refusal) -> u8 {
    match refusal.code {
        Code::Unreachable => 4,
        Code::TrafficLimit | Code::LedgerUnwritable => 1,
        _ => 2,
    }
}
