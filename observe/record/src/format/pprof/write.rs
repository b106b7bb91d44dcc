//! Slice to pprof.

use super::field::{function, line, location, mapping, profile, sample, value_type};
use super::mapping_of;
use crate::format::facts;
use crate::format::gzip;
use crate::format::strings::StringTable;
use crate::format::wire::Writer;
use crate::slice::{FrameKind, Measure, Slice};

/// Returns a slice as gzipped pprof. Sample types are the measures that have a cost.
pub fn write(slice: &Slice) -> Vec<u8> {
    gzip::compress(&write_plain(slice))
}

fn write_plain(slice: &Slice) -> Vec<u8> {
    let mut strings = StringTable::default();
    let facts_place = strings.place(&facts::write(&slice.facts));
    let mut measures = slice.stacks.measures();
    if measures.is_empty() {
        // A profile without a sample type is none.
        measures.push(Measure::Cpu);
    }
    let mut body = Writer::default();
    for measure in &measures {
        write_type(&mut body, profile::SAMPLE_TYPE, *measure, &mut strings);
    }
    body.number(profile::COMMENT, facts_place);
    body.number(profile::TIME_NANOS, slice.facts.begin_ms.saturating_mul(1_000_000));
    body.number(profile::DURATION_NANOS, slice.facts.duration_ms.saturating_mul(1_000_000));
    let main = measures[0];
    body.number(profile::DEFAULT_SAMPLE_TYPE, strings.place(main.name()));
    if let Some(period) = slice.facts.periods.get(&main) {
        write_type(&mut body, profile::PERIOD_TYPE, main, &mut strings);
        body.number(profile::PERIOD, *period);
    }
    write_frames(&mut body, slice, &mut strings);
    write_samples(&mut body, slice, &measures);
    let mut whole = Writer::default();
    strings.texts().for_each(|text| whole.bytes(profile::STRING_TABLE, text.as_bytes()));
    let mut bytes = whole.into_bytes();
    bytes.extend(body.into_bytes());
    bytes
}

fn write_type(out: &mut Writer, field: u64, measure: Measure, strings: &mut StringTable) {
    let (kind, unit) = (strings.place(measure.name()), strings.place(measure.unit()));
    out.message(field, |m| {
        m.number(value_type::TYPE, kind);
        m.number(value_type::UNIT, unit);
    });
}

/// Each frame is a function and a location of its own, and each kind of code that occurs a mapping. Ids begin at 1.
fn write_frames(out: &mut Writer, slice: &Slice, strings: &mut StringTable) {
    let frames = slice.stacks.frames();
    let kinds: Vec<FrameKind> =
        FrameKind::ALL.into_iter().filter(|kind| frames.iter().any(|frame| frame.kind == *kind)).collect();
    for (at, kind) in (1..).zip(&kinds) {
        let name = strings.place(&mapping_of(*kind));
        out.message(profile::MAPPING, |m| {
            m.number(mapping::ID, at);
            m.number(mapping::FILENAME, name);
            m.number(mapping::HAS_FUNCTIONS, 1);
            m.number(mapping::HAS_FILENAMES, 1);
        });
    }
    for (id, frame) in (1..).zip(frames) {
        let (name, file) = (strings.place(&frame.name), strings.place(&frame.file));
        out.message(profile::FUNCTION, |m| {
            m.number(function::ID, id);
            // The name of the system is the same, and optional: it would be 7 % of the file.
            m.number(function::NAME, name);
            m.number(function::FILENAME, file);
        });
        let mapping = kinds.iter().position(|kind| *kind == frame.kind).map_or(0, |at| at as u64 + 1);
        out.message(profile::LOCATION, |m| {
            m.number(location::ID, id);
            m.number(location::MAPPING_ID, mapping);
            m.message(location::LINE, |m| m.number(line::FUNCTION_ID, id));
        });
    }
}

/// Samples in the order of their stacks, so that neighbours share frames and gzip finds them.
fn write_samples(out: &mut Writer, slice: &Slice, measures: &[Measure]) {
    let mut stacks: Vec<_> = slice.stacks.all().collect();
    stacks.sort_by_key(|(frames, _)| *frames);
    for (frames, values) in stacks {
        out.message(profile::SAMPLE, |m| {
            m.packed(sample::LOCATION_ID, frames.iter().rev().map(|at| u64::from(*at) + 1));
            m.packed(sample::VALUE, measures.iter().map(|measure| values[*measure as usize]));
        });
    }
}
