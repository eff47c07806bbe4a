//! Updates tell absent from null from value.

/// What a change does to one field: nothing, clear it, or set it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<T> Change<T> {
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Change::Keep => Change::Keep,
            Change::Clear => Change::Clear,
            Change::Set(value) => Change::Set(of(value)),
        }
    }
}

impl<T: Clone> Change<T> {
    pub fn apply(&self, field: &mut Option<T>) {
        match self {
            Change::Keep => {}
            Change::Clear => *field = None,
            Change::Set(value) => *field = Some(value.clone()),
        }
    }
}
