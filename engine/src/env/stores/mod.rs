//! Files of object stores, web servers and HDFS, by the scheme of their names; all other names are passed on.
//!
//! ```text
//!   s3://BUCKET/KEY --> StoreFiles -- requests --> yunti-stores, a process of its own (link.rs)
//!                          |   <-- bytes in a window of memory that both have (window.rs, stored_file.rs)
//!                          '-- output: staged in a scratch file, uploaded by parts while it is written
//!                              (upload.rs), made visible by one commit (pending.rs)
//! ```
//!
//! A job writes its output to `.OUT._temporary/new`, and renames that to OUT (job/commit). Stores of objects cannot
//! rename, so that directory exists in this process alone: its files are uploads, and the rename is their commit.

mod fetch;
mod link;
mod pending;
mod stored_file;
mod upcoming;
mod upload;
mod window;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use yunti_base::store_protocol::{Answer, Ask, Entry, TEMPORARY, Traffic};
use yunti_base::{Code, Error, Result};

use super::files::storage::{Storage, StorageKind};
use super::files::{File, Files, Meta};
use link::Link;
pub use link::StoreProgram;
use pending::Pending;
use stored_file::StoredFile;
use upcoming::{Piece, Upcoming};

/// Schemes of names that belong to stores.
const SCHEMES: [&str; 10] = ["s3", "s3a", "gs", "az", "abfs", "abfss", "http", "https", "hdfs", "webhdfs"];

/// Returns the scheme of a name that belongs to a store.
pub fn scheme_of(path: &Path) -> Option<&'static str> {
    let text = path.to_str()?;
    let (scheme, rest) = text.split_once(':')?;
    SCHEMES.into_iter().find(|known| *known == scheme && rest.starts_with('/'))
}

/// Returns the error of a name such as `s4://bucket/key`, whose scheme is none: it is not a path of this machine.
pub fn refuse_unknown_scheme(path: &Path, code: Code) -> Result<()> {
    let text = path.to_string_lossy();
    let Some((scheme, _)) = text.split_once("://") else { return Ok(()) };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    if !is_scheme || scheme_of(path).is_some() {
        return Ok(());
    }
    let error = Error::new(code, "no such scheme").at_path(text.as_ref());
    Err(error.hint("use s3://, gs://, az://, http://, https:// or hdfs://, in small letters, or a path"))
}

/// Returns `s3://BUCKET` of a name that belongs to a store, and the rest.
pub fn root_of(name: &str) -> Option<(&str, &str)> {
    let scheme = scheme_of(Path::new(name))?;
    let start = scheme.len() + 1 + name[scheme.len() + 1..].bytes().take_while(|&b| b == b'/').count().min(2);
    let end = name[start..].find('/').map_or(name.len(), |slash| start + slash);
    Some(name.split_at(end))
}

/// Files by scheme.
pub struct StoreFiles {
    local: Arc<dyn Files>,
    link: Arc<Link>,
    upcoming: Arc<Upcoming>,
    /// Names that lists and lookups found: a file is read as it was planned.
    known: Mutex<HashMap<String, Entry>>,
    /// Outputs that are being written, by the directory of their claim.
    pending: Mutex<BTreeMap<PathBuf, Arc<Pending>>>,
}

impl StoreFiles {
    /// Returns files whose stores are served by `program`, which is started when the first name of a store is used.
    /// `settings`: names without `store.`. `temp_dir`: directory for bytes that wait for their upload.
    pub fn new(
        local: Arc<dyn Files>,
        program: StoreProgram,
        settings: BTreeMap<String, String>,
        temp_dir: PathBuf,
    ) -> StoreFiles {
        let link = Link::new(program, settings, temp_dir);
        let upcoming = Arc::new(Upcoming::new(link.clone()));
        StoreFiles { local, link, upcoming, known: Mutex::default(), pending: Mutex::default() }
    }

    fn entry(&self, path: &Path) -> io::Result<Entry> {
        let url = url_of(path);
        if let Some(entry) = self.known().get(&url) {
            return Ok(entry.clone());
        }
        match self.link.call(Ask::Stat { url: url.clone() })? {
            Answer::Entry(entry) => {
                if !entry.is_dir {
                    self.known().insert(url, entry.clone());
                }
                Ok(entry)
            }
            _ => Err(link::odd_answer()),
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.known.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns the output that is being written at a path, and the path within its directory.
    fn pending_at(&self, path: &Path) -> Option<(Arc<Pending>, PathBuf)> {
        let pending = self.pending.lock().unwrap_or_else(|e| e.into_inner());
        let of = |dir: &Path| Some((pending.get(dir)?.clone(), path.strip_prefix(dir).ok()?.to_path_buf()));
        path.ancestors().find_map(of)
    }

    fn begin(&self, path: &Path) -> io::Result<()> {
        let mut pending = self.pending.lock().unwrap_or_else(|e| e.into_inner());
        if pending.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let name = output_of(path).ok_or(io::ErrorKind::Unsupported)?;
        let output = url_of(&path.with_file_name(name));
        let Answer::Text(base) = self.link.call(Ask::Begin { output: output.clone() })? else {
            return Err(link::odd_answer());
        };
        pending.insert(path.into(), Arc::new(Pending::new(self.link.clone(), output, base)));
        Ok(())
    }

    fn commit(&self, from: &Path, to: &Path, overwrite: bool) -> io::Result<()> {
        match self.pending_at(from) {
            Some((pending, _)) if pending.output() == url_of(to) => pending.commit(overwrite),
            _ => Err(unsupported("a store has no rename")),
        }
    }
}

/// Returns the name of a store without slashes at its end, and with two behind its scheme.
fn url_of(path: &Path) -> String {
    let text = path.to_string_lossy();
    match root_of(&text) {
        Some((root, rest)) => {
            let (scheme, host) = root.split_once(':').unwrap_or((root, ""));
            let rest = rest.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
            let url = format!("{scheme}://{}/{rest}", host.trim_start_matches('/'));
            url.trim_end_matches('/').to_string()
        }
        None => text.into_owned(),
    }
}

/// Returns the name of the output that is written in `.OUT._temporary`.
fn output_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_prefix('.')?.strip_suffix(TEMPORARY)?;
    Some(name.to_string())
}

fn unsupported(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, text)
}

fn meta_of(entry: &Entry) -> Meta {
    Meta { len: entry.pin.len, is_dir: entry.is_dir, is_stream: false, modified_ms: entry.pin.modified_ms }
}

impl Files for StoreFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        if scheme_of(path).is_none() {
            return self.local.open(path);
        }
        let entry = self.entry(path)?;
        if entry.is_dir {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Arc::new(StoredFile::new(self.link.clone(), self.upcoming.clone(), url_of(path), entry.pin)))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        if scheme_of(path).is_none() {
            return self.local.create(path);
        }
        match self.pending_at(path) {
            Some((pending, name)) => pending.create(&name),
            None => Err(unsupported("a store takes whole outputs alone; name a directory with -o")),
        }
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        if scheme_of(path).is_none() {
            return self.local.open_to_write(path);
        }
        let (pending, name) = self.pending_at(path).ok_or(io::ErrorKind::NotFound)?;
        pending.file(&name).map(|file| file as Arc<dyn File>)
    }

    fn open_max(&self) -> usize {
        self.local.open_max()
    }
    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        if scheme_of(dir).is_none() { self.local.scratch(dir) } else { Err(unsupported("a store keeps no scratch")) }
    }
    fn named_scratch(&self, dir: &Path, path: &Path, fresh: bool) -> io::Result<Arc<dyn File>> {
        if scheme_of(dir).is_none() {
            self.local.named_scratch(dir, path, fresh)
        } else {
            Err(unsupported("a store keeps no scratch"))
        }
    }
    fn stdin(&self) -> Arc<dyn File> {
        self.local.stdin()
    }
    fn stdout(&self) -> Arc<dyn File> {
        self.local.stdout()
    }

    fn meta(&self, path: &Path) -> io::Result<Meta> {
        let Some(scheme) = scheme_of(path) else {
            // The parent of `s3://BUCKET` is `s3:`.
            let is_scheme = path.to_str().is_some_and(|text| SCHEMES.iter().any(|s| text.strip_suffix(':') == Some(s)));
            if is_scheme {
                return Ok(Meta { len: 0, is_dir: true, is_stream: false, modified_ms: 0 });
            }
            return self.local.meta(path);
        };
        match self.pending_at(path) {
            Some((pending, name)) => pending.meta(&name),
            // A scheme alone names nothing.
            None if url_of(path).len() <= scheme.len() + 3 => Err(io::ErrorKind::NotFound.into()),
            None => self.entry(path).map(|entry| meta_of(&entry)),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        if scheme_of(dir).is_none() {
            return self.local.list(dir);
        }
        if let Some((pending, name)) = self.pending_at(dir) {
            return Ok(pending.list(&name).into_iter().map(|name| dir.join(name)).collect());
        }
        let Answer::Entries(entries) = self.link.call(Ask::List { url: url_of(dir), deep: false })? else {
            return Err(link::odd_answer());
        };
        let paths = entries.iter().map(|entry| PathBuf::from(&entry.url)).collect();
        self.known().extend(entries.into_iter().map(|entry| (entry.url.clone(), entry)));
        Ok(paths)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        match scheme_of(path) {
            None => self.local.create_dir(path),
            Some(_) if output_of(path).is_some() => self.begin(path),
            // A directory of a store is there when a file is in it.
            Some(_) => match self.pending_at(path) {
                Some((pending, name)) => pending.create_dir(&name),
                None => Ok(()),
            },
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if scheme_of(from).is_none() { self.local.rename(from, to) } else { self.commit(from, to, false) }
    }

    /// Replaces an output. The older one does not get the other name.
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        if scheme_of(a).is_none() { self.local.exchange(a, b) } else { self.commit(a, b, true) }
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        if scheme_of(path).is_none() {
            return self.local.remove_file(path);
        }
        let (pending, name) = self.pending_at(path).ok_or(io::ErrorKind::NotFound)?;
        pending.remove_file(&name)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        if scheme_of(path).is_none() { self.local.remove_dir(path) } else { self.remove_dir_all(path) }
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        if scheme_of(path).is_none() {
            return self.local.remove_dir_all(path);
        }
        if output_of(path).is_some() {
            let pending = self.pending.lock().unwrap_or_else(|e| e.into_inner()).remove(path);
            return pending.map_or(Ok(()), |pending| pending.end());
        }
        match self.pending_at(path) {
            Some((pending, name)) => pending.remove_tree(&name),
            None => Ok(()),
        }
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        if scheme_of(path).is_none() {
            return self.local.sync_dir(path);
        }
        self.pending_at(path).map_or(Ok(()), |(pending, _)| pending.finish().map(|_| ()))
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        if scheme_of(path).is_none() { self.local.free_bytes(path) } else { Err(unsupported("a store has no end")) }
    }

    fn storage(&self, dir: &Path) -> Option<Storage> {
        match scheme_of(dir) {
            None => self.local.storage(dir),
            Some(scheme) => Some(Storage::without_device(StorageKind::Network, scheme)),
        }
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        if scheme_of(path).is_none() { self.local.absolute(path) } else { url_of(path).into() }
    }

    fn content_hash(&self, path: &Path) -> io::Result<Option<u64>> {
        if scheme_of(path).is_none() { self.local.content_hash(path) } else { Ok(self.tag_hash(path)) }
    }

    /// Returns false for a store: its commit decides between jobs, not a lock.
    fn is_shared(&self, path: &Path) -> bool {
        scheme_of(path).is_none() && self.local.is_shared(path)
    }

    fn marks(&self, path: &Path) -> Vec<u64> {
        if scheme_of(path).is_none() { self.local.marks(path) } else { Vec::new() }
    }

    fn upcoming(&self, pieces: &[(&Path, u64, u64)]) {
        let known = self.known();
        let of = |(path, from, to): &(&Path, u64, u64)| {
            scheme_of(path)?;
            let url = url_of(path);
            let pin = known.get(&url)?.pin.clone();
            Some(Piece { url, pin, from: *from, to: *to })
        };
        self.upcoming.set(pieces.iter().filter_map(of));
    }

    fn transfer_bytes(&self, limit: u64) -> u64 {
        self.link.share(limit)
    }

    fn traffic(&self) -> Option<Traffic> {
        self.link.traffic()
    }
}

impl StoreFiles {
    /// Returns a hash of an object's tag.
    fn tag_hash(&self, path: &Path) -> Option<u64> {
        let entry = self.entry(path).ok()?;
        let tag = entry.pin.tag?;
        Some(twox_hash::XxHash3_64::oneshot(tag.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_stores() {
        for (name, root, rest, url) in [
            ("s3://b/x/y", "s3://b", "/x/y", "s3://b/x/y"),
            ("s3:/b/x/", "s3:/b", "/x/", "s3://b/x"),
            ("s3://b", "s3://b", "", "s3://b"),
            ("hdfs://nn:8020//x", "hdfs://nn:8020", "//x", "hdfs://nn:8020/x"),
            ("hdfs:///x/y", "hdfs://", "/x/y", "hdfs:///x/y"),
        ] {
            assert_eq!(root_of(name), Some((root, rest)), "{name}");
            assert_eq!(url_of(Path::new(name)), url);
        }
        for name in ["a/b", "/s3:/b", "c:x", "s3x://b", "file:///x", "s3:"] {
            assert_eq!(root_of(name), None, "{name}");
        }
        assert_eq!(output_of(Path::new("s3://b/.out._temporary")).as_deref(), Some("out"));
        assert_eq!(output_of(Path::new("s3://b/out")), None);
    }
}
