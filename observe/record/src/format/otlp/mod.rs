//! OTLP profiles: the profiles of OpenTelemetry, `opentelemetry.proto.profiles.v1development` as of
//! opentelemetry-proto 1.11 (status Alpha; versions before 1.9 laid out stacks differently and are not read).
//!
//! ```text
//!   ProfilesData: dictionary (mappings, locations, functions, texts, attributes, stacks)
//!                 | resources (service, host, process) -> scopes -> profiles: one a measure -> samples
//! ```
//!
//! The request of OTLP over HTTP has the same fields, so that these bytes can be posted as they are.

mod read;
mod write;

pub use read::read;
pub use write::write;

/// Numbers of fields in profiles.proto, resource.proto and common.proto.
mod field {
    pub mod data {
        pub const RESOURCE_PROFILES: u64 = 1;
        pub const DICTIONARY: u64 = 2;
    }
    pub mod dictionary {
        pub const MAPPING: u64 = 1;
        pub const LOCATION: u64 = 2;
        pub const FUNCTION: u64 = 3;
        pub const LINK: u64 = 4;
        pub const STRING: u64 = 5;
        pub const ATTRIBUTE: u64 = 6;
        pub const STACK: u64 = 7;
    }
    pub mod resource_profiles {
        pub const RESOURCE: u64 = 1;
        pub const SCOPE_PROFILES: u64 = 2;
    }
    pub mod scope_profiles {
        pub const SCOPE: u64 = 1;
        pub const PROFILES: u64 = 2;
    }
    pub mod profile {
        pub const SAMPLE_TYPE: u64 = 1;
        pub const SAMPLES: u64 = 2;
        pub const TIME_UNIX_NANO: u64 = 3;
        pub const DURATION_NANO: u64 = 4;
        pub const PERIOD_TYPE: u64 = 5;
        pub const PERIOD: u64 = 6;
    }
    pub mod value_type {
        pub const TYPE: u64 = 1;
        pub const UNIT: u64 = 2;
    }
    pub mod sample {
        pub const STACK_INDEX: u64 = 1;
        pub const VALUES: u64 = 4;
        pub const TIMESTAMPS: u64 = 5;
    }
    pub mod stack {
        pub const LOCATION_INDICES: u64 = 1;
    }
    pub mod location {
        pub const MAPPING_INDEX: u64 = 1;
        pub const ADDRESS: u64 = 2;
        pub const LINES: u64 = 3;
        pub const ATTRIBUTE_INDICES: u64 = 4;
    }
    pub mod line {
        pub const FUNCTION_INDEX: u64 = 1;
    }
    pub mod function {
        pub const NAME: u64 = 1;
        pub const SYSTEM_NAME: u64 = 2;
        pub const FILENAME: u64 = 3;
    }
    pub mod mapping {
        pub const FILENAME: u64 = 4;
    }
    /// `Resource.attributes` are of `KeyValue`, the dictionary's of `KeyValueAndUnit`; both have a value of `AnyValue`.
    pub mod attribute {
        pub const RESOURCE_ATTRIBUTES: u64 = 1;
        pub const KEY: u64 = 1;
        pub const VALUE: u64 = 2;
        pub const STRING_VALUE: u64 = 1;
        pub const INT_VALUE: u64 = 3;
    }
    pub mod scope {
        pub const NAME: u64 = 1;
    }
}

/// Attribute of a location for the kind of its code (semantic conventions of profiles).
const FRAME_TYPE: &str = "profile.frame.type";

/// Attribute of a resource for the facts of a slice.
const FACTS: &str = "yunti.slice";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slice::{Frame, FrameKind, Measure, Slice};

    fn slice() -> Slice {
        let mut slice = Slice::default();
        slice.facts.service.name = "shop".into();
        slice.facts.service.pid = 7;
        (slice.facts.begin_ms, slice.facts.duration_ms) = (1_795_835_400_123, 30_000);
        slice.facts.periods = [(Measure::Cpu, 10_101_010), (Measure::Alloc, 524_288)].into();
        let frame = |name: &str, file: &str, kind| Frame { name: name.into(), file: file.into(), kind };
        let [run, read] =
            [frame("Shop.run", "Shop.java", FrameKind::Compiled), frame("vfs_read", "", FrameKind::Kernel)];
        slice.stacks.add([&run, &read], Measure::Cpu, 20_202_020);
        slice.stacks.add([&run], Measure::Cpu, 10_101_010);
        slice.stacks.add([&run], Measure::Alloc, 4096);
        slice
    }

    #[test]
    fn slices_round_trip() {
        for slice in [slice(), Slice::default()] {
            assert_eq!(read(&write(&slice)), Ok(vec![slice]));
        }
    }

    #[test]
    fn damage_is_an_error_and_never_a_panic() {
        let bytes = write(&slice());
        for at in 0..bytes.len() {
            let _ = read(&bytes[..at]);
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                let _ = read(&flipped);
            }
        }
        assert!(read(b"no profile at all").is_err());
        assert!(read(b"").is_err());
    }
}
