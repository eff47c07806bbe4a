//! Types and objects of the OpenAPI document, in words.

use serde_json::Value;

use crate::document::docs::pieces::{p, plain, table};

const LIST: &str = "List_";

/// Pages of lists are all alike, and said in place.
pub(super) fn is_list(name: &str) -> bool {
    name.starts_with(LIST)
}

/// What a value is: `string or null`, `array of Payment`, one of some words.
pub(super) fn type_of(schema: &Value) -> String {
    if let Some(name) = referred(schema) {
        return match name.strip_prefix(LIST) {
            Some(item) => format!("a list of [{item}](#{item})"),
            None => format!("[{name}](#{name})"),
        };
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(choices) = schema[choice].as_array() {
            let choices: Vec<String> = choices.iter().map(type_of).collect();
            return choices.join(" or ");
        }
    }
    if let Some(constant) = schema["const"].as_str() {
        return format!("`{constant}`");
    }
    let mut types = named_types(schema);
    if let Some(words) = schema["enum"].as_array() {
        let words = words.iter().filter_map(Value::as_str);
        let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
        types.retain(|name| *name == "null");
        let one_of = format!("one of {}", words.join(", "));
        return [one_of]
            .into_iter()
            .chain(types)
            .collect::<Vec<_>>()
            .join(" or ");
    }
    types.join(" or ")
}

fn named_types(schema: &Value) -> Vec<String> {
    let names: Vec<&str> = match &schema["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        name => name.as_str().into_iter().collect(),
    };
    let word = |name: &str| match name {
        "array" => format!("array of {}", type_of(&schema["items"])),
        "object" if schema["additionalProperties"].is_object() => {
            format!("map to {}", type_of(&schema["additionalProperties"]))
        }
        "string" if schema["format"] == "date-time" => "date-time".to_owned(),
        name => name.to_owned(),
    };
    names.into_iter().map(word).collect()
}

fn referred(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// What is said of a value, and its limits.
pub(super) fn notes_of(schema: &Value) -> String {
    let mut notes = Vec::new();
    if let Some(about) = description(schema) {
        notes.push(plain(about));
    }
    let number = |name: &str| schema[name].as_i64();
    let between = |least: Option<i64>, most: Option<i64>, what: &str| match (least, most) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}{what}.")),
        (Some(least), None) => Some(format!("At least {least}{what}.")),
        (None, Some(most)) => Some(format!("At most {most}{what}.")),
        (None, None) => None,
    };
    notes.extend(between(number("minimum"), number("maximum"), ""));
    notes.extend(between(
        number("minLength"),
        number("maxLength"),
        " characters",
    ));
    notes.extend(between(number("minItems"), number("maxItems"), " items"));
    notes.extend(between(
        number("minProperties"),
        number("maxProperties"),
        " pairs",
    ));
    if !schema["default"].is_null() {
        notes.push(format!("Default: `{}`.", schema["default"]));
    }
    notes.join(" ")
}

/// A choice that may be null has its words at the other choice.
fn description(schema: &Value) -> Option<&str> {
    let own = schema["description"].as_str();
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    own.or_else(|| choices.filter_map(|it| it["description"].as_str()).next())
}

/// An object of the document: what it is, and its fields.
pub(super) fn text(name: &str, schema: &Value) -> String {
    let about = schema["description"].as_str().map(|about| p(&plain(about)));
    let shape = match (schema["properties"].is_object(), variants(schema)) {
        (true, _) => fields(name, schema, name),
        (false, variants) if !variants.is_empty() => {
            let variant = |(tag, of): &(&str, &Value)| variant_text(name, tag, of);
            variants.iter().map(variant).collect()
        }
        (false, _) => p(&format!("{}.", type_of(schema))),
    };
    [about.unwrap_or_default(), shape].concat()
}

/// The objects that a value is one of, each with the word in its `scheme` or the like that tells it from the others.
fn variants(schema: &Value) -> Vec<(&str, &Value)> {
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    let tagged = choices.filter_map(|of| {
        let fields = of["properties"].as_object()?;
        let tag = fields.values().find_map(only_word)?;
        Some((tag, of))
    });
    tagged.collect()
}

/// The word that a field always has.
fn only_word(schema: &Value) -> Option<&str> {
    let words = schema["enum"].as_array().filter(|words| words.len() == 1);
    words.map_or(&schema["const"], |words| &words[0]).as_str()
}

fn variant_text(name: &str, tag: &str, schema: &Value) -> String {
    let about = schema["description"].as_str().map(|about| p(&plain(about)));
    let caption = format!("{name}, `{tag}`");
    let shape = fields(&caption, schema, &format!("{name}.{tag}"));
    [about.unwrap_or_default(), shape].concat()
}

fn fields(caption: &str, schema: &Value, anchor: &str) -> String {
    let mut rows = Vec::new();
    add_rows(&mut rows, schema, anchor, "");
    table(
        &format!("Fields of {caption}"),
        &["Field", "Type", "Present", "Notes"],
        &rows,
    )
}

/// The fields of an object, each followed by its own where it is an object without a name.
fn add_rows(rows: &mut Vec<Vec<String>>, schema: &Value, anchor: &str, within: &str) {
    let required = schema["required"].as_array().into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    for (field, of) in schema["properties"].as_object().into_iter().flatten() {
        let presence = match required.contains(&field.as_str()) {
            true => "always",
            false => "may be absent",
        };
        let path = format!("{within}{field}");
        rows.push(vec![
            format!("<span id=\"{anchor}.{path}\">`{path}`</span>"),
            type_of(of),
            presence.to_owned(),
            notes_of(of),
        ]);
        add_rows(rows, of, anchor, &format!("{path}."));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_and_limits_are_said_in_words() {
        for (schema, words) in [
            (json!({ "type": ["string", "null"] }), "string or null"),
            (
                json!({ "type": "string", "format": "date-time" }),
                "date-time",
            ),
            (
                json!({ "type": "array", "items": { "$ref": "#/components/schemas/Payment" } }),
                "array of [Payment](#Payment)",
            ),
            (
                json!({ "$ref": "#/components/schemas/List_Payment" }),
                "a list of [Payment](#Payment)",
            ),
            (
                json!({ "oneOf": [{ "type": "null" }, { "type": "boolean" }] }),
                "null or boolean",
            ),
            (
                json!({ "type": ["string", "null"], "enum": ["a", "b"] }),
                "one of `a`, `b` or null",
            ),
            (
                json!({ "type": "object", "additionalProperties": { "type": "string" } }),
                "map to string",
            ),
            (json!({ "type": "string", "const": "invoice" }), "`invoice`"),
        ] {
            assert_eq!(type_of(&schema), words);
        }
        let schema =
            json!({ "description": "Yours.", "minimum": 1, "maximum": 100, "default": 10 });
        assert_eq!(notes_of(&schema), "Yours. 1 to 100. Default: `10`.");
        assert_eq!(
            notes_of(&json!({ "maxLength": 500 })),
            "At most 500 characters."
        );
    }
}
