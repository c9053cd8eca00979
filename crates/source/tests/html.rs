//! Pages and what is read of them.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use ringfence_source::{Profile, Strategy as Keep, html, profile, readable};

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
        "<style>.x{display:none}</style><p class='a x'>no</p>",
        "<p class=X>no</p><style>.x { color: red; display : none }</style>",
        "<style>#x,.y,p.z{visibility:hidden}</style><b id=x>no</b><b class=y>no</b><p class=z>no</p>",
        "<style>x-tip{display:none}</style><x-tip>no</x-tip>",
        "<style>[hidden]{display:none}.x[hidden]{color:red}</style><p hidden>no</p>",
        "<style>[class=x]{display:none}</style><p class=x>no</p>",
        "<style>.\\78 {d\\69splay:n/**/one}</style><p class=x>no</p>",
        "<style>@media screen{.x{display:none}}</style><p class=x>no</p>",
        "<style>.x{display:none!important}.x{display:block}</style><p class=x>no</p>",
        "<style>#i{display:none}.x{display:block}</style><p class=x id=i>no</p>",
        "<style>.x{display:none}</style><template><style>.x{display:block}</style></template><p class=x>no</p>",
        "<style>.x{content:'}';display:none}</style><p class=x>no</p>",
        "<style>.x{display:none",
        "<style>.x{background:#222}</style><div class=x><span style='color:#222'>no</span></div>",
        "<span style='d\\69splay:none'>no</span>",
        "<span style='color:transparent'>no</span>",
        "<span style='color:rgba(1,2,3,0)'>no</span>",
        "<span style='color:white'>no</span>",
        "<font color=#ffffff>no</font>",
        "<span style='color:#111;background-color:#111111'>no</span>",
        "<div style='background:black'><span style='color:black'>no</span></div>",
        "<span style='position:absolute;clip:rect(0,0,0,0)'>no</span>",
        "<span style='clip-path:inset(100%)'>no</span>",
        "<span style='clip-path:circle(0)'>no</span>",
        "<span style='position:absolute;left:-999px'>no</span>",
        "<span style='position:fixed;top:-10000px'>no</span>",
        "<span style='display:block;width:1px;height:1px;overflow:hidden'>no</span>",
        "<datalist><option value=x></datalist>",
        "<datalist><option>no<option>no</datalist>",
        "<svg/>",
        "<svg viewBox='0 0 1 1'/>",
        "<svg><path/><text>no</text></svg>",
        "<svg><text>no</text><p>",
        "<math/>",
        "\u{200b}\u{e006e}\u{e006f}\u{202e}",
    ];
    for row in rows {
        let text = read(&format!("yes {row} yes"));
        assert!(!text.contains("no") && text.starts_with("yes") && text.ends_with("yes"), "{row}: {text:?}");
        assert!(!text.chars().any(|c| c != '\n' && policy::misleads(c)), "{row}: {text:?}");
    }
}

/// Markup that looks as if it hides something and does not, and markup after which the rest of a page was lost.
#[test]
fn what_is_seen_stays() {
    let rows = [
        "<style>.x{display:none}.x{display:block}</style><p class=x>seen</p>",
        "<style>.x{display:none}</style><p class=x style='display:block'>seen</p>",
        "<style>.x{display:none}</style><p class=xx>seen</p>",
        "<style>.x .y{display:none}</style><p class=y>seen</p>",
        "<style>@media print{.x{display:none}}</style><p class=x>seen</p>",
        "<style media=print>.x{display:none}</style><p class=x>seen</p>",
        "<style>@media (max-width: 600px){.x{display:none}}</style><p class=x>seen</p>",
        "<style>body{display:none}</style><p>seen</p>",
        "<script>'<style>p{display:none}</style>'</script><p>seen</p>",
        "<noscript><style>p{display:none}</style></noscript><p>seen</p>",
        "<!--<style>p{display:none}</style>--><p>seen</p>",
        "<link rel=stylesheet href=x><b style='color:white'>seen</b>",
        "<div style='background:#123'><b style='color:white'>seen</b></div>",
        "<details><summary>x</summary>seen</details>",
        "<datalist id=x><option value=a><option value=b></datalist>seen",
        "<svg/>seen",
        "<svg><path d=x>seen too late<p>seen</p>",
        "<svg><circle/></svg>seen",
        "<math/>seen",
        "<select><option>a<option>seen</select>",
        "<select><optgroup label=x><option>seen</select>",
        "<fieldset><legend>x</legend>seen</fieldset>",
    ];
    for row in rows {
        let text = read(&format!("yes {row} yes"));
        assert!(text.contains("seen") && text.starts_with("yes") && text.ends_with("yes"), "{row}: {text:?}");
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
        ("rules", |n| format!("<style>{}</style>", numbered(".x.y", n / 20, "{display:none}"))),
        ("rules and elements", |n| {
            format!(
                "<style>{}</style>{}",
                numbered(".x.y", n / 40, "{left:0}"),
                "<b class='x y'>".repeat(n / 30)
            )
        }),
        ("classes", |n| format!("<style>.x{{left:0}}</style><b class='{}'>", "x ".repeat(n / 2))),
        ("braces", |n| format!("<style>{}", "@media all{".repeat(n / 11))),
        ("drawings", |n| "<svg><p>".repeat(n / 8)),
        ("selectors", |n| format!("<style>{}{{display:none}}</style>", "a,".repeat(n / 2))),
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
