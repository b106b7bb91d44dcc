//! Finds the interpreter in a process: in the program itself, or in a shared library.

use super::layout::Layout;
use super::memory::{Memory, half};
use yunti_probe::code::data;
use yunti_probe::target::{Mapping, Process, mappings};

/// Bytes around `_PyRuntime` in which the interpreter keeps the text of its version, up to 3.10.
const VERSION_WITHIN: u64 = 1 << 20;

/// CPython in a process.
pub struct Interpreter {
    /// Address of `_PyRuntime`.
    pub runtime: u64,
    pub layout: Layout,
    /// Name with version: `CPython 3.11`.
    pub name: String,
}

impl Interpreter {
    /// Finds the interpreter. `None`: the process has none. `Err`: it has one that cannot be read.
    pub fn of(process: &Process, memory: &Memory) -> Option<Result<Interpreter, String>> {
        let all = mappings(process);
        let program = process.executable()?;
        let mut files: Vec<&Mapping> = Vec::new();
        for mapping in all.iter().filter(|mapping| mapping.is_code && mapping.name.starts_with('/')) {
            let file = mapping.name.rsplit('/').next().unwrap_or(&mapping.name);
            let is_program = program.to_str() == Some(&mapping.name);
            if (is_program || file.contains("python")) && !files.iter().any(|known| known.name == mapping.name) {
                files.push(mapping);
            }
        }
        // Modules in C are named after the interpreter too, and have no version.
        files.iter().find_map(|file| found(process, memory, &all, file))
    }
}

fn found(process: &Process, memory: &Memory, all: &[Mapping], file: &Mapping) -> Option<Result<Interpreter, String>> {
    let runtime = data::address(process, file, "_PyRuntime", ".PyRuntime")?;
    let version = data::address(process, file, "Py_Version", "").and_then(|at| packed(memory, at));
    let Some((major, minor)) = version.or_else(|| of_text(memory, all, runtime)) else {
        return Some(Err("its version is not known".to_owned()));
    };
    if major != 3 {
        return Some(Err(format!("it is Python {major}.{minor}")));
    }
    let layout = match Layout::of(minor, memory, runtime) {
        Ok(layout) => layout,
        Err(why) => return Some(Err(why)),
    };
    let threads = if layout.is_free_threaded { "t" } else { "" };
    Some(Ok(Interpreter { runtime, layout, name: format!("CPython 3.{minor}{threads}") }))
}

/// Version as `Py_Version` has it, from 3.11 on: `0x030b07f0`.
fn packed(memory: &Memory, at: u64) -> Option<(u32, u32)> {
    let mut bytes = [0; 4];
    memory.read(at, &mut bytes)?;
    let version = half(&bytes, 0);
    Some((version >> 24, version >> 16 & 0xff))
}

/// Version by the text that `sys.version` is made of, in the data around `_PyRuntime`.
fn of_text(memory: &Memory, all: &[Mapping], runtime: u64) -> Option<(u32, u32)> {
    let near = runtime.saturating_sub(VERSION_WITHIN)..runtime + VERSION_WITHIN;
    all.iter().filter(|mapping| mapping.is_writable && mapping.begin < near.end && mapping.end > near.start).find_map(
        |mapping| {
            let (begin, end) = (mapping.begin.max(near.start), mapping.end.min(near.end));
            let mut bytes = vec![0; (end - begin) as usize];
            memory.read(begin, &mut bytes)?;
            version_in(&bytes)
        },
    )
}

/// Finds `3.8.18 (default, ..`.
fn version_in(bytes: &[u8]) -> Option<(u32, u32)> {
    let starts = bytes.windows(2).enumerate().filter(|(_, two)| *two == b"3.").map(|(at, _)| at);
    starts.filter(|at| *at == 0 || bytes[at - 1] == 0).find_map(|at| {
        let text = &bytes[at..bytes.len().min(at + 24)];
        let text = std::str::from_utf8(text.split(|byte| *byte == 0).next()?).ok()?;
        let (version, _) = text.split_once(" (")?;
        let mut numbers = version.split('.').skip(1);
        let minor = numbers.next()?.parse().ok()?;
        numbers.next()?.starts_with(|first: char| first.is_ascii_digit()).then_some((3, minor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_text_of_a_version() {
        assert_eq!(version_in(b"\x003.7\x00\x003.10.13 (main, May  9 2026)\x00"), Some((3, 10)));
        assert_eq!(version_in(b"3.9.0rc1 (default, Oct"), Some((3, 9)));
        assert_eq!(version_in(b"x3.9.0 (a) 3. 3.x"), None);
    }
}
