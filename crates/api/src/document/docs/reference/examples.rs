//! Requests and answers that a contract test made and recorded, shown in three languages.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

/// What the contract tests of the API, and those of the dashboard, have recorded.
const RECORDED: [&str; 2] = [
    include_str!("../examples.json"),
    include_str!("../examples_dashboard.json"),
];

/// One call of an endpoint.
#[derive(Debug, Deserialize)]
pub(super) struct Example {
    method: String,
    path: String,
    /// `secret` or `publishable`; `session` of somebody at the dashboard, `page` of somebody there who is not signed in; `none`.
    key: String,
    /// Of a session, where the endpoint has one.
    mode: Option<String>,
    /// Whether a passkey's yes comes with it.
    #[serde(default)]
    is_confirmed: bool,
    body: Option<Value>,
    answer: Value,
    /// Whether the answer is a stream, which this is the beginning of.
    #[serde(default)]
    goes_on: bool,
}

pub(super) fn of(operation: &str) -> Option<&'static Example> {
    static ALL: OnceLock<HashMap<String, Example>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let files = RECORDED.iter();
        let files = files.map(|file| serde_json::from_str::<HashMap<_, _>>(file));
        files.flat_map(Result::unwrap_or_default).collect()
    });
    all.get(operation)
}

/// What a header is set to.
enum Sent<'e> {
    Text(&'e str),
    /// A variable of the environment, behind a few letters.
    Variable(&'static str, &'static str),
    /// A value that nobody else has.
    Fresh,
}

impl Example {
    fn headers(&self) -> Vec<(&'static str, Sent<'_>)> {
        use Sent::{Fresh, Text, Variable};
        let is_post = self.is_post();
        let mut headers = match self.key.as_str() {
            "secret" => vec![("Authorization", Variable("Bearer ", "TILL_SECRET_KEY"))],
            "publishable" => vec![("Authorization", Variable("Bearer ", "TILL_PUBLISHABLE_KEY"))],
            "session" => vec![("Cookie", Variable("__Host-till_session=", "TILL_SESSION"))],
            _ => Vec::new(),
        };
        if is_post && matches!(self.key.as_str(), "session" | "page") {
            headers.push(("Origin", Variable("", "TILL_URL")));
        }
        if is_post && self.key == "session" {
            headers.push(("Till-CSRF", Variable("", "TILL_CSRF")));
        }
        if let Some(mode) = &self.mode {
            headers.push(("Till-Mode", Text(mode)));
        }
        if self.is_confirmed {
            headers.push(("Till-Confirmation", Variable("", "TILL_CONFIRMATION")));
        }
        if is_post {
            headers.push(("Idempotency-Key", Fresh));
        }
        if self.body.is_some() {
            headers.push(("Content-Type", Text("application/json")));
        }
        headers
    }

    fn is_post(&self) -> bool {
        self.method == "POST"
    }

    pub(super) fn curl(&self) -> String {
        let options = if self.goes_on { "-N " } else { "" };
        let mut lines = vec![format!("curl {options}\"$TILL_URL{}\"", self.path)];
        // It takes a call with a body for a POST by itself.
        if self.is_post() && self.body.is_none() {
            lines.push("-X POST".to_owned());
        }
        for (name, sent) in self.headers() {
            let value = match sent {
                Sent::Text(text) => text.to_owned(),
                Sent::Variable(before, name) => format!("{before}${name}"),
                Sent::Fresh => "$(uuidgen)".to_owned(),
            };
            lines.push(format!("-H \"{name}: {value}\""));
        }
        if let Some(body) = &self.body {
            lines.push(format!("-d '{}'", pretty(body).replace('\'', "'\\''")));
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
        for (name, sent) in self.headers() {
            let name = match name.contains('-') {
                true => format!("\"{name}\""),
                false => name.to_owned(),
            };
            let value = match sent {
                Sent::Text(text) => format!("\"{text}\""),
                Sent::Variable(before, name) => format!("`{before}${{process.env.{name}}}`"),
                Sent::Fresh => "crypto.randomUUID()".to_owned(),
            };
            writeln!(text, "    {name}: {value},").ok();
        }
        text.push_str("  },\n");
        if let Some(body) = &self.body {
            let body = indented(&pretty(body), "  ");
            writeln!(text, "  body: JSON.stringify({body}),").ok();
        }
        text.push_str("});\n");
        text.push_str(match (self.goes_on, &self.answer) {
            (true, _) => {
                "const pieces = response.body?.pipeThrough(new TextDecoderStream()) ?? [];\nfor await (const piece of pieces) console.log(piece);\n"
            }
            (false, Value::String(_)) => "const answer = await response.text();\n",
            (false, _) => "const answer = await response.json();\n",
        });
        text
    }

    pub(super) fn python(&self) -> String {
        let (has_json, is_json) = (self.body.is_some(), !self.answer.is_string());
        let mut imports = vec!["os", "urllib.request"];
        if has_json || is_json {
            imports.insert(0, "json");
        }
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
        if self.is_post() {
            text.push_str("    method=\"POST\",\n");
        }
        if let Some(body) = &self.body {
            let body = indented(&python_value(body), "    ");
            writeln!(text, "    data=json.dumps({body}).encode(),").ok();
        }
        let headers = self.headers().into_iter().map(|(name, sent)| {
            let value = match sent {
                Sent::Text(text) => format!("\"{text}\""),
                Sent::Variable("", name) => format!("os.environ[\"{name}\"]"),
                Sent::Variable(before, name) => format!("\"{before}\" + os.environ[\"{name}\"]"),
                Sent::Fresh => "str(uuid.uuid4())".to_owned(),
            };
            format!("        \"{name}\": {value},\n")
        });
        let headers: String = headers.collect();
        if !headers.is_empty() {
            writeln!(text, "    headers={{\n{headers}    }},").ok();
        }
        text.push_str(")\nwith urllib.request.urlopen(request) as response:\n    ");
        text.push_str(match (self.goes_on, is_json) {
            (true, _) => "for line in response:\n        print(line.decode(), end=\"\")\n",
            (false, false) => "answer = response.read().decode()\n",
            (false, true) => "answer = json.load(response)\n",
        });
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
            mode: None,
            is_confirmed: false,
            body: Some(json!({ "active": true, "note": "it's" })),
            answer: json!({ "id": "x" }),
            goes_on: false,
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
        let act = Example {
            key: "session".to_owned(),
            mode: Some("test".to_owned()),
            body: None,
            ..self::example()
        };
        assert!(
            act.curl()
                .contains("-X POST \\\n  -H \"Cookie: __Host-till_session=$TILL_SESSION\"")
        );
        assert!(
            act.typescript()
                .contains("    \"Till-CSRF\": `${process.env.TILL_CSRF}`,\n")
        );
        assert!(act.python().contains("        \"Till-Mode\": \"test\",\n"));
        assert!(!act.curl().contains("-d") && !act.python().contains("data="));
        let get = Example {
            method: "GET".to_owned(),
            body: None,
            ..example
        };
        assert_eq!(get.curl().lines().count(), 2);
        assert!(!get.python().contains("uuid") && !get.typescript().contains("method"));
    }
}
