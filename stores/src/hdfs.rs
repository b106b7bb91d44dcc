//! HDFS by a client of its own protocol: HA, routers and erasure coding as hdfs-native has them; Kerberos if the
//! machine has libgssapi_krb5.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use hdfs_native::client::FileStatus;
use hdfs_native::file::{FileReader, FileWriter};
use hdfs_native::{Client, ClientBuilder, HdfsError, WriteOptions};
use tokio::sync::Mutex;
use yunti_base::store_protocol::{Entry, FailureKind, Pin};

use crate::counted::Counts;
use crate::failure::{Outcome, failure, of_hdfs, of_window};
use crate::objects::{changed, wait_before};
use crate::place::Place;
use crate::settings::Settings;

/// One NameNode or name service.
pub struct Hdfs {
    client: Client,
    counts: Arc<Counts>,
    retries: usize,
    timeout: Duration,
    /// Files that are being read, by path: opening one again costs a call to the NameNode.
    readers: Mutex<HashMap<String, Arc<FileReader>>>,
    /// Files that are being written.
    writers: Mutex<HashMap<String, Arc<Mutex<FileWriter>>>>,
    next: AtomicU64,
}

/// Files whose blocks are remembered.
const READERS_MAX: usize = 256;

fn path(place: &Place) -> String {
    format!("/{}", place.path)
}

impl Hdfs {
    /// Connects to the NameNode of an address.
    pub fn open(place: &Place, settings: &Settings, counts: Arc<Counts>) -> Outcome<Hdfs> {
        let millis = settings.timeout().as_millis().to_string();
        let mut builder = ClientBuilder::new().with_config([("dfs.client.socket-timeout", millis)]);
        if !place.host.is_empty() {
            builder = builder.with_url(format!("hdfs://{}", place.host));
        }
        if let Some(user) = settings.text("hdfs.user") {
            builder = builder.with_user(user);
        }
        if let Some(directory) = settings.text("hdfs.config") {
            builder = builder.with_config_dir(directory);
        }
        let client = builder.build().map_err(|e| {
            let text = if place.host.is_empty() {
                format!("hdfs:/// needs fs.defaultFS in HADOOP_CONF_DIR or store.hdfs.config: {e}")
            } else {
                of_hdfs(&e).text
            };
            failure(FailureKind::Usage, text)
        })?;
        Ok(Hdfs {
            client,
            counts,
            retries: settings.retries(),
            timeout: settings.timeout(),
            readers: Mutex::default(),
            writers: Mutex::default(),
            next: AtomicU64::new(1),
        })
    }

    fn entry(&self, place: &Place, status: &FileStatus) -> Entry {
        let pin = Pin { len: status.length as u64, tag: None, modified_ms: status.modification_time };
        Entry { url: place.at(&status.path), is_dir: status.isdir, pin }
    }

    /// Calls, and calls again while the NameNode or the network fails.
    async fn again<T, F: Future<Output = Result<T, HdfsError>>>(&self, call: impl Fn() -> F) -> Outcome<T> {
        let mut attempt = 0;
        loop {
            self.counts.requests.fetch_add(1, Ordering::Relaxed);
            let problem = match tokio::time::timeout(self.timeout, call()).await {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(e)) if is_passing(&e) => of_hdfs(&e),
                Ok(Err(e)) => return Err(of_hdfs(&e)),
                Err(_) => failure(FailureKind::Other, "the NameNode did not answer in time"),
            };
            if attempt >= self.retries {
                return Err(failure(problem.kind, format!("{}, after {} tries", problem.text, attempt + 1)));
            }
            self.counts.note_broken();
            tokio::time::sleep(wait_before(attempt)).await;
            attempt += 1;
        }
    }

    pub async fn stat(&self, place: &Place) -> Outcome<Entry> {
        let name = path(place);
        let status = self.again(|| self.client.get_file_info(&name)).await?;
        Ok(Entry { url: place.at(&place.path), ..self.entry(place, &status) })
    }

    pub async fn list(&self, place: &Place, deep: bool) -> Outcome<Vec<Entry>> {
        let name = path(place);
        let found = self.again(|| self.client.list_status(&name, deep)).await?;
        let mut entries: Vec<Entry> = found.iter().map(|status| self.entry(place, status)).collect();
        entries.sort_by(|a, b| a.url.cmp(&b.url));
        Ok(entries)
    }

    pub async fn get(&self, place: &Place, from: u64, len: u64, at: u64, pin: &Pin, window: &File) -> Outcome<u64> {
        let name = path(place);
        let mut attempt = 0;
        loop {
            let reader = self.reader(&name).await?;
            let is = Pin { len: reader.file_length() as u64, ..pin.clone() };
            if is.len != pin.len || from + len > is.len {
                return Err(changed(pin, Some(&is)));
            }
            let mut done = 0;
            let mut stream = std::pin::pin!(reader.read_range_stream(from as usize, len as usize));
            let problem = loop {
                match stream.next().await {
                    Some(Ok(bytes)) => {
                        let room = (len - done) as usize;
                        let bytes = &bytes[..bytes.len().min(room)];
                        window.write_all_at(bytes, at + done).map_err(|e| of_window(&e))?;
                        done += bytes.len() as u64;
                        self.counts.received_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                    }
                    Some(Err(e)) => break of_hdfs(&e),
                    None if done == len => return Ok(len),
                    None => break failure(FailureKind::Other, "HDFS sent too few bytes"),
                }
            };
            if attempt >= self.retries || problem.kind == FailureKind::Denied {
                return Err(problem);
            }
            // Blocks may have moved, or a DataNode is gone: the NameNode knows where they are now.
            self.readers.lock().await.remove(&name);
            self.counts.note_broken();
            tokio::time::sleep(wait_before(attempt)).await;
            attempt += 1;
        }
    }

    async fn reader(&self, name: &str) -> Outcome<Arc<FileReader>> {
        if let Some(reader) = self.readers.lock().await.get(name) {
            return Ok(reader.clone());
        }
        let reader = Arc::new(self.again(|| self.client.read(name)).await?);
        let mut readers = self.readers.lock().await;
        if readers.len() >= READERS_MAX {
            readers.clear();
        }
        readers.insert(name.into(), reader.clone());
        Ok(reader)
    }

    pub async fn upload(&self, place: &Place) -> Outcome<String> {
        let name = path(place);
        let options = WriteOptions::default();
        let writer = self.client.create(&name, options).await.map_err(|e| of_hdfs(&e))?;
        let number = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        self.writers.lock().await.insert(number.clone(), Arc::new(Mutex::new(writer)));
        Ok(number)
    }

    /// Appends bytes. Parts come in order.
    pub async fn part(&self, upload: &str, bytes: Vec<u8>) -> Outcome<String> {
        let writer = self.writers.lock().await.get(upload).cloned();
        let Some(writer) = writer else { return Err(lost()) };
        let len = bytes.len() as u64;
        writer.lock().await.write_bytes(bytes.into()).await.map_err(|e| of_hdfs(&e))?;
        self.counts.sent_bytes.fetch_add(len, Ordering::Relaxed);
        Ok(String::new())
    }

    pub async fn complete(&self, upload: &str) -> Outcome<()> {
        let writer = self.writers.lock().await.remove(upload);
        let Some(writer) = writer else { return Err(lost()) };
        writer.lock().await.close().await.map_err(|e| of_hdfs(&e))
    }

    pub async fn abort(&self, place: &Place, upload: &str) -> Outcome<()> {
        self.writers.lock().await.remove(upload);
        self.delete(place, false).await
    }

    pub async fn delete(&self, place: &Place, tree: bool) -> Outcome<()> {
        match self.client.delete(&path(place), tree).await {
            Ok(_) | Err(HdfsError::FileNotFound(_)) => Ok(()),
            Err(e) => Err(of_hdfs(&e)),
        }
    }

    /// Removes the directories in `parent` whose names begin with `prefix` and which have not changed for a time.
    pub async fn remove_abandoned(&self, parent: &Place, prefix: &str, age: Duration) {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let oldest = now.saturating_sub(age).as_millis() as u64;
        // The parent need not exist, and what cannot be removed now is removed by a later job.
        for status in self.client.list_status(&path(parent), false).await.unwrap_or_default() {
            let name = status.path.rsplit('/').next().unwrap_or_default();
            if name.starts_with(prefix) && status.modification_time < oldest {
                let _ = self.client.delete(&status.path, true).await;
            }
        }
    }

    pub async fn make_directory(&self, place: &Place) -> Outcome<()> {
        let name = path(place);
        self.again(|| self.client.mkdirs(&name, 0o755, true)).await
    }

    /// Renames a directory. HDFS would move it into a directory of the new name, so that must not exist.
    pub async fn rename(&self, from: &Place, to: &Place) -> Outcome<()> {
        match self.client.get_file_info(&path(to)).await {
            Ok(_) => return Err(failure(FailureKind::Exists, "the output exists")),
            Err(HdfsError::FileNotFound(_)) => {}
            Err(e) => return Err(of_hdfs(&e)),
        }
        self.client.rename(&path(from), &path(to), false).await.map_err(|e| of_hdfs(&e))
    }
}

fn lost() -> yunti_base::store_protocol::Failure {
    failure(FailureKind::Other, "the file that was being written is lost; run the job again")
}

/// Returns true for a failure that may pass: of the network, or of a NameNode that starts or changes places.
fn is_passing(e: &HdfsError) -> bool {
    let text = || e.to_string();
    match e {
        HdfsError::IOError(_) | HdfsError::DataTransferError(_) => true,
        HdfsError::RPCError(..) | HdfsError::FatalRPCError(..) => {
            ["SafeMode", "StandbyException", "RetriableException"].iter().any(|word| text().contains(word))
        }
        _ => false,
    }
}
