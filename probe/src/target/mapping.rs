//! Mappings of a process: /proc/PID/maps, proc_pid_maps(5).

use std::fs;
use std::path::PathBuf;

use super::Process;

/// Mapping of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub begin: u64,
    /// Address behind the last one.
    pub end: u64,
    /// Offset of `begin` in the file.
    pub offset: u64,
    /// True if it is executable.
    pub is_code: bool,
    /// True if it is writable.
    pub is_writable: bool,
    /// True if writes are shared with other processes.
    pub is_shared: bool,
    /// Name as the process has it: `/usr/lib/libc.so.6`, `[vdso]`, or empty.
    pub name: String,
}

impl Mapping {
    /// Returns a path to the file, even if it was replaced or removed since.
    pub fn path(&self, process: &Process) -> PathBuf {
        let named = process.path(&self.name);
        if !self.name.ends_with(" (deleted)") && named.is_file() {
            return named;
        }
        PathBuf::from(format!("/proc/{}/map_files/{:x}-{:x}", process.pid, self.begin, self.end))
    }
}

/// Returns the mappings by address; none if the process has ended.
pub fn mappings(process: &Process) -> Vec<Mapping> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", process.pid)).unwrap_or_default();
    maps.lines().filter_map(parsed).collect()
}

/// Parses `7f00-7f10 r-xp 00001000 08:01 42   /usr/lib/x.so`.
fn parsed(line: &str) -> Option<Mapping> {
    let mut words = line.splitn(6, ' ');
    let (begin, end) = words.next()?.split_once('-')?;
    let rights = words.next()?.as_bytes();
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = hex(words.next()?)?;
    let name = words.nth(2).unwrap_or_default().trim().to_owned();
    let has = |at: usize, right: u8| rights.get(at) == Some(&right);
    Some(Mapping {
        begin: hex(begin)?,
        end: hex(end)?,
        offset,
        is_code: has(2, b'x'),
        is_writable: has(1, b'w'),
        is_shared: has(3, b's'),
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_maps() {
        let mapping = parsed("7f00-7f10 r-xp 00001000 08:01 42                 /usr/lib/a b.so (deleted)").unwrap();
        assert!(mapping.is_code && !mapping.is_writable && !mapping.is_shared);
        assert_eq!((mapping.begin, mapping.end, mapping.offset), (0x7f00, 0x7f10, 0x1000));
        assert_eq!(mapping.name, "/usr/lib/a b.so (deleted)");
        let anonymous = parsed("10-20 rw-s 00000000 00:00 0 ").unwrap();
        assert!(anonymous.is_shared && anonymous.is_writable && !anonymous.is_code && anonymous.name.is_empty());
        assert!(parsed("").is_none() && parsed("x-y").is_none());
    }
}
