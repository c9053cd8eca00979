//! Languages of texts.

use std::path::Path;

/// Language of a text, as far as that changes how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Prose for people and models.
    Markdown,
    /// bash, sh, zsh and their kin.
    Shell,
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
    /// PowerShell, and commands for Windows.
    PowerShell,
    /// JSON: manifests and settings.
    Json,
    /// YAML, TOML, INI: settings.
    Settings,
    /// Any other language that programs are written in.
    Code,
    /// Nothing in particular.
    Text,
}

impl Language {
    /// By the name of a file, or by its first line where the name says nothing.
    #[must_use]
    pub fn of(path: &Path, text: &str) -> Self {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        Self::named(extension)
            .or_else(|| Self::of_name(name))
            .or_else(|| Self::of_first_line(text))
            .unwrap_or(Self::Text)
    }

    /// By the word behind the opening of a fence, or an extension.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let word = word.trim().to_ascii_lowercase();
        Some(match word.as_str() {
            "md" | "markdown" | "mdx" | "mdc" => Self::Markdown,
            "sh" | "bash" | "zsh" | "ksh" | "dash" | "fish" | "shell" | "console" | "terminal"
            | "shell-session" | "shellscript" | "command" => Self::Shell,
            "py" | "python" | "python3" | "pyw" | "ipython" => Self::Python,
            "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" | "javascript" | "typescript"
            | "node" => Self::JavaScript,
            "ps1" | "psm1" | "powershell" | "pwsh" | "bat" | "cmd" | "batch" | "dos" => Self::PowerShell,
            "json" | "jsonc" | "json5" | "ipynb" => Self::Json,
            "yaml" | "yml" | "toml" | "ini" | "cfg" | "conf" | "env" | "properties" | "xml" | "plist" => {
                Self::Settings
            }
            "rb" | "ruby" | "pl" | "perl" | "php" | "go" | "rs" | "rust" | "c" | "cpp" | "cs" | "csharp"
            | "java" | "kotlin" | "kt" | "swift" | "lua" | "r" | "scala" | "applescript" | "scpt" | "vbs"
            | "vba" | "sql" | "dockerfile" | "makefile" | "make" | "mk" | "just" => Self::Code,
            "txt" | "text" => Self::Text,
            _ => return None,
        })
    }

    /// Returns true if it is a language that programs are written in.
    #[must_use]
    pub fn is_code(self) -> bool {
        matches!(self, Self::Shell | Self::Python | Self::JavaScript | Self::PowerShell | Self::Code)
    }

    fn of_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "dockerfile" | "makefile" | "gnumakefile" | "justfile" | ".justfile" | "rakefile" | "gemfile"
            | "vagrantfile" => Self::Code,
            ".bashrc" | ".zshrc" | ".profile" | ".bash_profile" | ".envrc" => Self::Shell,
            ".env" | ".npmrc" | ".pypirc" | ".netrc" => Self::Settings,
            _ => return None,
        })
    }

    fn of_first_line(text: &str) -> Option<Self> {
        let line = text.strip_prefix("#!")?.lines().next()?;
        let mut words = line.split_ascii_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
        let program = words.find(|word| *word != "env" && !word.starts_with('-'))?;
        Self::named(program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_is_written_in() {
        let rows = [
            ("SKILL.md", "", Language::Markdown),
            ("scripts/run.sh", "", Language::Shell),
            ("scripts/run", "#!/usr/bin/env python3\n", Language::Python),
            ("scripts/run", "#!/bin/bash -e\n", Language::Shell),
            ("a.PY", "", Language::Python),
            ("tool.ps1", "", Language::PowerShell),
            (".mcp.json", "", Language::Json),
            ("Dockerfile", "", Language::Code),
            ("LICENSE", "words", Language::Text),
        ];
        for (path, text, expected) in rows {
            assert_eq!(Language::of(Path::new(path), text), expected, "{path}");
        }
    }
}
