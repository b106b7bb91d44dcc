//! OTLP profiles to slices; also profiles of other programs.

use std::sync::Arc;

use yunti_base::{Code, Error, Result};

use super::field::{
    attribute, data, dictionary, function, line, location, mapping, profile, resource_profiles, sample, scope_profiles,
    stack, value_type,
};
use super::{FACTS, FRAME_TYPE};
use crate::format::strings::Strings;
use crate::format::units::{measure_of, scaled};
use crate::format::wire::{Message, Value, damaged};
use crate::format::{facts, gzip};
use crate::slice::{Facts, Frame, FrameKind, Measure, Slice};

/// Frames of all stacks at most. More are hostile: few bytes can name a long stack often.
const FRAMES_MAX: usize = 50_000_000;

/// Reads profiles, gzipped or not: a slice for each resource. Profiles of other measures are left out; input without
/// any of ours is an error. Errors have the code [`Code::Corrupt`].
pub fn read(bytes: &[u8]) -> Result<Vec<Slice>> {
    let plain;
    let bytes = if gzip::is_gzip(bytes) {
        plain = gzip::expand(bytes)?;
        &plain
    } else {
        bytes
    };
    let (mut resources, mut tables) = (Vec::new(), Dictionary::default());
    let mut message = Message(bytes);
    while let Some((field, value)) = message.next()? {
        match field {
            data::RESOURCE_PROFILES => resources.push(value.bytes()?),
            data::DICTIONARY => tables.add(value.bytes()?)?,
            _ => {}
        }
    }
    let mut slices = Vec::new();
    let mut frames_left = FRAMES_MAX;
    for resource in resources {
        slices.extend(read_resource(resource, &tables, &mut frames_left)?);
    }
    if slices.is_empty() {
        return Err(Error::new(Code::Corrupt, "OTLP profiles have no profile of cpu, wall, alloc or lock"));
    }
    Ok(slices)
}

/// Tables that profiles refer to by places.
#[derive(Default)]
struct Dictionary<'a> {
    strings: Strings<'a>,
    mappings: Vec<u64>,
    locations: Vec<&'a [u8]>,
    functions: Vec<(u64, u64)>,
    attributes: Vec<(u64, &'a [u8])>,
    stacks: Vec<&'a [u8]>,
}

impl<'a> Dictionary<'a> {
    fn add(&mut self, bytes: &'a [u8]) -> Result<()> {
        let mut message = Message(bytes);
        while let Some((field, value)) = message.next()? {
            match field {
                dictionary::STRING => self.strings.0.push(value.bytes()?),
                dictionary::MAPPING => self.mappings.push(number_of(value.bytes()?, mapping::FILENAME)?),
                dictionary::LOCATION => self.locations.push(value.bytes()?),
                dictionary::STACK => self.stacks.push(value.bytes()?),
                dictionary::FUNCTION => {
                    let bytes = value.bytes()?;
                    let name = number_of(bytes, function::NAME)?;
                    let name = if name == 0 { number_of(bytes, function::SYSTEM_NAME)? } else { name };
                    self.functions.push((name, number_of(bytes, function::FILENAME)?));
                }
                dictionary::ATTRIBUTE => {
                    let bytes = value.bytes()?;
                    let text = bytes_of(bytes_of(bytes, attribute::VALUE)?, attribute::STRING_VALUE)?;
                    self.attributes.push((number_of(bytes, attribute::KEY)?, text));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds the frames of a location, innermost first.
    fn frames(&self, place: u64, frames: &mut Vec<Frame>) -> Result<()> {
        let bytes = at(&self.locations, place, "location")?;
        let (mut mapping, mut address, mut lines, mut attributes) = (0, 0, Vec::new(), Vec::new());
        let mut message = Message(bytes);
        while let Some((field, value)) = message.next()? {
            match field {
                location::MAPPING_INDEX => mapping = value.number()?,
                location::ADDRESS => address = value.number()?,
                location::LINES => lines.push(number_of(value.bytes()?, line::FUNCTION_INDEX)?),
                location::ATTRIBUTE_INDICES => value.numbers(&mut attributes)?,
                _ => {}
            }
        }
        let mut kind = FrameKind::Native;
        for attribute in attributes {
            let (key, text) = at(&self.attributes, attribute, "attribute")?;
            if self.strings.bytes(*key)? == FRAME_TYPE.as_bytes() {
                kind = kind_of(text);
            }
        }
        let module: Arc<str> = match self.mappings.get(mapping as usize) {
            Some(name) if mapping > 0 => self.strings.text(*name)?,
            _ => "".into(),
        };
        if lines.is_empty() {
            frames.push(Frame { name: format!("{address:#x}").into(), file: module, kind });
            return Ok(());
        }
        for function in lines {
            let (name, file) = at(&self.functions, function, "function")?;
            let (name, file) = (self.strings.text(*name)?, self.strings.text(*file)?);
            let file = if file.is_empty() { module.clone() } else { file };
            frames.push(Frame { name, file, kind });
        }
        Ok(())
    }
}

fn read_resource(bytes: &[u8], tables: &Dictionary, frames_left: &mut usize) -> Result<Option<Slice>> {
    let (mut facts, mut profiles) = (None, Vec::new());
    let mut message = Message(bytes);
    while let Some((field, value)) = message.next()? {
        match field {
            resource_profiles::RESOURCE => facts = Some(read_facts(value.bytes()?)?),
            resource_profiles::SCOPE_PROFILES => {
                let mut scope = Message(value.bytes()?);
                while let Some((field, value)) = scope.next()? {
                    if field == scope_profiles::PROFILES {
                        profiles.push(value.bytes()?);
                    }
                }
            }
            _ => {}
        }
    }
    let mut slice = Slice { facts: facts.unwrap_or_default(), ..Slice::default() };
    let mut is_ours = false;
    for profile in profiles {
        is_ours |= add_profile(profile, tables, frames_left, &mut slice)?;
    }
    Ok(is_ours.then_some(slice))
}

fn read_facts(bytes: &[u8]) -> Result<Facts> {
    let mut facts = Facts::default();
    let mut message = Message(bytes);
    while let Some((field, value)) = message.next()? {
        if field != attribute::RESOURCE_ATTRIBUTES {
            continue;
        }
        let bytes = value.bytes()?;
        let any = bytes_of(bytes, attribute::VALUE)?;
        let text = String::from_utf8_lossy(bytes_of(any, attribute::STRING_VALUE)?).into_owned();
        let service = &mut facts.service;
        match bytes_of(bytes, attribute::KEY)? {
            key if key == FACTS.as_bytes() => {
                if let Some(parsed) = facts::parse(&text) {
                    return parsed;
                }
            }
            b"service.name" => service.name = text,
            b"service.version" => service.release = text,
            b"host.name" => service.host = text,
            b"container.id" => service.container = text,
            b"process.pid" => service.pid = number_of(any, attribute::INT_VALUE)?.try_into().unwrap_or(0),
            _ => {}
        }
    }
    Ok(facts)
}

/// Adds a profile to the slice of its resource. Returns false for a measure that is none of ours.
fn add_profile(bytes: &[u8], tables: &Dictionary, frames_left: &mut usize, slice: &mut Slice) -> Result<bool> {
    let (mut sample_type, mut period_type, mut period) = (None, None, 0);
    let (mut time_ns, mut duration_ns, mut samples) = (0, 0, Vec::new());
    let named = |value: Value| {
        let bytes = value.bytes()?;
        let (kind, unit) = (number_of(bytes, value_type::TYPE)?, number_of(bytes, value_type::UNIT)?);
        Ok::<_, Error>((tables.strings.text(kind)?, tables.strings.text(unit)?))
    };
    let mut message = Message(bytes);
    while let Some((field, value)) = message.next()? {
        match field {
            profile::SAMPLE_TYPE => sample_type = Some(named(value)?),
            profile::SAMPLES => samples.push(value.bytes()?),
            profile::TIME_UNIX_NANO => time_ns = value.number()?,
            profile::DURATION_NANO => duration_ns = value.number()?,
            profile::PERIOD_TYPE => period_type = Some(named(value)?),
            profile::PERIOD => period = value.number()?,
            _ => {}
        }
    }
    let Some((kind, unit)) = sample_type else { return Ok(false) };
    let period = period_type.and_then(|(kind, unit)| {
        let (measure, factor) = measure_of(&kind, &unit)?;
        (period > 0).then(|| (measure, scaled(period, factor)))
    });
    // Counts of samples stand for time if there is a period of time.
    let by_count = period.filter(|_| &*unit == "count").map(|(measure, period)| (measure, period as f64));
    let Some((measure, factor)) = measure_of(&kind, &unit).or(by_count) else { return Ok(false) };
    let facts = &mut slice.facts;
    if let Some((measure, period)) = period {
        facts.periods.entry(measure).or_insert(period);
    }
    if facts.begin_ms == 0 {
        (facts.begin_ms, facts.duration_ms) = (time_ns / 1_000_000, duration_ns / 1_000_000);
    }
    let mut frames = Vec::new();
    for bytes in samples {
        add_sample(bytes, tables, (measure, factor), &mut frames, frames_left, slice)?;
    }
    Ok(true)
}

fn add_sample(
    bytes: &[u8],
    tables: &Dictionary,
    (measure, factor): (Measure, f64),
    frames: &mut Vec<Frame>,
    frames_left: &mut usize,
    slice: &mut Slice,
) -> Result<()> {
    let (mut place, mut values, mut times) = (0, Vec::new(), 0);
    let mut message = Message(bytes);
    while let Some((field, value)) = message.next()? {
        match (field, value) {
            (sample::STACK_INDEX, value) => place = value.number()?,
            (sample::VALUES, value) => value.numbers(&mut values)?,
            (sample::TIMESTAMPS, Value::Bytes(packed)) => times += packed.len() as u64 / 8,
            (sample::TIMESTAMPS, _) => times += 1,
            _ => {}
        }
    }
    let value = match values.is_empty() {
        // Each time stands for a value of 1.
        true => scaled(times, factor),
        false => values.iter().fold(0, |sum: u64, value| sum.saturating_add(scaled(*value, factor))),
    };
    let mut locations = Vec::new();
    let mut message = Message(at(&tables.stacks, place, "stack")?);
    while let Some((field, value)) = message.next()? {
        if field == stack::LOCATION_INDICES {
            value.numbers(&mut locations)?;
        }
    }
    frames.clear();
    for location in locations {
        tables.frames(location, frames)?;
        if frames.len() > *frames_left {
            return Err(damaged("its stacks are too long"));
        }
    }
    *frames_left -= frames.len();
    slice.stacks.add(frames.iter().rev(), measure, value);
    Ok(())
}

fn kind_of(frame_type: &[u8]) -> FrameKind {
    match frame_type {
        b"jvm" => FrameKind::Compiled,
        b"kernel" => FrameKind::Kernel,
        b"cpython" => FrameKind::Python,
        b"v8js" => FrameKind::JavaScript,
        _ => FrameKind::Native,
    }
}

fn at<'t, T>(table: &'t [T], place: u64, what: &str) -> Result<&'t T> {
    let found = usize::try_from(place).ok().and_then(|place| table.get(place));
    found.ok_or_else(|| damaged(&format!("a {what} is outside of its table")))
}

/// Returns a number of a message; 0 if it is not there.
fn number_of(bytes: &[u8], wanted: u64) -> Result<u64> {
    let mut message = Message(bytes);
    let mut number = 0;
    while let Some((field, value)) = message.next()? {
        if field == wanted {
            number = value.number()?;
        }
    }
    Ok(number)
}

/// Returns bytes of a message; none if they are not there.
fn bytes_of(bytes: &[u8], wanted: u64) -> Result<&[u8]> {
    let mut message = Message(bytes);
    let mut found: &[u8] = &[];
    while let Some((field, value)) = message.next()? {
        if let (true, Value::Bytes(bytes)) = (field == wanted, value) {
            found = bytes;
        }
    }
    Ok(found)
}
