//! Messages between `yunti` and `yunti-stores`: requests with numbers, answers in any order.
//!
//! ```text
//!   engine  -- u32 length | JSON (number, Ask) -->  yunti-stores      over a Unix socket, the process's standard input
//!           <-- u32 length | JSON Reply ----------
//!           == window: a file in memory, to which bytes that were read are written ==
//!           == staging: a scratch file without a name, from which bytes are uploaded ==
//! ```
//!
//! The first message, `Ask::Hello`, carries the descriptors of both files. Both programs come from one release, so the
//! protocol has a number and no other versions. Lengths are little endian.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Number of the protocol. A program with another one ends with a line.
pub const VERSION: u32 = 1;

/// Largest message in bytes: a list of a few million names does not fit, and is an error.
pub const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// Part of the name of a directory in which an output is written, after `.` and the name of the output.
pub const TEMPORARY: &str = "._temporary";

/// Identity of an object's contents when it was planned, as far as the store knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    pub len: u64,
    /// ETag as the store writes it, with quotes.
    pub tag: Option<String>,
    /// Milliseconds since 1970-01-01 UTC; 0 if unknown.
    pub modified_ms: u64,
}

/// Name in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub url: String,
    pub is_dir: bool,
    pub pin: Pin,
}

/// File of an output, all of whose bytes are in the store or in staging.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadedFile {
    /// Path within the output.
    pub name: String,
    /// The upload and the marks of its parts; None for a small file.
    pub upload: Option<(String, Vec<String>)>,
    /// Place and length in staging of a file without an upload.
    pub staged: (u64, u64),
}

/// Request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// First message. `settings`: names without `store.`.
    Hello { version: u32, settings: BTreeMap<String, String> },
    /// Metadata of a name: `Answer::Entry`.
    Stat { url: String },
    /// Names in a directory, sorted: `Answer::Entries`. `deep`: all files below it.
    List { url: String, deep: bool },
    /// Reads `len` bytes from `from` of an object that is as `pin` says, and writes them at `at` of the window.
    Get { url: String, from: u64, len: u64, at: u64, pin: Pin },
    /// Begins an output: removes what killed jobs left of it. `Answer::Text`: the address of the directory under which
    /// its files are uploaded.
    Begin { output: String },
    /// Begins an upload: `Answer::Text`, its number in the store.
    Upload { url: String },
    /// Uploads bytes [at, at + len) of staging as a part: `Answer::Text`, the store's mark for it. Parts of a file of
    /// HDFS come in order.
    Part { url: String, upload: String, index: u32, at: u64, len: u64 },
    /// Makes an output visible, `_SUCCESS` last. It goes on to its end, or back to its beginning, even if the engine
    /// dies. `overwrite`: an older output goes. Fails with `Exists` if there is one and it may not.
    Commit { output: String, base: String, files: Vec<UploadedFile>, overwrite: bool },
    /// Ends an upload; nothing of it stays.
    Abort { url: String, upload: String },
    /// Ends an output that is not committed, after its uploads.
    End { output: String, base: String },
}

/// Answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    Done,
    Entry(Entry),
    Entries(Vec<Entry>),
    /// Bytes that are in the window.
    Bytes(u64),
    Text(String),
    Failed(Failure),
}

/// Class of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailureKind {
    NotFound,
    /// No permission, or credentials that are missing, wrong or expired.
    Denied,
    Exists,
    /// The object is not what it was when the job was planned.
    Changed,
    Unsupported,
    /// A setting or a name that the user must change.
    Usage,
    Other,
}

/// Failure in one line, without credentials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    pub text: String,
}

/// Totals of the process so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// HTTP requests, repeated ones included; calls, for HDFS.
    pub requests: u64,
    /// Requests that were repeated.
    pub retries: u64,
    /// Answers with which a store asked for less: 429 and 503.
    pub slow_downs: u64,
    pub received_bytes: u64,
    pub sent_bytes: u64,
}

impl std::ops::Add for Traffic {
    type Output = Traffic;

    fn add(self, other: Traffic) -> Traffic {
        Traffic {
            requests: self.requests + other.requests,
            retries: self.retries + other.retries,
            slow_downs: self.slow_downs + other.slow_downs,
            received_bytes: self.received_bytes + other.received_bytes,
            sent_bytes: self.sent_bytes + other.sent_bytes,
        }
    }
}

/// Answer with the number of its request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    pub number: u64,
    pub answer: Answer,
    pub traffic: Traffic,
}

/// Failure that the user can mend by another name or setting, inside an `std::io::Error`: it becomes
/// [`Code::Usage`](crate::Code::Usage).
#[derive(Debug)]
pub struct UsageError(pub String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}
