//! pprof: the format of profiles that `go tool pprof` and many servers read (google/pprof, profile.proto).
//!
//! ```text
//!   texts: "", facts, names | sample types | mappings: one a kind of code | functions | locations | samples
//! ```
//!
//! A slice is such a profile. The facts come first, so that a reader needs only the first bytes for them; the order of
//! fields is free in protocol buffers.

mod read;
mod write;

pub use read::{read, read_facts};
pub use write::write;

/// Numbers of fields in profile.proto.
mod field {
    pub mod profile {
        pub const SAMPLE_TYPE: u64 = 1;
        pub const SAMPLE: u64 = 2;
        pub const MAPPING: u64 = 3;
        pub const LOCATION: u64 = 4;
        pub const FUNCTION: u64 = 5;
        pub const STRING_TABLE: u64 = 6;
        pub const TIME_NANOS: u64 = 9;
        pub const DURATION_NANOS: u64 = 10;
        pub const PERIOD_TYPE: u64 = 11;
        pub const PERIOD: u64 = 12;
        pub const COMMENT: u64 = 13;
        pub const DEFAULT_SAMPLE_TYPE: u64 = 14;
    }
    pub mod value_type {
        pub const TYPE: u64 = 1;
        pub const UNIT: u64 = 2;
    }
    pub mod sample {
        pub const LOCATION_ID: u64 = 1;
        pub const VALUE: u64 = 2;
    }
    pub mod mapping {
        pub const ID: u64 = 1;
        pub const FILENAME: u64 = 5;
        pub const HAS_FUNCTIONS: u64 = 7;
        pub const HAS_FILENAMES: u64 = 8;
    }
    pub mod location {
        pub const ID: u64 = 1;
        pub const MAPPING_ID: u64 = 2;
        pub const ADDRESS: u64 = 3;
        pub const LINE: u64 = 4;
    }
    pub mod line {
        pub const FUNCTION_ID: u64 = 1;
    }
    pub mod function {
        pub const ID: u64 = 1;
        pub const NAME: u64 = 2;
        pub const SYSTEM_NAME: u64 = 3;
        pub const FILENAME: u64 = 4;
    }
}

/// File name of the mapping that has the frames of a kind: `[compiled]`.
fn mapping_of(kind: crate::slice::FrameKind) -> String {
    format!("[{}]", kind.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::gzip;
    use crate::format::wire::Writer;
    use crate::slice::{Frame, FrameKind, Measure, Slice};

    fn slice() -> Slice {
        let mut slice = Slice::default();
        slice.facts.service.name = "shop".into();
        (slice.facts.begin_ms, slice.facts.duration_ms) = (1_795_835_400_123, 30_000);
        slice.facts.periods = [(Measure::Cpu, 10_101_010)].into();
        let frame = |name: &str, file: &str, kind| Frame { name: name.into(), file: file.into(), kind };
        let [thread, run, read, copy] = [
            frame("worker-1", "", FrameKind::Group),
            frame("Shop.run", "Shop.java", FrameKind::Compiled),
            frame("vfs_read", "", FrameKind::Kernel),
            frame("memcpy", "libc.so.6", FrameKind::Native),
        ];
        slice.stacks.add([&thread, &run, &read], Measure::Cpu, 20_202_020);
        slice.stacks.add([&thread, &run, &copy], Measure::Cpu, 10_101_010);
        slice.stacks.add([&thread, &run], Measure::Alloc, 4096);
        slice.stacks.add([&thread, &frame("Shop.run", "Shop.java", FrameKind::Interpreted)], Measure::Cpu, 1);
        slice
    }

    #[test]
    fn slices_round_trip() {
        for slice in [slice(), Slice::default()] {
            let bytes = write(&slice);
            assert_eq!(read(&bytes).unwrap(), slice);
            assert_eq!(read(&gzip::expand(&bytes).unwrap()).unwrap(), slice, "without gzip");
            assert_eq!(read_facts(&bytes[..]).unwrap(), slice.facts);
        }
    }

    #[test]
    fn facts_need_only_the_first_bytes() {
        let mut slice = slice();
        for n in 0..2000 {
            let frames = [Frame::new(&format!("Shop.method{n}"), FrameKind::Compiled)];
            slice.stacks.add(&frames, Measure::Cpu, 1);
        }
        let bytes = write(&slice);
        assert_eq!(read_facts(&bytes[..bytes.len() / 2]).unwrap(), slice.facts);
    }

    /// A profile as other programs write it: values in milliseconds and counts, inlined functions, no facts.
    #[test]
    fn reads_profiles_of_others() {
        let mut w = Writer::default();
        let texts =
            ["", "samples", "count", "cpu", "milliseconds", "inner", "outer", "main", "a.c", "/bin/prog", "note"];
        for (kind, unit) in [(1, 2), (3, 4)] {
            w.message(1, |m| {
                m.number(1, kind);
                m.number(2, unit);
            });
        }
        w.message(2, |m| {
            // Numbers that are not packed are as valid.
            [8, 9, 10].iter().for_each(|id| m.number(1, *id));
            m.packed(2, [1, 10]);
        });
        w.message(3, |m| {
            m.number(1, 1);
            m.number(5, 9);
        });
        let line = |id: u64| move |m: &mut Writer| m.number(1, id);
        w.message(4, |m| {
            m.number(1, 8);
            m.message(4, line(1));
            m.message(4, line(2));
        });
        w.message(4, |m| {
            m.number(1, 9);
            m.number(2, 1);
            m.number(3, 0x4010);
        });
        w.message(4, |m| {
            m.number(1, 10);
            m.message(4, line(3));
        });
        for (id, name, file) in [(1, 5, 8), (2, 6, 8), (3, 7, 0)] {
            w.message(5, |m| {
                m.number(1, id);
                m.number(2, name);
                m.number(4, file);
            });
        }
        texts.iter().for_each(|text| w.bytes(6, text.as_bytes()));
        w.number(9, 5_000_000_000);
        w.number(10, 2_000_000_000);
        w.number(13, 10);
        let slice = read(&w.into_bytes()).unwrap();
        assert_eq!((slice.facts.begin_ms, slice.facts.duration_ms), (5000, 2000));
        let stacks: Vec<(Vec<String>, u64)> = slice
            .stacks
            .of(Measure::Cpu)
            .map(|(frames, value)| (frames.map(|f| format!("{}@{}", f.name, f.file)).collect(), value))
            .collect();
        let names = ["main@", "0x4010@/bin/prog", "outer@a.c", "inner@a.c"].map(String::from).to_vec();
        assert_eq!(stacks, [(names, 10_000_000)]);
    }

    #[test]
    fn counts_become_time_by_the_period() {
        let mut w = Writer::default();
        ["", "samples", "count", "cpu", "nanoseconds", "f"].iter().for_each(|text| w.bytes(6, text.as_bytes()));
        let value_type = |kind: u64, unit: u64| {
            move |m: &mut Writer| {
                m.number(1, kind);
                m.number(2, unit);
            }
        };
        w.message(1, value_type(1, 2));
        w.message(11, value_type(3, 4));
        w.number(12, 10_000_000);
        w.message(2, |m| m.packed(2, [3]));
        let slice = read(&w.into_bytes()).unwrap();
        assert_eq!(slice.stacks.total(Measure::Cpu), 30_000_000);
        assert_eq!(slice.facts.periods[&Measure::Cpu], 10_000_000);
    }

    #[test]
    fn damage_is_an_error_and_never_a_panic() {
        let bytes = write(&slice());
        for at in 0..bytes.len() {
            assert!(read(&bytes[..at]).is_err(), "cut at {at}");
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            // Some bits of gzip mean nothing: the time in the header, padding before the checksum.
            assert!(read(&flipped).map_or(true, |same| same == slice()), "flipped at {at}");
            let _ = read_facts(&flipped[..]);
        }
        let plain = gzip::expand(&bytes).unwrap();
        for at in 0..plain.len() {
            for bit in 0..8 {
                let mut flipped = plain.clone();
                flipped[at] ^= 1 << bit;
                let _ = read(&flipped);
            }
        }
        let error = read(b"no profile at all").unwrap_err();
        assert_eq!(error.code(), yunti_base::Code::Corrupt);
    }
}
