//! The JSON that is kept in columns. It is a format of its own: whatever was ever written is read for ever, and
//! renaming something in the domain cannot touch it. `golden/` has a file of every form that was ever written.
//!
//! A form is changed by adding fields that have a default, so that older rows read as before.

mod json_column;
mod lists;
mod metadata;
mod options;
mod position;
mod refund;
mod screening;
mod sources;
mod summary;

pub use metadata::Metadata;
pub use refund::RefundDetail;

#[cfg(test)]
pub(crate) mod golden {
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    /// Every form in the file reads as the value; the newest, which is the last, is what is written today.
    pub(crate) fn check<F, T>(forms: &str, value: &T)
    where
        F: DeserializeOwned + Serialize + Into<T> + for<'v> From<&'v T>,
        T: PartialEq + std::fmt::Debug,
    {
        let forms: Vec<&str> = forms.lines().filter(|line| !line.is_empty()).collect();
        for form in &forms {
            let read: F =
                serde_json::from_str(form).unwrap_or_else(|error| panic!("{form}: {error}"));
            assert_eq!(&read.into(), value, "{form}");
        }
        let written = serde_json::to_string(&F::from(value)).expect("JSON");
        assert_eq!(Some(&written.as_str()), forms.last());
    }
}
