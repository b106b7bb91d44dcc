//! The pool's socket, and messages through it: a length of four bytes, then JSON. Descriptors travel with the length.

use std::fs::DirBuilder;
use std::io::{self, Read, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use yunti_base::{Code, Error, Result, descriptors};

/// A longer message is a mistake: command lines and environments are shorter.
const MESSAGE_BYTES_MAX: usize = 16 << 20;
/// Standard input, output and error of a program.
const STREAMS: usize = 3;

/// Request of a client to the keeper.
#[derive(Serialize, Deserialize)]
pub enum Request {
    Run(Program),
    Stop,
    Status,
}

/// Program of `yunti hadoop run`.
#[derive(Serialize, Deserialize, Clone, PartialEq)]
pub struct Program {
    /// The JVM, its options and its class path.
    pub java: Vec<String>,
    pub directory: String,
    pub environment: Vec<(String, String)>,
    pub arguments: Vec<String>,
    /// Hash of the sizes and times of the jars: a JVM keeps the classes of the jars that it began with.
    pub jars: u64,
}

/// Answer of the keeper to a client.
#[derive(Serialize, Deserialize)]
pub enum Answer {
    /// No JVM waits for this program: the client starts its own.
    None,
    /// A JVM became the program; the process number.
    Runs(u32),
    /// The program ended with this exit code.
    Ended(i32),
    /// State of the pool, in lines for people.
    Text(String),
}

/// Returns the socket's path in a directory of this user alone.
pub fn path() -> Result<PathBuf> {
    let user = rustix::process::getuid().as_raw();
    let directory = match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(directory) if !directory.is_empty() => PathBuf::from(directory),
        _ => PathBuf::from(format!("/tmp/yunti-{user}")),
    };
    let failed = |e: &io::Error| Error::io(Code::Output, &directory.to_string_lossy(), e);
    match DirBuilder::new().mode(0o700).create(&directory) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(failed(&e)),
        _ => (),
    }
    let found = std::fs::symlink_metadata(&directory).map_err(|e| failed(&e))?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o022 != 0 {
        let what = format!("{} is not a directory of this user alone", directory.display());
        return Err(Error::new(Code::Output, what).hint("set XDG_RUNTIME_DIR to one"));
    }
    Ok(directory.join("yunti-hadoop-pool.sock"))
}

/// Sends a message.
pub fn send(mut socket: &UnixStream, message: &impl Serialize) -> io::Result<()> {
    socket.write_all(&frame(message)?)
}

/// Sends a message with the streams of a program.
pub fn send_with(socket: &UnixStream, message: &impl Serialize, streams: &[BorrowedFd<'_>; STREAMS]) -> io::Result<()> {
    descriptors::send(socket, &frame(message)?, streams)
}

/// Makes a waiting JVM the program with these arguments: their length in four bytes, then each with a zero byte behind
/// it (hadoop/native/src/jni/native_spare.rs).
pub fn hand_over(socket: &UnixStream, arguments: &[String], streams: &[BorrowedFd<'_>; STREAMS]) -> io::Result<()> {
    let text: String = arguments.iter().map(|argument| format!("{argument}\0")).collect();
    let mut bytes = (text.len() as u32).to_be_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    descriptors::send(socket, &bytes, streams)
}

fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(message)?;
    let mut bytes = (text.len() as u32).to_be_bytes().to_vec();
    bytes.extend_from_slice(&text);
    Ok(bytes)
}

/// Receives a message, and the streams that came with it, if any.
pub fn receive<T: DeserializeOwned>(socket: &UnixStream) -> io::Result<(T, Vec<OwnedFd>)> {
    let mut length = [0; 4];
    let (received, streams) = descriptors::receive(socket, &mut length)?;
    if received == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut from = socket;
    from.read_exact(&mut length[received..])?;
    let length = u32::from_be_bytes(length) as usize;
    if length > MESSAGE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a message of {length} bytes")));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok((serde_json::from_slice(&bytes)?, streams))
}
