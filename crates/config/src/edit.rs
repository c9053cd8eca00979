//! Changes to a policy file that leave everything else as its owner wrote it.

use std::path::Path;

use policy::{Code, Shown};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

use crate::check::check;
use crate::problem::{Problem, Problems};
use crate::source::{Scope, Source};

/// A policy file being changed. Comments, order and spacing stay.
#[derive(Debug)]
pub struct Edit {
    document: DocumentMut,
}

impl Edit {
    /// Takes the text of a file; an empty one becomes a policy that says nothing.
    pub fn new(text: &str) -> Result<Self, Problem> {
        let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            Problem::new(Code::NotToml, format!("not valid TOML: {}", error.message()))
        })?;
        if document.get("version").is_none() {
            document.insert("version", toml_edit::value(1));
        }
        Ok(Self { document })
    }

    /// Sets a key, given by its dotted path, to a value written as TOML. A word that is no other value is a text.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), Problem> {
        let value: Value = value.parse().unwrap_or_else(|_| Value::from(value));
        let (tables, name) = path.rsplit_once('.').unwrap_or(("", path));
        let table = self.table(tables)?;
        match table.get_mut(name) {
            Some(Item::Value(old)) => {
                // The comment behind a value belongs to the value.
                let decor = old.decor().clone();
                *old = value;
                *old.decor_mut() = decor;
            }
            Some(_) => {
                return Err(Problem::new(Code::WrongType, format!("`{}` is a table", Shown::text(path))));
            }
            None => {
                table.insert(name, Item::Value(value));
            }
        }
        Ok(())
    }

    /// Adds a rule at the end.
    pub fn add_rule(&mut self, keys: &[(&str, &str)]) -> Result<(), Problem> {
        let rules = self.document.entry("rules").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let Some(rules) = rules.as_array_of_tables_mut() else {
            return Err(Problem::new(Code::WrongType, "`rules` is not written as `[[rules]]`"));
        };
        let mut rule = Table::new();
        for (key, value) in keys {
            rule.insert(key, toml_edit::value(*value));
        }
        rules.push(rule);
        Ok(())
    }

    fn table(&mut self, path: &str) -> Result<&mut dyn TableLike, Problem> {
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for name in path.split('.').filter(|name| !name.is_empty()) {
            let implicit = || {
                let mut new = Table::new();
                new.set_implicit(true);
                Item::Table(new)
            };
            table = table.entry(name).or_insert_with(implicit).as_table_like_mut().ok_or_else(|| {
                Problem::new(Code::WrongType, format!("`{}` is not a table", Shown::text(name)))
            })?;
        }
        Ok(table)
    }

    /// The new text, if it is still a policy file.
    pub fn finish(self, scope: Scope, path: &Path) -> Result<String, Problems> {
        let text = self.document.to_string();
        let source = std::sync::Arc::new(Source::new(scope, path, text.clone()));
        let (_, problems) = check(&source);
        if problems.is_empty() { Ok(text) } else { Err(Problems(problems)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_stay() {
        let text = "# mine\nversion = 1\n\n[network] # hosts\nunknown = \"ask\" # for now\n# the end\n";
        let mut edit = Edit::new(text).unwrap();
        edit.set("network.unknown", "\"deny\"").unwrap();
        edit.set("limits.memory", "4GiB").unwrap();
        edit.add_rule(&[("tool", "exec"), ("command", "git push"), ("action", "ask")]).unwrap();
        insta::assert_snapshot!(edit.finish(Scope::User, Path::new("p")).unwrap(), @r#"
        # mine
        version = 1

        [network] # hosts
        unknown = "deny" # for now

        [limits]
        memory = "4GiB"

        [[rules]]
        tool = "exec"
        command = "git push"
        action = "ask"
        # the end
        "#);
    }

    #[test]
    fn what_would_break_the_file_is_refused() {
        let mut edit = Edit::new("").unwrap();
        edit.set("network.unknwon", "deny").unwrap();
        assert!(edit.finish(Scope::User, Path::new("p")).is_err());
        assert!(Edit::new("a = ").is_err());
        let mut edit = Edit::new("version = 1\n[network]\n").unwrap();
        assert!(edit.set("network", "1").is_err());
        assert!(edit.set("version.x", "1").is_err());
    }
}
