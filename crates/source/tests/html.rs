//! Pages and what is read of them.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use source::{Profile, Strategy as Keep, html, profile, readable};

fn read(page: &str) -> String {
    html(page, &profile("web_fetch")).text
}

fn all(page: &str) -> String {
    html(page, &Profile::new(0, 500_000, Keep::Raw, false)).text
}

#[test]
fn a_page_as_text() {
    let page = r#"<!doctype html><html><head><title> The
        tides </title><style>p{}</style><script>var a = "<p>no</p>";</script></head><body>
      <header>Site</header><nav><ul><li><a href="/">Home</a></ul></nav>
      <main><h1>The <em>tides</em></h1><p>High at <b>noon</b>,&nbsp;low at six.<br>See the <a href="/table?a=1&amp;b=2">table</a>.
      <h2>Places</h2><ul><li>Brest<li>Dover <ol start=3><li>east</li><li>west</li></ol> ends</ul>
      <blockquote><p>Time waits<p>for none</blockquote>
      <pre><code>fn main() {
    tide();
}
</code></pre><p>Run <code>tide</code>.</p>
      <table><tr><th>Place<th>Time<tr><td>Brest<td>12</table><hr><img src=x alt="a chart">
      <aside>Adverts</aside></main><footer>Imprint</footer>"#;
    let it = html(page, &profile("web_fetch"));
    assert_eq!(it.title.as_deref(), Some("The tides"));
    insta::assert_snapshot!(it.text, @r"
    # The tides

    High at noon, low at six.
    See the table (/table?a=1&b=2).

    ## Places

    - Brest
    - Dover
      3. east
      4. west

      ends

    > Time waits

    > for none

    ```
    fn main() {
        tide();
    }
    ```

    Run `tide`.

    Place | Time
    Brest | 12

    ---

    [image: a chart]
    ");
}

#[test]
fn what_is_hidden_is_left_out() {
    let rows = [
        "<p hidden>no</p>",
        "<p HIDDEN=until-found>no<p>",
        "<div aria-hidden=true><p>no</div>",
        "<div style='display:none'><div>no</div>no</div>",
        "<span style=\"visibility: hidden\">no</span>",
        "<span style='font-size:0px'>no</span>",
        "<span style='opacity:0 !important'>no</span>",
        "<!-- no -->",
        "<!-- no > no --!>",
        "<script>no</script>",
        "<script><!--<script>no</script>no--></script>",
        "<style>no</style>",
        "<noscript>no</noscript>",
        "<noscript><style></noscript>",
        "<template>no<div>no</div></template>",
        "<svg><text>no</text><style/></svg>",
        "<svg><title>no</title></svg>",
        "<dialog>no</dialog>",
        "<iframe>no</iframe>",
        "<datalist><option>no</datalist>",
        "<img hidden alt=no>",
        "<p hidden>no<p>",
        "<b><div hidden></b>no</div>",
        "<span hidden><span>no</span></span>",
        "<ul><li hidden>no<li>yes</ul>",
        "<a hidden href=no>no</a>",
        "<x-note hidden>no</x-note>",
        "\u{200b}\u{e006e}\u{e006f}\u{202e}",
    ];
    for row in rows {
        let text = read(&format!("yes {row} yes"));
        assert!(!text.contains("no") && text.starts_with("yes") && text.ends_with("yes"), "{row}: {text:?}");
        assert!(!text.chars().any(|c| c != '\n' && policy::misleads(c)), "{row}: {text:?}");
    }
}

#[test]
fn what_hides_is_kept_where_the_profile_says_so() {
    let rows = [
        ("<p hidden>a</p>", "a"),
        ("<noscript>a<p>b</noscript>", "a\n\nb"),
        ("<svg><text>a</text></svg>", "a"),
        ("<dialog>a</dialog>", "a"),
        ("<script>a</script>b<style>c</style><!--d-->", "b"),
        ("<nav>a</nav><main>b</main>", "a\n\nb"),
    ];
    for (page, expected) in rows {
        assert_eq!(all(page), expected, "{page}");
    }
}

#[test]
fn the_main_part_is_preferred() {
    let long = "word ".repeat(100);
    let rows = [
        ("<nav>n</nav>a<footer>f</footer>", "a"),
        ("a<main>b</main>c", "b"),
        ("<div role=main>b</div>c", "b"),
        ("a<article>b</article><article>c</article>", "b\n\nc"),
        ("<article>a</article><main>b</main>", "b"),
        ("<main>a<article>b</article></main>c", "a\n\nb"),
        ("<header>h</header><main><header>t</header>b</main>", "t\n\nb"),
        ("<main>a<nav>n</nav><div role=navigation>n</div></main>", "a"),
        ("<main></main>a", "a"),
        ("<nav>only</nav>", "only"),
        (&format!("<main>m</main>{long}"), &format!("m\n\n{}", long.trim_end())),
    ];
    for (page, expected) in rows {
        assert_eq!(read(page), expected, "{page}");
    }
}

#[test]
fn links() {
    let rows = [
        ("<a href=https://a.example/b>text</a>.", "text (https://a.example/b)."),
        ("<a href=https://a.example>https://a.example</a>", "https://a.example"),
        ("<a href=https://a.example/>a.example</a>", "a.example"),
        ("<a href='#top'>up</a>", "up"),
        ("<a href='java\nscript:x()'>x</a>", "x"),
        ("<a href='data:text/html,x'>x</a>", "x"),
        ("<a href='/a b\u{202e}'>x</a>", "x (/ab)"),
        ("<a href=/x></a>y", "y"),
        ("<a href=/x><div>card</div></a>y", "card\n\n(/x)y"),
        ("<a>x</a><a href>y</a>", "xy"),
        ("<a href=/x>never closed", "never closed (/x)"),
        (&format!("<a href=/{}>x</a>", "y".repeat(2000)), "x"),
    ];
    for (page, expected) in rows {
        assert_eq!(read(page), expected, "{page}");
    }
}

#[test]
fn odd_markup() {
    let rows = [
        ("", ""),
        ("a < b & c &lt;d&gt; &amp;amp; &#x41;&bogus;", "a < b & c <d> &amp; A&bogus;"),
        ("<p>a</b></p></div>b", "a\n\nb"),
        ("a</p>b", "a\n\nb"),
        ("<div>a<span></div>b</span>c", "a\n\nbc"),
        ("<pre>a\n\n  b```c</pre>", "````\na\n\n  b```c\n````"),
        ("<textarea><b>x</textarea>y", "<b>x\n\ny"),
        ("<title>a</title><title>b</title>c", "c"),
        ("<xmp><b></xmp>", "```\n<b>\n```"),
        ("a<plaintext></plaintext><b>", "a\n\n```\n</plaintext><b>\n```"),
        ("<li>a<li>b", "- a\n- b"),
        ("<table><tr><td><p>a</p><td>b</table>", "a\n\nb"),
        ("<p>a<table><tr><td>b</table>", "a\n\nb"),
        ("<dl><dt>a<dd>b<dt>c</dl>", "a\n\nb\n\nc"),
        ("<h1>a<br>b</h1>", "# a\nb"),
        ("<", "<"),
        ("<a", ""),
        ("<p title='>'>a</p x=y>", "a"),
    ];
    for (page, expected) in rows {
        assert_eq!(read(page), expected, "{page}");
    }
}

#[test]
fn titles_stand_above_text_without_a_heading() {
    let rows = [
        ("<title>T</title>a", "# T\n\na"),
        ("<title>T</title><h1>H</h1>a", "# H\n\na"),
        ("<title> </title>a", "a"),
        ("<title>T</title>", "# T"),
    ];
    for (page, expected) in rows {
        assert_eq!(
            readable(page.as_bytes(), Some("text/html"), &profile("web_fetch")).text,
            expected,
            "{page}"
        );
    }
}

/// A name, and how to make a page of about so many bytes.
type Hostile = (&'static str, fn(usize) -> String);

/// The bound is wide: it is there for squares, which take minutes.
#[test]
fn hostile_pages_take_linear_time() {
    let shapes: &[Hostile] = &[
        ("opening", |n| "<".repeat(n)),
        ("deep", |n| "<div>".repeat(n / 5)),
        ("deep and closed", |n| "<div>".repeat(n / 11) + &"</div>".repeat(n / 11)),
        ("quotes", |n| "<blockquote>a".repeat(n / 13)),
        ("lists", |n| "<ul><li>a".repeat(n / 9)),
        ("unclosed inline", |n| "<b><i>".repeat(n / 6)),
        ("ends of nothing", |n| "<b>".to_owned() + &"<div>".repeat(n / 10) + &"</b>".repeat(n / 8)),
        ("ends of others", |n| "<b><div>".to_owned() + &"<span>".repeat(n / 12) + &"</b>".repeat(n / 8)),
        ("paragraphs", |n| "<p>".repeat(n / 3)),
        ("links", |n| "<a href=x>".repeat(n / 10)),
        ("links in a line", |n| "<a href=x>a</a>".repeat(n / 15)),
        ("breaks", |n| "<blockquote><ul>".repeat(8) + &"a<br>".repeat(n / 5)),
        ("attributes", |n| format!("<a {}>", numbered("a", n / 8, " "))),
        ("one attribute", |n| format!("<a style='{}'>", ":;".repeat(n / 2))),
        ("comments in a style", |n| format!("<a style='{}'>", "/*".repeat(n / 2))),
        ("entities", |n| "&amp".repeat(n / 4)),
        ("numbers", |n| "&#".to_owned() + &"9".repeat(n)),
        ("comment", |n| "<!--".repeat(n / 4)),
        ("cdata", |n| "<![CDATA[".repeat(n / 9)),
        ("script", |n| "<script><!--".repeat(n / 12)),
        ("ticks", |n| format!("<pre>{}", "`".repeat(n))),
        ("cells", |n| "<table><tr><td>a".repeat(n / 16)),
        ("cells in a row", |n| "<tr>".to_owned() + &"<td>a".repeat(n / 5)),
        ("names", |n| numbered("<x", n / 8, ">")),
        ("long name", |n| format!("<{}>", "x".repeat(n))),
        ("blanks", |n| "<p>".to_owned() + &" \n".repeat(n / 2)),
        ("empty lines", |n| "<p>a".to_owned() + &"<br>".repeat(n / 4)),
        ("regions", |n| "<main><article>a".repeat(n / 16)),
    ];
    for (name, make) in shapes {
        let page = make(400_000);
        let begin = Instant::now();
        let text = read(&page);
        let took = begin.elapsed();
        assert!(took < Duration::from_secs(20), "{name}: {took:?}");
        assert!(text.len() <= 16 * page.len(), "{name}: {} from {}", text.len(), page.len());
    }
}

fn numbered(before: &str, count: usize, after: &str) -> String {
    (0..count).flat_map(|i| [before.to_owned(), i.to_string(), after.to_owned()]).collect()
}

fn pages() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,8}",
        "</?(p|div|b|li|ul|ol|pre|code|a|td|tr|table|main|nav|article|header|blockquote|h1|svg|noscript|textarea)>",
        "<(p|div|span|a|li)( hidden| style='display:none'| href=/x| role=main| aria-hidden=true){0,2}>",
        "(<!--|-->|<script>|</script>|<style>|</style>|<title>|</title>|<br>|<hr>|&amp;|&#0;|\n| |`)",
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_page_is_read(page in pages(), any in "\\PC{0,200}") {
        for page in [page, any] {
            let text = read(&page);
            prop_assert!(!text.chars().any(|c| !matches!(c, '\n' | '\t') && policy::misleads(c)), "{:?}", text);
            prop_assert_eq!(text.trim_end(), &text);
            all(&page);
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300), at in 0..4_usize) {
        let content_type = [None, Some("text/html"), Some("text/html; charset=latin1"), Some("application/json")][at];
        let shown = readable(&bytes, content_type, &profile("web_fetch").within(0));
        prop_assert!(shown.returned <= 100);
    }
}
