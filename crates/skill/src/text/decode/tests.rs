use super::*;

fn said(text: &str, language: Language) -> Vec<(String, &'static str)> {
    let mut budget = Budget::of(text.len());
    decoded(text, language, &mut budget).into_iter().map(|one| (one.text, one.from)).collect()
}

#[test]
fn what_is_encoded_is_read() {
    use Language::{JavaScript, Markdown, Python, Shell};
    let rows = [
        (Markdown, "x ZWNobyBoZWxsbyBmcm9tIGhlcmU= y", "echo hello from here"),
        (Shell, "echo ZWNobyBoaSB0aGVyZQ== | base64 -d", "echo hi there"),
        (Markdown, "get https://a.example/x/ZWNobyBoZWxsbyBmcm9tIGhlcmU", "echo hello from here"),
        (Markdown, "6563686f2068656c6c6f2066726f6d2068657265", "echo hello from here"),
        (Shell, r"$'\x65\x63\x68\x6f' hi", "$'echo' hi"),
        (Shell, r"\145\143\150\157\040hi", "echo hi"),
        (JavaScript, r#""\u0065\u0063\u0068\u006f" + "a""#, "\"echoa\""),
        (JavaScript, r#"run("ec" + "ho h" + 'i')"#, r#"run("echo hi')"#),
        (JavaScript, r#"run(["ec","ho"].join(""))"#, r#"run("echo")"#),
        (Python, r#"run("".join(["ec","ho"]))"#, r#"run("echo")"#),
        (Python, "run('ec'  'ho')", "run('echo')"),
        (JavaScript, "String.fromCharCode(101, 99,0x68)", "\"ech\""),
        (Python, "bytes([101,99,104,111])", "\"echo\""),
        (Python, "run('ohce'[::-1])", "run('echo'[::-1])"),
        (Markdown, "%65%63%68%6F hi", "echo hi"),
        (Markdown, "a &lt;b&gt; &#99;&#x64;", "a <b> cd"),
    ];
    for (language, text, expected) in rows {
        let found = said(text, language);
        assert!(found.iter().any(|(text, _)| text == expected), "{text}: {found:?}");
    }
}

#[test]
fn what_is_compressed_or_wide_is_read() {
    // Both say "echo hello from here", the first through gzip, the second in UTF-16.
    let rows = [
        ("H4sIAAAAAAACA0tNzshXyEjNyclXSCvKzwUyi1IBCazseBQAAAA=", "base64 and gzip"),
        ("ZQBjAGgAbwAgAGgAZQBsAGwAbwAgAGYAcgBvAG0AIABoAGUAcgBlAA==", "base64 and UTF-16"),
    ];
    for (text, from) in rows {
        assert_eq!(said(text, Language::Markdown), [(String::from("echo hello from here"), from)]);
    }
}

#[test]
fn what_only_looks_encoded_is_left_alone() {
    let rows = [
        "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "![logo](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk)",
        "see /usr/local/share/applications/something/or-other_file",
        "-----------------------------------------------",
        "a_very_long_identifier_in_some_program_or_other",
        r"a regex [\x00-\x1f\u4e00-\u9fff] and C:\users\x64",
        "https://a.example/?q=a%20b%2Fc%3D",
        "AT&T and Q&A; R&amp;D",
        "1 + 1, a + b",
    ];
    for text in rows {
        assert_eq!(said(text, Language::Markdown), [], "{text}");
    }
}

#[test]
fn a_limit_that_is_reached_is_noticed() {
    let text = "ZWNobyBoZWxsbyBmcm9tIGhlcmU= ".repeat(1_001);
    let mut budget = Budget::of(text.len());
    assert_eq!(decoded(&text, Language::Markdown, &mut budget).len(), 1_000);
    assert!(budget.reached);
}
