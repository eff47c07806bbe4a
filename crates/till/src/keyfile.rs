//! The key files: 32 bytes in hexadecimal each, the newest first. They encrypt what must not be readable
//! in the database, so losing one loses the webhook secrets written with it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use till_engine::base::clock::Entropy;

use crate::failure::{Failure, remedy};

pub type Key = [u8; 32];

/// What to do about a first key file that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMissing {
    Make,
    /// The database was written with one: a new key would only hide that the right one is gone.
    Refuse,
}

/// All keys, the newest first; makes the first file if it may, and says which it made.
pub fn read_all(
    paths: &[PathBuf],
    if_missing: IfMissing,
    entropy: &dyn Entropy,
) -> Result<(Vec<Key>, Option<PathBuf>), Failure> {
    let mut made = None;
    if let Some(first) = paths.first()
        && if_missing == IfMissing::Make
        && !first.exists()
    {
        make(first, entropy).map_err(|error| {
            Failure::new(format!(
                "the key file {} cannot be made: {error}",
                first.display()
            ))
        })?;
        made = Some(first.clone());
    }
    let keys: Result<Vec<Key>, Failure> = paths.iter().map(|path| read(path)).collect();
    Ok((keys?, made))
}

pub fn read(path: &Path) -> Result<Key, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        let hint = match error.kind() {
            ErrorKind::NotFound => "; restore it from where the database came from",
            _ => remedy(&error),
        };
        Failure::new(format!(
            "the key file {} cannot be read: {error}{hint}",
            path.display()
        ))
    })?;
    let mut key = Key::default();
    // Never quoting the content: it may be a key all the same.
    hex::decode_to_slice(text.trim(), &mut key).map_err(|_| {
        Failure::new(format!(
            "the key file {} must hold 64 hexadecimal digits and nothing else",
            path.display()
        ))
    })?;
    Ok(key)
}

/// Whether others than its owner may read the file. Only worth a warning: containers mount secrets so.
pub fn is_exposed(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

/// Whether any user of the machine may read the file.
pub fn is_everybodys(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o004 != 0)
}

/// Processes that start at once must agree on one key: each writes its own aside, and the first to give
/// its file the name wins. Nobody ever sees a half-written one.
pub fn make(path: &Path, entropy: &dyn Entropy) -> io::Result<()> {
    let (mut key, mut suffix) = (Key::default(), [0; 8]);
    entropy.fill(&mut key);
    entropy.fill(&mut suffix);
    let text = format!("{}\n", hex::encode(key));
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}", hex::encode(suffix)));
    let aside = PathBuf::from(aside);
    write_new(&aside, &text)?;
    let linked = fs::hard_link(&aside, path);
    fs::remove_file(&aside)?;
    match linked {
        Ok(()) => sync_folder(path),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // Some file systems know no links: there the race is left to the operator.
        Err(_) => match write_new(path, &text) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            done => done,
        },
    }
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// A key that a power cut takes away after something was encrypted with it is the worst of both.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::system::SystemEntropy;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn the_first_file_is_made_for_its_owner_alone_and_read_again() {
        let folder = folder();
        let path = folder.path().join("till.key");
        let made = read_all(std::slice::from_ref(&path), IfMissing::Make, &SystemEntropy).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert!(!is_exposed(&path));
        let again = read_all(std::slice::from_ref(&path), IfMissing::Make, &SystemEntropy).unwrap();
        assert_eq!((&made.0, made.1), (&again.0, Some(path)));
        assert_eq!(again.1, None);
        assert_ne!(again.0, [Key::default()]);
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing is left beside it"
        );
    }

    #[test]
    fn processes_that_start_at_once_agree_on_one_key() {
        let folder = folder();
        let path = folder.path().join("till.key");
        let keys = thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let paths = [path.clone()];
                        read_all(&paths, IfMissing::Make, &SystemEntropy).unwrap().0
                    })
                })
                .collect();
            let keys = threads.into_iter().map(|thread| thread.join().unwrap());
            keys.collect::<Vec<_>>()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
    }

    #[test]
    fn only_the_first_file_is_ever_made() {
        let folder = folder();
        let old = folder.path().join("old.key");
        let paths = [folder.path().join("new.key"), old.clone()];
        let failure = read_all(&paths, IfMissing::Make, &SystemEntropy).unwrap_err();
        assert!(failure.to_string().contains("old.key"), "{failure}");
        assert!(!old.exists());
        let refused = read_all(
            std::slice::from_ref(&old),
            IfMissing::Refuse,
            &SystemEntropy,
        )
        .unwrap_err();
        assert!(refused.to_string().contains("restore it"), "{refused}");
        assert!(!old.exists());
    }

    #[test]
    fn a_folder_in_the_place_of_a_key_file_is_told_as_one() {
        let folder = folder();
        let failure = read(folder.path()).unwrap_err().to_string();
        assert!(
            failure.contains("it is a folder: name a file in it"),
            "{failure}"
        );
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_quoted() {
        let folder = folder();
        let path = folder.path().join("till.key");
        fs::write(&path, "zz11223344").unwrap();
        let failure = read(&path).unwrap_err().to_string();
        assert!(failure.contains("64 hexadecimal digits"), "{failure}");
        assert!(!failure.contains("11223344"), "{failure}");
    }
}
