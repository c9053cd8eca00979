//! Code that lies in a text of another kind: the command of a server in its settings, the scripts of a package, the steps of a workflow.

mod notebook;
mod recipe;

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use policy::{KnownProgram, ProgramClass};

use crate::finding::Via;
use crate::text::json::{self, Node};
use crate::text::language::Language;
use crate::text::map::Map;
use crate::text::markdown::front_matter;
use crate::text::unit::Place;
use crate::text::view::View;

/// The texts in a text that something else will run. Each is a view of its own in the language of the program that runs it.
pub(crate) fn embedded<'a>(view: &View<'a>) -> Vec<View<'a>> {
    let found = match view.language {
        Language::Json if notebook::is_notebook(view.path) => notebook::cells(&view.text),
        Language::Json => in_json(&view.text, 0, is_package(view.path)),
        Language::Settings if is_yaml(view.path) => in_workflow(&view.text),
        Language::Markdown => in_markdown(&view.text),
        Language::Code if recipe::holds_recipes(view.path) => recipe::recipes(&view.text, 0..view.text.len()),
        _ => Vec::new(),
    };
    found.into_iter().map(|code| code.view(view)).collect()
}

/// A program that is started with code instead of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inline {
    pub(crate) language: Language,
    /// Index of the argument that is the code.
    pub(crate) argument: usize,
}

/// Finds the code that a command line hands to an interpreter: `sh -c`, `python -c`, `node -e`.
pub(crate) fn inline_code(command: &str, args: &[&str]) -> Option<Inline> {
    let program = command.rsplit(['/', '\\']).next().unwrap_or(command).to_ascii_lowercase();
    let program = program.trim_end_matches(".exe");
    // `env sh -c`, `sudo sh -c`: the program is the first argument.
    let known = KnownProgram::called(program);
    if known.is_some_and(|known| matches!(known.starts, "wrapper" | "env" | "sudo")) {
        let at = args.iter().position(|word| !word.starts_with('-') && !word.contains('='))?;
        let inner = inline_code(args[at], &args[at + 1..])?;
        return Some(Inline { argument: inner.argument + at + 1, ..inner });
    }
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let (language, flags): (_, &[&str]) = match bare {
        _ if known.is_some_and(|known| known.is(ProgramClass::Shell)) => (Language::Shell, &["-c"]),
        "python" | "py" | "pypy" => (Language::Python, &["-c"]),
        "node" | "nodejs" | "deno" | "bun" => {
            (Language::JavaScript, &["-e", "--eval", "-p", "--print", "eval"])
        }
        "powershell" | "pwsh" => (Language::PowerShell, &["-c", "-command", "-enc", "-encodedcommand", "-e"]),
        "cmd" => (Language::PowerShell, &["/c", "/k"]),
        "perl" | "ruby" | "php" | "lua" => (Language::Code, &["-e", "-r"]),
        _ => return None,
    };
    let is_flag = |word: &str| {
        let word = word.to_ascii_lowercase();
        // `-lc` and `-ec` are `-c` among others.
        let grouped =
            language == Language::Shell && word.len() <= 5 && !word.starts_with("--") && word.ends_with('c');
        flags.contains(&&*word) || (word.starts_with('-') && grouped)
    };
    let flag = args.iter().position(|word| is_flag(word))?;
    (flag + 1 < args.len()).then_some(Inline { language, argument: flag + 1 })
}

/// Code that was found, and where.
struct Code {
    text: String,
    map: Map,
    language: Language,
    via: String,
    place: Option<Place>,
}

impl Code {
    fn view<'a>(self, parent: &View<'a>) -> View<'a> {
        let mut maps = vec![self.map];
        maps.extend(parent.maps.iter().cloned());
        let mut via = parent.via.clone();
        via.push(Via::Value(self.via));
        View {
            entry: parent.entry,
            path: parent.path,
            language: self.language,
            text: Cow::Owned(self.text),
            maps,
            via,
            single: self.place,
        }
    }
}

fn is_package(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("package.json"))
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("yml") || extension.eq_ignore_ascii_case("yaml")
    })
}

/// Keys of development container settings whose values are run.
const CONTAINER_COMMANDS: &[&str] = &[
    "initializeCommand",
    "onCreateCommand",
    "updateContentCommand",
    "postCreateCommand",
    "postStartCommand",
    "postAttachCommand",
];

/// Commands in a document, which begins at a place of the text.
fn in_json(text: &str, start: usize, package: bool) -> Vec<Code> {
    let holds = |needle: &str| memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some();
    if !holds("ommand\"") && !holds("\"scripts\"") {
        return Vec::new();
    }
    let Ok(document) = json::read(text) else { return Vec::new() };
    let mut found = Vec::new();
    document.root.walk(&mut |node| {
        found.extend(command(node, text));
        for name in CONTAINER_COMMANDS {
            found.extend(
                node.all(name).filter(|node| node.text().is_some()).map(|node| whole(node, text, name)),
            );
        }
    });
    if package || document.root.get("dependencies").is_some() || document.root.get("version").is_some() {
        for (name, script) in document.root.all("scripts").flat_map(Node::object) {
            if script.text().is_some() {
                found.push(whole(script, text, &format!("scripts.{}", name.text)));
            }
        }
    }
    found.into_iter().map(|code| Code { map: code.map.shifted(start), ..code }).collect()
}

/// The command of an object with `command`, and maybe `args`.
fn command(node: &Node<'_>, text: &str) -> Option<Code> {
    let command =
        node.all("command").find(|command| command.text().is_some() || !command.list().is_empty())?;
    let lists = node.all("args").chain(std::iter::once(command));
    let args: Vec<&Node<'_>> =
        lists.flat_map(|args| args.list().iter()).filter(|arg| arg.text().is_some()).collect();
    let (program, args) = match command.text() {
        Some(_) => (command, args.as_slice()),
        None => (*args.first()?, &args[1..]),
    };
    let words: Vec<&str> = args.iter().filter_map(|arg| arg.text()).collect();
    if let Some(inline) = inline_code(program.text()?, &words)
        && let Some(code) = args.get(inline.argument)
    {
        return Some(Code { language: inline.language, ..whole(code, text, "args") });
    }
    if args.is_empty() {
        return Some(whole(program, text, "command"));
    }
    let mut joined = Joined::default();
    joined.node(program, text, false);
    for arg in args {
        joined.made(" ", arg.span.start);
        joined.node(arg, text, true);
    }
    Some(Code {
        text: joined.text,
        map: joined.map,
        language: Language::Shell,
        via: "command".to_owned(),
        place: None,
    })
}

/// A text value that is code for a shell as a whole.
fn whole(node: &Node<'_>, text: &str, via: &str) -> Code {
    Code {
        text: node.text().unwrap_or_default().to_owned(),
        map: node.map(text),
        language: Language::Shell,
        via: via.to_owned(),
        place: None,
    }
}

/// Words that become one command line.
#[derive(Default)]
struct Joined {
    text: String,
    map: Map,
}

impl Joined {
    fn made(&mut self, text: &str, at: usize) {
        self.map.made(self.text.len(), at..at);
        self.text.push_str(text);
    }

    fn copied(&mut self, text: &str, range: Range<usize>) {
        self.map.copied(self.text.len(), range.clone());
        self.text.push_str(&text[range]);
    }

    /// A word, in quotes if a shell would read it otherwise. The whole word leads back to the whole value.
    fn node(&mut self, node: &Node<'_>, text: &str, quote: bool) {
        let word = node.text().unwrap_or_default();
        let plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,~".contains(c);
        let inside = node.inside();
        if !quote || (!word.is_empty() && word.chars().all(plain)) {
            if text.get(inside.clone()) == Some(word) {
                self.map.copied(self.text.len(), inside);
            } else {
                self.map.made(self.text.len(), inside);
            }
            self.text.push_str(word);
        } else {
            self.map.made(self.text.len(), inside);
            self.text.push('\'');
            self.text.push_str(&word.replace('\'', r"'\''"));
            self.text.push('\'');
        }
    }
}

/// The steps of a workflow: what stands behind `run:`, or indented below it.
fn in_workflow(text: &str) -> Vec<Code> {
    if memchr::memmem::find(text.as_bytes(), b"run:").is_none() {
        return Vec::new();
    }
    values_of("run:", text, 0..text.len(), "run")
}

/// The values of a key in YAML, read line by line: all that is told here is where they stand.
fn values_of(key: &str, text: &str, within: Range<usize>, via: &str) -> Vec<Code> {
    let mut found = Vec::new();
    let mut lines = lines(text, within).peekable();
    while let Some((at, line)) = lines.next() {
        let bare = line.trim_start_matches([' ', '\t', '-']);
        let indent = line.len() - bare.len();
        let Some(value) = bare.strip_prefix(key) else { continue };
        let mut code = Joined::default();
        let head = value.trim();
        let folded = head.is_empty() || head.starts_with(['|', '>']);
        if !folded {
            let inner = head.trim_matches(['"', '\'']);
            let start = at + line.len() - value.len() + value.find(inner).unwrap_or(0);
            code.map.copied(0, start..start + inner.len());
            code.text.push_str(inner);
        }
        while let Some((at, line)) = lines.peek().copied() {
            let bare = line.trim_start();
            if !bare.is_empty() && line.len() - bare.len() <= indent {
                break;
            }
            lines.next();
            if folded {
                let from = at + line.len() - bare.len();
                code.map.copied(code.text.len(), from..from + bare.len());
                code.text.push_str(bare);
            }
        }
        if !code.text.trim().is_empty() {
            let place = None;
            found.push(Code {
                text: code.text,
                map: code.map,
                language: Language::Shell,
                via: via.to_owned(),
                place,
            });
        }
    }
    found
}

/// The lines of a stretch, with their ends, and where each begins.
fn lines(text: &str, within: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
    let mut at = within.start;
    text.get(within).unwrap_or_default().split_inclusive('\n').map(move |line| {
        at += line.len();
        (at - line.len(), line)
    })
}

/// Returns what an agent runs when it loads a skill, and settings that a skill shows.
fn in_markdown(text: &str) -> Vec<Code> {
    let mut found = Vec::new();
    if let Some(front) = front_matter(text)
        && text[front.clone()].contains("hooks:")
    {
        found.extend(values_of("command:", text, front, "hooks"));
    }
    for at in memchr::memmem::find_iter(text.as_bytes(), b"!`") {
        found.extend(on_load(text, at));
    }
    for at in memchr::memmem::find_iter(text.as_bytes(), b"```json") {
        found.extend(fence_at(text, at).into_iter().flat_map(|fence| shown(text, fence)));
    }
    for at in memchr::memmem::find_iter(text.as_bytes(), b"```make") {
        let inside = fence_at(text, at).into_iter();
        found.extend(
            inside
                .flat_map(|fence| recipe::recipes(text, fence))
                .map(|code| Code { place: Some(Place::Fence), ..code }),
        );
    }
    for at in memchr::memmem::find_iter(text.as_bytes(), b"```!") {
        found.extend(fence_at(text, at).map(|fence| cut(text, fence, "run on load")));
    }
    found
}

/// `` !`command` ``: replaced by what the command writes when the skill is loaded.
fn on_load(text: &str, at: usize) -> Option<Code> {
    let free = at == 0 || text.as_bytes()[at - 1].is_ascii_whitespace();
    let start = at + 2;
    let length = memchr::memchr2(b'`', b'\n', text.get(start..)?.as_bytes())?;
    let closed = text.as_bytes()[start + length] == b'`';
    (free && closed && length > 0).then(|| cut(text, start..start + length, "run on load"))
}

/// The inside of the fence that opens at a place. Only at the beginning of a line: then each line is looked at for one fence.
fn fence_at(text: &str, at: usize) -> Option<Range<usize>> {
    let before = &text.as_bytes()[at.saturating_sub(12)..at];
    let indent = before.iter().rev().take_while(|byte| **byte == b' ').count();
    if indent < at && before.iter().rev().nth(indent) != Some(&b'\n') {
        return None;
    }
    let start = at + text.get(at..)?.find('\n')? + 1;
    let length = memchr::memmem::find(&text.as_bytes()[start..], b"```")?;
    Some(start..start + length)
}

/// Commands in settings that are shown in a fence.
fn shown(text: &str, fence: Range<usize>) -> Vec<Code> {
    let mut found = in_json(&text[fence.clone()], fence.start, false);
    for code in &mut found {
        code.place = Some(Place::Fence);
    }
    found
}

fn cut(text: &str, range: Range<usize>, via: &str) -> Code {
    Code {
        text: text[range.clone()].to_owned(),
        map: Map::part(range),
        language: Language::Shell,
        via: via.to_owned(),
        place: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::view::views;
    use crate::tree::Tree;

    fn found(path: &str, text: &str) -> Vec<(Language, String, String)> {
        let tree = Tree::of_file(path, text);
        let views = views(&tree);
        let inner = views.iter().filter(|view| {
            matches!(view.via.last(), Some(Via::Value(_))) && view.language != Language::Markdown
        });
        inner
            .map(|view| {
                let back = view.back(0..view.text.len());
                (view.language, view.text.to_string(), text[back].to_owned())
            })
            .collect()
    }

    #[test]
    fn code_in_other_texts_is_found_with_its_place() {
        use Language::{JavaScript, Python, Shell};
        let rows = [
            (
                ".mcp.json",
                r#"{"mcpServers":{"a":{"command":"sh","args":["-c","echo \"x\" | cat"]}}}"#,
                (Shell, "echo \"x\" | cat", r#"echo \"x\" | cat"#),
            ),
            (
                ".mcp.json",
                r#"{"mcpServers":{"a":{"command":"/usr/bin/python3","args":["-c","print(1)"]}}}"#,
                (Python, "print(1)", "print(1)"),
            ),
            (
                ".mcp.json",
                r#"{"mcpServers":{"a":{"command":"env","args":["A=1","node","-e","f()"]}}}"#,
                (JavaScript, "f()", "f()"),
            ),
            (
                ".mcp.json",
                r#"{"mcpServers":{"a":{"command":"curl","args":["-d","a b","x"]}}}"#,
                (Shell, "curl -d 'a b' x", r#"curl","args":["-d","a b","x"#),
            ),
            (
                "settings.json",
                r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ls -l"}]}]}}"#,
                (Shell, "ls -l", "ls -l"),
            ),
            ("package.json", r#"{"scripts":{"postinstall":"node x.js"}}"#, (Shell, "node x.js", "node x.js")),
            ("ci.yml", "steps:\n  - run: make all\n  - uses: x\n", (Shell, "make all", "make all")),
            (
                "ci.yml",
                "steps:\n  - run: |\n      one\n      two\n    env: y\n",
                (Shell, "one\ntwo\n", "one\n      two\n"),
            ),
            ("SKILL.md", "Now: !`git status` is shown.\n", (Shell, "git status", "git status")),
            ("SKILL.md", "```!\nls\n```\n", (Shell, "ls\n", "ls\n")),
            ("SKILL.md", "---\nhooks:\n  Stop:\n    - command: \"ls -a\"\n---\n", (Shell, "ls -a", "ls -a")),
            (
                "SKILL.md",
                "```json\n{\"command\": \"sh\", \"args\": [\"-lc\", \"ls\"]}\n```\n",
                (Shell, "ls", "ls"),
            ),
            ("Makefile", "all:\n\t@echo hi\n", (Shell, "echo hi\n", "echo hi\n")),
            ("devcontainer.json", "{\"postCreateCommand\": \"make\"}", (Shell, "make", "make")),
        ];
        for (path, text, (language, code, back)) in rows {
            assert_eq!(found(path, text), [(language, code.to_owned(), back.to_owned())], "{text}");
        }
        for (path, text) in
            [("SKILL.md", "Wow!`x` and `!`"), ("a.json", "{\"a\": 1}"), ("SKILL.md", "```json\n{\n")]
        {
            assert_eq!(found(path, text), [], "{text}");
        }
    }
}
