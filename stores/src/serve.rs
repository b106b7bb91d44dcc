//! Requests of the engine, each served by a task of its own.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::sync::{Mutex, Semaphore};
use yunti_base::store_protocol::{Answer, Ask, FailureKind, Reply, TEMPORARY, VERSION};

use crate::channel::{self, Shared, Staging};
use crate::commit::Commit;
use crate::counted::Counts;
use crate::failure::{Outcome, failure, usage};
use crate::place::Place;
use crate::settings::Settings;
use crate::stores::{Store, Stores, only_read};
use crate::uploads::Uploads;

/// Age of an upload from which its job is dead, wherever it ran.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// Longest time for ending the uploads of an engine that is gone.
const END_MAX: Duration = Duration::from_secs(60);

struct Server {
    stores: Stores,
    uploads: Uploads,
    counts: Arc<Counts>,
    window: Arc<File>,
    staging: Staging,
    /// Transfers of bytes at once.
    transfers: Semaphore,
}

/// Serves until the engine closes the socket, then ends the uploads that are left.
pub async fn serve((number, first): (u64, Ask), shared: Shared) -> Result<(), String> {
    let Ask::Hello { version, settings } = first else { return Err("the first message is no greeting".into()) };
    if version != VERSION {
        return Err(format!(
            "yunti speaks version {version} of the protocol and this program {VERSION}; install both again"
        ));
    }
    let text = |e: std::io::Error| e.to_string();
    shared.socket.set_nonblocking(true).map_err(text)?;
    let socket = UnixStream::from_std(shared.socket).map_err(text)?;
    let (mut from, to) = socket.into_split();
    let to = Arc::new(Mutex::new(to));
    let counts = Arc::<Counts>::default();
    let reply = |answer| Reply { number, answer, traffic: counts.traffic() };
    let settings = match Settings::checked(settings) {
        Ok(settings) => settings,
        Err(failure) => {
            channel::send(&mut *to.lock().await, &reply(Answer::Failed(failure))).await;
            return Ok(());
        }
    };
    channel::send(&mut *to.lock().await, &reply(Answer::Done)).await;
    let server = Arc::new(Server {
        transfers: Semaphore::new(settings.requests()),
        stores: Stores::new(settings, counts.clone()),
        uploads: Uploads::default(),
        counts,
        window: Arc::new(shared.window),
        staging: shared.staging,
    });
    let commits = Arc::new(tokio::sync::RwLock::new(()));
    while let Some((number, ask)) = channel::receive(&mut from).await {
        let (server, to) = (server.clone(), to.clone());
        // A commit goes on when the engine dies.
        let guard = match ask {
            Ask::Commit { .. } => Some(commits.clone().read_owned().await),
            _ => None,
        };
        tokio::spawn(async move {
            let _guard = guard;
            let answer = server.answer(ask).await.unwrap_or_else(Answer::Failed);
            let reply = Reply { number, answer, traffic: server.counts.traffic() };
            channel::send(&mut *to.lock().await, &reply).await;
        });
    }
    let _ = commits.write().await;
    // Nobody waits for a store that is gone; a later job ends what is left.
    let _ = tokio::time::timeout(END_MAX, server.end_uploads()).await;
    Ok(())
}

impl Server {
    async fn answer(&self, ask: Ask) -> Outcome<Answer> {
        match ask {
            Ask::Hello { .. } => Err(failure(FailureKind::Other, "a second greeting")),
            Ask::Stat { url } => {
                let (store, place) = self.at(&url).await?;
                store.stat(&place).await.map(Answer::Entry)
            }
            Ask::List { url, deep } => {
                let (store, place) = self.at(&url).await?;
                store.list(&place, deep).await.map(Answer::Entries)
            }
            Ask::Get { url, from, len, at, pin } => {
                let (store, place) = self.at(&url).await?;
                let _permit = self.transfers.acquire().await;
                store.get(&place, from, len, at, &pin, &self.window).await.map(Answer::Bytes)
            }
            Ask::Begin { output } => self.begin(&output).await.map(Answer::Text),
            Ask::Upload { url } => {
                let (store, place) = self.at(&url).await?;
                let upload = store.upload(&place).await?;
                self.uploads.begin(&url, &upload);
                Ok(Answer::Text(upload))
            }
            Ask::Part { url, upload, index, at, len } => {
                let (store, place) = self.at(&url).await?;
                let _permit = self.transfers.acquire().await;
                // The engine may be a second one, after this process crashed.
                self.uploads.begin(&url, &upload);
                store.part(&place, &upload, index, self.staging.read(at, len)?).await.map(Answer::Text)
            }
            Ask::Commit { output, base, files, overwrite } => {
                let place = Place::parse(&output)?;
                let store = self.stores.of(&place).await?;
                let uploads: Vec<_> = files.iter().filter_map(|file| Some((file, file.upload.as_ref()?))).collect();
                for (file, (upload, _)) in &uploads {
                    // From here on the commit alone decides what becomes of them.
                    self.uploads.end(&format!("{base}/{}", file.name), upload);
                }
                let commit = Commit { store, output: place, base: Place::parse(&base)?, staging: self.staging.clone() };
                commit.run(&files, overwrite).await?;
                self.uploads.end(&base, "");
                Ok(Answer::Done)
            }
            Ask::Abort { url, upload } => {
                let (store, place) = self.at(&url).await?;
                store.abort(&place, &upload).await?;
                self.uploads.end(&url, &upload);
                Ok(Answer::Done)
            }
            Ask::End { output: _, base } => {
                self.uploads.end(&base, "");
                match self.at(&base).await? {
                    (Store::Hdfs(hdfs), place) => hdfs.delete(&place, true).await.map(|()| Answer::Done),
                    _ => Ok(Answer::Done),
                }
            }
        }
    }

    async fn at(&self, url: &str) -> Outcome<(Store, Place)> {
        let place = Place::parse(url)?;
        Ok((self.stores.of(&place).await?, place))
    }

    /// Removes what dead jobs left of an output. Returns the address under which its files are uploaded.
    async fn begin(&self, output: &str) -> Outcome<String> {
        let (store, place) = self.at(output).await?;
        if place.path.is_empty() {
            return Err(usage("the output is a whole bucket; name a directory in it"));
        }
        match &store {
            Store::Web(_) => Err(only_read()),
            Store::Hdfs(hdfs) => {
                let (parent, name) = place.path.rsplit_once('/').unwrap_or(("", &place.path));
                let at = |path: String| Place { path: path.trim_start_matches('/').into(), ..place.clone() };
                let prefix = format!(".{name}{TEMPORARY}-");
                hdfs.remove_abandoned(&at(parent.into()), &prefix, ABANDONED).await;
                let base = at(format!("{parent}/{prefix}{}", yunti_base::process::unique_token()));
                hdfs.make_directory(&base).await?;
                let base = base.at(&base.path);
                self.uploads.begin(&base, "");
                Ok(base)
            }
            Store::Objects(objects) => {
                if let Some(bucket) = &objects.bucket {
                    for old in bucket.unfinished(&format!("{}/", place.path)).await.unwrap_or_default() {
                        if old.age >= ABANDONED {
                            let old_place = Place { path: old.key, ..place.clone() };
                            // Whatever cannot be ended now is ended by a later job, or by a rule of the bucket.
                            let _ = objects.abort(&old_place, &old.upload).await;
                        }
                    }
                }
                Ok(place.at(&place.path))
            }
        }
    }

    async fn end_uploads(&self) {
        for (url, upload) in self.uploads.take() {
            match self.at(&url).await {
                // The directory of an output.
                Ok((Store::Hdfs(hdfs), place)) if upload.is_empty() => drop(hdfs.delete(&place, true).await),
                Ok((store, place)) => drop(store.abort(&place, &upload).await),
                Err(_) => {}
            }
        }
    }
}
