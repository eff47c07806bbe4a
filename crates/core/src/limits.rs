//! A stand-in for the limits, only as wide as the HTTP floor needs to compile.

pub const BODY_BYTES_MAX: usize = 262_144;
pub const HEADER_BYTES_MAX: usize = 32_768;
pub const HEADERS_MAX: usize = 100;
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 255;
pub const PAGE_LIMIT_DEFAULT: u32 = 10;
pub const PAGE_LIMIT_MAX: u32 = 100;
pub const METADATA_PAIRS_MAX: usize = 20;
pub const METADATA_KEY_CHARS_MAX: usize = 40;
pub const METADATA_VALUE_CHARS_MAX: usize = 500;
