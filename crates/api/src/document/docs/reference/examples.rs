//! Requests and answers that a contract test made and recorded, shown in three languages.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

const RECORDED: &str = include_str!("../examples.json");

/// One call of an endpoint.
#[derive(Debug, Deserialize)]
pub(super) struct Example {
    method: String,
    path: String,
    /// `secret`, `publishable` or `none`.
    key: String,
    body: Option<Value>,
    answer: Value,
}

pub(super) fn of(operation: &str) -> Option<&'static Example> {
    static ALL: OnceLock<HashMap<String, Example>> = OnceLock::new();
    let all = ALL.get_or_init(|| serde_json::from_str(RECORDED).unwrap_or_default());
    all.get(operation)
}

impl Example {
    fn key_variable(&self) -> Option<&'static str> {
        match self.key.as_str() {
            "secret" => Some("TILL_SECRET_KEY"),
            "publishable" => Some("TILL_PUBLISHABLE_KEY"),
            _ => None,
        }
    }

    fn is_post(&self) -> bool {
        self.method == "POST"
    }

    pub(super) fn curl(&self) -> String {
        let mut lines = vec![format!("curl \"$TILL_URL{}\"", self.path)];
        if let Some(key) = self.key_variable() {
            lines.push(format!("-H \"Authorization: Bearer ${key}\""));
        }
        if self.is_post() {
            lines.push("-H \"Idempotency-Key: $(uuidgen)\"".to_owned());
            lines.push("-H \"Content-Type: application/json\"".to_owned());
            let body = self.body.as_ref().map_or_else(|| "{}".to_owned(), pretty);
            lines.push(format!("-d '{}'", body.replace('\'', "'\\''")));
        }
        lines.join(" \\\n  ")
    }

    pub(super) fn typescript(&self) -> String {
        let mut text = format!(
            "const response = await fetch(`${{process.env.TILL_URL}}{}`, {{\n",
            self.path
        );
        if self.is_post() {
            text.push_str("  method: \"POST\",\n");
        }
        text.push_str("  headers: {\n");
        if let Some(key) = self.key_variable() {
            writeln!(text, "    Authorization: `Bearer ${{process.env.{key}}}`,").ok();
        }
        if self.is_post() {
            text.push_str("    \"Idempotency-Key\": crypto.randomUUID(),\n");
            text.push_str("    \"Content-Type\": \"application/json\",\n");
        }
        text.push_str("  },\n");
        if self.is_post() {
            let body = self.body.as_ref().map_or_else(|| "{}".to_owned(), pretty);
            writeln!(text, "  body: JSON.stringify({}),", indented(&body, "  ")).ok();
        }
        let read = match self.answer {
            Value::String(_) => "text",
            _ => "json",
        };
        writeln!(text, "}});\nconst answer = await response.{read}();").ok();
        text
    }

    pub(super) fn python(&self) -> String {
        let mut imports = vec!["json", "os", "urllib.request"];
        if self.is_post() {
            imports.push("uuid");
        }
        let mut text: String = imports.iter().map(|it| format!("import {it}\n")).collect();
        writeln!(
            text,
            "\nrequest = urllib.request.Request(\n    os.environ[\"TILL_URL\"] + {:?},",
            self.path
        )
        .ok();
        let mut headers = Vec::new();
        if let Some(key) = self.key_variable() {
            headers.push(format!(
                "        \"Authorization\": \"Bearer \" + os.environ[\"{key}\"],\n"
            ));
        }
        if self.is_post() {
            text.push_str("    method=\"POST\",\n");
            headers.push("        \"Idempotency-Key\": str(uuid.uuid4()),\n".to_owned());
            headers.push("        \"Content-Type\": \"application/json\",\n".to_owned());
            let body = self
                .body
                .as_ref()
                .map_or_else(|| "{}".to_owned(), python_value);
            writeln!(
                text,
                "    data=json.dumps({}).encode(),",
                indented(&body, "    ")
            )
            .ok();
        }
        if !headers.is_empty() {
            writeln!(text, "    headers={{\n{}    }},", headers.concat()).ok();
        }
        let read = match self.answer {
            Value::String(_) => "response.read().decode()",
            _ => "json.load(response)",
        };
        writeln!(
            text,
            ")\nwith urllib.request.urlopen(request) as response:\n    answer = {read}"
        )
        .ok();
        text
    }

    pub(super) fn answer_language(&self) -> &'static str {
        match self.answer {
            Value::String(_) => "text",
            _ => "json",
        }
    }

    pub(super) fn answer(&self) -> String {
        match &self.answer {
            Value::String(text) => text.clone(),
            json => pretty(json),
        }
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn indented(text: &str, by: &str) -> String {
    text.replace('\n', &format!("\n{by}"))
}

/// JSON is almost Python, but for three words.
fn python_value(value: &Value) -> String {
    let text = pretty(value);
    let line = |line: &str| {
        let (before, comma) = match line.strip_suffix(',') {
            Some(before) => (before, ","),
            None => (line, ""),
        };
        let word = before.rsplit(' ').next().unwrap_or_default();
        let python = match word {
            "true" => "True",
            "false" => "False",
            "null" => "None",
            _ => return line.to_owned(),
        };
        let start = before.strip_suffix(word).unwrap_or_default();
        format!("{start}{python}{comma}")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn example() -> Example {
        Example {
            method: "POST".to_owned(),
            path: "/v1/x".to_owned(),
            key: "secret".to_owned(),
            body: Some(json!({ "active": true, "note": "it's" })),
            answer: json!({ "id": "x" }),
        }
    }

    #[test]
    fn a_call_is_written_in_each_language() {
        let example = example();
        assert_eq!(
            example.curl(),
            "curl \"$TILL_URL/v1/x\" \\\n  -H \"Authorization: Bearer $TILL_SECRET_KEY\" \\\n  \
             -H \"Idempotency-Key: $(uuidgen)\" \\\n  -H \"Content-Type: application/json\" \\\n  \
             -d '{\n  \"active\": true,\n  \"note\": \"it'\\''s\"\n}'"
        );
        assert!(
            example
                .typescript()
                .contains("  body: JSON.stringify({\n    \"active\": true,\n")
        );
        assert!(
            example
                .python()
                .contains("    data=json.dumps({\n      \"active\": True,\n")
        );
        let get = Example {
            method: "GET".to_owned(),
            body: None,
            ..example
        };
        assert_eq!(get.curl().lines().count(), 2);
        assert!(!get.python().contains("uuid") && !get.typescript().contains("method"));
    }
}
