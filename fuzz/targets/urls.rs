//! Addresses: what is read is plain, reads again as itself, and never goes to another host than it says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tools::web::Url;

fuzz_target!(|bytes: &[u8]| {
    let base = Url::parse("https://a.example/b/c?d").expect("an address");
    let given = std::str::from_utf8(bytes).ok().and_then(|text| Url::parse(text).ok());
    for url in given.into_iter().chain(base.join(bytes)) {
        let shown = url.to_string();
        let authority = shown.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or("@");
        assert!(!authority.contains('@') && shown.bytes().all(|byte| byte.is_ascii_graphic()), "{shown}");
        assert_eq!(Url::parse(&shown).as_ref(), Ok(&url));
    }
});
