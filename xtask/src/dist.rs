//! `cargo xtask dist`: the program as others install it, a tarball and a Debian package.

mod archive;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;
use crate::workspace::cargo;
use archive::{Entry, deb, tarball};

/// Static, so that it runs on every Linux of the architecture.
const TARGET: &str = "x86_64-unknown-linux-musl";

/// Target and place of the packages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    target: String,
    /// `target/dist`, unless told otherwise.
    out: Option<PathBuf>,
}

impl Wanted {
    /// Reads `[--target TRIPLE] [--out DIR]`.
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let mut wanted = Self { target: TARGET.to_owned(), out: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--target" => (*words.next()?).clone_into(&mut wanted.target),
                "--out" => wanted.out = Some((*words.next()?).into()),
                _ => return None,
            }
        }
        Some(wanted)
    }
}

/// Builds the program and writes both packages.
pub(crate) fn run(root: &Path, wanted: &Wanted, out: &mut dyn Write) -> io::Result<()> {
    let program = build(root, &wanted.target)?;
    let version = env!("CARGO_PKG_VERSION");
    let place = wanted.out.clone().unwrap_or_else(|| root.join("target/dist"));
    fs::create_dir_all(&place)?;
    let contents = Contents::read(root, program)?;
    let name = format!("ringfence-{version}-{}", wanted.target);
    let architecture = debian_architecture(&wanted.target)?;
    let packages = [
        (format!("{name}.tar.gz"), tarball(&contents.below(&name, TARBALL))?),
        (
            format!("ringfence_{version}_{architecture}.deb"),
            deb(&control(version, architecture), &contents.below(".", DEBIAN))?,
        ),
    ];
    for (name, bytes) in packages {
        fs::write(place.join(&name), &bytes)?;
        writeln!(out, "wrote {} ({} bytes)", place.join(&name).display(), bytes.len())?;
    }
    Ok(())
}

fn build(root: &Path, target: &str) -> io::Result<Vec<u8>> {
    let mut rustup = Command::new("rustup");
    // Without rustup, the target may be there all the same; the build says so if not.
    let _is_there = command::works(rustup.args(["target", "add", target]));
    let mut cargo = cargo();
    cargo.args(["build", "--release", "--locked", "--package", "ringfence-cli", "--target", target]);
    if !command::in_sight(cargo.current_dir(root))?.success {
        return Err(io::Error::other(format!("the program could not be built for {target}")));
    }
    let directory = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    fs::read(directory.join(target).join("release/ringfence"))
}

/// Everything that is installed.
struct Contents {
    program: Vec<u8>,
    manual: Vec<(String, Vec<u8>)>,
    /// Scripts for bash, zsh and fish.
    completions: [Vec<u8>; 3],
    documents: Vec<(&'static str, Vec<u8>)>,
}

/// Directories of the parts of a package.
#[derive(Clone, Copy)]
struct Layout {
    manual: &'static str,
    completions: [&'static str; 3],
    documents: &'static str,
    program: &'static str,
}

const TARBALL: Layout = Layout {
    program: "bin/ringfence",
    manual: "share/man/man1",
    completions: [
        "share/bash-completion/completions/ringfence",
        "share/zsh/site-functions/_ringfence",
        "share/fish/vendor_completions.d/ringfence.fish",
    ],
    documents: "share/doc/ringfence",
};

const DEBIAN: Layout = Layout {
    program: "usr/bin/ringfence",
    manual: "usr/share/man/man1",
    completions: [
        "usr/share/bash-completion/completions/ringfence",
        "usr/share/zsh/vendor-completions/_ringfence",
        "usr/share/fish/vendor_completions.d/ringfence.fish",
    ],
    documents: "usr/share/doc/ringfence",
};

impl Contents {
    fn read(root: &Path, program: Vec<u8>) -> io::Result<Self> {
        let mut manual = Vec::new();
        for entry in fs::read_dir(root.join("docs/man"))? {
            let entry = entry?;
            let name = format!("{}.gz", entry.file_name().to_string_lossy());
            manual.push((name, archive::gzip(&fs::read(entry.path())?)?));
        }
        manual.sort();
        let document = |name: &'static str| fs::read(root.join(name)).map(|bytes| (name, bytes));
        let mut documents = ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"]
            .map(document)
            .into_iter()
            .collect::<io::Result<Vec<_>>>()?;
        let [apache, mit] = [&documents[0].1, &documents[1].1].map(|text| String::from_utf8_lossy(text));
        let copyright = format!("Apache-2.0 OR MIT, at your option.\n\n{mit}\n{apache}");
        documents.push(("copyright", copyright.into_bytes()));
        let shells = [cli::Shell::Bash, cli::Shell::Zsh, cli::Shell::Fish];
        Ok(Self { program, manual, completions: shells.map(cli::completions), documents })
    }

    /// The files below a directory.
    fn below(&self, root: &str, layout: Layout) -> Vec<Entry<'_>> {
        let file = |path: String, bytes, mode| Entry { path: format!("{root}/{path}"), bytes, mode };
        let mut entries = vec![file(layout.program.into(), self.program.as_slice(), 0o755)];
        let manual = self.manual.iter().map(|(name, bytes)| (format!("{}/{name}", layout.manual), bytes));
        let scripts = layout.completions.iter().map(ToString::to_string).zip(&self.completions);
        let documents =
            self.documents.iter().map(|(name, bytes)| (format!("{}/{name}", layout.documents), bytes));
        entries.extend(manual.chain(scripts).chain(documents).map(|(path, bytes)| file(path, bytes, 0o644)));
        entries
    }
}

/// Name of the architecture in Debian.
fn debian_architecture(target: &str) -> io::Result<&'static str> {
    match target.split('-').next() {
        Some("x86_64") => Ok("amd64"),
        Some("aarch64") => Ok("arm64"),
        _ => Err(io::Error::other(format!("there is no Debian architecture for {target}"))),
    }
}

fn control(version: &str, architecture: &str) -> String {
    format!(
        "Package: ringfence\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: The Ringfence authors <security@ringfence.invalid>\n\
         Section: admin\nPriority: optional\nDescription: sandbox for AI agents\n \
         Runs a command in a jail around one directory, decides by a policy file, and\n records every decision in a ledger.\n"
    )
}

#[cfg(test)]
#[path = "../../tests/skip.rs"]
mod skip;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choose_target_and_place() {
        let wanted = |target: &str, out: Option<&str>| {
            Some(Wanted { target: target.into(), out: out.map(PathBuf::from) })
        };
        let rows: &[(&[&str], Option<Wanted>)] = &[
            (&[], wanted(TARGET, None)),
            (
                &["--target", "aarch64-unknown-linux-musl", "--out", "/x"],
                wanted("aarch64-unknown-linux-musl", Some("/x")),
            ),
            (&["--out"], None),
            (&["deb"], None),
        ];
        for (words, expected) in rows {
            assert_eq!(Wanted::parse(words), *expected, "{words:?}");
        }
    }

    /// Packages of this repository with a script as the program, unpacked by the programs that others unpack them with.
    #[test]
    fn other_programs_unpack_both_packages() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let contents = Contents::read(root, b"#!/bin/sh\necho it runs\n".to_vec()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let [tar, debian] = ["x.tar.gz", "x.deb"].map(|name| dir.path().join(name));
        fs::write(&tar, tarball(&contents.below("ringfence-1", TARBALL)).unwrap()).unwrap();
        fs::write(&debian, deb(&control("1.2.3", "amd64"), &contents.below(".", DEBIAN)).unwrap()).unwrap();
        let run = |command: &mut Command| {
            let output = command.current_dir(dir.path()).output().unwrap();
            assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        run(Command::new("tar").args(["-xzf", "x.tar.gz"]));
        assert_eq!(run(&mut Command::new(dir.path().join("ringfence-1/bin/ringfence"))), "it runs\n");
        for file in ["share/man/man1/ringfence.1.gz", "share/doc/ringfence/LICENSE-MIT"] {
            assert!(dir.path().join("ringfence-1").join(file).is_file(), "{file}");
        }
        assert!(
            run(Command::new("gzip").args(["-dc", "ringfence-1/share/man/man1/ringfence-run.1.gz"]))
                .contains(".TH")
        );
        if !command::works(Command::new("dpkg-deb").arg("--version")) {
            return skip::skipped("a Debian package", "dpkg-deb is not installed");
        }
        assert_eq!(run(Command::new("dpkg-deb").args(["-f", "x.deb", "Version"])), "1.2.3\n");
        run(Command::new("dpkg-deb").args(["-x", "x.deb", "unpacked"]));
        assert_eq!(run(&mut Command::new(dir.path().join("unpacked/usr/bin/ringfence"))), "it runs\n");
    }
}
