//! Copies that cannot be made, and databases that something of the one before lies beside.

use std::fs;

use crate::common::Place;

#[test]
fn a_log_that_was_left_behind_is_kept_and_named() {
    let place = Place::new();
    place.account(&[]);
    place.till(&["backup", "--to", "copy.db"]).ok();
    fs::rename(place.path("till.db"), place.path("broken.db")).unwrap();
    for suffix in ["-wal", "-shm"] {
        let beside = format!("till.db{suffix}");
        place.write(&beside, "what was committed last");
        let line = place.till(&["restore", "--from", "copy.db"]).fails(1);
        assert!(line.contains(&beside) && line.contains("move it"), "{line}");
        let kept = fs::read_to_string(place.path(&beside)).unwrap();
        assert_eq!(kept, "what was committed last");
        assert!(!place.path("till.db").exists());
        fs::remove_file(place.path(&beside)).unwrap();
    }
    place.till(&["restore", "--from", "copy.db"]).ok();
}

#[test]
fn a_copy_that_cannot_be_made_says_why_and_leaves_nothing() {
    let place = Place::new();
    place.account(&[]);
    let line = place.till(&["backup", "--to", "nowhere/copy.db"]).fails(1);
    assert!(line.contains("there is no folder nowhere"), "{line}");
    // No file may grow beyond this, as on a disk that is full.
    let till = env!("CARGO_BIN_EXE_till");
    let script = format!("trap '' XFSZ; ulimit -f 200; exec {till} backup --to copy.db");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(place.path(""));
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("copy.db: "), "{said}");
    assert!(!place.path("copy.db").exists());
    place.till(&["backup", "--to", "copy.db"]).ok();
}
