//! Archives of `-archives`, unpacked into the programs' working directory: zip and jar, tar, tar.gz and tgz.
//!
//! No entry leaves its directory: neither by its name, nor through a link that the archive made.

mod folder;
mod tar;
mod zip;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use yunti_base::{Code, Error, Result};
use yunti_engine::codec::{CodecKind, Decoder, State, decoder, memory_bytes};

use folder::Folder;

/// Unpacks an archive into a new directory. Returns false for a file that is no archive by its name; then there is no
/// directory.
///
/// Errors: `Input` for an archive that is damaged, or has an entry that cannot be made; `Output` for a failed write.
pub fn unpack(archive: &Path, to: &Path) -> Result<bool> {
    let name = archive.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    let is_zip = is(&[".zip", ".jar"]);
    if !is_zip && !is(&[".tar", ".tgz", ".tar.gz"]) {
        return Ok(false);
    }
    let folder = Folder::create(to, archive)?;
    let file = File::open(archive).map_err(|e| {
        Error::io(Code::Input, "cannot read the archive", &e)
            .at_path(archive.to_string_lossy())
            .hint("check its permissions")
    })?;
    match is_zip {
        true => zip::unpack(&file, &folder)?,
        false if is(&[".tar"]) => tar::unpack(&mut io::BufReader::new(file), &folder)?,
        false => tar::unpack(&mut Decoded::new(io::BufReader::new(file))?, &folder)?,
    }
    Ok(true)
}

/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;

/// Data of a gzip file.
struct Decoded<R> {
    from: R,
    decoder: Box<dyn Decoder>,
    input: Vec<u8>,
    /// Bytes of `input` that are decoded, and whether no more follow.
    at: usize,
    is_last: bool,
    is_done: bool,
}

impl<R: Read> Decoded<R> {
    fn new(from: R) -> Result<Decoded<R>> {
        let decoder = decoder(CodecKind::Gzip, memory_bytes(CodecKind::Gzip))?;
        Ok(Decoded { from, decoder, input: Vec::new(), at: 0, is_last: false, is_done: false })
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while !self.is_done && !to.is_empty() {
            if self.at == self.input.len() && !self.is_last {
                self.input.resize(READ_BYTES, 0);
                let n = self.from.read(&mut self.input)?;
                self.input.truncate(n);
                (self.at, self.is_last) = (0, n == 0);
            }
            let step = self.decoder.decode(&self.input[self.at..], to, self.is_last);
            let step = step.map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.to_string()))?;
            self.at += step.read;
            self.is_done = self.is_last && self.at == self.input.len() && step.state == State::End;
            if step.written > 0 {
                return Ok(step.written);
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;

    /// Returns a new directory with an archive that a program of Python made.
    fn made(name: &str, source: &str) -> Option<PathBuf> {
        let root = std::env::temp_dir().join(format!("yunti-archive-{}-{name}", std::process::id()));
        fs::create_dir(&root).unwrap();
        let source = format!("import io, sys, tarfile, zipfile\nname = {name:?}\n{source}");
        let done = Command::new("python3").args(["-c", &source]).current_dir(&root).status();
        let Ok(status) = done else {
            eprintln!("SKIPPED: there is no python3");
            fs::remove_dir_all(&root).unwrap();
            return None;
        };
        assert!(status.success());
        Some(root)
    }

    /// Adds a directory, a file that can be executed, a link to it, a long name, an empty file.
    const TAR: &str = "
t = tarfile.open(name, 'w' if name.endswith('tar') else 'w:gz', format=FORMAT)
def add(n, data=b'', mode=0o644, kind=tarfile.REGTYPE, link=''):
    i = tarfile.TarInfo(n); i.size, i.mode, i.type, i.linkname = len(data), mode, kind, link
    t.addfile(i, io.BytesIO(data))
add('bin', kind=tarfile.DIRTYPE, mode=0o755)
add('bin/run', b'#!/bin/sh\\necho ran\\n', 0o755)
add('link', kind=tarfile.SYMTYPE, link='bin/run')
add('hard', kind=tarfile.LNKTYPE, link='bin/run')
add('./' + 'd' * 90 + '/' + 'n' * 150, b'long' * 5000)
add('empty')
t.close()
";

    fn check_tree(folder: &Path, has_links: bool) {
        let read = |name: &str| fs::read(folder.join(name)).unwrap();
        assert_eq!(read("bin/run"), b"#!/bin/sh\necho ran\n");
        assert_eq!(fs::metadata(folder.join("bin/run")).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(read(&format!("{}/{}", "d".repeat(90), "n".repeat(150))), b"long".repeat(5000));
        assert_eq!(read("empty"), b"");
        if has_links {
            assert_eq!(fs::read_link(folder.join("link")).unwrap(), Path::new("bin/run"));
            assert_eq!(read("hard"), read("bin/run"));
        }
    }

    #[test]
    fn tars_are_unpacked() {
        for (name, format) in [("a.tar", "USTAR"), ("b.tar", "GNU"), ("c.tgz", "PAX"), ("D.TAR.GZ", "GNU")] {
            let tar = TAR.replace("FORMAT", &format!("tarfile.{format}_FORMAT"));
            // ustar divides a name at a slash, and has room for this one.
            let Some(root) = made(name, &tar.replace("'n' * 150", "'n' * 90")) else {
                return;
            };
            assert!(unpack(&root.join(name), &root.join("out")).unwrap());
            assert_eq!(fs::read(root.join("out/bin/run")).unwrap(), b"#!/bin/sh\necho ran\n", "{name}");
            fs::remove_dir_all(&root).unwrap();
            if format == "USTAR" {
                continue;
            }
            let Some(root) = made(name, &tar) else { return };
            assert!(unpack(&root.join(name), &root.join("out")).unwrap());
            check_tree(&root.join("out"), true);
            fs::remove_dir_all(&root).unwrap();
        }
    }

    #[test]
    fn zips_are_unpacked() {
        for (name, method) in [("a.zip", "ZIP_DEFLATED"), ("b.jar", "ZIP_STORED")] {
            let zip = format!(
                "
z = zipfile.ZipFile(name, 'w', zipfile.{method})
def add(n, data=b'', mode=0o644):
    i = zipfile.ZipInfo(n); i.external_attr = mode << 16; i.compress_type = zipfile.{method}
    z.writestr(i, data)
add('bin/', mode=0o40755)
add('bin/run', b'#!/bin/sh\\necho ran\\n', 0o100755)
add('d' * 90 + '/' + 'n' * 150, b'long' * 5000)
add('empty')
z.close()
"
            );
            let Some(root) = made(name, &zip) else { return };
            assert!(unpack(&root.join(name), &root.join("out")).unwrap());
            check_tree(&root.join("out"), false);
            // Each cut of the archive is an error, and no panic.
            let whole = fs::read(root.join(name)).unwrap();
            for (i, cut) in [0, 1, 10, whole.len() / 2, whole.len() - 1].into_iter().enumerate() {
                fs::write(root.join(name), &whole[..cut]).unwrap();
                assert!(unpack(&root.join(name), &root.join(format!("cut{i}"))).is_err(), "{name} {cut}");
            }
            fs::remove_dir_all(&root).unwrap();
        }
        assert!(!unpack(Path::new("words.txt"), Path::new("nowhere")).unwrap());
    }

    #[test]
    fn no_entry_leaves_the_directory() {
        let entry = |code: &str| format!("t = tarfile.open(name, 'w')\n{code}\nt.close()\n");
        let add = "i = tarfile.TarInfo(NAME); i.type = KIND; i.linkname = LINK; i.size = 0; t.addfile(i, io.BytesIO())";
        let one = |name: &str, kind: &str, link: &str| {
            add.replace("NAME", &format!("'{name}'"))
                .replace("KIND", &format!("tarfile.{kind}"))
                .replace("LINK", &format!("'{link}'"))
        };
        for (number, (code, what)) in [
            (one("../x", "REGTYPE", ""), "leads out of"),
            (one("a/../../x", "REGTYPE", ""), "leads out of"),
            (one("l", "SYMTYPE", "/etc"), "leads out of"),
            (one("l", "SYMTYPE", "../x"), "leads out of"),
            (one("a/l", "SYMTYPE", "../../x"), "leads out of"),
            (one("l", "LNKTYPE", "../x"), "leads out of"),
            (format!("{}\n{}", one("l", "SYMTYPE", "d"), one("l/x", "REGTYPE", "")), "through a link"),
            (one("fifo", "FIFOTYPE", ""), "is no file"),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("e{number}.tar");
            let Some(root) = made(&name, &entry(&code)) else { return };
            let error = unpack(&root.join(&name), &root.join("in/out")).unwrap_err();
            assert!(error.code() == Code::Input && error.to_string().contains(what), "{code}: {error}");
            assert!(!root.join("in/x").exists() && !root.join("x").exists(), "{code}");
            fs::remove_dir_all(&root).unwrap();
        }
    }
}
