use proptest::prelude::*;

use super::*;

#[test]
fn what_hides_is_taken_out() {
    let rows = [
        ("a<!-- x -->b", "ab"),
        ("a<!-- x --> y -->b", "a y -->b"),
        ("\u{fb01} \u{ff21}", "fi A"),
        ("\u{ff1c}!-- x -->a", "a"),
        ("<\u{200b}!-- x -->a", "a"),
        ("<!-<!-- -->- evil -->a", "a"),
        ("<!<!-- -->-- evil -->a", "a"),
        ("<\u{ff01}-\u{2060}- evil --\u{ff1e}a", "a"),
        ("a<!-- unterminated", "a"),
        ("a<!-->b-->", "ab-->"),
        ("a<!--->b", "ab"),
        ("a<!---->b", "ab"),
        ("a<!-- x --!>b", "ab"),
        ("a<!-- x ---->b", "ab"),
        ("a\u{3164}b\u{ffa0}c\u{115f}d\u{1160}e", "abcde"),
        ("a\u{2063}b\u{ad}c\u{61c}d\u{202e}e\u{2066}f\u{2069}", "abcdef"),
        ("a\u{2800}b", "a b"),
        ("x\u{fe0f}y\u{fe01}z\u{e0101}", "xyz"),
        ("a\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}b\0\u{9b}1mc", "aredbc"),
        ("a\u{1b}]8;;hidden\u{1b}\\b", "ab"),
        ("one\ttwo\r\nthree", "one\ttwo\r\nthree"),
        ("\u{feff}---", "---"),
        ("a\u{e0041}\u{e0042}b", "ab"),
        ("e<!-- -->\u{301}", "\u{e9}"),
    ];
    for (raw, expected) in rows {
        assert_eq!(clean(raw).text, expected, "{raw:?}");
    }
}

#[test]
fn what_is_meant_stays() {
    let rows = [
        "Family: \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "\u{2764}\u{fe0f}\u{200d}\u{1f525} and 1\u{fe0f}\u{20e3}",
        "\u{845b}\u{e0100}\u{57ce}",
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd} world",
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        "\u{3bb}-calculus with \u{3b1} and \u{3b2}",
    ];
    for raw in rows {
        let clean = clean(raw);
        assert_eq!(clean.text, raw);
        assert!(clean.is_unchanged(), "{raw:?}");
    }
}

#[test]
fn a_flag_that_says_something_else_is_no_flag() {
    let text = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e0049}\u{e007f}";
    let clean = clean(text);
    assert_eq!((clean.text.as_str(), clean.counts.tags), ("\u{1f3f4}", 7));
}

#[test]
fn it_is_counted() {
    let clean = clean("<!-- a --><!-- b -->\u{ff21}\u{200b}\u{202e}\u{e0041}\u{7}");
    let counts = Counts { comments: 2, normalised: 1, invisible: 2, tags: 1, controls: 1 };
    assert_eq!((clean.text.as_str(), clean.counts), ("A", counts));
}

#[test]
fn a_text_has_a_size() {
    let cut = |raw: &str, max_chars| sized(raw, Size { max_chars, oversize: Oversize::Truncate }).unwrap();
    let rows = [
        ("a".repeat(50), 50, "a".repeat(50)),
        ("a".repeat(51), 50, format!("{}\n[TRUNCATED]", "a".repeat(50))),
        (String::from("abc"), 0, String::from("\n[TRUNCATED]")),
        (String::new(), 0, String::new()),
        (format!("abc<!-- {} -->", "x".repeat(100)), 3, String::from("abc")),
        (String::from("\u{1f600}\u{1f601}"), 1, String::from("\u{1f600}\n[TRUNCATED]")),
        (String::from("\u{1f468}\u{200d}\u{1f469}"), 2, String::from("\u{1f468}\n[TRUNCATED]")),
    ];
    for (raw, limit, expected) in rows {
        let clean = cut(&raw, limit);
        assert_eq!(clean.text, expected);
        assert_eq!(clean.truncated, expected.ends_with("[TRUNCATED]"));
    }
    let clean = cut("ab<!-- x -->cdef", 3);
    assert_eq!((clean.back(1..3), clean.back(4..5)), (1..13, 13..16));
    let refused = sized("\u{200b}abcd", Size { max_chars: 3, oversize: Oversize::Refuse });
    assert_eq!(refused, Err(TooLarge { length: 4, limit: 3 }));
    assert_eq!(TooLarge { length: 4, limit: 3 }.to_string(), "the text has 4 characters; 3 are allowed");
}

#[test]
fn a_stretch_leads_back_through_all_steps() {
    let raw = "a\u{200b}\u{ff21}<!-- x -->b\u{fb01}c";
    let clean = clean(raw);
    assert_eq!(clean.text, "aAbfic");
    let rows = [
        ("aA", "a\u{200b}\u{ff21}"),
        ("b", "b"),
        ("fi", "\u{fb01}"),
        ("c", "c"),
        ("Ab", "\u{ff21}<!-- x -->b"),
    ];
    for (part, expected) in rows {
        let at = clean.text.find(part).unwrap();
        assert_eq!(&raw[clean.back(at..at + part.len())], expected, "{part}");
    }
}

/// Texts built of what openings are made of.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "<",
        "!",
        "-",
        "--",
        "<!--",
        "-->",
        "--!>",
        "<!-->",
        ">",
        "\u{ff1c}",
        "\u{ff01}",
        "\u{ff0d}",
        "\u{ff1e}",
        "\u{200b}",
        "\u{200d}",
        "\u{fe0f}",
        "\u{1f468}",
        "\u{1f3f4}",
        "\u{e0067}",
        "\u{e007f}",
        "\u{845b}",
        "\u{e0100}",
        "\u{301}",
        "e",
        "\u{338}",
        "\u{226e}",
        "\u{1b}",
        "[",
        "]",
        "\u{7}",
        "\u{3164}",
        "\u{1100}",
        "\u{1161}",
        "\u{ffc2}",
        "\u{2800}",
        "1",
        "\u{20e3}",
        "\u{2122}",
        "\u{fdfa}",
        "\u{344}",
        "\u{ff9e}",
        "\u{30ab}",
        " ",
        "\n",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_clean_stays_as_it_is(raw in prop_oneof![hostile(), any::<String>()]) {
        let once = clean(&raw);
        let twice = clean(&once.text);
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert!(twice.is_unchanged());
        prop_assert!(!once.text.contains("<!--"));
        prop_assert!(!once.text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r')));
    }

    #[test]
    fn every_place_leads_back_into_the_text(raw in hostile()) {
        let clean = clean(&raw);
        for (at, c) in clean.text.char_indices() {
            let back = clean.back(at..at + c.len_utf8());
            prop_assert!(raw.get(back.clone()).is_some(), "{:?} {:?}", back, raw);
        }
    }

    #[test]
    fn a_text_that_was_cut_is_clean(raw in hostile(), max_chars in 0usize..20) {
        let cut = sized(&raw, Size { max_chars, oversize: Oversize::Truncate }).unwrap();
        let text = cut.text.strip_suffix("\n[TRUNCATED]").unwrap_or(&cut.text);
        prop_assert_eq!(clean(text).text, text);
        prop_assert!(text.chars().count() <= max_chars);
    }
}
