//! Everyday setup of a user: variables, company settings, git, man.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use stage::{Stage, ended, has, skipped};

/// Writes a file of the stage.
fn put(stage: &Stage, name: &str, text: &str) {
    let path = stage.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_value_that_was_typed_enters_and_one_of_the_caller_by_its_name() {
    let Some(stage) = Stage::new() else { return };
    let rows = [
        ("PYTHONPATH", "src"),
        ("NODE_OPTIONS", "--max-old-space-size=4096"),
        ("TOKEN_COUNT", "5"),
        ("DATABASE_URL", "postgres://app:pw@127.0.0.1/test"),
        ("HTTPS_PROXY", "http://127.0.0.1:3128"),
        ("LD_LIBRARY_PATH", "/opt/lib"),
        ("SSL_CERT_FILE", "/opt/ca.crt"),
    ];
    for (name, value) in rows {
        let mut command = stage.script(&format!("--env {name}={value}"), &format!("echo \"${name}\""));
        let typed = ended(&mut command);
        assert_eq!((typed.code, typed.out.trim()), (Some(0), value), "{typed:?}");
        let mut command = stage.script(&format!("--env {name}"), &format!("echo \"${name}\""));
        let inherited = ended(command.env(name, value));
        assert_eq!(inherited.code, Some(126), "{name}: {inherited:?}");
        assert!(inherited.err.contains("NAME=VALUE"), "{inherited:?}");
        assert!(!inherited.err.contains(value), "{inherited:?}");
    }
    for text in ["HOME=/root", "RINGFENCE=0", "1X=1", "A-B=1"] {
        assert_eq!(stage.run(&format!("--env {text}"), "true").code, Some(126), "{text}");
    }
}

const CERTIFICATE: &str =
    "-----BEGIN CERTIFICATE-----\nMIID0123456789abcdefghij\n-----END CERTIFICATE-----\n";

/// Settings that name certificates and mirrors are visible, together with the certificates; those with a
/// token are not.
#[test]
fn settings_of_a_company_are_read_inside() {
    let Some(stage) = Stage::new() else { return };
    put(&stage, "beside/corp.crt", CERTIFICATE);
    let corp = stage.path("beside/corp.crt");
    let corp = corp.display();
    let settings = [
        (
            "home/.config/pip/pip.conf",
            format!("[global]\ncert = {corp}\nindex-url = https://pypi.corp.example/\n"),
        ),
        ("home/.npmrc", format!("cafile={corp}\nregistry=https://npm.corp.example/\nalways-auth=true\n")),
        (
            "home/.cargo/config.toml",
            format!(
                "[http]\ncainfo = \"{corp}\"\n[source.crates-io]\nreplace-with = \"corp\"\n[source.corp]\n\
                 registry = \"sparse+https://cargo.corp.example/index/\"\n[registries.corp]\n\
                 credential-provider = [\"cargo:token\"]\n"
            ),
        ),
    ];
    for (name, text) in &settings {
        put(&stage, name, text);
    }
    for (name, text) in &settings {
        let inside = ended(&mut stage.unseen("", &format!("cat ~/{}", &name["home/".len()..])));
        assert_eq!(&inside.out, text, "{inside:?}");
    }
    let inside = ended(&mut stage.unseen("", &format!("cat {corp}")));
    assert_eq!(inside.out, CERTIFICATE, "{inside:?}");
    put(&stage, "home/.npmrc", &format!("cafile={corp}\n//npm.corp.example/:_authToken=abc\n"));
    let inside = ended(&mut stage.unseen("-v", "cat ~/.npmrc"));
    assert!(!inside.out.contains("abc") && inside.err.contains("held a secret"), "{inside:?}");
}

/// Credentials inside a visible installation are hidden.
#[test]
fn credentials_inside_installations_are_hidden() {
    let Some(stage) = Stage::new() else { return };
    let rows = [
        ("miniconda3/.condarc", "channels:\n  - https://conda.corp.example/t/ab-12/main\n"),
        ("miniconda3/envs/x/pip.conf", "[global]\nindex-url = https://me:hunter2@pypi.corp.example/\n"),
        (".nvm/versions/node/v22.1.0/etc/npmrc", "//npm.corp.example/:_authToken=abc\n"),
        (".local/share/fnm/node-versions/v22/installation/etc/npmrc", "_auth=abc\n"),
        (".volta/tools/image/node/22.1.0/etc/npmrc", "_password=abc\n"),
        (".asdf/installs/nodejs/22.1.0/etc/npmrc", "_authToken=abc\n"),
    ];
    for (name, text) in rows {
        put(&stage, &format!("home/{name}"), text);
        let beside = format!("home/{}", name.rsplit_once('/').unwrap().0);
        put(&stage, &format!("{beside}/plain"), "plain\n");
    }
    for (name, text) in rows {
        let directory = name.rsplit_once('/').unwrap().0;
        let inside = ended(&mut stage.unseen("", &format!("cat ~/{name} ~/{directory}/plain")));
        assert_eq!((inside.code, inside.out.as_str()), (Some(0), "plain\n"), "{name}: {text} {inside:?}");
    }
}

/// Git takes the user's name from a linked file, and does not sign, because there is no key inside; `-v`
/// reports that.
#[test]
fn git_commits_with_linked_settings_that_sign() {
    let Some(stage) = Stage::new().filter(|_| has("git", "git")) else { return };
    let text = "[user]\n\tname = Ann\n\temail = ann@example.org\n[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n";
    put(&stage, "home/dotfiles/gitconfig", text);
    symlink("dotfiles/gitconfig", stage.path("home/.gitconfig")).unwrap();
    let script = "git init -q . && git commit -q --allow-empty -m one && git tag -a -m t one && git log --format=%an:%G?";
    let inside = stage.run("-v", script);
    assert_eq!((inside.code, inside.out.trim()), (Some(0), "Ann:N"), "{inside:?}");
    assert!(inside.err.contains("git signs nothing in this run"), "{inside:?}");
    let explained = stage.run("--explain-denials", "git config user.name");
    assert_eq!((explained.out.trim(), explained.err.contains(".gitconfig")), ("Ann", false), "{explained:?}");
    let quiet = stage.run("", "git commit -q --allow-empty -m two");
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""), "{quiet:?}");
    let signed = stage.run("", "git commit -S -q --allow-empty -m three");
    assert_ne!(signed.code, Some(0), "{signed:?}");
}

/// A link that the agent could have made does not make its target visible.
#[test]
fn a_planted_link_is_not_followed_to_settings() {
    let Some(stage) = Stage::new() else { return };
    put(&stage, "home/private/notes", "[user]\n\tname = private\n");
    symlink(stage.path("home/private/notes"), stage.path("ws/gitconfig")).unwrap();
    symlink(stage.path("ws/gitconfig"), stage.path("home/.gitconfig")).unwrap();
    let inside = ended(&mut stage.unseen("", "cat ~/.gitconfig ~/private/notes; true"));
    assert!(!inside.out.contains("private"), "{inside:?}");
}

#[test]
fn man_shows_a_page() {
    let Some(stage) = Stage::new().filter(|_| has("man", "man")) else { return };
    let mut outside = Command::new("/usr/bin/man");
    let outside = ended(stage.surround(&mut outside).arg("man"));
    if outside.code != Some(0) || !outside.out.contains("NAME") {
        return skipped("man", "there is no page of man itself");
    }
    let inside = stage.run("", "man man");
    assert_eq!((inside.code, inside.out), (Some(0), outside.out), "{}", inside.err);
    assert!(inside.err.is_empty(), "{}", inside.err);
}

/// Reduced enforcement is accepted by the layer's name on the command line, and only as far as other policies
/// allow.
#[test]
fn gaps_are_accepted_by_name() {
    let Some(stage) = Stage::new() else { return };
    let refused = stage.run("--provider landlock", "true");
    if refused.err.contains("RF-J002") {
        return skipped("--provider landlock", &refused.err);
    }
    assert_eq!(refused.code, Some(125), "{refused:?}");
    assert!(refused.err.contains("--accept-partial files"), "{refused:?}");
    let one = stage.run("--provider landlock --accept-partial files", "true");
    assert!(one.err.contains("--accept-partial processes"), "{one:?}");
    let both = "--provider landlock --accept-partial files --accept-partial processes";
    let accepted = stage.run(both, "true");
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    fs::write(stage.path("ws/ringfence.toml"), "version = 1\njail.profile = \"workspace-write\"\n").unwrap();
    let bounded = stage.run(both, "true");
    assert_eq!(bounded.code, Some(126), "{bounded:?}");
    assert!(bounded.err.contains("cannot widen require.files"), "{bounded:?}");
}
