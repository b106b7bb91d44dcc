//! Data of a process by its symbol, in the files that it has mapped.

use std::fs::File;

use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};

use crate::target::{Mapping, Process};

/// Returns the address of a symbol in a process; without such a symbol, the address of a section.
///
/// The table of dynamic symbols is read before that for debuggers, which may be large.
///
/// @param mapping any mapping of the file
/// @param section its name, or an empty text
pub fn address(process: &Process, mapping: &Mapping, symbol: &str, section: &str) -> Option<u64> {
    let cache = ReadCache::new(File::open(mapping.path(process)).ok()?);
    let file = object::File::parse(&cache).ok()?;
    let found = named(file.dynamic_symbols(), symbol);
    let found = found.or_else(|| file.section_by_name(section).filter(|it| it.address() > 0).map(|it| it.address()));
    let found = found.or_else(|| named(file.symbols(), symbol))?;
    // A mapping begins at a whole page, a segment anywhere.
    let segment = file.segments().find(|it| {
        let (offset, bytes) = it.file_range();
        offset <= mapping.offset + 0xfff && mapping.offset < offset + bytes.max(1)
    })?;
    let bias =
        mapping.begin.wrapping_sub(mapping.offset).wrapping_add(segment.file_range().0).wrapping_sub(segment.address());
    Some(found.wrapping_add(bias))
}

fn named<'data>(mut symbols: impl Iterator<Item: ObjectSymbol<'data>>, name: &str) -> Option<u64> {
    symbols.find(|symbol| !symbol.is_undefined() && symbol.name() == Ok(name)).map(|symbol| symbol.address())
}
