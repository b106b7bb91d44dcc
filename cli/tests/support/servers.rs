//! Servers of tables for tests of the command: each in threads of the test, on a Unix socket.

use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;

use yunti_base::{Cancel, Result};
use yunti_table::read::Options;
use yunti_table_remote::address::Address;
use yunti_table_serve::server::{Settings, TableFile, serve};

use super::Dir;

/// A server that runs until it is stopped or dropped.
pub struct Server {
    cancel: Cancel,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Server {
    /// Serves the file as the table `name` on the socket `socket` of the directory. `token`: empty for none.
    pub fn start(
        dir: &Dir,
        socket: &str,
        (name, file): (&str, &str),
        shard: Option<(u32, u32)>,
        token: &str,
    ) -> Server {
        let tables = vec![TableFile { name: name.into(), path: dir.path(file), shard, options: Options::default() }];
        let settings = Settings {
            listen: vec![Address::Unix(dir.path(socket))],
            metrics: None,
            threads: 2,
            connections: 100,
            token: (!token.is_empty()).then(|| token.into()),
            tls: None,
        };
        let cancel = Cancel::default();
        let (sender, listening) = mpsc::channel();
        let stop = cancel.clone();
        let thread = std::thread::spawn(move || {
            serve(tables, settings, &stop, |_, _| {
                sender.send(()).unwrap();
                Ok(())
            })
        });
        if listening.recv().is_err() {
            panic!("{:?}", thread.join());
        }
        assert!(Path::new(&dir.path(socket)).exists());
        Server { cancel, thread: Some(thread) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.cancel.set();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}
