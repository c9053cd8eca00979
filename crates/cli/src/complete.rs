//! Shell completions, with the names of host sets, and the names of profiles asked for when they are needed.

use clap_complete::Shell;

/// Stands for the names of profiles in a generated script.
const PLACEHOLDER: &str = "RINGFENCE_PROFILES";
/// Stands for the names of host sets in a generated script.
const SETS: &str = "RINGFENCE_SETS";
/// Prints the names of profiles, one a line. Bash expands the words that it completes from, also those that an agent wrote into the
/// project's file: a policy with names of other characters than letters, digits, `-`, `_` and `.` does not load.
const PROFILES: &str = "ringfence policy profiles 2>/dev/null";

/// Generates the script for a shell.
#[must_use]
pub fn completions(shell: Shell) -> Vec<u8> {
    let names =
        |command: clap::Command| command.mut_arg("profile", |argument| argument.value_parser([PLACEHOLDER]));
    let allow = |command: clap::Command| command.mut_arg("allow", |argument| argument.value_parser([SETS]));
    let run = |command: clap::Command| allow(names(command));
    let mut command = crate::command().mut_subcommand("run", run).mut_subcommand("learn", names);
    // Written to memory first: the generator panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "ringfence", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    fill_sets(shell, &fill(shell, &script)).into_bytes()
}

/// Puts the names of host sets where their placeholder stands.
fn fill_sets(shell: Shell, script: &str) -> String {
    let names: Vec<_> = policy::host_sets().iter().map(|set| format!("@{}", set.name)).collect();
    match shell {
        Shell::Bash | Shell::Zsh => script.replace(SETS, &names.join(" ")),
        Shell::Fish => script.replace(SETS, &names.join("\\t''\n")),
        _ => script.replace(SETS, "@npm"),
    }
}

/// Puts the question for the names where the placeholder stands. A shell that cannot ask offers no names.
fn fill(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => script.replace(PLACEHOLDER, &format!("$({PROFILES})")),
        Shell::Zsh => script.replace(&format!("({PLACEHOLDER})"), &format!("{{compadd -- $({PROFILES})}}")),
        Shell::Fish => script.replace(&format!("\"{PLACEHOLDER}\\t''\""), &format!("\"({PROFILES})\"")),
        _ => script.replace(PLACEHOLDER, "readonly"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_ask_for_the_names_of_profiles() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell] {
            let script = String::from_utf8(completions(shell)).unwrap();
            assert!(!script.contains(PLACEHOLDER) && !script.contains(SETS), "{shell}");
            assert_eq!(
                script.contains("@crates"),
                matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish),
                "{shell}"
            );
            let asks = matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish);
            assert_eq!(script.contains(PROFILES), asks, "{shell}");
        }
    }
}
