//! Toolchains in a jail, on the real thing: builds from warm caches without a network, and a home that is not changed by one byte.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A home and a workspace of their own.
struct Stage {
    directory: tempfile::TempDir,
    path: String,
}

impl Stage {
    /// `None` where no jail can be made, or a program is missing.
    fn new(programs: &[&str]) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        for name in ["home/.config/ringfence", "ws"] {
            fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        let stage = Self { directory, path: std::env::var("PATH").unwrap() };
        let works = stage.jailed(&[], "true");
        if !works.status.success() {
            skip::skipped("toolchains", &String::from_utf8_lossy(&works.stderr));
            return None;
        }
        let missing =
            programs.iter().find(|program| !stage.outside(&format!("{program} --version")).status.success());
        missing.inspect(|program| skip::skipped("toolchains", &format!("there is no {program}")));
        missing.is_none().then_some(stage)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.at("home")).env("PATH", &self.path).env("LANG", "C.UTF-8");
        command.current_dir(self.at("ws")).stdin(Stdio::null());
        command
    }

    fn outside(&self, script: &str) -> Output {
        self.command("/bin/sh").args(["-c", script]).output().unwrap()
    }

    fn jailed(&self, options: &[&str], script: &str) -> Output {
        let mut command = self.command(env!("CARGO_BIN_EXE_ringfence"));
        command.arg("run").args(options).args(["--", "/bin/sh", "-c", script]).output().unwrap()
    }

    /// Runs a script inside that has to succeed, and says what it said. The home outside is as it was.
    fn says(&self, options: &[&str], script: &str) -> String {
        let before = self.home();
        let output = self.jailed(options, script);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{script}\n{out}\n{err}");
        assert_eq!(self.home(), before, "{script}");
        out
    }

    /// Every file of the home but Ringfence's own, with its text, its mode and when it was changed.
    fn home(&self) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut left = vec![self.at("home")];
        while let Some(path) = left.pop() {
            let about = fs::symlink_metadata(&path).unwrap();
            let bytes = if about.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            if about.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            found.insert(path, (about.mode(), about.mtime(), about.mtime_nsec(), bytes));
        }
        found.retain(|path, _| !path.to_str().unwrap().contains(".local"));
        // The ledger lies in the home, and making it changes the directory.
        found.remove(&self.at("home"));
        found
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the home of the user who runs the tests.
fn real_home() -> PathBuf {
    PathBuf::from(std::env::var("HOME").unwrap())
}

/// A cargo home with one package of the registry in it that was never unpacked, and programs that lie elsewhere.
fn warm_cargo(stage: &Stage) -> Option<()> {
    let real = std::env::var("CARGO_HOME").map_or_else(|_| real_home().join(".cargo"), PathBuf::from);
    let rustup = std::env::var("RUSTUP_HOME").map_or_else(|_| real_home().join(".rustup"), PathBuf::from);
    let first =
        |path: PathBuf| fs::read_dir(path).ok()?.filter_map(Result::ok).map(|entry| entry.path()).next();
    let (cache, index) = (first(real.join("registry/cache"))?, first(real.join("registry/index"))?);
    let package = fs::read_dir(&cache).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let package =
        package.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("memchr-2")).max()?;
    let registry = cache.file_name()?.to_str()?;
    let copy = |from: &Path, to: &str| {
        stage.put(&format!("home/.cargo/registry/{to}"), fs::read(from).ok()?);
        Some(())
    };
    copy(&package, &format!("cache/{registry}/{}", package.file_name()?.to_str()?))?;
    copy(&index.join("config.json"), &format!("index/{registry}/config.json"))?;
    copy(&index.join(".cache/me/mc/memchr"), &format!("index/{registry}/.cache/me/mc/memchr"))?;
    symlink(real.join("bin"), stage.at("home/.cargo/bin")).unwrap();
    symlink(rustup, stage.at("home/.rustup")).unwrap();
    stage.put("home/.cargo/credentials.toml", "[registry]\ntoken = \"hush\"\n");
    let version = package.file_stem()?.to_str()?.strip_prefix("memchr-")?.to_owned();
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    stage.put("ws/Cargo.toml", format!("{manifest}[dependencies]\nmemchr = \"={version}\"\n"));
    stage.put("ws/src/main.rs", "fn main() { println!(\"{:?}\", memchr::memchr(b'l', b\"hello\")); }\n");
    Some(())
}

#[test]
fn cargo_builds_from_a_warm_registry() {
    let Some(stage) = Stage::new(&[]) else { return };
    if warm_cargo(&stage).is_none() || !stage.outside("cargo --version").status.success() {
        return skip::skipped("cargo in a jail", "there is no cargo below home with memchr in its registry");
    }
    assert_eq!(stage.says(&[], "cargo run -q --offline"), "Some(2)\n");
    // Files that cargo unpacked inside are not there outside.
    assert!(!stage.at("home/.cargo/registry/src").exists());
    assert_eq!(stage.says(&[], "ls -A ~/.cargo"), "bin\nregistry\n");
    let script = "for i in .cargo/bin .rustup/toolchains; do touch ~/$i/x 2>/dev/null || echo refused; done";
    assert_eq!(stage.says(&[], script), "refused\nrefused\n");
    for options in [&["--toolchain", "none"][..], &["--toolchain", "node"]] {
        assert_eq!(stage.says(options, "ls -A ~; command -v cargo || echo none"), "none\n");
    }
    let outside = stage.outside("cargo run -q --offline");
    assert_eq!(text(&outside.stdout), "Some(2)\n", "{}", text(&outside.stderr));
}

/// A registry on the loopback with one package in it.
fn registry(package: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = BufReader::new(stream.try_clone().unwrap()).lines();
            let asked = request.next().unwrap().unwrap();
            request.find(|line| line.as_ref().is_ok_and(String::is_empty));
            let about = format!(
                r#"{{"name":"tiny","dist-tags":{{"latest":"1.0.0"}},"versions":{{"1.0.0":{{"name":"tiny","version":"1.0.0","dist":{{"tarball":"http://127.0.0.1:{port}/tiny.tgz"}}}}}}}}"#
            );
            let body = if asked.contains("tgz") { package.clone() } else { about.into_bytes() };
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _gone = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    port
}

#[test]
fn npm_installs_from_a_warm_cache() {
    let Some(stage) = Stage::new(&["node", "npm", "tar"]) else { return };
    stage.put("ws/package/package.json", r#"{"name":"tiny","version":"1.0.0"}"#);
    stage.put("ws/package/index.js", "module.exports = 42;\n");
    assert!(stage.outside("tar czf tiny.tgz package && rm -r package").status.success());
    let port = registry(fs::read(stage.at("ws/tiny.tgz")).unwrap());
    stage.put("ws/package.json", r#"{"name":"app","version":"1.0.0","dependencies":{"tiny":"1.0.0"}}"#);
    let warm = stage.outside(&format!("npm install --no-audit --registry http://127.0.0.1:{port}"));
    assert!(warm.status.success(), "{}", text(&warm.stderr));
    let script =
        "rm -r node_modules && npm ci --offline --no-audit >/dev/null && node -p \"require('tiny')\"";
    assert_eq!(stage.says(&[], script), "42\n");
    // The same without the cache cannot work, so it was the cache.
    assert!(!stage.jailed(&["--toolchain", "none"], script).status.success());
}

#[test]
fn python_installs_wheels_and_makes_environments() {
    let Some(stage) = Stage::new(&["python3"]) else { return };
    let wheel = "
import zipfile, os
os.makedirs('wheels', exist_ok=True)
with zipfile.ZipFile('wheels/tiny-1.0-py3-none-any.whl', 'w') as z:
    z.writestr('tiny.py', 'answer = 42\\n')
    z.writestr('tiny-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n')
    z.writestr('tiny-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    z.writestr('tiny-1.0.dist-info/RECORD', '')
";
    stage.put("ws/wheel.py", wheel);
    stage.put("home/.cache/pip/kept", "kept\n");
    stage.put("home/.pypirc", "password = hush\n");
    let script = "set -e
python3 wheel.py
python3 -m venv venv
venv/bin/pip install -q --no-index --find-links wheels tiny
venv/bin/python -c 'import tiny; print(tiny.answer)'
cat ~/.cache/pip/kept; echo changed >~/.cache/pip/kept; cat ~/.cache/pip/kept; ls -A ~";
    assert_eq!(stage.says(&[], script), "42\nkept\nchanged\n.cache\n");
}

#[test]
fn maven_reads_its_repository() {
    let Some(stage) = Stage::new(&["mvn"]) else { return };
    let pom = |rest: &str, name: &str| {
        format!(
            "<project><modelVersion>4.0.0</modelVersion>{rest}<artifactId>{name}</artifactId><version>1</version><packaging>pom</packaging></project>"
        )
    };
    stage.put("home/.m2/repository/g/parent/1/parent-1.pom", pom("<groupId>g</groupId>", "parent"));
    stage.put(
        "home/.m2/settings.xml",
        "<settings><servers><server><password>hush</password></server></servers></settings>",
    );
    let parent = "<parent><groupId>g</groupId><artifactId>parent</artifactId><version>1</version><relativePath/></parent>";
    stage.put("ws/pom.xml", pom(parent, "child"));
    stage.says(&[], "mvn -o -q validate && test ! -e ~/.m2/settings.xml");
    assert!(!stage.jailed(&["--toolchain", "node"], "mvn -o -q validate").status.success());
}

#[test]
fn make_and_a_compiler_work() {
    let Some(stage) = Stage::new(&["make", "cc"]) else { return };
    stage.put("ws/a.c", "#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n");
    stage.put("ws/Makefile", "a: a.c\n\tcc -o a a.c\n");
    let script = "make -s && ./a && made=$(mktemp -d) && test -d $made && echo ${made%/*}";
    assert_eq!(stage.says(&[], script), "built\n/tmp\n");
}

#[test]
fn what_was_shown_is_told_and_recorded() {
    let Some(stage) = Stage::new(&[]) else { return };
    stage.put("home/.cargo/registry/x", "");
    stage.put("home/.yarnrc.yml", "npmAuthToken: hush\n");
    let told = text(&stage.jailed(&["-v", "--toolchain", "rust", "--toolchain", "node"], "true").stderr);
    let home = stage.at("home").display().to_string();
    for line in [
        &format!("view       layered    {home}/.cargo/registry\n"),
        &format!("toolchain  rust       {home}/.cargo\n"),
        "toolchain  node",
        &format!("without {home}/.yarnrc.yml: it looks as if it held a secret\n"),
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    let ledger = fs::read_to_string(stage.at("home/.local/state/ringfence/ledger.jsonl")).unwrap();
    assert!(ledger.contains(r#""toolchains":["rust","node"]"#), "{ledger}");
    let refused = text(&stage.jailed(&["--toolchain", "rsut"], "true").stderr);
    assert!(refused.contains("did you mean `rust`?"), "{refused}");
    stage.put("ws/ringfence.toml", "version = 1\njail.toolchains = [\"node\"]\n");
    let bounded = stage.jailed(&["--toolchain", "rust"], "true");
    assert_eq!(bounded.status.code(), Some(126), "{}", text(&bounded.stderr));
    assert_eq!(text(&stage.jailed(&[], "ls -A ~").stdout), "");
}

/// Root's jail runs as a user to whom such a workspace is closed, and the layer over a cache was made from there.
#[test]
fn caches_can_be_changed_from_a_closed_workspace() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(stage) = Stage::new(&[]) else { return };
    stage.put("home/.cargo/registry/index/a", "a");
    fs::set_permissions(stage.at("ws"), fs::Permissions::from_mode(0o700)).unwrap();
    let output = stage.jailed(&["-v"], "echo b >~/.cargo/registry/index/b && cat ~/.cargo/registry/index/?");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{err}");
    assert_eq!(out, "ab\n");
    assert!(!err.contains("layers can only be read"), "{err}");
    assert!(!stage.at("home/.cargo/registry/index/b").exists());
}
