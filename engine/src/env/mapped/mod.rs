//! Input files mapped side by side into one range of addresses.
//! One of the listed files with `unsafe`: it maps files and reads mapped bytes.
//!
//! ```text
//!   base                                                                        base + reserved
//!    | file 0 ............ | end byte, zeros | file 1 ...... | end byte, zeros | ..        |
//!    ^ page                                  ^ page
//! ```
//!
//! A page that the kernel cannot read raises SIGBUS: the file was truncated, or its disk failed. Its handler
//! (`bus_error.rs`) puts a page of zeros there and notes the address, so that the thread goes on and the job ends with
//! an error that names the file and the offset (`MappedFiles::check`).

mod bus_error;

use std::io;

use super::files::NamedFile;
use bus_error::{Range, page_bytes};
use yunti_base::{Code, Error, Result};

/// Readable bytes behind every file, so that loads of 64 bytes need no tail case.
const SLACK_BYTES: usize = 64;

/// Whole files, mapped for reading. Other processes can change the bytes at any time, as they can between two reads.
pub struct MappedFiles {
    base: *mut u8,
    reserved: usize,
    files: Vec<MappedFile>,
    range: &'static Range,
}

struct MappedFile {
    file: NamedFile,
    /// Offset of its first byte from the base.
    start: usize,
    len: usize,
}

// SAFETY: the value owns its range of addresses, and all access through &self only reads.
unsafe impl Send for MappedFiles {}
// SAFETY: as above.
unsafe impl Sync for MappedFiles {}

impl MappedFiles {
    /// Maps files of the given lengths. `end`: a byte to be seen behind the last byte of each file.
    ///
    /// Returns None if a file cannot be mapped (a network file system, a file without pages, no addresses left): the
    /// caller reads the files instead.
    pub fn map(files: Vec<(NamedFile, u64)>, end: Option<u8>) -> Option<MappedFiles> {
        let page = page_bytes();
        let mut reserved = 0usize;
        let mut placed = Vec::with_capacity(files.len());
        for (file, len) in files {
            let len = usize::try_from(len).ok()?;
            placed.push(MappedFile { file, start: reserved, len });
            reserved = reserved.checked_add(len.checked_add(SLACK_BYTES)?.next_multiple_of(page))?;
        }
        let range = Range::take()?;
        let base = match reserve(reserved) {
            Ok(base) => base,
            Err(_) => {
                range.release();
                return None;
            }
        };
        let mapped = MappedFiles { base, reserved, files: placed, range };
        range.watch(base as usize, base as usize + reserved);
        for file in &mapped.files {
            let at = base.wrapping_add(file.start);
            if file.len == 0 {
                continue;
            }
            // SAFETY: [at, at + len) lies in the range that was just reserved and that nothing points into.
            unsafe { file.file.file().map_over(at, file.len) }.ok()?;
        }
        if let Some(byte) = end {
            mapped.files.iter().try_for_each(|file| mapped.put_end(file, byte)).ok()?;
        }
        Some(mapped)
    }

    /// Writes the byte behind a file's end, into a private copy of the page.
    fn put_end(&self, file: &MappedFile, byte: u8) -> io::Result<()> {
        let page = page_bytes();
        let at = file.start + file.len;
        let first = self.base.wrapping_add(at / page * page);
        // SAFETY: the page belongs to the range; it is a private mapping, so that the file does not change.
        if unsafe { libc::mprotect(first.cast(), page, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the byte is in the page that was just made writable; nothing else refers to it yet. If the file was
        // truncated before, the handler of SIGBUS puts a writable page there.
        unsafe { self.base.add(at).write_volatile(byte) };
        Ok(())
    }

    /// Returns the address of the first byte; offsets count from it.
    pub fn base(&self) -> *const u8 {
        self.base
    }

    /// Returns the bytes of addresses reserved: every offset is below.
    pub fn reserved(&self) -> usize {
        self.reserved
    }

    /// Returns the offset of a file's first byte from the base.
    pub fn start(&self, file: usize) -> usize {
        self.files[file].start
    }

    /// Returns the path of a file.
    pub fn path(&self, file: usize) -> &str {
        self.files[file].file.path()
    }

    /// Returns the bytes of a file.
    pub fn file(&self, file: usize) -> &[u8] {
        let MappedFile { start, len, .. } = self.files[file];
        self.bytes(start, len)
    }

    /// Returns `len` bytes at an offset. Panics if they are not within the range.
    #[inline]
    pub fn bytes(&self, at: usize, len: usize) -> &[u8] {
        assert!(at <= self.reserved && len <= self.reserved - at);
        // SAFETY: the range stays mapped as long as self, and every page of it can be read: a page that the kernel
        // cannot fetch is replaced by zeros. Another process may change bytes of a file under the slice. No code above
        // takes a length or an address from them without a check against the slice.
        unsafe { std::slice::from_raw_parts(self.base.add(at), len) }
    }

    /// Returns all bytes from an offset on.
    #[inline]
    pub fn from(&self, at: usize) -> &[u8] {
        self.bytes(at, self.reserved.saturating_sub(at))
    }

    /// Fetches the pages of bytes [from, to) of a file at once, which costs less than a fault a page.
    ///
    /// Fails with `Code::Input`, path and offset if the file is shorter by now or cannot be read.
    pub fn page_in(&self, file: usize, from: usize, to: usize) -> Result<()> {
        let MappedFile { file, start, len } = &self.files[file];
        let page = page_bytes();
        let (from, to) = (from / page * page, to.min(*len).next_multiple_of(page));
        let at = self.base.wrapping_add(start + from);
        file.file().page_in(at, to - from).map_err(|e| changed(file, from, Some(&e)))?;
        self.check()
    }

    /// Returns true if a page could not be read.
    #[inline]
    pub fn is_faulty(&self) -> bool {
        self.range.fault() != 0
    }

    /// Fails with `Code::Input`, path and offset if a page could not be read.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.is_faulty() { Err(self.fault()) } else { Ok(()) }
    }

    #[cold]
    fn fault(&self) -> Error {
        let offset = self.range.fault() - self.base as usize;
        let number = self.files.partition_point(|file| file.start <= offset).saturating_sub(1);
        let MappedFile { file, start, .. } = &self.files[number];
        changed(file, offset - start, None)
    }

    /// Fails with `Code::Input` if a page could not be read, or if a file is shorter than when it was mapped.
    pub fn check_lengths(&self) -> Result<()> {
        self.check()?;
        for MappedFile { file, len, .. } in &self.files {
            let now = file.len()?;
            if now < *len as u64 {
                return Err(changed(file, now as usize, None));
            }
        }
        Ok(())
    }
}

impl Drop for MappedFiles {
    fn drop(&mut self) {
        self.range.release();
        // SAFETY: the range belongs to this value, and no slice of it outlives the value.
        unsafe { libc::munmap(self.base.cast(), self.reserved) };
    }
}

fn changed(file: &NamedFile, offset: usize, cause: Option<&io::Error>) -> Error {
    let what = "the file was truncated, or cannot be read any more";
    match cause {
        // The kernel has no other word for a page behind the end of the file.
        Some(e) if e.raw_os_error() == Some(libc::EFAULT) => Error::new(Code::Input, what),
        Some(e) => Error::io(Code::Input, what, e),
        None => Error::new(Code::Input, what),
    }
    .at_path(file.path())
    .at_offset(offset as u64)
    .hint("run the job again when no other program changes the file")
}

fn reserve(len: usize) -> io::Result<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches nothing that exists.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(base.cast()) }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::super::real::RealFiles;
    use super::*;

    fn file(name: &str, bytes: &[u8]) -> (PathBuf, (NamedFile, u64)) {
        let path = std::env::temp_dir().join(format!("yunti-mapped-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let file = NamedFile::open(&RealFiles, &path, Code::Input).unwrap();
        (path, (file, bytes.len() as u64))
    }

    #[test]
    fn shows_files_with_the_byte_behind_them() {
        let page = page_bytes();
        let lens = [0, 1, page - 65, page - 64, page - 1, page, page + 1, 3 * page];
        let contents: Vec<Vec<u8>> = lens.iter().map(|&n| (0..n).map(|i| i as u8 | 1).collect()).collect();
        let (paths, files): (Vec<_>, Vec<_>) =
            contents.iter().enumerate().map(|(i, bytes)| file(&format!("shown-{i}"), bytes)).unzip();
        let mapped = MappedFiles::map(files, Some(b'\n')).unwrap();
        for (i, bytes) in contents.iter().enumerate() {
            mapped.page_in(i, 0, bytes.len()).unwrap();
            assert_eq!(mapped.file(i), bytes);
            assert!(mapped.start(i).is_multiple_of(page));
            assert_eq!(mapped.bytes(mapped.start(i) + bytes.len(), 64)[0], b'\n', "{i}");
        }
        mapped.check_lengths().unwrap();
        drop(mapped);
        // Private: the end bytes are not in the files.
        for (path, bytes) in paths.iter().zip(&contents) {
            assert_eq!(&std::fs::read(path).unwrap(), bytes);
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn a_truncated_file_is_an_error_with_its_offset() {
        let page = page_bytes();
        let (path, opened) = file("truncated", &vec![7; 4 * page]);
        let mapped = MappedFiles::map(vec![opened], Some(b'\n')).unwrap();
        assert_eq!(mapped.file(0)[page], 7);
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(page as u64).unwrap();
        assert!(!mapped.is_faulty());
        // The page is read as zeros, and the thread goes on.
        assert_eq!(mapped.file(0)[2 * page + 5], 0);
        let error = mapped.check().unwrap_err();
        assert_eq!(error.code(), Code::Input);
        let text = error.to_string();
        assert!(text.contains(path.to_str().unwrap()) && text.contains(&(2 * page + 5).to_string()), "{text}");
        assert!(mapped.page_in(0, 3 * page, 4 * page).is_err());
        drop(mapped);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_cut_within_a_page_is_found_by_the_length() {
        let (path, opened) = file("cut", &[7; 100]);
        let mapped = MappedFiles::map(vec![opened], None).unwrap();
        mapped.check_lengths().unwrap();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(60).unwrap();
        assert_eq!(mapped.file(0)[70], 0);
        assert!(mapped.check_lengths().unwrap_err().to_string().contains("60"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn files_that_cannot_be_mapped_are_left_to_the_reader() {
        struct Refuses;
        impl super::super::files::Stream for Refuses {
            fn read(&self, _: &mut [u8]) -> io::Result<usize> {
                Ok(0)
            }
            fn write(&self, _: &[u8]) -> io::Result<usize> {
                Ok(0)
            }
        }
        let stream = Arc::new(super::super::files::StreamFile(Refuses));
        let named = NamedFile::new(stream, "x".as_ref(), Code::Input);
        assert!(MappedFiles::map(vec![(named, 10)], None).is_none());
    }
}
