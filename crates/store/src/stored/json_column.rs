//! A type of the domain in a text column, as JSON.

/// Keeps a type of the domain in a text column, by its stored form.
macro_rules! stored {
    ($ty:ty as $form:ty) => {
        impl $crate::sql::Field for $ty {
            const NULL: $crate::Val = $crate::Val::NullText;

            fn read(
                cells: &impl $crate::sql::Cells,
                at: usize,
            ) -> Result<$ty, sqlx::error::BoxDynError> {
                let form: $form = serde_json::from_str(cells.text(at)?)?;
                Ok(form.into())
            }

            fn write(&self) -> $crate::Val {
                let form = <$form>::from(self);
                // Plain structs of texts and numbers always have a JSON form.
                $crate::Val::from(serde_json::to_string(&form).unwrap_or_default())
            }
        }
    };
}
pub(crate) use stored;
