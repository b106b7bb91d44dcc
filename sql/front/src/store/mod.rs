//! Files of Yunti as an object store: the general executor reads all its bytes through `yunti_engine::env::Files`, so
//! that stores, faults and meters are the same as everywhere.
//!
//! ```text
//!   location   NUMBER/NAME: the number of a file in this store, and its name for people
//!   bytes      of a compressed file: decompressed, from its start alone
//! ```
//!
//! Names of files would not survive `object_store::path::Path`, which has no empty part, no `..` and escapes of its
//! own.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use yunti_base::{Code, Error};
use yunti_engine::codec::{self, CodecKind};
use yunti_engine::env::stores::scheme_of;
use yunti_engine::env::{Files, NamedFile};
use yunti_engine::memory::Buffer;
use yunti_engine::read::decoded_file::{DECODE_INPUT_BYTES, DecodedFile};

/// Name of the store in plans.
pub const URL: &str = "yunti://files";
/// Bytes of a piece of a whole file.
const PIECE_BYTES: u64 = 1 << 20;
/// Bytes that a decoder may hold.
const DECODER_BYTES: u64 = 256 << 20;

/// The files of a session's queries.
pub struct FileStore {
    files: Arc<dyn Files>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    entries: Vec<Entry>,
    numbers: HashMap<PathBuf, usize>,
}

#[derive(Clone)]
struct Entry {
    path: PathBuf,
    codec: Option<CodecKind>,
    meta: ObjectMeta,
}

impl FileStore {
    pub fn new(files: Arc<dyn Files>) -> FileStore {
        FileStore { files, known: Mutex::default() }
    }

    /// Adds a file, or looks again at one that it has. Errors: `Input`, with the path.
    pub fn add(&self, path: &FilePath, codec: Option<CodecKind>) -> yunti_base::Result<ObjectMeta> {
        let failed = |e: std::io::Error| {
            Error::io(Code::Input, "cannot read the input", &e).at_path(path.to_string_lossy()).hint("check the path")
        };
        let meta = self.files.meta(path).map_err(failed)?;
        let mut known = self.known.lock().unwrap_or_else(|e| e.into_inner());
        let number = known.numbers.get(path).copied().unwrap_or(known.entries.len());
        let name: String = path.file_name().unwrap_or_default().to_string_lossy().chars().map(plain).collect();
        let modified_ms = i64::try_from(meta.modified_ms).unwrap_or(0);
        let meta = ObjectMeta {
            location: Path::from(format!("{number}/{name}")),
            last_modified: chrono::DateTime::from_timestamp_millis(modified_ms).unwrap_or_default(),
            // The readers split files by their length; what is decompressed has none.
            size: if codec.is_some() { meta.len.min(1) } else { meta.len },
            e_tag: None,
            version: None,
        };
        let entry = Entry { path: path.into(), codec, meta: meta.clone() };
        match number < known.entries.len() {
            true => known.entries[number] = entry,
            false => {
                known.entries.push(entry);
                known.numbers.insert(path.into(), number);
            }
        }
        Ok(meta)
    }

    fn entry(&self, location: &Path) -> Result<Entry> {
        let number = location.parts().next().and_then(|part| part.as_ref().parse::<usize>().ok());
        let known = self.known.lock().unwrap_or_else(|e| e.into_inner());
        let entry = number.and_then(|number| known.entries.get(number));
        entry.cloned().ok_or_else(|| object_store::Error::NotFound {
            path: location.to_string(),
            source: "no query has named this file".into(),
        })
    }
}

fn plain(c: char) -> char {
    if c.is_alphanumeric() || "._-=".contains(c) { c } else { '_' }
}

fn generic(error: Error) -> object_store::Error {
    object_store::Error::Generic { store: "yunti", source: Box::new(error) }
}

/// Runs a blocking read: on a thread of its own for a file far away, so that many are on their way at once.
async fn blocking<T: Send + 'static>(
    is_far: bool,
    f: impl FnOnce() -> yunti_base::Result<T> + Send + 'static,
) -> Result<T> {
    if !is_far {
        return f().map_err(generic);
    }
    match tokio::task::spawn_blocking(f).await {
        Ok(done) => done.map_err(generic),
        Err(e) => Err(generic(Error::new(Code::Internal, format!("a read failed: {e}")))),
    }
}

fn read(file: &NamedFile, range: Range<u64>) -> yunti_base::Result<Bytes> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    file.read_exact(&mut bytes, range.start)?;
    Ok(bytes.into())
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileStore")
    }
}

impl fmt::Display for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(URL)
    }
}

fn read_only<T>() -> Result<T> {
    Err(generic(Error::new(Code::Internal, "the files of a query are not written")))
}

#[async_trait]
impl ObjectStore for FileStore {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let Entry { path, codec, meta } = self.entry(location)?;
        let whole = 0..meta.size;
        let result = |payload, range, meta| GetResult { payload, meta, range, attributes: Attributes::new() };
        if options.head {
            return Ok(result(GetResultPayload::Stream(stream::empty().boxed()), whole, meta));
        }
        let is_far = scheme_of(&path).is_some();
        let files = self.files.clone();
        let opened = path.clone();
        let file = blocking(is_far, move || NamedFile::open(&*files, &opened, Code::Input)).await?;
        if let Some(kind) = codec {
            let bytes = Decoded::open(file, kind).map_err(generic)?;
            return Ok(result(GetResultPayload::Stream(bytes.stream()), whole, meta));
        }
        // A stretch is read at once, as far as its reader wants it; a whole file in pieces.
        let piece = if options.range.is_some() { u64::MAX } else { PIECE_BYTES };
        let range = match options.range {
            Some(range) => range.as_range(meta.size).map_err(|e| object_store::Error::Generic {
                store: "yunti",
                source: Box::new(
                    Error::new(Code::Corrupt, format!("the file is too short: {e}")).at_path(path.to_string_lossy()),
                ),
            })?,
            None => whole,
        };
        let pieces = stream::unfold(range.start, {
            let end = range.end;
            move |at| {
                let file = file.clone();
                async move {
                    let to = end.min(at.saturating_add(piece));
                    if at >= end {
                        return None;
                    }
                    Some((blocking(is_far, move || read(&file, at..to)).await, to))
                }
            }
        });
        // Readers of text poll on at the end.
        Ok(result(GetResultPayload::Stream(pieces.fuse().boxed()), range, meta))
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let Entry { path, codec, .. } = self.entry(location)?;
        if codec.is_some() {
            return read_only();
        }
        let is_far = scheme_of(&path).is_some();
        let files = self.files.clone();
        let named = path.clone();
        let file = blocking(is_far, move || NamedFile::open(&*files, &named, Code::Input)).await?;
        if !is_far {
            return ranges.iter().map(|range| read(&file, range.clone()).map_err(generic)).collect();
        }
        object_store::coalesce_ranges(
            ranges,
            |range| {
                let file = file.clone();
                blocking(true, move || read(&file, range))
            },
            object_store::OBJECT_STORE_COALESCE_DEFAULT,
        )
        .await
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        read_only()
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        read_only()
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        stream::once(async { read_only() }).boxed()
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        stream::once(async { read_only() }).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        read_only()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        read_only()
    }
}

/// The bytes of a compressed file.
struct Decoded {
    file: DecodedFile,
    is_done: bool,
}

impl Decoded {
    fn open(file: NamedFile, kind: CodecKind) -> yunti_base::Result<Decoded> {
        let decoder = codec::decoder(kind, DECODER_BYTES)?;
        let file = DecodedFile::new(file, 0, decoder, Buffer::new(DECODE_INPUT_BYTES, None)?);
        Ok(Decoded { file, is_done: false })
    }

    fn stream(self) -> BoxStream<'static, Result<Bytes>> {
        stream::unfold(self, |mut this| async move {
            if this.is_done {
                return None;
            }
            let mut bytes = vec![0; PIECE_BYTES as usize];
            let read = this.file.read(&mut bytes);
            this.is_done = !matches!(read, Ok(n) if n == bytes.len());
            match read {
                Ok(0) => None,
                Ok(n) => {
                    bytes.truncate(n);
                    Some((Ok(bytes.into()), this))
                }
                Err(e) => Some((Err(generic(e)), this)),
            }
        })
        .fuse()
        .boxed()
    }
}
