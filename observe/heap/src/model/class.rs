//! Classes of a dump: names, layouts and shallow sizes, by the rules of Eclipse MAT (docs/decisions/heap.md).
//!
//! ```text
//!   object    header | fields of java.lang.Object's heirs, each class rounded up to a reference | rounded up to 8
//!   array     header | u4 length | values | rounded up to 8
//!   class     its static fields, rounded up to 8
//! ```
//!
//! A class that instances name and the dump lacks gets a stand-in, so that a cut dump can be read.

use yunti_base::Result;

use super::name;
use crate::file::map::{DumpMap, be_id, be32};
use crate::file::records::{OBJECT, value_bytes};
use crate::file::source::Source;
use crate::graph::hash::IdMap;

/// Field of instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Id of the name.
    pub name: u64,
    /// Type.
    pub kind: u8,
}

/// Static field of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Static {
    /// Id of the name.
    pub name: u64,
    /// Type.
    pub kind: u8,
    /// Value; an id for a reference.
    pub value: u64,
}

/// Class as its record has it.
#[derive(Clone, Debug, Default)]
pub struct ClassRecord {
    /// Id of the class object.
    pub id: u64,
    /// Id of the super class; 0 without one.
    pub super_id: u64,
    /// Id of the class loader; 0 for the boot loader.
    pub loader: u64,
    /// Bytes of an instance's fields in the dump.
    pub instance_bytes: u32,
    /// Static fields.
    pub statics: Vec<Static>,
    /// Fields that this class adds.
    pub fields: Vec<Field>,
    /// Bytes of fields that a stand-in has without knowing them.
    pub unknown_bytes: u32,
}

impl ClassRecord {
    /// Parses the record behind its tag, whose bounds the walk has checked.
    pub fn parse(body: &[u8], id_bytes: usize) -> ClassRecord {
        let id = |at: usize| be_id(body.get(at..).unwrap_or_default(), id_bytes);
        let count = |at: usize| body.get(at..at + 2).map_or(0, |two| u16::from_be_bytes([two[0], two[1]]));
        let bytes = |kind: u8| value_bytes(kind, id_bytes).unwrap_or(0);
        let kind = |at: usize| body.get(at).copied().unwrap_or(0);
        let mut record = ClassRecord {
            id: id(0),
            super_id: id(4 + id_bytes),
            loader: id(4 + 2 * id_bytes),
            instance_bytes: be32(body.get(4 + 7 * id_bytes..).unwrap_or_default()),
            ..ClassRecord::default()
        };
        let mut at = 8 + 7 * id_bytes;
        let constants = count(at);
        at += 2;
        for _ in 0..constants {
            at += 3 + bytes(kind(at + 2));
        }
        let statics = count(at);
        at += 2;
        for _ in 0..statics {
            let kind = kind(at + id_bytes);
            let value = at + id_bytes + 1;
            let value_bytes = bytes(kind);
            let value = body.get(value..value + value_bytes).unwrap_or_default();
            let value = value.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
            record.statics.push(Static { name: id(at), kind, value });
            at += id_bytes + 1 + value_bytes;
        }
        let fields = count(at);
        at += 2;
        for _ in 0..fields {
            record.fields.push(Field { name: id(at), kind: kind(at + id_bytes) });
            at += id_bytes + 1;
        }
        record
    }
}

/// Use of a class by instances, found by a scan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Instances and arrays.
    pub objects: u64,
    /// Greatest number of bytes that an instance has in the dump.
    pub data_bytes_max: u32,
    /// True if arrays name the class.
    pub has_arrays: bool,
}

impl Usage {
    /// Adds the use of other objects.
    pub fn add(&mut self, other: &Usage) {
        self.objects += other.objects;
        self.data_bytes_max = self.data_bytes_max.max(other.data_bytes_max);
        self.has_arrays |= other.has_arrays;
    }
}

/// Sizes that the dump does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes of a pointer in headers.
    pub pointer: u64,
    /// Bytes of a reference: 4 if the JVM compresses them.
    pub reference: u64,
    /// Alignment of objects.
    pub alignment: u64,
}

/// Bytes of an array that only a forged dump exceeds.
const ARRAY_BYTES_MAX: u64 = 1 << 40;

/// Class with what is derived from its record.
#[derive(Debug)]
pub struct Class {
    /// Record.
    pub record: ClassRecord,
    /// Readable name.
    pub name: String,
    /// Index of the super class.
    pub above: Option<u32>,
    /// Bytes of an instance, or of an element of an array.
    pub shallow_bytes: u64,
    /// Bytes of the class object.
    pub own_bytes: u64,
    /// Offsets of references in the data of an instance, ascending.
    pub references: Vec<u32>,
}

impl Class {
    /// Returns true for a class of arrays.
    pub fn is_array(&self) -> bool {
        self.name.ends_with("[]")
    }
}

/// All classes.
pub struct Classes {
    /// Classes by index, in the order of the file; stand-ins last.
    pub list: Vec<Class>,
    by_id: IdMap<u32>,
    /// Class of arrays of each primitive type.
    pub primitive_arrays: [u32; name::PRIMITIVE_TYPES],
    /// Index of `java.lang.Class`.
    pub class: u32,
    /// Index of `java.lang.ClassLoader`.
    pub loader: u32,
    /// Sizes.
    pub memory: Memory,
    /// Bytes of an id in the dump.
    pub id_bytes: usize,
}

impl Classes {
    /// Builds the classes. `is_object`: true for the id of an object in the dump.
    pub fn build(
        records: Vec<ClassRecord>,
        usage: &IdMap<Usage>,
        memory: Memory,
        map: &DumpMap,
        source: &Source,
        is_object: impl Fn(u64) -> bool,
    ) -> Result<Classes> {
        let id_bytes = map.id_bytes;
        let mut classes = Classes {
            list: Vec::with_capacity(records.len()),
            by_id: IdMap::default(),
            primitive_arrays: [0; name::PRIMITIVE_TYPES],
            class: 0,
            loader: 0,
            memory,
            id_bytes,
        };
        for record in records {
            let text = match map.class_names.get(&record.id) {
                Some(&name) => map.string(source, name)?,
                None => None,
            };
            let name = text.map_or_else(|| format!("unknown-name@{:#x}", record.id), |text| name::readable(&text));
            classes.add(record, name);
        }
        classes.stand_ins(usage, is_object);
        classes.measure(usage);
        Ok(classes)
    }

    fn add(&mut self, record: ClassRecord, name: String) -> u32 {
        let index = self.list.len() as u32;
        let class = Class { record, name, above: None, shallow_bytes: 0, own_bytes: 0, references: Vec::new() };
        // Of two records of one class the later counts.
        if let Some(&old) = self.by_id.get(&class.record.id) {
            self.list[old as usize] = class;
            return old;
        }
        self.by_id.insert(class.record.id, index);
        self.list.push(class);
        index
    }

    fn stand_ins(&mut self, usage: &IdMap<Usage>, is_object: impl Fn(u64) -> bool) {
        let object = self.by_name("java.lang.Object").map_or(0, |index| self.list[index as usize].record.id);
        let mut address = 0;
        let mut of_name = |classes: &mut Classes, name: &str| {
            classes.by_name(name).unwrap_or_else(|| {
                address += classes.memory.alignment;
                while is_object(address) || classes.by_id.contains_key(&address) {
                    address += classes.memory.alignment;
                }
                let record = ClassRecord { id: address, super_id: object, ..ClassRecord::default() };
                classes.add(record, name.to_owned())
            })
        };
        self.class = of_name(self, "java.lang.Class");
        self.loader = of_name(self, "java.lang.ClassLoader");
        for index in 0..name::PRIMITIVE_TYPES {
            self.primitive_arrays[index] = of_name(self, name::primitive_array(name::primitive_kind(index)));
        }
        let mut missing: Vec<(u64, u32, bool)> =
            usage.iter().map(|(&id, usage)| (id, usage.data_bytes_max, usage.has_arrays)).collect();
        // The size of a super class is what its heirs leave.
        for class in &self.list {
            let own: usize =
                class.record.fields.iter().filter_map(|field| value_bytes(field.kind, self.id_bytes)).sum();
            missing.push((class.record.super_id, class.record.instance_bytes.saturating_sub(own as u32), false));
        }
        missing.retain(|(id, ..)| *id != 0 && !self.by_id.contains_key(id));
        missing.sort_unstable_by_key(|&(id, bytes, is_array)| (id, !is_array, std::cmp::Reverse(bytes)));
        missing.dedup_by_key(|(id, ..)| *id);
        for (number, (id, bytes, is_array)) in missing.into_iter().enumerate() {
            let record = ClassRecord { id, super_id: object, ..ClassRecord::default() };
            if is_array {
                self.add(record, format!("unknown-class-{number}[]"));
            } else {
                self.add(ClassRecord { unknown_bytes: bytes, ..record }, format!("unknown-class-{number}"));
            }
        }
    }

    /// Derives super classes, sizes and places of references.
    fn measure(&mut self, usage: &IdMap<Usage>) {
        for index in 0..self.list.len() {
            let super_id = self.list[index].record.super_id;
            self.list[index].above = self.index(super_id).filter(|_| super_id != 0);
        }
        let Memory { pointer, reference, alignment } = self.memory;
        let field_bytes = |kind: u8| if kind == OBJECT { reference } else { value_bytes(kind, 0).unwrap_or(0) as u64 };
        // Bytes of the fields and the header, without the last rounding.
        let mut raw: Vec<Option<u64>> = vec![None; self.list.len()];
        let mut path = Vec::new();
        for index in 0..self.list.len() {
            let mut at = index;
            let mut bytes = loop {
                if let Some(bytes) = raw[at] {
                    break bytes;
                }
                path.push(at);
                match self.list[at].above {
                    // Super classes in a circle exist only in a forged dump.
                    Some(above) if path.len() <= self.list.len() => at = above as usize,
                    _ => {
                        let top = path.pop().unwrap_or(at);
                        raw[top] = Some(pointer + reference);
                        break pointer + reference;
                    }
                }
            };
            while let Some(heir) = path.pop() {
                let ClassRecord { fields, unknown_bytes, .. } = &self.list[heir].record;
                let own: u64 = fields.iter().map(|field| field_bytes(field.kind)).sum();
                bytes = (bytes + own + u64::from(*unknown_bytes)).next_multiple_of(reference);
                raw[heir] = Some(bytes);
            }
        }
        for (index, class) in self.list.iter_mut().enumerate() {
            let statics: u64 = class.record.statics.iter().map(|field| field_bytes(field.kind)).sum();
            class.own_bytes = statics.next_multiple_of(alignment);
            let raw = raw[index].unwrap_or(pointer + reference);
            class.shallow_bytes = if class.is_array() { reference } else { raw.next_multiple_of(alignment) };
        }
        for index in 0..self.list.len() {
            if let Some(usage) = usage.get(&self.list[index].record.id) {
                self.list[index].references = self.references(index as u32, usage.data_bytes_max as usize);
            }
        }
    }

    fn references(&self, index: u32, data_bytes: usize) -> Vec<u32> {
        let (mut offsets, mut at) = (Vec::new(), 0);
        for field in self.hierarchy(index).flat_map(|class| &class.record.fields) {
            let bytes = value_bytes(field.kind, self.id_bytes).unwrap_or(0);
            if at + bytes > data_bytes {
                break;
            }
            if field.kind == OBJECT {
                offsets.push(at as u32);
            }
            at += bytes;
        }
        offsets
    }

    /// Returns a class and its super classes.
    pub fn hierarchy(&self, index: u32) -> impl Iterator<Item = &Class> {
        let next = |class: &&Class| class.above.map(|above| &self.list[above as usize]);
        std::iter::successors(Some(&self.list[index as usize]), next).take(self.list.len())
    }

    /// Returns the index of a class.
    #[inline]
    pub fn index(&self, id: u64) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// Returns the index of the first class with a name.
    pub fn by_name(&self, name: &str) -> Option<u32> {
        self.list.iter().position(|class| class.name == name).map(|index| index as u32)
    }

    /// Returns the shallow bytes of an array of references of this class.
    #[inline]
    pub fn array_bytes(&self, class: u32, length: u32) -> u64 {
        let Memory { pointer, reference, alignment } = self.memory;
        let elements = u64::from(length).saturating_mul(self.list[class as usize].shallow_bytes).min(ARRAY_BYTES_MAX);
        (pointer + reference + 4 + elements).next_multiple_of(alignment)
    }

    /// Returns the shallow bytes of an array of primitive values.
    #[inline]
    pub fn primitive_array_bytes(&self, kind: u8, length: u32) -> u64 {
        let Memory { pointer, reference, alignment } = self.memory;
        let values = u64::from(length) * value_bytes(kind, 0).unwrap_or(0) as u64;
        ((pointer + reference + 4).next_multiple_of(reference) + values).next_multiple_of(alignment)
    }
}
