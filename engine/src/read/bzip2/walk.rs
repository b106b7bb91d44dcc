//! A walk over the blocks of a bzip2 file, from any block on: their data, and where each begins.
//!
//! ```text
//!   bits of the file:   [mark block ....][mark block .. (mark?) ..][mark block ..][end]  header [mark block
//!   fed to the decoder:  ...............|......................|..|..............|
//!                                       ^ data comes out: a block ended here
//!                                                              ^ no data: a false mark
//! ```
//!
//! The decoder is fed up to each mark and no further, shifted to whole bytes. It returns a block's data when it has the
//! block's last bit. So data at a mark proves that a block ends there.
//!
//! The decoder verifies the checksum of each block. The walk verifies the checksum of a stream that it has read whole.

use bzip2::{Decompress, Status};

use crate::codec::bzip2_blocks::{
    ANY_HEADER, CRC_BITS, HEADER_BYTES, MARK_BITS, MARK_BYTES, Mark, append_shifted, cut_short, damaged, find_mark,
    not_a_stream,
};
use crate::env::NamedFile;
use yunti_base::{Error, Result};

/// Compressed bytes read at a time.
pub const INPUT_BYTES: usize = if cfg!(debug_assertions) { 1 << 10 } else { 256 << 10 };

/// Bytes of memory for the decoder, its input, and its shifted input.
pub const MEMORY_BYTES: u64 = (4 << 20) + 3 * INPUT_BYTES as u64;

/// Next event of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Bytes at the front of the output.
    Data(usize),
    /// A block begins at this bit of the file; all data before it was returned.
    Block(u64),
    /// End of the file.
    End,
}

/// Walk over the blocks of a bzip2 file.
pub struct Walk {
    file: NamedFile,
    file_bytes: u64,
    input: Vec<u8>,
    /// Byte of the file at which `input` begins.
    base: u64,
    /// First bit that was not fed to the decoder yet.
    bit: u64,
    /// First bit at which the next mark is searched.
    search: u64,
    /// Input of the decoder; `[fed..]` is not consumed yet.
    feed: Vec<u8>,
    fed: usize,
    decoder: Decompress,
    /// True if the decoder has returned all available data.
    drained: bool,
    /// True if data came out since the last mark.
    given: bool,
    /// Mark at which `feed` ends.
    mark: Option<(u64, Mark)>,
    /// Checksum of the stream's blocks so far, if all were read.
    combined_crc: Option<u32>,
}

/// Returns the bit of the file's first block; None if the file has no data.
///
/// Errors: `Corrupt`, with path and offset, if the file does not begin as bzip2 data.
pub fn first_block(file: &NamedFile) -> Result<Option<u64>> {
    next_stream(file, file.len()?, 0)
}

/// Returns the first block of the streams that begin at byte `at`, skipping empty streams; None at the end of the file.
fn next_stream(file: &NamedFile, file_bytes: u64, mut at: u64) -> Result<Option<u64>> {
    let place = |error: Error, at: u64| error.at_path(file.path()).at_offset(at);
    loop {
        if at >= file_bytes && at > 0 {
            return if at == file_bytes { Ok(None) } else { Err(place(cut_short(), file_bytes)) };
        }
        let mut bytes = [0; HEADER_BYTES + MARK_BYTES];
        let n = file.read_up_to(&mut bytes, at)?;
        let (header, mark) = bytes[..n].split_at(n.min(HEADER_BYTES));
        let is_header = header
            .iter()
            .zip(ANY_HEADER)
            .all(|(have, want)| have == want || (*want == b'9' && (b'1'..=b'9').contains(have)));
        let marks = [Mark::Block, Mark::End].map(|m| m.bytes().starts_with(mark));
        if !is_header {
            return Err(place(not_a_stream(at == 0), at));
        }
        match marks {
            [false, false] => return Err(place(damaged(), at + HEADER_BYTES as u64)),
            _ if n < bytes.len() => return Err(place(cut_short(), file_bytes)),
            [true, _] => return Ok(Some((at + HEADER_BYTES as u64) * 8)),
            [_, true] => at += (HEADER_BYTES + MARK_BYTES) as u64 + CRC_BITS / 8,
        }
    }
}

impl Walk {
    /// Starts at the block at bit `block`. `begins_stream`: the block is the first of its stream.
    pub fn new(file: NamedFile, block: u64, begins_stream: bool) -> Result<Walk> {
        let mut walk = Walk {
            file_bytes: file.len()?,
            file,
            input: Vec::new(),
            base: 0,
            bit: 0,
            search: 0,
            feed: Vec::with_capacity(INPUT_BYTES),
            fed: 0,
            decoder: Decompress::new(false),
            drained: true,
            given: false,
            mark: None,
            combined_crc: None,
        };
        walk.begin(block, begins_stream)?;
        Ok(walk)
    }

    fn begin(&mut self, block: u64, begins_stream: bool) -> Result<()> {
        self.input.clear();
        self.base = block / 8;
        (self.bit, self.search) = (block, block + 1);
        self.feed.clear();
        self.feed.extend(ANY_HEADER);
        self.fed = 0;
        self.decoder = Decompress::new(false);
        (self.drained, self.given, self.mark) = (true, false, None);
        self.combined_crc = if begins_stream { Some(self.crc_behind(block)?) } else { None };
        Ok(())
    }

    /// Returns the checksum after a mark.
    fn crc_behind(&self, mark: u64) -> Result<u32> {
        let at = mark + MARK_BITS;
        let mut bytes = [0; 5];
        if self.file.read_up_to(&mut bytes, at / 8)? < (at % 8 + CRC_BITS).div_ceil(8) as usize {
            return Err(self.error(cut_short(), self.file_bytes));
        }
        let bits = bytes.iter().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
        Ok((bits >> (8 - at % 8)) as u32)
    }

    fn error(&self, error: Error, at: u64) -> Error {
        error.at_path(self.file.path()).at_offset(at.min(self.file_bytes))
    }

    /// Returns the next event. `output` must not be empty.
    ///
    /// Errors: `Corrupt`, with path and offset; `Input` for a failed read.
    pub fn next(&mut self, output: &mut [u8]) -> Result<Event> {
        loop {
            if self.fed < self.feed.len() || !self.drained {
                let (in_before, out_before) = (self.decoder.total_in(), self.decoder.total_out());
                let status = self.decoder.decompress(&self.feed[self.fed..], output);
                let read = (self.decoder.total_in() - in_before) as usize;
                let written = (self.decoder.total_out() - out_before) as usize;
                self.fed += read;
                self.drained = written < output.len();
                // The end of a real stream is never fed whole.
                let stands = read == 0 && written == 0 && self.fed < self.feed.len();
                if stands || !matches!(status, Ok(Status::Ok)) {
                    return Err(self.error(damaged(), self.bit / 8));
                }
                if written > 0 {
                    self.given = true;
                    return Ok(Event::Data(written));
                }
                continue;
            }
            if let Some((bit, mark)) = self.mark.take()
                && std::mem::take(&mut self.given)
            {
                return self.pass(bit, mark);
            }
            self.load()?;
        }
    }

    /// Handles a mark at which a block ended.
    fn pass(&mut self, bit: u64, mark: Mark) -> Result<Event> {
        if mark == Mark::Block {
            if let Some(crc) = self.combined_crc {
                self.combined_crc = Some(crc.rotate_left(1) ^ self.crc_behind(bit)?);
            }
            return Ok(Event::Block(bit));
        }
        let crc = self.crc_behind(bit)?;
        if self.combined_crc.is_some_and(|c| c != crc) {
            return Err(self.error(damaged(), bit / 8));
        }
        let at = (bit + MARK_BITS + CRC_BITS).div_ceil(8);
        match next_stream(&self.file, self.file_bytes, at)? {
            None => Ok(Event::End),
            Some(block) => {
                self.begin(block, true)?;
                Ok(Event::Block(block))
            }
        }
    }

    /// Fills `feed` up to the next mark, or as far as no mark can begin.
    fn load(&mut self) -> Result<()> {
        self.feed.clear();
        self.fed = 0;
        loop {
            let origin = self.base * 8;
            let have = origin + self.input.len() as u64 * 8;
            let last = self.base + self.input.len() as u64 >= self.file_bytes;
            let found = find_mark(&self.input, self.search - origin).map(|(bit, mark)| (origin + bit, mark));
            let bytes = match found {
                Some((bit, _)) => bit.saturating_sub(self.bit).div_ceil(8),
                // A mark may begin in the last bits.
                None if !last => (have - origin).saturating_sub(self.bit - origin + MARK_BITS + 8) / 8,
                None => (have.saturating_sub(self.bit)) / 8,
            };
            if found.is_some() || bytes > 0 {
                append_shifted(&self.input, self.bit - origin, bytes as usize, &mut self.feed);
                self.bit += bytes * 8;
                self.search = match found {
                    Some((bit, _)) => bit + 1,
                    None => self.search.max(have.saturating_sub(MARK_BITS - 1)),
                };
                self.mark = found;
                return Ok(());
            }
            if last {
                return Err(self.error(cut_short(), self.file_bytes));
            }
            self.read_on()?;
        }
    }

    /// Reads more input and drops what was fed and searched.
    fn read_on(&mut self) -> Result<()> {
        let done = (self.bit.min(self.search) / 8 - self.base) as usize;
        self.input.drain(..done.min(self.input.len()));
        self.base += done as u64;
        let have = self.input.len();
        self.input.resize(have + INPUT_BYTES, 0);
        let n = self.file.read_up_to(&mut self.input[have..], self.base + have as u64)?;
        self.input.truncate(have + n);
        if n == 0 {
            // The file became shorter after it was opened.
            self.file_bytes = self.base + have as u64;
        }
        Ok(())
    }
}
