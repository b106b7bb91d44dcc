//! The directory of one archive, in which its entries are made.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use yunti_base::{Code, Error, Result};

/// Directory that gets the entries of an archive.
pub struct Folder {
    root: PathBuf,
    /// Path of the archive, for messages.
    archive: String,
}

impl Folder {
    /// Makes the directory. Errors: `Output`.
    pub fn create(root: &Path, archive: &Path) -> Result<Folder> {
        let folder = Folder { root: root.into(), archive: archive.to_string_lossy().into_owned() };
        fs::create_dir_all(root).map_err(|e| folder.failed(root, &e))?;
        Ok(folder)
    }

    /// Returns the error of an archive that is damaged or has what cannot be unpacked.
    pub fn damaged(&self, what: impl Into<String>) -> Error {
        let error = Error::new(Code::Input, format!("-archives: {}", what.into())).at_path(self.archive.as_str());
        error.hint("make the archive again")
    }

    /// Returns the error of a failed read of the archive.
    pub fn unread(&self, e: &io::Error) -> Error {
        self.damaged(format!("it cannot be read ({e})"))
    }

    fn failed(&self, path: &Path, e: &io::Error) -> Error {
        Error::io(Code::Output, "cannot unpack the archive", e).at_path(path.to_string_lossy()).hint("check TMPDIR")
    }

    /// Returns the place of an entry, as names below the directory. Errors: `Input` if it leads out.
    fn names(&self, base: &Path, name: &Path) -> Result<PathBuf> {
        let mut names = base.to_path_buf();
        for part in name.components() {
            match part {
                Component::Normal(part) => names.push(part),
                Component::ParentDir if names.pop() => {}
                Component::ParentDir => {
                    return Err(self.damaged(format!("the entry {} leads out of the archive", name.display())));
                }
                // As tar does: names begin at the directory.
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        Ok(names)
    }

    /// Returns the path of an entry, whose parents are made; none of them is a link.
    fn place(&self, name: &str) -> Result<PathBuf> {
        if Path::new(name).components().any(|part| part == Component::ParentDir) {
            return Err(self.damaged(format!("the entry {name} leads out of the archive")));
        }
        let names = self.names(Path::new(""), Path::new(name))?;
        let mut path = self.root.clone();
        for part in names.parent().into_iter().flat_map(Path::components) {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => return Err(self.damaged(format!("the entry {name} leads through a link or a file"))),
                Err(_) => fs::create_dir(&path).map_err(|e| self.failed(&path, &e))?,
            }
        }
        Ok(self.root.join(names))
    }

    /// Makes a directory.
    pub fn directory(&self, name: &str) -> Result<()> {
        let path = self.place(&format!("{name}/."))?;
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => Ok(()),
            Ok(_) => Err(self.damaged(format!("the entry {name} is a directory and a file"))),
            Err(_) => fs::create_dir(&path).map_err(|e| self.failed(&path, &e)),
        }
    }

    /// Makes a file of `len` bytes from a reader. The last of two entries of a name counts.
    pub fn file(&self, name: &str, mode: u32, len: u64, from: &mut dyn Read) -> Result<()> {
        let path = self.free(name)?;
        let mut options = OpenOptions::new();
        let mut to =
            options.write(true).create_new(true).mode(0o600).open(&path).map_err(|e| self.failed(&path, &e))?;
        let (mut left, mut buffer) = (len, vec![0; super::READ_BYTES]);
        while left > 0 {
            let room = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let n = from.read(&mut buffer[..room]).map_err(|e| self.unread(&e))?;
            if n == 0 {
                return Err(self.damaged(format!("the entry {name} ends too early")));
            }
            io::Write::write_all(&mut to, &buffer[..n]).map_err(|e| self.failed(&path, &e))?;
            left -= n as u64;
        }
        let mode = fs::Permissions::from_mode(mode & 0o777 | 0o600);
        to.set_permissions(mode).map_err(|e| self.failed(&path, &e))
    }

    /// Makes a symbolic link, which must lead to a place in the directory.
    pub fn link(&self, name: &str, target: &str) -> Result<()> {
        let path = self.free(name)?;
        let outside = || self.damaged(format!("the link {name} to {target} leads out of the archive"));
        if Path::new(target).is_absolute() {
            return Err(outside());
        }
        let below = path.strip_prefix(&self.root).unwrap_or(Path::new("")).parent().unwrap_or(Path::new(""));
        self.names(below, Path::new(target)).map_err(|_| outside())?;
        symlink(target, &path).map_err(|e| self.failed(&path, &e))
    }

    /// Makes another name of a file that was unpacked before.
    pub fn hard_link(&self, name: &str, target: &str) -> Result<()> {
        let (path, from) = (self.free(name)?, self.place(target)?);
        match fs::symlink_metadata(&from) {
            Ok(meta) if meta.is_file() => fs::hard_link(&from, &path).map_err(|e| self.failed(&path, &e)),
            _ => Err(self.damaged(format!("the entry {name} is a link to {target}, which is no file"))),
        }
    }

    /// Returns the path of an entry, at which nothing is.
    fn free(&self, name: &str) -> Result<PathBuf> {
        let path = self.place(name)?;
        if path == self.root {
            return Err(self.damaged("an entry has no name"));
        }
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => Err(self.damaged(format!("the entry {name} is a directory and a file"))),
            Ok(_) => fs::remove_file(&path).map(|()| path.clone()).map_err(|e| self.failed(&path, &e)),
            Err(_) => Ok(path),
        }
    }
}
