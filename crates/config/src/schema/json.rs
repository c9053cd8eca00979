//! The JSON Schema for editors, derived from the table.

use serde_json::{Map, Value, json};

use super::{Key, Kind, ROOT, Text};

/// The schema as a JSON document with a final line break.
#[must_use]
pub fn json() -> String {
    let mut schema = table(ROOT);
    schema.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".into(), "Ringfence policy".into());
    format!("{:#}\n", Value::Object(schema))
}

fn table(keys: &[Key]) -> Map<String, Value> {
    let properties: Map<_, _> = keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<_> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let mut object = Map::new();
    object.insert("type".into(), "object".into());
    object.insert("properties".into(), properties.into());
    object.insert("additionalProperties".into(), false.into());
    if !required.is_empty() {
        object.insert("required".into(), json!(required));
    }
    object
}

fn property(key: &Key) -> Value {
    let mut schema = kind(key.kind);
    let about = if key.built {
        key.about.to_owned()
    } else {
        let what = if key.restricts { "not enforced" } else { "no effect" };
        format!("{} Not built yet: checked, {what}.", key.about)
    };
    schema.insert("description".into(), about.into());
    Value::Object(schema)
}

fn kind(kind: Kind) -> Map<String, Value> {
    let schema = match kind {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::ChoiceOrList(words, listed) => json!({
            "anyOf": [{ "enum": words }, { "type": "array", "items": { "enum": listed } }]
        }),
        Kind::FlagOr(words) => {
            let values: Vec<Value> =
                [true.into(), false.into()].into_iter().chain(words.iter().map(|w| json!(w))).collect();
            json!({ "enum": values })
        }
        Kind::Count(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Money => json!({ "type": "number", "minimum": 0 }),
        Kind::Size => json!({ "type": "string", "pattern": "^[0-9]+ ?(B|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$" }),
        Kind::Time => json!({ "type": "string", "pattern": "^([0-9]+(ms|s|m|h|d))+$" }),
        Kind::Text(meaning) => text(meaning),
        Kind::List(meaning) => json!({ "type": "array", "items": text(meaning) }),
        Kind::TextsOrTables(meaning, keys) => {
            json!({ "type": "array", "items": { "anyOf": [text(meaning), table(keys)] } })
        }
        Kind::Table(keys) => return table(keys),
        Kind::Named(keys) => json!({ "type": "object", "additionalProperties": table(keys) }),
        Kind::Tables(keys) => json!({ "type": "array", "items": table(keys) }),
        Kind::Findings(words) => {
            let codes = policy::Code::ALL.iter().filter(|code| policy::is_finding(**code));
            let properties: Map<_, _> =
                codes.map(|code| (code.id().to_owned(), json!({ "enum": words }))).collect();
            json!({ "type": "object", "properties": properties, "additionalProperties": false })
        }
        Kind::Map(meaning) => json!({ "type": "object", "additionalProperties": text(meaning) }),
    };
    schema.as_object().cloned().unwrap_or_default()
}

fn text(meaning: Text) -> Value {
    match meaning {
        Text::Name => json!({ "type": "string", "pattern": "^[A-Za-z0-9_.-]+$" }),
        Text::Variable => json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" }),
        Text::PortIn | Text::PortOut => {
            json!({ "type": "string", "pattern": "^[1-9][0-9]{0,4}(:[1-9][0-9]{0,4})?$" })
        }
        Text::Source => json!({ "type": "string", "pattern": "^(env|cmd|file):.+$" }),
        Text::Method => json!({ "type": "string", "pattern": "^[A-Z]+$" }),
        Text::Proxy => json!({ "type": "string", "pattern": "^(http|socks5h)://" }),
        Text::Preset => {
            let names: Vec<_> = policy::secret_presets().iter().map(|preset| preset.name).collect();
            json!({ "enum": names })
        }
        _ => json!({ "type": "string", "minLength": 1 }),
    }
}
