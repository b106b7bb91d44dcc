//! Class path of trials: the service's classes, and the libraries that are tried.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::capture::{Captured, Facts};
use super::folder::JAR;
use super::service::Service;

/// Class paths of trials.
pub struct ClassPath {
    jar: PathBuf,
    /// Jars and folders of the service.
    service: Vec<PathBuf>,
    /// Jars of the libraries that are tried.
    tried: Vec<PathBuf>,
    /// Parts of the service's class path that trials do not have.
    pub missing: Vec<String>,
}

impl ClassPath {
    /// Finds the service's jars, and unpacks jars that hold others into the folder.
    pub fn of(captured: &Captured, jars: &Path, service: &Service) -> ClassPath {
        let (all, mut missing) = named(&captured.facts);
        let mut of_service = Vec::new();
        for path in all {
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("jar" | "war") if holds_jars(&path) => match unpack(&path, captured, service) {
                    Some(mut jars) => of_service.append(&mut jars),
                    None => missing.push(format!("{} cannot be unpacked", path.display())),
                },
                _ => of_service.push(path),
            }
        }
        let mut tried: Vec<PathBuf> =
            fs::read_dir(jars).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        tried.retain(|path| path.extension().is_some_and(|e| e == "jar") && !path.ends_with(JAR));
        tried.sort();
        ClassPath { jar: captured.folder.path(JAR), service: of_service, tried, missing }
    }

    /// Returns the class path of an alternative: its jars before those of the service.
    pub fn of_alternative(&self) -> String {
        joined([&self.jar].into_iter().chain(&self.tried).chain(&self.service))
    }

    /// Returns the class path of a library as the service has it.
    pub fn of_baseline(&self, library: &str) -> String {
        // Versions of one library do not mix.
        let is_other = |path: &&PathBuf| !path.file_name().unwrap_or_default().to_string_lossy().starts_with(library);
        joined([&self.jar].into_iter().chain(&self.service).chain(self.tried.iter().filter(is_other)))
    }
}

/// Returns the jars and folders that the JVM names, each once, and its other sources of classes.
fn named(facts: &Facts) -> (Vec<PathBuf>, Vec<String>) {
    let folder = Path::new(&facts.folder);
    let words = facts.class_path.split(':').filter(|word| !word.is_empty());
    let (mut all, mut missing): (Vec<PathBuf>, _) = (words.map(|word| folder.join(word)).collect(), Vec::new());
    for source in &facts.sources {
        match source.strip_prefix("file:").map(|address| PathBuf::from(plain(address))) {
            Some(path) if !all.contains(&path) => all.push(path),
            Some(_) => {}
            // Jars inside a jar of the class path, which is unpacked.
            None if source.starts_with("jar:") => {}
            None => missing.push(format!("classes from {source} are not on the class path of the trials")),
        }
    }
    (all, missing)
}

fn joined<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> String {
    paths.map(|path| path.to_string_lossy()).collect::<Vec<_>>().join(":")
}

/// Returns a path without the `%20` of its address.
fn plain(address: &str) -> String {
    let bytes = address.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| address.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Bytes at the end of a jar that hold its directory.
const DIRECTORY_BYTES: u64 = 8 << 20;

/// Returns true if a jar has the layout of Spring Boot or of a war file. Names of a zip's entries are plain bytes.
fn holds_jars(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(DIRECTORY_BYTES)))?;
        file.read_to_end(&mut bytes)
    });
    if read.is_err() {
        return false;
    }
    let is_there = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
    is_there(b"BOOT-INF/lib/") || is_there(b"WEB-INF/lib/")
}

/// Unpacks a jar into the folder, and returns its jars.
fn unpack(path: &Path, captured: &Captured, service: &Service) -> Option<Vec<PathBuf>> {
    let output = service
        .java()
        .args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-cp"])
        .arg(captured.folder.path(JAR))
        .arg("org.yunti.messages.trial.Unpack")
        .arg(path)
        .arg(captured.folder.path(""))
        .stdout(Stdio::piped())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.lines().map(PathBuf::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_jar_is_named_once() {
        let sources =
            ["file:/a%20b.jar", "file:/srv/lib/", "file:/srv/lib/", "jar:file:/a%20b.jar!/x", "http://h/c.jar"];
        let (all, missing) = named(&Facts {
            class_path: "/a b.jar:classes:".into(),
            folder: "/srv".into(),
            sources: sources.map(str::to_owned).to_vec(),
            refused: Vec::new(),
        });
        assert_eq!(all, ["/a b.jar", "/srv/classes", "/srv/lib/"].map(PathBuf::from));
        assert_eq!(missing, ["classes from http://h/c.jar are not on the class path of the trials"]);
    }

    #[test]
    fn addresses_become_paths() {
        for (address, path) in [("/a/b.jar", "/a/b.jar"), ("/a%20b/c", "/a b/c"), ("/50%", "/50%"), ("/%zz", "/%zz")] {
            assert_eq!(plain(address), path);
        }
    }
}
