//! Slice to OTLP profiles.

use std::collections::HashMap;

use super::field::{
    attribute, data, dictionary, function, line, location, profile, resource_profiles, sample, scope, scope_profiles,
    stack, value_type,
};
use super::{FACTS, FRAME_TYPE};
use crate::format::facts;
use crate::format::strings::StringTable;
use crate::format::wire::Writer;
use crate::slice::{FrameKind, Measure, Slice};

/// Returns a slice as OTLP profiles without compression: a profile for each measure that has a cost.
pub fn write(slice: &Slice) -> Vec<u8> {
    let mut strings = StringTable::default();
    let mut out = Writer::default();
    out.message(data::RESOURCE_PROFILES, |m| {
        m.message(resource_profiles::RESOURCE, |m| write_resource(m, slice));
        m.message(resource_profiles::SCOPE_PROFILES, |m| {
            m.message(scope_profiles::SCOPE, |m| m.bytes(scope::NAME, b"yunti"));
            let mut measures = slice.stacks.measures();
            if measures.is_empty() {
                measures.push(Measure::Cpu);
            }
            for measure in measures {
                m.message(scope_profiles::PROFILES, |m| write_profile(m, slice, measure, &mut strings));
            }
        });
    });
    out.message(data::DICTIONARY, |m| write_dictionary(m, slice, &mut strings));
    out.into_bytes()
}

fn write_resource(out: &mut Writer, slice: &Slice) {
    let service = &slice.facts.service;
    let facts = facts::write(&slice.facts);
    for (key, text) in [
        ("service.name", &service.name),
        ("service.version", &service.release),
        ("host.name", &service.host),
        ("container.id", &service.container),
        (FACTS, &facts),
    ] {
        if !text.is_empty() {
            out.message(attribute::RESOURCE_ATTRIBUTES, |m| {
                m.bytes(attribute::KEY, key.as_bytes());
                m.message(attribute::VALUE, |m| m.bytes(attribute::STRING_VALUE, text.as_bytes()));
            });
        }
    }
    out.message(attribute::RESOURCE_ATTRIBUTES, |m| {
        m.bytes(attribute::KEY, b"process.pid");
        m.message(attribute::VALUE, |m| m.number(attribute::INT_VALUE, u64::from(service.pid)));
    });
}

fn write_profile(out: &mut Writer, slice: &Slice, measure: Measure, strings: &mut StringTable) {
    let write_type = |m: &mut Writer, strings: &mut StringTable| {
        m.number(value_type::TYPE, strings.place(measure.name()));
        m.number(value_type::UNIT, strings.place(measure.unit()));
    };
    out.message(profile::SAMPLE_TYPE, |m| write_type(m, strings));
    // The first element of each table of the dictionary stands for nothing.
    for (at, (_, values)) in (1..).zip(slice.stacks.all()) {
        let value = values[measure as usize];
        if value > 0 {
            out.message(profile::SAMPLES, |m| {
                m.number(sample::STACK_INDEX, at);
                m.packed(sample::VALUES, [value]);
            });
        }
    }
    out.fixed(profile::TIME_UNIX_NANO, slice.facts.begin_ms.saturating_mul(1_000_000));
    out.number(profile::DURATION_NANO, slice.facts.duration_ms.saturating_mul(1_000_000));
    if let Some(period) = slice.facts.periods.get(&measure) {
        out.message(profile::PERIOD_TYPE, |m| write_type(m, strings));
        out.number(profile::PERIOD, *period);
    }
}

fn write_dictionary(out: &mut Writer, slice: &Slice, strings: &mut StringTable) {
    for table in [dictionary::MAPPING, dictionary::LOCATION, dictionary::FUNCTION, dictionary::LINK] {
        out.message(table, |_| {});
    }
    out.message(dictionary::ATTRIBUTE, |_| {});
    out.message(dictionary::STACK, |_| {});
    let mut types: HashMap<&str, u64> = HashMap::new();
    for (id, frame) in (1..).zip(slice.stacks.frames()) {
        let (name, file) = (strings.place(&frame.name), strings.place(&frame.file));
        out.message(dictionary::FUNCTION, |m| {
            m.number(function::NAME, name);
            m.number(function::FILENAME, file);
        });
        let kind = frame_type(frame.kind);
        if !kind.is_empty() && !types.contains_key(kind) {
            types.insert(kind, types.len() as u64 + 1);
            let key = strings.place(FRAME_TYPE);
            out.message(dictionary::ATTRIBUTE, |m| {
                m.number(attribute::KEY, key);
                m.message(attribute::VALUE, |m| m.bytes(attribute::STRING_VALUE, kind.as_bytes()));
            });
        }
        out.message(dictionary::LOCATION, |m| {
            m.message(location::LINES, |m| m.number(line::FUNCTION_INDEX, id));
            if let Some(kind) = types.get(kind) {
                m.packed(location::ATTRIBUTE_INDICES, [*kind]);
            }
        });
    }
    for (frames, _) in slice.stacks.all() {
        out.message(dictionary::STACK, |m| {
            m.packed(stack::LOCATION_INDICES, frames.iter().rev().map(|at| u64::from(*at) + 1));
        });
    }
    strings.texts().for_each(|text| out.bytes(dictionary::STRING, text.as_bytes()));
}

/// Returns the value of `profile.frame.type`, which has one word for all code of a JVM.
fn frame_type(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Group => "",
        FrameKind::Interpreted | FrameKind::CompiledC1 | FrameKind::Compiled | FrameKind::Inlined => "jvm",
        FrameKind::Jvm | FrameKind::Native => "native",
        FrameKind::Kernel => "kernel",
        FrameKind::JavaScript => "v8js",
        FrameKind::Python => "cpython",
    }
}
