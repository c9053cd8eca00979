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
        (&["help", "nonsense"], 64, "topics: run, policy, commands"),
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
                "known profiles: readonly, workspace-write-no-network, workspace-write, mine",
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
    let planted = "version = 1\n[profiles.\"$(touch planted)\"]\nextends = \"readonly\"\n[profiles.\"`touch planted`\"]\nextends = \"readonly\"\n";
    fs::write(stage.path("ws/ringfence.toml"), planted).unwrap();
    let script = "ringfence() { \"$RF\" \"$@\"; }; eval \"$(ringfence completions bash)\"
        COMP_WORDS=(ringfence run -p \"$WORD\") COMP_CWORD=3; _ringfence ringfence \"$WORD\" -p; printf '%s\\n' \"${COMPREPLY[@]}\"";
    for (word, expected) in
        [("", "readonly\nworkspace-write-no-network\nworkspace-write\nmine\n"), ("m", "mine\n"), ("zz", "\n")]
    {
        let mut bash = Command::new("bash");
        stage.surround(&mut bash).args(["--norc", "-c", script]).env("WORD", word);
        let ended = ended(&mut bash);
        assert_eq!(ended.out, expected, "{word:?}: {}", ended.err);
    }
    assert!(!stage.path("ws/planted").exists(), "a name was run");
    let all = ended(stage.command().args(["policy", "profiles"])).out;
    assert!(all.contains("$(touch planted)"), "the name that would be run is no profile: {all}");
}

fn policy(stage: &Stage, text: &str) {
    let path = stage.path("home/.config/ringfence/policy.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
