//! Decisions of policies, and remarks of lint about them.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::path::Path;

use policy::{Code, Effect, Location};
use ringfence_config::{Places, Sample, Scope, Settings, Source, diff, from_sources, lint};

fn places() -> Places {
    let home = Some("/home/me".into());
    Places { workspace: "/ws".into(), state: home.clone(), home, run: None }
}

fn user(text: &str) -> Settings {
    let source = Source::new(Scope::User, Path::new("policy.toml"), format!("version = 1\n{text}\n"));
    from_sources(vec![source], &places()).unwrap_or_else(|problems| panic!("{text}\n{problems}"))
}

#[test]
fn decisions() {
    use Effect::{Allow, Ask, Deny};
    let rows = [
        // Files.
        ("", "read src/a", Allow, Code::FilesDefault),
        ("", "write src/a", Allow, Code::FilesDefault),
        ("", "read a/.ENV", Deny, Code::ForbiddenName),
        ("", "write ringfence.toml", Deny, Code::OwnPolicyFile),
        ("", "write RingFence.TOML", Deny, Code::OwnPolicyFile),
        ("", "write /ws/ringfence.toml", Deny, Code::OwnPolicyFile),
        ("", "read ringfence.toml", Allow, Code::FilesDefault),
        ("", "read /etc/passwd", Deny, Code::OutsideWorkspace),
        ("", "load skills/a", Allow, Code::FilesDefault),
        ("jail.read-only = [\"/opt\"]", "read /opt/a", Allow, Code::FilesDefault),
        ("jail.read-only = [\"/opt\"]", "write /opt/a", Deny, Code::OutsideWorkspace),
        ("jail.shared = [\"~/shared\"]", "write ~/shared/a", Allow, Code::FilesDefault),
        ("files.absolute-paths = false", "read /ws/a", Deny, Code::AbsolutePath),
        ("files.jail = \"ask\"", "read /etc/hosts", Ask, Code::OutsideWorkspace),
        ("files.jail = false\nfiles.read.deny = [\"/etc/**\"]", "read /etc/hosts", Deny, Code::FilesRule),
        (
            "files.jail = false\nfiles.read.deny = [\"~/.config/**\"]",
            "read ~/.config/x",
            Deny,
            Code::FilesRule,
        ),
        ("files.read.deny = [\"/ws/secrets/**\"]", "read secrets/a", Deny, Code::FilesRule),
        ("files.read.deny = [\"secrets/**\"]", "read secrets", Deny, Code::FilesRule),
        (
            "files.read = { default = \"deny\", allow = [\"**\"] }\nfiles.jail = false",
            "read /etc/hosts",
            Deny,
            Code::FilesDefault,
        ),
        ("files.read = { default = \"ask\", allow = [\"a\"] }", "read a", Allow, Code::FilesRule),
        ("files.read = { default = \"ask\", allow = [\"a\"] }", "write a", Allow, Code::FilesDefault),
        // Redirections of compound commands, of functions and of nothing.
        ("", "exec { echo x; } > ringfence.toml", Deny, Code::OwnPolicyFile),
        ("", "exec > ringfence.toml", Deny, Code::OwnPolicyFile),
        ("", "exec { cat; } < .env", Deny, Code::ForbiddenName),
        ("", "exec while read l; do :; done < .env", Deny, Code::ForbiddenName),
        ("", "exec f() { cat; }; f < .env", Deny, Code::ForbiddenName),
        ("", "exec { echo x; } > out", Allow, Code::CommandDefault),
        ("files.write.deny = [\"db/**\"]", "exec (echo x) > db/a", Deny, Code::FilesRule),
        ("files.read.deny = [\"db/**\"]", "exec if true; then cat; fi < db/a", Deny, Code::FilesRule),
        ("commands = { default = \"ask\", allow = [\"echo\"] }", "exec { echo x; } > out", Allow, Code::Rule),
        (
            "commands = { default = \"ask\", allow = [\"echo\"] }",
            "exec { echo x; } > /srv/x",
            Ask,
            Code::CommandDefault,
        ),
        ("commands.deny = [\"*\"]", "exec > src/a", Deny, Code::Rule),
        // Homes with wildcards.
        ("commands.deny = [\"cat ~/.bashrc\"]", "exec cat ~/.bash*", Deny, Code::Rule),
        ("commands.deny = [\"cat ~/.bashrc\"]", "exec cat ~/*", Deny, Code::Rule),
        ("commands.deny = [\"cat /etc/**\"]", "exec cat ~/src/*", Allow, Code::CommandDefault),
        ("commands.deny = [\"rm -rf\"]", "exec rm *.o", Allow, Code::CommandDefault),
        // Hosts.
        ("", "connect example.com", Ask, Code::UnknownHost),
        ("", "connect localhost", Deny, Code::PrivateAddress),
        ("", "connect 10.0.0.1", Deny, Code::PrivateAddress),
        ("network.allow = [\"10.0.0.1\"]", "connect 10.0.0.1", Allow, Code::HostRule),
        ("network.allow = [\"localhost:8080\"]", "connect localhost:8080", Allow, Code::HostRule),
        ("network.allow = [\"localhost:8080\"]", "connect localhost:8081", Deny, Code::PrivateAddress),
        ("network.allow = [\"*.lan\"]", "connect printer.lan", Allow, Code::HostRule),
        ("network.allow = [\"re:.*\"]", "connect example.com", Allow, Code::HostRule),
        ("network.allow = [\"re:.*\"]", "connect 10.0.0.1", Deny, Code::PrivateAddress),
        ("[[rules]]\ntool = \"web_fetch\"\naction = \"allow\"", "connect example.com", Allow, Code::Rule),
        (
            "[[rules]]\ntool = \"web_fetch\"\naction = \"allow\"",
            "connect 10.0.0.1",
            Deny,
            Code::PrivateAddress,
        ),
        ("network.allow = [\"169.254.169.254\"]", "connect 169.254.169.254", Deny, Code::MetadataAddress),
        ("network.unknown = \"deny\"", "connect example.com", Deny, Code::UnknownHost),
        // Tools.
        ("", "call exec", Allow, Code::ToolGranted),
        ("", "call browser", Deny, Code::ToolNotInProfile),
        ("tools.deny = [\"group:coding\"]", "call exec", Deny, Code::ToolDenied),
        ("[[rules]]\ntool = \"read_file\"\naction = \"deny\"", "call read_file", Deny, Code::Rule),
        ("[[rules]]\ntool = \"read_file\"\naction = \"deny\"", "read src/a", Deny, Code::Rule),
        ("[[rules]]\ntool = \"exec\"\naction = \"ask\"", "call exec", Ask, Code::Rule),
        // Commands.
        ("", "exec make", Allow, Code::CommandDefault),
        ("commands.default = \"ask\"", "exec make", Ask, Code::CommandDefault),
        ("commands.default = \"deny\"", "exec make", Deny, Code::CommandDefault),
        ("", "exec $X make", Ask, Code::Unprovable),
        ("[[rules]]\ncommand = \"make\"\naction = \"allow\"", "exec make test", Allow, Code::Rule),
        ("[[rules]]\ncommand = \"make\"\naction = \"allow\"", "exec $X make", Ask, Code::Unprovable),
    ];
    for (text, line, effect, code) in rows {
        let decision = user(text).decide(&Sample::parse(line, &places()).unwrap().request());
        assert_eq!((decision.effect(), decision.reason().code), (effect, code), "{text}: {line}");
    }
}

#[test]
fn every_denial_names_its_line() {
    let settings = user("[[rules]]\npath = \"a\"\naction = \"deny\"\nreason = \"not yours\"");
    let decision = settings.decide(&Sample::parse("read a", &places()).unwrap().request());
    let reason = decision.reason();
    assert_eq!(reason.rule.as_ref().unwrap().to_string(), "policy.toml:2");
    assert_eq!(&*reason.text, "not yours");
    assert!(reason.remedy.is_some());
}

fn codes(text: &str) -> Vec<&'static str> {
    lint(&user(text)).iter().map(|remark| remark.code.id()).collect()
}

#[test]
fn lint_finds_rules_that_do_not_do_what_they_seem_to() {
    let rows: &[(&str, &[&str])] = &[
        ("", &[]),
        // Never match.
        ("[[rules]]\ntool = \"read\"\ncommand = \"make\"\naction = \"deny\"", &["RF-L001"]),
        ("[[rules]]\ntool = \"grep\"\nhost = \"a.com\"\naction = \"deny\"", &["RF-L001"]),
        ("[[rules]]\ntool = \"web_fetch\"\nhost = \"a.com\"\naction = \"deny\"", &[]),
        // Never decide.
        ("files.read = { deny = [\"src/**\"], allow = [\"src/a\"] }", &["RF-L002"]),
        (
            "[[rules]]\npath = \"a/b\"\naction = \"ask\"\n[[rules]]\npath = \"a/**\"\naction = \"deny\"",
            &["RF-L002"],
        ),
        ("[[rules]]\npath = \"**/.env\"\naction = \"allow\"", &["RF-L002"]),
        ("[[rules]]\npath = \"/etc/hosts\"\naction = \"deny\"", &[]),
        ("files.read.deny = [\"/Cargo.lock\"]", &[]),
        ("[[rules]]\ntool = \"web_fetch\"\naction = \"allow\"", &[]),
        ("network = { allow = [\"a.com\"], deny = [\"a.com\"] }", &["RF-L002"]),
        (
            "[[rules]]\ncommand = \"git push\"\naction = \"ask\"\n[[rules]]\ncommand = \"git\"\naction = \"deny\"",
            &["RF-L002"],
        ),
        ("network.allow = [\"169.254.169.254\"]", &["RF-L002"]),
        // Change nothing.
        ("files.write.allow = [\"src/**\"]", &["RF-L007"]),
        ("files.write = { default = \"ask\", allow = [\"src/**\"] }", &[]),
        ("[[rules]]\npath = \"docs/a\"\naction = \"allow\"", &["RF-L007"]),
        // Wider than they look.
        ("files.read = { default = \"ask\", allow = [\"**\"] }", &["RF-L003"]),
        ("network.allow = [\"re:.*\"]", &["RF-L003"]),
        ("network.allow = [\"*.github.io\"]", &["RF-L003"]),
        ("network.allow = [\"filebin.net\"]", &["RF-L003"]),
        ("network.allow = [\"github.com\"]", &[]),
        ("[[rules]]\ncommand = \"strace\"\naction = \"allow\"\n[commands]\ndefault = \"ask\"", &["RF-L003"]),
        ("[[rules]]\ncommand = \"bash\"\naction = \"allow\"\n[commands]\ndefault = \"ask\"", &["RF-L003"]),
        ("[[rules]]\ncommand = \"*\"\naction = \"allow\"\n[commands]\ndefault = \"ask\"", &["RF-L003"]),
        ("[commands]\ndefault = \"ask\"\nallow = [\"Bash\"]", &["RF-L003"]),
        ("[[rules]]\ntool = \"*\"\naction = \"allow\"", &["RF-L003"]),
        ("commands = { default = \"ask\", allow = [\"cargo test\"] }", &[]),
        ("commands.allow = [\"cargo test\"]", &["RF-L007"]),
        ("commands = { deny = [\"git\"], approve = [\"git push\"] }", &["RF-L002"]),
        ("commands.deny = [\"rm -r /etc/**\", \"Bash(git push:*)\", \"re:x.*\"]", &[]),
        // An expression is searched for.
        ("[commands]\ndefault = \"ask\"\nallow = [\"re:git status\"]", &["RF-L003"]),
        ("[commands]\ndefault = \"ask\"\nallow = [\"re:^git status\"]", &["RF-L003"]),
        ("[commands]\ndefault = \"ask\"\nallow = [\"re:^git status$\"]", &[]),
        ("commands.deny = [\"re:git status\"]", &[]),
        (
            "[[rules]]\ntool = \"exec\"\nargs = { command = \"re:make\" }\naction = \"allow\"\n[commands]\ndefault = \"ask\"",
            &["RF-L003"],
        ),
        ("network.allow = [\"re:github\\\\.com\"]", &["RF-L003"]),
        ("network.allow = [\"re:^[a-z]+\\\\.github\\\\.com$\"]", &[]),
        ("network.allow = [\"re:^.*\\\\.com$\"]", &["RF-L003"]),
        // Syntax that is never among the words of a program.
        ("commands.deny = [\"re:make && make install\"]", &["RF-L001"]),
        ("commands.deny = ['re:curl .* \\| sh']", &["RF-L001"]),
        ("commands.deny = [\"re:rm  -rf\"]", &["RF-L001"]),
        ("commands.deny = ['re:rm\\s+-rf']", &[]),
        // Exceptions, and questions that have none.
        ("commands = { approve = [\"git\"], allow = [\"git status\"] }", &[]),
        ("commands = { approve = [\"cargo\"], allow = [\"cargo\"] }", &["RF-L002", "RF-L002"]),
        ("commands = { approve = [\"git\"], allow = [\"re:^git status$\"] }", &["RF-L002", "RF-L002"]),
        // Other spellings of options.
        ("commands.deny = [\"rm -rf\", \"git push --force\"]", &[]),
        ("commands.deny = [\"frobnicate --all\"]", &["RF-L006"]),
        ("commands.deny = [\"frobnicate\"]", &[]),
        // Narrower than they look.
        ("files.read.deny = [\"*.pem\"]", &["RF-L002", "RF-L006"]),
        ("files.write.deny = [\"*.lock\"]", &["RF-L006"]),
        ("files.forbidden = [\".env\"]", &["RF-L006"]),
        ("files.write.deny = [\"**/*.lock\"]", &[]),
        // Not checked, not built.
        ("[[rules]]\ncommand = \"make\"\naction = \"deny\"\nmatch = [\"a 'make\"]", &["RF-L004"]),
        ("limits.steps = 10", &["RF-L005"]),
    ];
    for (text, expected) in rows {
        assert_eq!(codes(text), *expected, "{text}\n{:?}", lint(&user(text)));
    }
}

/// A layer above decides first.
#[test]
fn what_a_layer_above_makes_void_is_told() {
    let source =
        |scope, name: &str, text: &str| Source::new(scope, Path::new(name), format!("version = 1\n{text}\n"));
    let rows = [
        ("commands.deny = [\"make\"]", "commands = { default = \"ask\", allow = [\"make\"] }"),
        ("commands.deny = [\"make\"]", "commands.approve = [\"make\"]"),
        ("commands.approve = [\"make\"]", "commands = { default = \"ask\", allow = [\"make all\"] }"),
        ("files.read.deny = [\"docs/**\"]", "files.read = { default = \"ask\", allow = [\"docs/a\"] }"),
    ];
    for (managed, user) in rows {
        let sources =
            vec![source(Scope::Managed, "managed.toml", managed), source(Scope::User, "user.toml", user)];
        let settings = from_sources(sources, &places()).unwrap_or_else(|problems| panic!("{problems}"));
        let told = lint(&settings)
            .into_iter()
            .find(|remark| remark.code == Code::Shadowed && remark.message.contains("managed.toml:2"));
        assert!(told.is_some(), "{managed} over {user}: {:?}", lint(&settings));
    }
}

#[test]
fn directories_of_programs_in_reach_are_told() {
    let settings = user("jail.shared = [\"~/tools\", \"~/data\"]");
    let path = ["/usr/bin", "/home/me/tools/bin", "/ws/node_modules/.bin"].map(Into::into);
    let told: Vec<_> = ringfence_config::programs_in_reach(&settings, &path)
        .into_iter()
        .map(|remark| remark.message)
        .collect();
    assert!(
        told.len() == 2
            && told[0].contains("/home/me/tools/bin")
            && told[1].contains("/ws/node_modules/.bin"),
        "{told:?}"
    );
    assert!(ringfence_config::programs_in_reach(&user("jail.shared = [\"~/data\"]"), &path[..2]).is_empty());
}

#[test]
fn diff_shows_which_requests_change() {
    let old = user("network.allow = [\"a.com\"]\nfiles.read.deny = [\"docs/**\"]");
    let new = user("network.allow = [\"b.com\"]\ntools.deny = [\"exec\"]\nfiles.read.deny = [\"docs/**\"]");
    let (changes, _) = diff(&old, &new, &["read docs/x".into(), "connect c.com".into()]);
    let lines: Vec<_> = changes
        .iter()
        .map(|c| format!("{} {}->{}", c.line, c.before.effect().word(), c.after.effect().word()))
        .collect();
    let expected = [
        "call exec allow->deny",
        "connect a.com:443 allow->ask",
        "connect b.com:443 ask->allow",
        "exec curl https://example.com allow->deny",
        "exec git push --force ask->deny",
        "exec git status allow->deny",
        "exec rm -rf build allow->deny",
    ];
    assert_eq!(lines, expected);
}

/// Every block of TOML in the guides is a policy.
#[test]
fn the_guides_hold() {
    let guides = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide");
    let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/../policy/manual");
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let (mut blocks, mut wrong) = (0, Vec::new());
    let entries = [guides, manual].into_iter().flat_map(|path| std::fs::read_dir(path).unwrap());
    for path in entries.map(|entry| entry.unwrap().path()).chain([readme]) {
        let text = std::fs::read_to_string(&path).unwrap();
        for block in text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
            let block = if block.contains("version = 1") {
                block.to_owned()
            } else {
                format!("version = 1\n{block}")
            };
            let source = Source::new(Scope::User, &path, block.clone());
            let loaded = from_sources(vec![source], &places());
            assert!(loaded.is_ok(), "{}\n{block}\n{}", path.display(), loaded.err().unwrap());
            let remarks = loaded.map(|settings| lint(&settings)).unwrap_or_default();
            let own: Vec<_> = remarks.iter().filter(|remark| remark.code != Code::NotBuilt).collect();
            // The manual shows what is wrong, too.
            if !own.is_empty() && !path.starts_with(manual) {
                wrong.push(format!("{}\n{block}\n{own:?}", path.display()));
            }
            blocks += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
    assert!(blocks > 10, "{blocks}");
}

/// The policies under `examples/` load, lint cleanly, and decide as their cases say.
#[test]
fn the_examples_hold() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/policies");
    let example = |name: &str| {
        let path = directory.join(name);
        let source = Source::new(Scope::User, &path, std::fs::read_to_string(&path).unwrap());
        from_sources(vec![source], &places()).unwrap_or_else(|problems| panic!("{problems}"))
    };
    for name in ["review.toml", "web-development.toml", "locked-down.toml", "commands.toml"] {
        let remarks: Vec<_> = lint(&example(name)).into_iter().filter(|r| r.code != Code::NotBuilt).collect();
        assert!(remarks.is_empty(), "{name}: {remarks:?}");
    }
    let settings = example("locked-down.toml");
    let cases = std::fs::read_to_string(directory.join("cases")).unwrap();
    for case in cases.lines().filter(|line| !line.starts_with('#')) {
        let (expected, request) = case.split_once(' ').unwrap();
        let decision = settings.decide(&Sample::parse(request, &places()).unwrap().request());
        assert_eq!(decision.effect().word(), expected, "{case}");
    }
}

/// A person exempts names of the built-in list and of their own, and none that another layer forbids.
#[test]
fn a_person_exempts_what_they_forbid_themselves() {
    type Expected<'a> = &'a [(&'a str, bool)];
    let places = Places { workspace: "/ws".into(), home: None, state: None, run: None };
    let source =
        |scope, text: &str| Source::new(scope, Path::new("p.toml"), format!("version = 1\n{text}\n"));
    let own = "files.exempt = [\"**/*.pem\", \"**/.env\"]";
    let forbids = "files.forbidden = [\"**/*.pem\"]";
    let rows: [(Vec<Source>, Expected<'_>); 5] = [
        (vec![], &[(".env", true), (".env.example", false), (".env.local.sample", false), ("a.pem", true)]),
        (vec![source(Scope::User, own)], &[(".env", false), ("a.pem", false), ("x/.env.example", true)]),
        (vec![source(Scope::Managed, forbids), source(Scope::User, own)], &[("a.pem", true)]),
        (
            vec![source(Scope::User, own), source(Scope::Project, forbids)],
            &[("a.pem", true), (".env", false)],
        ),
        (
            vec![source(Scope::Managed, &format!("{forbids}\nfiles.exempt = [\"test/**\"]"))],
            &[("a.pem", true), ("test/a.pem", false)],
        ),
    ];
    for (sources, expected) in rows {
        let settings = from_sources(sources, &places).unwrap();
        for (name, forbidden) in expected {
            let location = Location::new(Path::new("/ws"), &Path::new("/ws").join(name)).unwrap();
            assert_eq!(settings.forbidden.holds(&location), *forbidden, "{name}");
        }
    }
    // The project exempts nothing on its own.
    let refused = from_sources(vec![source(Scope::Project, own)], &places);
    assert!(refused.err().unwrap().0.iter().any(|problem| problem.code == Code::LayerWidens));
    let settings = from_sources(vec![], &places).unwrap();
    let listed: Vec<_> =
        settings.get("files.exempt").unwrap().texts().map(|(text, _)| text.to_owned()).collect();
    assert!(listed.iter().map(String::as_str).eq(policy::template_patterns()), "{listed:?}");
}
