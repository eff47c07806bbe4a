//! One endpoint: what it takes, what it answers, and a recorded example.

use serde_json::Value;

use super::examples;
use super::schema::{notes_of, type_of};
use crate::document::codes;
use crate::document::docs::pieces::{h3, link, p, plain, sample, table};

pub(super) struct Operation<'d> {
    method: String,
    path: &'d str,
    json: &'d Value,
}

pub(super) fn all(document: &Value) -> Vec<Operation<'_>> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let operations = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().into_iter().flatten();
        methods.map(move |(method, json)| Operation {
            method: method.to_uppercase(),
            path,
            json,
        })
    });
    operations.collect()
}

impl<'d> Operation<'d> {
    pub(super) fn id(&self) -> &'d str {
        self.json["operationId"].as_str().unwrap_or_default()
    }

    pub(super) fn tag(&self) -> &'d str {
        self.json["tags"][0].as_str().unwrap_or_default()
    }

    pub(super) fn title(&self) -> String {
        plain(self.json["summary"].as_str().unwrap_or_default())
    }

    pub(super) fn text(&self) -> String {
        let description = self.json["description"].as_str();
        [
            h3(self.id(), &self.title()),
            p(&format!("`{} {}`", self.method, self.path)),
            description.map(|text| p(&plain(text))).unwrap_or_default(),
            p(&self.callers()),
            self.parameters(),
            self.body(),
            self.answers(),
            self.codes(),
            self.example(),
        ]
        .concat()
    }

    fn callers(&self) -> String {
        let schemes = self.json["security"].as_array().into_iter().flatten();
        let names = schemes.filter_map(|scheme| scheme.as_object()?.keys().next());
        let words = names.map(|name| match name.as_str() {
            "secret_key" => "a secret key".to_owned(),
            "publishable_key" => "a publishable key".to_owned(),
            "publishable_key_query" => "a publishable key as `key` in the query".to_owned(),
            "session" => match self.json["x-permission"].as_str() {
                Some(permission) => format!("a dashboard session with `{permission}`"),
                None => "a dashboard session".to_owned(),
            },
            other => other.to_owned(),
        });
        let words: Vec<String> = words.collect();
        match words.is_empty() {
            true => "Needs no key.".to_owned(),
            false => format!("Called with {}.", words.join(", or ")),
        }
    }

    fn parameters(&self) -> String {
        let parameters = self.json["parameters"].as_array().into_iter().flatten();
        let rows: Vec<Vec<String>> = parameters
            .map(|parameter| {
                let name = parameter["name"].as_str().unwrap_or_default();
                let place = parameter["in"].as_str().unwrap_or_default();
                let need = match parameter["required"] == true {
                    true => "required",
                    false => "optional",
                };
                let about = parameter["description"].as_str().unwrap_or_default();
                let notes = [plain(about), notes_of(&parameter["schema"])];
                vec![
                    format!("`{name}`"),
                    format!("{place}, {need}"),
                    type_of(&parameter["schema"]),
                    notes.join(" ").trim().to_owned(),
                ]
            })
            .collect();
        match rows.is_empty() {
            true => String::new(),
            false => table(
                &format!("Parameters of {}", self.id()),
                &["Parameter", "Where", "Type", "Notes"],
                &rows,
            ),
        }
    }

    fn body(&self) -> String {
        let Some(schema) = self
            .json
            .pointer("/requestBody/content/application~1json/schema")
        else {
            return String::new();
        };
        let optional = match self.json["requestBody"]["required"] == true {
            true => "",
            false => ", which may be left out",
        };
        p(&format!("Body: {}{optional}.", type_of(schema)))
    }

    /// What it answers when all is well.
    fn answers(&self) -> String {
        let answers = self.json["responses"].as_object().into_iter().flatten();
        let good = answers.filter(|(status, _)| status.starts_with('2'));
        let lines = good.map(|(status, answer)| {
            let about = plain(answer["description"].as_str().unwrap_or_default());
            let content = answer["content"].as_object();
            let content = content.and_then(|content| content.iter().next());
            let body = content.map(|(kind, content)| match kind.as_str() {
                "application/json" => format!(", {}", type_of(&content["schema"])),
                kind => format!(", `{kind}`"),
            });
            p(&format!(
                "Answers {status}: {about}{}.",
                body.unwrap_or_default()
            ))
        });
        lines.collect()
    }

    /// Its error codes: first those that it declares by itself, last those that people at the dashboard are told alone.
    fn codes(&self) -> String {
        let of = |name: &str| {
            let codes = self.json[name].as_array().into_iter().flatten();
            codes.filter_map(Value::as_str).collect::<Vec<_>>()
        };
        let declared: Vec<&str> = codes::own(self.json).iter().map(|it| it.as_str()).collect();
        let by_session = of("x-session-error-codes");
        let (own, others): (Vec<&str>, Vec<&str>) = of("x-error-codes")
            .into_iter()
            .partition(|code| declared.contains(code));
        let others = others.into_iter().filter(|code| !by_session.contains(code));
        let kinds = [
            ("Error codes", own),
            ("Error codes of all endpoints like it", others.collect()),
            ("With a dashboard session also", by_session.clone()),
        ];
        let named = kinds.into_iter().filter(|(_, codes)| !codes.is_empty());
        let lines = named.map(|(name, codes)| {
            let entry = |code: &&str| link(&format!("/errors/{code}"), &format!("`{code}`"));
            let entries: Vec<String> = codes.iter().map(entry).collect();
            p(&format!("{name}: {}.", entries.join(", ")))
        });
        lines.collect()
    }

    fn example(&self) -> String {
        let Some(example) = examples::of(self.id()) else {
            return String::new();
        };
        let title = self.title();
        [
            sample("bash", &format!("{title}, with curl"), &example.curl()),
            sample(
                "typescript",
                &format!("{title}, in TypeScript"),
                &example.typescript(),
            ),
            sample("python", &format!("{title}, in Python"), &example.python()),
            sample(
                example.answer_language(),
                &format!("{title}, the answer"),
                &example.answer(),
            ),
        ]
        .concat()
    }
}
