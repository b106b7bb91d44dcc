//! The file of a table: sections are written beside it, and renamed into place when all is there.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use yunti_base::process::unique_token;
use yunti_base::{Code, Error, Result};

use super::rows::{Duplicates, Rows};
use crate::format::header::{self, Header, Place, Sections};
use crate::format::sums::Sums;
use crate::index::keys;
use crate::index::pilots::{self, Found};
use crate::index::place::Sizes;

/// Seeds that are tried. One of a million tables needs a second one.
const SEEDS: u64 = 16;
/// Slots with a common base of their ends.
const GROUP: usize = 256;

/// Rows by slot.
struct Placed {
    seed: u64,
    sizes: Sizes,
    pilots: Vec<u8>,
    /// Number of the row of each slot.
    rows: Vec<Option<u32>>,
    count: u64,
}

/// Writes a table and returns the number of its keys. A file at `path` is replaced at once; readers keep the old one.
pub fn write(path: &Path, rows: &Rows, duplicates: Duplicates) -> Result<u64> {
    if u32::try_from(rows.len()).is_err() {
        return Err(Error::new(Code::Usage, "a table has at most 4,294,967,295 rows in this version"));
    }
    let placed = place(rows, duplicates)?;
    let fresh = Fresh::beside(path);
    let failed =
        |e: std::io::Error| Error::io(Code::Output, "cannot write the table", &e).at_path(path.to_string_lossy());
    sections(&fresh.0, rows, &placed).map_err(failed)?;
    fs::rename(&fresh.0, path).map_err(failed)?;
    Ok(placed.count)
}

/// File beside another, which is removed unless it was renamed.
struct Fresh(PathBuf);

impl Fresh {
    fn beside(path: &Path) -> Fresh {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.tmp", unique_token()));
        Fresh(name.into())
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn place(rows: &Rows, duplicates: Duplicates) -> Result<Placed> {
    for seed in 0..SEEDS {
        if let Some(placed) = with_seed(rows, duplicates, seed)? {
            return Ok(placed);
        }
    }
    Err(Error::new(Code::Internal, format!("no index for {} keys with {SEEDS} seeds", rows.len())))
}

/// Places rows with one seed; `None` if that seed has no index.
fn with_seed(rows: &Rows, duplicates: Duplicates, seed: u64) -> Result<Option<Placed>> {
    let mut key = Vec::new();
    let mut hashed: Vec<(u64, u32)> = (0..rows.len())
        .map(|row| {
            rows.key(row, &mut key);
            (keys::hash(&key, seed), row as u32)
        })
        .collect();
    // In the order of hashes, and so of parts.
    hashed.sort_unstable();
    if !without_duplicates(rows, duplicates, &mut hashed)? {
        return Ok(None);
    }
    let sizes = Sizes::of(hashed.len() as u64);
    let mut placed = Placed {
        seed,
        sizes,
        pilots: Vec::with_capacity(sizes.parts as usize * sizes.buckets as usize),
        rows: vec![None; sizes.parts as usize * sizes.slots as usize],
        count: hashed.len() as u64,
    };
    let mut rest = hashed.as_slice();
    for part in 0..sizes.parts {
        let (own, others) = rest.split_at(rest.partition_point(|(hash, _)| sizes.part(*hash) <= part));
        rest = others;
        let hashes: Vec<u64> = own.iter().map(|(hash, _)| *hash).collect();
        let Found::Pilots(pilots) = pilots::find(&hashes, &sizes) else { return Ok(None) };
        let first = part as usize * sizes.slots as usize;
        for (hash, row) in own {
            let slot = sizes.slot(*hash, pilots[sizes.bucket(*hash) as usize]) as usize;
            placed.rows[first + slot] = Some(*row);
        }
        placed.pilots.extend_from_slice(&pilots);
    }
    Ok(Some(placed))
}

/// Leaves one row of each key. Returns false if two keys have one hash.
fn without_duplicates(rows: &Rows, duplicates: Duplicates, hashed: &mut Vec<(u64, u32)>) -> Result<bool> {
    if hashed.windows(2).all(|two| two[0].0 != two[1].0) {
        return Ok(true);
    }
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let mut kept: Vec<(u64, u32)> = Vec::with_capacity(hashed.len());
    for (hash, row) in hashed.iter().copied() {
        match kept.last_mut().filter(|(last, _)| *last == hash) {
            None => kept.push((hash, row)),
            Some((_, before)) => {
                rows.key(*before as usize, &mut one);
                rows.key(row as usize, &mut other);
                match duplicates {
                    _ if one != other => return Ok(false),
                    Duplicates::Refuse => {
                        let what = format!("rows {} and {} have the same key", *before + 1, row + 1);
                        return Err(Error::new(Code::Input, what).hint("keep one: --duplicates first, or last"));
                    }
                    Duplicates::KeepFirst => {}
                    Duplicates::KeepLast => *before = row,
                }
            }
        }
    }
    *hashed = kept;
    Ok(true)
}

/// Output with the checksums of what is written.
struct Summed {
    out: BufWriter<File>,
    sums: Sums,
    at: u64,
}

impl Summed {
    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.sums.add(bytes);
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Goes to the section's begin, which is at or behind the last end.
    fn begin(&mut self, place: Place) -> std::io::Result<()> {
        let zeros = vec![0; (place.begin - self.at) as usize];
        self.put(&zeros)
    }
}

fn sections(path: &Path, rows: &Rows, placed: &Placed) -> std::io::Result<()> {
    let schema = rows.schema.encode();
    let fixed = rows.schema.row_bytes();
    let slots = placed.rows.len() as u64;
    let used: Vec<u8> = placed
        .rows
        .chunks(64)
        .flat_map(|slots| {
            let bits = slots.iter().enumerate().map(|(at, row)| u64::from(row.is_some()) << at);
            bits.fold(0, std::ops::BitOr::bitor).to_le_bytes()
        })
        .collect();
    let length = |row: &Option<u32>| row.map_or(0, |row| rows.row(row as usize).len() as u64);
    let (mut bases, mut ends) = (Vec::new(), Vec::new());
    let mut row_bytes = 0_u64;
    if fixed.is_none() {
        for group in placed.rows.chunks(GROUP) {
            bases.extend_from_slice(&row_bytes.to_le_bytes());
            let mut end = 0_u64;
            for row in group {
                end += length(row);
                let end = u32::try_from(end).map_err(|_| std::io::Error::other("256 rows have more than 4 GiB"))?;
                ends.extend_from_slice(&end.to_le_bytes());
            }
            row_bytes += end;
        }
    }
    let dictionaries = dictionaries(rows);
    let mut at = header::BYTES as u64;
    let mut next = |bytes: u64| {
        let place = Place { begin: at.div_ceil(8) * 8, bytes };
        at = place.end();
        place
    };
    let mut places = Sections {
        schema: next(schema.len() as u64),
        pilots: next(placed.pilots.len() as u64),
        used: next(used.len() as u64),
        bases: next(bases.len() as u64),
        ends: next(ends.len() as u64),
        rows: next(fixed.map_or(row_bytes, |width| slots * width as u64)),
        dictionaries: next(dictionaries.len() as u64),
        sums: Place::default(),
    };
    let end = places.dictionaries.end();
    places.sums = Place { begin: end, bytes: crate::format::sums::blocks(end) * 4 };
    let header = Header {
        rows: placed.count,
        seed: placed.seed,
        parts: placed.sizes.parts,
        buckets: placed.sizes.buckets,
        slots: placed.sizes.slots,
        row_bytes: fixed.unwrap_or(0) as u32,
        sections: places,
    };
    let file = File::create(path)?;
    let mut out = Summed { out: BufWriter::with_capacity(1 << 20, file), sums: Sums::default(), at: 0 };
    out.put(&header.encode())?;
    let small = [
        (places.schema, &schema),
        (places.pilots, &placed.pilots),
        (places.used, &used),
        (places.bases, &bases),
        (places.ends, &ends),
    ];
    for (place, bytes) in small {
        out.begin(place)?;
        out.put(bytes)?;
    }
    out.begin(places.rows)?;
    // A slot without a row has the bytes of some row: its key has another slot, so that no lookup finds it here.
    let filler = placed.rows.iter().flatten().next().copied();
    for row in &placed.rows {
        if let Some(row) = row.or(filler.filter(|_| fixed.is_some())) {
            out.put(rows.row(row as usize))?;
        }
    }
    out.begin(places.dictionaries)?;
    out.put(&dictionaries)?;
    let sums = std::mem::take(&mut out.sums).finish();
    out.out.write_all(&sums)?;
    out.out.into_inner().map_err(|e| e.into_error())?.sync_all()
}

/// Returns the dictionaries: for each the number of texts and their bytes, 8 bytes each; ends, 4 bytes each; texts.
fn dictionaries(rows: &Rows) -> Vec<u8> {
    let mut out = Vec::new();
    for dictionary in &rows.dictionaries {
        out.extend_from_slice(&(dictionary.ends.len() as u64).to_le_bytes());
        out.extend_from_slice(&(dictionary.texts.len() as u64).to_le_bytes());
        dictionary.ends.iter().for_each(|end| out.extend_from_slice(&end.to_le_bytes()));
        out.extend_from_slice(&dictionary.texts);
        out.resize(out.len().div_ceil(8) * 8, 0);
    }
    out
}
