//! Use of pages that were read ahead. Flags of randomly chosen folios are read several times a second, until a folio
//! is used or dropped (/proc/kpageflags, Documentation/admin-guide/mm/pagemap.rst).
//!
//! A program at the folio's end would miss uses, because reclaim clears the referenced flag before it drops the folio.
//! A program at each use would slow each use down.

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
/// Interval of reading flags.
const EVERY: Duration = Duration::from_millis(100);
/// Folios. With more, the share of folios that are followed is halved.
const LIVE_MAX: usize = 400;
/// Folios. With fewer, the share of folios that are followed is doubled.
const LIVE_FEW: usize = 100;
const ONE_OF_MAX: u32 = 1 << 16;

/// Folio that is followed.
#[derive(Clone, Copy, Debug)]
struct Live {
    frame: u64,
    /// Pages that it stands for.
    pages: u64,
}

/// Outcome of pages that were read ahead, in pages that the followed folios stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadAheadUse {
    /// Folios followed.
    pub folios: u64,
    /// Pages used.
    pub used: u64,
    /// Pages dropped without use.
    pub dropped_unused: u64,
    /// Pages in the cache and unused at the end.
    pub not_yet: u64,
}

impl ReadAheadUse {
    /// Returns all pages.
    pub fn all(&self) -> u64 {
        self.used + self.dropped_unused + self.not_yet
    }

    /// Returns the pages that were not used.
    pub fn never_used(&self) -> u64 {
        self.dropped_unused + self.not_yet
    }
}

/// Follows folios that were read ahead.
pub struct ReadAheadTracker {
    flags: File,
    live: HashMap<Folio, Live>,
    of_files: HashMap<FileId, ReadAheadUse>,
    one_of: u32,
    last_check: Instant,
}

impl ReadAheadTracker {
    /// Starts following. Fails if page flags cannot be read.
    pub fn follow(events: &mut CacheEvents) -> Result<ReadAheadTracker> {
        let failed = |e: std::io::Error| Error::io(Code::Input, "page flags cannot be read", &e).at_path(PATH);
        let flags = File::open(PATH).map_err(failed)?;
        flags.read_at(&mut [0; 8], 0).map_err(failed)?;
        events.follow_one_of(1)?;
        Ok(ReadAheadTracker {
            flags,
            live: HashMap::new(),
            of_files: HashMap::new(),
            one_of: 1,
            last_check: Instant::now(),
        })
    }

    /// Takes events, and reads flags when the interval is over.
    pub fn pass(&mut self, events: &mut CacheEvents) -> Result<()> {
        self.take(events);
        if self.last_check.elapsed() < EVERY {
            return Ok(());
        }
        self.check_flags(events);
        self.last_check = Instant::now();
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

    /// Ends, and returns the outcome by file. Folios that are left at the end count as unused so far.
    pub fn end(mut self, events: &mut CacheEvents) -> HashMap<FileId, ReadAheadUse> {
        let _ = events.follow_one_of(0);
        self.take(events);
        self.check_flags(events);
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

    fn check_flags(&mut self, events: &CacheEvents) {
        let (flags, of_files) = (&self.flags, &mut self.of_files);
        self.live.retain(|folio, live| {
            let mut page_flags = [0; 8];
            let read = flags.read_exact_at(&mut page_flags, live.frame * 8);
            if read.is_err() || u64::from_le_bytes(page_flags) & (REFERENCED | ACTIVE | MAPPED) == 0 {
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
