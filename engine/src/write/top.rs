//! Records with the largest numbers as values, or the first records: output of a job that shows its result.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::value_text::put;
use crate::env::sync::Mutex;
use crate::format::columns::put_unescaped;
use crate::operator::Type;

/// The best `n` records, offered by any worker.
pub struct Top {
    n: usize,
    key_type: Type,
    value_type: Type,
    heap: Mutex<BinaryHeap<Reverse<Ranked>>>,
}

#[derive(PartialEq, Eq)]
struct Ranked {
    rank: Rank,
    key: Vec<u8>,
    value: Vec<u8>,
}

/// Rank of a record; a larger one is better.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum Rank {
    Signed(i64),
    Unsigned(u64),
    /// Bits of a float that order like its number.
    Float(i64),
    /// Place of a record without a number; the first are best.
    Early(Reverse<(usize, u64)>),
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        // If counts are equal, the key that sorts first ranks higher.
        self.rank.cmp(&other.rank).then_with(|| other.key.cmp(&self.key)).then_with(|| other.value.cmp(&self.value))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Top {
    /// Keeps `n` records of these types.
    pub fn new(n: usize, key_type: Type, value_type: Type) -> Top {
        Top { n, key_type, value_type, heap: Mutex::new(BinaryHeap::new()) }
    }

    /// Offers a record. `at` (ticket, ordinal) ranks records without numbers.
    pub fn offer(&self, key: &[u8], value: &[u8], at: (usize, u64)) {
        let rank = self.rank(value, at);
        let mut heap = self.heap.lock().unwrap_or_else(|e| e.into_inner());
        if heap.len() >= self.n {
            let better = heap.peek().is_some_and(|Reverse(worst)| {
                rank.cmp(&worst.rank).then_with(|| worst.key.as_slice().cmp(key)) == Ordering::Greater
            });
            if !better {
                return;
            }
            heap.pop();
        }
        heap.push(Reverse(Ranked { rank, key: key.to_vec(), value: value.to_vec() }));
    }

    fn rank(&self, value: &[u8], at: (usize, u64)) -> Rank {
        let early = Rank::Early(Reverse(at));
        match (self.value_type, value.len()) {
            (Type::I64, 8) => value.try_into().map_or(early, |b| Rank::Signed(i64::from_le_bytes(b))),
            (Type::U64, 8) => value.try_into().map_or(early, |b| Rank::Unsigned(u64::from_le_bytes(b))),
            (Type::I32, 4) => value.try_into().map_or(early, |b| Rank::Signed(i64::from(i32::from_le_bytes(b)))),
            (Type::U32, 4) => value.try_into().map_or(early, |b| Rank::Unsigned(u64::from(u32::from_le_bytes(b)))),
            (Type::F64, 8) => value.try_into().map_or(early, |b| {
                let bits = i64::from_le_bytes(b);
                Rank::Float(bits ^ (((bits >> 63) as u64) >> 1) as i64)
            }),
            _ => early,
        }
    }

    /// Returns the records as text, best first.
    pub fn into_records(self) -> Vec<TopRecord> {
        let mut ranked: Vec<Ranked> =
            self.heap.into_inner().unwrap_or_else(|e| e.into_inner()).into_iter().map(|r| r.0).collect();
        ranked.sort_by(|a, b| b.cmp(a));
        let text = |kind: Type, bytes: &[u8]| {
            let mut out = Vec::new();
            put(kind, bytes, &mut out);
            out
        };
        let record = |r: Ranked| TopRecord { key: text(self.key_type, &r.key), value: text(self.value_type, &r.value) };
        ranked.into_iter().map(record).collect()
    }
}

/// A record that is shown, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopRecord {
    pub key: Vec<u8>,
    pub value: Vec<u8>,
}

impl TopRecord {
    /// Returns key and value for a line of their own.
    pub fn printable(&self) -> (String, String) {
        (printable(&self.key), printable(&self.value))
    }

    /// Returns the columns of a record that has several: `keys` of them in the key, `values` in the value.
    /// `is_escaped`: even a single one is.
    pub fn columns(&self, keys: usize, values: usize, is_escaped: bool) -> Vec<String> {
        let mut cells = Vec::with_capacity(keys + values);
        for (bytes, n) in [(&self.key, keys), (&self.value, values)] {
            match n {
                0 => {}
                1 if !is_escaped => cells.push(printable(bytes)),
                _ => cells.extend(bytes.split(|&byte| byte == b'\t').map(|cell| {
                    let mut plain = Vec::new();
                    put_unescaped(cell, &mut plain);
                    printable(&plain)
                })),
            }
        }
        cells
    }
}

/// Returns text for a line: control characters and bytes that are not UTF-8 are escaped.
fn printable(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => text.into(),
        Ok(text) => text.escape_debug().to_string(),
        Err(_) => bytes.escape_ascii().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_shown_records() {
        let record = |key: &[u8], value: &[u8]| TopRecord { key: key.to_vec(), value: value.to_vec() };
        for (record, keys, values, is_escaped, expect) in [
            (record(b"Rome", b"1\t2.5\t"), 1, 3, false, &["Rome", "1", "2.5", ""][..]),
            (record(b"a\\tb\tc", b""), 2, 0, false, &["a\\tb", "c"]),
            (record(b"a\\b", b"\\N"), 1, 1, false, &["a\\b", "\\N"]),
            (record(b"a\\\\b", b"\\N"), 1, 1, true, &["a\\b", "\\N"]),
            (record(b"x\ny", b"\xff"), 1, 1, false, &["x\\ny", "\\xff"]),
            (record(b"", b""), 1, 0, false, &[""]),
        ] {
            assert_eq!(record.columns(keys, values, is_escaped), expect, "{record:?}");
        }
    }
}
