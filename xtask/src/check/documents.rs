//! Modules and files that ARCHITECTURE.md names, the length of its walks, and the index of CONTRIBUTING.md.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::offence::Offence;
use crate::workspace::files_below;

const DOCUMENT: &str = "ARCHITECTURE.md";

/// Document with a table of tasks and files, below this heading.
const INDEX: (&str, &str) = ("CONTRIBUTING.md", "## Where things are");

/// Walks that a newcomer starts with. Each is a section `## Walk: NAME`.
const WALKS: &[&str] = &["run", "check command", "skill scan"];

/// Longest walk, in lines: one screen.
const LONGEST: usize = 40;

/// Directories at the root whose files a document names by path.
const DIRECTORIES: &[&str] = &["crates/", "docs/", "examples/", "fuzz/", "tables/", "tests/", "xtask/"];

/// Checks the document against the tree.
pub(crate) fn check(root: &Path) -> io::Result<Vec<Offence>> {
    let text = fs::read_to_string(root.join(DOCUMENT))?;
    let mut offences = check_index(root, &fs::read_to_string(root.join(INDEX.0))?);
    offences.extend(WALKS.iter().filter_map(|walk| long_walk(&text, walk)));
    for (index, line) in text.lines().enumerate() {
        for name in names(line) {
            if !exists(root, name)? {
                offences.push(Offence::at(DOCUMENT, index + 1, format!("there is no `{name}`")));
            }
        }
    }
    Ok(offences)
}

/// Checks the rows `| task | `file` | `item` |`: the file exists and contains the item.
fn check_index(root: &Path, text: &str) -> Vec<Offence> {
    let lines = text.lines().enumerate().skip_while(|(_, line)| *line != INDEX.1).skip(1);
    let rows =
        lines.take_while(|(_, line)| !line.starts_with("## ")).filter(|(_, line)| line.contains("| `"));
    let wrong = |(at, line): (usize, &str)| {
        let cells: Vec<&str> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [_, _, file, item, _] = cells[..] else {
            return Some(Offence::at(INDEX.0, at + 1, "the row does not have three cells".to_owned()));
        };
        let holds = fs::read_to_string(root.join(file)).is_ok_and(|text| text.contains(item));
        (!holds).then(|| Offence::at(INDEX.0, at + 1, format!("there is no `{file}` with `{item}`")))
    };
    let offences: Vec<_> = rows.clone().filter_map(wrong).collect();
    if rows.count() == 0 {
        vec![Offence::of(INDEX.0, format!("no rows below `{}`", INDEX.1))]
    } else {
        offences
    }
}

fn long_walk(text: &str, walk: &str) -> Option<Offence> {
    let heading = format!("## Walk: {walk}");
    let mut lines = text.lines().skip_while(|line| *line != heading);
    if lines.next().is_none() {
        return Some(Offence::of(DOCUMENT, format!("no section `{heading}`")));
    }
    let length = 1 + lines.take_while(|line| !line.starts_with("## ")).count();
    (length > LONGEST)
        .then(|| Offence::of(DOCUMENT, format!("`{heading}` has {length} lines, over {LONGEST}")))
}

/// Modules and paths in a line: in an indented line the first word and all paths, elsewhere all text between backticks.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let words = line.strip_prefix("    ").unwrap_or_default().split_whitespace().enumerate();
    let indented = words.filter(|(index, word)| *index == 0 || word.contains("/src/")).map(|(_, word)| word);
    indented
        .chain(line.split('`').skip(1).step_by(2))
        .map(|name| name.trim_matches([',', ';', ':', '(', ')']))
}

/// Returns true unless the name is a module or a path of this workspace that does not exist.
fn exists(root: &Path, name: &str) -> io::Result<bool> {
    if DIRECTORIES.iter().any(|directory| name.starts_with(directory)) && !name.contains(['*', ' ']) {
        return Ok(root.join(name).exists());
    }
    if name.contains("/src/") && !name.contains(' ') {
        return Ok(root.join("crates").join(name).exists());
    }
    let mut segments = name.split("::");
    let package = root.join("crates").join(segments.next().unwrap_or_default()).join("src");
    let is_path = |segment: &str| segment.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    if !name.contains("::") || !package.is_dir() || !name.split("::").all(is_path) {
        return Ok(true);
    }
    item_exists(package, segments)
}

/// Follows modules as far as they go; the other segments must be words of the last one.
fn item_exists<'a>(package: PathBuf, segments: impl Iterator<Item = &'a str>) -> io::Result<bool> {
    let mut module = package;
    for segment in segments {
        let next = module.join(segment);
        if next.is_dir() || next.with_extension("rs").is_file() {
            module = next;
        } else if !mentions(&module, segment)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn mentions(module: &Path, word: &str) -> io::Result<bool> {
    let mut files = if module.is_dir() { files_below(module, "rs")? } else { Vec::new() };
    files.extend(Some(module.with_extension("rs")).filter(|file| file.is_file()));
    for file in files {
        let text = fs::read_to_string(file)?;
        if text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|found| found == word) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_first_words_and_quoted_text() {
        let found: Vec<_> =
            names("    jail::plan   a spec; (a/src/b.rs), see `docs/x.md` and `a b`").collect();
        assert_eq!(found, ["jail::plan", "a/src/b.rs", "docs/x.md", "a b"]);
        assert_eq!(names("jail::plan is a word").count(), 0);
    }

    #[test]
    fn modules_and_paths_must_exist() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("crates/a/src/b")).unwrap();
        fs::write(root.join("crates/a/src/lib.rs"), "pub struct Sandbox;").unwrap();
        fs::write(root.join("crates/a/src/b/c.rs"), "fn run_all() {}").unwrap();
        let rows = [
            ("a::b", true),
            ("a::b::c", true),
            ("a::b::c::run_all", true),
            ("a::Sandbox", true),
            ("a::d", false),
            ("a::Sand", false),
            ("a::b::Sandbox", false),
            ("std::fs", true),
            ("crates/a/src/b/c.rs", true),
            ("crates/a/src/b/d.rs", false),
            ("a/src/b/c.rs", true),
            ("a/src/b", true),
            ("a/src/d.rs", false),
            ("crates/*", true),
        ];
        for (name, expected) in rows {
            assert_eq!(exists(root, name).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn rows_of_the_index_name_files_and_items() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.rs"), "const GRACE: u8 = 1;").unwrap();
        let rows = [
            ("| x | `a.rs` | `GRACE` |", 0),
            ("| x | `a.rs` |  |", 0),
            ("| x | `a.rs` | `OTHER` |", 1),
            ("| x | `b.rs` |  |", 1),
            ("| x | `a.rs` |", 1),
            ("", 1),
        ];
        for (row, expected) in rows {
            let text = format!("{}\n\n{row}\n## Words\n| y | `c.rs` |\n", INDEX.1);
            assert_eq!(check_index(dir.path(), &text).len(), expected, "{row}");
        }
    }

    #[test]
    fn a_walk_fits_on_a_screen() {
        let text = |lines| format!("## Walk: run\n{}## Next\n", "    x\n".repeat(lines));
        assert_eq!(long_walk(&text(39), "run"), None);
        assert!(long_walk(&text(40), "run").is_some());
        assert!(long_walk("# Other\n", "run").is_some());
    }
}
