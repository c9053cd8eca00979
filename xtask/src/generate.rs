//! `cargo xtask generate`: files that a program writes and the repository keeps.

mod agents;
mod characters;
mod codes;
mod credentials;
mod host_sets;
mod hosts;
mod keys;
mod man;
mod names;
mod options;
mod programs;
mod reference;
mod rules;
mod rustfmt;
mod secrets;
mod tokens;
mod toolchains;

use std::fs;
use std::io;
use std::path::Path;

use crate::offence::Offence;

/// Output of one generator. Paths are relative to the root.
enum Generated {
    /// One file.
    File(&'static str, fn(&Path) -> Result<String, Offence>),
    /// All files of a directory, by name. Any other file in it is left over.
    Directory(&'static str, fn() -> io::Result<Vec<(String, String)>>),
}

/// Every generator. A new one is one line here.
const GENERATED: &[Generated] = &[
    Generated::File("crates/audit/src/tables/secrets.rs", secrets::generate),
    Generated::File("crates/config/src/defaults.toml", credentials::defaults),
    Generated::File("crates/policy/src/tables/agents.rs", agents::generate),
    Generated::File("crates/policy/src/tables/characters.rs", characters::generate),
    Generated::File("crates/policy/src/tables/credentials.rs", credentials::generate),
    Generated::File("crates/policy/src/tables/host_sets.rs", host_sets::generate),
    Generated::File("crates/policy/src/tables/hosts.rs", hosts::generate),
    Generated::File("crates/policy/src/tables/names.rs", names::generate),
    Generated::File("crates/policy/src/tables/options.rs", options::generate),
    Generated::File("crates/policy/src/tables/programs.rs", programs::generate),
    Generated::File("crates/policy/src/tables/tokens.rs", tokens::generate),
    Generated::File("docs/reference/names.md", names::page),
    Generated::File("docs/reference/codes.md", |_| Ok(codes::render())),
    Generated::File("docs/reference/cli.md", |_| Ok(reference::render(cli::command()))),
    Generated::File("docs/reference/host-sets.md", |_| Ok(host_sets::page())),
    Generated::File("docs/reference/policy.md", |_| keys::render()),
    Generated::File("docs/reference/rules.md", |_| Ok(rules::render())),
    Generated::File("docs/reference/toolchains.md", |_| Ok(toolchains::render())),
    Generated::File("docs/reference/policy.schema.json", |_| Ok(config::schema::json())),
    Generated::Directory("docs/man", || man::render(cli::command())),
];

/// Makes every generated file fresh, and names those that were not.
pub(crate) fn write(root: &Path) -> Result<Vec<String>, Offence> {
    let mut touched = Vec::new();
    for change in changes(root, GENERATED)? {
        change.apply(root).map_err(|error| Offence::of(&change.path, error.to_string()))?;
        touched.push(change.path);
    }
    Ok(touched)
}

/// Every generated file that is not what its generator would write now.
pub(crate) fn stale(root: &Path) -> Vec<Offence> {
    let text = "is not fresh; run `cargo xtask generate` and commit the result";
    match changes(root, GENERATED) {
        Ok(changes) => changes.iter().map(|change| Offence::of(&change.path, text)).collect(),
        Err(offence) => vec![offence],
    }
}

/// Change that would make a file fresh: its text, or that it exists.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    path: String,
    text: Option<String>,
}

impl Change {
    fn apply(&self, root: &Path) -> io::Result<()> {
        let path = root.join(&self.path);
        let Some(text) = &self.text else { return fs::remove_file(path) };
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    }
}

fn changes(root: &Path, generated: &[Generated]) -> Result<Vec<Change>, Offence> {
    let mut wanted = Vec::new();
    for generated in generated {
        match generated {
            Generated::File(path, make) => wanted.push(((*path).to_owned(), Some(make(root)?))),
            Generated::Directory(dir, make) => {
                let files = make().and_then(|files| contents(root, dir, files));
                wanted.extend(files.map_err(|error| Offence::of(*dir, error.to_string()))?);
            }
        }
    }
    let changes = wanted.into_iter().map(|(path, text)| Change { path, text });
    Ok(changes.filter(|change| !is_fresh(root, change)).collect())
}

/// The files that a directory should have, and those that it should not have.
fn contents(
    root: &Path,
    dir: &str,
    files: Vec<(String, String)>,
) -> io::Result<Vec<(String, Option<String>)>> {
    let mut wanted: Vec<(String, Option<String>)> =
        files.into_iter().map(|(name, text)| (format!("{dir}/{name}"), Some(text))).collect();
    if !root.join(dir).is_dir() {
        return Ok(wanted);
    }
    for entry in fs::read_dir(root.join(dir))? {
        let path = format!("{dir}/{}", entry?.file_name().to_string_lossy());
        if !wanted.iter().any(|(wanted, _)| *wanted == path) {
            wanted.push((path, None));
        }
    }
    Ok(wanted)
}

fn is_fresh(root: &Path, change: &Change) -> bool {
    let old = fs::read(root.join(&change.path)).ok();
    old.as_deref() == change.text.as_deref().map(str::as_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Generated = Generated::File("docs/a.md", |_| Ok("new\n".into()));
    const DIRECTORY: Generated = Generated::Directory("man", || Ok(vec![("a.1".into(), "a".into())]));

    fn paths(root: &Path, generated: Generated) -> Vec<String> {
        changes(root, &[generated]).unwrap().into_iter().map(|change| change.path).collect()
    }

    fn put(root: &Path, path: &str, text: &str) {
        Change { path: path.into(), text: Some(text.into()) }.apply(root).unwrap();
    }

    #[test]
    fn a_stale_or_missing_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(paths(dir.path(), FILE), ["docs/a.md"]);
        put(dir.path(), "docs/a.md", "old\n");
        assert_eq!(paths(dir.path(), FILE), ["docs/a.md"]);
        put(dir.path(), "docs/a.md", "new\n");
        assert_eq!(paths(dir.path(), FILE), [""; 0]);
    }

    #[test]
    fn a_file_left_over_is_named_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "man/a.1", "a");
        put(dir.path(), "man/old.1", "b");
        let found = changes(dir.path(), &[DIRECTORY]).unwrap();
        assert_eq!(found, [Change { path: "man/old.1".into(), text: None }]);
        found[0].apply(dir.path()).unwrap();
        assert_eq!(paths(dir.path(), DIRECTORY), [""; 0]);
    }

    #[test]
    fn a_generator_that_fails_is_named() {
        let file = Generated::File("a.md", |_| Err(Offence::of("t.toml", "broken")));
        assert_eq!(changes(Path::new("/"), &[file]).unwrap_err().to_string(), "t.toml: broken");
        let directory = Generated::Directory("man", || Err(io::ErrorKind::NotFound.into()));
        assert_eq!(changes(Path::new("/"), &[directory]).unwrap_err().to_string(), "man: entity not found");
    }
}
