//! Pages of one column chunk: headers, checksums, and codecs.
//!
//! ```text
//!   window.rs    the file, in large pieces
//!   header.rs    header of a page                 snappy.rs   the codec of most files
//!   spare.rs     memory of pages that are done
//! ```
//!
//! Pages of Snappy, and those without a codec, are read here, into memory that earlier pages had. The crate `parquet`
//! reads those of other codecs. It takes fresh memory for each page, and fills it with zeros first.

mod header;
mod snappy;
mod spare;
mod window;

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use yunti_api::{Result, SourceFile};

use self::header::{Failed, Header, Kind};
#[cfg(fuzzing)]
pub use self::snappy::check as check_snappy;
pub use self::spare::give;
use self::window::Window;
use crate::parquet::failure::{of_parquet, of_text};

/// Bytes in which most headers end, and those of the longest one.
const HEADER_BYTES: usize = 256;
const HEADER_BYTES_MAX: usize = 16 << 20;
/// A byte of Snappy makes at most this many: a copy of three bytes makes 64.
const SNAPPY_RATIO_MAX: usize = 22;

/// Pages of a column chunk.
pub enum Pages {
    Own(Own),
    Library(SerializedPageReader<Window>),
}

/// The next page, before it is read.
pub enum Next {
    Dictionary,
    /// Rows of a data page; None if the header does not say.
    Data(Option<usize>),
}

impl Pages {
    /// Opens a column chunk. `window`: bytes that are read at a time.
    pub fn open(file: &SourceFile, chunk: &ColumnChunkMetaData, rows: usize, window: u64) -> Result<Pages> {
        let (start, len) = chunk.byte_range();
        let end = start.saturating_add(len);
        let input: Arc<Window> = Window::new(file, end, window);
        let is_snappy = match chunk.compression() {
            Compression::SNAPPY => true,
            Compression::UNCOMPRESSED => false,
            _ => {
                let pages = SerializedPageReader::new(input, chunk, rows, None).map_err(of_parquet)?;
                return Ok(Pages::Library(pages));
            }
        };
        Ok(Pages::Own(Own { input, at: start, end: end.min(file.len()), is_snappy, header: None }))
    }

    /// Returns what the next page is; None at the end.
    pub fn peek(&mut self) -> Result<Option<Next>> {
        match self {
            Pages::Own(own) => Ok(own.header()?.map(|header| match header.kind {
                Kind::Dictionary { .. } => Next::Dictionary,
                Kind::Data { values, .. } => Next::Data(Some(values as usize)),
                Kind::DataV2 { rows, .. } => Next::Data(Some(rows as usize)),
                Kind::Other => Next::Data(Some(0)),
            })),
            Pages::Library(pages) => {
                let next = pages.peek_next_page().map_err(of_parquet)?;
                Ok(next.map(|next| match next.is_dict {
                    true => Next::Dictionary,
                    false => Next::Data(next.num_rows.or(next.num_levels)),
                }))
            }
        }
    }

    /// Passes over the next page, without decompressing it.
    pub fn skip(&mut self) -> Result<()> {
        match self {
            Pages::Own(own) => own.skip(),
            Pages::Library(pages) => pages.skip_next_page().map_err(of_parquet),
        }
    }

    /// Reads the next page; None at the end.
    pub fn read(&mut self) -> Result<Option<Page>> {
        match self {
            Pages::Own(own) => own.read(),
            Pages::Library(pages) => pages.get_next_page().map_err(of_parquet),
        }
    }
}

/// Pages that are read here.
pub struct Own {
    input: Arc<Window>,
    /// Places in the file of the next page, and of the end.
    at: u64,
    end: u64,
    is_snappy: bool,
    /// Header of the next page, if it was read.
    header: Option<Header>,
}

impl Own {
    /// Returns the header of the next page; None at the end.
    fn header(&mut self) -> Result<Option<&Header>> {
        if self.header.is_none() && self.at < self.end {
            let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
            let mut bytes = HEADER_BYTES;
            let header = loop {
                let some = self.input.fetch(self.at, bytes.min(left)).map_err(of_parquet)?;
                match header::read(&some) {
                    Ok(header) => break header,
                    // Statistics of long texts make long headers.
                    Err(Failed::Short) if bytes < left && bytes < HEADER_BYTES_MAX => bytes *= 8,
                    Err(_) => return Err(of_text("the header of a page is damaged")),
                }
            };
            if (header.bytes as u64 + header.stored as u64) > self.end - self.at {
                return Err(of_text("a page is longer than its column"));
            }
            self.header = Some(header);
        }
        Ok(self.header.as_ref())
    }

    fn skip(&mut self) -> Result<()> {
        self.header()?;
        if let Some(header) = self.header.take() {
            self.at += header.bytes as u64 + header.stored as u64;
        }
        Ok(())
    }

    fn read(&mut self) -> Result<Option<Page>> {
        loop {
            self.header()?;
            let Some(header) = self.header.take() else { return Ok(None) };
            let start = self.at + header.bytes as u64;
            self.at = start + header.stored as u64;
            if header.kind == Kind::Other {
                continue;
            }
            let stored = self.input.fetch(start, header.stored).map_err(of_parquet)?;
            if header.crc.is_some_and(|crc| crc32fast::hash(&stored) != crc) {
                return Err(of_parquet(ParquetError::General("Page CRC checksum mismatch".into())));
            }
            return self.page(&header, stored).map(Some);
        }
    }

    fn page(&self, header: &Header, stored: Bytes) -> Result<Page> {
        Ok(match header.kind.clone() {
            Kind::Dictionary { values, encoding, is_sorted } => Page::DictionaryPage {
                buf: self.plain(&stored, 0, (header, self.is_snappy))?,
                num_values: values,
                encoding,
                is_sorted,
            },
            Kind::Data { values, encoding, definition, repetition } => Page::DataPage {
                buf: self.plain(&stored, 0, (header, self.is_snappy))?,
                num_values: values,
                encoding,
                def_level_encoding: definition,
                rep_level_encoding: repetition,
                statistics: None,
            },
            Kind::DataV2 { values, nulls, rows, encoding, definition_bytes, repetition_bytes, is_compressed } => {
                // Levels stand in front, without compression.
                let levels = definition_bytes as usize + repetition_bytes as usize;
                Page::DataPageV2 {
                    buf: self.plain(&stored, levels, (header, self.is_snappy && is_compressed))?,
                    num_values: values,
                    encoding,
                    num_nulls: nulls,
                    num_rows: rows,
                    def_levels_byte_len: definition_bytes,
                    rep_levels_byte_len: repetition_bytes,
                    is_compressed,
                    statistics: None,
                }
            }
            Kind::Other => return Err(of_text("a page has no rows")),
        })
    }

    /// Returns the bytes of a page without compression; the first `levels` have none.
    fn plain(&self, stored: &Bytes, levels: usize, (header, is_compressed): (&Header, bool)) -> Result<Bytes> {
        let damaged = || of_text("a page cannot be decompressed");
        // Nothing but levels: the values are all null, and some writers leave out the bytes of an empty block.
        if !is_compressed || stored.len() == levels && header.plain == levels {
            return if stored.len() == header.plain { Ok(stored.clone()) } else { Err(damaged()) };
        }
        let (front, behind) = stored.split_at_checked(levels).ok_or_else(damaged)?;
        let len = header.plain.checked_sub(levels).ok_or_else(damaged)?;
        // Before memory is taken for what the header says.
        let says = snappy::length(behind).map(|(len, _)| len);
        if says != Some(len) || len / SNAPPY_RATIO_MAX > behind.len() {
            return Err(damaged());
        }
        let mut space = spare::take(header.plain + snappy::SLACK_BYTES);
        space[..levels].copy_from_slice(front);
        snappy::decompress(behind, len, &mut space[levels..]).ok_or_else(damaged)?;
        Ok(space.freeze().slice(..header.plain))
    }
}
