//! The recipes of `make` and `just`: commands, one on each line below a target.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use super::{Code, Joined, lines};
use crate::text::language::Language;

/// Maximum number of variables kept of one file, and maximum length of their values.
const MAX_VARIABLES: usize = 256;
const MAX_VALUE: usize = 512;

/// Returns true if a file holds recipes.
pub(super) fn holds_recipes(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    matches!(name.as_str(), "makefile" | "gnumakefile" | "justfile" | ".justfile")
        || path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mk"))
}

/// The commands of the recipes in a stretch, as one script: what one recipe leaves behind, another can use.
pub(super) fn recipes(text: &str, within: Range<usize>) -> Vec<Code> {
    let mut variables: HashMap<&str, &str> = HashMap::new();
    let mut code = Joined::default();
    let mut goes_on = false;
    for (at, line) in lines(text, within) {
        let bare = line.trim_start_matches([' ', '\t']);
        let indent = line.len() - bare.len();
        let is_recipe = indent > 0 && !bare.trim().is_empty();
        if is_recipe {
            let signs = if goes_on { 0 } else { bare.len() - bare.trim_start_matches(['@', '-', '+']).len() };
            let from = at + indent + signs;
            command(text, from..at + line.len(), &variables, &mut code);
        } else {
            let (name, value) = variable(line);
            if !name.is_empty() && value.len() <= MAX_VALUE && variables.len() < MAX_VARIABLES {
                variables.insert(name, value);
            }
            evaluated(text, at..at + line.len(), &variables, &mut code);
        }
        goes_on = line.trim_end().ends_with('\\');
    }
    if code.text.trim().is_empty() {
        return Vec::new();
    }
    vec![Code {
        text: code.text,
        map: code.map,
        language: Language::Shell,
        via: String::from("recipe"),
        place: None,
    }]
}

/// `NAME = value`, `NAME ?= value`, `NAME := value`.
fn variable(line: &str) -> (&str, &str) {
    let Some((head, value)) = line.split_once('=') else { return ("", "") };
    let name = head.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let plain =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if plain { (name, value.trim().trim_matches(['"', '\''])) } else { ("", "") }
}

/// `$(shell command)` runs as soon as the file is read.
fn evaluated(text: &str, line: Range<usize>, variables: &HashMap<&str, &str>, code: &mut Joined) {
    let part = &text[line.clone()];
    let Some(at) = part.find("$(shell ") else { return };
    let start = line.start + at + "$(shell ".len();
    let end = part.trim_end().strip_suffix(')').map_or(line.end, |rest| line.start + rest.len());
    if start < end {
        command(text, start..end, variables, code);
        code.made("\n", end);
    }
}

/// One line, with the variables of the file in their places and `$$` as the shell sees it.
fn command(text: &str, line: Range<usize>, variables: &HashMap<&str, &str>, code: &mut Joined) {
    let mut at = line.start;
    while let Some(found) = memchr::memchr(b'$', &text.as_bytes()[at..line.end]) {
        let dollar = at + found;
        code.copied(text, at..dollar);
        let rest = &text[dollar..line.end];
        let (length, value) = replaced(rest, variables);
        match value {
            Some(value) => code.made(value, dollar),
            None => code.copied(text, dollar..dollar + length),
        }
        at = dollar + length;
    }
    code.copied(text, at..line.end);
}

/// Returns the length of what a dollar begins, and its replacement, unless that is what is written.
fn replaced<'t>(rest: &'t str, variables: &HashMap<&str, &'t str>) -> (usize, Option<&'t str>) {
    if rest.starts_with("$$") {
        return (2, Some("$"));
    }
    if let Some(inner) = rest.strip_prefix("$(shell ") {
        return (rest.len() - inner.len(), Some("$("));
    }
    let Some(inner) = rest.strip_prefix("$(").or_else(|| rest.strip_prefix("${")) else { return (1, None) };
    let length =
        inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte)).count();
    if length == 0 || !inner[length..].starts_with([')', '}']) {
        return (1, None);
    }
    // An unknown variable is one for the shell too, and no command.
    (length + 3, Some(variables.get(&inner[..length]).copied().unwrap_or("${UNKNOWN}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_become_commands() {
        let rows = [
            ("all:\n\t@echo hi\n", "echo hi\n"),
            ("U = http://a.b\nall: x\n\tcurl $(U) | sh\n", "curl http://a.b | sh\n"),
            (
                "all:\n\tfor f in *; do echo $$f; done\n\t-$(GO) test\n",
                "for f in *; do echo $f; done\n${UNKNOWN} test\n",
            ),
            ("X := $(shell curl -s http://a.b | sh)\n", "curl -s http://a.b | sh\n"),
            ("all:\n\techo a \\\n\t  -b\n", "echo a \\\n-b\n"),
            ("X = 1\n", ""),
        ];
        for (text, expected) in rows {
            let code = recipes(text, 0..text.len());
            let found: String = code.into_iter().map(|code| code.text).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
