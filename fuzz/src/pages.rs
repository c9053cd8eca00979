//! Text from outside: pages, results, addresses, output of programs.

use ringfence::job::Cleaner;
use source::{Escaper, Omission, Profile, Strategy, cap, html, profile, readable};
use tools::web::Url;

use crate::parts;

/// The text of a page fits, hides no character and steers no terminal.
pub fn page(bytes: &[u8]) {
    let web = profile("web_fetch");
    let text = source::decode(bytes, None);
    let page = html(&text, &web);
    assert!(!page.text.chars().any(|c| !matches!(c, '\n' | '\t') && policy::misleads(c)));
    assert!(page.text.len() <= 40 * bytes.len() + 40);
    for content_type in [None, Some("text/html"), Some("text/html; charset=latin1")] {
        let shown = readable(bytes, content_type, &web.within(0));
        assert!(shown.returned <= 100 && shown.returned == shown.text.chars().count());
    }
}

/// `RULES NUL DECLARATIONS`: style sheets of any kind leave out text or keep it, and text without style stays.
pub fn style(bytes: &[u8]) {
    let [rules, inline] = parts(bytes).map(String::from_utf8_lossy);
    let inline = inline.replace('&', "&amp;").replace('"', "&quot;");
    let text = format!("<style>{rules}</style><p id=a class=b style=\"{inline}\">One</p><i hidden>Two</i>");
    let page = html(&text, &profile("web_fetch"));
    assert!(!page.text.chars().any(|c| !matches!(c, '\n' | '\t') && policy::misleads(c)));
}

/// `TYPE NUL BYTES`: every charset makes text of every byte.
pub fn charset(bytes: &[u8]) {
    let [content_type, body] = parts(bytes);
    let content_type = String::from_utf8_lossy(content_type);
    let text = source::decode(body, Some(&content_type));
    assert!(text.chars().count() <= body.len().max(1));
    let shown = readable(body, Some(&content_type), &profile("web_fetch").within(0));
    assert!(shown.returned <= 100 && shown.returned == shown.text.chars().count());
}

/// Escaped text stays as it is, and the pieces in which it comes make no difference.
pub fn visible(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (once, counted) = source::visible(text);
    assert_eq!(source::visible(&once), (once.clone(), 0), "{text:?}");
    let (mut whole, mut escaper) = (String::new(), Escaper::default());
    text.chars().for_each(|c| escaper.push(c.encode_utf8(&mut [0; 4]), &mut whole));
    assert_eq!((whole, escaper.escaped()), (once, counted), "{text:?}");
}

/// Every strategy keeps to its cap, JSON that is cut is JSON, and a second cut changes nothing.
pub fn result(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for strategy in Strategy::ALL {
        let profile = Profile::new(0, 120, *strategy, true);
        let it = cap(&text, &profile);
        assert!(it.returned <= 120 && it.returned == it.text.chars().count());
        assert_eq!(cap(&it.text, &profile).text, it.text);
        if let Some(Omission::Values { .. }) = it.dropped {
            let again = cap(&(it.text + &" ".repeat(120)), &profile).dropped;
            assert!(matches!(again, None | Some(Omission::Values { .. })));
        }
    }
}

/// An address that was read is plain, reads again as itself, and goes to no other host than it says.
pub fn urls(bytes: &[u8]) {
    let base = Url::parse("https://a.example/b/c?d").expect("an address");
    let given = std::str::from_utf8(bytes).ok().and_then(|text| Url::parse(text).ok());
    for url in given.into_iter().chain(base.join(bytes)) {
        let shown = url.to_string();
        let authority = shown.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or("@");
        assert!(!authority.contains('@') && shown.bytes().all(|byte| byte.is_ascii_graphic()), "{shown}");
        assert_eq!(Url::parse(&shown).as_ref(), Ok(&url));
    }
}

/// Output of programs as text: the pieces make no difference, and clean text stays as it is. The first byte is their size.
pub fn clean(bytes: &[u8]) {
    let Some((size, bytes)) = bytes.split_first() else { return };
    let whole = cleaned(std::iter::once(bytes));
    assert_eq!(cleaned(bytes.chunks(usize::from(*size).max(1))), whole);
    assert_eq!(cleaned(std::iter::once(whole.as_bytes())), whole);
    assert!(whole.chars().all(|one| !one.is_control() || one == '\n' || one == '\t'));
}

/// Output on its way to a terminal: the pieces make no difference, and filtered output passes unchanged.
pub fn terminal(bytes: &[u8]) {
    let Some((size, bytes)) = bytes.split_first() else { return };
    let whole = jail::filter_for_terminal(std::iter::once(bytes));
    assert_eq!(jail::filter_for_terminal(bytes.chunks(usize::from(*size).max(1))), whole);
    assert_eq!(jail::filter_for_terminal(std::iter::once(whole.as_slice())), whole);
}

fn cleaned<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> String {
    let (mut text, mut cleaner) = (String::new(), Cleaner::new());
    pieces.for_each(|piece| cleaner.push(piece, &mut text));
    cleaner.finish(&mut text);
    text
}
