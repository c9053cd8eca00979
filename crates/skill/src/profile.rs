//! The commands that belong to a skill: its profile, held against what a command line would start.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use policy::{Argv, Code, Effect, Invocation, Link, Reason, Request, Shown, Want, lexical};

use crate::capability::{Needs, is_shell_word};
use crate::tree::{Content, Tree};

/// Permitted commands of a skill: the programs that its scripts and shell fences start, and its own files.
///
/// It takes away and never permits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The skill.
    pub name: String,
    /// The programs, by name.
    pub programs: BTreeSet<String>,
    /// The hosts that it talks to. They are listed, not granted.
    pub hosts: Vec<String>,
    /// True if its code changes files of the workspace.
    pub writes: bool,
    /// Its own files, by their real paths.
    pub files: BTreeSet<PathBuf>,
}

impl Profile {
    /// The profile of a skill that lies at a place, if it lies anywhere.
    #[must_use]
    pub fn new(name: &str, needs: &Needs, tree: &Tree, place: Option<&Path>) -> Self {
        let is_file = |content: &Content| matches!(content, Content::File { .. });
        let files = tree.entries.iter().filter(|entry| is_file(&entry.content));
        let files = place.into_iter().flat_map(|place| files.clone().map(|entry| place.join(&entry.path)));
        Self {
            name: name.to_owned(),
            programs: needs.programs.iter().map(|need| need.name.clone()).collect(),
            hosts: needs.hosts.iter().map(|need| need.name.clone()).collect(),
            writes: needs.writes.iter().any(|need| is_inside(&need.name)),
            files: files.collect(),
        }
    }

    /// Returns true if the skill has any command at all.
    #[must_use]
    pub fn has_programs(&self) -> bool {
        !self.programs.is_empty()
    }

    /// Returns the reason why a command is not one of the skill's; `None` if it is.
    #[must_use]
    pub fn refuse(&self, invocation: &Invocation) -> Option<Reason> {
        if !invocation.is_certain() {
            let text = format!(
                "the programs that this starts are not known, and {} may use its own only",
                self.shown()
            );
            return Some(Reason::new(Code::ToolNarrowed, text));
        }
        let foreign = invocation.programs.iter().find_map(|program| {
            let all = program.through.iter().chain([&program.argv]);
            all.into_iter().find(|argv| !self.uses(argv, program.cwd.as_deref()))
        })?;
        let named = foreign.words().first().map(|word| Shown::text(&word.text).to_string());
        let text = format!("{} does not use {}", self.shown(), named.unwrap_or_default());
        Some(Reason::new(Code::ToolNarrowed, text))
    }

    /// A link that denies commands that are not the skill's.
    #[must_use]
    pub fn link(self) -> Link<impl Fn(&Request<'_>) -> Option<(Effect, Reason)> + Send + Sync + 'static> {
        Link::new("skill", move |request: &Request<'_>| match request.want {
            Want::Exec(execution) => self.refuse(execution.invocation).map(|reason| (Effect::Deny, reason)),
            _ => None,
        })
    }

    fn shown(&self) -> String {
        format!("the skill {}", Shown::text(&self.name))
    }

    fn uses(&self, argv: &Argv, cwd: Option<&str>) -> bool {
        let Some(word) = argv.words().first().filter(|word| word.is_literal()) else { return false };
        let path = Path::new(&*word.text);
        let Some((directory, name)) = word.text.rsplit_once('/') else {
            // A shell builtin starts nothing; the programs that the shell starts stand in the list of programs.
            return self.programs.contains(&*word.text) || is_shell_word(&word.text);
        };
        let of_system = SYSTEM.contains(&directory) && self.programs.contains(name);
        let own = cwd.map(|cwd| lexical(&Path::new(cwd).join(path)));
        of_system || own.is_some_and(|path| self.files.contains(&path))
    }
}

/// Directories whose programs are what their names say.
const SYSTEM: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"];

/// Returns true if a path is one of the workspace.
pub(crate) fn is_inside(path: &str) -> bool {
    !path.starts_with(['/', '~', '\\']) && !path.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::capabilities;

    fn profile() -> Profile {
        let text = "---\nname: x\ndescription: y\n---\n```sh\njq . a.json | sort > out.txt\nsh run.sh\n```\n";
        let tree = Tree::of_file("SKILL.md", text);
        Profile::new("x", &capabilities(&tree), &tree, Some(Path::new("/w/x")))
    }

    fn refused(line: &str) -> Option<String> {
        let around = shell::Surroundings {
            dialects: shell::Dialect::ALL,
            cwd: Some("/w"),
            home: Some("/home/u"),
            stdin: None,
        };
        profile().refuse(&shell::read(line.as_bytes(), &around)).map(|reason| reason.text.to_string())
    }

    #[test]
    fn only_the_programs_of_a_skill_are_its_commands() {
        let rows = [
            ("jq . a.json", None),
            ("/usr/bin/jq . a.json", None),
            ("cd sub && jq . a.json | sort", None),
            ("echo done", None),
            ("x/SKILL.md", None),
            ("rm -rf out", Some("the skill x does not use rm")),
            ("jq . a.json | tee b", Some("the skill x does not use tee")),
            ("/tmp/jq . a.json", Some("the skill x does not use /tmp/jq")),
            ("./jq . a.json", Some("the skill x does not use ./jq")),
            ("x/other.sh", Some("the skill x does not use x/other.sh")),
            ("env rm x", Some("the skill x does not use env")),
            ("sh -c 'rm x'", Some("the skill x does not use rm")),
            ("command rm x", Some("the skill x does not use rm")),
        ];
        for (line, wanted) in rows {
            assert_eq!(refused(line).as_deref(), wanted, "{line}");
        }
        for line in ["$PROGRAM x", "eval \"$LINE\"", "jq . $(rm x)"] {
            assert!(refused(line).is_some(), "{line}");
        }
        assert!(profile().writes && profile().has_programs());
    }
}
