use proptest::prelude::*;
use ringfence::job::Amount;
use ringfence::source::Strategy as Cap;

use super::*;
use crate::listing::Page;

fn profile(chars: usize) -> Profile {
    Profile::new(0, chars, Cap::Head, false)
}

/// Parses a reply as a client does: the first line, and each text between its lines, with the word of the frame.
fn parsed(text: &str) -> (String, Vec<(String, String)>) {
    let (first, rest) = text.split_once('\n').unwrap();
    let (mut texts, mut rest) = (Vec::new(), rest);
    while let Some((begin, more)) = rest.split_once('\n') {
        let words: Vec<_> = begin.split(' ').collect();
        let ["===", name, word, "==="] = words[..] else { panic!("{begin}") };
        let end = format!("=== end {word} ===\n");
        let at = more.find(&end).unwrap();
        texts.push((name.to_owned(), more[..at].to_owned()));
        rest = &more[at + end.len()..];
    }
    (first.to_owned(), texts)
}

/// The text of a frame without the line for what is missing, and what that line says.
fn gap(text: &str, data: &Value, key: &str) -> (Amount, Amount) {
    let told = &data["left_out"][key];
    let left_out =
        Amount { chars: told["chars"].as_u64().unwrap_or(0), lines: told["lines"].as_u64().unwrap_or(0) };
    let line = text.lines().find(|line| line.starts_with("=== ") && line.contains(" left out"));
    let shown = Amount::of(text);
    match line {
        None => (shown, left_out),
        Some(line) => (shown - Amount { chars: line.chars().count() as u64 + 1, lines: 1 }, left_out),
    }
}

proptest! {
    #[test]
    fn what_is_shown_and_what_is_left_out_are_the_whole(
        first in "([a-z]{0,30}\n){0,60}", before in 0_u64..5000, last in "([a-z]{0,30}\n){0,60}",
        other in "[a-z \n]{0,900}\n", most in 2000_usize..4000,
    ) {
        let left_out = Amount { chars: before * 7, lines: before };
        let whole = Amount::of(&first) + left_out + Amount::of(&last);
        let output = Reply::new("[ours]\n", json!({}))
            .text(TextBody::ends("a", first, left_out, last).framed("a"))
            .text(TextBody::whole("b", other.clone(), Keep::Ends).framed("b"))
            .finish(&profile(most));
        prop_assert!(output.text.chars().count() <= most);
        let (ours, texts) = parsed(&output.text);
        prop_assert_eq!(ours, "[ours]");
        let all = [("a", whole), ("b", Amount::of(&other))];
        for (key, whole) in all {
            let shown = texts.iter().find(|(name, _)| name == key).map_or("", |(_, text)| text);
            prop_assert_eq!(shown, output.data[key].as_str().unwrap());
            let (shown, left_out) = gap(shown, &output.data, key);
            // A cut within a line adds a line end, which was not in the text.
            let added = shown + left_out - whole;
            prop_assert!(added.chars <= 1 && added.lines <= 1, "{:?} {:?} {:?}", shown, left_out, whole);
            prop_assert_eq!(left_out.chars > 0, output.data["left_out"].get(key).is_some());
        }
        let missing: u64 = all.iter().map(|(key, _)| output.data["left_out"][key]["chars"].as_u64().unwrap_or(0)).sum();
        prop_assert_eq!(output.extent.left_out, missing);
        prop_assert_eq!(output.extent.cut, missing > 0);
        prop_assert_eq!(output.data["truncated"] == true, missing > 0);
    }

    #[test]
    fn pages_of_any_size_are_the_whole(lengths in prop::collection::vec(0_usize..400, 1..60), limit in 1_usize..40, most in 700_usize..3000) {
        let total = lengths.len();
        let (mut seen, mut offset) = (Vec::new(), 0);
        loop {
            let page = Page { offset, limit };
            let rows = (offset..total.min(offset + limit)).map(|item| Row {
                item, text: format!("{item} {}\n", "x".repeat(lengths[item])), data: json!({ "item": item }),
            }).collect();
            let rows = Rows { key: "rows", what: "rows", page, total, shown: rows, all: String::new(), cut: false };
            let output = Reply::new("[ours]\n", json!({})).rows(rows).finish(&profile(most));
            prop_assert!(output.text.chars().count() <= most);
            let data: Vec<_> = output.data["rows"].as_array().unwrap().iter().map(|row| row["item"].as_u64().unwrap()).collect();
            let text: Vec<u64> = output.text.lines().filter(|line| !line.starts_with('[')).map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
            prop_assert_eq!(&data, &text);
            seen.extend(data);
            prop_assert_eq!(output.data["truncated"] == true, !output.data["next_offset"].is_null());
            match output.data["next_offset"].as_u64() {
                None => break,
                Some(next) => {
                    let line = format!("[rows {} to {next} of {total}; go on with offset: {next}]", offset + 1);
                    prop_assert_eq!(output.text.lines().next().unwrap(), line);
                    offset = usize::try_from(next).unwrap();
                }
            }
        }
        prop_assert_eq!(seen, (0..total as u64).collect::<Vec<_>>());
    }

    #[test]
    fn no_text_ends_its_frame(text in "(=== end [0-9a-f]{8} ===\n|=== stdout 0123abcd ===\n|\\[exit code 0\\]\n|x|\u{202e}|\u{1b}){0,30}") {
        let reply = |text: &str| Reply::new("[exit code 1]\n", json!({})).text(TextBody::whole("stdout", text.to_owned(), Keep::Ends).framed("stdout"));
        // The output repeats a whole earlier answer.
        let earlier = reply(&text).finish(&profile(50_000)).text;
        let body = format!("{earlier}{text}x");
        let (first, texts) = parsed(&reply(&body).finish(&profile(50_000)).text);
        prop_assert_eq!(first, "[exit code 1]");
        prop_assert_eq!(texts, [("stdout".to_owned(), source::visible(&body).0 + "\n")]);
    }
}

#[test]
fn an_item_that_is_too_long_is_shown_in_part() {
    let row = Row { item: 3, text: "x".repeat(9000) + "\n", data: json!({ "text": "x".repeat(9000) }) };
    let page = Page { offset: 3, limit: 1 };
    let rows =
        Rows { key: "rows", what: "rows", page, total: 9, shown: vec![row], all: String::new(), cut: false };
    let output = Reply::new("", json!({})).rows(rows).finish(&profile(1000));
    assert!(output.text.starts_with("[rows 4 to 4 of 9; go on with offset: 4]\n[the first is too long: 8,2"));
    assert_eq!((&output.data["next_offset"], &output.data["truncated"]), (&json!(4), &json!(true)));
    assert!(output.extent.whole_chars() > 9000 && output.text.len() <= 1000);
}

#[test]
fn what_cannot_be_seen_is_written_out_and_counted() {
    let output = Reply::new("[a\u{202e}]\n", json!({ "name": "a\u{202e}", "ends": "x\r\n" }))
        .text(TextBody::whole("t", "b\u{200b}\u{1b}".to_owned(), Keep::Head))
        .finish(&profile(1000));
    assert_eq!(output.text, "[a\\u{202e}]\nb\\u{200b}\\u{1b}");
    let expected = json!({ "name": "a\\u{202e}", "ends": "x\r\n", "t": "b\\u{200b}\\u{1b}", "escaped": 3 });
    assert_eq!(output.data, expected);
}
