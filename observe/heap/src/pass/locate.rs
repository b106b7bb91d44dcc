//! Single objects: found by the units whose range of ids has them, then read.

use std::collections::HashMap;

use yunti_base::Result;

use super::crew;
use super::scan::Unit;
use crate::file::map::be_id;
use crate::file::records::{Blocks, Visitor, value_bytes, walk};
use crate::file::source::Source;

/// Object with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Instance: the id of its class, and its data.
    Instance { class: u64, data: Vec<u8> },
    /// Array of objects: the id of its class, its length, and the offset of its elements.
    Array { class: u64, length: u32, values_at: u64 },
    /// Array of primitive values.
    Primitive { kind: u8, length: u32, values_at: u64 },
}

/// Bytes of a primitive array that are read at most.
const VALUES_MAX: u32 = 1 << 20;

/// Returns the objects of some ids, those of classes left out.
pub fn locate(
    source: &Source,
    units: &[Unit],
    id_bytes: usize,
    threads: usize,
    ids: &[u64],
) -> Result<HashMap<u64, Body>> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let wanted = |unit: &&Unit| {
        let from = ids.partition_point(|&id| id < unit.least);
        ids.get(from).is_some_and(|&id| id <= unit.greatest)
    };
    let units: Vec<&Unit> = units.iter().filter(wanted).collect();
    let state = || (Blocks::new(source), Finder { ids: &[], id_bytes, found: HashMap::new() });
    let crew = crew::share(threads, units.len(), state, |(blocks, finder), item| {
        // A search among few ids stays in the cache.
        let Unit { least, greatest, .. } = *units[item];
        let from = ids.partition_point(|&id| id < least);
        finder.ids = &ids[from..from + ids[from..].partition_point(|&id| id <= greatest)];
        walk(blocks, id_bytes, units[item].begin, units[item].end, finder)?;
        Ok(())
    })?;
    Ok(crew.into_iter().flat_map(|(_, finder)| finder.found).collect())
}

struct Finder<'a> {
    ids: &'a [u64],
    id_bytes: usize,
    found: HashMap<u64, Body>,
}

impl Finder<'_> {
    #[inline]
    fn is_wanted(&self, id: u64) -> bool {
        self.ids.binary_search(&id).is_ok()
    }
}

impl Visitor for Finder<'_> {
    fn instance(&mut self, _at: u64, id: u64, class: u64, data: &[u8]) {
        if self.is_wanted(id) {
            self.found.insert(id, Body::Instance { class, data: data.to_vec() });
        }
    }

    fn object_array(&mut self, at: u64, id: u64, class: u64, length: u32) {
        if self.is_wanted(id) {
            let values_at = at + 9 + 2 * self.id_bytes as u64;
            self.found.insert(id, Body::Array { class, length, values_at });
        }
    }

    fn primitive_array(&mut self, _at: u64, id: u64, kind: u8, length: u32, values_at: u64) {
        if self.is_wanted(id) {
            self.found.insert(id, Body::Primitive { kind, length, values_at });
        }
    }
}

/// Calls `each(index, id)` for the elements of an array, until it returns false.
pub fn elements(
    source: &Source,
    id_bytes: usize,
    values_at: u64,
    length: u32,
    mut each: impl FnMut(u32, u64) -> bool,
) -> Result<()> {
    let mut block = vec![0; (1 << 16).min(length as usize * id_bytes)];
    let mut index = 0;
    while index < length {
        let at = values_at + u64::from(index) * id_bytes as u64;
        let room = block.len().min((length - index) as usize * id_bytes);
        let read = source.read_at(at, &mut block[..room])?;
        if read < id_bytes {
            return Ok(());
        }
        for id in block[..read].chunks_exact(id_bytes) {
            if !each(index, be_id(id, id_bytes)) {
                return Ok(());
            }
            index += 1;
        }
    }
    Ok(())
}

/// Returns the first bytes of a primitive array.
pub fn values(source: &Source, kind: u8, length: u32, values_at: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length.min(VALUES_MAX) as usize * value_bytes(kind, 0).unwrap_or(0)];
    let read = source.read_at(values_at, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Returns an element of a primitive array: its bytes as a number.
pub fn value_at(source: &Source, kind: u8, values_at: u64, index: u32) -> Result<u64> {
    let bytes = value_bytes(kind, 0).unwrap_or(0);
    let mut value = [0; 8];
    source.read_at(values_at + u64::from(index) * bytes as u64, &mut value[8 - bytes..])?;
    Ok(u64::from_be_bytes(value))
}
