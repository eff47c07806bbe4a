//! `metadata`: the merchant's own data, kept as the JSON text it is shown as.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use sqlx::error::BoxDynError;

use crate::sql::{Cells, Field};
use crate::{StoreError, Val};

/// An object of texts, as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata(String);

impl Metadata {
    pub fn new(entries: &BTreeMap<String, String>) -> Metadata {
        // Texts always have a JSON form.
        Metadata(serde_json::to_string(entries).unwrap_or_else(|_| "{}".to_owned()))
    }

    /// As it is shown.
    pub fn raw(&self) -> Result<&RawValue, StoreError> {
        serde_json::from_str(&self.0).map_err(|error| self.corrupt(error))
    }

    pub fn entries(&self) -> Result<BTreeMap<String, String>, StoreError> {
        serde_json::from_str(&self.0).map_err(|error| self.corrupt(error))
    }

    fn corrupt(&self, error: serde_json::Error) -> StoreError {
        StoreError::corrupt("?", "metadata", "?", error)
    }
}

impl Default for Metadata {
    fn default() -> Metadata {
        Metadata("{}".to_owned())
    }
}

impl Field for Metadata {
    const NULL: Val = Val::NullText;

    fn read(cells: &impl Cells, at: usize) -> Result<Metadata, BoxDynError> {
        Ok(Metadata(cells.text(at)?.to_owned()))
    }

    fn write(&self) -> Val {
        Val::from(&self.0)
    }
}
