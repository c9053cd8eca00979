//! Problems of policy files: places and messages.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests may unwrap")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use policy::Code;
use ringfence_config::schema::{Key, Kind, ROOT};
use ringfence_config::{Files, Places, Problems, Scope, Settings, Source, from_sources, load};
use skip::skipped;

fn places(workspace: &Path) -> Places {
    Places {
        workspace: workspace.into(),
        home: Some("/home/me".into()),
        state: Some("/state".into()),
        run: None,
    }
}

fn user(text: &str) -> Result<Settings, Problems> {
    let source = Source::new(Scope::User, Path::new("policy.toml"), text.to_owned());
    from_sources(vec![source], &places(Path::new("/ws")))
}

fn first(text: &str) -> String {
    user(text).map(drop).expect_err(text).0[0].to_string()
}

#[test]
fn problems_say_what_and_where() {
    let rows = [
        ("version = 1\nx =", "RF-C001"),
        ("version = 1\nversion = 1", "RF-C001"),
        ("", "RF-C014: `version` is missing (policy.toml:1:1)"),
        ("version = 2", "RF-C004: `version` has a value that is not accepted (policy.toml:1:11)"),
        ("version = \"1\"", "RF-C003: `version` has the wrong type (policy.toml:1:11)"),
        ("version = 1\n[flies]", "RF-C002: unknown key `flies` (policy.toml:2:2)"),
        ("version = 1\n[files]\nread_only = 1", "RF-C002: unknown key `files.read_only` (policy.toml:3:1)"),
        ("version = 1\nfiles.jail = \"maybe\"", "RF-C004: `files.jail` cannot be `maybe` (policy.toml:2:14)"),
        ("version = 1\nfiles.jail = 1", "RF-C003: `files.jail` has the wrong type (policy.toml:2:14)"),
        ("version = 1\nlimits.memory = 4", "RF-C003: `limits.memory` has the wrong type (policy.toml:2:17)"),
        (
            "version = 1\nlimits.memory = \"4\"",
            "RF-C004: `limits.memory` has a value that is not accepted (policy.toml:2:17)",
        ),
        ("version = 1\nlimits.steps = -1", "RF-C004"),
        ("version = 1\nlimits.cost-usd.hour = nan", "RF-C004"),
        ("version = 1\nlimits.wall-clock = \"0s\"", "RF-C004"),
        (
            "version = 1\nfiles.forbidden = [\"a\", \"b/../c\"]",
            "RF-C005: `files.forbidden`: `..` cannot be part",
        ),
        ("version = 1\nfiles.forbidden = [\"a**\"]", "RF-C005"),
        (
            "version = 1\nfiles.read.allow = [\"**\", \"!secrets/**\"]",
            "RF-C005: `files.read.allow`: a leading `!`",
        ),
        ("version = 1\nfiles.read.deny = [\"~root/**\"]", "RF-C005"),
        ("version = 1\nfiles.read.deny = [\"$HOME/.ssh/**\"]", "RF-C005"),
        ("version = 1\nfiles.read.deny = [\"${HOME}/.ssh/**\"]", "RF-C005"),
        ("version = 1\nfiles.read.deny = [\"re:(\"]", "RF-C006"),
        ("version = 1\nnetwork.allow = [\"*\"]", "RF-C007: `network.allow`: `*` may only stand alone"),
        ("version = 1\nnetwork.allow = [\"*.com\"]", "RF-C007"),
        ("version = 1\nnetwork.allow = [\"https://a.com\"]", "RF-C007"),
        (
            "version = 1\ntools.deny = [\"exce\"]",
            "RF-C013: `tools.deny`: there is no tool `exce` (policy.toml:2:15)",
        ),
        ("version = 1\ntools.deny = [\"group:memroy\"]", "RF-C013: `tools.deny`: there is no group `memroy`"),
        ("version = 1\ntools.allow = [\"exce\"]", "RF-C013"),
        ("version = 1\ntools.profile = \"codign\"", "RF-C004: `tools.profile` cannot be `codign`"),
        (
            "version = 1\njail.profile = \"readnoly\"",
            "RF-C013: there is no profile `readnoly` (policy.toml:2:16)",
        ),
        ("version = 1\njail.read-only = [\"opt\"]", "RF-C004"),
        (
            "version = 1\njail.unprotected = [\"CLAUD.md\"]",
            "RF-C004: `jail.unprotected`: `CLAUD.md` is not a protected name; do you mean `CLAUDE.md`?",
        ),
        ("version = 1\njail.unprotected = \"CLAUDE.md\"", "RF-C003"),
        ("version = 1\njail.read-only = [\"/a/../b\"]", "RF-C004"),
        ("version = 1\njail.read-only = [\"/a/${X}\"]", "RF-C004"),
        ("version = 1\njail.read-only = [\"/a\", \"/a/\"]", "RF-C009: the same directory is listed twice"),
        ("version = 1\njail.toolchains = [\"pyhton\"]", "RF-C004: `jail.toolchains` cannot be `pyhton`"),
        ("version = 1\njail.toolchains = \"all\"", "RF-C004: `jail.toolchains` cannot be `all`"),
        ("version = 1\njail.toolchains = true", "RF-C003: `jail.toolchains` has the wrong type"),
        ("version = 1\njail.ports-in = [\"80\"]", "RF-C004: `jail.ports-in`: a port of the host below 1024"),
        ("version = 1\njail.ports-out = [\"x\"]", "RF-C004: `jail.ports-out`: a port is written HOST"),
        ("version = 1\njail = { read-only = [\"/a\"], shared = [\"/a\"] }", "RF-C009: the directory is both"),
        ("version = 1\n[[rules]]\ntool = \"exec\"", "RF-C014: `rules.action` is missing"),
        ("version = 1\n[[rules]]\naction = \"deny\"", "RF-C014: the rule has no subject"),
        (
            "version = 1\n[[rules]]\naction = \"deny\"\npath = \"a\"\nhost = \"a.com\"",
            "RF-C004: the rule has path and host at once",
        ),
        (
            "version = 1\n[[rules]]\naction = \"dney\"\npath = \"a\"",
            "RF-C004: `rules.action` cannot be `dney`",
        ),
        ("version = 1\n[[rules]]\naction = \"deny\"\ntool = \"exce\"", "RF-C013"),
        (
            "version = 1\n[[rules]]\naction = \"deny\"\ncommand = \"git push\"\nmatch = [\"git pull\"]",
            "RF-C008: the rule should match `git pull`, but it does not (policy.toml:5:10)",
        ),
        (
            "version = 1\n[[rules]]\naction = \"deny\"\npath = \"secrets/**\"\nnot-match = [\"secrets/a\"]",
            "RF-C008: the rule should not match `secrets/a`, but it does (policy.toml:5:14)",
        ),
        (
            "version = 1\n[[rules]]\naction = \"allow\"\nhost = \"*.a.com\"\nmatch = [\"a.com\"]",
            "RF-C008: the rule should match `a.com`",
        ),
        ("version = 1\ncommands.deny = [\"git log && rm\"]", "RF-C005: `commands.deny`: `&` means something"),
        ("version = 1\ncommands.deny = [\"re:(\"]", "RF-C006"),
        (
            "version = 1\ncommands.deny = [\"rm /etc/a**\"]",
            "RF-C005: `commands.deny`: the path in the pattern",
        ),
        (
            "version = 1\ncommands.approve = [\"git push\", \"Bsah(git push:*)\"]",
            "RF-C013: `commands.approve`: there is no rule on `Bsah` (policy.toml:2:33)",
        ),
        ("version = 1\ncommands.allow = [\"WebFetch(domain:*.com)\"]", "RF-C007"),
        ("version = 1\ncommands.mode = \"strcit\"", "RF-C004: `commands.mode` cannot be `strcit`"),
        ("version = 1\ncommands.deny-commands = []", "RF-C002: unknown key `commands.deny-commands`"),
        (
            "version = 1\ncommands.findings = { RF-S099 = \"deny\" }",
            "RF-C013: there is no finding `RF-S099` (policy.toml:2:23)",
        ),
        ("version = 1\ncommands.findings = { RF-F001 = \"deny\" }", "RF-C013: there is no finding `RF-F001`"),
        (
            "version = 1\ncommands.findings = { RF-S001 = \"ask\" }",
            "RF-C004: `commands.findings.RF-S001` cannot be `ask` (policy.toml:2:33)",
        ),
        ("version = 1\ncommands.findings = { RF-S018 = \"allow\" }", "RF-C004"),
        ("version = 1\ncommands.findings = { RF-R003 = \"allow\" }", "RF-C004"),
        ("version = 1\ncommands.findings = { RF-S004 = \"never\" }", "RF-C004"),
        (
            "version = 1\n[[rules]]\naction = \"deny\"\nrule = \"git push\"",
            "RF-C013: `rules.rule`: there is no rule on `git push`",
        ),
        (
            "version = 1\n[[rules]]\naction = \"deny\"\nrule = \"Bash(a)\"\ncommand = \"a\"",
            "RF-C004: the rule has rule and command at once",
        ),
        (
            "version = 1\n[[rules]]\naction = \"deny\"\nrule = \"Bash(a)\"\ntool = \"exec\"",
            "RF-C004: the rule has rule and tool at once",
        ),
        (
            "version = 1\n[[rules]]\naction = \"deny\"\nrule = \"Bash(git push)\"\nmatch = [\"git push x\"]",
            "RF-C008",
        ),
        ("version = 1\n[profiles.x]\nextends = \"readonly\"\ncommands = \"of\"", "RF-C004"),
        (
            "version = 1\n[[secrets]]\nname = \"a\"\nhost = \"a.com\"\ninject = {}",
            "RF-C004: a secret needs exactly one way of injection",
        ),
        (
            "version = 1\n[[secrets]]\nname = \"a\"\nhost = \"a.com\"\nfrom = \"A\"\ninject = { bearer = true }",
            "RF-C004",
        ),
        (
            "version = 1 # \u{202e}evil",
            "RF-C016: the file contains the invisible or control character U+202E (policy.toml:1:15)",
        ),
        ("version = 1\nfiles.forbidden = [\"a\\u0000\"]", "RF-C016"),
    ];
    for (text, expected) in rows {
        let found = first(text);
        assert!(found.starts_with(expected), "{text:?}\n  said {found}\n  want {expected}");
    }
}

#[test]
fn problems_name_the_nearest_word() {
    let rows = [
        ("version = 1\n[netwrok]", "did you mean `network`?"),
        ("version = 1\n[files]\nabsolute_paths = true", "did you mean `absolute-paths`?"),
        ("version = 1\nnetwork.unknown = \"dney\"", "did you mean \"deny\"?"),
        ("version = 1\n[limits]\nzzzzzzzz = 1", "known here: wall-clock"),
    ];
    for (text, expected) in rows {
        let problems = user(text).map(drop).unwrap_err();
        let label = &problems.0[0].place.as_ref().unwrap().label;
        assert!(label.contains(expected), "{text}: {label}");
    }
    let problems = user("version = 1\ncommands.deny = [\"Bsah(x)\"]").map(drop).unwrap_err();
    assert_eq!(problems.0[0].hints, ["did you mean `Bash`?"]);
    let problems = user("version = 1\ntools.deny = [\"exce\"]").map(drop).unwrap_err();
    assert_eq!(problems.0[0].hints, ["did you mean `exec`?"]);
}

#[test]
fn a_home_that_is_not_known_is_no_home() {
    let places = Places { home: None, ..places(Path::new("/ws")) };
    for text in [
        "commands.deny = [\"rm ~/x\"]",
        "commands.deny = [\"Read(~/x)\"]",
        "commands.deny = [\"Bash(rm ~/x)\"]",
    ] {
        let source = Source::new(Scope::User, Path::new("policy.toml"), format!("version = 1\n{text}"));
        let code = code(from_sources(vec![source], &places));
        assert!(matches!(code, Code::BadValue | Code::BadGlob), "{text}: {code}");
    }
}

#[test]
fn all_problems_are_reported_at_once() {
    let problems = user("version = 1\nfiles.jail = 1\nnetwork.unknown = 2\ntools.deny = [\"x1\", \"x2\"]")
        .map(drop)
        .unwrap_err();
    assert_eq!(problems.0.len(), 4, "{problems}");
}

/// NUL and bidi characters in every text of the schema.
#[test]
fn no_text_may_hide_anything() {
    let mut tried = 0;
    texts(ROOT, "", &mut |path, kind| {
        for bad in ["\\u0000", "\\u202E", "\\u200B", "\\u001B"] {
            let value = match kind {
                Kind::List(_) => format!("[\"a{bad}\"]"),
                _ => format!("\"a{bad}\""),
            };
            let text = format!(
                "version = 1\n{path} = {value}{}",
                path.chars().filter(|c| *c == '{').map(|_| " }]").collect::<String>()
            );
            let problems = user(&text).map(drop).expect_err(&text);
            assert!(
                problems.0.iter().any(|problem| problem.code == Code::MisleadingText),
                "{text}\n{problems}"
            );
            tried += 1;
        }
    });
    assert!(tried > 100, "{tried}");
}

/// Calls `visit` with every text of the schema, as a path that can stand before ` = value`.
fn texts(keys: &'static [Key], path: &str, visit: &mut dyn FnMut(&str, Kind)) {
    for key in keys {
        let path = format!("{path}{}", key.name);
        match key.kind {
            Kind::Text(_) | Kind::List(_) => visit(&path, key.kind),
            Kind::Table(keys) => texts(keys, &format!("{path}."), visit),
            Kind::Named(keys) => texts(keys, &format!("{path}.n."), visit),
            Kind::Map(_) => visit(&format!("{path}.n"), Kind::Text(ringfence_config::schema::Text::Words)),
            // One level of an array of tables, written inline.
            Kind::Tables(keys) if !path.contains('{') => texts(keys, &format!("{path} = [{{ "), visit),
            _ => {}
        }
    }
}

#[test]
fn bombs_are_refused_quickly() {
    let many =
        |count: usize| format!("version = 1\n{}", "[[rules]]\npath=\"a\"\naction=\"deny\"\n".repeat(count));
    let rows = [
        many(10_001),
        format!("version = 1\nfiles.forbidden = [\"{}\"]", "*".repeat(10_000)),
        format!("version = 1\nfiles.forbidden = [\"{}\"]", "*a".repeat(10_000)),
        format!("version = 1\nfiles.forbidden = [\"{}\"]", "{".repeat(8_000)),
        "version = 1\nfiles.read.deny = [\"re:(a{1000}){1000}\"]".to_owned(),
        "version = 1\nfiles.read.deny = [\"re:((a*)*)*b{99999}\"]".to_owned(),
        format!("version = 1\nx = {}", "[".repeat(100_000)),
        format!("version = 1\n{} = 1", vec!["a"; 50_000].join(".")),
        "\u{feff}\u{feff}version = 1".to_owned(),
        format!(
            "version = 1\n[[rules]]\npath = \"*a*\"\naction = \"deny\"\nmatch = [\"{}\"]",
            "a".repeat(513)
        ),
    ];
    for text in rows {
        assert!(user(&text).is_err(), "{}", &text[..text.len().min(80)]);
    }
    // Patterns that are merely large are fine.
    user(&format!("version = 1\nfiles.forbidden = [\"{}\"]", "*a".repeat(2_000))).map(drop).unwrap();
    user(&many(10_000)).map(drop).unwrap();
}

#[test]
fn the_whole_sample_loads_and_shows_again() {
    let sample = include_str!("samples/everything.toml");
    let settings = user(sample).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(settings.examples.iter().all(|example| example.outcome == ringfence_config::Outcome::Holds));
    let shown = render(&settings);
    let again = user(&shown).unwrap_or_else(|problems| panic!("{problems}\n{shown}"));
    assert_eq!(render(&again), shown, "what is shown is a policy that says the same");
    let (changes, compared) = ringfence_config::diff(&settings, &again, &[]);
    assert!(changes.is_empty() && compared > 50, "{changes:?}");
}

fn render(settings: &Settings) -> String {
    let mut lines = Vec::new();
    let mut current = (String::new(), None);
    for row in ringfence_config::rows(settings) {
        if (row.table.clone(), row.entry) != current {
            lines.push(if row.entry.is_some() {
                format!("[[{}]]", row.table)
            } else {
                format!("[{}]", row.table)
            });
            current = (row.table.clone(), row.entry);
        }
        lines.push(format!("{} = {}", row.name, row.toml));
    }
    lines.join("\n")
}

struct Place {
    directory: tempfile::TempDir,
    places: Places,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let workspace = directory.path().canonicalize().unwrap().join("ws");
        fs::create_dir(&workspace).unwrap();
        let places = places(&workspace);
        Self { directory, places }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    fn user(&self, file: &Path) -> Result<Settings, Problems> {
        load(&Files { managed: None, user: Some(file.into()), project: None }, &self.places)
    }

    fn project(&self) -> Result<Settings, Problems> {
        let project = Some(self.path("ws/ringfence.toml"));
        load(&Files { managed: None, user: None, project }, &self.places)
    }
}

fn code(result: Result<Settings, Problems>) -> Code {
    result.map(drop).unwrap_err().0[0].code
}

#[test]
fn files_that_others_could_change_are_not_used() {
    let place = Place::new();
    let file = place.write("policy.toml", "version = 1\nnetwork.unknown = \"deny\"");
    place.user(&file).map(drop).unwrap();

    symlink(&file, place.path("linked.toml")).unwrap();
    place.user(&place.path("linked.toml")).map(drop).expect("a linked dotfile works");

    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(code(place.user(&file)), Code::UntrustedFile, "writable by others");
    assert_eq!(code(place.user(&place.path("linked.toml"))), Code::UntrustedFile, "also behind a link");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();

    fs::set_permissions(place.path("."), fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(code(place.user(&file)), Code::UntrustedFile, "in a directory that others can write");
    fs::set_permissions(place.path("."), fs::Permissions::from_mode(0o700)).unwrap();

    let inside = place.write("ws/mine.toml", "version = 1");
    assert_eq!(code(place.user(&inside)), Code::UntrustedFile, "in the workspace");
    symlink(&inside, place.path("into-workspace.toml")).unwrap();
    assert_eq!(
        code(place.user(&place.path("into-workspace.toml"))),
        Code::UntrustedFile,
        "linked into the workspace"
    );

    symlink("nowhere", place.path("dangling.toml")).unwrap();
    assert_eq!(
        code(place.user(&place.path("dangling.toml"))),
        Code::UnreadableFile,
        "a dangling link is not an absent file"
    );
    fs::create_dir(place.path("directory.toml")).unwrap();
    assert_eq!(code(place.user(&place.path("directory.toml"))), Code::UntrustedFile);
    rustix::fs::mknodat(rustix::fs::CWD, place.path("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    assert_eq!(code(place.user(&place.path("fifo"))), Code::UntrustedFile, "a pipe does not block");
    place.user(&place.path("absent.toml")).map(drop).expect("no file is no layer");
    place.user(&place.path("policy.toml/x")).map(drop).expect("no file is no layer");
}

#[test]
fn files_of_somebody_else_are_not_used() {
    if !rustix::process::geteuid().is_root() {
        skipped("a policy of somebody else", "only root can give files away");
        return;
    }
    let place = Place::new();
    let file = place.write("policy.toml", "version = 1");
    std::os::unix::fs::chown(&file, Some(54321), None).unwrap();
    assert_eq!(code(place.user(&file)), Code::UntrustedFile);
}

#[test]
fn a_group_of_ones_own_is_nobody_else() {
    let place = Place::new();
    let file = place.write("policy.toml", "version = 1");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
    let metadata = fs::metadata(&file).unwrap();
    let own =
        std::os::unix::fs::MetadataExt::gid(&metadata) == std::os::unix::fs::MetadataExt::uid(&metadata);
    assert_eq!(place.user(&file).is_ok(), own);
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&file, None, Some(54321)).unwrap();
        assert_eq!(code(place.user(&file)), Code::UntrustedFile, "a group of others");
    }
}

#[test]
fn unreadable_and_oversized_files_stop_everything() {
    let place = Place::new();
    let large = place.write("large.toml", &format!("version = 1\n#{}", "x".repeat(10 << 20)));
    assert_eq!(code(place.user(&large)), Code::TooLarge);
    let binary = place.path("binary.toml");
    fs::write(&binary, b"version = 1 # \xff").unwrap();
    assert_eq!(code(place.user(&binary)), Code::NotToml);
    if !rustix::process::geteuid().is_root() {
        let secret = place.write("secret.toml", "version = 1");
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
        assert_eq!(code(place.user(&secret)), Code::UnreadableFile);
    }
}

#[test]
fn the_project_file_is_a_plain_file() {
    let place = Place::new();
    place.project().map(drop).expect("no file is no layer");
    place.write("ws/ringfence.toml", "version = 1\nnetwork.unknown = \"deny\"");
    place.project().map(drop).unwrap();
    let secret = place.write("secret", "password");
    fs::remove_file(place.path("ws/ringfence.toml")).unwrap();
    symlink(secret, place.path("ws/ringfence.toml")).unwrap();
    let problems = place.project().map(drop).unwrap_err();
    assert_eq!(problems.0[0].code, Code::UntrustedFile);
    assert!(!problems.to_string().contains("password"));
}
