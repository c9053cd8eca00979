//! A persistent home directory: for one project, and for no other.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use stage::{Ended, Stage, end_of, ended, has, skipped};

/// Creates a stage. Returns `None` if no layer can be mounted over it.
fn staged() -> Option<Stage> {
    let stage = Stage::new()?;
    let tried = stage.run("--keep-home", "true");
    if tried.code != Some(0) {
        skipped("--keep-home", &tried.err);
        return None;
    }
    let removed = ended(stage.command().args(["home", "remove"]));
    assert_eq!(removed.code, Some(0), "{removed:?}");
    Some(stage)
}

/// Runs a script in another workspace of the stage.
fn beside(stage: &Stage, options: &str, script: &str) -> Ended {
    ended(stage.script(options, script).current_dir(stage.path("beside")))
}

fn homes(stage: &Stage) -> Vec<PathBuf> {
    let homes = fs::read_dir(stage.path("home/.local/state/ringfence/homes"));
    homes.into_iter().flatten().map(|home| home.unwrap().path()).collect()
}

#[test]
fn a_home_is_there_again_in_the_same_project_alone() {
    let Some(stage) = staged() else { return };
    let write =
        "mkdir -p ~/.cache/tool && echo kept > ~/.cache/tool/x && echo evil > ~/.bashrc && touch ~/.profile";
    let first = ended(&mut stage.unseen("--keep-home", write));
    assert_eq!((first.code, first.err.as_str()), (Some(0), ""), "{first:?}");
    let read = "cat ~/.cache/tool/x; ls -A ~";
    let again = stage.run("--keep-home", read);
    assert_eq!(again.out, "kept\n.bashrc\n.cache\n.profile\n", "{again:?}");
    // The home is not used without the option or in another project, and the real home does not change.
    assert!(!stage.run("", read).out.contains("kept"));
    let other = beside(&stage, "--keep-home", read);
    assert_eq!((other.code, other.out.as_str()), (Some(0), ""), "{other:?}");
    assert!(!stage.path("home/.bashrc").exists());
    for home in homes(&stage) {
        assert_eq!(fs::metadata(&home).unwrap().permissions().mode() & 0o777, 0o700);
        let seen = ended(&mut stage.unseen("", &format!("ls {} 2>&1", home.display())));
        assert_ne!(seen.code, Some(0), "{seen:?}");
    }
    // Another directory at the same path is another project.
    fs::rename(stage.path("ws"), stage.path("old")).unwrap();
    fs::create_dir(stage.path("ws")).unwrap();
    assert_eq!(stage.run("--keep-home", read).out, "");
}

#[test]
fn homes_are_listed_and_removed() {
    let Some(stage) = staged() else { return };
    assert_eq!(
        stage.run("--keep-home", "mkdir ~/closed && touch ~/closed/x && chmod 0 ~/closed").code,
        Some(0)
    );
    assert_eq!(beside(&stage, "--keep-home", "touch ~/x").code, Some(0));
    let listed = ended(stage.command().args(["home", "list"]));
    let [one, two] = ["ws", "beside"].map(|name| stage.path(name).display().to_string());
    assert!(listed.out.contains(&one) && listed.out.contains(&two), "{listed:?}");
    assert_eq!(ended(stage.command().args(["home", "remove"])).code, Some(0));
    let listed = ended(stage.command().args(["home", "list"]));
    assert!(!listed.out.contains(&one) && listed.out.contains(&two), "{listed:?}");
    assert_ne!(ended(stage.command().args(["home", "remove"])).code, Some(0));
    assert_eq!(stage.run("--keep-home", "ls -A ~").out, "");
    fs::remove_dir_all(stage.path("beside")).unwrap();
    assert_eq!(ended(stage.command().args(["home", "remove", "--orphans"])).code, Some(0));
    assert_eq!(homes(&stage).len(), 1);
    assert_eq!(ended(stage.command().args(["home", "remove", "--all"])).code, Some(0));
    assert!(homes(&stage).is_empty());
}

#[test]
fn one_run_at_a_time_uses_a_home() {
    let Some(stage) = staged() else { return };
    let mut command = stage.script("--keep-home", "echo ready; cat > /dev/null");
    let mut first = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(first.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let second = stage.run("--keep-home", "true");
    assert_eq!(second.code, Some(125), "{second:?}");
    assert!(second.err.contains("in use by another run"), "{second:?}");
    assert_ne!(ended(stage.command().args(["home", "remove"])).code, Some(0));
    drop(first.stdin.take());
    assert!(end_of(&mut first).success());
    assert_eq!(stage.run("--keep-home", "true").code, Some(0));
}

/// Programs and settings of the real home are found although the home is another one.
#[test]
fn toolchains_and_git_are_found() {
    let Some(stage) = staged().filter(|_| has("git", "git")) else { return };
    let program = stage.path("home/.cargo/bin/tool");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, "#!/bin/sh\necho tool\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(stage.path("home/.cargo/registry")).unwrap();
    fs::write(stage.path("home/.gitconfig"), "[user]\n\tname = Ann\n").unwrap();
    let script = "tool; git config user.name; ls $CARGO_HOME; touch $CARGO_HOME/.package-cache";
    let mut command = stage.script("--keep-home", script);
    let inside = ended(command.env("PATH", format!("{}:/usr/bin:/bin", program.parent().unwrap().display())));
    assert_eq!((inside.code, inside.out.as_str()), (Some(0), "tool\nAnn\nbin\nregistry\n"), "{inside:?}");
}

/// A user profile may keep the home; the project's configuration file cannot.
#[test]
fn who_may_keep_a_home() {
    let Some(stage) = staged() else { return };
    let profile = "[profiles.x]\nextends = \"workspace-write\"\nhome = \"project\"\n";
    fs::write(stage.path("ws/ringfence.toml"), format!("version = 1\njail.profile = \"x\"\n{profile}"))
        .unwrap();
    let project = stage.run("", "true");
    assert_ne!(project.code, Some(0), "{project:?}");
    assert!(homes(&stage).is_empty());
    fs::write(stage.path("ws/ringfence.toml"), "version = 1\njail.profile = \"workspace-write\"\n").unwrap();
    let bounded = stage.run("--keep-home", "true");
    assert_eq!(bounded.code, Some(126), "{bounded:?}");
    fs::remove_file(stage.path("ws/ringfence.toml")).unwrap();
    let policy = stage.path("home/.config/ringfence/policy.toml");
    fs::create_dir_all(policy.parent().unwrap()).unwrap();
    fs::write(policy, format!("version = 1\njail.profile = \"x\"\n{profile}")).unwrap();
    assert_eq!(stage.run("", "echo mine > ~/x").code, Some(0));
    assert_eq!(stage.run("", "cat ~/x").out, "mine\n");
    // `learn` leaves nothing in the home.
    let learned = ended(stage.command().args(["learn", "--", "sh", "-c", "echo learned > ~/x"]));
    assert_eq!(learned.code, Some(0), "{learned:?}");
    assert_eq!(stage.run("", "cat ~/x").out, "mine\n");
}

/// Without a jail the home is not isolated, and git signs as configured.
#[test]
fn without_a_jail_there_is_no_kept_home() {
    let stage = Stage::bare();
    let policy = stage.path("home/.config/ringfence/policy.toml");
    fs::create_dir_all(policy.parent().unwrap()).unwrap();
    fs::write(&policy, "version = 1\njail.enabled = \"never\"\n").unwrap();
    fs::set_permissions(&policy, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(stage.path("home/.gitconfig"), "[commit]\n\tgpgSign = true\n").unwrap();
    let kept = stage.run("--keep-home", "echo evil > ~/x; echo ran");
    assert_eq!((kept.code, kept.out.as_str()), (Some(125), ""), "{kept:?}");
    assert!(kept.err.contains("a kept home needs a jail"), "{kept:?}");
    assert!(homes(&stage).iter().all(|home| !home.join("home/x").exists()));
    let plain = stage.run("", "echo $HOME; env | grep ^GIT_CONFIG");
    assert_eq!(plain.out, format!("{}\n", stage.path("home").display()), "{plain:?}");
    // Settings that were passed explicitly are kept.
    let options = "--env GIT_CONFIG_COUNT=1 --env GIT_CONFIG_KEY_0=a.b --env GIT_CONFIG_VALUE_0=c";
    let plain = stage.run(options, "env | grep ^GIT_CONFIG | sort");
    assert_eq!(plain.out, "GIT_CONFIG_COUNT=1\nGIT_CONFIG_KEY_0=a.b\nGIT_CONFIG_VALUE_0=c\n", "{plain:?}");
}
