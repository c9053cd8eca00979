//! Files that `files.forbidden` names are masked in a jail, by the kernel, as far as they exist when the command starts.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use stage::{Ended, Stage, ended, has};

fn write(stage: &Stage, path: &str, text: &str) {
    let path = stage.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn policy(stage: &Stage, text: &str) {
    write(stage, "home/.config/ringfence/policy.toml", &format!("version = 1\n{text}\n"));
    let file = stage.path("home/.config/ringfence/policy.toml");
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
}

/// A script whose words the policy does not see.
fn unseen(stage: &Stage, options: &str, script: &str) -> Ended {
    ended(&mut stage.unseen(options, script))
}

#[test]
fn a_script_cannot_read_what_the_words_may_not_name() {
    let Some(stage) = Stage::new() else { return };
    write(&stage, "ws/.env", "TOKEN=hush");
    write(&stage, "ws/deep/er/.env.production", "TOKEN=hush");
    write(&stage, "ws/.env.example", "TOKEN=");
    let named = stage.run("", "cat .env");
    assert!(named.code == Some(126) && named.err.contains("RF-F003"), "{named:?}");
    for (path, readable) in [(".env", false), ("deep/er/.env.production", false), (".env.example", true)] {
        let ended = unseen(&stage, "", &format!("cat {path}"));
        assert_eq!(
            (ended.code == Some(0), ended.out.contains("hush")),
            (readable, false),
            "{path}: {ended:?}"
        );
        assert_eq!(ended.err.contains("Permission denied"), !readable, "{path}: {ended:?}");
    }
    if has("python3", "a script in another language") {
        let script = "python3 -c \"print(open('.e' + 'nv').read())\"";
        let ended = unseen(&stage, "", script);
        assert!(!ended.out.contains("hush") && ended.err.contains("PermissionError"), "{ended:?}");
    }
    // By the supervisor's rights, too, and for a profile that writes nothing.
    for options in ["", "-p readonly"] {
        let ended = unseen(
            &stage,
            options,
            "cat .env; cat <>.env; dd if=.env of=/tmp/x; ! test -s /tmp/x && echo held",
        );
        assert!(ended.out.trim() == "held", "{options}: {ended:?}");
    }
}

/// Each line says what could be done all the same.
const CHANGES: &str = r#"
refused() { if "$@" 2>/dev/null; then echo "works: $*"; fi; }
echo new >new
for f in .env keys deep/link.key; do
  refused rm -rf $f
  refused mv $f away
  refused mv -fT new $f
  refused cp -f new $f
  refused ln -fT new $f
  refused ln $f away
  refused chmod 777 $f
  refused chown 1:1 $f
  refused truncate -s 0 $f
  refused sh -c "echo x >$f"
  refused sh -c "echo x >>$f"
  refused mkdir $f/x
  refused umount $f
done
refused cat keys/one
refused ls keys
mv deep deeper && refused cat deeper/link.key
mv deeper deep
echo made >own.key && cat own.key
"#;

#[test]
fn what_is_masked_is_not_changed_removed_or_replaced() {
    let Some(stage) = Stage::new() else { return };
    policy(&stage, "files.forbidden = [\"**/.env*\", \"**/*.key\", \"keys/**\"]");
    for path in ["ws/.env", "ws/keys/one", "ws/deep/link.key"] {
        write(&stage, path, "hush");
    }
    let ended = unseen(&stage, "", CHANGES);
    // A command can read files that it makes itself.
    assert_eq!((ended.out.as_str(), ended.code), ("made\n", Some(0)), "{ended:?}");
    for path in ["ws/.env", "ws/keys/one", "ws/deep/link.key"] {
        assert_eq!(fs::read_to_string(stage.path(path)).unwrap(), "hush", "{path}");
    }
    assert_eq!(fs::read_dir(stage.path("ws/keys")).unwrap().count(), 1);
    // A directory around one stays where it is, or it is told.
    assert!(!ended.err.contains("was moved"), "{ended:?}");
    let ended = unseen(&stage, "", "mkdir node_modules && mv deep node_modules");
    let lost = format!("note: {} is forbidden and was moved", stage.path("ws/deep/link.key").display());
    let refused = ended.err.contains("Device or resource busy") && stage.path("ws/deep/link.key").exists();
    assert!(refused || ended.err.contains(&lost), "{ended:?}");
    // The next run finds what this one made.
    assert!(unseen(&stage, "", "cat own.key").err.contains("Permission denied"));
}

#[test]
fn other_names_of_the_same_file_are_masked() {
    let Some(stage) = Stage::new() else { return };
    write(&stage, "ws/.env", "hush");
    write(&stage, "ws/config/real", "hush");
    write(&stage, "ws/vault/one", "hush");
    write(&stage, "beside/outside", "fine");
    write(&stage, "ws/node_modules/package/x", "fine");
    fs::hard_link(stage.path("ws/.env"), stage.path("ws/config/hard")).unwrap();
    fs::hard_link(stage.path("ws/.env"), stage.path("ws/node_modules/package/hard")).unwrap();
    symlink(".env", stage.path("ws/soft")).unwrap();
    symlink("config/real", stage.path("ws/.env.real")).unwrap();
    symlink("../vault", stage.path("ws/config/.ssh")).unwrap();
    symlink(stage.path("beside/outside"), stage.path("ws/.env.out")).unwrap();
    symlink("/usr/bin/env", stage.path("ws/.env.system")).unwrap();
    symlink("../ws", stage.path("ws/.env.all")).unwrap();
    symlink("nowhere", stage.path("ws/.env.none")).unwrap();
    let script = "for f in config/hard node_modules/package/hard soft .env.real config/real config/.ssh/one vault/one \
        .env.out ../beside/outside; do cat $f; done 2>/dev/null; cat node_modules/package/x && test -x /usr/bin/env && echo -- end";
    let ended = unseen(&stage, "", script);
    assert_eq!((ended.out.as_str(), ended.code), ("fine-- end\n", Some(0)), "{ended:?}");
    // A link out of the workspace masks nothing there.
    let read = format!("--read {}", stage.path("beside").display());
    assert_eq!(unseen(&stage, &read, "cat ../beside/outside").code, Some(1), "it lies in a view");
}

#[test]
fn views_and_masks_agree_or_are_refused() {
    let Some(stage) = Stage::new() else { return };
    for path in ["ws/.env", "ws/.envs/a/file", "beside/x/.env", "beside/x/y"] {
        write(&stage, path, "hush");
    }
    let beside = stage.path("beside");
    let rows = [
        // Any view is looked through; what is hidden is not.
        (format!("--read {}", beside.display()), "cat ../beside/x/.env", Some(1)),
        (format!("--write {}", beside.display()), "cat ../beside/x/.env", Some(1)),
        (format!("--read {}", beside.display()), "cat ../beside/x/y", Some(0)),
        ("--hide .env".to_owned(), "test ! -s .env && cat .env", Some(0)),
        // A person who asks for what the policy forbids is told so.
        ("--read .env".to_owned(), "true", Some(125)),
        ("--read .envs/a".to_owned(), "true", Some(125)),
    ];
    for (options, script, code) in rows {
        let ended = unseen(&stage, &options, script);
        assert_eq!(ended.code, code, "{options} {script}: {ended:?}");
        assert_eq!(ended.err.contains("files.exempt"), code == Some(125), "{options}: {ended:?}");
    }
    policy(&stage, "files.exempt = [\".env\", \"**/.envs\"]");
    assert_eq!(unseen(&stage, "", "cat .env .envs/a/file").out, "hushhush");
    assert_eq!(stage.run("", "cat .env").out, "hush", "the words agree");
}

#[test]
fn too_many_are_refused_and_many_are_not() {
    let Some(stage) = Stage::new() else { return };
    for number in 0..1500 {
        write(&stage, &format!("ws/certs/{number}.pem"), "hush");
    }
    let ended = unseen(&stage, "", "cat certs/*.pem; echo seen $(ls certs | wc -l)");
    assert_eq!(ended.out, "seen 1500\n", "{}", ended.err.lines().next().unwrap_or_default());
    for number in 1500..2100 {
        write(&stage, &format!("ws/certs/{number}.pem"), "hush");
    }
    let ended = unseen(&stage, "", "true");
    assert_eq!(ended.code, Some(125), "{ended:?}");
    let certs = stage.path("ws/certs");
    assert!(ended.err.contains(&format!("--hide {}", certs.display())), "{ended:?}");
    assert_eq!(unseen(&stage, &format!("--hide {}", certs.display()), "true").code, Some(0));
}

#[test]
fn what_cannot_be_looked_through_is_masked() {
    let Some(stage) = Stage::new() else { return };
    write(&stage, "ws/closed/.env", "hush");
    write(&stage, &format!("ws/{}/.env", "d/".repeat(200)), "hush");
    let closed = stage.path("ws/closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let ended =
        unseen(&stage, "", "chmod 700 closed; cat closed/.env; find d -name .env -exec cat {} +; echo end");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(ended.out, "end\n", "{ended:?}");
}

#[test]
fn an_overlay_masks_what_it_shows() {
    let Some(stage) = Stage::new() else { return };
    for path in ["ws/.env", "ws/gone/.env", "ws/kept/.env", "ws/swapped/.env"] {
        write(&stage, path, "hush");
    }
    write(&stage, "ws/plain", "fine");
    let ended =
        unseen(&stage, "--overlay", "cat .env */.env plain; rm -r gone; echo own >own.key; cat own.key");
    if ended.err.contains("put a layer over") {
        return stage::skipped("masks in an overlay", &ended.err);
    }
    assert_eq!(ended.out, "fineown\n", "{ended:?}");
    // Files in the layer, and files that are not, are masked as the next run sees them.
    let ended = unseen(&stage, "--overlay", "cat .env */.env plain own.key; echo x >swapped/x; ls");
    assert!(
        ended.out.starts_with("fine") && !ended.out.contains("hush") && !ended.out.contains("own\n"),
        "{ended:?}"
    );
    assert_eq!(fs::read_to_string(stage.path("ws/gone/.env")).unwrap(), "hush");
}

/// Tracked files that are masked: git says so, and loses nothing.
#[test]
fn git_goes_on_beside_a_masked_file() {
    let Some(stage) = Stage::new() else { return };
    if !has("git", "git beside a masked file") {
        return;
    }
    write(&stage, "home/.gitconfig", "[user]\n\tname = A\n\temail = a@example.org\n");
    let outside = |script: &str| {
        let mut command = Command::new("/bin/sh");
        let ended = ended(stage.surround(&mut command).args(["-ec", script]));
        assert_eq!(ended.code, Some(0), "{script}: {ended:?}");
        ended.out
    };
    // A file that is committed as it is can be read from history inside. One that was changed since cannot.
    let rows = [
        ("committed", "git add -f .env", "", false),
        ("changed since", "git add -f .env", "echo 2 >.env", true),
        ("ignored", "", "", true),
    ];
    for (what, before, after, masked) in rows {
        outside(
            "rm -rf .git .gitignore; git init -q; echo a >a; echo 1 >.env; echo .env >.gitignore; git add a .gitignore",
        );
        outside(&format!("{before}\ngit commit -qm one\n{after}"));
        let read = ended(&mut stage.unseen("", "cat .env"));
        assert_eq!(read.code == Some(0), !masked, "{what}: {read:?}");
        let inside = stage.run("", "git status --short && echo b >a && git add a && git commit -qm two && git switch -qc side && echo fine");
        assert!(inside.code == Some(0) && inside.out.ends_with("fine\n"), "{what}: {inside:?}");
        // All at once fails loudly where a tracked file is masked: nothing is committed in its place.
        let all = stage.run("", "echo c >a && git commit -qam three");
        assert_eq!(all.code == Some(0), what != "changed since", "{what}: {all:?}");
        let said = outside("git log --format=%s -- .env; cat .env");
        let expected = if masked && !before.is_empty() { "one\n2\n" } else { "one\n1\n" };
        assert_eq!(said, if before.is_empty() { "1\n" } else { expected }, "{what}");
    }
}

/// A repository outside of its working tree is no place to look for secrets: git runs its hooks inside.
#[test]
fn hooks_of_a_linked_working_tree_run() {
    let Some(stage) = Stage::new() else { return };
    if !has("git", "hooks of a linked working tree") {
        return;
    }
    write(&stage, "home/.gitconfig", "[user]\n\tname = A\n\temail = a@example.org\n");
    let script = "git init -q main && cd main && git commit -q --allow-empty -m one && git worktree add -q ../linked \
        && printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit";
    let mut command = Command::new("/bin/sh");
    assert_eq!(ended(stage.surround(&mut command).args(["-ec", script])).code, Some(0));
    let inside =
        ended(stage.unseen("", "git commit --allow-empty -m two").current_dir(stage.path("ws/linked")));
    assert_eq!((inside.code, inside.err.as_str()), (Some(1), ""), "{inside:?}");
}

/// The content of a file is what counts, not that git has its name.
#[test]
fn an_entry_of_the_index_shows_nothing() {
    let Some(stage) = Stage::new() else { return };
    if !has("git", "git beside a masked file") {
        return;
    }
    write(&stage, "home/.gitconfig", "[user]\n\tname = A\n\temail = a@example.org\n");
    write(&stage, "ws/.env", "TOKEN=hush\n");
    let script = "git init -q; b=$(echo guess | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$b,.env; git commit -qm one";
    assert_eq!(ended(&mut stage.unseen("", script)).code, Some(0));
    let read = ended(&mut stage.unseen("", "cat .env; git restore .env; cat .env"));
    assert!(!read.out.contains("hush"), "{read:?}");
    assert_eq!(fs::read_to_string(stage.path("ws/.env")).unwrap(), "TOKEN=hush\n");
}

/// Bubblewrap lets a directory around a masked file be renamed: it is told, in the summary that is also recorded.
#[test]
fn a_masked_file_that_was_moved_is_told() {
    let Some(stage) = Stage::new() else { return };
    if !has("bwrap", "masks of bubblewrap") {
        return;
    }
    write(&stage, "ws/deep/.env", "hush");
    policy(
        &stage,
        "[profiles.less]\nextends = \"workspace-write-no-network\"\n\
        require = { files = \"partial\", processes = \"partial\", network = \"partial\", resources = \"none\" }",
    );
    let ended = unseen(&stage, "-p less --provider bubblewrap", "mkdir node_modules && mv deep node_modules");
    if ended.code == Some(125) || stage.path("ws/deep").exists() {
        return stage::skipped("masks of bubblewrap", &ended.err);
    }
    let told = format!("{} is forbidden and was moved", stage.path("ws/deep/.env").display());
    assert!(ended.err.contains(&told), "{ended:?}");
    let recorded = fs::read_dir(stage.path("home/.local/state/ringfence")).unwrap();
    let recorded = recorded.filter_map(|file| fs::read_to_string(file.unwrap().path()).ok());
    assert!(recorded.collect::<String>().contains(&told), "{ended:?}");
}

/// The target of a link with a forbidden name stays masked when the link is gone: in the same run, and in later ones.
#[test]
fn a_target_stays_masked_without_its_link() {
    let Some(stage) = Stage::new() else { return };
    let rows = [
        (".env", "conf/prod", "", "rm .env"),
        (".env", "conf/prod", "", "mv .env old"),
        ("pkg/.env", "../conf/prod", "", "mkdir q; mv pkg q/pkg"),
        (".env", "conf/prod", "", "ln -sfn src .env"),
        (".ssh", "conf", "", "rm .ssh"),
        (".env", "conf/prod", "--overlay", "rm .env"),
    ];
    for (link, target, options, script) in rows {
        let what = format!("{options} {link} -> {target}: {script}");
        fs::remove_dir_all(stage.path("ws")).unwrap();
        write(&stage, "ws/conf/prod", "hush");
        write(&stage, "ws/src/main", "fine");
        write(&stage, "ws/pkg/x", "fine");
        symlink(target, stage.path("ws").join(link)).unwrap();
        let ended = unseen(&stage, options, &format!("{script}; cat conf/prod"));
        if ended.err.contains("put a layer over") {
            stage::skipped("links in an overlay", &ended.err);
            continue;
        }
        let told =
            format!("{} is forbidden, and the link was removed", stage.path("ws").join(link).display());
        assert!(!ended.out.contains("hush"), "{what}: {ended:?}");
        assert_eq!(ended.err.contains(&told), options.is_empty(), "{what}: {ended:?}");
        for _ in 0..2 {
            let ended = unseen(&stage, options, "cat conf/prod; cat src/main");
            assert!(ended.err.contains("Permission denied"), "{what}: {ended:?}");
        }
        // The name of the link is no longer forbidden, or the person asks for the file.
        let asked = format!("--read {}", stage.path("ws/conf/prod").display());
        assert_eq!(unseen(&stage, &format!("{options} {asked}"), "cat conf/prod").out, "hush", "{what}");
        policy(&stage, "files.exempt = [\"**/.env\", \"**/.ssh\"]");
        assert_eq!(unseen(&stage, options, "cat conf/prod").out, "hush", "{what}");
        policy(&stage, "");
    }
    // Another file in its place is another file.
    fs::remove_dir_all(stage.path("ws")).unwrap();
    write(&stage, "ws/conf/prod", "hush");
    symlink("conf/prod", stage.path("ws/.env")).unwrap();
    assert_eq!(unseen(&stage, "", "rm .env").code, Some(0));
    write(&stage, "ws/conf/new", "fine");
    fs::rename(stage.path("ws/conf/new"), stage.path("ws/conf/prod")).unwrap();
    assert_eq!(unseen(&stage, "", "cat conf/prod").out, "fine");
}

/// A committed file is shown because the repository shows it: without that, there is a mask.
#[test]
fn only_the_shown_repository_of_a_working_tree_counts() {
    let Some(stage) = Stage::new() else { return };
    if !has("git", "git beside a masked file") {
        return;
    }
    write(&stage, "home/.gitconfig", "[user]\n\tname = A\n\temail = a@example.org\n");
    let outside = |script: &str| {
        let mut command = Command::new("/bin/sh");
        let ended = ended(stage.surround(&mut command).args(["-ec", script]));
        assert_eq!(ended.code, Some(0), "{script}: {ended:?}");
    };
    outside(
        "git init -qb main; mkdir pkg; echo hush >.env; echo hush >pkg/.env; git add -f .; git commit -qm one",
    );
    let below = |options: &str| {
        let mut command = stage.unseen(&format!("--workspace {options}"), "cat .env");
        ended(command.current_dir(stage.path("ws/pkg"))).out
    };
    let (whole, part) = (stage.path("ws"), stage.path("ws/pkg"));
    assert_eq!(below(&part.display().to_string()), "", "the repository is not shown");
    assert_eq!(below(&format!("{} --read {}", part.display(), whole.join(".git").display())), "hush\n");
    assert_eq!(below(&whole.display().to_string()), "hush\n");
    assert_eq!(below(&format!("{} --hide {}", whole.display(), whole.join(".git").display())), "");
    // Commits that other working trees have checked out, or that are said to be, are none of this one.
    outside("echo 7 >.env; git worktree add -q --detach ../beside/linked; echo 8 >../beside/linked/.env");
    outside("cd ../beside/linked; git commit -qam two; cp .env ../../ws/.env; cp .env ../plain");
    assert_eq!(unseen(&stage, "", "cat .env").out, "", "it is committed elsewhere");
    let mut linked = stage.unseen("", "cat .env");
    assert_eq!(ended(linked.current_dir(stage.path("beside/linked"))).out, "8\n", "its own commit");
    fs::write(stage.path("beside/linked/.env"), "hush\n").unwrap();
    let mut linked = stage.unseen("", "cat .env");
    assert_eq!(ended(linked.current_dir(stage.path("beside/linked"))).out, "", "the commit of another");
}

/// A stream of numbers that is the same for the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % bound).unwrap()
    }

    fn one<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64)]
    }
}

const DIRECTORIES: &[&str] = &["a", "b", ".envs", "keys", "x y", "id_rsa.d", "Secrets", "\u{e9}t\u{e9}"];
const FILES: &[&str] = &[
    ".env",
    ".env.local",
    ".env.example",
    ".ENV",
    "a.pem",
    "A.KEY",
    "key",
    "id_rsa",
    "id_rsa.pub",
    "main.rs",
    ".npmrc",
    ".env.sample",
    "env",
    "plain.key.txt",
    "\u{c9}T\u{c9}",
];
const POLICIES: &[&str] = &[
    "",
    "files.forbidden = [\"**/keys/**\", \"a/*\", \"re:.*rsa\"]",
    "files.forbidden = [\"**/\u{e9}t\u{e9}\", \"**/secrets\", \"**/.env*\"]\nfiles.exempt = [\"**/.env.local\", \"b/**\"]",
    "files.exempt = [\"**/*.pem\", \"**/.envs\"]\nfiles.read.allow = [\"**/.env\"]",
];

/// For every file that exists when the run begins: what the policy calls forbidden cannot be read inside, everything else can.
#[test]
fn the_kernel_and_the_policy_agree_over_generated_trees() {
    let Some(stage) = Stage::new() else { return };
    for (seed, text) in (1..).zip(POLICIES.iter().cycle().take(8)) {
        let mut numbers = Numbers(seed);
        let beside = format!("jail.read-only = [\"{}\"]", stage.path("beside").display());
        policy(&stage, &format!("{beside}\n{text}"));
        let mut files = BTreeSet::new();
        for top in ["ws", "beside"] {
            fs::remove_dir_all(stage.path(top)).unwrap();
            fs::create_dir(stage.path(top)).unwrap();
            for _ in 0..12 {
                let depth = numbers.below(4);
                let above: Vec<_> = (0..depth).map(|_| numbers.one(DIRECTORIES)).chain([""]).collect();
                let path = format!("{top}/{}{}", above.join("/"), numbers.one(FILES));
                write(&stage, &path, "text");
                files.insert(stage.path(&path).to_str().unwrap().to_owned());
            }
        }
        let forbidden: BTreeMap<_, _> =
            files.iter().map(|path| (path.clone(), is_forbidden(&stage, path))).collect();
        let list: Vec<_> = files.iter().map(String::as_str).chain([""]).collect();
        write(&stage, "ws/list", &list.join("\n"));
        let script = "while read -r f; do if cat \"$f\" >/dev/null 2>&1; then echo \"$f\"; fi; done <list";
        let ended = unseen(&stage, "", script);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let readable: BTreeSet<_> = ended.out.lines().map(str::to_owned).collect();
        for (path, forbidden) in &forbidden {
            assert_eq!(readable.contains(path), !forbidden, "seed {seed}: {path}\n{text}");
        }
        assert!(forbidden.values().any(|is| *is) && forbidden.values().any(|is| !is), "seed {seed}");
    }
}

fn is_forbidden(stage: &Stage, path: &str) -> bool {
    let ended = ended(stage.command().args(["--format", "json", "check", "path", path]));
    let answer: serde_json::Value = serde_json::from_str(&ended.out).unwrap_or_else(|_| panic!("{ended:?}"));
    let text = answer.to_string();
    assert_eq!(text.contains("RF-F003"), ended.code == Some(4), "{path}: {text}");
    text.contains("RF-F003")
}
