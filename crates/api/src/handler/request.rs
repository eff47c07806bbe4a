//! Requests as types that say everything once: the shape a body is held against, how each field is read, and
//! what the OpenAPI document says of it.

use std::future::{Future, ready};

use till_engine::base::Change;
use till_engine::merchants::accounts::Caller;
use till_http::fields::{Fields, JsonType, Member, Patch, Presence, Typed};
use till_http::json::Json;
use till_http::query::Query;
use till_http::read::{Read, invalid};

use super::failure::Failure;
use super::state::Api;

/// What a POST takes.
pub trait Body: Sized + Send + Sync {
    fn read(bytes: Option<&[u8]>) -> Read<Self>;

    /// What somebody must be asked about, before a unit of work begins.
    fn check(
        &self,
        _api: &Api,
        _caller: &Caller,
    ) -> impl Future<Output = Result<(), Failure>> + Send {
        ready(Ok(()))
    }
}

/// Where no body is taken, `{}` is accepted and any field is unknown.
pub struct NoBody;

impl Body for NoBody {
    fn read(bytes: Option<&[u8]>) -> Read<NoBody> {
        Fields::of(bytes, &[]).map(|_| NoBody)
    }
}

/// The query parameters a GET takes.
pub trait Params: Sized + Send + Sync {
    fn names(known: &mut Vec<&'static str>);

    fn read(query: &mut Query) -> Read<Self>;
}

/// None at all.
pub struct NoParams;

impl Params for NoParams {
    fn names(_: &mut Vec<&'static str>) {}

    fn read(_: &mut Query) -> Read<NoParams> {
        Ok(NoParams)
    }
}

/// Declares the body of a request: each field with its type and, behind `=`, its reader.
macro_rules! body {
    (
        $(#[$about:meta])*
        $vis:vis struct $Name:ident {
            $($(#[$field_about:meta])* $field:ident: $type:ty = $reader:expr,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, utoipa::ToSchema)]
        $vis struct $Name {
            $($(#[$field_about])* pub $field: $type,)*
        }

        impl $crate::handler::request::Body for $Name {
            fn read(bytes: Option<&[u8]>) -> till_http::read::Read<$Name> {
                const SHAPE: &[till_http::fields::Field] =
                    &[$(till_http::fields::field::<$type>(stringify!($field)),)*];
                let mut fields = till_http::fields::Fields::of(bytes, SHAPE)?;
                Ok($Name {
                    $($field: fields.read(stringify!($field), $reader)?,)*
                })
            }
        }
    };
}
pub(crate) use body;

/// Declares query parameters in the same way.
macro_rules! params {
    (
        $(#[$about:meta])*
        $vis:vis struct $Name:ident {
            $($(#[$field_about:meta])* $field:ident: $type:ty = $reader:expr,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, utoipa::IntoParams)]
        #[into_params(parameter_in = Query)]
        $vis struct $Name {
            $($(#[$field_about])* pub $field: $type,)*
        }

        impl $crate::handler::request::Params for $Name {
            fn names(known: &mut Vec<&'static str>) {
                known.extend([$($crate::handler::request::name(stringify!($field)),)*]);
            }

            fn read(query: &mut till_http::query::Query) -> till_http::read::Read<$Name> {
                Ok($Name {
                    $($field: query.read($crate::handler::request::name(stringify!($field)), $reader)?,)*
                })
            }
        }
    };
}
pub(crate) use params;

/// A field's name as requests have it: `r#type` is Rust's spelling of `type`.
pub fn name(field: &'static str) -> &'static str {
    field.strip_prefix("r#").unwrap_or(field)
}

/// What an update's field asks for.
pub fn change<T>(patch: Patch<T>) -> Change<T> {
    match patch {
        Patch::Absent => Change::Keep,
        Patch::Null => Change::Clear,
        Patch::Value(value) => Change::Set(value),
    }
}

/// What every such thing has: an update may set it or leave it, but not clear it.
#[derive(Clone, Debug)]
pub struct Settable<T>(Option<T>);

impl<T> Settable<T> {
    pub fn change(self) -> Change<T> {
        self.0.map_or(Change::Keep, Change::Set)
    }
}

impl<T: Typed> Member for Settable<T> {
    type Value = T;
    const JSON: JsonType = T::JSON;
    const PRESENCE: Presence = Presence::Optional;

    fn read(
        at: &str,
        sent: Option<Json>,
        read: impl FnOnce(&str, Json) -> Read<T>,
    ) -> Read<Settable<T>> {
        match sent {
            None => Ok(Settable(None)),
            Some(Json::Null) => Err(invalid(at, format!("`{at}` cannot be cleared."))),
            Some(value) => Ok(Settable(Some(read(at, value)?))),
        }
    }
}
