//! Addresses of variables in a process, by the symbol tables of its program and libraries.
//!
//! A table is read as a whole and searched as bytes: a program may have 300,000 symbols, and names one by one would
//! take seconds.

use std::fs::File;

use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSegment};

use crate::target::{Process, mappings};

/// Symbol tables and the tables of their names.
const TABLES: [(&str, &str); 2] = [(".symtab", ".strtab"), (".dynsym", ".dynstr")];
/// Bytes of a symbol, and the positions of name and address in it: Elf64_Sym of elf(5).
const SYMBOL_BYTES: usize = 24;
const ADDRESS_AT: usize = 8;

/// Returns the address of a variable in the first mapped file that passes a test and has it. A file without a symbol
/// table has only the variables that it exports.
pub fn address_of(process: &Process, variable: &str, is_file: impl Fn(&str) -> bool) -> Option<u64> {
    let mut files = mappings(process);
    files.retain(|mapping| mapping.name.starts_with('/') && is_file(&mapping.name));
    files.dedup_by(|next, one| next.name == one.name);
    files.iter().find_map(|mapping| {
        let cache = ReadCache::new(File::open(mapping.path(process)).ok()?);
        let object = object::File::parse(&cache).ok()?;
        let address = TABLES.iter().find_map(|(symbols, names)| {
            let data = |name: &str| object.section_by_name(name)?.data().ok();
            symbol(data(symbols)?, data(names)?, variable)
        })?;
        // A program at a fixed address has its first segment there.
        let first = object.segments().map(|segment| segment.address().wrapping_sub(segment.file_range().0)).min()?;
        Some(mapping.begin.wrapping_sub(mapping.offset).wrapping_sub(first).wrapping_add(address))
    })
}

/// Returns the address of a name in a symbol table.
fn symbol(symbols: &[u8], names: &[u8], wanted: &str) -> Option<u64> {
    let end = [wanted.as_bytes(), b"\0"].concat();
    // Linkers may share the end of a longer name.
    let begins = names.windows(end.len()).enumerate().filter(|(_, bytes)| *bytes == end).map(|(at, _)| at as u32);
    let begins: Vec<u32> = begins.collect();
    let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    symbols
        .chunks_exact(SYMBOL_BYTES)
        .filter(|symbol| begins.contains(&u32::from_ne_bytes(symbol[..4].try_into().unwrap_or_default())))
        .map(|symbol| number(&symbol[ADDRESS_AT..ADDRESS_AT + 8]))
        .find(|address| *address != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_variable_of_the_c_library() {
        let me = Process::of(std::process::id()).unwrap();
        assert!(address_of(&me, "environ", |file| file.contains("libc.so")).is_some());
        assert!(address_of(&me, "no_such_variable", |file| file.contains("libc.so")).is_none());
    }
}
