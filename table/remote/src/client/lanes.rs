//! Requests under way, one lane for each shard. All lanes send before one of them waits, so that the servers work side
//! by side; a lane whose connection fails sends what was not answered to another replica.
//!
//! ```text
//!   block (keys of a caller)  ->  chunks (requests) of each lane: waiting -> sent  ->  answers of the block
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_table::format::row::{read_number, write_number};
use yunti_table::index::keys;

use super::answers::{Answers, Shape};
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

/// Keys of one request.
struct Chunk {
    /// Number of the block.
    block: u64,
    /// Numbers of the keys in their block.
    keys: Vec<u32>,
    /// The keys, each behind its length.
    bytes: Vec<u8>,
}

impl Chunk {
    /// Takes the second half of the keys away.
    fn split_off(&mut self) -> Chunk {
        let keys = self.keys.split_off(self.keys.len() / 2);
        let mut rest = self.bytes.as_slice();
        for _ in 0..self.keys.len() {
            let length = read_number(&mut rest).unwrap_or_default();
            rest = rest.get(length..).unwrap_or_default();
        }
        let bytes = self.bytes.split_off(self.bytes.len() - rest.len());
        Chunk { block: self.block, keys, bytes }
    }
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
    /// The first of them has answered since it was chosen.
    has_answered: bool,
}

/// Keys that a caller looks up at once.
struct Block {
    answers: Answers,
    /// Keys without a response.
    open: usize,
}

/// Lookups of one caller.
pub struct Lanes {
    all_rows: bool,
    lanes: Vec<Option<Lane>>,
    blocks: VecDeque<Block>,
    /// Number of the first block.
    first: u64,
    out: Vec<u8>,
}

impl Lanes {
    pub fn new(all_rows: bool) -> Lanes {
        Lanes { all_rows, lanes: Vec::new(), blocks: VecDeque::new(), first: 0, out: Vec::new() }
    }

    /// Returns the number of blocks that were not taken.
    pub fn count(&self) -> usize {
        self.blocks.len()
    }

    /// Adds a block: divides its keys into lanes and chunks.
    pub fn add<K: AsRef<[u8]>>(&mut self, servers: &Servers, shape: &Arc<Shape>, keys: &[K]) -> Result<()> {
        if u32::try_from(keys.len()).is_err() {
            return Err(Error::new(Code::Usage, "more than 4,294,967,295 keys in one batch"));
        }
        let block = self.first + self.blocks.len() as u64;
        self.blocks.push_back(Block { answers: Answers::new(shape.clone(), keys.len()), open: keys.len() });
        self.lanes.resize_with(servers.shards as usize, || None);
        for (number, key) in keys.iter().enumerate() {
            let key = key.as_ref();
            let shard = if servers.shards == 1 { 0 } else { keys::shard(key, servers.shards) };
            let lane = self.lanes[shard as usize].get_or_insert_with(|| Lane::new(servers, shard));
            let has_room = |chunk: &Chunk| {
                chunk.block == block && chunk.keys.len() < KEYS && chunk.bytes.len() + key.len() < BYTES
            };
            if !lane.waiting.back().is_some_and(has_room) {
                lane.waiting.push_back(Chunk { block, keys: Vec::new(), bytes: Vec::new() });
            }
            let Some(chunk) = lane.waiting.back_mut() else { continue };
            chunk.keys.push(number as u32);
            write_number(key.len(), &mut chunk.bytes);
            chunk.bytes.extend_from_slice(key);
        }
        Ok(())
    }

    /// Sends what may be under way.
    pub fn send(&mut self, servers: &Servers) -> Result<()> {
        let flags = if self.all_rows { ALL_ROWS } else { 0 };
        for lane in self.lanes.iter_mut().flatten() {
            // Each failure leaves one replica less.
            while let Err(failed) = lane.send(servers, flags, &mut self.out) {
                lane.fail(servers, failed)?;
            }
        }
        Ok(())
    }

    /// Waits for the first block, and returns its rows; None if there is no block.
    pub fn take(&mut self, servers: &Servers) -> Result<Option<Answers>> {
        while self.blocks.front().is_some_and(|block| block.open > 0) {
            self.send(servers)?;
            let first = self.first;
            let waits = |lane: &&mut Lane| lane.sent.iter().chain(&lane.waiting).any(|chunk| chunk.block == first);
            for lane in self.lanes.iter_mut().flatten().filter(waits) {
                if let Err(failed) = lane.receive(self.first, &mut self.blocks) {
                    lane.fail(servers, failed)?;
                }
            }
        }
        let block = self.blocks.pop_front();
        self.first += u64::from(block.is_some());
        Ok(block.map(|block| block.answers))
    }

    /// Gives the connections back that have no request under way.
    pub fn give_back(&mut self, servers: &Servers) {
        for lane in self.lanes.drain(..).flatten() {
            if let (Some(used), true) = (lane.connection, lane.sent.is_empty()) {
                servers.give_back(used.server, used.connection);
            }
        }
    }
}

impl Lane {
    fn new(servers: &Servers, shard: u32) -> Lane {
        Lane {
            shard,
            waiting: VecDeque::new(),
            sent: VecDeque::new(),
            sent_bytes: 0,
            connection: None,
            replicas: servers.replicas(shard).into(),
            has_answered: false,
        }
    }

    /// Connects to the next replica, unless there is a connection.
    fn connect(&mut self, servers: &Servers) -> std::result::Result<(), Failed> {
        if self.connection.is_none() {
            let none = || Failed::Connection(Error::new(Code::Input, "no server answers"));
            let server = *self.replicas.front().ok_or_else(none)?;
            let (connection, is_old) = servers.connection(server, self.shard)?;
            self.connection = Some(Used { server, connection, is_old });
        }
        Ok(())
    }

    /// Sends what may be under way.
    fn send(&mut self, servers: &Servers, flags: u8, out: &mut Vec<u8>) -> std::result::Result<(), Failed> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        out.clear();
        self.connect(servers)?;
        let Some(Used { connection, .. }) = &mut self.connection else { return Ok(()) };
        let handle = connection.opened.handle;
        while let Some(chunk) = self.waiting.front() {
            let has_room = self.sent.len() < REQUESTS && self.sent_bytes + chunk.bytes.len() <= BYTES;
            if !self.sent.is_empty() && !has_room {
                break;
            }
            let Some(chunk) = self.waiting.pop_front() else { break };
            connection.append(kind::GET, out, |out| {
                out.extend_from_slice(&handle.to_le_bytes());
                out.push(flags);
                out.extend_from_slice(&(chunk.keys.len() as u32).to_le_bytes());
                out.extend_from_slice(&chunk.bytes);
            });
            self.sent_bytes += chunk.bytes.len();
            self.sent.push_back(chunk);
        }
        if out.is_empty() { Ok(()) } else { connection.send(out).map_err(Failed::Connection) }
    }

    /// Takes one response. `first`: the number of the first block.
    fn receive(&mut self, first: u64, blocks: &mut VecDeque<Block>) -> std::result::Result<(), Failed> {
        let (Some(Used { connection, .. }), Some(chunk)) = (&mut self.connection, self.sent.front()) else {
            return Ok(());
        };
        let Some(block) = blocks.get_mut((chunk.block - first) as usize) else { return Ok(()) };
        let added = connection.receive(kind::GET).map(|payload| block.answers.add(&chunk.keys, payload));
        let is_too_long = matches!(&added, Err(Failed::Refused(refusal)) if refusal.reason == Some(Reason::TooLong));
        match added {
            Ok(Some(())) => block.open -= chunk.keys.len(),
            Ok(None) => {
                let what = "the response of the server is none to the request";
                return Err(Failed::Connection(Error::new(Code::Corrupt, what)));
            }
            // A half of the keys has a shorter response.
            Err(_) if is_too_long && chunk.keys.len() > 1 => {}
            Err(failed) => return Err(failed),
        }
        self.has_answered = true;
        let Some(mut chunk) = self.sent.pop_front() else { return Ok(()) };
        self.sent_bytes -= chunk.bytes.len();
        if is_too_long {
            let second = chunk.split_off();
            self.waiting.push_front(second);
            self.waiting.push_front(chunk);
        }
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
        match (std::mem::take(&mut self.has_answered), was_old) {
            // It worked until now: all servers have their chance again, and this one is the last of them.
            (true, _) => self.replicas = servers.replicas(self.shard).into(),
            // An idle connection may have been closed long ago: the server itself has its chance.
            (false, true) => {}
            (false, false) => drop(self.replicas.pop_front()),
        }
        if !self.replicas.is_empty() {
            return Ok(());
        }
        Err(failed.error().at_path(servers.address(server).to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_a_chunk_have_its_keys() {
        for count in 2..9_usize {
            let mut chunk = Chunk { block: 3, keys: (0..count as u32).collect(), bytes: Vec::new() };
            let key = |number: usize| vec![number as u8; number * 70];
            for number in 0..count {
                write_number(key(number).len(), &mut chunk.bytes);
                chunk.bytes.extend_from_slice(&key(number));
            }
            let second = chunk.split_off();
            let mut number = 0;
            for half in [&chunk, &second] {
                let mut rest = half.bytes.as_slice();
                for own in &half.keys {
                    let length = read_number(&mut rest).unwrap();
                    assert_eq!((*own as usize, &rest[..length]), (number, key(number).as_slice()));
                    rest = &rest[length..];
                    number += 1;
                }
                assert!(rest.is_empty() && half.block == 3 && !half.keys.is_empty());
            }
            assert_eq!(number, count);
        }
    }
}
