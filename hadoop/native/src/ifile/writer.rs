//! A writer of a map output file: one segment per partition.
//!
//! ```text
//!   segment   | through the codec, one stream:                                              | CRC-32: u32 |
//!             | vint key length | vint value length | key | value | ... | vint -1 | vint -1 |
//! ```
//!
//! The checksum covers the bytes in the file. Hadoop's raw length of a segment counts the records and the end markers
//! before the codec.

use yunti_base::Result;
use yunti_engine::codec::encode::Encoder;
use yunti_engine::env::NamedFile;

use crate::compress::{Codec, compressor};
use crate::key::{KeyForm, ValueForm};
use crate::vint;

/// Bytes collected before they pass through the codec, and bytes of the file before a write.
const STAGING_BYTES: usize = 256 << 10;

/// Bytes of a record, at least, to pass through the codec from where it lies. A copy of a record of many megabytes
/// touches as much fresh memory, which costs more than the copy.
const DIRECT_BYTES: usize = STAGING_BYTES / 2;

/// Position of a partition's segment (Hadoop's `IndexRecord`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Offset in the file.
    pub start: u64,
    /// Bytes before the codec.
    pub raw_bytes: u64,
    /// Bytes in the file, with the checksum.
    pub file_bytes: u64,
}

/// An unfinished map output file: the segments of all partitions in order, one open at a time.
pub struct OutputFile {
    file: NamedFile,
    form: KeyForm,
    values: ValueForm,
    compressor: Option<Box<dyn Encoder>>,
    segments: Vec<Segment>,
    /// Records that have not passed through the codec yet.
    staging: Vec<u8>,
    /// Bytes that are not in the file yet.
    ready: Vec<u8>,
    written: u64,
    /// Checksum of the open segment.
    checksum: crc32fast::Hasher,
    raw_bytes: u64,
    /// Number of records appended.
    pub records: u64,
}

impl OutputFile {
    /// Returns a file without segments. Fails with `Code::Memory` if there is no memory for the codec.
    pub fn new(file: NamedFile, form: KeyForm, codec: Codec) -> Result<OutputFile> {
        Ok(OutputFile {
            file,
            form,
            values: ValueForm::Same,
            compressor: compressor(codec)?,
            segments: Vec::new(),
            staging: Vec::with_capacity(STAGING_BYTES),
            ready: Vec::new(),
            written: 0,
            checksum: crc32fast::Hasher::new(),
            raw_bytes: 0,
            records: 0,
        })
    }

    /// Sets the form of the values, if it is not `Same`.
    pub fn with_values(self, values: ValueForm) -> OutputFile {
        OutputFile { values, ..self }
    }

    /// Returns the number of finished segments.
    pub fn finished(&self) -> u32 {
        self.segments.len() as u32
    }

    /// Ends segments, empty ones too, until the segment of `partition` is open. Fails with the error of a write.
    pub fn advance_to(&mut self, partition: u32) -> Result<()> {
        while self.finished() < partition {
            self.end_segment()?;
        }
        Ok(())
    }

    /// Appends a record in normal form to the open segment. Fails with the error of a write.
    #[inline]
    pub fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if key.len() + value.len() >= DIRECT_BYTES && self.values == ValueForm::Same {
            return self.append_large(key, value);
        }
        if self.staging.len() + key.len() + value.len() > STAGING_BYTES - 64 {
            self.flush_staging()?;
        }
        let mut room = [0; 8];
        let value = self.values.own(value, &mut room);
        let (klen, vlen) = self.form.lengths(key, value);
        vint::put(klen as i64, &mut self.staging);
        vint::put(vlen as i64, &mut self.staging);
        self.form.put(key, value, &mut self.staging);
        self.records += 1;
        Ok(())
    }

    #[cold]
    fn append_large(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (klen, vlen) = self.form.lengths(key, value);
        vint::put(klen as i64, &mut self.staging);
        vint::put(vlen as i64, &mut self.staging);
        self.records += 1;
        match self.form.parts(key, value, &mut self.staging) {
            Some(parts) => parts.into_iter().try_for_each(|part| self.pass_on(part)),
            None => {
                self.form.put(key, &[], &mut self.staging);
                self.pass_on(value)
            }
        }
    }

    /// Adds bytes behind the staged ones; large ones pass through the codec from where they lie.
    fn pass_on(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() < DIRECT_BYTES {
            self.staging.extend_from_slice(bytes);
            return Ok(());
        }
        self.flush_staging()?;
        self.raw_bytes += bytes.len() as u64;
        let Some(compressor) = &mut self.compressor else {
            self.write_ready()?;
            self.checksum.update(bytes);
            self.file.write_all(bytes, self.written)?;
            self.written += bytes.len() as u64;
            return Ok(());
        };
        for piece in bytes.chunks(STAGING_BYTES) {
            let from = self.ready.len();
            compressor.write(piece, &mut self.ready)?;
            self.checksum.update(&self.ready[from..]);
            if self.ready.len() >= STAGING_BYTES / 2 {
                self.file.write_all(&self.ready, self.written)?;
                self.written += self.ready.len() as u64;
                self.ready.clear();
            }
        }
        Ok(())
    }

    /// Ends all segments up to `partitions`, and the file; returns the segments and the number of records.
    pub fn finish(mut self, partitions: u32) -> Result<(Vec<Segment>, u64)> {
        self.advance_to(partitions)?;
        self.write_ready()?;
        Ok((self.segments, self.records))
    }

    fn end_segment(&mut self) -> Result<()> {
        vint::put(-1, &mut self.staging);
        vint::put(-1, &mut self.staging);
        self.flush_staging()?;
        let from = self.ready.len();
        if let Some(compressor) = &mut self.compressor {
            compressor.finish(&mut self.ready)?;
        }
        self.checksum.update(&self.ready[from..]);
        let checksum = std::mem::take(&mut self.checksum).finalize();
        self.ready.extend_from_slice(&checksum.to_be_bytes());
        let start = self.segments.last().map_or(0, |s| s.start + s.file_bytes);
        let end = self.written + self.ready.len() as u64;
        self.segments.push(Segment { start, raw_bytes: self.raw_bytes, file_bytes: end - start });
        self.raw_bytes = 0;
        Ok(())
    }

    /// Passes the staged records through the codec.
    fn flush_staging(&mut self) -> Result<()> {
        self.raw_bytes += self.staging.len() as u64;
        let from = self.ready.len();
        match &mut self.compressor {
            Some(compressor) => {
                compressor.write(&self.staging, &mut self.ready)?;
                self.staging.clear();
            }
            None if self.ready.is_empty() => std::mem::swap(&mut self.ready, &mut self.staging),
            None => self.ready.append(&mut self.staging),
        }
        self.checksum.update(&self.ready[from..]);
        if self.ready.len() >= STAGING_BYTES / 2 {
            self.write_ready()?;
        }
        Ok(())
    }

    fn write_ready(&mut self) -> Result<()> {
        self.file.write_all(&self.ready, self.written)?;
        self.written += self.ready.len() as u64;
        self.ready.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::CodecKind;
    use std::path::Path;
    use yunti_base::Code;
    use yunti_engine::env::Env;

    fn write(name: &str, parts: &[&[(&[u8], &[u8])]]) -> (Vec<u8>, Vec<Segment>) {
        let path = std::env::temp_dir().join(format!("yunti-ifile-{}-{name}", std::process::id()));
        let file = NamedFile::create(&*Env::real().files, Path::new(&path), Code::Output).unwrap();
        let codec = Codec { kind: CodecKind::None, level: -1, buffer_bytes: 0 };
        let mut out = OutputFile::new(file, KeyForm::Same, codec).unwrap();
        for (p, records) in parts.iter().enumerate() {
            if !records.is_empty() {
                out.advance_to(p as u32).unwrap();
            }
            records.iter().for_each(|(k, v)| out.append(k, v).unwrap());
        }
        let (segments, records) = out.finish(parts.len() as u32).unwrap();
        assert_eq!(records as usize, parts.iter().map(|p| p.len()).sum::<usize>());
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        (bytes, segments)
    }

    #[test]
    fn writes_the_bytes_of_hadoop() {
        let (bytes, segments) = write("small", &[&[], &[(b"k", b"vw"), (b"", b"")], &[]]);
        let empty = [&[0xff, 0xff][..], &crc32fast::hash(&[0xff, 0xff]).to_be_bytes()].concat();
        let body = b"\x01\x02kvw\x00\x00\xff\xff";
        let middle = [&body[..], &crc32fast::hash(body).to_be_bytes()].concat();
        assert_eq!(bytes, [&empty[..], &middle, &empty].concat());
        let is = |start, raw_bytes, file_bytes| Segment { start, raw_bytes, file_bytes };
        assert_eq!(segments, [is(0, 2, 6), is(6, 9, 13), is(19, 2, 6)]);
    }

    #[test]
    fn large_records_have_the_bytes_of_small_ones() {
        let long: Vec<u8> = (0..2 * STAGING_BYTES as u32).map(|i| (i >> 6) as u8).collect();
        for (form, key) in [
            (KeyForm::Same, &long[..]),
            (KeyForm::Text, &long),
            (KeyForm::Bytes, &long),
            (KeyForm::Text, b"k"),
            (KeyForm::Signed, b"1234"),
            (KeyForm::Zigzag, b"12345678"),
        ] {
            for value in [&b""[..], b"v", &long] {
                let mut own = Vec::new();
                form.put(key, value, &mut own);
                let mut parts = b"before".to_vec();
                match form.parts(key, value, &mut parts) {
                    Some(some) => some.iter().for_each(|part| parts.extend_from_slice(part)),
                    None => form.put(key, value, &mut parts),
                }
                assert_eq!(parts, [b"before", &own[..]].concat(), "{form:?}");
            }
        }
        let value = [&3u32.to_be_bytes()[..], b"key", &long].concat();
        let mut parts = Vec::new();
        let some = KeyForm::Carried.parts(b"normal", &value, &mut parts).unwrap();
        assert_eq!((some[0], some[1], parts.len()), (&b"key"[..], &long[..], 0));
    }

    #[test]
    fn writes_records_larger_than_the_staging() {
        let large = vec![7u8; 3 * STAGING_BYTES];
        let (bytes, segments) = write("large", &[&[(b"a", b"b"), (&large, &large), (b"c", b"")]]);
        assert_eq!(bytes.len() as u64, segments[0].file_bytes);
        assert_eq!(segments[0].raw_bytes, 4 + 2 * (4 + 3 * STAGING_BYTES as u64) + 3 + 2);
        let body = &bytes[..bytes.len() - 4];
        assert_eq!(bytes[bytes.len() - 4..], crc32fast::hash(body).to_be_bytes());
    }
}
