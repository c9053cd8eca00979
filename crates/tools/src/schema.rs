//! Schemas in the forms that providers of models accept.
//!
//! All forms are plain: no references, no unions, one type for each value, and no formats of numbers. They differ in how a parameter is left
//! out, and in which keywords are known.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// The form of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaForm {
    /// JSON Schema with `default`, closed objects, and parameters that may be left out.
    Standard,
    /// For function calling in strict mode: every parameter is required, one that may be left out may be null, and there are no
    /// defaults; the description tells them.
    Strict,
    /// For function declarations in a subset of `OpenAPI` 3.0, which has no `additionalProperties`.
    OpenApi,
}

/// The schema of a type.
pub(crate) fn of<P: JsonSchema>(form: SchemaForm) -> Schema {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<P>().to_value();
    plain(&mut schema);
    match form {
        SchemaForm::Standard => {}
        SchemaForm::Strict => strict(&mut schema),
        SchemaForm::OpenApi => each(&mut schema, &|object| drop(object.remove("additionalProperties"))),
    }
    match schema {
        Value::Object(object) => object.into(),
        // No parameters at all are better than any.
        _ => false.into(),
    }
}

/// Takes out what generators add and providers refuse.
fn plain(schema: &mut Value) {
    if let Some(object) = schema.as_object_mut() {
        // The sentence about the type says nothing about the call.
        object.remove("description");
    }
    each(schema, &|object| {
        for keyword in ["title", "format", "$schema", "$defs"] {
            object.remove(keyword);
        }
        if object
            .get("default")
            .is_some_and(|value| value.is_null() || value.as_array().is_some_and(Vec::is_empty))
        {
            object.remove("default");
        }
        enumerated(object);
        one_type(object);
    });
}

/// `oneOf` with constants becomes a list of values, and what each means becomes a part of the sentence.
fn enumerated(object: &mut Map<String, Value>) {
    let Some(variants) = object.get("oneOf").and_then(Value::as_array) else { return };
    let Some(values) =
        variants.iter().map(|variant| variant.get("const").cloned()).collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let meanings: Vec<_> = variants
        .iter()
        .filter_map(|variant| {
            let text = variant["description"].as_str()?.trim_end_matches('.');
            Some(format!("`{}`: {}", variant["const"].as_str()?, text))
        })
        .collect();
    let sentence = object.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("{sentence} {}.", meanings.join("; "));
    object.remove("oneOf");
    object.insert("type".to_owned(), "string".into());
    object.insert("enum".to_owned(), values.into());
    object.insert("description".to_owned(), description.trim_start().into());
}

/// A value that may be left out has its type; null is read as left out all the same.
fn one_type(object: &mut Map<String, Value>) {
    let Some(Value::Array(types)) = object.get_mut("type") else { return };
    types.retain(|one| one != "null");
    if let [one] = types.as_slice() {
        let one = one.clone();
        object.insert("type".to_owned(), one);
    }
}

fn strict(schema: &mut Value) {
    each(schema, &|object| {
        if let Some(default) = object.remove("default") {
            let text = object.get("description").and_then(Value::as_str).unwrap_or_default();
            let text = format!("{text} If it is null, {default}.");
            object.insert("description".to_owned(), text.into());
        }
        let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
        let names: Vec<Value> = properties.keys().map(|name| json!(name)).collect();
        for (_, property) in properties.iter_mut().filter(|(name, _)| !required.contains(&json!(name))) {
            if let Some(kind) = property.get("type").cloned() {
                property["type"] = json!([kind, "null"]);
            }
            if let Some(Value::Array(values)) = property.get_mut("enum") {
                values.push(Value::Null);
            }
        }
        object.insert("required".to_owned(), names.into());
    });
}

/// Changes a schema and all schemas in it, the inner ones last.
fn each(schema: &mut Value, change: &dyn Fn(&mut Map<String, Value>)) {
    let Value::Object(object) = schema else { return };
    change(object);
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(|property| each(property, change));
    }
    if let Some(items) = object.get_mut("items") {
        each(items, change);
    }
}
