//! The workspace as Cargo and the file system describe it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::offence::Offence;
use crate::source::Source;

/// Everything the checks look at.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) packages: Vec<Package>,
    pub(crate) sources: Vec<Source>,
    /// Files that are not Rust as far as we can tell.
    pub(crate) unreadable: Vec<Offence>,
}

/// One package of the workspace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Relative to the root.
    pub(crate) dir: String,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One line of a `[dependencies]` section.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// True if it is another package of the workspace.
    pub(crate) local: bool,
}

/// Which section a dependency stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

impl Workspace {
    /// Reads the manifests and every Rust file.
    pub(crate) fn load(root: &Path) -> io::Result<Self> {
        let packages = packages(root, &metadata(root)?)?;
        let mut workspace = Self { root: root.into(), packages, sources: Vec::new(), unreadable: Vec::new() };
        for (name, dir) in workspace.names_and_dirs() {
            for path in files_below(&root.join(dir), "rs")? {
                workspace.add_source(&name, &path)?;
            }
        }
        Ok(workspace)
    }

    fn names_and_dirs(&self) -> Vec<(String, String)> {
        self.packages.iter().map(|package| (package.name.clone(), package.dir.clone())).collect()
    }

    fn add_source(&mut self, package: &str, path: &Path) -> io::Result<()> {
        match Source::parse(package, &relative(&self.root, path), fs::read_to_string(path)?) {
            Ok(source) => self.sources.push(source),
            Err(offence) => self.unreadable.push(offence),
        }
        Ok(())
    }
}

/// The cargo that runs us, so that one toolchain does everything.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A path as it is written in messages: below the root, with `/`.
pub(crate) fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// Every file with this extension below a directory, sorted. Hidden directories and `target` are left out.
pub(crate) fn files_below(dir: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut left = vec![dir.to_path_buf()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir)? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            if kind.is_dir() && !is_left_out(&path) {
                left.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|it| it == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_left_out(dir: &Path) -> bool {
    dir.file_name().is_some_and(|name| name == "target" || name.as_encoded_bytes().starts_with(b"."))
}

fn metadata(root: &Path) -> io::Result<Value> {
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other("cargo metadata failed"));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The packages in the answer of `cargo metadata --no-deps`.
fn packages(root: &Path, metadata: &Value) -> io::Result<Vec<Package>> {
    let strange = || io::Error::other("cargo metadata has another shape than expected");
    let list = metadata["packages"].as_array().ok_or_else(strange)?;
    list.iter().map(|value| package(root, value).ok_or_else(strange)).collect()
}

fn package(root: &Path, value: &Value) -> Option<Package> {
    let manifest = Path::new(value["manifest_path"].as_str()?);
    Some(Package {
        name: value["name"].as_str()?.into(),
        dir: relative(root, manifest.parent()?),
        dependencies: value["dependencies"].as_array()?.iter().map(dependency).collect::<Option<_>>()?,
    })
}

fn dependency(value: &Value) -> Option<Dependency> {
    let kind = match value["kind"].as_str() {
        None => Kind::Normal,
        Some("build") => Kind::Build,
        Some("dev") => Kind::Dev,
        Some(_) => return None,
    };
    Some(Dependency { name: value["name"].as_str()?.into(), kind, local: value["path"].is_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_cargo_says() {
        let text = r#"{"packages": [{"name": "a", "manifest_path": "/r/crates/a/Cargo.toml", "dependencies": [
            {"name": "b", "kind": null, "path": "/r/crates/b"}, {"name": "serde", "kind": "dev"}]}]}"#;
        let found = packages(Path::new("/r"), &serde_json::from_str(text).unwrap()).unwrap();
        let b = Dependency { name: "b".into(), kind: Kind::Normal, local: true };
        let serde = Dependency { name: "serde".into(), kind: Kind::Dev, local: false };
        assert_eq!(
            found,
            [Package { name: "a".into(), dir: "crates/a".into(), dependencies: vec![b, serde] }]
        );
    }

    #[test]
    fn a_shape_we_do_not_know_is_an_error() {
        for text in ["{}", r#"{"packages": [{}]}"#] {
            assert!(packages(Path::new("/r"), &serde_json::from_str(text).unwrap()).is_err(), "{text}");
        }
    }

    #[test]
    fn walks_without_target_and_hidden_directories() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["src/a.rs", "src/b.txt", "target/c.rs", ".git/d.rs", "e.rs"] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = files_below(dir.path(), "rs").unwrap();
        let found: Vec<_> = found.iter().map(|path| relative(dir.path(), path)).collect();
        assert_eq!(found, ["e.rs", "src/a.rs"]);
    }
}
