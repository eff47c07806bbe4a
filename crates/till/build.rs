//! Embeds the web pages, compressed. They are built by `make web`, which needs Node; this does not, and
//! embeds none where there are none.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() {
    // From this package's folder, where cargo runs it: another clone may share the target folder, and this program with it.
    // The folder is part of the repository, with or without pages in it.
    let root = Path::new("../../web/dist");
    println!("cargo:rerun-if-changed={}", root.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names it"));
    for name in ["checkout", "dashboard", "button"] {
        embed(&root.join(name), &out, name);
    }
}

/// Writes each file compressed, and a list of them that the program includes.
fn embed(folder: &Path, out: &Path, name: &str) {
    let mut list = String::from("&[");
    for (at, path) in files(folder).into_iter().enumerate() {
        let packed = out.join(format!("{name}-{at}.gz"));
        let bytes = fs::read(folder.join(&path)).expect("a built page can be read");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&bytes).expect("memory takes it");
        let bytes = encoder.finish().expect("memory takes it");
        fs::write(&packed, bytes).expect("OUT_DIR can be written");
        let packed = packed.display().to_string();
        let _ = write!(list, "({path:?}, include_bytes!({packed:?}).as_slice()),");
    }
    list.push(']');
    fs::write(out.join(format!("{name}.rs")), list).expect("OUT_DIR can be written");
}

/// The files of a folder and those below it, by their paths from there.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        let Ok(entries) = fs::read_dir(folder.join(&below)) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = below.join(entry.file_name());
            if entry.path().is_dir() {
                open.push(path);
            } else {
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}
