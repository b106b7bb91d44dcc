//! Counters of a cluster's tasks that Hadoop defines by its own classes of keys and values.

use std::collections::BTreeMap;

use crate::bytes::{OrderedRecord, Record};
use crate::operator::Type;
use yunti_base::Result;

/// Number of groups in sorted records that pass a reduce unchanged.
pub struct GroupCount {
    /// Set when the key order is a class.
    has_ordered_keys: bool,
    /// Group of the record before.
    last: Vec<u8>,
    /// Groups so far.
    pub count: u64,
}

impl GroupCount {
    pub fn new(has_ordered_keys: bool) -> GroupCount {
        GroupCount { has_ordered_keys, last: Vec::new(), count: 0 }
    }

    /// Takes the next record. Fails with `Code::Corrupt` if it has no group.
    #[inline]
    pub fn add(&mut self, record: &Record<'_>) -> Result<()> {
        let group = if self.has_ordered_keys { OrderedRecord::of(record)?.group } else { record.key() };
        if self.count == 0 || self.last != group {
            self.count += 1;
            self.last.clear();
            self.last.extend_from_slice(group);
        }
        Ok(())
    }
}

/// Settings: classes whose sizes `MAP_OUTPUT_BYTES` counts, if a job has other ones than those of its types.
const CLASSES: [&str; 2] = ["yunti.hadoop.counted.key.class", "yunti.hadoop.counted.value.class"];

/// Bytes of a key or value in Hadoop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Fixed(u64),
    /// Content after a length of variable size.
    Text,
    /// Content after a length of four bytes.
    Bytes,
    /// Content alone.
    Content,
}

impl Size {
    /// Returns the size in a class of Hadoop, or in the usual class of a type.
    fn of(class: Option<&str>, of: Type) -> Size {
        let Some(class) = class else { return of.fixed_bytes().map_or(Size::Text, |bytes| Size::Fixed(bytes as u64)) };
        match (class.strip_prefix("org.apache.hadoop.io."), of.fixed_bytes()) {
            (Some("Text"), None) => Size::Text,
            (Some("BytesWritable"), None) => Size::Bytes,
            (Some("NullWritable"), Some(_)) => Size::Fixed(0),
            (Some("ByteWritable" | "BooleanWritable"), Some(_)) => Size::Fixed(1),
            (Some("ShortWritable"), Some(_)) => Size::Fixed(2),
            (Some("IntWritable" | "FloatWritable"), Some(_)) => Size::Fixed(4),
            (Some("LongWritable" | "DoubleWritable"), Some(_)) => Size::Fixed(8),
            (_, Some(bytes)) => Size::Fixed(bytes as u64),
            // Bytes that a Writable of this class wrote.
            (_, None) => Size::Content,
        }
    }
}

/// Returns the bytes that emitted records have as Hadoop's Writables.
///
/// `content`: bytes of their keys and values as classes see them. `lengths`: bytes beyond the first of the lengths of
/// keys and of values, if they are text.
pub fn writable_bytes(
    settings: &BTreeMap<String, String>,
    (key, value): (Type, Type),
    records: u64,
    content: u64,
    lengths: [u64; 2],
) -> u64 {
    let mut bytes = content;
    for ((of, setting), length) in [key, value].into_iter().zip(CLASSES).zip(lengths) {
        let own = of.fixed_bytes().unwrap_or(0) as u64;
        match Size::of(settings.get(setting).map(String::as_str), of) {
            // The content is at least as long.
            Size::Fixed(size) => bytes = bytes + records * size - records * own,
            Size::Text => bytes += records + length,
            Size::Bytes => bytes += 4 * records,
            Size::Content => {}
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_writables() {
        let of = |classes: [&str; 2], types: (Type, Type), content: u64, lengths: [u64; 2]| {
            let set = CLASSES.iter().zip(classes).filter(|(_, class)| !class.is_empty());
            let settings = set.map(|(key, class)| (key.to_string(), format!("org.apache.hadoop.io.{class}"))).collect();
            writable_bytes(&settings, types, 10, content, lengths)
        };
        // Text and LongWritable, as usual; with IntWritable.
        assert_eq!(of(["", ""], (Type::Bytes, Type::I64), 130, [0, 0]), 140);
        assert_eq!(of(["", "IntWritable"], (Type::Bytes, Type::I64), 130, [0, 0]), 100);
        assert_eq!(of(["BytesWritable", "IntWritable"], (Type::Bytes, Type::I64), 130, [7, 0]), 130);
        assert_eq!(of(["", ""], (Type::Bytes, Type::Bytes), 4000, [2, 30]), 4052);
        assert_eq!(of(["", "NullWritable"], (Type::U32, Type::None), 40, [0, 0]), 40);
        assert_eq!(of(["LongWritable", ""], (Type::U32, Type::F64), 120, [0, 0]), 160);
        // Numbers that came from Java's reader as bytes; a class that does not fit the type.
        assert_eq!(of(["Text", "IntWritable"], (Type::Bytes, Type::Bytes), 130, [0, 0]), 140);
        assert_eq!(of(["", "Text"], (Type::Bytes, Type::U32), 130, [0, 0]), 140);
    }

    #[test]
    fn groups_are_stretches_of_one_key() {
        let mut groups = GroupCount::new(false);
        for key in ["", "", "a", "a", "ab", "b", "b"] {
            groups.add(&Record { bytes: key.as_bytes(), key_len: key.len() as u32, split: 0 }).unwrap();
        }
        assert_eq!(groups.count, 4);
        assert_eq!(GroupCount::new(false).count, 0);
    }
}
