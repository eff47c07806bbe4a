//! Which lists there are, where they are read from, and in which format.

use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The U.S. Treasury's list in its advanced XML form.
    OfacSdnAdvanced,
    /// An address a line; what follows a `#` is a comment.
    Plain,
}

impl Format {
    pub fn as_str(self) -> &'static str {
        match self {
            Format::OfacSdnAdvanced => "ofac_sdn_advanced",
            Format::Plain => "plain",
        }
    }

    pub fn parse(text: &str) -> Option<Format> {
        [Format::OfacSdnAdvanced, Format::Plain]
            .into_iter()
            .find(|format| format.as_str() == text)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListSource {
    File(PathBuf),
    Url(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListConfig {
    pub name: String,
    pub source: ListSource,
    pub format: Format,
}

impl ListConfig {
    /// Of where it is read from and how.
    pub fn digest(&self) -> [u8; 32] {
        let (kind, place) = match &self.source {
            ListSource::File(path) => ("file", path.to_string_lossy().into_owned()),
            ListSource::Url(url) => ("url", url.clone()),
        };
        Sha256::digest(format!("{}\0{kind}\0{place}", self.format.as_str())).into()
    }
}

#[derive(Clone, Debug)]
pub struct ListsConfig {
    pub lists: Vec<ListConfig>,
    pub refresh_ms: i64,
    pub max_age_ms: i64,
    /// Whether issuers' blacklists and the sanctions oracle are asked where a network has an endpoint.
    pub on_chain: bool,
    /// Trusted besides the system's; each entry is a PEM file.
    pub trusted_certificates_pem: Vec<Vec<u8>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_from_elsewhere_is_another_list() {
        let list = |source, format| ListConfig {
            name: "l".to_owned(),
            source,
            format,
        };
        let file = list(ListSource::File("a".into()), Format::Plain);
        let url = list(ListSource::Url("a".to_owned()), Format::Plain);
        let xml = list(ListSource::File("a".into()), Format::OfacSdnAdvanced);
        assert_ne!(file.digest(), url.digest());
        assert_ne!(file.digest(), xml.digest());
    }
}
