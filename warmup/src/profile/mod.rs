//! Profile: what a training run left, in a directory of its own, and the stamps that say whether it still fits.
//!
//! ```text
//!   shop.warmup/
//!     profile.json    stamps: JVM, class path, options; the archive; version of the format
//!     classes.aot     archive of the JVM (classes.jsa before JDK 25); absent if the JVM writes none
//!     requests.txt    requests to replay; absent if none were named
//! ```
//!
//! A profile is written beside its place and renamed, so that a service never starts with half of one.

mod place;
mod stamp;

pub use place::Draft;
pub use stamp::Stamps;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use yunti_base::{Code, Error, Result};
use yunti_replay::request::Request;

use crate::java::archive::Kind;

/// Version of the format. Another one is a profile that does not fit.
const VERSION: u32 = 1;
const DESCRIPTION: &str = "profile.json";
/// File of requests.
pub const REQUESTS: &str = "requests.txt";

/// Profile of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    version: u32,
    /// Command of the training run.
    pub command: Vec<String>,
    pub stamps: Stamps,
    /// Archive of classes, or `None` with a reason below.
    pub archive: Option<Kind>,
    /// Reason why there is no archive; empty if there is one.
    pub no_archive: String,
}

impl Profile {
    /// Returns a profile of this version.
    pub fn new(command: Vec<String>, stamps: Stamps, archive: std::result::Result<Kind, String>) -> Profile {
        let (archive, no_archive) = match archive {
            Ok(kind) => (Some(kind), String::new()),
            Err(why) => (None, why),
        };
        Profile { version: VERSION, command, stamps, archive, no_archive }
    }

    /// Reads the profile of a directory. Errors have the code [`Code::Input`] or [`Code::Corrupt`].
    pub fn load(folder: &Path) -> Result<Profile> {
        let path = folder.join(DESCRIPTION);
        let text = fs::read_to_string(&path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Error::new(Code::Input, "there is no profile")
                .at_path(folder.to_string_lossy())
                .hint("make it with 'yunti warmup record', or name another with --profile"),
            _ => Error::io(Code::Input, "cannot read the profile", &e).at_path(path.to_string_lossy()),
        })?;
        let bad = |what: String| {
            Error::new(Code::Corrupt, what).at_path(path.to_string_lossy()).hint("record the profile again")
        };
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|e| bad(format!("the profile is damaged: {e}")))?;
        match value.get("version").and_then(serde_json::Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            _ => return Err(bad(format!("the profile is not of version {VERSION}"))),
        }
        serde_json::from_value(value).map_err(|e| bad(format!("the profile is damaged: {e}")))
    }

    /// Returns the path of the archive, if the profile has one.
    pub fn archive_path(&self, folder: &Path) -> Option<PathBuf> {
        self.archive.map(|kind| folder.join(kind.file()))
    }

    /// Reads the requests; none if the profile has no file of them.
    pub fn requests(folder: &Path) -> Result<Vec<Request>> {
        let path = folder.join(REQUESTS);
        if path.exists() { requests_of(&path) } else { Ok(Vec::new()) }
    }
}

/// Reads a file of requests. A fault has the code [`Code::Usage`] and names its line.
pub fn requests_of(path: &Path) -> Result<Vec<Request>> {
    let text = fs::read_to_string(path)
        .map_err(|e| Error::io(Code::Input, "cannot read the requests", &e).at_path(path.to_string_lossy()))?;
    Request::of_file(&text).map_err(|fault| {
        Error::new(Code::Usage, format!("line {} of the requests: {}", fault.line, fault.what))
            .at_path(path.to_string_lossy())
    })
}
