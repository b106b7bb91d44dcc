//! The name space that is asked for: files that are there, and files that come and go.
//!
//! ```text
//!   /yunti-nn/base-N/d00000/f0000000   N files, a thousand a directory, made once and kept
//!   /yunti-nn/run-R/c00000/..          what connection 0 of run R makes, renames and deletes; removed at the end
//!   /yunti-nn/run-R/base/..            in place of base-N, where there are DataNodes
//! ```

pub const ROOT: &str = "/yunti-nn";
pub const FILES_A_DIRECTORY: u64 = 1000;

#[derive(Clone, Debug)]
pub struct NameSpace {
    pub files: u64,
    /// Tells this run's files from those of others.
    pub run: u64,
    /// Of this run alone: blocks are on DataNodes that go with it.
    pub has_blocks: bool,
}

impl NameSpace {
    pub fn base(&self) -> String {
        if self.has_blocks { format!("{}/base", self.run()) } else { format!("{ROOT}/base-{}", self.files) }
    }

    /// There when all files are: it is made last.
    pub fn is_made(&self) -> String {
        format!("{}/made", self.base())
    }

    pub fn directories(&self) -> u64 {
        self.files.div_ceil(FILES_A_DIRECTORY)
    }

    pub fn directory(&self, number: u64) -> String {
        format!("{}/d{number:05}", self.base())
    }

    pub fn file(&self, number: u64) -> String {
        format!("{}/f{number:07}", self.directory(number / FILES_A_DIRECTORY))
    }

    pub fn run(&self) -> String {
        format!("{ROOT}/run-{:016x}", self.run)
    }
}

/// Files of a connection's own.
#[derive(Debug)]
pub struct Own {
    folder: String,
    next: u64,
    /// Those that are there.
    files: Vec<u64>,
}

impl Own {
    pub fn of(names: &NameSpace, connection: usize) -> Own {
        Own { folder: format!("{}/c{connection:05}", names.run()), next: 0, files: Vec::new() }
    }

    fn name(&self, number: u64) -> String {
        format!("{}/{number:07}", self.folder)
    }

    pub fn fresh(&mut self) -> (u64, String) {
        self.next += 1;
        (self.next, self.name(self.next))
    }

    pub fn is_there(&mut self, number: u64) {
        self.files.push(number);
    }

    /// One of those that are there, and is not from here on.
    pub fn take(&mut self, rng: &mut fastrand::Rng) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let at = rng.usize(..self.files.len());
        let number = self.files.swap_remove(at);
        Some(self.name(number))
    }
}
