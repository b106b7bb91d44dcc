//! Messages on the socket: the first one, which brings descriptors, and all others.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use yunti_base::descriptors;
use yunti_base::store_protocol::{Ask, MESSAGE_BYTES_MAX, Reply};

use crate::failure::{Outcome, of_window};

/// Files that both processes have.
pub struct Shared {
    pub socket: UnixStream,
    /// Bytes that were read, for the engine.
    pub window: File,
    pub staging: Staging,
}

/// Scratch file with bytes to upload, which the engine writes.
#[derive(Clone)]
pub struct Staging(Arc<File>);

impl Staging {
    /// Returns `len` bytes from `at`.
    pub fn read(&self, at: u64, len: u64) -> Outcome<Vec<u8>> {
        let mut bytes = vec![0; len as usize];
        self.0.read_exact_at(&mut bytes, at).map_err(|e| of_window(&e))?;
        Ok(bytes)
    }
}

/// Receives the first message and the descriptors that come with its first byte.
pub fn hello() -> Result<((u64, Ask), Shared), String> {
    let not_started = "this program is started by yunti; run 'yunti run .. s3://BUCKET/PATH' instead";
    let input = rustix::io::dup(rustix::stdio::stdin()).map_err(|_| not_started)?;
    let mut length = [0; 4];
    let (received, mut descriptors) = descriptors::receive(&input, &mut length).map_err(|_| not_started)?;
    let (Some(staging), Some(window)) = (descriptors.pop(), descriptors.pop()) else { return Err(not_started.into()) };
    let mut socket = UnixStream::from(input);
    let mut read = |bytes: &mut [u8]| std::io::Read::read_exact(&mut socket, bytes).map_err(|e| e.to_string());
    read(&mut length[received..])?;
    let mut bytes = vec![0; checked(u32::from_le_bytes(length))?];
    read(&mut bytes)?;
    let ask = serde_json::from_slice(&bytes).map_err(|e| format!("not a message: {e}"))?;
    Ok((ask, Shared { socket, window: window.into(), staging: Staging(Arc::new(staging.into())) }))
}

fn checked(length: u32) -> Result<usize, String> {
    let length = length as usize;
    if length > MESSAGE_BYTES_MAX { Err(format!("a message of {length} bytes")) } else { Ok(length) }
}

/// Receives a message; None when the engine is gone.
pub async fn receive(from: &mut OwnedReadHalf) -> Option<(u64, Ask)> {
    let length = from.read_u32_le().await.ok()?;
    let mut bytes = vec![0; checked(length).ok()?];
    from.read_exact(&mut bytes).await.ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Sends a reply. A failure means that the engine is gone, which `receive` reports.
pub async fn send(to: &mut OwnedWriteHalf, reply: &Reply) {
    let Ok(text) = serde_json::to_vec(reply) else { return };
    let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
    bytes.extend_from_slice(&text);
    let _ = to.write_all(&bytes).await;
}
