//! The schemas of all tools against what the large providers accept.
//!
//! The published rules of three kinds of interfaces count: tools whose input schema is a JSON Schema object, function calling in strict mode
//! (closed objects, all parameters required, keywords from a list), and function declarations in a subset of `OpenAPI` 3.0, which
//! knows neither references nor unions nor lists of types.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

use ringfence::policy::ToolSet;
use ringfence::{Preset, Sandbox};
use ringfence_tools::{AnyTool, SchemaForm, Toolbox};
use serde_json::{Map, Value, json};

/// Schemas that a provider accepts.
struct Provider {
    form: SchemaForm,
    keywords: &'static [&'static str],
    /// True if every object has to be closed, false if it must not say so.
    closed: bool,
    /// True if every parameter is required, and null where it is left out.
    all_required: bool,
    /// The longest description of a tool.
    description: usize,
}

const PROVIDERS: [Provider; 3] = [
    // Tools with an input schema: JSON Schema, of which the plain keywords are documented.
    Provider {
        form: SchemaForm::Standard,
        keywords: &[
            "type",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
            "default",
        ],
        closed: true,
        all_required: false,
        description: 1024,
    },
    // Function calling in strict mode: a list of keywords without `default`, closed objects, all parameters required.
    Provider {
        form: SchemaForm::Strict,
        keywords: &[
            "type",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
        ],
        closed: true,
        all_required: true,
        description: 1024,
    },
    // Function declarations: a subset of OpenAPI 3.0. Unknown keywords are an error, and enumerations are of strings.
    Provider {
        form: SchemaForm::OpenApi,
        keywords: &[
            "type",
            "description",
            "properties",
            "required",
            "items",
            "enum",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
            "default",
        ],
        closed: false,
        all_required: false,
        description: 1024,
    },
];

fn tools<T>(of: impl FnOnce(&mut dyn Iterator<Item = &dyn AnyTool>) -> T) -> T {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("ws")).unwrap();
    let sandbox = Sandbox::builder()
        .preset(Preset::Workspace)
        .workspace(dir.path().join("ws"))
        .state(dir.path().join("state"))
        .tools(ToolSet::of_profile("full").unwrap())
        .build();
    let session = sandbox.unwrap().session("tester").unwrap();
    let toolbox = Toolbox::new();
    of(&mut toolbox.of(&session))
}

fn schemas() -> Vec<(&'static str, &'static str, Value)> {
    tools(|tools| tools.map(|tool| (tool.name(), tool.description(), tool.schema().to_value())).collect())
}

impl Provider {
    /// Everything in a schema that would be refused.
    fn refused(&self, schema: &Value, place: &str, required: bool, found: &mut Vec<String>) {
        let Some(object) = schema.as_object() else {
            found.push(format!("{place}: not an object: {schema}"));
            return;
        };
        for (keyword, value) in object {
            if !self.keywords.contains(&keyword.as_str()) {
                found.push(format!("{place}: the keyword `{keyword}`"));
            }
            if keyword == "default" && (value.is_null() || value.is_object()) {
                found.push(format!("{place}: the default {value}"));
            }
        }
        let may_be_null = self.all_required && !required;
        let kind = match object.get("type") {
            Some(Value::String(one)) if !may_be_null => one.as_str(),
            Some(Value::Array(two)) if may_be_null && two.len() == 2 && two[1] == "null" => {
                two[0].as_str().unwrap()
            }
            other => return found.push(format!("{place}: the type {}", other.unwrap_or(&Value::Null))),
        };
        let mut values = object.get("enum").and_then(Value::as_array).into_iter().flatten();
        if !values.all(|value| value.is_string() || (may_be_null && value.is_null())) {
            found.push(format!("{place}: the values {}", object["enum"]));
        }
        match kind {
            "object" => self.object_refused(object, place, found),
            "array" => self.refused(&object["items"], &format!("{place}[]"), true, found),
            "string" | "integer" | "boolean" => {}
            other => found.push(format!("{place}: the type {other}")),
        }
    }

    fn object_refused(&self, object: &Map<String, Value>, place: &str, found: &mut Vec<String>) {
        if (object.get("additionalProperties") == Some(&json!(false))) != self.closed {
            found.push(format!("{place}: open or closed"));
        }
        let none = Map::new();
        let properties = object.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required: Vec<_> =
            object.get("required").and_then(Value::as_array).into_iter().flatten().collect();
        if required.iter().any(|name| !properties.contains_key(name.as_str().unwrap()))
            || (self.all_required && required.len() != properties.len())
        {
            found.push(format!("{place}: required are {required:?}"));
        }
        for (name, property) in properties {
            let plain =
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
            if !plain || name.len() > 64 {
                found.push(format!("{place}: the name `{name}`"));
            }
            if property["description"].as_str().is_none_or(|text| !text.ends_with('.')) {
                found.push(format!("{place}.{name}: no sentence that describes it"));
            }
            let needed = needs(place, name);
            self.refused(property, &format!("{place}.{name}"), needed, found);
        }
    }
}

/// The parameters that a call cannot do without.
fn needs(place: &str, name: &str) -> bool {
    let all: &[&str] = match place {
        "read" => &["path"],
        "write" => &["path", "content"],
        "edit" => &["path", "edits"],
        "edit.edits[]" => &["old", "new"],
        "apply_patch" => &["patch"],
        "grep" => &["pattern"],
        "exec" => &["command"],
        "process" => &["action"],
        "web_fetch" => &["url"],
        _ => &[],
    };
    all.contains(&name)
}

#[test]
fn every_schema_is_accepted_by_strict_providers() {
    let mut found = Vec::new();
    for provider in PROVIDERS {
        tools(|tools| {
            for tool in tools {
                let place = found.len();
                provider.refused(&tool.schema_in(provider.form).to_value(), tool.name(), true, &mut found);
                if tool.description().len() > provider.description {
                    found.push(format!("{}: the description is too long", tool.name()));
                }
                found[place..]
                    .iter_mut()
                    .for_each(|text| text.insert_str(0, &format!("{:?} ", provider.form)));
            }
        });
    }
    assert!(found.is_empty(), "{} problems:\n{}", found.len(), found.join("\n"));
}

/// Numbers and defaults are in the schema, where programs read them, not in prose.
#[test]
fn defaults_and_ranges_are_in_the_schema() {
    let all = schemas();
    let at = |tool: &str, name: &str| {
        let (_, _, schema) = all.iter().find(|(other, ..)| *other == tool).unwrap();
        schema["properties"][name].clone()
    };
    let rows = [
        ("exec", "timeout_ms", json!(120_000), json!(100), json!(600_000)),
        ("exec", "auto_background_ms", json!(15_000), json!(0), json!(600_000)),
        ("exec", "idle_timeout_ms", Value::Null, json!(100), json!(600_000)),
        ("read", "offset", json!(1), json!(1), Value::Null),
        ("read", "limit", json!(2000), json!(1), Value::Null),
        ("ls", "limit", json!(1000), json!(1), json!(20_000)),
        ("grep", "limit", json!(200), json!(1), json!(20_000)),
        ("grep", "before", Value::Null, json!(0), json!(20)),
        ("find", "limit", json!(1000), json!(1), json!(20_000)),
        ("process", "lines", json!(200), json!(1), Value::Null),
        ("web_fetch", "timeout_ms", json!(30_000), json!(1000), json!(120_000)),
        ("web_fetch", "max_chars", json!(10_000), json!(1), Value::Null),
    ];
    for (tool, name, default, least, most) in rows {
        let property = at(tool, name);
        let get = |key: &str| property.get(key).cloned().unwrap_or(Value::Null);
        assert_eq!((get("default"), get("minimum"), get("maximum")), (default, least, most), "{tool} {name}");
    }
    for (name, _, schema) in &all {
        for (parameter, property) in schema["properties"].as_object().unwrap() {
            let text = property["description"].as_str().unwrap_or_default();
            let tells =
                ["if left out", "The default is", "by default"].iter().any(|words| text.contains(words));
            assert!(!tells || property.get("default").is_none(), "{name} {parameter}: {text}");
        }
    }
    let edit = &all.iter().find(|(name, ..)| *name == "edit").unwrap().2;
    let names: Vec<_> = edit["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["edits", "path"], "one form");
}

#[test]
fn exec_says_what_its_commands_do_not_have() {
    let all = schemas();
    let (_, description, _) = all.iter().find(|(name, ..)| *name == "exec").unwrap();
    for words in ["no network", "private home", "no state"] {
        assert!(description.contains(words), "{words}: {description}");
    }
}
