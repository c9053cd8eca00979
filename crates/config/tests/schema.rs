//! The JSON Schema for editors, held against files that load and files that do not.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use regex::Regex;
use serde_json::{Map, Value, json};
use toml::de::{DeTable, DeValue};

/// As much of JSON Schema as ours uses. A keyword says nothing about values of another type; one that is not known
/// here is a failure, not a pass.
fn valid(schema: &Value, value: &Value) -> bool {
    schema.as_object().unwrap().iter().all(|(keyword, rule)| match keyword.as_str() {
        "description" | "title" | "$schema" => true,
        "type" => has_type(rule.as_str().unwrap(), value),
        "anyOf" => rule.as_array().unwrap().iter().any(|one| valid(one, value)),
        "enum" => rule.as_array().unwrap().contains(value),
        "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
        "minLength" => value.as_str().is_none_or(|text| text.len() as u64 >= rule.as_u64().unwrap()),
        "pattern" => {
            value.as_str().is_none_or(|text| Regex::new(rule.as_str().unwrap()).unwrap().is_match(text))
        }
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| valid(rule, item))),
        "required" => rule.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
        "properties" => {
            members(value).all(|(key, inner)| rule.get(key).is_none_or(|rule| valid(rule, inner)))
        }
        "additionalProperties" => {
            let known = |key: &str| schema["properties"].get(key).is_some();
            members(value)
                .filter(|(key, _)| !known(key))
                .all(|(_, inner)| rule.is_object() && valid(rule, inner))
        }
        keyword => panic!("unknown keyword {keyword}"),
    })
}

fn has_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        name => panic!("unknown type {name}"),
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn table(table: &DeTable<'_>) -> Value {
    let pairs = table.iter().map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref())));
    Value::Object(pairs.collect::<Map<_, _>>())
}

fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => json!(number.as_str().replace('_', "").parse::<i64>().unwrap()),
        DeValue::Float(number) => json!(number.as_str().parse::<f64>().unwrap()),
        DeValue::Boolean(flag) => json!(flag),
        DeValue::Datetime(date) => json!(date.to_string()),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(inner) => table(inner),
    }
}

fn accepts(text: &str) -> bool {
    let schema: Value = serde_json::from_str(&ringfence_config::schema::json()).unwrap();
    let document = DeTable::parse(text).unwrap();
    let value = table(document.get_ref());
    has_type("object", &value) && valid(&schema, &value)
}

#[test]
fn the_schema_accepts_what_loads() {
    assert!(accepts(include_str!("samples/everything.toml")));
    assert!(accepts(include_str!("../src/defaults.toml")));
    assert!(accepts("version = 1"));
}

#[test]
fn the_schema_refuses_what_does_not_load() {
    let rows = [
        "",
        "version = 2",
        "version = 1\n[flies]",
        "version = 1\nfiles.jail = \"maybe\"",
        "version = 1\nlimits.memory = 4",
        "version = 1\nlimits.memory = \"4\"",
        "version = 1\nlimits.steps = 0",
        "version = 1\nlimits.wall-clock = \"soon\"",
        "version = 1\n[[rules]]\ntool = \"exec\"",
        "version = 1\n[profiles.x]\nnetwork = \"none\"",
        "version = 1\nnetwork.allow = \"a.com\"",
        "version = 1\n[[secrets]]\nname = \"a b\"\nhost = \"a.com\"\ninject = { bearer = true }",
    ];
    for text in rows {
        assert!(!accepts(text), "{text}");
    }
}
