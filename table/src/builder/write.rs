//! Rows to the file of a table.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use yunti_base::{Code, Error, Result};

use super::Settings;
use super::dictionary::Dictionary;
use super::gather::Gather;
use super::order::Places;
use super::output::Output;
use super::partitions::PARTITIONS;
use super::parts::{Part, Refused, Shape, in_parallel};
use super::sorted::{Counts, Sorted};
use crate::format::group::GROUP;
use crate::format::header::{self, FENCE, Header, Place, Sections};
use crate::format::sums::{self, BLOCK};
use crate::index::order;
use crate::index::place::Sizes;
use crate::read::{Options, Table};

/// Seeds that are tried. One of a thousand tables needs a second one.
const SEEDS: u64 = 16;
/// Parts of the index that each thread builds before all are written.
const WINDOW: usize = 2;

/// Numbers of a table that was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Built {
    pub keys: u64,
    pub rows: u64,
    pub bytes: u64,
}

fn failed(path: &Path) -> impl Fn(io::Error) -> Error + use<'_> {
    move |e| Error::io(Code::Output, "cannot write the table", &e).at_path(path.to_string_lossy())
}

/// Writes a table. A file at `path` is replaced at once; readers keep the old one.
pub fn write(path: &Path, mut gather: Gather, settings: &Settings) -> Result<Built> {
    let dictionaries = std::mem::take(&mut gather.dictionaries).into_iter().map(Dictionary::sorted);
    let (dictionaries, ranks): (Vec<_>, Vec<_>) = dictionaries.unzip();
    let texts = Texts { bytes: dictionaries.concat(), ranks };
    for seed in 0..SEEDS {
        if seed > 0 {
            gather = gather.with_seed(seed, settings)?;
        }
        gather.partitions.finish(path).map_err(failed(path))?;
        if let Some(built) = with_seed(path, &gather, settings, &texts)? {
            return Ok(built);
        }
    }
    Err(Error::new(Code::Internal, format!("no index for the keys with {SEEDS} seeds")))
}

/// Dictionaries as the file has them, and the new numbers of their texts.
struct Texts {
    bytes: Vec<u8>,
    ranks: Vec<Vec<u32>>,
}

/// Rows by partition. They are in memory, or all in the file of the partitions.
struct Partitioned<'a> {
    gather: &'a Gather,
    settings: &'a Settings,
    held: Vec<Sorted>,
}

impl Partitioned<'_> {
    /// Sorts all partitions and counts what stays; `None` if two keys have one hash.
    fn sort(&mut self) -> Result<Option<Counts>> {
        let is_spilled = self.gather.partitions.is_spilled();
        let one = |partition: usize| -> Result<(Option<Counts>, Option<Sorted>)> {
            let (counts, sorted) = self.load(partition)?;
            Ok((counts, (!is_spilled).then_some(sorted)))
        };
        let mut all = Counts::default();
        let mut is_unique = true;
        for loaded in in_parallel(self.settings.threads, PARTITIONS, one) {
            let (counts, sorted) = loaded?;
            is_unique &= counts.is_some();
            all.add(counts.unwrap_or_default());
            self.held.extend(sorted);
        }
        Ok(is_unique.then_some(all))
    }

    /// Returns the rows of a partition, and what was counted unless two keys have one hash.
    fn load(&self, partition: usize) -> Result<(Option<Counts>, Sorted)> {
        let failed = |e: io::Error| Error::io(Code::Output, "cannot read the rows of the table again", &e);
        let mut sorted = Sorted::of(self.gather.partitions.take(partition).map_err(failed)?);
        let counts = sorted.without_duplicates(self.gather, self.settings.duplicates)?;
        Ok((counts, sorted))
    }

    /// Gives the rows back, for another seed.
    fn give_back(self) {
        for (partition, sorted) in self.held.into_iter().enumerate() {
            self.gather.partitions.put_back(partition, sorted.chunks);
        }
    }
}

/// Writes a table with the seed of the gathered rows; `None` if another seed is needed.
fn with_seed(path: &Path, gather: &Gather, settings: &Settings, texts: &Texts) -> Result<Option<Built>> {
    let mut rows = Partitioned { gather, settings, held: Vec::new() };
    let Some(counts) = rows.sort()? else {
        rows.give_back();
        return Ok(None);
    };
    let has_lists = counts.rows > counts.keys;
    let row_bytes = gather.schema.row_bytes().filter(|_| !has_lists).unwrap_or(0);
    let mean = counts.row_bytes / counts.keys.max(1);
    // 16 rows of four times the mean are rare; a table that has them is written once more.
    let needs_four = mean > 1 << 10 || counts.row_bytes_max > 1 << 15;
    let mut shape = Shape {
        gather,
        sizes: Sizes::of(counts.keys, gather.seed),
        has_lists,
        is_sorted: settings.is_sorted,
        row_bytes,
        offset_bytes: match row_bytes {
            0 if needs_four => 4,
            0 => 2,
            _ => 0,
        },
        ranks: Shape::ranks_of(gather, &texts.ranks),
        filler: Vec::new(),
    };
    loop {
        match file(path, &rows, &mut shape, counts, &texts.bytes) {
            Ok(bytes) => return Ok(Some(Built { keys: counts.keys, rows: counts.rows, bytes })),
            Err(Refused::Seed) => {
                rows.give_back();
                return Ok(None);
            }
            Err(Refused::Offsets) => shape.offset_bytes = 4,
            Err(Refused::Error(e)) => return Err(e),
        }
    }
}

/// Returns the header of a table with these rows.
fn header(shape: &Shape<'_>, counts: Counts, schema_bytes: u64, dictionary_bytes: u64) -> Header {
    let sizes = shape.sizes;
    let slots = u64::from(sizes.parts) * u64::from(sizes.slots);
    let groups = if shape.row_bytes > 0 { 0 } else { slots.div_ceil(GROUP) };
    let row_bytes = match (shape.row_bytes as u64, shape.has_lists) {
        (0, true) => counts.listed_bytes,
        (0, false) => counts.row_bytes,
        (width, _) => slots * width,
    };
    let mut at = header::BYTES as u64;
    let mut next = |bytes: u64| {
        let place = Place { begin: at.next_multiple_of(8), bytes };
        at = place.end();
        place
    };
    let mut header = Header {
        has_lists: shape.has_lists,
        is_sorted: shape.is_sorted,
        keys: counts.keys,
        rows: counts.rows,
        seed: shape.gather.seed,
        parts: sizes.parts,
        buckets: sizes.buckets(),
        slots: sizes.slots,
        row_bytes: shape.row_bytes as u32,
        offset_bytes: shape.offset_bytes as u32,
        sections: Sections::default(),
        shard: shape.gather.shard,
    };
    let ordered = if shape.is_sorted { counts.keys } else { 0 };
    let group_bytes = header.group_bytes();
    header.sections = Sections {
        schema: next(schema_bytes),
        pilots: next(sizes.all_buckets),
        used: next(if shape.row_bytes > 0 { slots.div_ceil(64) * 8 } else { 0 }),
        groups: next(groups * group_bytes),
        rows: next(row_bytes),
        dictionaries: next(dictionary_bytes),
        order: next(ordered * header.order_bytes()),
        fences: next(ordered.div_ceil(FENCE) * 8),
        sums: Place::default(),
    };
    let end = at.next_multiple_of(8);
    header.sections.sums = Place { begin: end, bytes: sums::blocks(end) * 4 };
    header
}

/// Writes the file and returns its bytes.
fn file(
    path: &Path,
    rows: &Partitioned<'_>,
    shape: &mut Shape<'_>,
    counts: Counts,
    dictionaries: &[u8],
) -> std::result::Result<u64, Refused> {
    let failed = |e: io::Error| Refused::Error(super::write::failed(path)(e));
    let schema = shape.gather.schema.encode();
    let header = header(shape, counts, schema.len() as u64, dictionaries.len() as u64);
    let of = header.sections;
    let output = Output::create(path).map_err(failed)?;
    output.reserve(of.sums.end()).map_err(failed)?;
    let put = |bytes: &[u8], at: u64| output.file.write_all_at(bytes, at);
    for (bytes, place) in [(&header.encode()[..], 0), (&schema, of.schema.begin), (dictionaries, of.dictionaries.begin)]
    {
        put(bytes, place).map_err(failed)?;
    }
    let mut places = Places::new(rows.settings.budget_bytes / 4);
    let mut row_at = 0;
    let mut put_all = |first: u32, parts: Vec<Part>| -> io::Result<()> {
        for (mut part, number) in parts.into_iter().zip(first..) {
            part.move_rows(row_at, header.group_bytes());
            let number = u64::from(number);
            let slots = number * u64::from(header.slots);
            put(&part.pilots, of.pilots.begin + number * u64::from(header.buckets))?;
            put(&part.used, of.used.begin + slots / 8)?;
            put(&part.groups, of.groups.begin + slots / GROUP * header.group_bytes())?;
            put(&part.rows, of.rows.begin + row_at)?;
            row_at += part.rows.len() as u64;
            places.add(&part.places, path)?;
        }
        Ok(())
    };
    let part_bytes = of.rows.bytes / u64::from(header.parts.max(1));
    each_window(rows, shape, part_bytes, |first, parts| put_all(first, parts).map_err(failed))?;
    if row_at != of.rows.bytes {
        return Err(Refused::Error(Error::new(Code::Internal, "rows of a table have not the bytes that were counted")));
    }
    if shape.is_sorted {
        write_order(&output, &header, places).map_err(Refused::Error)?;
    }
    sum(&output, &header, rows.settings.threads).map_err(failed)?;
    output.finish().map_err(failed)?;
    Ok(of.sums.end())
}

/// Builds all parts in their order, some at a time, and hands them over.
fn each_window(
    rows: &Partitioned<'_>,
    shape: &mut Shape<'_>,
    part_bytes: u64,
    mut hand_over: impl FnMut(u32, Vec<Part>) -> std::result::Result<(), Refused>,
) -> std::result::Result<(), Refused> {
    let sizes = shape.sizes;
    let first_part = |partition: usize| sizes.part((partition as u64) << 56);
    let last_part = |partition: usize| sizes.part(((partition as u64) << 56) | ((1 << 56) - 1));
    let threads = rows.settings.threads.max(1);
    let size = (threads * WINDOW).min((rows.settings.budget_bytes / 4 / part_bytes.max(1)) as usize).max(1) as u32;
    // Partitions of the window that memory does not hold: the first one's number, and their rows.
    let (mut loaded_first, mut loaded): (usize, Vec<Sorted>) = (0, Vec::new());
    let mut begin = 0;
    while begin < sizes.parts {
        let end = sizes.parts.min(begin + size);
        let first = (0..PARTITIONS).find(|partition| last_part(*partition) >= begin).unwrap_or(0);
        let behind = (0..PARTITIONS).find(|partition| first_part(*partition) >= end).unwrap_or(PARTITIONS);
        let window: Vec<&Sorted> = if rows.held.is_empty() {
            loaded.drain(..(first - loaded_first).min(loaded.len()));
            loaded_first = first;
            let next = first + loaded.len();
            for more in in_parallel(threads, behind - next, |at| rows.load(next + at)) {
                loaded.push(more.map_err(Refused::Error)?.1);
            }
            loaded.iter().collect()
        } else {
            rows.held[first..behind].iter().collect()
        };
        if shape.filler.is_empty() && shape.row_bytes > 0 {
            let first = window.iter().find_map(|sorted| Some(sorted.record(sorted.entries.first()?).row));
            let mut filler = Vec::new();
            shape.row(first.unwrap_or_default(), &mut filler);
            shape.filler = filler;
        }
        let parts = in_parallel(threads, (end - begin) as usize, |at| shape.part(begin + at as u32, &window));
        let parts = parts.into_iter().collect::<std::result::Result<Vec<Part>, Refused>>()?;
        hand_over(begin, parts)?;
        begin = end;
    }
    Ok(())
}

/// Writes slots in the order of their keys, and the fences.
fn write_order(output: &Output, header: &Header, places: Places) -> Result<()> {
    use std::os::fd::AsRawFd;
    let of = &header.sections;
    let own = format!("/proc/self/fd/{}", output.file.as_raw_fd());
    let table = Table::open_with(Path::new(&own), Options { is_trusted: true, ..Options::default() })?;
    let key = |slot: u64| -> Vec<&[u8]> {
        let bytes = table.slot_bytes(slot).unwrap_or_default();
        let row = table.rows_in(bytes).next().and_then(Result::ok);
        row.map(|row| row.key_values().collect()).unwrap_or_default()
    };
    let width = header.order_bytes() as usize;
    let (mut slots_out, mut fences_out) = (Vec::new(), Vec::new());
    let (mut slots_at, mut fences_at) = (of.order.begin, of.fences.begin);
    let flush = |bytes: &mut Vec<u8>, at: &mut u64, least: usize| -> io::Result<()> {
        if bytes.len() >= least {
            output.file.write_all_at(bytes, *at)?;
            *at += bytes.len() as u64;
            bytes.clear();
        }
        Ok(())
    };
    let mut position = 0_u64;
    let written = places.by_begin(|begin, slots| {
        if slots.len() > 1 {
            slots.sort_by(|one, other| order::compare(table.schema(), key(*one).into_iter(), key(*other).into_iter()));
        }
        for slot in slots {
            if position.is_multiple_of(FENCE) {
                fences_out.extend_from_slice(&((begin >> 64) as u64).to_le_bytes());
            }
            slots_out.extend_from_slice(&slot.to_le_bytes()[..width]);
            position += 1;
        }
        flush(&mut slots_out, &mut slots_at, 1 << 20)?;
        flush(&mut fences_out, &mut fences_at, 1 << 20)
    });
    written
        .and_then(|()| flush(&mut slots_out, &mut slots_at, 0))
        .and_then(|()| flush(&mut fences_out, &mut fences_at, 0))
        .map_err(|e| Error::io(Code::Output, "cannot write the order of keys", &e))
}

/// Writes the sums of all blocks.
fn sum(output: &Output, header: &Header, threads: usize) -> io::Result<()> {
    const BLOCKS: u64 = 128;
    let place = header.sections.sums;
    let some = |number: usize| -> io::Result<Vec<u8>> {
        let begin = number as u64 * BLOCKS * BLOCK;
        let mut bytes = vec![0; (place.begin - begin).min(BLOCKS * BLOCK) as usize];
        output.file.read_exact_at(&mut bytes, begin)?;
        Ok(bytes.chunks(BLOCK as usize).flat_map(|block| crc32c::crc32c(block).to_le_bytes()).collect())
    };
    let count = sums::blocks(place.begin).div_ceil(BLOCKS) as usize;
    let sums = in_parallel(threads, count, some).into_iter().collect::<io::Result<Vec<_>>>()?.concat();
    output.file.write_all_at(&sums, place.begin)
}
