//! The header of a file.
//!
//! ```text
//!   SEQ version | key class | value class | compressed: 1 byte | in blocks: 1 byte, from version 4
//!       | codec, from version 5, if compressed | metadata, from version 6 | sync: 16 bytes
//! ```
//!
//! Names are texts with a vint before them; in version 3 they have 16 bits before them.

use yunti_api::{Error, Result};

use super::codec::{self, HadoopCodec};
use super::window::Window;
use super::writable::{Writable, put_vlong};
use crate::file::input::Input;

/// Bytes of a marker.
pub const SYNC_BYTES: usize = 16;
/// Version that is written, and the last one that is read.
const VERSION: u8 = 6;
/// First version that is read.
const VERSION_MIN: u8 = 3;
/// Bytes of a name or of a text of the metadata, at most, and of all metadata that are kept.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub version: u8,
    pub key: Writable,
    pub value: Writable,
    /// Codec of the values, or of blocks.
    pub codec: Option<HadoopCodec>,
    pub in_blocks: bool,
    pub metadata: Vec<(String, String)>,
    pub sync: [u8; SYNC_BYTES],
    /// Offset of the first record.
    pub end: u64,
}

impl Header {
    /// Reads the header of a file. Fails for versions, classes and codecs that are not known.
    pub fn load(file: &Input) -> Result<Header> {
        let mut from = Window::new(file, 0);
        let head = from.take(4)?;
        let version = match head {
            [b'S', b'E', b'Q', version] => *version,
            _ => return Err(Error::damaged("this is not a SequenceFile: it does not begin with SEQ")),
        };
        if !(VERSION_MIN..=VERSION).contains(&version) {
            return Err(Error::unsupported(format!(
                "version {version} of SequenceFiles is not known: {VERSION_MIN} to {VERSION} are"
            )));
        }
        let text = |from: &mut Window| {
            let length = match version {
                3 => usize::from(u16::from_be_bytes(*from.take(2)?.first_chunk().expect("it has two bytes"))),
                _ => from.length()?,
            };
            texts(from, length)
        };
        let (key, value) = (text(&mut from)?, text(&mut from)?);
        let flag = |from: &mut Window| Ok::<bool, Error>(from.take(1)?[0] != 0);
        let compressed = flag(&mut from)?;
        let in_blocks = version >= 4 && flag(&mut from)?;
        let codec = match compressed {
            true if version >= 5 => Some(codec::of_class(&text(&mut from)?)?),
            true => Some(codec::DEFAULT),
            false => None,
        };
        let mut metadata = Vec::new();
        if version >= 6 {
            let n = from.int()?;
            if n < 0 || n as u64 > from.left() {
                return Err(Error::damaged("the SequenceFile is damaged: its metadata have a wrong length"));
            }
            let mut kept = 0usize;
            for _ in 0..n {
                let (name, value) = (text(&mut from)?, text(&mut from)?);
                kept += name.len() + value.len();
                if metadata.len() < 1000 && kept <= TEXT_BYTES_MAX {
                    metadata.push((name, value));
                }
            }
        }
        let sync = *from.take(SYNC_BYTES)?.first_chunk().expect("it has the bytes of a marker");
        if in_blocks && codec.is_none() {
            return Err(Error::damaged("the SequenceFile is damaged: it has blocks without a codec"));
        }
        let (key, value) = (Writable::of_class(&key)?, Writable::of_class(&value)?);
        Ok(Header { version, key, value, codec, in_blocks, metadata, sync, end: from.offset() })
    }

    /// Returns the bytes of a header of the version that is written, without metadata.
    pub fn bytes(&self) -> Vec<u8> {
        let mut to = b"SEQ".to_vec();
        to.push(VERSION);
        let put = |text: &str, to: &mut Vec<u8>| {
            put_vlong(text.len() as i64, to);
            to.extend_from_slice(text.as_bytes());
        };
        put(&self.key.class(), &mut to);
        put(&self.value.class(), &mut to);
        to.extend([u8::from(self.codec.is_some()), u8::from(self.in_blocks)]);
        if let Some(codec) = self.codec {
            put(codec.class(), &mut to);
        }
        to.extend_from_slice(&[0; 4]);
        to.extend_from_slice(&self.sync);
        to
    }
}

fn texts(from: &mut Window, length: usize) -> Result<String> {
    if length > TEXT_BYTES_MAX {
        return Err(Error::damaged("the SequenceFile is damaged: a text of its header is too long"));
    }
    Ok(String::from_utf8_lossy(from.take(length)?).into_owned())
}
