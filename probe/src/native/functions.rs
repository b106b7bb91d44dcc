//! Functions by name, in the files that a process has mapped.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::PathBuf;

use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};

use super::mangled::plain;
use super::returns;
use crate::target::{Process, mappings};

/// A function of a file. All places are such in the file.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    /// `libc.so.6`
    pub file: String,
    /// As we reach it.
    pub path: PathBuf,
    pub offset: u64,
    pub returns: Vec<u64>,
    /// Where it leaves to another function, which returns in its stead.
    pub jumps: Vec<u64>,
}

impl Function {
    /// False: its code does not show where it ends.
    pub fn has_end(&self) -> bool {
        !self.returns.is_empty() || !self.jumps.is_empty()
    }
}

/// What a name says: `getaddrinfo`, `libc:malloc`, `SSL_*`; C++ and Rust functions by their own name, without arguments.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((begin, end)) => name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end),
    }
}

/// Of all files of a process, those functions whose name fits; each once, whatever aliases it has.
///
/// @param library a part of the file's name
pub fn find(process: &Process, library: Option<&str>, pattern: &str) -> Vec<Function> {
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    for mapping in mappings(process).into_iter().filter(|m| m.is_code && m.name.starts_with('/')) {
        let name = mapping.name.trim_end_matches(" (deleted)");
        let file = name.rsplit('/').next().unwrap_or(name).to_owned();
        if library.is_some_and(|library| !file.contains(library)) || !known.insert(mapping.name.clone()) {
            continue;
        }
        let path = mapping.path(process);
        let Ok(bytes) = fs::read(&path) else { continue };
        found.extend(in_file(&bytes, pattern).into_values().map(|function| Function {
            file: file.clone(),
            path: path.clone(),
            ..function
        }));
    }
    found
}

/// By offset.
fn in_file(bytes: &[u8], pattern: &str) -> BTreeMap<u64, Function> {
    let mut found = BTreeMap::new();
    let Ok(file) = object::File::parse(bytes) else { return found };
    let places = Places { bytes, segments: file.segments().map(|s| (s.address(), s.file_range())).collect() };
    let symbols: Vec<Symbol> =
        file.dynamic_symbols().chain(file.symbols()).filter_map(|symbol| Symbol::of(&symbol)).collect();
    for symbol in symbols.iter().filter(|symbol| !symbol.is_piece) {
        // Of all names only those are taken apart that are asked for with their namespace.
        let name = match pattern.contains("::") {
            true => plain(symbol.of),
            false => symbol.of.to_owned(),
        };
        if !fits(pattern, &name) && !fits(pattern, symbol.of) && !fits(pattern, symbol.name) {
            continue;
        }
        let Some(offset) = places.offset(symbol.address) else { continue };
        let pieces = symbols.iter().filter(|piece| piece.is_piece && piece.of == symbol.of);
        let code: Option<Vec<_>> =
            std::iter::once(symbol).chain(pieces).map(|s| Some((s.address, places.code(s.address, s.size)?))).collect();
        let ends = code.and_then(|code| returns::of(&code)).unwrap_or_default();
        let offsets = |addresses: Vec<u64>| addresses.into_iter().filter_map(|a| places.offset(a)).collect();
        found.entry(offset).or_insert_with(|| Function {
            name,
            file: String::new(),
            path: PathBuf::new(),
            offset,
            returns: offsets(ends.returns),
            jumps: offsets(ends.jumps),
        });
    }
    found
}

/// A function, or a piece of one.
struct Symbol<'a> {
    name: &'a str,
    /// Without what compilers add: `f` of `f.cold`, `f.constprop.0`.
    of: &'a str,
    address: u64,
    size: u64,
    /// What is seldom used of a function, put elsewhere (`f.cold`), or what is left of one that is inlined in part (`f.part.0`).
    is_piece: bool,
}

impl<'a> Symbol<'a> {
    fn of(symbol: &impl ObjectSymbol<'a>) -> Option<Symbol<'a>> {
        let name = symbol.name().ok()?;
        // What the linker chooses at start (memcpy by the processor's features) has no code of its own.
        if symbol.kind() != SymbolKind::Text || symbol.is_undefined() || symbol.size() == 0 || name.is_empty() {
            return None;
        }
        let (of, added) = name.split_once('.').unwrap_or((name, ""));
        let is_piece = added.split('.').any(|word| matches!(word, "cold" | "part"));
        Some(Symbol { name, of, address: symbol.address(), size: symbol.size(), is_piece })
    }
}

struct Places<'a> {
    bytes: &'a [u8],
    /// Address, and offset and length in the file.
    segments: Vec<(u64, (u64, u64))>,
}

impl<'a> Places<'a> {
    fn offset(&self, address: u64) -> Option<u64> {
        let holds = |(begin, (_, length)): &&(u64, (u64, u64))| (*begin..begin + length).contains(&address);
        self.segments.iter().find(holds).map(|(begin, (offset, _))| address - begin + offset)
    }

    fn code(&self, address: u64, size: u64) -> Option<&'a [u8]> {
        let at = usize::try_from(self.offset(address)?).ok()?;
        self.bytes.get(at..at.checked_add(usize::try_from(size).ok()?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_patterns() {
        assert!(fits("malloc", "malloc") && !fits("malloc", "mallocx"));
        assert!(fits("SSL_*", "SSL_read") && fits("*_read", "SSL_read") && fits("a*a", "aa") && !fits("a*a", "a"));
    }

    #[test]
    fn functions_of_the_c_library() {
        let me = Process::of(std::process::id()).unwrap();
        let found = find(&me, Some("libc"), "getaddrinfo");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].returns.iter().all(|end| *end > found[0].offset) && found[0].has_end());
        assert!(find(&me, None, "no_such_function_anywhere").is_empty());
    }
}
