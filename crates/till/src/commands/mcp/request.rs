//! From a tool's arguments to the request that is made of them.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::tools::{ApiTool, BODY};

#[derive(Debug, PartialEq, Eq)]
pub struct Request<'t> {
    pub path: String,
    pub query: Vec<(&'t str, String)>,
    pub body: Value,
}

/// The request, or a sentence about the argument that is wrong. Values of the query and the body are the server's to judge.
pub fn build(tool: &ApiTool, mut arguments: JsonObject) -> Result<Request<'_>, String> {
    let mut path = tool.path.clone();
    for name in &tool.path_names {
        let given = arguments.remove(name);
        let given = given.as_ref().and_then(Value::as_str);
        let given = given.filter(|it| is_one_segment(it));
        let given =
            given.ok_or_else(|| format!("`{name}` must be an id as the API answers with"))?;
        path = path.replace(&format!("{{{name}}}"), given);
    }
    let mut query = Vec::new();
    for name in &tool.query_names {
        let text = match arguments.remove(name) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => text,
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Bool(is)) => is.to_string(),
            Some(_) => return Err(format!("`{name}` must be a text, a number or a yes or no")),
        };
        query.push((name.as_str(), text));
    }
    let body = arguments.remove(BODY).unwrap_or_else(|| json!({}));
    match arguments.keys().next() {
        Some(other) => Err(format!(
            "`{other}` is no argument of {}; fields of the request go into `body`",
            tool.shown.name
        )),
        None => Ok(Request { path, query, body }),
    }
}

/// Nothing that could lead to another endpoint.
fn is_one_segment(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::super::tools;
    use super::*;

    fn tool(name: &str) -> ApiTool {
        let mut tools = tools::from_document(till_api::openapi_json()).into_iter();
        tools.find(|it| it.shown.name == name).unwrap()
    }

    fn arguments(of: &Value) -> JsonObject {
        of.as_object().unwrap().clone()
    }

    #[test]
    fn arguments_go_where_the_endpoint_wants_them() {
        let list = tool("list_payment_links");
        let given = json!({ "limit": 5, "active": true, "cursor": null });
        let request = build(&list, arguments(&given)).unwrap();
        assert_eq!(request.path, "/v1/payment_links");
        let query = [("limit", "5".to_owned()), ("active", "true".to_owned())];
        assert_eq!(request.query, query);
        let pay = tool("simulate_payment");
        let given = json!({ "id": "inv_1", "body": { "amount": "5" } });
        let request = build(&pay, arguments(&given)).unwrap();
        assert_eq!(
            request.path,
            "/v1/test_helpers/invoices/inv_1/simulate_payment"
        );
        assert_eq!(request.body, json!({ "amount": "5" }));
    }

    #[test]
    fn no_argument_leads_to_another_endpoint() {
        let retrieve = tool("retrieve_invoice");
        for id in [
            json!("../merchant/settings"),
            json!("%2e%2e"),
            json!("inv_1?key=x"),
            json!("inv_1/cancel"),
            json!(".."),
            json!(""),
            json!(1),
            json!(null),
        ] {
            let refused = build(&retrieve, arguments(&json!({ "id": id })));
            assert!(refused.unwrap_err().contains("`id`"), "{id}");
        }
        assert!(
            build(&retrieve, JsonObject::new())
                .unwrap_err()
                .contains("`id`")
        );
        let stray = build(&retrieve, arguments(&json!({ "id": "inv_1", "key": "x" })));
        assert!(stray.unwrap_err().contains("`key`"));
    }
}
