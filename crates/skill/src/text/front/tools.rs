//! The tools that a skill wants, as the policy knows them.

use policy::{ToolName, tool_names};

use super::{Front, Value};

impl Front {
    /// The tools that a skill says it needs: all others are taken away while it runs. `None` if it says nothing, says that it
    /// needs everything, or says it in a way that names no tool.
    ///
    /// A skill takes away and never adds: hand the list to [`policy::ToolSet::narrow`].
    #[must_use]
    pub fn wanted_tools(&self) -> Option<Vec<ToolName>> {
        let listed: Vec<&Value> = ["allowed-tools", "allowedTools", "allowed_tools"]
            .iter()
            .filter_map(|key| self.get(key))
            .collect();
        let wanted: Vec<String> = listed.iter().flat_map(|value| entries(value)).collect();
        let all = wanted.is_empty() || wanted.iter().any(|entry| entry == "*");
        let refused: Vec<ToolName> = self
            .get("disallowed-tools")
            .map(entries)
            .unwrap_or_default()
            .iter()
            .flat_map(|entry| tools(entry))
            .collect();
        let closed = self.closed();
        if all && refused.is_empty() && closed.is_empty() {
            return None;
        }
        let names: Vec<ToolName> = if all {
            tool_names().iter().filter_map(|name| ToolName::parse(name).ok()).collect()
        } else {
            wanted.iter().flat_map(|entry| tools(entry)).collect()
        };
        let stays = |name: &ToolName| !refused.contains(name) && !closed.contains(&name.as_str());
        let mut names: Vec<ToolName> = names.into_iter().filter(stays).collect();
        names.sort();
        names.dedup();
        Some(names)
    }

    /// The tools that its permissions leave no use for.
    fn closed(&self) -> Vec<&'static str> {
        let Some(permissions) = self.permissions() else { return Vec::new() };
        let nothing =
            |list: &[String]| list.iter().all(|entry| matches!(entry.as_str(), "" | "false" | "none"));
        let rows: [(&[String], &[&str]); 3] = [
            (&permissions.read, &["read", "grep", "find", "ls"]),
            (&permissions.write, &["write", "edit", "apply_patch"]),
            (&permissions.net, &["web_fetch", "web_search", "browser"]),
        ];
        rows.iter().filter(|(list, _)| nothing(list)).flat_map(|(_, tools)| tools.iter().copied()).collect()
    }
}

/// The entries of a list, or of a text with spaces or commas between them; not within parentheses.
fn entries(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for text in value.texts() {
        let mut depth = 0usize;
        let mut entry = String::new();
        for character in text.chars() {
            match character {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && (character == ',' || character.is_whitespace()) {
                found.push(std::mem::take(&mut entry));
            } else {
                entry.push(character);
            }
        }
        found.push(entry);
    }
    found.retain(|entry| !entry.is_empty());
    found
}

/// The tools of one entry: `Bash(git:*)` is the tool that starts commands; which commands is for the policy to say.
fn tools(entry: &str) -> Vec<ToolName> {
    let name = entry.split('(').next().unwrap_or(entry).trim();
    let group = name.strip_prefix("group:").and_then(|group| policy::group_tools(group).ok());
    let names = match group {
        Some(tools) => tools.to_vec(),
        None => NAMES
            .iter()
            .find(|(other, _)| *other == name)
            .map_or_else(|| vec![name], |(_, tools)| tools.to_vec()),
    };
    names.into_iter().filter_map(|name| ToolName::parse(name).ok()).collect()
}

/// Names that agents use for the tools.
const NAMES: &[(&str, &[&str])] = &[
    ("Read", &["read"]),
    ("NotebookRead", &["read"]),
    ("Write", &["write"]),
    ("Edit", &["edit", "apply_patch"]),
    ("MultiEdit", &["edit", "apply_patch"]),
    ("NotebookEdit", &["edit"]),
    ("Bash", &["exec", "process"]),
    ("BashOutput", &["process"]),
    ("KillShell", &["process"]),
    ("Shell", &["exec", "process"]),
    ("Grep", &["grep"]),
    ("Glob", &["find"]),
    ("LS", &["ls"]),
    ("WebFetch", &["web_fetch"]),
    ("WebSearch", &["web_search"]),
    ("Task", &["subagents"]),
    ("Agent", &["subagents"]),
];

#[cfg(test)]
mod tests {
    use policy::{ToolProfile, ToolSet};

    use super::*;

    fn wanted(front: &str) -> Option<Vec<String>> {
        let front = Front::read(&format!("---\n{front}\n---\n")).unwrap().unwrap();
        front.wanted_tools().map(|names| names.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn every_way_to_name_tools() {
        let rows: [(&str, Option<&[&str]>); 13] = [
            ("name: x", None),
            ("allowed-tools: Read Grep", Some(&["grep", "read"])),
            ("allowed-tools: Read, Bash(git add:*), Grep", Some(&["exec", "grep", "process", "read"])),
            ("allowed-tools:\n  - Read\n  - mcp__a--b", Some(&["mcp__a--b", "read"])),
            ("allowed-tools: [Read]", Some(&["read"])),
            ("allowed-tools: '*'", None),
            ("allowed-tools: '* Read'", None),
            ("allowed-tools: ''", None),
            ("allowedTools: [read_file, exec]", Some(&["exec", "read"])),
            ("allowedTools:\n  - group:memory", Some(&["memory_get", "memory_search", "memory_store"])),
            ("allowed-tools: Read Edit\ndisallowed-tools: Edit", Some(&["read"])),
            ("allowed-tools: Read Write WebFetch\npermissions:\n  fsRead: ['.']", Some(&["read"])),
            ("allowed-tools: mcp__a--*", Some(&[])),
        ];
        for (front, expected) in rows {
            let expected = expected.map(|names| names.iter().map(ToString::to_string).collect());
            assert_eq!(wanted(front), expected, "{front}");
        }
        assert!(!wanted("disallowed-tools: Bash").unwrap().contains(&"exec".to_owned()));
    }

    proptest::proptest! {
        #[test]
        fn a_skill_never_adds_a_tool(
            entries in proptest::collection::vec("(Read|Bash|Bash\\(x:\\*\\)|\\*|exec|group:web|group:coding|mcp__a--b|mcp__\\*|WebFetch|browser|cron|[a-z]{1,5})", 0..6),
            refused in "(Bash|Read|\\*|nothing)",
            profile in "(minimal|coding|messaging|full|cron-minimal)",
        ) {
            let text = format!("---\nallowed-tools: '{}'\ndisallowed-tools: '{refused}'\n---\n", entries.join(" "));
            let front = Front::read(&text).unwrap().unwrap();
            let set = ToolSet::new(ToolProfile::parse(&profile).unwrap(), Vec::new(), Vec::new());
            if let Some(wanted) = front.wanted_tools() {
                let narrowed = set.narrow(&wanted);
                for name in tool_names().iter().copied().chain(["mcp__a--b", "other"]) {
                    let name = ToolName::parse(name).unwrap();
                    assert!(!narrowed.contains(&name) || set.contains(&name), "{name}");
                }
            }
        }
    }
}
