//! How anyone can compute a deposit address again, as the description of the API tells it.

use std::borrow::Cow;

use serde::Serialize;
use till_chains::Derivation;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct AddressDerivation(pub Derivation);

const SCHEMES: [(&str, &str, &[&str]); 4] = [
    (
        "create2_forwarder_v1",
        "EVM: CREATE2 of the forwarder whose init code carries `destination`.",
        &["factory", "salt", "destination"],
    ),
    (
        "tron_create2_forwarder_v1",
        "TRON: the same, with TRON's prefix byte.",
        &["factory", "salt", "destination"],
    ),
    (
        "bip84_v1",
        "Bitcoin: P2WPKH of the child key.",
        &["account_xpub", "path"],
    ),
    (
        "program_address_v1",
        "Solana: the token account of the program-derived address.",
        &["program", "destination", "salt", "mint"],
    ),
];

impl PartialSchema for AddressDerivation {
    fn schema() -> RefOr<Schema> {
        let string = || ObjectBuilder::new().schema_type(Type::String);
        let mut all = OneOfBuilder::new()
            .description(Some("How anyone can compute the deposit address again."));
        for (scheme, description, fields) in SCHEMES {
            let mut one = ObjectBuilder::new()
                .description(Some(description))
                .property("scheme", string().enum_values(Some([scheme])))
                .required("scheme");
            for field in fields {
                one = one.property(*field, string()).required(*field);
            }
            all = all.item(one);
        }
        all.into()
    }
}

impl ToSchema for AddressDerivation {
    fn name() -> Cow<'static, str> {
        "AddressDerivation".into()
    }
}
