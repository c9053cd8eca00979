//! Changes to a policy file that leave everything else as its owner wrote it.

use std::path::Path;

use policy::{Code, Shown};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

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

    /// Adds texts to the end of a list, given by its dotted path; those that are in it stay once. A list that has one entry
    /// on a line keeps that form.
    pub fn extend(&mut self, path: &str, texts: &[String]) -> Result<(), Problem> {
        let (tables, name) = path.rsplit_once('.').unwrap_or(("", path));
        let list = self.table(tables)?.entry(name).or_insert(Item::Value(Value::Array(Array::new())));
        let Some(list) = list.as_array_mut() else {
            return Err(Problem::new(Code::WrongType, format!("`{}` is not a list", Shown::text(path))));
        };
        let new: Vec<_> = texts.iter().filter(|text| !holds(list, text)).collect();
        // Text behind the last entry, comments too, stays in front of what is added.
        let behind = list.trailing().as_str().unwrap_or_default().trim_end().to_owned();
        let tall =
            list.len() + new.len() > 2 || list.trailing().as_str().is_some_and(|end| end.contains('\n'));
        let was_tall = list.iter().any(|value| !is_flat(value));
        for (index, text) in new.into_iter().enumerate() {
            let before = if index == 0 { &*behind } else { "" };
            list.push_formatted(Value::from(text.as_str()).decorated(format!("{before}\n    "), ""));
        }
        if tall {
            let flat = list.iter_mut().filter(|value| !was_tall && is_flat(value));
            flat.for_each(|value| value.decor_mut().set_prefix("\n    "));
            list.set_trailing("\n");
        } else {
            list.fmt();
        }
        list.set_trailing_comma(tall);
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

fn holds(list: &Array, text: &str) -> bool {
    list.iter().any(|entry| entry.as_str() == Some(text))
}

/// Returns true if a value stands on the line of the one before it.
fn is_flat(value: &Value) -> bool {
    !value.decor().prefix().and_then(toml_edit::RawString::as_str).unwrap_or_default().contains('\n')
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
    fn a_list_grows_and_keeps_its_comments() {
        let text = "version = 1\njail.read-only = [\n    \"/opt/a\", # mine\n    # more to come\n]\nnetwork.allow = []\n[profiles.x]\nextends = \"readonly\"\nread = [\"~/a\"]\n";
        let mut edit = Edit::new(text).unwrap();
        let texts = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        edit.extend("jail.read-only", &texts(&["/opt/b", "/opt/a", "/opt/c"])).unwrap();
        edit.extend("jail.shared", &texts(&["~/out"])).unwrap();
        edit.extend("network.allow", &texts(&["a.example:1", "b.example:2", "c\"d"])).unwrap();
        edit.extend("profiles.x.read", &texts(&["~/b"])).unwrap();
        assert!(edit.extend("version", &texts(&["x"])).is_err());
        insta::assert_snapshot!(edit.document, @r#"
        version = 1
        jail.read-only = [
            "/opt/a", # mine
            # more to come
            "/opt/b",
            "/opt/c",
        ]
        jail.shared = ["~/out"]
        network.allow = [
            "a.example:1",
            "b.example:2",
            'c"d',
        ]
        [profiles.x]
        extends = "readonly"
        read = ["~/a", "~/b"]
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
