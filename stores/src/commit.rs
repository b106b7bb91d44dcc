//! The commit of an output: all of it appears, or nothing.
//!
//! ```text
//!   objects   _yunti/commit.json  by a conditional put: of two jobs, one wins
//!             part-r-00000 ..     uploads are completed, small files are put; on a failure all go again
//!             _SUCCESS            last: readers that wait for it see whole outputs alone
//!   HDFS      the temporary directory is renamed, which the NameNode does for one job alone
//! ```
//!
//! An object store cannot replace many objects at once. With `overwrite`, `_SUCCESS` goes first and comes last.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt;
use yunti_base::store_protocol::{FailureKind, UploadedFile};

use crate::channel::Staging;
use crate::failure::{Outcome, failure};
use crate::hdfs::Hdfs;
use crate::objects::Objects;
use crate::place::Place;
use crate::stores::{Store, only_read};

/// Objects that are made visible at once.
const AT_ONCE: usize = 16;
/// Name of the object that decides which job commits.
const MANIFEST: &str = "_yunti/commit.json";
const SUCCESS: &str = "_SUCCESS";

/// One commit.
pub struct Commit {
    pub store: Store,
    pub output: Place,
    /// Directory under which the files were uploaded.
    pub base: Place,
    pub staging: Staging,
}

impl Commit {
    /// Commits. After a failure nothing of the output is visible that was not before.
    pub async fn run(&self, files: &[UploadedFile], overwrite: bool) -> Outcome<()> {
        match &self.store {
            Store::Objects(objects) => self.objects(objects, files, overwrite).await,
            Store::Hdfs(hdfs) => self.directory(hdfs, files, overwrite).await,
            Store::Web(_) => Err(only_read()),
        }
    }

    fn at(&self, name: &str) -> Place {
        Place { path: format!("{}/{name}", self.output.path), ..self.output.clone() }
    }

    async fn objects(&self, objects: &Objects, files: &[UploadedFile], overwrite: bool) -> Outcome<()> {
        let names: Vec<&str> = files.iter().map(|file| &*file.name).collect();
        let manifest = serde_json::json!({ "job": yunti_base::process::unique_token(), "files": names });
        let manifest = serde_json::to_vec_pretty(&manifest).unwrap_or_default();
        let old = if overwrite {
            match objects.list(&self.output, true).await {
                Ok(entries) => entries.into_iter().map(|entry| entry.url).collect(),
                Err(e) if e.kind == FailureKind::NotFound => BTreeSet::new(),
                Err(e) => return Err(e),
            }
        } else {
            BTreeSet::new()
        };
        match objects.put(&self.at(MANIFEST), manifest, !overwrite).await {
            Err(e) if e.kind == FailureKind::Exists => {
                self.end_uploads(objects, files).await;
                return Err(failure(FailureKind::Exists, "another job committed this output first"));
            }
            other => other?,
        }
        if overwrite {
            objects.delete(&self.at(SUCCESS)).await?;
        }
        let (last, others): (Vec<_>, Vec<_>) = files.iter().cloned().partition(|file| file.name == SUCCESS);
        let mut shown = self.show_all(objects, others).await;
        if shown.is_ok() {
            shown = self.show_all(objects, last).await;
        }
        if let Err(e) = shown {
            self.end_uploads(objects, files).await;
            for name in names.iter().copied().chain([MANIFEST]) {
                // An object that cannot be removed stays without its `_SUCCESS`.
                let _ = objects.delete(&self.at(name)).await;
            }
            return Err(e);
        }
        let new: BTreeSet<String> = names.iter().copied().chain([MANIFEST]).map(|name| self.url(name)).collect();
        let gone: Vec<Place> = old.difference(&new).filter_map(|url| Place::parse(url).ok()).collect();
        // The new output is complete; what stays of the old one would be read with it, so a failure is one.
        for place in gone {
            objects.delete(&place).await?;
        }
        Ok(())
    }

    /// Makes files visible. After a failure no further one begins, but all that began come to their end: a request
    /// that is given up may still do its work, after all else was taken back.
    async fn show_all(&self, objects: &Objects, files: Vec<UploadedFile>) -> Outcome<()> {
        let has_failed = Arc::new(AtomicBool::new(false));
        let shown: Vec<_> = files
            .into_iter()
            .map(|file| {
                let (objects, place) = (objects.clone(), self.at(&file.name));
                let (staging, has_failed) = (self.staging.clone(), has_failed.clone());
                async move {
                    if has_failed.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    let shown = show(objects, place, file, staging).await;
                    has_failed.fetch_or(shown.is_err(), Ordering::Relaxed);
                    shown
                }
            })
            .collect();
        let results: Vec<Outcome<()>> = futures_util::stream::iter(shown).buffer_unordered(AT_ONCE).collect().await;
        results.into_iter().collect()
    }

    fn url(&self, name: &str) -> String {
        let place = self.at(name);
        place.at(&place.path)
    }

    async fn end_uploads(&self, objects: &Objects, files: &[UploadedFile]) {
        for file in files {
            if let Some((upload, _)) = &file.upload {
                let _ = objects.abort(&self.at(&file.name), upload).await;
            }
        }
    }

    async fn directory(&self, hdfs: &Arc<Hdfs>, files: &[UploadedFile], overwrite: bool) -> Outcome<()> {
        for file in files {
            match &file.upload {
                Some((upload, _)) => hdfs.complete(upload).await?,
                None => {
                    let place = Place { path: format!("{}/{}", self.base.path, file.name), ..self.base.clone() };
                    let upload = hdfs.upload(&place).await?;
                    let (at, len) = file.staged;
                    if len > 0 {
                        hdfs.part(&upload, self.staging.read(at, len)?).await?;
                    }
                    hdfs.complete(&upload).await?;
                }
            }
        }
        match hdfs.rename(&self.base, &self.output).await {
            Err(e) if e.kind == FailureKind::Exists && overwrite => {}
            result => return result,
        }
        let older = Place { path: format!("{}-older", self.base.path), ..self.base.clone() };
        hdfs.rename(&self.output, &older).await?;
        if let Err(e) = hdfs.rename(&self.base, &self.output).await {
            let _ = hdfs.rename(&older, &self.output).await;
            return Err(e);
        }
        // Readers skip its name, and a later job removes it.
        let _ = hdfs.delete(&older, true).await;
        Ok(())
    }
}

/// Makes one file visible.
async fn show(objects: Objects, place: Place, file: UploadedFile, staging: Staging) -> Outcome<()> {
    match file.upload {
        Some((upload, parts)) => objects.complete(&place, &upload, parts).await,
        None => {
            let (at, len) = file.staged;
            objects.put(&place, staging.read(at, len)?, false).await
        }
    }
}
