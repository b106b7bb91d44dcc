//! Release of a service, without a label of the user: the version in its file's name, else a hash of its files.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flate2::Crc;
use yunti_probe::target::{Process, arguments};

/// Entries of a folder with classes that a hash covers.
const CLASSES_MAX: usize = 20_000;
/// Programs whose first argument is the program to name.
const INTERPRETERS: [&str; 6] = ["python", "node", "ruby", "perl", "php", "bash"];

/// Releases of files, each computed once.
#[derive(Default)]
pub struct Releases {
    /// Checksum by path, device, inode, time and size.
    known: HashMap<(PathBuf, u64, u64, i64, u64), u32>,
}

impl Releases {
    /// Returns the release of a process: `1.4.2` of `shop-1.4.2.jar`, else eight digits of a checksum of its files.
    /// Empty if no file can be read.
    pub fn of(&mut self, process: &Process) -> String {
        let files = files_of(process, &arguments(process.pid));
        if let [(name, _)] = &files[..]
            && let Some(version) = version(name)
        {
            return version.to_owned();
        }
        let sums: Vec<u32> = files.iter().filter_map(|(_, path)| self.checksum(path).ok()).collect();
        match sums[..] {
            [] => String::new(),
            [sum] => format!("{sum:08x}"),
            _ => {
                let mut all = Crc::new();
                sums.iter().for_each(|sum| all.update(&sum.to_le_bytes()));
                format!("{:08x}", all.sum())
            }
        }
    }

    fn checksum(&mut self, path: &Path) -> io::Result<u32> {
        let file = fs::metadata(path)?;
        if file.is_dir() {
            return checksum_of_classes(path);
        }
        let key = (path.to_owned(), file.dev(), file.ino(), file.mtime_nsec() ^ file.mtime() << 30, file.len());
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let (mut crc, mut bytes) = (Crc::new(), vec![0; 1 << 18]);
        let mut file = File::open(path)?;
        loop {
            match file.read(&mut bytes)? {
                0 => break,
                n => crc.update(&bytes[..n]),
            }
        }
        self.known.insert(key, crc.sum());
        Ok(crc.sum())
    }
}

/// Returns the checksum of a folder of classes, by the names, sizes and times of its files: reading all takes long.
fn checksum_of_classes(folder: &Path) -> io::Result<u32> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)?.flatten() {
            let Ok(file) = entry.metadata() else { continue };
            match file.is_dir() {
                true => folders.push(entry.path()),
                false => files.push(format!("{} {} {}", entry.path().display(), file.len(), file.mtime())),
            }
            if files.len() >= CLASSES_MAX {
                folders.clear();
                break;
            }
        }
    }
    files.sort();
    let mut crc = Crc::new();
    files.iter().for_each(|line| crc.update(line.as_bytes()));
    Ok(crc.sum())
}

/// Returns the names of the files that make up the program, and their paths for this process.
fn files_of(process: &Process, line: &[String]) -> Vec<(String, PathBuf)> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let program = line.first().map(|word| name(word)).unwrap_or_default();
    let reach = |path: &str| match path.starts_with('/') {
        true => process.path(path),
        false => PathBuf::from(format!("/proc/{}/cwd", process.pid)).join(path),
    };
    let of = |path: &str| (name(path), reach(path));
    if program == "java" {
        if let Some(jar) = line.iter().skip_while(|word| *word != "-jar").nth(1) {
            return vec![of(jar)];
        }
        let paths =
            line.iter().skip_while(|word| !matches!(word.as_str(), "-cp" | "-classpath" | "--class-path")).nth(1);
        return paths.map(String::as_str).unwrap_or(".").split(':').filter(|path| !path.is_empty()).map(of).collect();
    }
    if INTERPRETERS.iter().any(|host| program == *host || program.starts_with(&format!("{host}3")))
        && let Some(script) = line.iter().skip(1).find(|word| !word.starts_with('-'))
        && reach(script).is_file()
    {
        return vec![of(script)];
    }
    let executable = process.executable().map_or_else(String::new, |path| path.to_string_lossy().into_owned());
    vec![(name(&executable), PathBuf::from(format!("/proc/{}/exe", process.pid)))]
}

/// Returns the version in a file's name: `1.4.2-rc1` of `shop-1.4.2-rc1.jar`. It begins with a digit and has a dot.
fn version(name: &str) -> Option<&str> {
    let stem = ["jar", "war", "pyz"].iter().find_map(|end| name.strip_suffix(end)?.strip_suffix('.')).unwrap_or(name);
    let at = stem.match_indices(['-', '_']).map(|(at, _)| at + 1).find(|at| {
        let rest = &stem[*at..];
        let rest = rest.strip_prefix('v').unwrap_or(rest);
        rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains('.')
    })?;
    Some(&stem[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_in_names() {
        let check = |name, expected| assert_eq!(version(name), expected, "{name}");
        check("shop-1.4.2.jar", Some("1.4.2"));
        check("shop-web-2.0.0-rc1.jar", Some("2.0.0-rc1"));
        check("shop_v3.1.war", Some("v3.1"));
        check("server-1.2", Some("1.2"));
        for without in ["shop.jar", "shop-2.jar", "log4j2.jar", "python3.11", "", "x-.jar"] {
            check(without, None);
        }
    }

    #[test]
    fn a_program_has_a_checksum() {
        let me = Process::of(std::process::id()).unwrap();
        let mut releases = Releases::default();
        let release = releases.of(&me);
        assert!(release.len() == 8 && release == releases.of(&me), "{release}");
        assert_eq!(releases.known.len(), 1);
    }

    #[test]
    fn other_classes_are_another_release() {
        let folder = std::env::temp_dir().join(format!("yunti-release-{}", std::process::id()));
        fs::create_dir_all(folder.join("a")).unwrap();
        fs::write(folder.join("a/B.class"), "1").unwrap();
        let before = checksum_of_classes(&folder).unwrap();
        assert_eq!(checksum_of_classes(&folder).unwrap(), before);
        fs::write(folder.join("a/B.class"), "12").unwrap();
        let after = checksum_of_classes(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_ne!(after, before);
    }
}
