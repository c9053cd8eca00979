//! Needs of a skill, derived from its code: hosts, paths, programs, variables, tools.
//!
//! The behaviour of its code counts, not its own description. A placeholder (`example.com`, `<path>`, a value
//! that is computed) is left out: no policy can allow it. Programs and hosts are taken from scripts and shell fences only: a word of a
//! licence is no program, and the name of an XML namespace no host.

use std::collections::BTreeMap;
use std::path::PathBuf;

use policy::{KnownProgram, ProgramClass};

use crate::code::destination::{Kind, classify};
use crate::code::fact::{Access, FactKind};
use crate::code::script::HOLE;
use crate::text::front::{Front, Value};
use crate::text::language::Language;
use crate::text::unit::{CODE, Place, Unit};
use crate::text::view::{Skill, read};
use crate::tree::Tree;

/// Needs of a skill, each kind sorted by name, each name once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Hosts that it talks to.
    pub hosts: Vec<Need>,
    /// Files that it reads: below the workspace, below `~/`, or from the root.
    pub reads: Vec<Need>,
    /// Files that it writes, named in the same way.
    pub writes: Vec<Need>,
    /// Programs that it starts.
    pub programs: Vec<Need>,
    /// Variables of the environment that it uses.
    pub variables: Vec<Need>,
    /// Tools that it says it needs, as it spells them.
    pub tools: Vec<Need>,
}

/// One thing that a skill needs, and the first place that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// Name.
    pub name: String,
    /// The file, below the tree.
    pub path: PathBuf,
    /// The line, counted from one.
    pub line: usize,
}

/// Finds out what a skill needs.
#[must_use]
pub fn capabilities(tree: &Tree) -> Needs {
    let (views, _) = read(tree);
    let skill = Skill::new(tree, &views);
    let mut found = Found::default();
    for (number, view) in views.iter().enumerate().filter(|(_, view)| view.is_raw()) {
        if let Ok(Some(front)) = Front::read(&view.text) {
            let line = view.text[..front.span.start].lines().count() + 1;
            for tool in tools(&front) {
                found.add(List::Tools, tool, (view.path.to_owned(), line));
            }
        }
        for unit in skill.units(number).iter().filter(|unit| CODE.has(unit.place)) {
            found.unit(unit);
        }
    }
    found.needs()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum List {
    Hosts,
    Reads,
    Writes,
    Programs,
    Variables,
    Tools,
}

#[derive(Default)]
struct Found {
    names: BTreeMap<(List, String), (PathBuf, usize)>,
}

impl Found {
    fn add(&mut self, list: List, name: String, place: (PathBuf, usize)) {
        self.names.entry((list, name)).or_insert(place);
    }

    fn unit(&mut self, unit: &Unit<'_>) {
        let text = unit.view.text.as_bytes();
        for fact in &unit.reading().facts {
            let at = (unit.range.start + fact.range.start).min(text.len());
            let Some((list, name)) = need(unit, &fact.what) else { continue };
            if list == List::Hosts && is_identifier(&name, line_at(text, at)) {
                continue;
            }
            let line = memchr::memchr_iter(b'\n', &text[..at]).count() + 1;
            self.add(list, name, (unit.view.path.to_owned(), line));
        }
    }

    fn needs(self) -> Needs {
        let mut needs = Needs::default();
        for ((list, name), (path, line)) in self.names {
            let list = match list {
                List::Hosts => &mut needs.hosts,
                List::Reads => &mut needs.reads,
                List::Writes => &mut needs.writes,
                List::Programs => &mut needs.programs,
                List::Variables => &mut needs.variables,
                List::Tools => &mut needs.tools,
            };
            list.push(Need { name, path, line });
        }
        needs
    }
}

/// Returns the need that a fact implies.
fn need(unit: &Unit<'_>, what: &FactKind) -> Option<(List, String)> {
    match what {
        FactKind::Host(host) if runs(unit) => host_pattern(host).map(|host| (List::Hosts, host)),
        FactKind::Path { path, access } => {
            let list = if *access == Access::Read { List::Reads } else { List::Writes };
            path_pattern(path).map(|path| (list, path))
        }
        FactKind::Program(name) if runs(unit) && is_program(name) => Some((List::Programs, name.clone())),
        FactKind::Variable(name) if is_variable(name) => Some((List::Variables, name.clone())),
        _ => None,
    }
}

/// Returns true if it is a script, or a fence that a shell would run. Other fences, settings and code in a sentence show as often what
/// something is called as what is run.
fn runs(unit: &Unit<'_>) -> bool {
    match unit.place {
        Place::Script => unit.language.is_code(),
        Place::Fence => unit.language == Language::Shell,
        _ => false,
    }
}

/// Returns true if an address only names something, as XML namespaces and JSON schemas do: nothing is fetched from it.
fn is_identifier(host: &str, line: &[u8]) -> bool {
    let names = [&b"xmlns"[..], b"$schema", b"createElementNS", b"setAttributeNS", b"targetNamespace"];
    NAMESPACES.contains(&host) || names.iter().any(|name| memchr::memmem::find(line, name).is_some())
}

/// Hosts of addresses that name a vocabulary.
const NAMESPACES: &[&str] = &[
    "www.w3.org",
    "json-schema.org",
    "schemas.openxmlformats.org",
    "schemas.microsoft.com",
    "schemas.xmlsoap.org",
    "purl.org",
    "purl.oclc.org",
    "ns.adobe.com",
    "xmlns.com",
    "www.sitemaps.org",
];

/// The line that a byte stands in.
fn line_at(text: &[u8], at: usize) -> &[u8] {
    let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
    &text[start..end]
}

fn host_pattern(host: &str) -> Option<String> {
    let kind = classify(host).kind;
    let real = !matches!(kind, Kind::Placeholder | Kind::Private | Kind::Metadata);
    (real && host.contains('.') && !host.contains(HOLE)).then(|| host.to_owned())
}

/// A path that can be allowed: all of it known, and no device.
fn path_pattern(path: &str) -> Option<String> {
    let path = path.trim().trim_start_matches("./");
    let path = match path.strip_prefix("/home/u/").or_else(|| path.strip_prefix("$HOME/")) {
        Some(rest) => format!("~/{rest}"),
        None => path.to_owned(),
    };
    let known = !path.is_empty()
        && path.len() <= 256
        && !path.contains([HOLE, '$', '<', '>', '{', '}', '\n', '`', '"']);
    let device = ["/dev/", "/proc/", "/tmp/", "/sys/"].iter().any(|start| path.starts_with(start));
    let plain = path != "-"
        && path != "~"
        && path != "."
        && path != "/"
        && !path.contains("://")
        && !path.contains("..");
    (known && !device && plain).then_some(path)
}

/// Words of the grammar of a shell.
const KEYWORDS: [&str; 10] = ["then", "else", "fi", "do", "done", "if", "for", "while", "case", "esac"];

/// Returns true for words of a shell that start no program.
pub(crate) fn is_shell_word(name: &str) -> bool {
    let is_builtin = || KnownProgram::named(name).is_some_and(|program| program.is(ProgramClass::Builtin));
    KEYWORDS.contains(&name) || is_builtin()
}

fn is_program(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
    starts && name.len() <= 40 && name.chars().all(plain) && !is_shell_word(name)
}

fn is_variable(name: &str) -> bool {
    let ordinary = ["HOME", "PATH", "USER", "PWD", "SHELL", "TMPDIR", "HOLE", "LANG", "TERM", "USERPROFILE"];
    let plain =
        name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    plain && name.starts_with(|c: char| c.is_ascii_alphabetic()) && !ordinary.contains(&name)
}

/// The tools that front matter names, as it spells them.
fn tools(front: &Front) -> Vec<String> {
    let listed = ["allowed-tools", "allowedTools", "allowed_tools"].iter().filter_map(|key| front.get(key));
    let texts: Vec<String> = listed.flat_map(Value::texts).collect();
    let words = texts.iter().flat_map(|text| text.split(','));
    words.map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[Need]) -> Vec<&str> {
        list.iter().map(|need| need.name.as_str()).collect()
    }

    #[test]
    fn what_a_skill_needs_is_what_its_code_does() {
        let text = "---\nname: x\ndescription: y\nallowed-tools: Bash(git *), Read\n---\n# X\n\n```bash\ncurl https://api.acme.dev/v1 -H \"Authorization: $ACME_TOKEN\" -o out/x.json\njq . < in/y.json | git apply\n```\n\n```python\nr = requests.get('https://example.com/x')\nopen('data/z.csv').read()\nopen(f'{here}/q').read()\nopen('report.md', 'w')\n```\n";
        let needs = capabilities(&Tree::of_file("SKILL.md", text));
        assert_eq!(names(&needs.hosts), ["api.acme.dev"]);
        assert_eq!(names(&needs.reads), ["data/z.csv", "in/y.json"]);
        assert_eq!(names(&needs.writes), ["out/x.json", "report.md"]);
        assert_eq!(names(&needs.programs), ["curl", "git", "jq"]);
        assert_eq!(names(&needs.variables), ["ACME_TOKEN"]);
        assert_eq!(names(&needs.tools), ["Bash(git *)", "Read"]);
        assert_eq!(needs.hosts[0].line, 9);
    }

    #[test]
    fn programs_and_hosts_come_from_scripts_and_shell_fences_only() {
        let fixture = |name: &str| {
            let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/profile");
            std::fs::read(root.join(name)).unwrap()
        };
        let files =
            ["SKILL.md", "LICENSE.txt", "icon.svg", "settings.json", "scripts/draw.py", "scripts/get.sh"];
        let entries = files.map(|path| crate::tree::Entry {
            path: path.into(),
            content: crate::tree::Content::File { bytes: fixture(path), executable: false },
        });
        let needs = capabilities(&Tree { name: "drawer".into(), entries: entries.into() });
        assert_eq!(names(&needs.programs), ["curl", "jq", "python3", "tar"]);
        assert_eq!(names(&needs.hosts), ["api.acme.dev", "dl.acme.dev"]);
        assert_eq!(names(&needs.tools), ["Bash(python3 *)"]);
    }

    #[test]
    fn nothing_is_needed_by_words_alone() {
        let needs = capabilities(&Tree::of_file("SKILL.md", "# X\n\nUse `foo.bar` on the file.\n"));
        assert_eq!(needs, Needs::default());
    }
}
