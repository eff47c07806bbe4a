//! The few words of that page, in the languages of the checkout.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use http::{HeaderMap, header};

type Texts = BTreeMap<String, String>;

/// What is said in one language.
pub struct Words {
    pub language: String,
    texts: Texts,
}

impl Words {
    pub fn get(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    pub fn direction(&self) -> &'static str {
        match self.language.as_str() {
            "ar" | "fa" => "rtl",
            _ => "ltr",
        }
    }
}

const SOURCE: &str = include_str!("words.json");
const FALLBACK: &str = "en";

fn all() -> &'static [Words] {
    static ALL: OnceLock<Vec<Words>> = OnceLock::new();
    ALL.get_or_init(|| {
        // Part of this program; the test below reads it.
        let read: BTreeMap<String, Texts> = serde_json::from_str(SOURCE).unwrap_or_default();
        let words = read.into_iter();
        words
            .map(|(language, texts)| Words { language, texts })
            .collect()
    })
}

/// The first language asked for that there is; its order is the browser's, which is the payer's.
pub fn for_request(headers: &HeaderMap) -> &'static Words {
    let asked = headers.get(header::ACCEPT_LANGUAGE);
    let asked = asked.and_then(|value| value.to_str().ok()).unwrap_or("");
    let base = |code: &str| {
        code.split('-')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase()
    };
    let wanted = asked
        .split(',')
        .map(|one| one.split(';').next().unwrap_or_default().trim());
    let find = |want: &str| {
        all()
            .iter()
            .find(|words| base(&words.language) == base(want))
    };
    let fallback = || all().iter().find(|words| words.language == FALLBACK);
    wanted
        .filter_map(find)
        .next()
        .or_else(fallback)
        .unwrap_or(&EMPTY)
}

static EMPTY: Words = Words {
    language: String::new(),
    texts: BTreeMap::new(),
};

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn every_language_says_everything() {
        let english = all().iter().find(|words| words.language == "en").unwrap();
        assert_eq!(all().len(), 12);
        for words in all() {
            let names: Vec<_> = words.texts.keys().collect();
            assert_eq!(
                names,
                english.texts.keys().collect::<Vec<_>>(),
                "{}",
                words.language
            );
            assert!(words.texts.values().all(|text| !text.trim().is_empty()));
        }
    }

    #[test]
    fn the_first_language_that_there_is_is_spoken() {
        let spoken = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static(value));
            for_request(&headers).language.as_str()
        };
        assert_eq!(spoken("de-AT,de;q=0.9,en;q=0.8"), "de");
        assert_eq!(spoken("ja, pt;q=0.9"), "pt-BR");
        assert_eq!(spoken("zh-TW"), "zh-Hans");
        assert_eq!(spoken("ja"), "en");
        assert_eq!(for_request(&HeaderMap::new()).language, "en");
    }
}
