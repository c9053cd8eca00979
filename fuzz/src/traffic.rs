//! Bytes from inside a jail to the broker.

use broker::wire::{client_hello, dns, http_head, socks};

/// A verdict on the first bytes of a SOCKS message does not change when more arrive.
pub fn socks(bytes: &[u8]) {
    let whole = (socks::parse_greeting(bytes), socks::parse_request(bytes));
    for cut in 0..bytes.len().min(300) {
        let part = &bytes[..cut];
        assert!(matches!(socks::parse_greeting(part), Ok(None)) || socks::parse_greeting(part) == whole.0);
        assert!(matches!(socks::parse_request(part), Ok(None)) || socks::parse_request(part) == whole.1);
    }
    if let Ok(Some((_, length))) = whole.1 {
        assert!(length <= bytes.len());
    }
}

/// A verdict on the first bytes of a TLS handshake does not change when more arrive.
pub fn client_hello(bytes: &[u8]) {
    let whole = client_hello::parse(bytes);
    for cut in (0..bytes.len().min(1024)).step_by(7) {
        let part = client_hello::parse(&bytes[..cut]);
        assert!(matches!(part, Ok(None)) || part == whole);
    }
}

/// An answer repeats the question and is small; a message that is refused gets an answer of one header at most.
pub fn dns(bytes: &[u8]) {
    match dns::parse(bytes) {
        Ok(query) => {
            let answer = dns::answer(&query, &dns::Answer::Name(query.name.clone()));
            assert_eq!(answer[..2], bytes[..2]);
            assert!(answer.len() < bytes.len() + 2048);
            let _address = dns::reverse_address(&query.name);
        }
        Err(error) => assert!(dns::error_answer(error).is_none_or(|answer| answer.len() == 12)),
    }
}

/// A head that passes has one reading: no bare line ends, one `Host` at most, one length at most. A verdict does not change when more arrives.
pub fn http_head(bytes: &[u8]) {
    let whole = http_head::parse(bytes, 4096, 64);
    if let Ok(Some(head)) = whole {
        let text = &bytes[..head.length];
        assert!(text.ends_with(b"\r\n\r\n"));
        let lines = || text.split(|byte| *byte == b'\n').map(<[u8]>::to_ascii_lowercase);
        let count = |name: &[u8]| lines().filter(|line| line.starts_with(name)).count();
        let ends = |end: u8| text.split(move |byte| *byte == end).count();
        assert_eq!(ends(b'\r'), ends(b'\n'));
        assert!(count(b"host:") <= 1 && count(b"content-length:") + count(b"transfer-encoding:") <= 1);
        for cut in (0..head.length).step_by(5) {
            assert_eq!(http_head::parse(&bytes[..cut], 4096, 64), Ok(None));
        }
    }
    if let Ok(Some((_, length))) = http_head::parse_chunk_size(bytes) {
        assert!(length <= bytes.len() && bytes[..length].ends_with(b"\r\n"));
    }
}
