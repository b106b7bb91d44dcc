//! Requests under way, one lane for each shard. All lanes send before one of them waits, so that the servers work side
//! by side; a lane whose connection fails sends what was not answered to another replica.

use std::collections::VecDeque;

use yunti_base::{Code, Error, Result};
use yunti_table::format::row::write_number;

use super::answers::Answers;
use super::connection::{Connection, Failed};
use super::servers::Servers;
use crate::protocol::refusal::Reason;
use crate::protocol::{ALL_ROWS, kind};

/// Most keys of a request.
const KEYS: usize = 1024;
/// Most bytes of requests under way: a server that waits for us to read takes them all the same, in its socket.
const BYTES: usize = 64 << 10;
/// Most requests under way.
const REQUESTS: usize = 8;

/// Keys of one request, by their numbers.
struct Chunk {
    keys: Vec<u32>,
    bytes: usize,
}

/// A connection that a lane uses. An old one may have been closed by the server since.
struct Used {
    server: usize,
    connection: Connection,
    is_old: bool,
}

struct Lane {
    shard: u32,
    waiting: VecDeque<Chunk>,
    sent: VecDeque<Chunk>,
    sent_bytes: usize,
    connection: Option<Used>,
    /// Servers that are left to be tried.
    replicas: VecDeque<usize>,
}

/// Looks up keys at their servers.
pub fn run<K: AsRef<[u8]>>(servers: &Servers, keys: &[K], all_rows: bool, answers: &mut Answers<'_>) -> Result<()> {
    let flags = if all_rows { ALL_ROWS } else { 0 };
    let mut lanes = lanes(servers, keys);
    let mut out = Vec::new();
    while lanes.iter().any(|lane| !lane.is_done()) {
        for lane in lanes.iter_mut().filter(|lane| !lane.is_done()) {
            if let Err(failed) = lane.send(servers, keys, flags, &mut out) {
                lane.fail(servers, failed)?;
            }
        }
        for lane in lanes.iter_mut().filter(|lane| !lane.sent.is_empty()) {
            if let Err(failed) = lane.receive(answers) {
                lane.fail(servers, failed)?;
            }
        }
    }
    for lane in lanes {
        if let Some(used) = lane.connection {
            servers.give_back(used.server, used.connection);
        }
    }
    Ok(())
}

/// Divides keys into lanes and chunks.
fn lanes<K: AsRef<[u8]>>(servers: &Servers, keys: &[K]) -> Vec<Lane> {
    let lane = |shard| Lane {
        shard,
        waiting: VecDeque::new(),
        sent: VecDeque::new(),
        sent_bytes: 0,
        connection: None,
        replicas: servers.replicas(shard).into(),
    };
    let mut lanes: Vec<Option<Lane>> = (0..servers.shards).map(|_| None).collect();
    for (number, key) in keys.iter().enumerate() {
        let key = key.as_ref();
        let shard = if servers.shards == 1 { 0 } else { yunti_table::index::keys::shard(key, servers.shards) };
        let lane = lanes[shard as usize].get_or_insert_with(|| lane(shard));
        let is_full = |chunk: &&mut Chunk| chunk.keys.len() < KEYS && chunk.bytes + key.len() < BYTES;
        match lane.waiting.back_mut().filter(is_full) {
            Some(chunk) => {
                chunk.keys.push(number as u32);
                chunk.bytes += key.len() + 1;
            }
            None => lane.waiting.push_back(Chunk { keys: vec![number as u32], bytes: key.len() + 1 }),
        }
    }
    lanes.into_iter().flatten().collect()
}

impl Lane {
    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.sent.is_empty()
    }

    /// Connects to the next replica, unless there is a connection.
    fn connect(&mut self, servers: &Servers) -> std::result::Result<(), Failed> {
        let used = match self.connection.take() {
            Some(used) => used,
            None => {
                let none = || Failed::Connection(Error::new(Code::Input, "no server answers"));
                let server = *self.replicas.front().ok_or_else(none)?;
                let (connection, is_old) = servers.connection(server, self.shard)?;
                Used { server, connection, is_old }
            }
        };
        self.connection = Some(used);
        Ok(())
    }

    /// Sends what may be under way.
    fn send<K: AsRef<[u8]>>(
        &mut self,
        servers: &Servers,
        keys: &[K],
        flags: u8,
        out: &mut Vec<u8>,
    ) -> std::result::Result<(), Failed> {
        out.clear();
        self.connect(servers)?;
        let Some(Used { connection, .. }) = &mut self.connection else { return Ok(()) };
        let handle = connection.opened.handle;
        while let Some(chunk) = self.waiting.front() {
            let has_room = self.sent.len() < REQUESTS && self.sent_bytes + chunk.bytes <= BYTES;
            if !self.sent.is_empty() && !has_room {
                break;
            }
            let Some(chunk) = self.waiting.pop_front() else { break };
            connection.append(kind::GET, out, |out| {
                out.extend_from_slice(&handle.to_le_bytes());
                out.push(flags);
                out.extend_from_slice(&(chunk.keys.len() as u32).to_le_bytes());
                for key in &chunk.keys {
                    let key = keys[*key as usize].as_ref();
                    write_number(key.len(), out);
                    out.extend_from_slice(key);
                }
            });
            self.sent_bytes += chunk.bytes;
            self.sent.push_back(chunk);
        }
        if out.is_empty() { Ok(()) } else { connection.send(out).map_err(Failed::Connection) }
    }

    /// Takes one response.
    fn receive(&mut self, answers: &mut Answers<'_>) -> std::result::Result<(), Failed> {
        let Some(Used { connection, .. }) = &mut self.connection else { return Ok(()) };
        let received = connection.receive(kind::GET);
        let Some(chunk) = self.sent.front() else { return Ok(()) };
        let added = received.map(|payload| answers.add(&chunk.keys, payload));
        match added {
            Ok(Some(())) => {}
            Ok(None) => {
                let what = "the response of the server is none to the request";
                return Err(Failed::Connection(Error::new(Code::Corrupt, what)));
            }
            // A half of the keys has a shorter response.
            Err(Failed::Refused(refusal)) if refusal.reason == Some(Reason::TooLong) && chunk.keys.len() > 1 => {
                let mut keys = chunk.keys.clone();
                let second = keys.split_off(keys.len() / 2);
                let bytes = chunk.bytes / 2;
                self.waiting.push_front(Chunk { keys: second, bytes });
                self.waiting.push_front(Chunk { keys, bytes });
            }
            Err(failed) => return Err(failed),
        }
        self.sent_bytes -= self.sent.pop_front().map_or(0, |chunk| chunk.bytes);
        Ok(())
    }

    /// Drops the connection, and leaves what was not answered to the next replica.
    fn fail(&mut self, servers: &Servers, failed: Failed) -> Result<()> {
        while let Some(chunk) = self.sent.pop_back() {
            self.waiting.push_front(chunk);
        }
        self.sent_bytes = 0;
        let Some(server) = self.replicas.front().copied() else { return Err(failed.error()) };
        let was_old = self.connection.take().is_some_and(|used| used.is_old);
        if let Failed::Refused(_) = failed {
            return Err(failed.error().at_path(servers.address(server).to_string()));
        }
        servers.failed(server);
        // An idle connection may have been closed long ago: the server itself has its chance.
        if !was_old {
            self.replicas.pop_front();
        }
        if !self.replicas.is_empty() {
            return Ok(());
        }
        Err(failed.error().at_path(servers.address(server).to_string()))
    }
}
