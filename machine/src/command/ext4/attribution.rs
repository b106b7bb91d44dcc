//! Purpose of requests to a device: by the inode whose pages they transfer, and by a map of the file system's blocks.
//!
//! ```text
//!   under a file's inode  -> data of that file
//!   under the device's    -> metadata: the kind in the map
//!   without an inode      -> direct I/O, journal: the kind in the map
//!
//!   not in the map, or metadata where the map has data: the map is outdated, and a newer one decides
//! ```

use std::collections::{BTreeMap, HashMap};

use yunti_ext4::{BlockMap, KINDS, Kind};

use yunti_probe::kernel::system::{Operation, Owner, Request};

/// Requests in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Number of requests.
    pub requests: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Sum {
    fn add(&mut self, bytes: u64) {
        self.requests += 1;
        self.bytes += bytes;
    }
}

/// Requests in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Both {
    /// Reads.
    pub read: Sum,
    /// Writes.
    pub written: Sum,
}

impl Both {
    fn add(&mut self, is_write: bool, bytes: u64) {
        if is_write { self.written.add(bytes) } else { self.read.add(bytes) }
    }

    /// Returns bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.read.bytes + self.written.bytes
    }
}

/// Adjacent blocks that are not in the map so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Unknown {
    start: u64,
    blocks: u64,
    is_write: bool,
    owner: Owner,
}

/// Sums of requests by kind of block and by file.
pub struct Attribution {
    map: BlockMap,
    block_bytes: u64,
    first_sector: u64,
    kinds: [Both; KINDS.len()],
    files: HashMap<u32, Both>,
    unknown: HashMap<Unknown, u64>,
    /// Requests without a block: flushes of the device's cache.
    pub flushes: u64,
    /// Blocks given back to the device.
    pub discarded: Sum,
    /// Requests within the file system to blocks of no kind.
    pub not_known: Both,
    /// Requests before or behind the file system.
    pub outside: Both,
    blocks: u64,
}

/// Entries; further ones count as unknown kind at once.
const UNKNOWN_MAX: usize = 1 << 20;

impl Attribution {
    /// Returns empty sums. `first_sector`: start of the file system on the disk; `blocks`: size of the file system.
    pub fn new(map: BlockMap, blocks: u64, block_bytes: u32, first_sector: u64) -> Attribution {
        Attribution {
            map,
            block_bytes: block_bytes.into(),
            first_sector,
            kinds: Default::default(),
            files: HashMap::new(),
            unknown: HashMap::new(),
            flushes: 0,
            discarded: Sum::default(),
            not_known: Both::default(),
            outside: Both::default(),
            blocks,
        }
    }

    /// Adds a request.
    pub fn add(&mut self, request: &Request) {
        let is_write = match request.operation {
            Operation::Read => false,
            Operation::Write => true,
            Operation::Flush => return self.flushes += 1,
            Operation::Discard => return self.discarded.add(request.bytes.into()),
            Operation::Other => return,
        };
        if request.bytes == 0 {
            // A flush may also be a write of no bytes.
            self.flushes += u64::from(is_write);
            return;
        }
        let bytes = u64::from(request.bytes);
        let at = request.sector.checked_sub(self.first_sector).map(|sector| sector * SECTOR);
        let Some(at) = at.filter(|at| at + bytes <= self.blocks * self.block_bytes) else {
            return self.outside.add(is_write, bytes);
        };
        match request.owner {
            Owner::File(inode) => self.of(Kind::Data, inode as u32, is_write, bytes),
            Owner::Symlink(inode) => self.of(Kind::Symlink, inode as u32, is_write, bytes),
            owner @ (Owner::Device | Owner::None) => {
                // With sectors smaller than blocks, a part of a block is transferred.
                let start = at / self.block_bytes;
                if bytes < self.block_bytes {
                    return self.piece(start, 1, is_write, owner, bytes, 1);
                }
                self.piece(start, bytes / self.block_bytes, is_write, owner, self.block_bytes, 1);
            }
        }
    }

    /// Adds adjacent blocks. `each`: bytes of each block.
    fn piece(&mut self, start: u64, blocks: u64, is_write: bool, owner: Owner, each: u64, times: u64) {
        for (at, blocks, run) in self.map.pieces(start, blocks) {
            let kind = run.map(|run| (run.kind, run.inode));
            match kind {
                Some((kind, inode)) if !(kind == Kind::Data && owner == Owner::Device) => {
                    (0..times).for_each(|_| self.of(kind, inode, is_write, blocks * each));
                }
                _ if self.unknown.len() < UNKNOWN_MAX => {
                    *self.unknown.entry(Unknown { start: at, blocks, is_write, owner }).or_default() += times;
                }
                _ => self.not_known.add(is_write, blocks * each),
            }
        }
    }

    fn of(&mut self, kind: Kind, inode: u32, is_write: bool, bytes: u64) {
        self.kinds[kind as usize].add(is_write, bytes);
        if kind == Kind::Data {
            self.files.entry(inode).or_default().add(is_write, bytes);
        }
    }

    /// Replaces the map, and looks up the unknown blocks in it.
    pub fn renew(&mut self, map: BlockMap) {
        self.map = map;
        for (what, times) in std::mem::take(&mut self.unknown) {
            self.piece(what.start, what.blocks, what.is_write, what.owner, self.block_bytes, times);
        }
    }

    /// Returns true if blocks are not in the map.
    pub fn has_unknown(&self) -> bool {
        !self.unknown.is_empty()
    }

    /// Ends the measurement: blocks that are still unknown stay so.
    pub fn end(&mut self) {
        for (what, times) in std::mem::take(&mut self.unknown) {
            (0..times).for_each(|_| self.not_known.add(what.is_write, what.blocks * self.block_bytes));
        }
    }

    /// Returns the present map.
    pub fn map(&self) -> &BlockMap {
        &self.map
    }

    /// Returns the requests to blocks of this kind.
    pub fn of_kind(&self, kind: Kind) -> Both {
        self.kinds[kind as usize]
    }

    /// Returns the files by inode, most bytes first.
    pub fn files(&self) -> Vec<(u32, Both)> {
        let sorted: BTreeMap<_, _> =
            self.files.iter().map(|(inode, both)| ((std::cmp::Reverse(both.bytes()), *inode), *both)).collect();
        sorted.into_iter().map(|((_, inode), both)| (inode, both)).collect()
    }

    /// Returns the sum over all kinds.
    pub fn all(&self) -> Both {
        let parts = self.kinds.iter().chain([&self.not_known]);
        parts.fold(Both::default(), |mut sum, both| {
            sum.read.requests += both.read.requests;
            sum.read.bytes += both.read.bytes;
            sum.written.requests += both.written.requests;
            sum.written.bytes += both.written.bytes;
            sum
        })
    }
}

const SECTOR: u64 = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_ext4::Run;

    fn request(block: u64, blocks: u32, operation: Operation, owner: Owner) -> Request {
        Request { sector: 100 + block * 8, bytes: blocks * 4096, operation, owner }
    }

    #[test]
    fn attributes_by_page_by_map_and_by_a_newer_map() {
        let run = |start, blocks, kind, inode| Run { start, blocks, kind, inode };
        let old = BlockMap::new(vec![
            run(0, 1, Kind::SuperBlock, 0),
            run(1, 4, Kind::InodeTable, 0),
            run(50, 10, Kind::Data, 12),
        ]);
        let mut all = Attribution::new(old, 100, 4096, 100);
        all.add(&request(0, 3, Operation::Read, Owner::Device));
        all.add(&request(80, 2, Operation::Write, Owner::File(13)));
        all.add(&request(50, 1, Operation::Read, Owner::None));
        // A directory where data was, and a journal outside the map.
        all.add(&request(51, 1, Operation::Write, Owner::Device));
        all.add(&request(70, 4, Operation::Write, Owner::None));
        all.add(&request(98, 4, Operation::Write, Owner::None));
        all.add(&request(0, 0, Operation::Flush, Owner::None));
        let sum = |requests, blocks: u64| Sum { requests, bytes: blocks * 4096 };
        assert_eq!(all.of_kind(Kind::SuperBlock).read, sum(1, 1));
        assert_eq!(all.of_kind(Kind::InodeTable).read, sum(1, 2));
        assert_eq!(
            all.files(),
            [
                (13, Both { read: Sum::default(), written: sum(1, 2) }),
                (12, Both { read: sum(1, 1), written: Sum::default() })
            ]
        );
        assert_eq!((all.outside.written, all.flushes), (sum(1, 4), 1));
        assert!(all.has_unknown());
        all.renew(BlockMap::new(vec![run(51, 1, Kind::Directory, 14), run(70, 3, Kind::Journal, 8)]));
        assert_eq!(all.of_kind(Kind::Directory).written, sum(1, 1));
        assert_eq!(all.of_kind(Kind::Journal).written, sum(1, 3));
        all.end();
        assert_eq!(all.not_known.written, sum(1, 1));
        assert_eq!(all.all().written.bytes, 7 * 4096);
    }
}
