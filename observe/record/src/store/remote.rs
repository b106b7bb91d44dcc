//! Remote stores: slices of another machine's store, copied by ssh.
//!
//! No program of ours runs there: `find` lists names and sizes, `cat` sends files. Slices never change, so a copy is
//! kept and only missing ones are fetched.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use yunti_base::{Code, Error, Result};

use super::entry::{Entry, Query};
use super::folder::{Store, make_folder, write_whole};
use crate::format::gzip;

/// Size of a slice that is fetched at most. Real ones have less than a thousandth of it.
const SLICE_BYTES_MAX: u64 = 256 << 20;

/// Files that one `cat` sends.
const BATCH: usize = 500;

/// Store on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Host as ssh knows it, perhaps with a user.
    pub host: String,
    /// Folder of the store there.
    pub folder: String,
}

impl Place {
    /// Parses `[user@]host:folder`; `None` for the path of a local folder.
    pub fn parse(text: &str) -> Option<Place> {
        let (host, folder) = text.split_once(':')?;
        // ssh would take a host with a hyphen for an option.
        let is_host = !host.is_empty() && !host.contains('/') && !host.starts_with('-');
        (is_host && !folder.is_empty()).then(|| Place { host: host.into(), folder: folder.into() })
    }
}

/// Copies the slices of a query to the folder `cache`, which holds copies of that store alone, and opens it. `ssh` is
/// the program to call. A query by release or host copies all slices whose names fit. Errors have the code
/// [`Code::Input`], or [`Code::Output`] for the copy.
pub fn fetch(ssh: &Path, place: &Place, query: &Query, cache: &Path) -> Result<Store> {
    let store = Store::create(cache)?;
    let listing = list(ssh, place)?;
    let missing: Vec<Entry> = listing
        .into_iter()
        .filter(|entry| query.has_entry(entry))
        .filter(|entry| !store.path(entry).metadata().is_ok_and(|there| there.len() == entry.bytes))
        .collect();
    for batch in missing.chunks(BATCH) {
        copy(ssh, place, batch, &store)?;
    }
    Ok(store)
}

fn list(ssh: &Path, place: &Place) -> Result<Vec<Entry>> {
    let find = "find . -mindepth 3 -maxdepth 3 -type f -name '*.slice' -printf '%s %P\\n'";
    let output = command(ssh, place, find).stdin(Stdio::null()).output().map_err(|e| cannot_run(ssh, &e))?;
    if !output.status.success() {
        return Err(failed(place, "cannot list the store", &output.stderr));
    }
    let entry = |line: &str| {
        let (bytes, path) = line.split_once(' ')?;
        let mut parts = path.split('/');
        let (service, day, name) = (parts.next()?, parts.next()?, parts.next()?);
        let bytes = bytes.parse().ok().filter(|bytes| *bytes <= SLICE_BYTES_MAX)?;
        Entry::parse(service, day, name, bytes)
    };
    let mut entries: Vec<Entry> = String::from_utf8_lossy(&output.stdout).lines().filter_map(entry).collect();
    entries.sort();
    Ok(entries)
}

fn copy(ssh: &Path, place: &Place, batch: &[Entry], store: &Store) -> Result<()> {
    let mut child = command(ssh, place, "xargs -0 cat --")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| cannot_run(ssh, &e))?;
    let names: String = batch.iter().map(|entry| format!("{}\0", entry.id())).collect();
    let mut stdin = child.stdin.take().expect("the pipe was set up");
    // Neither side waits for the other: names go out while files come in.
    let sender = std::thread::spawn(move || stdin.write_all(names.as_bytes()));
    let received = receive(&mut child, batch, store);
    let killed = received.is_err().then(|| child.kill());
    let output = child.wait_with_output();
    let _ = sender.join();
    match (received, output) {
        (Ok(()), Ok(output)) if output.status.success() => Ok(()),
        // A kill by us is no reason.
        (Err(error), Ok(output)) if killed.is_some() && output.stderr.is_empty() => Err(error),
        (Err(error), _) if error.code() == Code::Output => Err(error),
        (_, Ok(output)) => Err(failed(place, "cannot copy slices", &output.stderr)),
        (_, Err(e)) => Err(cannot_run(ssh, &e)),
    }
}

fn receive(child: &mut Child, batch: &[Entry], store: &Store) -> Result<()> {
    let stdout = child.stdout.as_mut().expect("the pipe was set up");
    for entry in batch {
        let mut bytes = Vec::new();
        let length = stdout.take(entry.bytes).read_to_end(&mut bytes).unwrap_or(0);
        // A file that retention removed shifts all others.
        if length as u64 != entry.bytes || !gzip::is_gzip(&bytes) {
            return Err(Error::new(Code::Input, "the remote store changed while it was copied")
                .at_path(entry.id())
                .hint("run the command again"));
        }
        let path = store.path(entry);
        make_folder(path.parent().expect("a slice lies in the folder of its day"))?;
        write_whole(&path, &bytes)
            .map_err(|e| Error::io(Code::Output, "cannot write a copy", &e).at_path(path.to_string_lossy()))?;
    }
    Ok(())
}

fn command(ssh: &Path, place: &Place, script: &str) -> Command {
    let folder = place.folder.replace('\'', "'\\''");
    let mut command = Command::new(ssh);
    command.arg("--").arg(&place.host).arg(format!("cd '{folder}' && {script}"));
    command
}

fn failed(place: &Place, what: &str, stderr: &[u8]) -> Error {
    let text = String::from_utf8_lossy(stderr);
    let reason = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("no message");
    Error::new(Code::Input, format!("{what}: {reason}"))
        .at_path(format!("{}:{}", place.host, place.folder))
        .hint("try `ssh` by hand; the host needs find and xargs of GNU")
}

fn cannot_run(ssh: &Path, error: &io::Error) -> Error {
    Error::io(Code::Input, "cannot run ssh", error).at_path(ssh.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_no_paths() {
        let place = |host: &str, folder: &str| Some(Place { host: host.into(), folder: folder.into() });
        for (text, wanted) in [
            ("web1:/var/lib/yunti", place("web1", "/var/lib/yunti")),
            ("me@web1:store", place("me@web1", "store")),
            ("/var/lib/a:b", None),
            ("./a:b", None),
            ("store", None),
            ("-oProxyCommand=x:y", None),
            (":x", None),
            ("x:", None),
        ] {
            assert_eq!(Place::parse(text), wanted, "{text}");
        }
    }
}
