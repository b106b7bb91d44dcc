//! Object code in files of the user, so that a program is compiled once.
//!
//! ```text
//!   "YUNTISQ1" | bytes of the key | bytes of the code | checksum of all that follows | key | code
//! ```
//!
//! The key is the whole text of a program, with the versions and the processor, so that a file is compared, not
//! trusted. A file that is damaged or of another program is none, and is replaced. Files are written aside and
//! renamed. The folder belongs to the user alone: one that others may write to is not used. Failures are none of the
//! query's: it compiles instead.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

const MAGIC: &[u8; 8] = b"YUNTISQ1";
const HEAD_BYTES: usize = 32;
/// Bytes of one file, at most.
const FILE_BYTES_MAX: u64 = 8 << 20;
/// Bytes and files of the folder, at most.
const FOLDER_BYTES_MAX: u64 = 64 << 20;
const FOLDER_FILES_MAX: usize = 2_000;

/// Text of a program and all that its code depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(Arc<str>);

impl Key {
    pub fn of(parts: &[&str]) -> Key {
        Key(parts.join("\n").into())
    }

    fn file(&self) -> String {
        format!("{:016x}.code", hash(self.0.as_bytes()))
    }
}

/// Returns a hash of bytes, which no one attacks: the bytes themselves are compared.
fn hash(bytes: &[u8]) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = (state ^ u64::from_le_bytes(word)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        state ^= state >> 32;
    }
    state
}

/// A folder of code.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub fn new(folder: PathBuf) -> Cache {
        Cache { folder }
    }

    /// Returns true for a folder that belongs to the user alone.
    fn is_private(&self) -> bool {
        let owner = |path: &std::path::Path| fs::symlink_metadata(path).ok();
        // The owner of a process's folder is its user.
        let (Some(folder), Ok(own)) = (owner(&self.folder), fs::metadata("/proc/self")) else { return false };
        folder.is_dir() && folder.uid() == own.uid() && folder.mode() & 0o077 == 0
    }

    /// Returns the code of a key, if a file has it.
    pub fn read(&self, key: Key) -> Option<Vec<u8>> {
        if !self.is_private() {
            return None;
        }
        let file = fs::File::open(self.folder.join(key.file())).ok()?;
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
        let word = |at: usize| head[at..].first_chunk().map(|word| u64::from_le_bytes(*word));
        let (key_bytes, code_bytes) = (usize::try_from(word(8)?).ok()?, usize::try_from(word(16)?).ok()?);
        let is_whole = head.starts_with(MAGIC)
            && key_bytes.checked_add(code_bytes) == Some(rest.len())
            && word(24) == Some(hash(rest));
        let code = rest.get(key_bytes..).filter(|_| is_whole)?;
        (rest[..key_bytes] == *key.0.as_bytes()).then(|| code.to_vec())
    }

    /// Writes the code of a key.
    pub fn write(&self, key: Key, code: &[u8]) {
        // What fails costs the next process a compilation.
        let _ = self.try_write(&key, code);
    }

    fn try_write(&self, key: &Key, code: &[u8]) -> std::io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        if !self.is_private() {
            return Ok(());
        }
        let rest = [key.0.as_bytes(), code].concat();
        if (rest.len() + HEAD_BYTES) as u64 > FILE_BYTES_MAX {
            return Ok(());
        }
        self.make_room(rest.len() as u64);
        let mut bytes = MAGIC.to_vec();
        for word in [key.0.len() as u64, code.len() as u64, hash(&rest)] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(rest);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let aside = self.folder.join(format!("{}-{number}.new", std::process::id()));
        let written = (|| {
            let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside)?;
            file.write_all(&bytes)?;
            fs::rename(&aside, self.folder.join(key.file()))
        })();
        written.inspect_err(|_| {
            let _ = fs::remove_file(&aside);
        })
    }

    /// Removes the oldest files until there is room for some bytes.
    fn make_room(&self, bytes: u64) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let of = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                Some((of.modified().ok()?, of.len(), entry.path()))
            })
            .collect();
        files.sort();
        let (mut all, mut count) = (bytes + files.iter().map(|(_, bytes, _)| bytes).sum::<u64>(), files.len() + 1);
        for (_, bytes, path) in files {
            if all <= FOLDER_BYTES_MAX && count <= FOLDER_FILES_MAX {
                break;
            }
            if fs::remove_file(path).is_ok() {
                all -= bytes;
                count -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("yunti-generate-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn code_comes_back_and_damage_does_not() {
        let folder = folder("damage");
        let cache = Cache::new(folder.clone());
        let (key, other) = (Key::of(&["19", "text"]), Key::of(&["19", "other"]));
        assert_eq!(cache.read(key.clone()), None);
        cache.write(key.clone(), b"code");
        assert_eq!(cache.read(key.clone()).as_deref(), Some(&b"code"[..]));
        let path = folder.join(key.file());
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&path, &bytes).unwrap();
            assert_eq!(cache.read(key.clone()), None, "a bit of byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(cache.read(key.clone()), None, "cut at {at}");
        }
        // A whole file under the name of another key.
        fs::write(folder.join(other.file()), &whole).unwrap();
        assert_eq!(cache.read(other), None);
        cache.write(key.clone(), b"anew");
        assert_eq!(cache.read(key.clone()).as_deref(), Some(&b"anew"[..]));
        // Others may write to the folder.
        fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert_eq!(cache.read(key), None);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_folder_stays_small() {
        let folder = folder("room");
        let cache = Cache::new(folder.clone());
        let code = vec![7; 7 << 20];
        for number in 0..20 {
            cache.write(Key::of(&[&number.to_string()]), &code);
        }
        let bytes: u64 = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
        assert!(bytes <= FOLDER_BYTES_MAX && bytes > FOLDER_BYTES_MAX / 2, "{bytes}");
        assert!(cache.read(Key::of(&["19"])).is_some());
        fs::remove_dir_all(&folder).unwrap();
    }
}
