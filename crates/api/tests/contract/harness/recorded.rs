//! Calls that are recorded for the API reference, and what the server answers now held against them. With TILL_TEST_RECORD=1 the
//! file is written instead.

use serde_json::{Map, Value};

/// Stands for the address of the test's server.
const SHOWN: &str = "https://till.example";

/// Holds calls, by the endpoint's name in the document, against those in the file. Addresses are shown as others.
pub fn hold(file: &str, calls: Map<String, Value>, own: &[String], replaced: &[(&str, &str)]) {
    let mut now = serde_json::to_string_pretty(&Value::Object(calls)).unwrap();
    for address in own {
        now = now.replace(address, SHOWN);
    }
    for (address, shown) in replaced {
        now = now.replace(address, shown);
    }
    if std::env::var_os("TILL_TEST_RECORD").is_some() {
        std::fs::write(file, format!("{now}\n")).unwrap();
        return;
    }
    let now: Map<String, Value> = serde_json::from_str(&now).unwrap();
    let recorded = std::fs::read_to_string(file).unwrap();
    let recorded: Map<String, Value> = serde_json::from_str(&recorded).unwrap();
    assert_eq!(
        recorded.keys().collect::<Vec<_>>(),
        now.keys().collect::<Vec<_>>()
    );
    for (operation, recorded) in &recorded {
        let now = &now[operation];
        assert!(
            is_like(recorded, now),
            "{operation}: record it again with TILL_TEST_RECORD=1\n{recorded}\n{now}"
        );
    }
}

/// Whether two answers are of the same form: ids, times, hashes and addresses differ from run to run. Nearly all have digits; an
/// address or a slug of letters alone is long.
fn is_like(recorded: &Value, now: &Value) -> bool {
    match (recorded, now) {
        (Value::Object(recorded), Value::Object(now)) => {
            recorded.len() == now.len()
                && recorded
                    .iter()
                    .all(|(name, value)| now.get(name).is_some_and(|now| is_like(value, now)))
        }
        (Value::Array(recorded), Value::Array(now)) => {
            recorded.len() == now.len() && recorded.iter().zip(now).all(|(a, b)| is_like(a, b))
        }
        (Value::Number(_), Value::Number(_)) => true,
        (Value::String(recorded), Value::String(now)) => {
            let has_digits = |text: &str| text.contains(|c: char| c.is_ascii_digit());
            let is_long_word = |text: &str| text.len() >= 22 && !text.contains(' ');
            // A key that is shown in part may end with letters alone.
            let is_shortened = |text: &str| text.contains('…');
            let varies = |text: &str| has_digits(text) || is_long_word(text) || is_shortened(text);
            recorded == now || (varies(recorded) && varies(now))
        }
        (recorded, now) => recorded == now,
    }
}
