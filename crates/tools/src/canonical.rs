//! Arguments as a model sends them -> the one form that is judged, recorded and run.
//!
//! A model may write a parameter by other names, leave it out, write it as null or in another shape. All of that is read into the type
//! of the parameters and written out again; this canonical form is what rules and people see, and the parameters that run are
//! read from it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use ringfence::policy::{Arguments, lexical};
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value};

use crate::error::{ErrorKind, ToolError};
use crate::tool::Tool;

/// The parameters of a call, and their canonical form.
pub(crate) fn read<T: Tool>(
    arguments: Value,
    workspace: &Path,
) -> Result<(T::Parameters, Map<String, Value>), ToolError> {
    let Value::Object(mut sent) = arguments else {
        return Err(ToolError::new(ErrorKind::InvalidArguments, "the arguments have to be a JSON object")
            .hint("look at the schema of the tool's parameters"));
    };
    without_nulls(&mut sent);
    let mut canonical = written(&typed::<T::Parameters>(sent)?)?;
    for name in T::PATHS {
        if let Some(Value::String(path)) = canonical.get_mut(*name) {
            *path = from_workspace(path, workspace);
        }
    }
    Ok((typed(canonical.clone())?, canonical))
}

fn typed<P: DeserializeOwned>(object: Map<String, Value>) -> Result<P, ToolError> {
    serde_json::from_value(Value::Object(object)).map_err(|error| ToolError::arguments(&error))
}

fn written(parameters: &impl Serialize) -> Result<Map<String, Value>, ToolError> {
    match serde_json::to_value(parameters) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => {
            Err(ToolError::new(ErrorKind::InvalidArguments, "the parameters of the tool are not an object"))
        }
        Err(error) => Err(ToolError::arguments(&error)),
    }
}

/// A parameter that is null is left out. Providers with strict schemas write it so.
fn without_nulls(object: &mut Map<String, Value>) {
    object.retain(|_, value| !value.is_null());
    for item in object.values_mut().filter_map(Value::as_array_mut).flatten() {
        if let Value::Object(object) = item {
            object.retain(|_, value| !value.is_null());
        }
    }
}

/// A path in the workspace that is written from the root, as it is written from the workspace. `..` stays: it may step back over a link.
fn from_workspace(path: &str, workspace: &Path) -> String {
    let rest = workspace.to_str().and_then(|workspace| path.strip_prefix(workspace.trim_end_matches('/')));
    match rest {
        Some(rest) if rest.trim_matches('/').is_empty() => ".".to_owned(),
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/').to_owned(),
        _ => path.to_owned(),
    }
}

/// The arguments as rules see them. Lists are several values of one name, and the fields of objects in a list have names of their own.
pub(crate) fn arguments<T: Tool>(canonical: &Map<String, Value>, workspace: &Path) -> Arguments {
    let mut pairs = Vec::new();
    for (name, value) in canonical {
        add(&mut pairs, name, value);
    }
    let mut arguments = Arguments::new(pairs).with_remarks(T::REMARKS).with_aliases(T::ALIASES);
    for name in T::PATHS {
        if let Some(path) = canonical.get(*name).and_then(Value::as_str) {
            arguments.also(name, spelled(path, workspace));
        }
    }
    arguments
}

/// The same for parameters that were read before.
pub(crate) fn arguments_of<T: Tool>(
    parameters: &T::Parameters,
    workspace: &Path,
) -> Result<Arguments, ToolError> {
    Ok(arguments::<T>(&written(parameters)?, workspace))
}

fn add(pairs: &mut Vec<(String, String)>, name: &str, value: &Value) {
    match value {
        Value::String(text) => pairs.push((name.to_owned(), text.clone())),
        Value::Array(items) if items.iter().any(Value::is_object) => {
            pairs.push((name.to_owned(), value.to_string()));
            let fields = items.iter().filter_map(Value::as_object).flatten();
            fields.for_each(|(name, value)| add(pairs, name, value));
        }
        Value::Array(items) => items.iter().for_each(|item| add(pairs, name, item)),
        other => pairs.push((name.to_owned(), other.to_string())),
    }
}

/// The simplest spelling of a path: from the workspace if it is in there, else from the root.
fn spelled(path: &str, workspace: &Path) -> String {
    let whole = lexical(&workspace.join(path));
    let short = whole.strip_prefix(workspace).unwrap_or(&whole);
    if short.as_os_str().is_empty() { ".".to_owned() } else { short.to_string_lossy().into_owned() }
}

/// Reads JSON text in which no object has a name twice: readers differ in which of the two they take.
pub(crate) fn parse(text: &str) -> Result<Value, ToolError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Once.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| ToolError::arguments(&error))
}

struct Once;

impl<'de> DeserializeSeed<'de> for Once {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Once {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without repeated names")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format_args!("the name {name:?} is there twice")));
            }
            object.insert(name, fields.next_value_seed(Self)?);
        }
        Ok(Value::Object(object))
    }
}

/// Variables of a command: written as `NAME=value`, and read from an object, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables(pub BTreeMap<String, String>);

impl Serialize for Variables {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|(name, value)| format!("{name}={value}")))
    }
}

impl<'de> Deserialize<'de> for Variables {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            List(Vec<String>),
            Object(BTreeMap<String, String>),
        }
        let pairs: Vec<(String, String)> = match Written::deserialize(deserializer)? {
            Written::Object(object) => object.into_iter().collect(),
            Written::List(list) => list
                .into_iter()
                .map(|one| one.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())))
                .collect::<Option<_>>()
                .ok_or_else(|| D::Error::custom("a variable is written as `NAME=value`"))?,
        };
        let mut variables = BTreeMap::new();
        for (name, value) in pairs {
            // Written out, the name would end at the first sign.
            if name.is_empty() || name.contains('=') {
                return Err(D::Error::custom("the name of a variable is empty or contains `=`"));
            }
            if variables.insert(name, value).is_some() {
                return Err(D::Error::custom("a variable is set twice"));
            }
        }
        Ok(Self(variables))
    }
}

impl JsonSchema for Variables {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Variables".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "array", "items": { "type": "string" } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_a_name_twice_is_refused() {
        let rows = [
            (r#"{"a": 1, "b": [{"c": null}, -2, 1.5, "x", true]}"#, true),
            (r#"{"a": 1, "a": 1}"#, false),
            (r#"{"a": [{"b": 1, "b": 2}]}"#, false),
            (r#"{"a": 1, "\u0061": 2}"#, false),
            (r#"{"a": 1} {"a": 2}"#, false),
            ("", false),
        ];
        for (text, fine) in rows {
            let parsed = parse(text);
            assert_eq!(parsed.is_ok(), fine, "{text}");
            if let Ok(parsed) = parsed {
                assert_eq!(parsed, serde_json::from_str::<Value>(text).unwrap());
            }
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn paths_in_the_workspace_have_one_spelling() {
        // As it is written, as it is used, and as it is judged besides.
        let rows = [
            ("a/b", "a/b", "a/b"),
            ("./a//b/", "./a//b/", "a/b"),
            ("a/../b", "a/../b", "b"),
            ("/w/s/a", "a", "a"),
            ("/w/s//./a", "./a", "a"),
            ("/w/s", ".", "."),
            ("/w/s/", ".", "."),
            ("", "", "."),
            ("/w/s/../t", "../t", "/w/t"),
            ("/w/st/a", "/w/st/a", "/w/st/a"),
            ("../s/a", "../s/a", "a"),
            ("/etc/passwd", "/etc/passwd", "/etc/passwd"),
        ];
        for (path, used, judged) in rows {
            let workspace = Path::new("/w/s");
            let found = from_workspace(path, workspace);
            assert_eq!((found.as_str(), spelled(&found, workspace).as_str()), (used, judged), "{path}");
        }
    }

    #[test]
    fn variables_are_read_in_two_forms_and_written_in_one() {
        let rows = [
            (r#"{"B": "2", "A": "x=y"}"#, Some(r#"["A=x=y","B=2"]"#)),
            (r#"["B=2", "A=x=y"]"#, Some(r#"["A=x=y","B=2"]"#)),
            (r#"["A=1", "A=2"]"#, None),
            (r#"["A"]"#, None),
            (r#"["=1"]"#, None),
            (r#"{"A=B": "c"}"#, None),
            (r#"{"A": 1}"#, None),
        ];
        for (text, expected) in rows {
            let read = serde_json::from_str::<Variables>(text).ok();
            let written = read.map(|variables| serde_json::to_string(&variables).unwrap());
            assert_eq!(written.as_deref(), expected, "{text}");
        }
    }
}
