//! For every encoding of a text, the finding stands where it is written, and says how it was read.

use std::io::Write;

use ringfence_skill::{Finding, Scanner, Tree, Via, base_rules};

/// Base rule that finds the hidden text of every row.
const FOUND: &str = "CRYPTO_STRATUM";

fn found(path: &str, bytes: &[u8]) -> Finding {
    let report = Scanner::new(&base_rules()).scan(&Tree::of_file(path, bytes));
    let finding = report.findings.into_iter().find(|finding| finding.rule.id == FOUND);
    finding.unwrap_or_else(|| panic!("nothing in {}", String::from_utf8_lossy(bytes)))
}

#[test]
fn a_finding_stands_where_it_is_written() {
    let decoded = |from| vec![Via::Decoded(from)];
    let value = |pointer: &str| vec![Via::Value(pointer.to_owned())];
    let rows: &[(&str, &str, &str, Vec<Via>)] = &[
        ("SKILL.md", "a stratum://x", "stratum://", vec![]),
        ("SKILL.md", "a str\u{200b}atum://x", "str\u{200b}atum://", decoded("hidden characters")),
        ("SKILL.md", "a str<!-- x -->atum://x", "str<!-- x -->atum://", decoded("hidden characters")),
        ("SKILL.md", "a \u{ff53}tratum://x", "\u{ff53}tratum://", decoded("hidden characters")),
        ("SKILL.md", "a str\u{430}tum://x", "str\u{430}tum://", decoded("look-alike letters")),
        (
            "SKILL.md",
            "a c3RyYXR1bTovL3Bvb2wuZXhhbXBsZTozMzMz b",
            "c3RyYXR1bTovL3Bvb2wuZXhhbXBsZTozMzMz",
            decoded("base64"),
        ),
        ("run.js", r#"go("stra" + "tum://x")"#, r#"stra" + "tum://"#, decoded("pieces")),
        ("run.sh", r"echo \x73\x74\x72\x61\x74um://x", r"\x73\x74\x72\x61\x74um://", decoded("escapes")),
        ("SKILL.md", "a stratum&#58;//x", "stratum&#58;//", decoded("entities")),
        ("a.json", r#"{"a": ["b", "\u0073tratum:\/\/x"]}"#, r"\u0073tratum:\/\/", value("/a/1")),
    ];
    for (path, text, expected, via) in rows {
        let finding = found(path, text.as_bytes());
        assert_eq!(&text[finding.span.clone()], *expected, "{text}");
        assert_eq!(finding.via, *via, "{text}");
        assert!(finding.line == 1 && finding.matched.starts_with("stratum"), "{text}");
    }
}

#[test]
fn encodings_in_encodings_are_read() {
    // The text of the row above, encoded once more.
    let finding = found("SKILL.md", b"x YzNSeVlYUjFiVG92TDNCdmIyd3VaWGhoYlhCc1pUb3pNek16 y");
    assert_eq!(finding.via, [Via::Decoded("base64"), Via::Decoded("base64")]);
    assert_eq!(finding.span, 2..50);
}

#[test]
fn other_encodings_of_characters_are_read() {
    let wide: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("a stratum://x".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(found("SKILL.md", &wide).span, 6..26);
    assert_eq!(found("SKILL.md", b"\xff\xc3 stratum://x").span, 3..13);
    assert_eq!(found("run.sh", b"\0\0\0stratum://x").span, 3..13);
}

#[test]
fn files_in_archives_have_their_paths() {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file("bin/run.sh", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(b"go stratum://x").unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let finding = found("tool.zip", &bytes);
    assert_eq!((finding.path.to_str().unwrap(), finding.span), ("tool.zip/bin/run.sh", 3..13));
}
