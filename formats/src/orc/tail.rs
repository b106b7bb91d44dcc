//! The end of a file: postscript and footer, checked before anything else is read.
//!
//! ```text
//!   .. | metadata (statistics of stripes) | footer | postscript | length of the postscript: u8
//! ```

use bytes::Bytes;
use yunti_api::Result;

use super::failure::{damaged, unsupported};
use super::proto::{Fields, Value};
use super::schema::Type;
use super::store::{Codec, Stored, Stream, Unpacker};
use crate::file::input::Input;

/// Bytes of the end that are read at once: the footer of most files is in them.
const END_BYTES: u64 = 16 << 10;
/// Plain bytes of a block, unless the file says another number.
const BLOCK_BYTES: u64 = 256 << 10;
/// Plain bytes of a block, at most: a block's length has 23 bits.
const BLOCK_BYTES_MAX: u64 = 1 << 23;
/// Memory of a parsed type and of a parsed stripe, without names.
const PARSED_BYTES: u64 = 256;

/// Place of a stripe in the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct StripePlace {
    pub offset: u64,
    pub index_bytes: u64,
    pub data_bytes: u64,
    pub footer_bytes: u64,
    pub rows: u64,
}

/// Contents of the end of a file.
pub struct Tail {
    pub unpacker: Unpacker,
    pub version: Vec<u32>,
    /// Program that wrote the file.
    pub writer: String,
    pub top: Type,
    pub stripes: Vec<StripePlace>,
    pub rows: u64,
    /// Rows between two entries of the index; 0: there is no index.
    pub index_stride: u64,
    /// Statistics of each column: messages.
    pub statistics: Vec<Vec<u8>>,
    /// First columns of trees that are encrypted.
    pub encrypted: Vec<u32>,
    /// Memory of all this, which the file holds.
    pub memory: u64,
}

impl Tail {
    /// Reads and checks the end of a file.
    pub fn load(file: &Input) -> Result<Tail> {
        let not_orc = || damaged("it does not begin and end as one");
        let len = file.len();
        if len < 4 {
            return Err(not_orc());
        }
        let n = len.min(END_BYTES);
        file.hold(n)?;
        let mut end = vec![0; n as usize];
        file.read_at(&mut end, len - n)?;
        let (&postscript_bytes, before) = end.split_last().ok_or_else(not_orc)?;
        let at = before.len().checked_sub(postscript_bytes as usize).ok_or_else(not_orc)?;
        let post = before[at..].to_vec();
        let post = Postscript::parse(&post).map_err(|_| not_orc())?;
        // Writers before Hive 0.11 left the magic bytes out of the postscript: then they are at the beginning.
        if post.magic != b"ORC" {
            let mut head = [0; 3];
            file.read_at(&mut head, 0)?;
            if &head != b"ORC" || !post.magic.is_empty() {
                return Err(not_orc());
            }
        }
        if !matches!(post.version[..], [] | [0, 11] | [0, 12]) {
            let version = post.version.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
            return Err(unsupported(format!("its version is {version}, of which 0.11 and 0.12 are known")));
        }
        let block_max = if post.block_bytes == 0 { BLOCK_BYTES } else { post.block_bytes };
        if block_max > BLOCK_BYTES_MAX {
            return Err(damaged(format!("its blocks would have {block_max} bytes")));
        }
        let unpacker = Unpacker::new(Codec::of(post.codec)?, block_max as usize);
        let footer_end = len - 1 - u64::from(postscript_bytes);
        let footer_at = footer_end.checked_sub(post.footer_bytes).filter(|_| post.footer_bytes > 0);
        let footer_at =
            footer_at.ok_or_else(|| damaged(format!("its footer would have {} bytes", post.footer_bytes)))?;
        // The bytes of the footer that were read with the end.
        let fetched = match footer_at.checked_sub(len - n) {
            Some(at) => Bytes::from(end).slice(at as usize..(footer_end - (len - n)) as usize),
            None => Bytes::new(),
        };
        let footer = section(file, footer_at, footer_end, fetched, &unpacker, n)?;
        Tail::parse(file, &footer, post.version, unpacker, footer_at)
    }

    fn parse(file: &Input, footer: &[u8], version: Vec<u32>, unpacker: Unpacker, footer_at: u64) -> Result<Tail> {
        let (mut types, mut stripes) = (0, 0);
        for field in Fields::of(footer) {
            match field?.0 {
                3 => stripes += 1,
                4 => types += 1,
                _ => {}
            }
        }
        let messages = Fields::of(footer).filter_map(|field| field.ok().filter(|(number, _)| *number == 4));
        // Names and types nested in arrays of Arrow, besides the parts that are counted.
        let memory = 8 * footer.len() as u64 + PARSED_BYTES * (types + stripes);
        file.hold(memory)?;
        let mut tail = Tail {
            unpacker,
            version,
            writer: String::new(),
            top: Type::parse(&messages.map(|(_, value)| value.bytes()).collect::<Vec<_>>())?,
            stripes: Vec::with_capacity(stripes as usize),
            rows: 0,
            index_stride: 0,
            statistics: Vec::new(),
            encrypted: Vec::new(),
            memory,
        };
        let (mut writer, mut software, mut rows) = (0, String::new(), None);
        for field in Fields::of(footer) {
            let (number, value) = field?;
            match number {
                3 => tail.stripes.push(stripe(value.bytes(), footer_at)?),
                6 => rows = Some(value.number()),
                7 => tail.statistics.push(value.bytes().to_vec()),
                8 => tail.index_stride = value.number(),
                9 => writer = value.number(),
                10 => tail.encrypted = encrypted(value)?,
                12 => software = value.text(),
                _ => {}
            }
        }
        tail.writer = match (writer, software.is_empty()) {
            (0, true) => "ORC Java".into(),
            (0, false) => format!("ORC Java {software}"),
            (1, _) => format!("ORC C++ {software}").trim_end().into(),
            (_, false) => software,
            (n, true) => format!("writer {n}"),
        };
        let counted = tail.stripes.iter().try_fold(0u64, |sum, stripe| sum.checked_add(stripe.rows));
        match counted {
            Some(counted) if rows.is_none_or(|rows| rows == counted) => tail.rows = counted,
            _ => return Err(damaged("its stripes have another number of rows than its footer says")),
        }
        Ok(tail)
    }
}

/// Returns the plain bytes of a part of the metadata. `held`: memory that the file holds already.
///
/// `fetched`: the first of its stored bytes, as far as they were read.
pub fn section(file: &Input, at: u64, end: u64, fetched: Bytes, unpacker: &Unpacker, held: u64) -> Result<Vec<u8>> {
    let stored = end - at;
    let block = unpacker.block_max as u64;
    file.hold(held + stored + block)?;
    let window = usize::try_from(stored).map_err(|_| damaged("its footer is too large"))?;
    let mut stream = Stream::new(Some(Stored::new(file, at, end, fetched, window)), unpacker);
    stream.rest(|plain| file.hold(held + stored + block + plain as u64))
}

#[derive(Default)]
struct Postscript<'a> {
    footer_bytes: u64,
    codec: u64,
    block_bytes: u64,
    version: Vec<u32>,
    magic: &'a [u8],
}

impl<'a> Postscript<'a> {
    fn parse(message: &'a [u8]) -> Result<Postscript<'a>> {
        let mut post = Postscript::default();
        for field in Fields::of(message) {
            let (number, value) = field?;
            match number {
                1 => post.footer_bytes = value.number(),
                2 => post.codec = value.number(),
                3 => post.block_bytes = value.number(),
                4 => value.put_numbers(&mut post.version)?,
                8000 => post.magic = value.bytes(),
                _ => {}
            }
        }
        Ok(post)
    }
}

/// Returns the place of a stripe, which ends before the footer at `end`.
fn stripe(message: &[u8], end: u64) -> Result<StripePlace> {
    let mut place = StripePlace::default();
    for field in Fields::of(message) {
        let (number, value) = field?;
        match number {
            1 => place.offset = value.number(),
            2 => place.index_bytes = value.number(),
            3 => place.data_bytes = value.number(),
            4 => place.footer_bytes = value.number(),
            5 => place.rows = value.number(),
            _ => {}
        }
    }
    let parts = [place.offset, place.index_bytes, place.data_bytes, place.footer_bytes];
    let stripe_end = parts.iter().try_fold(0u64, |sum, &part| sum.checked_add(part));
    match stripe_end {
        Some(stripe_end) if stripe_end <= end => Ok(place),
        _ => Err(damaged("a stripe lies outside of the file")),
    }
}

/// Returns the first columns of the trees that are encrypted.
fn encrypted(encryption: Value<'_>) -> Result<Vec<u32>> {
    let mut roots = Vec::new();
    for field in Fields::of(encryption.bytes()) {
        let (number, variant) = field?;
        if number != 3 {
            continue;
        }
        let mut root = 0;
        for field in Fields::of(variant.bytes()) {
            let (number, value) = field?;
            if number == 1 {
                root = value.number();
            }
        }
        roots.push(u32::try_from(root).map_err(|_| damaged("an encrypted column has no number"))?);
    }
    Ok(roots)
}
