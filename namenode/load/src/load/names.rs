//! Paths of a load: files to read, and files that connections create and remove.
//!
//! ```text
//!   /yunti-nn/base-N/d00000/f0000000   N files to read, a thousand a directory, created once and kept
//!   /yunti-nn/run-R/c00000/..          files of connection 0 of run R, removed at the end
//!   /yunti-nn/run-R/base/..            replaces base-N in runs with DataNodes
//! ```

pub const ROOT: &str = "/yunti-nn";
pub const FILES_A_DIRECTORY: u64 = 1000;

/// Paths of one run.
#[derive(Clone, Debug)]
pub struct NameSpace {
    pub files: u64,
    /// Random number of the run.
    pub run: u64,
    /// True if files have blocks; these exist only on the run's own DataNodes.
    pub has_blocks: bool,
}

impl NameSpace {
    pub fn base(&self) -> String {
        if self.has_blocks { format!("{}/base", self.run()) } else { format!("{ROOT}/base-{}", self.files) }
    }

    /// Returns the marker directory, which is created after all files.
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

/// Files of one connection.
#[derive(Debug)]
pub struct OwnFiles {
    folder: String,
    next: u64,
    /// Numbers of the existing files.
    files: Vec<u64>,
}

impl OwnFiles {
    pub fn of(names: &NameSpace, connection: usize) -> OwnFiles {
        OwnFiles { folder: format!("{}/c{connection:05}", names.run()), next: 0, files: Vec::new() }
    }

    fn name(&self, number: u64) -> String {
        format!("{}/{number:07}", self.folder)
    }

    /// Returns an unused number and its path.
    pub fn fresh(&mut self) -> (u64, String) {
        self.next += 1;
        (self.next, self.name(self.next))
    }

    /// Adds a file that now exists.
    pub fn is_there(&mut self, number: u64) {
        self.files.push(number);
    }

    /// Removes a random file from the list and returns its path.
    pub fn take(&mut self, rng: &mut fastrand::Rng) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let at = rng.usize(..self.files.len());
        let number = self.files.swap_remove(at);
        Some(self.name(number))
    }
}
