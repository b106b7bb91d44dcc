//! pprof to slice; also profiles of other programs.

use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};

use super::field::{function, line, location, mapping, profile, sample, value_type};
use super::mapping_of;
use crate::format::strings::Strings;
use crate::format::units::{measure_of, scaled};
use crate::format::wire::{Message, Value, damaged};
use crate::format::{facts, gzip};
use crate::slice::{Facts, Frame, FrameKind, Measure, Slice};

/// Bytes that hold the facts of a slice: the first text of 64 KiB at most.
const BEGINNING_BYTES: usize = 64 << 10;

/// Frames of all stacks at most. More are hostile: few bytes can name a long stack often.
const FRAMES_MAX: usize = 50_000_000;

/// Reads a profile, gzipped or not. Sample types that are none of the measures are left out; a profile without any
/// other is an error. Errors have the code [`Code::Corrupt`].
pub fn read(bytes: &[u8]) -> Result<Slice> {
    let plain;
    let bytes = if gzip::is_gzip(bytes) {
        plain = gzip::expand(bytes)?;
        &plain
    } else {
        bytes
    };
    let parts = Parts::of(bytes)?;
    let mut slice = Slice { facts: parts.facts()?, ..Slice::default() };
    let types = parts.types(&mut slice.facts)?;
    let locations = parts.locations(&mut slice)?;
    let mut frames_left = FRAMES_MAX;
    for message in &parts.samples {
        add_sample(message, &types, &locations, &mut frames_left, &mut slice)?;
    }
    Ok(slice)
}

/// Reads the facts of a slice from the beginning of its bytes. Errors: no slice of `yunti observe record`, damage.
pub fn read_facts(input: impl Read) -> Result<Facts> {
    let beginning = gzip::expand_beginning(input, BEGINNING_BYTES)?;
    let mut message = Message(&beginning);
    for _ in 0..2 {
        if let Some((profile::STRING_TABLE, value)) = message.next()?
            && let Some(parsed) = std::str::from_utf8(value.bytes()?).ok().and_then(facts::parse)
        {
            return parsed;
        }
    }
    Err(damaged("it does not begin with the facts of a slice"))
}

/// Sample type: its measure and the factor of its values, or `None` for others.
type SampleType = Option<(Measure, f64)>;

/// Fields of a profile, which may come in any order.
#[derive(Default)]
struct Parts<'a> {
    strings: Strings<'a>,
    types: Vec<(u64, u64)>,
    samples: Vec<&'a [u8]>,
    mappings: HashMap<u64, u64>,
    locations: Vec<&'a [u8]>,
    functions: HashMap<u64, (u64, u64)>,
    comments: Vec<u64>,
    time_ns: u64,
    duration_ns: u64,
    period_type: (u64, u64),
    period: u64,
}

impl<'a> Parts<'a> {
    fn of(bytes: &'a [u8]) -> Result<Parts<'a>> {
        let mut parts = Parts::default();
        let mut message = Message(bytes);
        while let Some((field, value)) = message.next()? {
            match field {
                profile::STRING_TABLE => parts.strings.0.push(value.bytes()?),
                profile::SAMPLE_TYPE => {
                    parts.types.push(pair(value.bytes()?, value_type::TYPE, value_type::UNIT)?);
                }
                profile::SAMPLE => parts.samples.push(value.bytes()?),
                profile::MAPPING => {
                    let (id, name) = pair(value.bytes()?, mapping::ID, mapping::FILENAME)?;
                    parts.mappings.insert(id, name);
                }
                profile::LOCATION => parts.locations.push(value.bytes()?),
                profile::FUNCTION => parts.add_function(value.bytes()?)?,
                profile::COMMENT => value.numbers(&mut parts.comments)?,
                profile::TIME_NANOS => parts.time_ns = value.number()?,
                profile::DURATION_NANOS => parts.duration_ns = value.number()?,
                profile::PERIOD_TYPE => {
                    parts.period_type = pair(value.bytes()?, value_type::TYPE, value_type::UNIT)?;
                }
                profile::PERIOD => parts.period = value.number()?,
                _ => {}
            }
        }
        Ok(parts)
    }

    fn add_function(&mut self, bytes: &[u8]) -> Result<()> {
        let (mut id, mut name, mut system_name, mut file) = (0, 0, 0, 0);
        let mut message = Message(bytes);
        while let Some((field, value)) = message.next()? {
            match field {
                function::ID => id = value.number()?,
                function::NAME => name = value.number()?,
                function::SYSTEM_NAME => system_name = value.number()?,
                function::FILENAME => file = value.number()?,
                _ => {}
            }
        }
        self.functions.insert(id, (if name == 0 { system_name } else { name }, file));
        Ok(())
    }

    /// Returns the facts of a slice, or time and length for a profile of another program.
    fn facts(&self) -> Result<Facts> {
        for comment in &self.comments {
            if let Some(parsed) = std::str::from_utf8(self.strings.bytes(*comment)?).ok().and_then(facts::parse) {
                return parsed;
            }
        }
        let begin_ms = self.time_ns / 1_000_000;
        Ok(Facts { begin_ms, duration_ms: self.duration_ns / 1_000_000, ..Facts::default() })
    }

    fn types(&self, facts: &mut Facts) -> Result<Vec<SampleType>> {
        let named = |(kind, unit): (u64, u64)| Ok::<_, Error>((self.strings.text(kind)?, self.strings.text(unit)?));
        let names = self.types.iter().map(|at| named(*at)).collect::<Result<Vec<_>>>()?;
        let mut types: Vec<SampleType> = names.iter().map(|(kind, unit)| measure_of(kind, unit)).collect();
        if self.period > 0 {
            let (kind, unit) = named(self.period_type)?;
            if let Some((measure, factor)) = measure_of(&kind, &unit) {
                let period = scaled(self.period, factor);
                facts.periods.entry(measure).or_insert(period);
                // Counts of samples stand for time if nothing else does.
                let count = names.iter().position(|(_, unit)| &**unit == "count");
                if let Some(at) = count.filter(|_| types.iter().all(Option::is_none)) {
                    types[at] = Some((measure, period as f64));
                }
            }
        }
        if types.iter().all(Option::is_none) {
            let all: Vec<String> = names.iter().map(|(kind, unit)| format!("{kind} in {unit}")).collect();
            let all = if all.is_empty() { "no sample type".into() } else { all.join(", ") };
            let what = format!("a profile has none of cpu, wall, alloc and lock, but {all}");
            return Err(Error::new(Code::Corrupt, what));
        }
        Ok(types)
    }

    /// Returns the frames of each location.
    fn locations(&self, slice: &mut Slice) -> Result<Locations> {
        let mut mappings: HashMap<u64, (Arc<str>, FrameKind)> = HashMap::new();
        for (id, name) in &self.mappings {
            let name = self.strings.text(*name)?;
            let kind = FrameKind::ALL.into_iter().find(|kind| *name == *mapping_of(*kind));
            // The names of our own mappings are kinds, and no files.
            let known = kind.map_or_else(|| (name, FrameKind::Native), |kind| ("".into(), kind));
            mappings.insert(*id, known);
        }
        let mut locations = Locations { dense: vec![0..0; 2 * self.locations.len() + 2], ..Locations::default() };
        for bytes in &self.locations {
            let (mut id, mut mapping_id, mut address, mut lines) = (0, 0, 0, Vec::new());
            let mut message = Message(bytes);
            while let Some((field, value)) = message.next()? {
                match field {
                    location::ID => id = value.number()?,
                    location::MAPPING_ID => mapping_id = value.number()?,
                    location::ADDRESS => address = value.number()?,
                    location::LINE => lines.push(pair(value.bytes()?, line::FUNCTION_ID, 0)?.0),
                    _ => {}
                }
            }
            let (module, kind) = mappings.get(&mapping_id).cloned().unwrap_or_default();
            let begin = locations.frames.len();
            let is_empty = lines.is_empty();
            for function in lines {
                let found = self.functions.get(&function);
                let (name, file) = found.ok_or_else(|| damaged("a line has an unknown function"))?;
                let (name, file) = (self.strings.text(*name)?, self.strings.text(*file)?);
                let file = if file.is_empty() { module.clone() } else { file };
                locations.frames.push(slice.stacks.number(&Frame { name, file, kind }));
            }
            if is_empty {
                let name = format!("{address:#x}").into();
                locations.frames.push(slice.stacks.number(&Frame { name, file: module, kind }));
            }
            locations.add(id, begin..locations.frames.len());
        }
        Ok(locations)
    }
}

/// Frames by location, innermost first, as places in the slice. Ids are small numbers in most profiles, and addresses
/// in some.
#[derive(Default)]
struct Locations {
    frames: Vec<u32>,
    /// Ranges of frames by small ids; none is empty but for unknown ids.
    dense: Vec<Range<usize>>,
    sparse: HashMap<u64, Range<usize>>,
}

impl Locations {
    fn add(&mut self, id: u64, range: Range<usize>) {
        match usize::try_from(id).ok().and_then(|id| self.dense.get_mut(id)) {
            Some(place) => *place = range,
            None => {
                self.sparse.insert(id, range);
            }
        }
    }

    fn get(&self, id: u64) -> Option<&[u32]> {
        let dense = usize::try_from(id).ok().and_then(|id| self.dense.get(id));
        let range = dense.or_else(|| self.sparse.get(&id))?;
        Some(&self.frames[range.clone()]).filter(|frames| !frames.is_empty())
    }
}

fn add_sample(
    bytes: &[u8],
    types: &[SampleType],
    locations: &Locations,
    frames_left: &mut usize,
    slice: &mut Slice,
) -> Result<()> {
    let (mut ids, mut numbers) = (Vec::new(), Vec::new());
    let mut message = Message(bytes);
    while let Some((field, value)) = message.next()? {
        match field {
            sample::LOCATION_ID => value.numbers(&mut ids)?,
            sample::VALUE => value.numbers(&mut numbers)?,
            _ => {}
        }
    }
    if numbers.len() != types.len() {
        return Err(damaged("a sample has more or fewer values than there are types"));
    }
    let mut values = [0; Measure::ALL.len()];
    for (number, (measure, factor)) in numbers.iter().zip(types).filter_map(|(n, known)| Some((n, (*known)?))) {
        let sum = &mut values[measure as usize];
        *sum = u64::saturating_add(*sum, scaled(*number, factor));
    }
    let mut frames = Vec::with_capacity(ids.len());
    for id in ids.iter().rev() {
        let found = locations.get(*id).ok_or_else(|| damaged("a sample has an unknown location"))?;
        *frames_left = frames_left.checked_sub(found.len()).ok_or_else(|| damaged("its stacks are too long"))?;
        frames.extend(found.iter().rev());
    }
    slice.stacks.add_numbers(frames.into(), values);
    Ok(())
}

/// Returns two numbers of a message; 0 for one that is not there.
fn pair(bytes: &[u8], first: u64, second: u64) -> Result<(u64, u64)> {
    let mut message = Message(bytes);
    let mut numbers = (0, 0);
    while let Some((field, value)) = message.next()? {
        if field == first {
            numbers.0 = Value::number(value)?;
        } else if field == second {
            numbers.1 = Value::number(value)?;
        }
    }
    Ok(numbers)
}
