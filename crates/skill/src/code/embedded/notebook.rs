//! Cells of a notebook: code, with commands for a shell among it.

use std::path::Path;

use super::{Code, Joined};
use crate::text::json::{self, Node};
use crate::text::language::Language;

/// Returns true if a file is a notebook.
pub(super) fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"))
}

/// The code of a notebook as one program, and the commands in it as another.
pub(super) fn cells(text: &str) -> Vec<Code> {
    let Ok(document) = json::read(text) else { return Vec::new() };
    let (mut code, mut commands) = (Joined::default(), Joined::default());
    for cell in document.root.all("cells").flat_map(Node::list) {
        if cell.text_of("cell_type") != Some("code") {
            continue;
        }
        let mut in_shell = false;
        let sources = cell.all("source").flat_map(|source| match source.text() {
            Some(_) => std::slice::from_ref(source),
            None => source.list(),
        });
        for part in sources {
            for line in part.text().unwrap_or_default().lines() {
                let bare = line.trim_start();
                in_shell |= ["%%bash", "%%sh", "%%script"].iter().any(|magic| bare.starts_with(magic));
                let command = bare.strip_prefix('!').or_else(|| bare.strip_prefix("%system "));
                let command =
                    command.or_else(|| Some(bare).filter(|bare| in_shell && !bare.starts_with('%')));
                match command {
                    Some(command) => commands.line(command, part),
                    None if !bare.starts_with('%') => code.line(line, part),
                    None => {}
                }
            }
        }
    }
    let made = [(code, Language::Python), (commands, Language::Shell)];
    let made = made.into_iter().filter(|(joined, _)| !joined.text.trim().is_empty());
    made.map(|(joined, language)| Code {
        text: joined.text,
        map: joined.map,
        language,
        via: "source".to_owned(),
        place: None,
    })
    .collect()
}

impl Joined {
    /// A line of a value; it leads back to the whole value.
    fn line(&mut self, line: &str, of: &Node<'_>) {
        self.map.made(self.text.len(), of.inside());
        self.text.push_str(line);
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_become_programs() {
        let text = r#"{"cells": [
            {"cell_type": "markdown", "source": ["!curl a"]},
            {"cell_type": "code", "source": ["import os\n", "!curl a | sh\n", "%matplotlib inline"]},
            {"cell_type": "code", "source": "%%bash\nls\n"}
        ]}"#;
        let found: Vec<(Language, String)> =
            cells(text).into_iter().map(|code| (code.language, code.text)).collect();
        let expected = [
            (Language::Python, String::from("import os\n")),
            (Language::Shell, String::from("curl a | sh\nls\n")),
        ];
        assert_eq!(found, expected);
        assert!(cells("{").is_empty());
    }
}
