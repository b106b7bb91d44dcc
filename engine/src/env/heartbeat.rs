//! A thread that rewrites a small file again and again, so that its modification time shows that the process lives.
//!
//! It is for file systems whose locks do not reach every process that sees the file.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::files::File;

/// The thread; it ends when this is dropped.
pub struct Heartbeat {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Writes `bytes` at the start of `file` every `every_ms` milliseconds. A write that fails is tried again at the next beat.
    pub fn start(file: Arc<dyn File>, bytes: Vec<u8>, every_ms: u64) -> std::io::Result<Heartbeat> {
        let (stop, stopped) = channel::<()>();
        let every = Duration::from_millis(every_ms);
        let thread = std::thread::Builder::new().name("yunti-heartbeat".into()).spawn(move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                // A network file system keeps a write, and with it the time, until it is synced.
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
