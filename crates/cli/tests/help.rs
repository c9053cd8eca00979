//! Help by topic, and completions in a real shell.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::process::Command;

use stage::{Stage, ended, has};

#[test]
fn help_knows_topics_and_commands() {
    let stage = Stage::bare();
    let rows: &[(&[&str], i32, &str)] = &[
        (&["help"], 0, "  exit-codes  Exit codes\n"),
        (&["help", "exit-codes"], 0, "  125  `run`: no jail could be made"),
        (&["help", "run"], 0, "Running a command in a jail"),
        (&["help", "apply"], 0, "Usage: ringfence apply"),
        (&["--format", "json", "help"], 0, "\"exit-codes\""),
        (&["help", "nonsense"], 64, "topics: run, network, policy"),
    ];
    for (words, code, expected) in rows {
        let ended = ended(stage.command().args(*words));
        assert_eq!(ended.code, Some(*code), "{words:?}: {}", ended.err);
        assert!(format!("{}{}", ended.out, ended.err).contains(expected), "{words:?}: {ended:?}");
    }
}

#[test]
fn unknown_names_list_the_known_ones() {
    let stage = Stage::bare();
    policy(&stage, "version = 1\n[profiles.mine]\nextends = \"readonly\"\n");
    let rows: &[(&[&str], &[&str])] = &[
        (
            &["run", "-p", "readnoly", "--", "true"],
            &[
                "did you mean `readonly`?",
                "known profiles: readonly, workspace-write-no-network, workspace-write, driven, mine",
            ],
        ),
        (&["policy", "set", "netwrok", "deny"], &["did you mean `network`?", "known here: version, "]),
    ];
    for (words, expected) in rows {
        let said = ended(stage.command().args(*words)).err;
        assert!(expected.iter().all(|text| said.contains(text)), "{words:?}: {said}");
    }
}

/// Bash expands the words that it completes from, and a project file is written by the agent.
#[test]
fn profiles_are_completed_and_none_of_them_is_run() {
    if !has("bash", "completion of profiles") {
        return;
    }
    let stage = Stage::bare();
    policy(&stage, "version = 1\n[profiles.mine]\nextends = \"readonly\"\n");
    let script = "ringfence() { \"$RF\" \"$@\"; }; eval \"$(ringfence completions bash)\"
        COMP_WORDS=(ringfence run -p \"$WORD\") COMP_CWORD=3; _ringfence ringfence \"$WORD\" -p; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let own = |name: &str| format!("version = 1\n[profiles.\"{name}\"]\nextends = \"readonly\"\n");
    let rows = [
        (own("its"), "", "readonly\nworkspace-write-no-network\nworkspace-write\ndriven\nits\nmine\n"),
        (own("its"), "m", "mine\n"),
        (own("its"), "zz", "\n"),
        (own("$(touch planted)"), "", "\n"),
        (own("`touch planted`"), "", "\n"),
    ];
    for (project, word, expected) in rows {
        fs::write(stage.path("ws/ringfence.toml"), &project).unwrap();
        let mut bash = Command::new("bash");
        stage.surround(&mut bash).args(["--norc", "-c", script]).env("WORD", word);
        let ended = ended(&mut bash);
        assert_eq!(ended.out, expected, "{project} {word:?}: {}", ended.err);
        assert!(!stage.path("ws/planted").exists(), "{project}: a name was run");
    }
}

fn policy(stage: &Stage, text: &str) {
    let path = stage.path("home/.config/ringfence/policy.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
