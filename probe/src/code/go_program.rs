//! Program of a process that was built by Go: its version, and where its module's tables and variables lie. Also of one
//! whose symbols were stripped (`-ldflags="-s -w"`), because Go's own tables are part of every program.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use object::read::{ReadCache, ReadRef};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};

use super::go_functions::GoFunctions;
use super::image::Image;
use crate::target::{Mapping, Process, mappings};

/// Bytes of the module data that are read.
const MODULE_BYTES: usize = 336;
/// Words of the module data, by their offsets: `runtime/symtab.go`, the same from Go 1.18 on.
const MODULE_MIN_PC: usize = 160;
const MODULE_MAX_PC: usize = 168;
const MODULE_TEXT: usize = 176;
const MODULE_VARIABLES: [(usize, usize); 4] = [(192, 200), (208, 216), (224, 232), (240, 248)];
/// Address of the functions' data: until Go 1.19, and later.
const MODULE_FUNCTION_DATA: [usize; 2] = [304, 320];
/// Bytes of a mapping in which the module data is searched.
const SEARCHED_BYTES: usize = 64 << 20;
const PIECE_BYTES: usize = 1 << 20;
/// Largest table of functions that is read.
const FUNCTIONS_BYTES: u64 = 512 << 20;

/// Program of a process.
pub struct GoProgram {
    /// Version as the program states it: `go1.22.3`.
    pub version: String,
    /// Second number of the version; 0 if it is unknown.
    pub minor: u32,
    image: Image,
    memory: File,
    symbols: HashMap<String, u64>,
    /// Address of the table of functions, of a header as `runtime.pcHeader`.
    functions: u64,
    module: Module,
}

/// Ranges of addresses of the main module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Module {
    code: (u64, u64),
    text: u64,
    /// Variables: with and without pointers, initialised and not.
    variables: Vec<(u64, u64)>,
    function_data: u64,
}

/// Returns true if the process runs a program of Go.
pub fn is_go(process: &Process) -> bool {
    let Ok(file) = File::open(format!("/proc/{}/exe", process.pid)) else { return false };
    let cache = ReadCache::new(file);
    object::File::parse(&cache).is_ok_and(|file| table_of(&file).is_some() || file.section_by_name(INFO).is_some())
}

const INFO: &str = ".go.buildinfo";

/// Returns the section with the table of functions.
fn table_of<'a, 'b, R: ReadRef<'a>>(file: &'b object::File<'a, R>) -> Option<object::Section<'a, 'b, R>> {
    file.section_by_name(".gopclntab").or_else(|| file.section_by_name(".data.rel.ro.gopclntab"))
}

impl GoProgram {
    /// Reads the program of a process; `Ok(None)` if Go did not build it. `symbols`: names of variables whose addresses
    /// are wanted. Fails with a reason if the program is Go's, and cannot be read.
    pub fn of(process: &Process, symbols: &[&str]) -> Result<Option<GoProgram>, String> {
        let link = format!("/proc/{}/exe", process.pid);
        let Ok(executable) = File::open(&link) else { return Ok(None) };
        let name = fs::read_link(&link).map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        let second = executable.try_clone().map_err(|e| e.to_string())?;
        let cache = ReadCache::new(executable);
        let Ok(file) = object::File::parse(&cache) else { return Ok(None) };
        let (info, table) = (file.section_by_name(INFO), table_of(&file));
        if info.is_none() && table.is_none() {
            return Ok(None);
        }
        if !file.is_64() || !file.is_little_endian() {
            return Err("it is no program for 64 bits".to_owned());
        }
        let version = info.and_then(|info| info.data().ok()).and_then(version_in).unwrap_or_default();
        let minor = minor_of(&version);
        let maps: Vec<Mapping> = mappings(process).into_iter().filter(|mapping| mapping.name == name).collect();
        let bias = bias(&file, &maps).ok_or("its program is not mapped")?;
        let segments =
            file.segments().map(|s| (s.address().wrapping_add(bias), s.file_range().0, s.file_range().1)).collect();
        let image = Image { file: second, segments };
        let memory = File::open(format!("/proc/{}/mem", process.pid)).map_err(|e| format!("no access: {e}"))?;
        let wanted = |name: &str| symbols.contains(&name) || name == MODULE || name == TABLE;
        let symbols: HashMap<String, u64> = file
            .symbols()
            .filter_map(|symbol| Some((symbol.name().ok().filter(|name| wanted(name))?, symbol.address())))
            .map(|(name, address)| (name.to_owned(), address.wrapping_add(bias)))
            .collect();
        let mut program = GoProgram { version, minor, image, memory, symbols, functions: 0, module: Module::default() };
        let table = table.map(|table| table.address().wrapping_add(bias));
        let tables = table.or_else(|| program.symbol(TABLE)).map_or_else(|| program.tables(&maps), |table| vec![table]);
        let found = tables.into_iter().find_map(|table| Some((table, program.module(table, &maps)?)));
        (program.functions, program.module) = found.ok_or("the tables of its module were not found")?;
        Ok(Some(program))
    }

    /// Returns the address of a variable, if the program has symbols.
    pub fn symbol(&self, name: &str) -> Option<u64> {
        self.symbols.get(name).copied()
    }

    /// Returns the ranges of addresses of the module's variables.
    pub fn variables(&self) -> &[(u64, u64)] {
        &self.module.variables
    }

    /// Reads memory of the process.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        self.memory.read_exact_at(bytes, address).is_ok()
    }

    /// Reads a word of the process.
    pub fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
    }

    /// Returns true for an address of Go's code.
    pub fn is_code(&self, address: u64) -> bool {
        (self.module.code.0..self.module.code.1).contains(&address)
    }

    /// Reads the names of its functions.
    pub fn functions(&self) -> Option<GoFunctions> {
        let mut header = [0; super::go_functions::HEADER_BYTES];
        self.image.read(self.functions, &mut header).then_some(())?;
        // The list of functions is the last part, and the table is among the last of its segment.
        let holds = |(begin, _, size): &&(u64, u64, u64)| (*begin..begin + size).contains(&self.functions);
        let (begin, _, size) = self.image.segments.iter().find(holds)?;
        let most = (begin + size - self.functions).min(FUNCTIONS_BYTES);
        let mut bytes = vec![0; usize::try_from(most).ok()?];
        self.image.read(self.functions, &mut bytes).then_some(())?;
        let Module { text, function_data, .. } = self.module;
        let image = Image { file: self.image.file.try_clone().ok()?, segments: self.image.segments.clone() };
        GoFunctions::parse(bytes, text, Some((image, function_data)))
    }

    /// Finds headers of a table of functions in the file.
    fn tables(&self, maps: &[Mapping]) -> Vec<u64> {
        let mut found = Vec::new();
        for mapping in maps.iter().filter(|mapping| !mapping.is_code) {
            let size = (mapping.end - mapping.begin).min(FUNCTIONS_BYTES);
            for at in (0..size).step_by(PIECE_BYTES) {
                let mut piece = vec![0; PIECE_BYTES.min((size - at) as usize)];
                if !self.image.read(mapping.begin + at, &mut piece) {
                    continue;
                }
                let heads = piece.chunks_exact(8).enumerate().filter(|(_, head)| super::go_functions::begins(head));
                found.extend(heads.map(|(i, _)| mapping.begin + at + i as u64 * 8));
            }
        }
        found
    }

    /// Finds the module data, which begins with the address of the table of functions.
    fn module(&self, table: u64, maps: &[Mapping]) -> Option<Module> {
        let read = |address: u64| {
            let mut bytes = [0; MODULE_BYTES];
            self.read(address, &mut bytes).then_some(())?;
            Module::parse(&bytes, table, self.minor).filter(|module| {
                let code = maps.iter().filter(|mapping| mapping.is_code);
                code.into_iter().any(|mapping| (mapping.begin..mapping.end).contains(&module.code.0))
            })
        };
        if let Some(module) = self.symbol(MODULE).and_then(read) {
            return Some(module);
        }
        for mapping in maps.iter().filter(|mapping| !mapping.is_code) {
            let size = ((mapping.end - mapping.begin) as usize).min(SEARCHED_BYTES);
            for at in (0..size).step_by(PIECE_BYTES) {
                let mut piece = vec![0; PIECE_BYTES.min(size - at)];
                if !self.read(mapping.begin + at as u64, &mut piece) {
                    continue;
                }
                let words = piece.chunks_exact(8).enumerate().filter(|(_, word)| *word == table.to_le_bytes());
                for (i, _) in words {
                    if let Some(module) = read(mapping.begin + (at + i * 8) as u64) {
                        return Some(module);
                    }
                }
            }
        }
        None
    }
}

const MODULE: &str = "runtime.firstmoduledata";
const TABLE: &str = "runtime.pclntab";

impl Module {
    fn parse(bytes: &[u8], table: u64, minor: u32) -> Option<Module> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let code = (word(MODULE_MIN_PC)?, word(MODULE_MAX_PC)?);
        let text = word(MODULE_TEXT)?;
        let is_module = word(0)? == table && text != 0 && text <= code.0 && code.0 < code.1;
        let variables = MODULE_VARIABLES
            .iter()
            .map(|(begin, end)| Some((word(*begin)?, word(*end)?)))
            .collect::<Option<Vec<_>>>()?;
        let is_ordered = variables.iter().all(|(begin, end)| begin <= end && end - begin < 1 << 32);
        let of_old = minor != 0 && minor < 20;
        let function_data = word(MODULE_FUNCTION_DATA[usize::from(!of_old)])?;
        (is_module && is_ordered).then_some(Module { code, text, variables, function_data })
    }
}

/// Returns what is added to an address of the file to get the address in the process.
fn bias<'a, R: ReadRef<'a>>(file: &object::File<'a, R>, maps: &[Mapping]) -> Option<u64> {
    const PAGE: u64 = 4096;
    file.segments().find_map(|segment| {
        let offset = segment.file_range().0;
        let mapping = maps.iter().find(|mapping| mapping.offset == offset / PAGE * PAGE)?;
        Some(mapping.begin.wrapping_sub(segment.address() / PAGE * PAGE))
    })
}

/// Returns the version of a section `.go.buildinfo`, from Go 1.18 on: `debug/buildinfo`.
fn version_in(info: &[u8]) -> Option<String> {
    const MAGIC: &[u8] = b"\xff Go buildinf:";
    const HEADER_BYTES: usize = 32;
    let at = info.windows(MAGIC.len()).position(|bytes| bytes == MAGIC)?;
    let text = info.get(at + HEADER_BYTES..)?;
    // A length of seven bits a byte, then the text.
    let length = usize::from(*text.first()?);
    let length = if length < 0x80 { length } else { return None };
    String::from_utf8(text.get(1..1 + length)?.to_vec()).ok()
}

/// Returns the second number of a version: 22 for `go1.22.3` and for `devel go1.22-e98d876`.
fn minor_of(version: &str) -> u32 {
    let after = version.split("go1.").nth(1).unwrap_or_default();
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for (version, minor) in
            [("go1.22.3", 22), ("devel go1.27-e98d876 Mon", 27), ("go1.18", 18), ("go1.26.8 X:nodwarf5", 26), ("", 0)]
        {
            assert_eq!(minor_of(version), minor, "{version}");
        }
        let mut info = b"\xff Go buildinf:\x08\x02".to_vec();
        info.resize(32, 0);
        info.extend(b"\x08go1.22.3\x30more");
        assert_eq!(version_in(&info).as_deref(), Some("go1.22.3"));
        assert_eq!(version_in(&info[..34]), None);
        assert_eq!(version_in(b"nothing"), None);
    }

    #[test]
    fn modules() {
        let mut bytes = vec![0; MODULE_BYTES];
        let mut put = |at: usize, word: u64| bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        put(0, 0x5000);
        put(MODULE_MIN_PC, 0x1000);
        put(MODULE_MAX_PC, 0x2000);
        put(MODULE_TEXT, 0x1000);
        put(192, 0x7000);
        put(200, 0x7100);
        put(304, 0x6000);
        put(320, 0x6800);
        let module = Module::parse(&bytes, 0x5000, 22).unwrap();
        assert_eq!((module.code, module.function_data), ((0x1000, 0x2000), 0x6800));
        assert_eq!(module.variables[0], (0x7000, 0x7100));
        assert_eq!(Module::parse(&bytes, 0x5000, 18).unwrap().function_data, 0x6000);
        assert_eq!(Module::parse(&bytes, 0x5008, 22), None);
        assert_eq!(Module::parse(&bytes[..100], 0x5000, 22), None);
    }

    #[test]
    fn this_program_is_not_of_go() {
        let me = Process::of(std::process::id()).unwrap();
        assert!(!is_go(&me) && GoProgram::of(&me, &[]).unwrap().is_none());
    }
}
