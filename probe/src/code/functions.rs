//! Functions by name, in the files mapped by a process.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::PathBuf;

use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};

use super::mangled::plain;
use super::returns;
use crate::target::{Process, mappings};

/// Function of a file. All places are offsets in the file.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name.
    pub name: String,
    /// Name of the file, such as `libc.so.6`.
    pub file: String,
    /// Path of the file as this process reaches it.
    pub path: PathBuf,
    /// Offset of its entry.
    pub offset: u64,
    /// Offsets of its return instructions.
    pub returns: Vec<u64>,
    /// Offsets of jumps to other functions, which return in its place.
    pub jumps: Vec<u64>,
}

impl Function {
    /// Returns false if its code does not show its ends.
    pub fn has_end(&self) -> bool {
        !self.returns.is_empty() || !self.jumps.is_empty()
    }
}

/// Returns true if `name` matches the pattern: `getaddrinfo`, `libc:malloc`, `SSL_*`; C++ and Rust functions by their
/// plain name, without arguments.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((begin, end)) => name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end),
    }
}

/// Returns the functions of a process whose names match, in all of its files; each once, even with aliases. `library`:
/// a part of the file's name.
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

/// Functions of a file, by offset.
fn in_file(bytes: &[u8], pattern: &str) -> BTreeMap<u64, Function> {
    let mut found = BTreeMap::new();
    let Ok(file) = object::File::parse(bytes) else { return found };
    let places = Places { bytes, segments: file.segments().map(|s| (s.address(), s.file_range())).collect() };
    let symbols: Vec<Symbol> =
        file.dynamic_symbols().chain(file.symbols()).filter_map(|symbol| Symbol::of(&symbol)).collect();
    for symbol in symbols.iter().filter(|symbol| !symbol.is_piece) {
        // Names are demangled only for patterns with a namespace.
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

/// Symbol of a function, or of a piece of one.
struct Symbol<'a> {
    name: &'a str,
    /// Name without compiler suffixes: `f` for `f.cold` or `f.constprop.0`.
    of: &'a str,
    address: u64,
    size: u64,
    /// True for rarely used code that was moved elsewhere (`f.cold`), and for the rest of a partly inlined function
    /// (`f.part.0`).
    is_piece: bool,
}

impl<'a> Symbol<'a> {
    fn of(symbol: &impl ObjectSymbol<'a>) -> Option<Symbol<'a>> {
        let name = symbol.name().ok()?;
        // An indirect function that the linker selects at start (memcpy by processor features) has no code of its own.
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
    fn matches_names_and_patterns() {
        assert!(fits("malloc", "malloc") && !fits("malloc", "mallocx"));
        assert!(fits("SSL_*", "SSL_read") && fits("*_read", "SSL_read") && fits("a*a", "aa") && !fits("a*a", "a"));
    }

    #[test]
    fn finds_functions_of_the_c_library() {
        let me = Process::of(std::process::id()).unwrap();
        let found = find(&me, Some("libc"), "getaddrinfo");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].returns.iter().all(|end| *end > found[0].offset) && found[0].has_end());
        assert!(find(&me, None, "no_such_function_anywhere").is_empty());
    }
}
