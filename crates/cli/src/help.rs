//! `ringfence help`: short texts on what people want to do.

use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::{Format, Terminal};

/// Names and texts of all topics. The guides have the details.
const TOPICS: &[(&str, &str)] = &[
    ("run", include_str!("../help/run.txt")),
    ("network", include_str!("../help/network.txt")),
    ("policy", include_str!("../help/policy.txt")),
    ("commands", include_str!("../help/commands.txt")),
    ("overlay", include_str!("../help/overlay.txt")),
    ("learn", include_str!("../help/learn.txt")),
    ("ledger", include_str!("../help/ledger.txt")),
    ("skills", include_str!("../help/skills.txt")),
    ("toolchains", include_str!("../help/toolchains.txt")),
    ("exit-codes", include_str!("../help/exit-codes.txt")),
];

/// Prints a topic, the help of a command that is none, or the list of topics.
pub(crate) fn run(topic: Option<&str>, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let Some(name) = topic else { return list(terminal) };
    let text = TOPICS.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
    let text = text.or_else(|| help_of_command(name)).ok_or_else(|| unknown(name))?;
    match terminal.format {
        Format::Text => write!(terminal.out, "{text}")?,
        Format::Json => terminal.json(&json!({ "version": 1, "topic": name, "text": text }))?,
    }
    Ok(Exit::Ok)
}

fn list(terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    match terminal.format {
        Format::Text => {
            writeln!(terminal.out, "Topics of `ringfence help TOPIC`:\n")?;
            for (name, text) in TOPICS {
                writeln!(terminal.out, "  {name:<12}{}", text.lines().next().unwrap_or_default())?;
            }
            writeln!(
                terminal.out,
                "\n`ringfence --help` lists the commands, `ringfence explain` the codes."
            )?;
        }
        Format::Json => {
            let names: Vec<_> = TOPICS.iter().map(|(name, _)| name).collect();
            terminal.json(&json!({ "version": 1, "topics": names }))?;
        }
    }
    Ok(Exit::Ok)
}

fn help_of_command(name: &str) -> Option<String> {
    let mut all = crate::command();
    all.build();
    let command = all.find_subcommand_mut(name).filter(|command| !command.is_hide_set())?;
    Some(command.render_long_help().to_string())
}

fn unknown(name: &str) -> Failure {
    let known: Vec<_> = TOPICS.iter().map(|(name, _)| *name).collect();
    Failure::usage(format!("there is no topic `{name}`")).hint(format!("topics: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_fit_on_a_screen() {
        for (name, text) in TOPICS {
            assert!(text.lines().count() <= 26, "{name}");
            assert!(text.lines().all(|line| line.chars().count() <= 108), "{name}");
            assert!(text.ends_with('\n') && text.is_ascii(), "{name}");
        }
    }

    #[test]
    fn every_exit_code_is_explained() {
        let (_, text) = TOPICS.iter().find(|(name, _)| *name == "exit-codes").unwrap();
        let all = [
            Exit::Ok,
            Exit::Failed,
            Exit::Blocked,
            Exit::Ask,
            Exit::Deny,
            Exit::Usage,
            Exit::Own(124),
            Exit::NoJail,
            Exit::Refused,
            Exit::NotFound,
        ];
        for exit in all {
            assert!(text.contains(&format!("\n  {:>3}  ", exit.code())), "{exit:?}");
        }
    }
}
