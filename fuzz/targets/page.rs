//! Pages: whatever the markup, the text fits, hides nothing and steers nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use source::{html, profile, readable};

fuzz_target!(|bytes: &[u8]| {
    let web = profile("web_fetch");
    let text = source::decode(bytes, None);
    let page = html(&text, &web);
    assert!(!page.text.chars().any(|c| !matches!(c, '\n' | '\t') && policy::misleads(c)));
    assert!(page.text.len() <= 40 * bytes.len() + 40);
    for content_type in [None, Some("text/html"), Some("text/html; charset=latin1")] {
        let shown = readable(bytes, content_type, &web.within(0));
        assert!(shown.returned <= 100 && shown.returned == shown.text.chars().count());
    }
});
