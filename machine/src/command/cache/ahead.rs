//! What was read ahead, and whether anybody has used it: of folios taken by chance, marks of the kernel's pages are looked at several times a second
//! (/proc/kpageflags, Documentation/admin-guide/mm/pagemap.rst), until they are used, or dropped.
//!
//! The end of a folio does not tell it: reclaim takes the mark of one use away before it drops it. And who sees each use pays for each.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use yunti_base::{Code, Error, Result};

use yunti_probe::kernel::system::{CacheEvents, Fate, FileId, Folio};

const PATH: &str = "/proc/kpageflags";
const REFERENCED: u64 = 1 << 2;
const ACTIVE: u64 = 1 << 6;
const MAPPED: u64 = 1 << 11;
/// How often marks are looked at.
const EVERY: Duration = Duration::from_millis(100);
/// More are not looked at each time: fewer are followed then.
const LIVE_MAX: usize = 1000;
const LIVE_FEW: usize = 200;
const ONE_OF_MAX: u32 = 1 << 16;

#[derive(Clone, Copy, Debug)]
struct Live {
    frame: u64,
    /// For which it stands.
    pages: u64,
}

/// Of pages that were read ahead, as far as folios were followed; in pages for which these stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    pub folios: u64,
    pub used: u64,
    pub dropped_unused: u64,
    /// There, and not used until the end.
    pub not_yet: u64,
}

impl Uses {
    pub fn all(&self) -> u64 {
        self.used + self.dropped_unused + self.not_yet
    }

    pub fn never_used(&self) -> u64 {
        self.dropped_unused + self.not_yet
    }
}

pub struct Ahead {
    flags: File,
    live: HashMap<Folio, Live>,
    of_files: HashMap<FileId, Uses>,
    one_of: u32,
    looked: Instant,
}

impl Ahead {
    pub fn follow(events: &mut CacheEvents) -> Result<Ahead> {
        let failed = |e: std::io::Error| Error::io(Code::Input, "marks of pages cannot be read", &e).at_path(PATH);
        let flags = File::open(PATH).map_err(failed)?;
        flags.read_at(&mut [0; 8], 0).map_err(failed)?;
        events.follow_one_of(1)?;
        Ok(Ahead { flags, live: HashMap::new(), of_files: HashMap::new(), one_of: 1, looked: Instant::now() })
    }

    pub fn pass(&mut self, events: &mut CacheEvents) -> Result<()> {
        self.take(events);
        if self.looked.elapsed() < EVERY {
            return Ok(());
        }
        self.look(events);
        self.looked = Instant::now();
        let wanted = match self.live.len() {
            n if n > LIVE_MAX => (self.one_of * 2).min(ONE_OF_MAX),
            n if n < LIVE_FEW => (self.one_of / 2).max(1),
            _ => self.one_of,
        };
        if wanted != self.one_of {
            self.one_of = wanted;
            events.follow_one_of(wanted)?;
        }
        Ok(())
    }

    /// What is still there at the end was not used until then.
    pub fn end(mut self, events: &mut CacheEvents) -> HashMap<FileId, Uses> {
        let _ = events.follow_one_of(0);
        self.take(events);
        self.look(events);
        for (folio, live) in &self.live {
            let uses = self.of_files.entry(folio.file).or_default();
            uses.folios += 1;
            uses.not_yet += live.pages;
        }
        self.of_files
    }

    fn take(&mut self, events: &mut CacheEvents) {
        let (live, of_files) = (&mut self.live, &mut self.of_files);
        events.take_fates(|folio, fate| match fate {
            Fate::Came { frame, pages, weight } => {
                live.insert(folio, Live { frame, pages: u64::from(pages) * u64::from(weight) });
            }
            Fate::Gone { was_used } => {
                if let Some(gone) = live.remove(&folio) {
                    let uses = of_files.entry(folio.file).or_default();
                    uses.folios += 1;
                    *(if was_used { &mut uses.used } else { &mut uses.dropped_unused }) += gone.pages;
                }
            }
        });
    }

    fn look(&mut self, events: &CacheEvents) {
        let (flags, of_files) = (&self.flags, &mut self.of_files);
        self.live.retain(|folio, live| {
            let mut marks = [0; 8];
            let read = flags.read_exact_at(&mut marks, live.frame * 8);
            if read.is_err() || u64::from_le_bytes(marks) & (REFERENCED | ACTIVE | MAPPED) == 0 {
                return true;
            }
            events.forget(*folio);
            let uses = of_files.entry(folio.file).or_default();
            uses.folios += 1;
            uses.used += live.pages;
            false
        });
    }
}
