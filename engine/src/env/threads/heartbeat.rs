//! A thread that rewrites a small file periodically, so that its modification time shows that the process is alive.
//!
//! File systems need it if their locks do not reach every process that sees the file.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::env::files::File;

/// A running heartbeat; dropping it stops the thread.
pub struct Heartbeat {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Writes `bytes` at the start of `file` every `every_ms` milliseconds. A failed write is retried at the next beat.
    ///
    /// Fails if the thread cannot be started.
    pub fn start(file: Arc<dyn File>, bytes: Vec<u8>, every_ms: u64) -> std::io::Result<Heartbeat> {
        let (stop, stopped) = channel::<()>();
        let every = Duration::from_millis(every_ms);
        let thread = std::thread::Builder::new().name("yunti-heartbeat".into()).spawn(move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                // A network file system may hold back a write, and the new time, until it is synced.
                let _ = file.write_at(&bytes, 0).and_then(|_| file.sync());
            }
        })?;
        Ok(Heartbeat { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
