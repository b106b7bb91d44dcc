//! Buckets and containers: S3, Google Cloud Storage, Azure Blob Storage. Directories are prefixes of keys.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use yunti_base::store_protocol::{Entry, FailureKind, Pin};

use crate::counted::Counts;
use crate::failure::{Outcome, failure, is_exhausted, of_store, of_window, usage};
use crate::place::Place;
use crate::s3::Bucket;

/// One bucket or container.
#[derive(Clone)]
pub struct Objects {
    pub store: Arc<dyn ObjectStore>,
    pub multipart: Arc<dyn MultipartStore>,
    /// S3 alone lists unfinished uploads.
    pub bucket: Option<Arc<Bucket>>,
    pub counts: Arc<Counts>,
    pub retries: usize,
}

/// First wait before a read is repeated, and the longest.
const WAIT_FIRST: Duration = Duration::from_millis(100);
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Returns the time to wait before a try: it doubles, with a random share so that workers do not come together.
pub fn wait_before(attempt: usize) -> Duration {
    let doubled = WAIT_FIRST.saturating_mul(1 << attempt.min(10) as u32).min(WAIT_MAX);
    let nanos = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.subsec_nanos());
    doubled / 2 + doubled.mul_f64(f64::from(nanos % 1000) / 2000.0)
}

fn key(place: &Place) -> Outcome<Path> {
    Path::parse(&place.path).map_err(|_| {
        usage(format!("the key '{}' has an empty or dotted part, which this client cannot name", place.path))
    })
}

fn pin_of(meta: &ObjectMeta) -> Pin {
    let modified_ms = u64::try_from(meta.last_modified.timestamp_millis()).unwrap_or(0);
    Pin { len: meta.size, tag: meta.e_tag.clone(), modified_ms }
}

fn directory(url: String) -> Entry {
    Entry { url, is_dir: true, pin: Pin::default() }
}

/// Returns the failure of an object that is not what it was.
pub fn changed(was: &Pin, is: Option<&Pin>) -> yunti_base::store_protocol::Failure {
    let show = |pin: &Pin| match &pin.tag {
        Some(tag) => format!("ETag {tag}, {} bytes", pin.len),
        None => format!("{} bytes, changed at {} ms", pin.len, pin.modified_ms),
    };
    let now = is.map_or("another one now".into(), |pin| format!("{} now", show(pin)));
    failure(
        FailureKind::Changed,
        format!("the object changed while the job read it (it was {}, it is {now}); run the job again", show(was)),
    )
}

/// Returns true if an object is the pinned one, by its tag, or else by its length and time.
fn is_pinned(pin: &Pin, is: &Pin) -> bool {
    match (&pin.tag, &is.tag) {
        (Some(was), Some(now)) => was == now && pin.len == is.len,
        _ => pin.len == is.len && (pin.modified_ms == 0 || is.modified_ms == 0 || pin.modified_ms == is.modified_ms),
    }
}

impl Objects {
    pub async fn stat(&self, place: &Place) -> Outcome<Entry> {
        let path = key(place)?;
        if !place.path.is_empty() {
            match self.store.head(&path).await {
                Ok(meta) => return Ok(Entry { url: place.at(&place.path), is_dir: false, pin: pin_of(&meta) }),
                Err(object_store::Error::NotFound { .. }) => {}
                Err(e) => return Err(of_store(&e)),
            }
        }
        let mut below = self.store.list(Some(&path));
        match below.next().await {
            Some(Ok(_)) => Ok(directory(place.at(&place.path))),
            None if place.path.is_empty() => Ok(directory(place.at(""))),
            None => Err(failure(FailureKind::NotFound, "no such file or directory")),
            Some(Err(e)) => Err(of_store(&e)),
        }
    }

    pub async fn list(&self, place: &Place, deep: bool) -> Outcome<Vec<Entry>> {
        let path = key(place)?;
        let file =
            |meta: &ObjectMeta| Entry { url: place.at(meta.location.as_ref()), is_dir: false, pin: pin_of(meta) };
        let mut entries: Vec<Entry> = if deep {
            self.store.list(Some(&path)).map_ok(|meta| file(&meta)).try_collect().await.map_err(|e| of_store(&e))?
        } else {
            let found = self.store.list_with_delimiter(Some(&path)).await.map_err(|e| of_store(&e))?;
            // An empty object with the name of the directory marks it, for some tools.
            let files = found.objects.iter().filter(|meta| meta.location != path).map(file);
            files.chain(found.common_prefixes.iter().map(|prefix| directory(place.at(prefix.as_ref())))).collect()
        };
        entries.sort_by(|a, b| a.url.cmp(&b.url));
        // A file that has the name of a directory comes first, and once.
        entries.dedup_by(|second, first| second.url == first.url);
        if entries.is_empty() && !place.path.is_empty() {
            return Err(failure(FailureKind::NotFound, "no such file or directory"));
        }
        Ok(entries)
    }

    /// Reads a range into the window. A read that breaks off, or brings other bytes than it should, is repeated from
    /// where it was.
    pub async fn get(&self, place: &Place, from: u64, len: u64, at: u64, pin: &Pin, window: &File) -> Outcome<u64> {
        let path = key(place)?;
        let mut done = 0;
        let mut attempt = 0;
        while done < len {
            match self.get_once(&path, from + done..from + len, at + done, pin, window).await {
                Ok(read) => done += read,
                Err(Broken { read, cause }) => {
                    done += read;
                    let kind = cause.1.kind;
                    let may_repeat = matches!(kind, FailureKind::Other) && !cause.0 && attempt < self.retries;
                    if !may_repeat {
                        return Err(cause.1);
                    }
                    self.counts.note_broken();
                    tokio::time::sleep(wait_before(attempt)).await;
                    // A read that comes forward is no reason to give up.
                    attempt = if read > 0 { 0 } else { attempt + 1 };
                }
            }
        }
        Ok(len)
    }

    async fn get_once(
        &self,
        path: &Path,
        range: std::ops::Range<u64>,
        at: u64,
        pin: &Pin,
        window: &File,
    ) -> Result<u64, Broken> {
        let want = range.end - range.start;
        let options =
            GetOptions { range: Some(GetRange::Bounded(range)), if_match: pin.tag.clone(), ..GetOptions::default() };
        let begun = |cause| Broken { read: 0, cause };
        let result = self.store.get_opts(path, options).await.map_err(|e| {
            begun(match &e {
                object_store::Error::Precondition { .. } => (true, changed(pin, None)),
                object_store::Error::NotFound { .. } => {
                    (true, failure(FailureKind::Changed, "the object was removed while the job read it"))
                }
                e => (is_exhausted(e), of_store(e)),
            })
        })?;
        let is = pin_of(&result.meta);
        if !is_pinned(pin, &is) {
            return Err(begun((true, changed(pin, Some(&is)))));
        }
        let mut read = 0;
        let mut stream = result.into_stream();
        while let Some(bytes) = stream.next().await {
            let bytes = bytes.map_err(|e| Broken { read, cause: (false, of_store(&e)) })?;
            if bytes.len() as u64 > want - read {
                let more = failure(FailureKind::Other, "the store sent more bytes than were requested");
                return Err(Broken { read: 0, cause: (false, more) });
            }
            window.write_all_at(&bytes, at + read).map_err(|e| begun((true, of_window(&e))))?;
            read += bytes.len() as u64;
            self.counts.received_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        if read < want {
            return Err(Broken { read, cause: (false, failure(FailureKind::Other, "the store sent too few bytes")) });
        }
        Ok(read)
    }

    pub async fn upload(&self, place: &Place) -> Outcome<String> {
        self.multipart.create_multipart(&key(place)?).await.map_err(|e| of_store(&e))
    }

    pub async fn part(&self, place: &Place, upload: &str, index: u32, bytes: Vec<u8>) -> Outcome<String> {
        let (path, upload) = (key(place)?, upload.to_string());
        let put = self.multipart.put_part(&path, &upload, index as usize, PutPayload::from(bytes));
        put.await.map(|part| part.content_id).map_err(|e| of_store(&e))
    }

    pub async fn complete(&self, place: &Place, upload: &str, parts: Vec<String>) -> Outcome<()> {
        let parts = parts.into_iter().map(|content_id| PartId { content_id }).collect();
        let done = self.multipart.complete_multipart(&key(place)?, &upload.to_string(), parts).await;
        done.map(|_| ()).map_err(|e| of_store(&e))
    }

    /// Writes a whole object. Where a store has no conditional put, a lookup goes before.
    pub async fn put(&self, place: &Place, bytes: Vec<u8>, fresh: bool) -> Outcome<()> {
        let path = key(place)?;
        let mode = if fresh { PutMode::Create } else { PutMode::Overwrite };
        let options = PutOptions { mode, ..PutOptions::default() };
        match self.store.put_opts(&path, PutPayload::from(bytes.clone()), options).await {
            Err(object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. }) if fresh => {
                match self.store.head(&path).await {
                    Ok(_) => return Err(failure(FailureKind::Exists, "the object exists")),
                    Err(object_store::Error::NotFound { .. }) => {}
                    Err(e) => return Err(of_store(&e)),
                }
                let put = self.store.put(&path, PutPayload::from(bytes)).await;
                put.map(|_| ()).map_err(|e| of_store(&e))
            }
            // A repeated put finds what the first one wrote, if only its answer was lost.
            Err(e @ (object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }))
                if fresh =>
            {
                let there = match self.store.get(&path).await {
                    Ok(there) => there.bytes().await.ok(),
                    Err(_) => None,
                };
                if there.is_some_and(|there| *there == *bytes) {
                    return Ok(());
                }
                Err(failure(FailureKind::Exists, of_store(&e).text))
            }
            done => done.map(|_| ()).map_err(|e| of_store(&e)),
        }
    }

    pub async fn abort(&self, place: &Place, upload: &str) -> Outcome<()> {
        match self.multipart.abort_multipart(&key(place)?, &upload.to_string()).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(of_store(&e)),
        }
    }

    pub async fn delete(&self, place: &Place) -> Outcome<()> {
        match self.store.delete(&key(place)?).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(of_store(&e)),
        }
    }
}

/// A read that broke off. `cause`: whether it is final, and why.
struct Broken {
    read: u64,
    cause: (bool, yunti_base::store_protocol::Failure),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_end() {
        for attempt in 0..20 {
            let wait = wait_before(attempt);
            let most = WAIT_FIRST.saturating_mul(1 << attempt.min(10) as u32).min(WAIT_MAX);
            assert!(wait >= most / 2 && wait <= most, "{attempt}: {wait:?}");
        }
    }

    #[test]
    fn pins_compare_tags_else_length_and_time() {
        let pin = |len, tag: Option<&str>, modified_ms| Pin { len, tag: tag.map(str::to_string), modified_ms };
        for (was, is, same) in [
            (pin(1, Some("a"), 5), pin(1, Some("a"), 6), true),
            (pin(1, Some("a"), 5), pin(1, Some("b"), 5), false),
            (pin(1, Some("a"), 5), pin(2, Some("a"), 5), false),
            (pin(1, None, 5), pin(1, None, 5), true),
            (pin(1, None, 5), pin(1, None, 6), false),
            (pin(1, None, 0), pin(1, Some("a"), 6), true),
        ] {
            assert_eq!(is_pinned(&was, &is), same, "{was:?} {is:?}");
        }
    }
}
