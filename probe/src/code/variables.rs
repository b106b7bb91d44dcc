//! Addresses of variables in a process, by the symbol tables of its program and libraries.
//!
//! A table is read as a whole and searched as bytes: a program may have 300,000 symbols, and names one by one would
//! take seconds.

use std::fs::File;

use memchr::memmem;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};

use super::mangled::readable;
use super::sections::{FileParts, Sections};
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
        let file = File::open(mapping.path(process)).ok()?;
        let parts = FileParts::of(&file);
        let sections = Sections::of(&parts)?;
        let address = TABLES
            .iter()
            .find_map(|(symbols, names)| symbol(sections.data(symbols)?, sections.data(names)?, variable))?;
        // A program at a fixed address has its first segment there.
        let first = sections.segments().iter().map(|segment| segment.address.wrapping_sub(segment.offset)).min()?;
        Some(mapping.begin.wrapping_sub(mapping.offset).wrapping_sub(first).wrapping_add(address))
    })
}

/// Returns the name of the variable at an address of a program or library, by its symbol table.
pub fn name_at(process: &Process, address: u64) -> Option<String> {
    let all = mappings(process);
    let within = all.iter().find(|mapping| mapping.begin <= address && address < mapping.end)?;
    // Variables that begin as zeros have no file behind them, and follow the file's last mapping.
    let file = all.iter().rfind(|mapping| mapping.begin <= within.begin && mapping.name.starts_with('/'))?;
    let first = all.iter().find(|mapping| mapping.name == file.name)?;
    let bytes = std::fs::read(file.path(process)).ok()?;
    let parsed = object::File::parse(&*bytes).ok()?;
    let base = parsed.segments().map(|segment| segment.address().wrapping_sub(segment.file_range().0)).min()?;
    let inside = address.wrapping_sub(first.begin.wrapping_sub(first.offset)).wrapping_add(base);
    parsed
        .symbols()
        .chain(parsed.dynamic_symbols())
        .filter(|symbol| symbol.kind() == SymbolKind::Data)
        .find(|symbol| symbol.address() <= inside && inside < symbol.address() + symbol.size().max(1))
        .and_then(|symbol| symbol.name().ok().map(readable))
}

/// Returns the address of a name in a symbol table.
fn symbol(symbols: &[u8], names: &[u8], wanted: &str) -> Option<u64> {
    let end = [wanted.as_bytes(), b"\0"].concat();
    // Linkers may share the end of a longer name.
    let begins: Vec<u32> = memmem::find_iter(names, &end).map(|at| at as u32).collect();
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
        let environ = address_of(&me, "environ", |file| file.contains("libc.so")).unwrap();
        assert!(name_at(&me, environ).is_some_and(|name| name.contains("environ")));
        assert_eq!(name_at(&me, 8), None);
        assert!(address_of(&me, "no_such_variable", |file| file.contains("libc.so")).is_none());
    }
}
