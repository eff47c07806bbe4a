//! Pages that were built before this program and are carried in it, compressed.

use std::io::Read as _;
use std::sync::Arc;

use flate2::read::GzDecoder;

/// Files by their path, each compressed with gzip.
pub type Files = &'static [(&'static str, &'static [u8])];

/// The checkout's pages. A program that was built without them has none, and says so.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    files: Files,
    index: Option<Arc<str>>,
}

const INDEX: &str = "index.html";

impl Pages {
    pub fn new(files: Files) -> Pages {
        let mut pages = Pages { files, index: None };
        let index = pages.unpacked().find(|(name, _)| *name == INDEX);
        pages.index = index.map(|(_, bytes)| String::from_utf8_lossy(&bytes).into());
        pages
    }

    /// The page that all of them begin with.
    pub fn index(&self) -> Option<&str> {
        self.index.as_deref()
    }

    /// A file as it is carried.
    pub fn find(&self, path: &str) -> Option<&'static [u8]> {
        let found = self.files.iter().find(|(name, _)| *name == path);
        found.map(|(_, packed)| *packed)
    }

    /// Every file as it was built.
    pub fn unpacked(&self) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
        let files = self.files.iter();
        files.map(|(name, packed)| (*name, unpack(packed)))
    }
}

pub fn unpack(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What was packed when this program was built unpacks.
    let _ = GzDecoder::new(packed).read_to_end(&mut bytes);
    bytes
}
