//! Servers on loopback, names that are let through, and a book of addresses.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use ringfence::policy::{Endpoint, HostName};
use ringfence_tools::web::{
    Fetch, FetchError, FetchResponse, Fetcher, Gate, GateRefusal, LookupError, Method, Resolver,
};

pub(crate) fn get(url: &str) -> Fetch {
    Fetch { url: url.into(), method: Method::Get, timeout: Duration::from_secs(30), max_bytes: 1_000_000 }
}

pub(crate) fn never() -> bool {
    false
}

pub(crate) fn fetch(url: &str, gate: &Names, book: &Book) -> Result<FetchResponse, FetchError> {
    Fetcher::new(vec![]).fetch(&get(url), gate, book, &never)
}

/// A server that answers each connection once. It ends with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// One that sends these bytes and closes.
    pub(crate) fn start(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::on("127.0.0.1:0", move |stream, request| stream.write_all(&answer(request)))
    }

    /// One that does as it likes with a connection after the request was read.
    pub(crate) fn on(
        address: &str,
        answer: impl Fn(&mut TcpStream, &str) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || {
                    let request = read_head(&mut stream);
                    seen.lock().unwrap().push(request.clone());
                    // The other end may have seen enough.
                    answer(&mut stream, &request).ok();
                });
            }
        });
        Self { address, requests }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn url(&self, host: &str, target: &str) -> String {
        format!("http://{host}:{}{target}", self.port())
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

pub(crate) fn read_head(stream: &mut impl Read) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// Returns true if the client hangs up in this time. It sends no more after its request, so any end of waiting but the timeout is that.
pub(crate) fn is_left_within(stream: &mut TcpStream, time: Duration) -> std::io::Result<bool> {
    stream.set_read_timeout(Some(time))?;
    match stream.read(&mut [0]) {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(false),
        Ok(_) | Err(_) => Ok(true),
    }
}

pub(crate) fn redirect(status: u16, location: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} Elsewhere\r\nContent-Length: 0\r\nLocation: ");
    [head.as_bytes(), location, b"\r\n\r\n"].concat()
}

/// A gate that lets hosts through by their name or address.
pub(crate) struct Names {
    allowed: Option<Vec<HostName>>,
    asked: RefCell<Vec<String>>,
}

impl Names {
    pub(crate) fn new<const N: usize>(allowed: [&str; N]) -> Self {
        let allowed = allowed.iter().map(|host| HostName::parse(host).unwrap()).collect();
        Self { allowed: Some(allowed), asked: RefCell::default() }
    }

    /// One that would let anything through.
    pub(crate) fn all() -> Self {
        Self { allowed: None, asked: RefCell::default() }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.borrow().clone()
    }
}

impl Gate for Names {
    fn may(&self, endpoint: &Endpoint) -> Result<(), GateRefusal> {
        self.asked.borrow_mut().push(endpoint.to_string());
        let allowed = self.allowed.as_ref().is_none_or(|allowed| allowed.contains(&endpoint.host));
        if allowed { Ok(()) } else { Err(GateRefusal("not on the list".into())) }
    }
}

/// The addresses of names: one list for each lookup, the last one for all that follow.
pub(crate) struct Book {
    pages: HashMap<String, Vec<Vec<IpAddr>>>,
    lookups: RefCell<Vec<String>>,
}

impl Book {
    pub(crate) fn none() -> Self {
        Self::new([])
    }

    /// Names with their addresses: a blank between two of the same lookup, `;` between two lookups.
    pub(crate) fn new<const N: usize>(names: [(&str, &str); N]) -> Self {
        let page = |list: &str| list.split_whitespace().map(|address| address.parse().unwrap()).collect();
        let pages =
            names.iter().map(|(name, lists)| ((*name).to_owned(), lists.split(';').map(page).collect()));
        Self { pages: pages.collect(), lookups: RefCell::default() }
    }

    pub(crate) fn lookups(&self) -> Vec<String> {
        self.lookups.borrow().clone()
    }
}

impl Resolver for Book {
    fn addresses(&self, name: &str, _: Duration, _: &dyn Fn() -> bool) -> Result<Vec<IpAddr>, LookupError> {
        let before = self.lookups.borrow().iter().filter(|known| *known == name).count();
        self.lookups.borrow_mut().push(name.to_owned());
        let pages = self.pages.get(name).ok_or_else(|| LookupError::Unknown("no such name".into()))?;
        Ok(pages[before.min(pages.len() - 1)].clone())
    }
}
