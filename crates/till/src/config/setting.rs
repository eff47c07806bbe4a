//! What a setting is, and the macro that declares a section of them: each is named once, with its type, default, bounds and
//! meaning. The fields of [`super::Config`], their reading, the names that files, variables and flags may use, and the
//! reference that `till config` prints all come from that one line.

/// How a text from the environment or a flag becomes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Flag,
    Number,
    List,
    Map,
    Tables,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    None,
    Text(&'static str),
    Flag(bool),
    Number(u32),
}

#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub section: &'static str,
    pub key: &'static str,
    pub kind: Kind,
    pub default: DefaultValue,
    pub meaning: &'static str,
    /// Its value may hold a password or a provider's key, and is never shown.
    pub is_secret: bool,
}

impl Setting {
    pub fn name(&self) -> String {
        format!("{}.{}", self.section, self.key)
    }

    pub fn variable(&self) -> String {
        format!("TILL_{}_{}", self.section, self.key).to_uppercase()
    }
}

/// Declares a section: a struct, `SETTINGS` (what there is to know of its fields) and `read`, which takes the values out.
/// `field: Type = how(arguments)` is read by the method `how` of [`super::settings::Settings`]; `[secret]` before `how` marks
/// what is never shown. The doc comment of a field is its meaning in `till config`.
macro_rules! section {
    (
        $(#[derive($($derived:ident),+)])?
        pub struct $name:ident in $section:literal {
            $(
                $(#[doc = $meaning:literal])+
                $field:ident: $type:ty = $([$secret:ident])? $how:ident($($argument:expr),*)
            ),+ $(,)?
        }
    ) => {
        #[derive($($($derived),+)?)]
        pub struct $name {
            $($(#[doc = $meaning])+ pub $field: $type,)+
        }

        impl $name {
            pub(super) const SECTION: &str = $section;
            pub(super) const SETTINGS: &[$crate::config::setting::Setting] = &[$(
                $crate::config::setting::Setting {
                    section: $section,
                    key: stringify!($field),
                    kind: $crate::config::setting::kind!($how),
                    default: $crate::config::setting::default!($how($($argument),*)),
                    meaning: concat!($($meaning),+),
                    is_secret: !concat!("" $(, stringify!($secret))?).is_empty(),
                }
            ),+];

            /// Takes the values of a section out of what was given. `prefix` is its name, or a network's.
            pub(super) fn read(
                s: &mut $crate::config::settings::Settings,
                prefix: &str,
            ) -> Result<$name, $crate::config::ConfigError> {
                Ok($name {
                    $($field: s.$how(&format!("{prefix}.{}", stringify!($field)), $($argument),*)?),+
                })
            }
        }
    };
}

macro_rules! kind {
    (flag) => {
        $crate::config::setting::Kind::Flag
    };
    (number) => {
        $crate::config::setting::Kind::Number
    };
    (optional_number) => {
        $crate::config::setting::Kind::Number
    };
    (list) => {
        $crate::config::setting::Kind::List
    };
    (fixed_prices) => {
        $crate::config::setting::Kind::Map
    };
    (final_depths) => {
        $crate::config::setting::Kind::Map
    };
    (price_sources) => {
        $crate::config::setting::Kind::Tables
    };
    (screening_lists) => {
        $crate::config::setting::Kind::Tables
    };
    (text) => {
        $crate::config::setting::Kind::Text
    };
    (optional) => {
        $crate::config::setting::Kind::Text
    };
}

macro_rules! default {
    (text($default:expr, $parse:expr)) => {
        $crate::config::setting::DefaultValue::Text($default)
    };
    (flag($default:expr)) => {
        $crate::config::setting::DefaultValue::Flag($default)
    };
    (number($default:expr, $range:expr)) => {
        $crate::config::setting::DefaultValue::Number($default)
    };
    ($how:ident($($argument:expr),*)) => {
        $crate::config::setting::DefaultValue::None
    };
}

pub(super) use {default, kind, section};
