use std::io::Write;

use super::*;

fn zipped(names: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in names {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn tarred(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o755);
    // The name as it is: the writer would refuse to lead out.
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_cksum();
    let mut builder = tar::Builder::new(Vec::new());
    builder.append(&header, bytes).unwrap();
    builder.into_inner().unwrap()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn archives_are_read() {
    let file = |executable| Kind::File { bytes: b"echo hi".to_vec(), executable };
    let rows = [
        (zipped(&[("a/run.sh", b"echo hi")]), "a/run.sh", file(false)),
        (tarred("run.sh", b"echo hi"), "run.sh", file(true)),
        (gzipped(&tarred("run.sh", b"echo hi")), "run.sh", file(true)),
        (gzipped(b"echo hi"), "content", file(false)),
    ];
    for (bytes, name, kind) in rows {
        assert!(is_archive(Path::new("x"), &bytes));
        // Files that are made here may be executable or not: only tar records it.
        let found = entries(&bytes).unwrap();
        assert_eq!(found[0].name, name);
        assert_eq!(found.len(), 1);
        match (&found[0].kind, kind) {
            (Kind::File { bytes, .. }, Kind::File { bytes: expected, .. }) => assert_eq!(*bytes, expected),
            (found, expected) => assert_eq!(*found, expected),
        }
    }
}

#[test]
fn names_that_lead_out_are_kept_and_noticed() {
    for name in ["../../x", "/etc/x", "a/../../x", "C:\\x", "..\\x"] {
        let bytes = tarred(name, b"x");
        let found = entries(&bytes).unwrap();
        assert_eq!(found[0].name, name);
        assert!(found[0].leads_out(), "{name}");
    }
    assert!(!entries(&tarred("a/..b/c", b"x")).unwrap()[0].leads_out());
}

#[test]
fn a_bomb_is_not_opened() {
    let bomb = gzipped(&vec![0; 8 << 20]);
    assert_eq!(entries(&bomb), Err(ArchiveError::TooLarge));
    let names: Vec<String> = (0..=MAX_ENTRIES).map(|number| number.to_string()).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    assert_eq!(entries(&zipped(&many)), Err(ArchiveError::TooMany));
    assert!(matches!(entries(b"PK\x03\x04broken"), Err(ArchiveError::Damaged(_))));
}

#[test]
fn archives_in_archives_have_an_end() {
    let mut bytes = zipped(&[("run.sh", b"echo hi")]);
    for _ in 0..5 {
        bytes = zipped(&[("inner.zip", &bytes)]);
    }
    let tree = Tree::of_file("a.zip", bytes);
    let opened = opened(&tree);
    assert_eq!(opened.tree.entries.len(), 4);
    assert_eq!(opened.archives.last().unwrap().inside, Err(ArchiveError::TooDeep));
    assert_eq!(opened.tree.entries[1].path, Path::new("a.zip/inner.zip"));
}

#[test]
fn the_one_skill_in_an_archive_is_found() {
    let at = |names: &[&str]| {
        packed("top", &zipped(&names.iter().map(|name| (*name, &b"x"[..])).collect::<Vec<_>>()))
    };
    let found = |names: &[&str]| {
        let Packed { below, tree } = at(names).unwrap();
        let paths: Vec<_> = tree.entries.iter().map(|entry| entry.path.display().to_string()).collect();
        (below.display().to_string(), tree.name, paths.join(" "))
    };
    let row = |below: &str, name: &str, paths: &str| (below.to_owned(), name.to_owned(), paths.to_owned());
    assert_eq!(found(&["SKILL.md", "a/run.sh"]), row("", "top", "SKILL.md a/run.sh"));
    assert_eq!(found(&["./b/skill.md", "b/a.sh", "README.md"]), row("b", "b", "a.sh skill.md"));
    assert_eq!(found(&["b\\SKILL.md", "b/a.sh"]), row("b", "b", "SKILL.md a.sh"));
    // A skill in a skill belongs to it, in either order.
    assert_eq!(found(&["b/c/SKILL.md", "b/SKILL.md"]), row("b", "b", "SKILL.md c/SKILL.md"));
    let several =
        |names: &[&str]| PackedError::Several(names.iter().map(|name| (*name).to_owned()).collect());
    let rows: &[(&[&str], PackedError)] = &[
        (&[], PackedError::None),
        (&["README.md", "SKILL.md.txt"], PackedError::None),
        (&["a/SKILL.md", "b/SKILL.md"], several(&["a", "b"])),
        (&["a/SKILL.md", "ab/SKILL.md"], several(&["a", "ab"])),
        (&["a/SKILL.md", "a/skill.md"], PackedError::Twice("a/skill.md".to_owned())),
        (&["a/SKILL.md", "./a/SKILL.md"], PackedError::Twice("./a/SKILL.md".to_owned())),
        (&["a/SKILL.md", "../b"], PackedError::LeadsOut("../b".to_owned())),
    ];
    for (names, expected) in rows {
        assert_eq!(at(names).as_ref(), Err(expected), "{names:?}");
    }
    assert!(matches!(packed("a", b"no archive"), Err(PackedError::Archive(_))));
    assert_eq!(packed("a", &gzipped(b"x")), Err(PackedError::None));
}
