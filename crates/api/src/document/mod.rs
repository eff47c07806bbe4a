//! The API described: the OpenAPI document, and the pages that people read.

mod answers;
mod codes;
mod docs;
pub mod openapi;
pub mod pages;
