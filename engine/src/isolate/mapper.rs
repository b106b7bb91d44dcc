//! A mapper in a worker. It can begin again in another worker, and finds the record that it fails at.
//!
//! ```text
//!   attempt 1   |--------------x                     fails in some batch
//!   attempt 2   |--------------x                     in the same one: search
//!   search      |----------|-|-|-x     -> |-x -> x      calls for parts of the batch, until one record is left
//! ```

use std::ops::Range;

use memchr::memchr;

use super::emit::Emit;
use super::instance::Instance;
use super::message::ask;
use super::request::send_batch;
use crate::operator::batch::Slices;
use crate::operator::context::BadRecord;
use crate::operator::mapper::Restart;
use crate::operator::replay::Replay;
use crate::operator::{Batch, Mapper, Out};
use yunti_base::{Code, Error, Result};

/// Parts into which a search divides the suspect: each attempt costs a worker and the split up to there.
const SEARCH_PARTS: u64 = 64;
/// Bytes of a bad record that its error shows.
const SHOWN_BYTES: usize = 40;

/// Position in a split: the number of a record, or the number of a byte if batches are spans.
type Position = u64;

/// Mapper whose instance lives in a worker.
pub struct IsolatedMapper {
    instance: Instance,
    replay: Replay,
    /// Position of the next batch.
    next: Position,
    /// Part that the last call was for.
    current: Part,
    /// Part in which an attempt failed.
    suspect: Option<Range<Position>>,
    /// True once the suspect failed again, and is divided.
    searches: bool,
    /// Records to leave out.
    bad: Vec<Range<Position>>,
}

/// Part of a batch.
#[derive(Clone, Debug, Default)]
struct Part {
    range: Range<Position>,
    file: u32,
    offset: u64,
    /// The record, if there is only one.
    record: Option<Vec<u8>>,
}

impl IsolatedMapper {
    pub fn new(instance: Instance) -> IsolatedMapper {
        IsolatedMapper {
            instance,
            replay: Replay::default(),
            next: 0,
            current: Part::default(),
            suspect: None,
            searches: false,
            bad: Vec::new(),
        }
    }

    /// Returns the parts in which a batch is sent: the suspect alone and divided, bad records not at all.
    fn parts(&self, batch: &Batch<'_>, all: &Range<Position>) -> Vec<Range<Position>> {
        let mut cuts = vec![all.start, all.end];
        cuts.extend(self.bad.iter().flat_map(|bad| [bad.start, bad.end]));
        if let Some(suspect) = self.suspect.as_ref().filter(|_| self.searches) {
            cuts.extend([suspect.start, suspect.end]);
            let (start, end) = (suspect.start.max(all.start), suspect.end.min(all.end));
            if start < end {
                cuts.extend(self::cuts(batch, all.start, start..end));
            }
        }
        cuts.retain(|cut| all.contains(cut) || *cut == all.end);
        cuts.sort_unstable();
        cuts.dedup();
        let parts = cuts.windows(2).map(|cut| cut[0]..cut[1]);
        parts.filter(|part| !self.bad.iter().any(|bad| bad.contains(&part.start))).collect()
    }

    fn map_part(&mut self, batch: &Batch<'_>, start: Position, range: Range<Position>, out: &mut Out) -> Result<()> {
        let from = (range.start - start) as usize;
        let to = (range.end - start) as usize;
        let record = if self.searches { record(batch, from..to) } else { None };
        let IsolatedMapper { instance, replay, current, .. } = self;
        let (part, sent) = match batch.is_span() {
            true => (Batch::span(&batch.data()[from..to]).at(batch.file_index(), batch.first_position()), from..to),
            false => (sub_batch(batch, from..to), 0..0),
        };
        let offset = offset(batch, from);
        *current = Part { range, file: batch.file_index(), offset, record };
        let part = part.at(batch.file_index(), batch.first_position() + sent.start as u64);
        let form = out.form() as u32;
        let emit = Emit { out, data: batch.data(), replay: Some(replay), sent };
        let result = send_batch(&part, form, |parts| instance.call(ask::MAP, parts, Some(emit)));
        result.map(drop).map_err(|e| if e.code() == Code::UserCode { self.place(e) } else { e })
    }

    /// Adds the place of the last call to an error.
    fn place(&self, error: Error) -> Error {
        let error = error.at_offset(self.current.offset);
        match self.file() {
            Some(file) => error.at_path(file),
            None => error,
        }
    }

    fn file(&self) -> Option<&str> {
        let inputs = &self.instance.context.job.inputs;
        inputs.get(self.current.file as usize).map(|name| if name == "-" { "standard input" } else { name.as_str() })
    }

    /// Takes a record that the mapper failed at twice. Returns false if the job may not leave it out.
    fn leave_out(&mut self, error: &Error, bytes: Vec<u8>) -> bool {
        let file = self.file().unwrap_or_default().to_owned();
        let (offset, reason) = (self.current.offset, error.what().replace(['\n', '\r', '\t'], " "));
        let record = BadRecord { file, offset, reason, bytes };
        let context = self.instance.context.clone();
        let line = format!(
            "map task {}: left out a bad record: {}, byte {offset}: {}",
            context.task, record.file, record.reason
        );
        let takes = context.job.bad_records.take(context.task, record);
        if takes {
            context.job.host.messages.show(&line);
            self.bad.push(self.current.range.clone());
            (self.suspect, self.searches) = (None, false);
        }
        takes
    }
}

impl Mapper for IsolatedMapper {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let start = self.next;
        let len = if batch.is_span() { batch.data().len() } else { batch.len() };
        self.next += len as u64;
        let all = start..self.next;
        if !self.searches && self.bad.is_empty() {
            return self.map_part(batch, start, all, out);
        }
        self.parts(batch, &all).into_iter().try_for_each(|part| self.map_part(batch, start, part, out))
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        let IsolatedMapper { instance, replay, .. } = self;
        // An error here has no record.
        self.current = Part::default();
        instance.flush(Emit { out, data: &[], replay: Some(replay), sent: 0..0 })?;
        self.replay.finish()
    }

    fn restart(&mut self, error: &Error) -> Restart {
        let failed = self.current.range.clone();
        let again =
            self.suspect.as_ref().is_some_and(|suspect| suspect.start <= failed.start && failed.end <= suspect.end);
        let mut answer = Restart::Attempt;
        match self.current.record.take() {
            Some(bytes) if again && self.searches => {
                let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_BYTES)]).into_owned();
                if !self.leave_out(error, bytes) {
                    let hint = "mend the class, or leave such records out with --bad-records skip:N";
                    let named = Error::new(Code::UserCode, format!("{} at the record '{shown}'", error.what()));
                    let named = match error.detail_text() {
                        Some(detail) => named.detail(detail),
                        None => named,
                    };
                    return Restart::Found(self.place(named).hint(hint));
                }
                answer = Restart::LeftOut;
            }
            // After a time-out each step of a search would take as long.
            _ if again && !failed.is_empty() && !self.instance.timed_out => {
                (self.suspect, self.searches) = (Some(failed), true);
                answer = Restart::Search;
            }
            _ => (self.suspect, self.searches) = (Some(failed).filter(|part| !part.is_empty()), false),
        }
        self.next = 0;
        self.replay.restart();
        if self.instance.restart() { answer } else { Restart::Impossible }
    }
}

/// Returns positions that divide a range of a batch into parts, each at the start of a record; none for one record.
fn cuts(batch: &Batch<'_>, start: Position, range: Range<Position>) -> Vec<Position> {
    let cut = |part: u64| range.start + (range.end - range.start) * part / SEARCH_PARTS;
    let cuts = (1..SEARCH_PARTS).map(cut).filter(|cut| range.contains(cut) && *cut > range.start);
    if !batch.is_span() {
        return cuts.collect();
    }
    let data = &batch.data()[..(range.end - start) as usize];
    let line_start = |cut: Position| {
        let from = (cut - start) as usize;
        // The last byte ends the last line, which begins no other.
        memchr(b'\n', &data[from - 1..]).map(|i| from + i).filter(|&next| next < data.len())
    };
    let cuts: Vec<Position> = cuts.filter_map(line_start).map(|next| start + next as u64).collect();
    if !cuts.is_empty() {
        return cuts;
    }
    // One long line lies around all of these places: the first line ends before or in it.
    let from = (range.start - start) as usize;
    let first = memchr(b'\n', &data[from..]).map(|i| from + i + 1).filter(|&next| next < data.len());
    first.map(|next| start + next as u64).into_iter().collect()
}

/// Returns the bytes of a part that is one record.
fn record(batch: &Batch<'_>, part: Range<usize>) -> Option<Vec<u8>> {
    if batch.is_span() {
        let line = &batch.data()[part];
        let end = memchr(b'\n', line).unwrap_or(line.len());
        return (end + 1 >= line.len()).then(|| line[..end].to_vec());
    }
    (part.len() == 1).then(|| batch.record(part.start).1.to_vec())
}

/// Returns the offset in the file of a record of a batch.
fn offset(batch: &Batch<'_>, from: usize) -> u64 {
    let within = if batch.is_span() { from as u64 } else { batch.values().offsets.get(from).map_or(0, |&o| o.into()) };
    // Records with keys may be built from columns, and then have no offsets in the file.
    batch.first_position() + if batch.keys().is_some() { 0 } else { within }
}

/// Returns some records of a batch.
fn sub_batch<'b>(batch: &Batch<'b>, part: Range<usize>) -> Batch<'b> {
    let of =
        |slices: Slices<'b>| Slices { offsets: &slices.offsets[part.clone()], lengths: &slices.lengths[part.clone()] };
    Batch::records(batch.data(), batch.keys().map(of), of(batch.values()))
}
