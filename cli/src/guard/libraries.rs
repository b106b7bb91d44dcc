//! Code ranges of class libraries. The instruction pointer of a crash on a library's thread identifies the library.

use std::path::Path;
use std::sync::OnceLock;

/// Maximum number of libraries with code ranges; crashes in further ones are not attributed.
const LIBRARIES_MAX: usize = 64;

pub struct MappedLibrary {
    pub name: Box<str>,
    ranges: Vec<(usize, usize)>,
}

static LIBRARIES: [OnceLock<MappedLibrary>; LIBRARIES_MAX] = [const { OnceLock::new() }; LIBRARIES_MAX];
static OWN: OnceLock<Vec<(usize, usize)>> = OnceLock::new();

/// Adds a library that was loaded from `path`.
pub fn add(path: &Path) {
    OWN.get_or_init(|| std::env::current_exe().map_or_else(|_| Vec::new(), |own| ranges_of(&own)));
    let Ok(whole) = path.canonicalize() else { return };
    let name = path.to_string_lossy();
    if LIBRARIES.iter().any(|at| at.get().is_some_and(|known| *known.name == *name)) {
        return;
    }
    if let Some(free) = LIBRARIES.iter().find(|at| at.get().is_none()) {
        let _ = free.set(MappedLibrary { name: name.into(), ranges: ranges_of(&whole) });
    }
}

/// Returns the executable address ranges of this process that are mapped from a file, from /proc/self/maps.
fn ranges_of(file: &Path) -> Vec<(usize, usize)> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    executable(&maps, &file.to_string_lossy())
}

fn executable(maps: &str, file: &str) -> Vec<(usize, usize)> {
    let range = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let is_code =
            rest.as_bytes().get(2) == Some(&b'x') && rest.ends_with(file) && rest.contains(&format!(" {file}"));
        let number = |hex| usize::from_str_radix(hex, 16).ok();
        is_code.then_some((number(from)?, number(to)?))
    };
    maps.lines().filter_map(range).collect()
}

fn within(ranges: &[(usize, usize)], address: usize) -> bool {
    ranges.iter().any(|(from, to)| (*from..*to).contains(&address))
}

fn loaded() -> impl Iterator<Item = &'static MappedLibrary> {
    LIBRARIES.iter().map_while(|at| at.get())
}

/// Returns the library whose code has this address.
pub fn at(address: usize) -> Option<&'static str> {
    loaded().find(|library| within(&library.ranges, address)).map(|library| &*library.name)
}

/// Returns true if the address is code of this program.
pub fn is_own_code(address: usize) -> bool {
    OWN.get().is_some_and(|own| within(own, address))
}

/// Returns the library, if exactly one is loaded.
pub fn only() -> Option<&'static str> {
    let mut all = loaded();
    let first = all.next()?;
    all.next().is_none().then_some(&*first.name)
}

/// Returns true if a class library is loaded.
pub fn any() -> bool {
    loaded().next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_a_file() {
        let maps = "1000-2000 r--p 00000000 08:01 5   /a/b.so\n2000-3000 r-xp 00001000 08:01 5   /a/b.so\n\
                    4000-5000 r-xp 00000000 08:01 6   /x/a/b.so\n6000-7000 r-xp 00000000 00:00 0   [vdso]\n";
        assert_eq!(executable(maps, "/a/b.so"), [(0x2000, 0x3000)]);
        assert!(within(&executable(maps, "/a/b.so"), 0x2fff) && !within(&executable(maps, "/a/b.so"), 0x3000));
        let own = ranges_of(&std::env::current_exe().unwrap());
        assert!(within(&own, code_of_a_file as *const () as usize), "{own:?}");
    }
}
