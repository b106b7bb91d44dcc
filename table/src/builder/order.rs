//! Keys in their order: by the first 16 bytes of each, in runs beyond the budget; keys with the same 16 bytes by their
//! rows, which are in the file by then.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::output::unnamed;

/// A key's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// First 16 bytes of the key: [`crate::index::order::long_begin`].
    pub begin: u128,
    pub slot: u64,
}

const BYTES: usize = 24;

/// Places of all keys.
pub struct Places {
    held: Vec<Place>,
    limit: usize,
    file: Option<File>,
    /// Places of each run in the file.
    runs: Vec<usize>,
}

impl Places {
    pub fn new(budget_bytes: u64) -> Places {
        let limit = (budget_bytes / size_of::<Place>() as u64).max(1 << 12) as usize;
        Places { held: Vec::new(), limit, file: None, runs: Vec::new() }
    }

    pub fn add(&mut self, places: &[Place], beside: &Path) -> io::Result<()> {
        for places in places.chunks(self.limit.div_ceil(8)) {
            if self.held.len() + places.len() > self.limit {
                self.spill(beside)?;
            }
            self.held.extend_from_slice(places);
        }
        Ok(())
    }

    fn spill(&mut self, beside: &Path) -> io::Result<()> {
        self.held.sort_unstable();
        let file = match self.file.take() {
            Some(file) => file,
            None => unnamed(beside)?,
        };
        let mut out = BufWriter::with_capacity(1 << 20, file);
        for place in &self.held {
            out.write_all(&place.begin.to_le_bytes())?;
            out.write_all(&place.slot.to_le_bytes())?;
        }
        self.file = Some(out.into_inner().map_err(io::IntoInnerError::into_error)?);
        self.runs.push(self.held.len());
        self.held.clear();
        Ok(())
    }

    /// Calls `group` with the slots of each begin, in the order of begins.
    pub fn by_begin(mut self, mut group: impl FnMut(u128, &mut Vec<u64>) -> io::Result<()>) -> io::Result<()> {
        self.held.sort_unstable();
        let mut runs: Vec<Run> = Vec::new();
        if let Some(file) = &self.file {
            let mut at = 0;
            for count in &self.runs {
                let mut own = File::open(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)))?;
                own.seek(SeekFrom::Start(at))?;
                at += (count * BYTES) as u64;
                runs.push(Run::Spilled { input: BufReader::with_capacity(1 << 18, own), left: *count });
            }
        }
        runs.push(Run::Held { rest: std::mem::take(&mut self.held).into_iter() });
        let mut heap = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            if let Some(place) = run.next()? {
                heap.push(Reverse((place, number)));
            }
        }
        let mut slots: Vec<u64> = Vec::new();
        let mut begin = 0;
        while let Some(Reverse((place, number))) = heap.pop() {
            if let Some(place) = runs[number].next()? {
                heap.push(Reverse((place, number)));
            }
            if place.begin != begin && !slots.is_empty() {
                group(begin, &mut slots)?;
                slots.clear();
            }
            begin = place.begin;
            slots.push(place.slot);
        }
        if slots.is_empty() { Ok(()) } else { group(begin, &mut slots) }
    }
}

/// Places in their order.
enum Run {
    Held { rest: std::vec::IntoIter<Place> },
    Spilled { input: BufReader<File>, left: usize },
}

impl Run {
    fn next(&mut self) -> io::Result<Option<Place>> {
        match self {
            Run::Held { rest } => Ok(rest.next()),
            Run::Spilled { left: 0, .. } => Ok(None),
            Run::Spilled { input, left } => {
                *left -= 1;
                let (mut begin, mut slot) = ([0; 16], [0; 8]);
                input.read_exact(&mut begin)?;
                input.read_exact(&mut slot)?;
                Ok(Some(Place { begin: u128::from_le_bytes(begin), slot: u64::from_le_bytes(slot) }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_merged() {
        for limit in [1 << 12, 1 << 20] {
            let mut places = Places { limit, ..Places::new(0) };
            let all: Vec<Place> =
                (0..20_000_u64).map(|slot| Place { begin: u128::from(slot * 7919 % 5000), slot }).collect();
            for some in all.chunks(3000) {
                places.add(some, &std::env::temp_dir().join("runs")).unwrap();
            }
            assert_eq!(places.runs.is_empty(), limit == 1 << 20);
            let mut found = Vec::new();
            places
                .by_begin(|begin, slots| {
                    found.extend(slots.iter().map(|slot| Place { begin, slot: *slot }));
                    Ok(())
                })
                .unwrap();
            let mut expected = all;
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}
