//! Shell completions, with the names of profiles asked for when they are needed.

use clap_complete::Shell;

/// Stands for the names of profiles in a generated script.
const PLACEHOLDER: &str = "RINGFENCE_PROFILES";
/// Prints the names of profiles, one a line. Bash expands the words that it completes from, also those that an agent wrote into the
/// project's file: a policy with names of other characters than letters, digits, `-`, `_` and `.` does not load.
const PROFILES: &str = "ringfence policy profiles 2>/dev/null";

/// Generates the script for a shell.
#[must_use]
pub fn completions(shell: Shell) -> Vec<u8> {
    let names =
        |command: clap::Command| command.mut_arg("profile", |argument| argument.value_parser([PLACEHOLDER]));
    let mut command = crate::command().mut_subcommand("run", names).mut_subcommand("learn", names);
    // Written to memory first: the generator panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "ringfence", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    fill(shell, &script).into_bytes()
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
            assert!(!script.contains(PLACEHOLDER), "{shell}");
            let asks = matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish);
            assert_eq!(script.contains(PROFILES), asks, "{shell}");
        }
    }
}
