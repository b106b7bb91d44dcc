//! A reader of a segment's records, in blocks for a merge (`writer.rs` has the format).

use std::io::Read;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::run::BlockSource;
use yunti_engine::run::block::{Block, BlockBuilder};

use crate::compress::{Codec, CodecKind, decoded};
use crate::key::normaliser::WaitingRecords;
use crate::key::{KeyForm, Normaliser};
use crate::vint;

/// Bytes of a record, at most; larger lengths are damage.
const RECORD_BYTES_MAX: i64 = i32::MAX as i64;

/// Bytes of a value, at least, to be read into the block directly.
const LARGE_BYTES: usize = 1 << 20;

/// Bytes of such a value read at once.
const PIECE_BYTES: usize = 256 << 10;

/// Bytes of the checksum behind a segment.
pub const CHECKSUM_BYTES: usize = 4;

/// Returns true if the checksum behind a segment matches its bytes.
pub fn is_sound(segment: &[u8]) -> bool {
    let Some((body, checksum)) = segment.split_last_chunk::<CHECKSUM_BYTES>() else { return false };
    crc32fast::hash(body) == u32::from_be_bytes(*checksum)
}

/// Records of one segment, in normal form.
pub struct SegmentReader<'r> {
    stream: Box<dyn Read + Send + 'r>,
    form: KeyForm,
    /// Bytes of records read at once, and of the blocks.
    block_bytes: usize,
    name: String,
    buffer: Vec<u8>,
    /// Bytes [from, to) of the buffer were read and not taken.
    from: usize,
    to: usize,
    /// Raw bytes before `from`.
    position: u64,
    ended: bool,
    builder: BlockBuilder,
    /// Normaliser of the keys, and the records that wait for it.
    normals: Option<(Arc<dyn Normaliser>, WaitingRecords)>,
}

impl<'r> SegmentReader<'r> {
    /// Returns a reader of `stream`, a segment without its checksum; `name` names it in errors.
    ///
    /// Fails with `Code::Corrupt` if the codec cannot start.
    pub fn new(
        stream: impl Read + Send + 'r,
        codec: Codec,
        form: KeyForm,
        block_bytes: usize,
        name: String,
    ) -> Result<SegmentReader<'r>> {
        let stream = decoded(codec, stream).map_err(|e| of_io(e).at_path(&name))?;
        Ok(SegmentReader {
            stream,
            form,
            block_bytes,
            name,
            buffer: vec![0; block_bytes],
            from: 0,
            to: 0,
            position: 0,
            ended: false,
            builder: BlockBuilder::default(),
            normals: None,
        })
    }

    /// Sets the normaliser of keys whose form is `Carried`.
    pub fn with_normaliser(self, normaliser: Option<Arc<dyn Normaliser>>) -> SegmentReader<'r> {
        SegmentReader { normals: normaliser.map(|own| (own, WaitingRecords::default())), ..self }
    }

    /// Returns the bytes of the block so far.
    fn weight_bytes(&self) -> usize {
        self.builder.weight_bytes() + self.normals.as_ref().map_or(0, |(_, waiting)| waiting.bytes())
    }

    /// Brings waiting records into the block.
    fn normalise(&mut self) -> Result<()> {
        let SegmentReader { normals, builder, .. } = self;
        let Some((normaliser, waiting)) = normals else { return Ok(()) };
        waiting.take(&**normaliser, |normal, own, value| {
            builder.push_with(|to| {
                to.extend_from_slice(normal);
                KeyForm::Carried.take(own, value, to)?;
                Ok(normal.len())
            })
        })
    }

    /// Returns the approximate memory of one reader: its buffer, the unfinished block, the block being merged, the
    /// decoder.
    pub fn memory_bytes(codec: CodecKind, block_bytes: usize) -> u64 {
        3 * block_bytes as u64 + codec.decoder_bytes()
    }

    /// Reads until `need` bytes are available; returns false at the end of the stream.
    fn fill(&mut self, need: usize) -> Result<bool> {
        while self.to - self.from < need {
            if self.from > 0 {
                self.buffer.copy_within(self.from..self.to, 0);
                (self.from, self.to) = (0, self.to - self.from);
            }
            if self.buffer.len() < need {
                self.buffer.resize(need, 0);
            }
            match self.stream.read(&mut self.buffer[self.to..]) {
                Ok(0) => return Ok(false),
                Ok(n) => self.to += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(of_io(e)),
            }
        }
        Ok(true)
    }

    /// Returns a length and the bytes that it takes, `at` bytes behind `from`.
    fn length(&mut self, at: usize) -> Result<(i64, usize)> {
        for need in [at + 1, at + 9] {
            let there = self.fill(need)?;
            if let Some(found) = vint::get(&self.buffer[(self.from + at).min(self.to)..self.to]) {
                return Ok(found);
            }
            if !there {
                break;
            }
        }
        Err(Error::new(Code::Corrupt, "a segment of map output has no end"))
    }

    /// Adds the next record to the block; returns false at the end.
    fn push(&mut self) -> Result<bool> {
        let (klen, k) = self.length(0)?;
        let (vlen, v) = self.length(k)?;
        if (klen, vlen) == (-1, -1) {
            self.from += k + v;
            self.ended = true;
            if self.fill(1)? {
                return Err(Error::new(Code::Corrupt, "a segment of map output has bytes behind its end"));
            }
            return Ok(false);
        }
        let sane = 0..=RECORD_BYTES_MAX;
        if !sane.contains(&klen) || !sane.contains(&vlen) || !sane.contains(&(klen + vlen)) {
            return Err(Error::new(Code::Corrupt, format!("a record has a key of {klen} bytes and a value of {vlen}")));
        }
        let (klen, len) = (klen as usize, (klen + vlen) as usize);
        if len - klen >= LARGE_BYTES && self.normals.is_none() {
            return self.push_large(k + v, klen, len - klen).map(|()| true);
        }
        if !self.fill(k + v + len)? {
            return Err(cut());
        }
        let record = &self.buffer[self.from + k + v..][..len];
        let (key, value) = record.split_at(klen);
        match &mut self.normals {
            Some((_, waiting)) => waiting.push(key, value),
            None => self.builder.push_with(|to| self.form.take(key, value, to))?,
        }
        self.from += k + v + len;
        self.position += (k + v + len) as u64;
        Ok(true)
    }

    /// `push` for a record with a large value, which is read into the block without a copy. The lengths take `header`
    /// bytes.
    fn push_large(&mut self, header: usize, klen: usize, vlen: usize) -> Result<()> {
        if !self.fill(header + klen)? {
            return Err(cut());
        }
        let SegmentReader { stream, form, buffer, from, to, builder, .. } = self;
        let (key, rest) = buffer[*from + header..*to].split_at(klen);
        let there = rest.len().min(vlen);
        builder.push_with(|block| {
            let key_len = form.take(key, &rest[..there], block)?;
            read_behind(&mut **stream, block, vlen - there)?;
            Ok(key_len)
        })?;
        self.from += header + klen + there;
        self.position += (header + klen + vlen) as u64;
        Ok(())
    }
}

/// Reads `len` bytes behind those of `to`, in pieces that stay in the cache between the zeroing and the read.
fn read_behind(stream: &mut (dyn Read + Send + '_), to: &mut Vec<u8>, len: usize) -> Result<()> {
    to.reserve_exact(len);
    let end = to.len() + len;
    while to.len() < end {
        let from = to.len();
        to.resize((from + PIECE_BYTES).min(end), 0);
        stream.read_exact(&mut to[from..]).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => cut(),
            _ => of_io(e),
        })?;
    }
    Ok(())
}

fn cut() -> Error {
    Error::new(Code::Corrupt, "a segment of map output ends within a record")
}

fn of_io(error: std::io::Error) -> Error {
    Error::new(Code::Corrupt, error.to_string())
}

impl BlockSource for SegmentReader<'_> {
    fn next_block(&mut self, block: &mut Block, _: &mut Vec<u8>) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        while self.weight_bytes() < self.block_bytes {
            if !self.push().map_err(|e| self.locate(e))? {
                break;
            }
        }
        self.normalise()?;
        if self.builder.is_empty() {
            return Ok(false);
        }
        self.builder.swap_into(block);
        Ok(true)
    }

    fn locate(&self, error: Error) -> Error {
        error.at_path(self.name.clone()).at_offset(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyBatch;
    use yunti_engine::bytes::KeyOrder;
    use yunti_engine::run::Merger;

    fn segment(records: &[(&str, &[u8])], end: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (k, v) in records {
            vint::put(k.len() as i64 + 1, &mut bytes);
            vint::put(v.len() as i64, &mut bytes);
            bytes.push(k.len() as u8);
            bytes.extend_from_slice(k.as_bytes());
            bytes.extend_from_slice(v);
        }
        if end {
            bytes.extend([0xff, 0xff]);
        }
        bytes
    }

    fn read(bytes: &[u8], block_bytes: usize) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let codec = Codec { kind: CodecKind::None, level: -1, buffer_bytes: 0 };
        let reader = SegmentReader::new(bytes, codec, KeyForm::Text, block_bytes, "map 1".into())?;
        let mut merger = Merger::new(vec![Box::new(reader)], KeyOrder::BYTES)?;
        let mut all = Vec::new();
        while let Some(batch) = merger.next_batch()? {
            all.extend(batch.iter().map(|r| (r.key().to_vec(), r.value().to_vec())));
        }
        Ok(all)
    }

    #[test]
    fn reads_records_in_blocks_of_any_size() {
        let large = vec![3u8; 5000];
        let records = [("", &b""[..]), ("a", b"1"), ("a", &large), ("bc", b""), ("d", &large)];
        let expect: Vec<_> = records.iter().map(|(k, v)| (k.as_bytes().to_vec(), v.to_vec())).collect();
        for block_bytes in [16, 100, 4096, 1 << 20] {
            assert_eq!(read(&segment(&records, true), block_bytes).unwrap(), expect, "{block_bytes}");
        }
        assert_eq!(read(&segment(&[], true), 64).unwrap(), []);
        let giant = vec![5u8; LARGE_BYTES + 3 * PIECE_BYTES / 2];
        let records = [("a", &b"1"[..]), ("b", &giant), ("c", &giant), ("d", b"2")];
        let expect: Vec<_> = records.iter().map(|(k, v)| (k.as_bytes().to_vec(), v.to_vec())).collect();
        let whole = segment(&records, true);
        for block_bytes in [16, 1 << 20, 8 << 20] {
            assert!(read(&whole, block_bytes).unwrap() == expect, "{block_bytes}");
        }
        for cut in [100, LARGE_BYTES, whole.len() / 2, whole.len() - 4] {
            assert!(read(&whole[..cut], 1 << 20).is_err(), "{cut}");
        }
    }

    /// Descending order of bytes.
    struct Inverted;

    impl Normaliser for Inverted {
        fn normalise(&self, keys: &KeyBatch) -> Result<KeyBatch> {
            Ok(KeyBatch { bytes: keys.bytes.iter().map(|b| !b).collect(), ends: keys.ends.clone() })
        }
    }

    #[test]
    fn keys_get_the_forms_of_a_normaliser() {
        let long = vec![1u8; 5000];
        let bytes = segment(&[("d", b"1"), ("c", &long), ("b", b"")], true);
        for block_bytes in [16, 1 << 20] {
            let codec = Codec { kind: CodecKind::None, level: -1, buffer_bytes: 0 };
            let reader = SegmentReader::new(&bytes[..], codec, KeyForm::Carried, block_bytes, "map 1".into()).unwrap();
            let reader = reader.with_normaliser(Some(Arc::new(Inverted)));
            let mut merger = Merger::new(vec![Box::new(reader)], KeyOrder::BYTES).unwrap();
            let mut all = Vec::new();
            while let Some(batch) = merger.next_batch().unwrap() {
                for record in batch.iter() {
                    let mut own = Vec::new();
                    KeyForm::Carried.put(record.key(), record.value(), &mut own);
                    all.push((record.key().to_vec(), own));
                }
            }
            // The key of a Text: its length, then its content.
            let of = |k: u8, value: &[u8]| (vec![!1, !k], [&[1, k][..], value].concat());
            assert_eq!(all, [of(b'd', b"1"), of(b'c', &long), of(b'b', b"")]);
        }
    }

    #[test]
    fn reports_broken_segments() {
        let whole = segment(&[("abc", b"value"), ("b", b"")], true);
        for cut in 0..whole.len() {
            assert!(read(&whole[..cut], 64).is_err(), "{cut}");
        }
        assert!(read(&[&whole[..], b"x"].concat(), 64).unwrap_err().to_string().contains("behind its end"));
        // Impossible lengths, and a key whose own length field is wrong.
        let mut bad = Vec::new();
        vint::put(-5, &mut bad);
        vint::put(1, &mut bad);
        assert!(read(&bad, 64).unwrap_err().to_string().contains("a key of -5 bytes"));
        let mut bad = segment(&[("abc", b"v")], true);
        bad[2] = 9;
        let error = read(&bad, 64).unwrap_err().to_string();
        assert!(error.contains("map 1") && error.contains("not what its class writes"), "{error}");
    }
}
