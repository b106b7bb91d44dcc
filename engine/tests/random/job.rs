//! One random job: derived from a seed, with its files and the expected output.

use std::path::{Path, PathBuf};

use yunti_base::Code;
use yunti_engine::codec::encode::{Compression, Target};
use yunti_engine::codec::{self, CodecKind, State};
use yunti_engine::env::random::Random as Numbers;
use yunti_engine::env::{Files, NamedFile};
use yunti_engine::job::spec::SourceSpec;
use yunti_engine::job::{JobSpec, Mode, OutputFormat, OutputTarget, SpillCodec};
use yunti_engine::operator::Type;

use crate::answer;
use crate::classes::aside::{ASIDE, GONE, is_aside};
use crate::input::{self, Operator};
use crate::shapes::{Record, chance, pick};
use crate::stage::{self, Dataset, Order};

/// Limits of a job; a smaller job of the same seed is the same in all else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of input, at most.
    pub bytes: u64,
    /// Bytes of input, at least, unless that is more than `bytes`.
    pub bytes_min: u64,
    pub reduces: u32,
    pub threads: usize,
    /// Jobs after the first.
    pub later: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: u64::MAX, bytes_min: 0, reduces: u32::MAX, threads: usize::MAX, later: usize::MAX }
    }
}

/// A random job and its expected output.
pub struct Random {
    /// Specification. Inputs and side files are names within the input directory.
    pub spec: JobSpec,
    pub files: Vec<(String, Vec<u8>)>,
    answer: Dataset,
    /// Expected records in the files of the output `aside`.
    aside: Dataset,
    /// Threads that the system provides at most.
    pub threads_given: usize,
    pub maps_files: bool,
    input_records: usize,
    /// True if an older output exists.
    pub older: bool,
}

/// Returns a compressed file of one member, or of several that end anywhere in the records; some members are empty.
fn compress(target: Target, bytes: &[u8], random: &mut Numbers) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = Compression { target, level: None }.encoder().unwrap();
    let longest = pick(random, &[bytes.len(), bytes.len() / 3, bytes.len() / 30]) as u64;
    let mut rest = bytes;
    loop {
        let n = if longest == bytes.len() as u64 { rest.len() } else { 1 + random.below(longest + 1) as usize };
        let (member, behind) = rest.split_at(n.min(rest.len()));
        encoder.write(member, &mut out).unwrap();
        encoder.finish(&mut out).unwrap();
        rest = behind;
        if rest.is_empty() {
            return out;
        }
        if chance(random, 5) {
            encoder.finish(&mut out).unwrap();
        }
    }
}

fn decompress(kind: CodecKind, file: &[u8]) -> Vec<u8> {
    let mut decoder = codec::decoder(kind, codec::memory_bytes(kind)).unwrap();
    let (mut data, mut at, mut buffer) = (Vec::new(), 0, vec![0; 64 << 10]);
    loop {
        let step = decoder.decode(&file[at..], &mut buffer, true).unwrap();
        data.extend_from_slice(&buffer[..step.written]);
        at += step.read;
        if at == file.len() && step.state == State::End {
            return data;
        }
    }
}

/// Applies a mapper of plain records. Records that it puts aside are added to `aside`.
fn mapped(mapper: Option<&str>, records: &[Record], gone: &[Vec<u8>], aside: &mut Vec<Record>) -> Vec<Record> {
    let mut records = records.to_vec();
    match mapper {
        Some("Test.Without") => records.retain(|(key, _)| !gone.contains(key)),
        Some("Test.Aside") => aside.extend(records.extract_if(.., |(key, _)| is_aside(key))),
        _ => {}
    }
    records
}

impl Random {
    /// Returns the job that these numbers choose. The caller may draw more numbers.
    pub fn of(random: &mut Numbers, limits: &Limits) -> Random {
        let operator = pick(random, &[Operator::Identity, Operator::Identity, Operator::Words, Operator::Longs]);
        let input = input::input(operator, limits, random);
        let input_records: usize = input.files.iter().map(|file| file.records.len()).sum();
        let later = if chance(random, 20) { 1 + random.below(2) as usize } else { 0 }.min(limits.later);

        // A few keys, some of which occur in the records.
        let all = || input.files.iter().flat_map(|file| &file.records);
        let gone: Vec<Vec<u8>> =
            all().step_by(1 + input_records / 7).map(|r| r.0.clone()).chain([b"none".to_vec()]).collect();
        let plain = operator == Operator::Identity && (input.key_type, input.value_type) == (Type::Bytes, Type::Bytes);
        // In a chain, only the last job has named outputs.
        let aside_of_map = plain && later == 0 && chance(random, 20);
        let aside_of_reduce = plain && !aside_of_map && chance(random, 20);
        let mut mapper = || match operator {
            Operator::Longs => Some("Test.Longs".to_string()),
            Operator::Words => Some("Yunti.WordCountMapper".into()),
            _ if input.key_type != Type::Bytes => Some(format!("Test.Pass.{}", input.key_type.name())),
            _ if aside_of_map && chance(random, 80) => Some("Test.Aside".into()),
            _ if plain => {
                pick(random, &[None, None, Some("Test.Without"), Some("Yunti.IdentityMapper")]).map(Into::into)
            }
            _ => None,
        };
        let first = mapper();
        let mappers: Vec<_> =
            input.files.iter().map(|_| if input.several { mapper() } else { first.clone() }).collect();
        let (mut records, mut aside) = (Vec::new(), Vec::new());
        for (file, mapper) in input.files.iter().zip(&mappers) {
            records.extend(mapped(mapper.as_deref(), &file.records, &gone, &mut aside));
        }

        let mut spec = JobSpec::default();
        let codecs: &[Option<Target>] = &[None, None, None, Some(pick(random, &Target::ALL))];
        let codec_in = pick(random, codecs);
        let mut files = Vec::new();
        let members = &mut Numbers::new(random.next_u64());
        for (number, (file, mapper)) in input.files.into_iter().zip(mappers).enumerate() {
            let bytes = codec_in.map_or(file.bytes.clone(), |target| compress(target, &file.bytes, members));
            let name = format!("{number}{}", codec_in.map_or("", Target::extension));
            spec.sources.push(SourceSpec {
                inputs: vec![name.clone()],
                input_format: file.form.format,
                columns: file.form.columns,
                mapper,
            });
            files.push((name, bytes));
        }
        if !input.several {
            let only = spec.sources.swap_remove(0);
            spec.sources.clear();
            // The whole directory.
            spec.inputs = vec![String::new()];
            (spec.input_format, spec.columns, spec.mapper) = (only.input_format, only.columns, only.mapper);
        }
        if spec.sources().iter().any(|source| source.mapper.as_deref() == Some("Test.Without")) || chance(random, 5) {
            spec.side_files = vec![GONE.into()];
            let keys = gone.iter().flat_map(|key| [&(key.len() as u32).to_le_bytes()[..], key].concat()).collect();
            files.push((GONE.into(), keys));
        }

        let mapped = Dataset {
            parts: vec![records],
            order: Order::Joined,
            key_type: input.key_type,
            value_type: input.value_type,
        };
        let (mut answer, more) = stage::work(&mut spec, mapped, aside_of_reduce && later == 0, limits, random);
        aside.extend(more);
        for number in 1..=later {
            let mut job = JobSpec::default();
            let (next, more) = stage::work(&mut job, answer, aside_of_reduce && number == later, limits, random);
            aside.extend(more);
            answer = next;
            spec.then.push(job);
        }
        let any = matches!(answer.order, Order::AnyInParts | Order::Any) && !aside_of_map;
        if aside_of_map || aside_of_reduce {
            let text = OutputFormat::Text { separator: b"=>".to_vec() };
            let format = if any {
                &OutputFormat::Framed
            } else {
                pick(random, &[&text, &OutputFormat::Raw, &OutputFormat::Framed])
            };
            spec.outputs.insert(ASIDE.into(), format.clone());
            if chance(random, 20) {
                spec.outputs.insert("never".into(), OutputFormat::Raw);
            }
        }
        let aside = Dataset {
            parts: vec![aside],
            order: if any { Order::Any } else { Order::Joined },
            key_type: Type::Bytes,
            value_type: Type::Bytes,
        };
        answer::format(&mut spec, &answer, input.value_columns, input.tabless, random);
        spec.compress = pick(random, codecs).map(|target| Compression { target, level: None });
        spec.split_bytes = pick(random, &[100, 2000, 50_000, 333_333, 1 << 30])
            .max(files.iter().map(|f| f.1.len() as u64 / 200).max().unwrap_or(1));
        spec.then.iter_mut().for_each(|job| job.split_bytes = pick(random, &[2000, 50_000, 1 << 30]));
        spec.memory_bytes = Some(pick(random, &[2, 3, 4, 6, 8, 64, 256]) << 20);
        spec.threads = Some((1 + random.below(4) as usize).min(limits.threads));
        spec.spill_codec = pick(random, &[SpillCodec::Auto, SpillCodec::None, SpillCodec::Lz4]);
        let older = chance(random, 20);
        spec.overwrite = older || chance(random, 20);
        spec.durable = chance(random, 10);
        let threads_given = 1 + random.below(8) as usize;
        let maps_files = chance(random, 50);
        Random { spec, files, answer, aside, threads_given, maps_files, input_records, older }
    }

    pub fn describe(&self) -> String {
        let files: Vec<String> =
            self.files.iter().map(|(name, bytes)| format!("{name}: {} bytes", bytes.len())).collect();
        format!(
            "{:?}, {} records in {files:?}, threads given: {}, files mapped: {}, an older output: {}",
            self.spec, self.input_records, self.threads_given, self.maps_files, self.older
        )
    }

    /// Returns the specification in a directory: `in`, `out`, and scratch directories `s` and `t`.
    pub fn spec_in(&self, root: &Path) -> JobSpec {
        let input = |name: &String| root.join("in").join(name).to_string_lossy().into_owned();
        let source =
            |source: &SourceSpec| SourceSpec { inputs: source.inputs.iter().map(input).collect(), ..source.clone() };
        JobSpec {
            inputs: self.spec.inputs.iter().map(input).collect(),
            sources: self.spec.sources.iter().map(source).collect(),
            side_files: self.spec.side_files.iter().map(|name| root.join("in").join(name)).collect(),
            output: OutputTarget::Directory(root.join("out")),
            scratch_dirs: vec![root.join("s").into(), root.join("t").into()],
            ..self.spec.clone()
        }
    }

    /// Expects that only the input, an older output and the empty scratch directories exist.
    pub fn expect_nothing(&self, files: &dyn Files, root: &Path) {
        let expect: &[&str] = if self.older { &["in", "out", "s", "t"] } else { &["in", "s", "t"] };
        assert_eq!(names_in(files, root), expect, "something is left");
        assert!(!self.older || read(files, &root.join("out/older")) == b"older", "the older output is damaged");
        for scratch in ["s", "t"] {
            assert_eq!(names_in(files, &root.join(scratch)), [""; 0], "scratch files are left");
        }
    }

    /// Expects the right output.
    pub fn expect_output(&self, files: &dyn Files, root: &Path) {
        self.expect_output_at(files, &root.join("out"));
    }

    /// Expects the right output in the directory `out`.
    pub fn expect_output_at(&self, files: &dyn Files, out: &Path) {
        let names = names_in(files, out);
        assert!(names.iter().any(|n| n == "_SUCCESS"), "{names:?}");
        let files_of = |prefix: &str| -> Vec<Vec<u8>> {
            let read = |name: &String| {
                let bytes = read(files, &out.join(name));
                let kind = CodecKind::from_path(Path::new(name));
                assert_eq!(kind.is_some(), self.spec.compress.is_some());
                kind.map_or(bytes.clone(), |kind| decompress(kind, &bytes))
            };
            names.iter().filter(|n| n.starts_with(prefix)).map(read).collect()
        };
        let (parts, aside) = (files_of("part-"), files_of("aside-"));
        assert_eq!(names.iter().filter(|n| !n.starts_with('_')).count(), parts.len() + aside.len(), "{names:?}");
        answer::expect(&self.spec, &self.answer, &parts);
        match self.spec.outputs.get(ASIDE) {
            Some(format) => {
                let beside = JobSpec { output_format: format.clone(), mode: Mode::None, ..JobSpec::default() };
                answer::expect(&beside, &self.aside, &aside);
            }
            None => assert!(aside.is_empty()),
        }
    }
}

/// Returns the names in a directory.
pub fn names_in(files: &dyn Files, dir: &Path) -> Vec<String> {
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    files.list(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())).iter().map(name).collect()
}

/// Returns the bytes of a file.
pub fn read(files: &dyn Files, path: &Path) -> Vec<u8> {
    let file = NamedFile::open(files, path, Code::Input).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_exact(&mut bytes, 0).unwrap();
    bytes
}
