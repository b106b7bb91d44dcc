//! Records of a heap segment: a walk in blocks, which calls a visitor for each record.
//!
//! ```text
//!   0x20 class       id | u4 | super | loader | signers | domain | 2 ids | u4 bytes | pool | statics | fields
//!   0x21 instance    id | u4 | class | u4 bytes  | values, fields of the class first, then of its super classes
//!   0x22 array       id | u4 | u4 length | class | ids
//!   0x23 array       id | u4 | u4 length | u1 type | values
//!   else root        id | ..
//! ```
//!
//! One reused buffer serves a walk. Elements and values of arrays come in pieces, so that no array needs memory of its
//! own; a visitor that does not want them does not pay for reading them.

use yunti_base::Result;

use super::map::{be_id, be32};
use super::source::Source;

/// Bytes read at once.
const BLOCK_BYTES: usize = if cfg!(debug_assertions) { 96 } else { 1 << 20 };

/// Kind of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RootKind {
    /// Root without a known reason.
    Unknown,
    /// Global reference of native code.
    JniGlobal,
    /// Local reference of native code.
    JniLocal,
    /// Local variable of a Java method.
    JavaFrame,
    /// Reference from a native stack.
    NativeStack,
    /// Class that is never unloaded.
    StickyClass,
    /// Object that a waiting thread holds.
    ThreadBlock,
    /// Monitor in use.
    Monitor,
    /// Live thread.
    Thread,
}

/// Root of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// Object.
    pub id: u64,
    /// Reason.
    pub kind: RootKind,
    /// Serial number of the thread; 0 if the kind has none.
    pub thread: u32,
    /// For a thread the serial number of its stack trace, for a local the number of its frame.
    pub frame: u32,
}

/// Receiver of a walk. Records come in the order of the file; `elements` follow their `object_array`.
pub trait Visitor {
    /// True if `elements` is called.
    const WANTS_ELEMENTS: bool = false;
    /// True if `values` is called.
    const WANTS_VALUES: bool = false;
    /// Receives a root.
    fn root(&mut self, _root: Root) {}
    /// Receives a class: its whole record behind the tag.
    fn class(&mut self, _at: u64, _body: &[u8]) {}
    /// Receives an instance.
    fn instance(&mut self, _at: u64, _id: u64, _class: u64, _data: &[u8]) {}
    /// Receives the head of an array of objects.
    fn object_array(&mut self, _at: u64, _id: u64, _class: u64, _length: u32) {}
    /// Receives some ids of the last array.
    fn elements(&mut self, _ids: &[u8]) {}
    /// Receives the head of an array of primitive values, and the offset of the first value.
    fn primitive_array(&mut self, _at: u64, _id: u64, _kind: u8, _length: u32, _values_at: u64) {}
    /// Receives some values of the last array of primitive values.
    fn values(&mut self, _values: &[u8]) {}
    /// Receives the end of an array whose elements or values were sent.
    fn array_end(&mut self) {}
}

/// Place where a walk ended early, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the record.
    pub at: u64,
    /// Reason.
    pub what: String,
}

/// Buffer of a walk.
pub struct Blocks<'a> {
    source: &'a Source,
    bytes: Vec<u8>,
    begin: u64,
    filled: usize,
}

impl<'a> Blocks<'a> {
    /// Returns an empty buffer over a source.
    pub fn new(source: &'a Source) -> Blocks<'a> {
        Blocks { source, bytes: vec![0; BLOCK_BYTES], begin: 0, filled: 0 }
    }

    /// Returns `count` bytes at `at`, or `None` if `end` comes before.
    #[inline]
    fn get(&mut self, at: u64, count: usize, end: u64) -> Result<Option<&[u8]>> {
        let from = at.wrapping_sub(self.begin);
        if from.wrapping_add(count as u64) > self.filled as u64 || from > self.filled as u64 {
            if count as u64 > end.saturating_sub(at) || !self.refill(at, count, end)? {
                return Ok(None);
            }
            return Ok(Some(&self.bytes[..count]));
        }
        Ok(Some(&self.bytes[from as usize..from as usize + count]))
    }

    /// Returns at least `unit` bytes at `at`, at most `limit`, or `None` if `end` comes before.
    fn some(&mut self, at: u64, unit: usize, limit: u64, end: u64) -> Result<Option<&[u8]>> {
        if self.get(at, unit, end)?.is_none() {
            return Ok(None);
        }
        let from = (at - self.begin) as usize;
        let count = (self.filled - from).min(usize::try_from(limit).unwrap_or(usize::MAX)) / unit * unit;
        Ok(Some(&self.bytes[from..from + count]))
    }

    fn refill(&mut self, at: u64, count: usize, end: u64) -> Result<bool> {
        if count > self.bytes.len() {
            self.bytes.resize(count, 0);
        }
        let room = (self.bytes.len() as u64).min(end - at) as usize;
        self.begin = at;
        self.filled = self.source.read_at(at, &mut self.bytes[..room])?;
        Ok(self.filled >= count)
    }
}

/// Walks the records from `begin` to `end`, and returns the damage that ended the walk early.
pub fn walk<V: Visitor>(
    blocks: &mut Blocks,
    id_bytes: usize,
    begin: u64,
    end: u64,
    visitor: &mut V,
) -> Result<Option<Damage>> {
    match id_bytes {
        8 => walk_ids::<8, V>(blocks, begin, end, visitor),
        _ => walk_ids::<4, V>(blocks, begin, end, visitor),
    }
}

fn walk_ids<const I: usize, V: Visitor>(
    blocks: &mut Blocks,
    begin: u64,
    end: u64,
    visitor: &mut V,
) -> Result<Option<Damage>> {
    let mut at = begin;
    while at < end {
        let cut = || Ok(Some(Damage { at, what: "a record reaches beyond the end of its segment".to_owned() }));
        let Some(&[tag]) = blocks.get(at, 1, end)?.and_then(|tag| tag.first_chunk::<1>()) else { return cut() };
        let body = at + 1;
        match tag {
            0x21 => {
                let Some(head) = blocks.get(body, 2 * I + 8, end)? else { return cut() };
                let (id, class) = (be_id(head, I), be_id(&head[I + 4..], I));
                let bytes = be32(&head[2 * I + 4..]) as usize;
                let data = body + (2 * I + 8) as u64;
                let Some(values) = blocks.get(data, bytes, end)? else { return cut() };
                visitor.instance(at, id, class, values);
                at = data + bytes as u64;
            }
            0x22 => {
                let Some(head) = blocks.get(body, 2 * I + 8, end)? else { return cut() };
                let (id, length, class) = (be_id(head, I), be32(&head[I + 4..]), be_id(&head[I + 8..], I));
                let data = body + (2 * I + 8) as u64;
                let stop = data + u64::from(length) * I as u64;
                if stop > end {
                    return cut();
                }
                visitor.object_array(at, id, class, length);
                at = data;
                while V::WANTS_ELEMENTS && at < stop {
                    let Some(ids) = blocks.some(at, I, stop - at, end)? else { break };
                    visitor.elements(ids);
                    at += ids.len() as u64;
                }
                visitor.array_end();
                at = stop;
            }
            0x23 => {
                let Some(head) = blocks.get(body, I + 9, end)? else { return cut() };
                let (id, length, kind) = (be_id(head, I), be32(&head[I + 4..]), head[I + 8]);
                let data = body + (I + 9) as u64;
                let Some(size) = value_bytes(kind, I).filter(|_| kind != OBJECT) else {
                    return Ok(Some(Damage { at, what: format!("an array has values of the unknown type {kind}") }));
                };
                let stop = data + u64::from(length) * size as u64;
                if stop > end {
                    return cut();
                }
                visitor.primitive_array(at, id, kind, length, data);
                at = data;
                while V::WANTS_VALUES && at < stop {
                    let Some(values) = blocks.some(at, 1, stop - at, end)? else { break };
                    visitor.values(values);
                    at += values.len() as u64;
                }
                visitor.array_end();
                at = stop;
            }
            0x20 => {
                let bytes = match class_bytes::<I>(blocks, body, end)? {
                    Ok(bytes) => bytes,
                    Err(what) => return Ok(Some(Damage { at, what })),
                };
                let Some(class) = blocks.get(body, bytes, end)? else { return cut() };
                visitor.class(at, class);
                at = body + bytes as u64;
            }
            _ => {
                let (kind, bytes) = match tag {
                    0xff => (RootKind::Unknown, I),
                    0x01 => (RootKind::JniGlobal, 2 * I),
                    0x02 => (RootKind::JniLocal, I + 8),
                    0x03 => (RootKind::JavaFrame, I + 8),
                    0x04 => (RootKind::NativeStack, I + 4),
                    0x05 => (RootKind::StickyClass, I),
                    0x06 => (RootKind::ThreadBlock, I + 4),
                    0x07 => (RootKind::Monitor, I),
                    0x08 => (RootKind::Thread, I + 8),
                    _ => return Ok(Some(Damage { at, what: format!("no record of the heap begins with {tag:#04x}") })),
                };
                let Some(root) = blocks.get(body, bytes, end)? else { return cut() };
                let number =
                    |at: usize| if kind != RootKind::JniGlobal && at + 4 <= bytes { be32(&root[at..]) } else { 0 };
                visitor.root(Root { id: be_id(root, I), kind, thread: number(I), frame: number(I + 4) });
                at = body + bytes as u64;
            }
        }
    }
    Ok(None)
}

/// Type of references.
pub const OBJECT: u8 = 2;

/// Returns the bytes of a value in the file.
pub fn value_bytes(kind: u8, id_bytes: usize) -> Option<usize> {
    Some(match kind {
        OBJECT => id_bytes,
        4 | 8 => 1,
        5 | 9 => 2,
        6 | 10 => 4,
        7 | 11 => 8,
        _ => return None,
    })
}

/// Returns the bytes of a class's record behind the tag, or the damage in it.
fn class_bytes<const I: usize>(blocks: &mut Blocks, body: u64, end: u64) -> Result<std::result::Result<usize, String>> {
    let cut = || Ok(Err("a class reaches beyond the end of its segment".to_owned()));
    let mut bytes = 7 * I + 8;
    // Constants, static fields and fields: what comes before the type of each, and whether a value follows.
    for (name, has_value) in [(2, true), (I, true), (I, false)] {
        let Some(count) = blocks.get(body + bytes as u64, 2, end)? else { return cut() };
        let count = u16::from_be_bytes([count[0], count[1]]);
        bytes += 2;
        for _ in 0..count {
            let Some(entry) = blocks.get(body + bytes as u64, name + 1, end)? else { return cut() };
            let kind = entry[name];
            let Some(value) = value_bytes(kind, I) else {
                return Ok(Err(format!("a class has a field of the unknown type {kind}")));
            };
            bytes += name + 1 + if has_value { value } else { 0 };
        }
    }
    Ok(Ok(bytes))
}
