//! Manual pages, one for each command.

use std::io;

use clap::Command;
use clap_mangen::Man;

/// The file names and texts of all pages.
pub(crate) fn render(command: Command) -> io::Result<Vec<(String, String)>> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let source = format!("{} {}", command.get_name(), command.get_version().unwrap_or_default());
    let mut pages = Vec::new();
    add(&command, source.trim_end(), &mut pages)?;
    Ok(pages)
}

fn add(command: &Command, source: &str, pages: &mut Vec<(String, String)>) -> io::Result<()> {
    let page = Man::new(command.clone()).source(source);
    let mut text = Vec::new();
    page.render(&mut text)?;
    pages.push((page.get_filename(), String::from_utf8(text).map_err(io::Error::other)?));
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown.into_iter().try_for_each(|command| add(command, source, pages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_is_not_hidden_has_a_page() {
        let check =
            Command::new("check").about("Decides").subcommand(Command::new("path").about("On a path"));
        let command = Command::new("ringfence")
            .version("1.2")
            .subcommand(check)
            .subcommand(Command::new("door").hide(true));
        let pages = render(command).unwrap();
        let names: Vec<_> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["ringfence.1", "ringfence-check.1", "ringfence-check-path.1"]);
        assert!(pages[2].1.contains("On a path"), "{}", pages[2].1);
        assert!(pages[2].1.contains(".TH ringfence-check-path 1  \"ringfence 1.2\""), "{}", pages[2].1);
    }
}
