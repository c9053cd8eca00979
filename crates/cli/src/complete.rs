//! Shell completions, with the names of profiles asked for when they are needed.

use clap_complete::Shell;

/// Stands for the names of profiles in a generated script.
const PLACEHOLDER: &str = "RINGFENCE_PROFILES";
/// Prints the names of profiles that are plain words, one a line.
const PROFILES: &str = "ringfence policy profiles --plain 2>/dev/null";

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

/// Returns true for a name that no shell expands: bash expands the words that it completes from.
pub(crate) fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(plain)
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

    #[test]
    fn only_plain_names_are_completed() {
        let rows = [
            ("readonly", true),
            ("workspace-write", true),
            ("a.b_C9", true),
            ("", false),
            ("-x", false),
            ("a b", false),
            ("$(id)", false),
            ("`id`", false),
            ("a\nb", false),
            ("caf\u{e9}", false),
        ];
        for (name, expected) in rows {
            assert_eq!(is_plain(name), expected, "{name:?}");
        }
    }
}
