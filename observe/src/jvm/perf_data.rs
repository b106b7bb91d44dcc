//! The JVM's own counters, from the file that it maps: /tmp/hsperfdata_USER/PID. jstat reads the same file. Reading it
//! costs the JVM nothing.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use yunti_probe::target::Process;

const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];

/// Counters by name, as in `jcmd PerfCounter.print`.
#[derive(Clone, Debug, Default)]
pub struct PerfData {
    counters: HashMap<String, i64>,
    texts: HashMap<String, String>,
}

impl PerfData {
    pub fn get(&self, name: &str) -> Option<f64> {
        self.counters.get(name).map(|n| *n as f64)
    }

    /// Returns a text: `sun.gc.lastCause`.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// Returns a counter of ticks in seconds.
    pub fn seconds(&self, name: &str) -> Option<f64> {
        Some(self.get(name)? / self.get("sun.os.hrt.frequency")?)
    }

    fn parse(bytes: &[u8]) -> Option<PerfData> {
        if bytes.get(..4)? != MAGIC || *bytes.get(4)? != 1 {
            return None; // 1: little-endian
        }
        let int = |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(i32::from_le_bytes);
        let size = |at: usize| int(at).and_then(|n| usize::try_from(n).ok());
        let (mut at, entries) = (size(24)?, size(28)?);
        let (mut counters, mut texts) = (HashMap::new(), HashMap::new());
        for _ in 0..entries {
            let length = size(at)?;
            let (name_at, vector, data_at) = (at + size(at + 4)?, size(at + 8)?, at + size(at + 16)?);
            let name = bytes.get(name_at..)?.split(|b| *b == 0).next()?;
            if *bytes.get(at + 12)? == b'J' && vector == 0 {
                let value = bytes.get(data_at..data_at + 8).and_then(|b| b.try_into().ok()).map(i64::from_le_bytes)?;
                counters.insert(String::from_utf8_lossy(name).into_owned(), value);
            }
            if *bytes.get(at + 12)? == b'B' && vector > 0 {
                let text = bytes.get(data_at..data_at + vector)?.split(|b| *b == 0).next()?;
                texts.insert(String::from_utf8_lossy(name).into_owned(), String::from_utf8_lossy(text).into_owned());
            }
            at += length.max(1);
        }
        Some(PerfData { counters, texts })
    }

    #[cfg(test)]
    pub fn of(counters: &[(&str, i64)], texts: &[(&str, &str)]) -> PerfData {
        let name = |name: &str| name.to_owned();
        PerfData {
            counters: counters.iter().map(|(key, n)| (name(key), *n)).collect(),
            texts: texts.iter().map(|(key, text)| (name(key), name(text))).collect(),
        }
    }
}

/// Returns a process's file; `None` if it has none (-XX:-UsePerfData) or is not a JVM.
pub fn perf_data_file(process: &Process) -> Option<PathBuf> {
    let folders = fs::read_dir(process.path("/tmp")).ok()?.flatten();
    let of_users = folders.filter(|entry| entry.file_name().to_string_lossy().starts_with("hsperfdata_"));
    of_users.map(|entry| entry.path().join(process.pid_inside.to_string())).find(|path| path.is_file())
}

pub fn perf_data(path: &std::path::Path) -> Option<PerfData> {
    PerfData::parse(&fs::read(path).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_other_files() {
        let mut whole = MAGIC.to_vec();
        whole.extend([1; 28]);
        for bytes in [&b""[..], b"\xca\xfe\xc0\xc0", &whole, &[0; 64]] {
            assert!(PerfData::parse(bytes).is_none_or(|data| data.counters.is_empty()));
        }
    }

    #[test]
    fn reads_a_counter() {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 2, 0, 1]);
        bytes.extend([0; 16]);
        bytes.extend(32i32.to_le_bytes());
        bytes.extend(1i32.to_le_bytes());
        bytes.extend(40i32.to_le_bytes()); // length of the entry, then offsets of name and value
        bytes.extend(20i32.to_le_bytes());
        bytes.extend(0i32.to_le_bytes());
        bytes.extend([b'J', 0, 0, 0]);
        bytes.extend(32i32.to_le_bytes());
        bytes.extend(b"a.b\0\0\0\0\0\0\0\0\0");
        bytes.extend(77i64.to_le_bytes());
        assert_eq!(PerfData::parse(&bytes).unwrap().get("a.b"), Some(77.0));
    }
}
