use std::collections::VecDeque;
use std::io::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Frame;
use hyper::{Request, Response};
use policy::{HostPattern, Inject, PathGlob, RequestRule, RequestScope};

use super::world::{HOST, Offer, Plan, VALUE, World, body};
use crate::{Body, BodyError};

const OFFERS: [(Offer, Offer); 4] =
    [(Offer::One, Offer::One), (Offer::One, Offer::Two), (Offer::Two, Offer::One), (Offer::Two, Offer::Two)];

fn plain(_: &super::world::Seen) -> Response<Body> {
    Response::new(body("hello"))
}

/// Repeats everything that the host was told, in headers and body.
fn echo(seen: &super::world::Seen) -> Response<Body> {
    let key = seen.headers.get("x-api-key").or(seen.headers.get("authorization"));
    let key = key.map_or(String::new(), |value| value.to_str().unwrap().to_owned());
    Response::builder().header("x-echo", &key).body(body(format!("you sent {key}."))).unwrap()
}

/// A body of given frames.
struct Frames(VecDeque<Frame<Bytes>>);

impl hyper::body::Body for Frames {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        Poll::Ready(self.0.pop_front().map(Ok))
    }
}

fn header() -> Inject {
    Inject::Header("x-api-key".into())
}

#[tokio::test]
async fn every_request_of_a_connection_gets_the_secret() {
    for (client, offer) in OFFERS {
        let world = Plan::new(header(), plain).over(client, offer).start().await;
        let mut requests = world.open().await;
        for number in 0..3 {
            let request =
                Request::get(format!("/v1/{number}?a=b")).header("x-api-key", world.placeholder("OWN_KEY"));
            let (response, text) = requests.exchange(request.body(Body::default()).unwrap()).await;
            assert_eq!((response.status().as_u16(), &*text), (200, "hello"));
            let seen = world.last();
            assert_eq!(seen.method, "GET");
            assert_eq!(
                seen.headers.get_all("x-api-key").iter().collect::<Vec<_>>(),
                [VALUE],
                "{client:?} {offer:?}"
            );
            assert_eq!(seen.uri.path_and_query().unwrap().as_str(), format!("/v1/{number}?a=b"));
            let host = seen.uri.authority().map(ToString::to_string);
            assert_eq!(host.unwrap_or_else(|| seen.headers["host"].to_str().unwrap().into()), HOST);
        }
        assert!(world.recorded().matches("BrokerRequest").count() == 3 && !world.recorded().contains(VALUE));
    }
}

#[tokio::test]
async fn a_body_and_its_length_pass_both_ways() {
    fn back(seen: &super::world::Seen) -> Response<Body> {
        Response::new(body(seen.body.clone()))
    }
    for (client, offer) in OFFERS {
        let world = Plan::new(Inject::Bearer, back).over(client, offer).start().await;
        let mut requests = world.open().await;
        let text = "0123456789".repeat(30_000);
        let (response, got) = requests.exchange(Request::post("/").body(body(text.clone())).unwrap()).await;
        assert!(got == text, "{client:?} {offer:?}");
        assert_eq!(response.headers()["content-length"], "300000");
    }
}

#[tokio::test]
async fn an_echo_is_scrubbed() {
    for (client, offer) in OFFERS {
        for inject in [header(), Inject::Bearer, Inject::Basic("user".into())] {
            let world = Plan::new(inject.clone(), echo).over(client, offer).start().await;
            let (response, text) = world.open().await.get("/").await;
            let all = format!("{:?} {text}", response.headers());
            let sent = format!("{:?}", world.last().headers);
            assert!(!all.contains(VALUE) && text.starts_with("you sent "), "{inject:?} {all}");
            if inject == header() {
                assert_eq!(text, format!("you sent {}.", world.placeholder("OWN_KEY")));
            }
            let basic = text.trim_start_matches("you sent Basic ").trim_end_matches('.');
            assert!(!sent.contains(basic), "no form of it comes back: {text}");
        }
    }
}

#[tokio::test]
async fn an_echo_in_pieces_or_compressed_is_scrubbed() {
    fn pieces(_: &super::world::Seen) -> Response<Body> {
        let text = format!("<{VALUE}>");
        Response::new(
            Frames(text.bytes().map(|byte| Frame::data(Bytes::copy_from_slice(&[byte]))).collect()).boxed(),
        )
    }
    fn gzip(seen: &super::world::Seen) -> Response<Body> {
        assert_eq!(seen.headers["accept-encoding"], "gzip");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(format!("<{VALUE}>").as_bytes()).unwrap();
        let bytes = encoder.finish().unwrap();
        Response::builder().header("content-encoding", "gzip").body(body(bytes)).unwrap()
    }
    fn brotli(_: &super::world::Seen) -> Response<Body> {
        Response::builder().header("content-encoding", "br").body(body("x")).unwrap()
    }
    for (client, offer) in OFFERS {
        for handler in [pieces, gzip] {
            let world = Plan::new(header(), handler).over(client, offer).start().await;
            let request = Request::get("/").header("accept-encoding", "br, gzip;q=0.5, zstd");
            let (response, text) = world.open().await.exchange(request.body(Body::default()).unwrap()).await;
            assert_eq!(text, format!("<{}>", world.placeholder("OWN_KEY")));
            assert!(!response.headers().contains_key("content-encoding"));
        }
    }
    let world = Plan::new(header(), brotli).start().await;
    assert_eq!(world.open().await.get("/").await.0.status(), 502, "a coding that cannot be searched");
}

#[tokio::test]
async fn the_words_behind_a_status_are_not_passed_on() {
    fn words(seen: &super::world::Seen) -> Response<Body> {
        let mut response = plain(seen);
        response.extensions_mut().insert(hyper::ext::ReasonPhrase::try_from(VALUE.as_bytes()).unwrap());
        response
    }
    let world = Plan::new(header(), words).start().await;
    let (response, text) = world.open().await.get("/").await;
    assert_eq!((response.status().as_u16(), &*text), (200, "hello"));
    assert!(response.extensions().get::<hyper::ext::ReasonPhrase>().is_none(), "{response:?}");
}

#[tokio::test]
async fn trailers_pass_and_are_scrubbed() {
    fn trailing(_: &super::world::Seen) -> Response<Body> {
        let trailers = [("x-echo".parse().unwrap(), VALUE.parse().unwrap())].into_iter().collect();
        let frames = [Frame::data(Bytes::from("hello")), Frame::trailers(trailers)];
        Response::new(Frames(frames.into()).boxed())
    }
    let world = Plan::new(header(), trailing).over(Offer::Two, Offer::Two).start().await;
    let response = world.open().await.send(Request::get("/").body(Body::default()).unwrap()).await;
    let read = response.into_body().collect().await.unwrap();
    assert_eq!(read.trailers().unwrap()["x-echo"], world.placeholder("OWN_KEY"));
    assert_eq!(read.to_bytes(), "hello");
}

#[tokio::test]
async fn a_placeholder_at_another_host_is_refused() {
    let plan = || {
        let mut plan = Plan::new(header(), plain);
        plan.inject = vec![("other.example", header())];
        let host = HostPattern::parse(HOST).unwrap();
        plan.requests = vec![RequestRule { host, requests: RequestScope::default(), rule: None }];
        plan
    };
    for (client, offer) in OFFERS {
        let world = plan().over(client, offer).start().await;
        let own = world.placeholder("OWN_KEY").to_owned();
        let rows = [
            Request::get("/").header("authorization", format!("Bearer {own}")).body(Body::default()),
            Request::get(format!("/a?key={own}")).body(Body::default()),
            Request::get(format!("/{own}")).body(Body::default()),
            Request::post("/").body(body(format!("{{\"key\":\"{own}\"}}"))),
            Request::post("/").body(body(format!("{}{own}", "x".repeat(100_000)))),
        ];
        for request in rows {
            let name = format!(
                "{client:?} {offer:?} {} {}",
                request.as_ref().unwrap().method(),
                request.as_ref().unwrap().uri()
            );
            let (response, text) = world.open().await.exchange(request.unwrap()).await;
            assert!(
                response.status() == 403 && text.contains("RF-N012"),
                "{name}: {} {text}",
                response.status()
            );
        }
        let recorded = world.recorded();
        assert_eq!(recorded.matches("PlaceholderElsewhere").count(), 5, "{recorded}");
        assert!(!recorded.contains(&own));
        assert_eq!(world.open().await.get("/").await.0.status(), 200, "without a placeholder it passes");
    }
}

#[tokio::test]
async fn an_agent_may_quote_its_environment_to_its_model() {
    let mut plan = Plan::new(header(), plain);
    plan.inject.push(("other.example", header()));
    let world = plan.start().await;
    let quoted = body(format!("{:?}", world.environment));
    let (response, _) = world.open().await.exchange(Request::post("/").body(quoted).unwrap()).await;
    assert_eq!(response.status(), 200);
    let request =
        Request::get("/").header("x-a", world.placeholder("OTHER_KEY")).body(Body::default()).unwrap();
    assert_eq!(world.open().await.exchange(request).await.0.status(), 403);
}

fn scope(methods: &[&str], paths: &[&str]) -> RequestScope {
    RequestScope {
        methods: Some(methods.iter().map(|method| (*method).into()).collect()),
        paths: Some(paths.iter().map(|path| PathGlob::parse(path).unwrap()).collect()),
    }
}

#[tokio::test]
async fn every_request_is_judged_by_method_and_path() {
    for (client, offer) in OFFERS {
        let mut plan = Plan::new(header(), plain).over(client, offer);
        let host = || HostPattern::parse(HOST).unwrap();
        plan.requests = vec![
            RequestRule { host: host(), requests: scope(&["GET"], &["/v1/*"]), rule: None },
            RequestRule { host: host(), requests: scope(&["POST"], &["/v2/*"]), rule: None },
        ];
        let world = plan.start().await;
        let mut requests = world.open().await;
        let rows = [
            ("GET", "/v1/a?b=/../c", 200),
            ("POST", "/v1/a", 403),
            ("POST", "/v2/a", 200),
            ("GET", "/v1/../admin", 403),
            ("GET", "/v1/%2e%2e/admin", 403),
            ("GET", "/admin", 403),
            ("GET", "/v1/b", 200),
        ];
        for (method, target, expected) in rows {
            let request = Request::builder().method(method).uri(target).body(Body::default()).unwrap();
            let (response, text) = requests.exchange(request).await;
            assert_eq!(response.status(), expected, "{client:?} {offer:?} {method} {target}: {text}");
            assert_eq!(text.contains("RF-N011"), expected == 403);
        }
        assert_eq!(world.seen.lock().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn names_must_agree() {
    let world = Plan::new(header(), plain).start().await;
    let (connected, serving) = world.connect("other.example").await;
    assert!(connected.is_err(), "TLS for another name");
    assert_eq!(serving.await.unwrap().unwrap_err().code.id(), "RF-N006");
    let mut requests = world.open().await;
    let (response, _) = requests
        .exchange(Request::get("/").header("host", "evil.example").body(Body::default()).unwrap())
        .await;
    assert_eq!(response.status(), 400);
    let twice = Request::get("/").header("host", HOST).header("host", HOST).body(Body::default()).unwrap();
    assert_eq!(world.open().await.exchange(twice).await.0.status(), 400);
    let port = Request::get("/").header("host", "api.example:444").body(Body::default()).unwrap();
    assert_eq!(world.open().await.exchange(port).await.0.status(), 400);
    let world = Plan::new(header(), plain).over(Offer::Two, Offer::Two).start().await;
    let other = Request::get("https://evil.example/").body(Body::default()).unwrap();
    assert_eq!(world.open().await.exchange(other).await.0.status(), 400);
    assert!(world.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_host_with_a_wrong_certificate_gets_nothing() {
    let mut plan = Plan::new(header(), plain);
    plan.certificate = "other.example";
    let world = plan.start().await;
    let (response, text) = world.open().await.get("/").await;
    assert!(response.status() == 502 && text.contains("certificate"), "{text}");
    assert!(world.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_lease_that_ended_is_refused() {
    let mut plan = Plan::new(header(), plain);
    plan.lifetime = Some(Duration::ZERO);
    let world = plan.start().await;
    let (response, text) = world.open().await.get("/").await;
    assert!(response.status() == 403 && text.contains("RF-N013") && text.contains("is over"), "{text}");
    assert!(world.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn revoking_refuses_and_closes() {
    let world = Plan::new(header(), plain).start().await;
    let (connected, serving) = world.connect(HOST).await;
    let mut requests = world.open().await;
    assert_eq!(requests.get("/").await.0.status(), 200);
    for endpoint in world.shared.credentials.revoke("own") {
        world.shared.connections.close(&endpoint);
    }
    serving.await.unwrap().unwrap();
    drop(connected);
    let (response, text) = world.open().await.get("/").await;
    assert!(response.status() == 403 && text.contains("revoked"), "{text}");
}

#[tokio::test]
async fn a_web_socket_is_carried_and_scrubbed() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    fn switch(seen: &super::world::Seen) -> Response<Body> {
        assert!(!seen.headers.contains_key("sec-websocket-extensions"));
        let switch =
            Response::builder().status(101).header("upgrade", "websocket").header("connection", "upgrade");
        switch.body(Body::default()).unwrap()
    }
    let world = Plan::new(header(), switch).start().await;
    let request = Request::get("/").header("upgrade", "websocket").header("connection", "Upgrade");
    let request =
        request.header("sec-websocket-extensions", "permessage-deflate").body(Body::default()).unwrap();
    let response = world.open().await.send(request).await;
    assert_eq!(response.status(), 101);
    let mut stream = hyper_util::rt::TokioIo::new(hyper::upgrade::on(response).await.unwrap());
    stream.write_all(b"ping").await.unwrap();
    stream.flush().await.unwrap();
    let mut read = vec![0; VALUE.len() + 6];
    stream.read_exact(&mut read).await.unwrap();
    assert_eq!(String::from_utf8(read).unwrap(), format!("<{}>ping", world.placeholder("OWN_KEY")));
    assert_eq!(world.last().headers["x-api-key"], VALUE);
}

#[tokio::test]
async fn heads_without_bodies() {
    fn head(seen: &super::world::Seen) -> Response<Body> {
        let status = if seen.uri.path() == "/304" { 304 } else { 200 };
        let response = Response::builder()
            .status(status)
            .header("content-length", "5")
            .header("content-encoding", "gzip");
        response.header("x-echo", &seen.headers["x-api-key"]).body(Body::default()).unwrap()
    }
    let world = Plan::new(header(), head).start().await;
    let mut requests = world.open().await;
    let (response, text) = requests.exchange(Request::head("/").body(Body::default()).unwrap()).await;
    assert_eq!((response.headers()["content-length"].to_str().unwrap(), &*text), ("5", ""));
    let (response, text) = requests.get("/304").await;
    assert_eq!((response.status().as_u16(), &*text), (304, ""));
    assert_eq!(response.headers()["x-echo"], world.placeholder("OWN_KEY"));
}

/// Sends bytes on a connection and returns all that comes back.
async fn raw(world: &World, bytes: &str) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = world.connect(HOST).await.0.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut all = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut all)).await;
    read.expect("the connection ends").ok();
    String::from_utf8_lossy(&all).into_owned()
}

#[tokio::test]
async fn old_clients_and_continue() {
    let world = Plan::new(header(), plain).start().await;
    let answer = raw(&world, "GET / HTTP/1.0\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.0 200") && answer.ends_with("hello"), "{answer}");
    let waiting = format!(
        "POST / HTTP/1.1\r\nHost: {HOST}\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab"
    );
    let answer = raw(&world, &waiting).await;
    assert!(answer.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200"), "{answer}");
    assert_eq!(world.last().body, "ab");
    assert!(!world.last().headers.contains_key("expect") && !world.last().headers.contains_key("connection"));
}

#[tokio::test]
async fn smuggled_requests_are_refused() {
    let rows = [
        "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        "Content-Length: 3\r\nContent-Length: 4\r\n",
        "X: a\r\n b\r\n",
        "Host: api.example\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
    ];
    let world = Plan::new(header(), plain).start().await;
    for row in rows {
        let answer = raw(&world, &format!("POST / HTTP/1.1\r\nHost: {HOST}\r\n{row}\r\nabc")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{row}: {answer}");
    }
    let trace = raw(&world, &format!("TRACE / HTTP/1.1\r\nHost: {HOST}\r\n\r\n")).await;
    assert!(trace.starts_with("HTTP/1.1 400"), "{trace}");
    assert!(world.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_request_to_aws_is_signed_anew() {
    for (client, offer) in OFFERS {
        let mut plan = Plan::new(Inject::AwsSigV4, echo).over(client, offer);
        plan.value = "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY:token/of/the/session";
        let world = plan.start().await;
        assert!(
            ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map(|name| world.placeholder(name).len())
                > [31, 31]
        );
        let id = world.placeholder("AWS_ACCESS_KEY_ID");
        let claim = format!(
            "AWS4-HMAC-SHA256 Credential={id}/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=00"
        );
        let request =
            Request::post("/?a=1").header("authorization", claim).header("x-amz-date", "20150830T123600Z");
        let (response, text) =
            world.open().await.exchange(request.body(body("Param1=value1")).unwrap()).await;
        assert_eq!(response.status(), 200, "{text}");
        let seen = world.last();
        let value = seen.headers["authorization"].to_str().unwrap();
        assert!(value.contains("Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request"), "{value}");
        assert!(!value.contains(id) && value.contains("SignedHeaders=host;x-amz-date;x-amz-security-token"));
        assert_eq!(
            (seen.headers["x-amz-security-token"].to_str().unwrap(), &seen.body[..]),
            ("token/of/the/session", &b"Param1=value1"[..])
        );
        let unsigned = Request::post("/").header("authorization", "Bearer x").body(Body::default()).unwrap();
        assert_eq!(world.open().await.exchange(unsigned).await.0.status(), 403);
    }
}

#[tokio::test]
async fn no_record_error_or_debug_text_holds_a_secret() {
    let world = Plan::new(Inject::Query("key".into()), echo).start().await;
    let mut requests = world.open().await;
    requests.get("/a?key=1&b=2").await;
    assert!(world.last().uri.query().unwrap().starts_with("b=2&key=sk-ant-api03-Top%2FSecret"));
    requests.get(&format!("/a?other={}", world.placeholder("OWN_KEY"))).await;
    world.shared.credentials.revoke("own");
    let (_, refused) = requests.get("/b").await;
    let texts =
        format!("{} {refused} {:?} {:?}", world.recorded(), world.shared.credentials, world.environment);
    for form in crate::forms::forms(VALUE.as_bytes()) {
        assert!(!texts.contains(std::str::from_utf8(&form).unwrap()), "{texts}");
    }
    assert!(texts.contains("path: Text(\"/a\")"), "a path without its query: {texts}");
}
