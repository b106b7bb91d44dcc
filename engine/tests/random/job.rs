//! One random job: what its seed says, its files, its run, and what it must give.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use yunti_engine::base::Code;
use yunti_engine::codec::encode::{Compression, Target};
use yunti_engine::codec::{self, CodecKind, State};
use yunti_engine::env::faulty::{Fault, FaultyFiles, Place, Step};
use yunti_engine::env::random::Random as Numbers;
use yunti_engine::env::real::RealFiles;
use yunti_engine::env::threads::RealThreads;
use yunti_engine::env::{Env, Threads};
use yunti_engine::format::columns::Columns;
use yunti_engine::job::{InputFormat, JobSpec, Mode, OutputFormat, OutputTarget, Partitioning, SpillCodec};
use yunti_engine::operator::Type;

use crate::plain;
use crate::shapes::{self, Alphabet, Record, Shape, chance, magnitude, pick};
use crate::support::{Temp, run_in};

/// What leaves the job is the same in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Part by part.
    Parts,
    /// All parts, one behind the other.
    Joined,
    /// In any order within a part.
    Any,
}

/// A fault, where it strikes, and from which operation on.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    nth: u64,
    sticky: bool,
    fault: Fault,
    scratch_only: bool,
}

pub struct Random {
    spec: JobSpec,
    /// Names within the directory of the input.
    files: Vec<(String, Vec<u8>)>,
    parts: Vec<Vec<u8>>,
    order: Order,
    trouble: Option<Trouble>,
    /// Threads that the system gives, at most.
    threads_given: usize,
    input_records: usize,
    /// There is an older output.
    older: bool,
}

/// A system that refuses to start more threads than so many.
struct FewThreads(usize);

impl Threads for FewThreads {
    fn run(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        RealThreads.run(n.min(self.0), body);
    }
    fn processors(&self) -> usize {
        4
    }
}

/// Operators whose result a plain loop knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Identity,
    Words,
    Longs,
}

fn trouble(random: &mut Numbers) -> Option<Trouble> {
    if chance(random, 60) {
        return None;
    }
    let errno = Fault::Errno(pick(random, &[libc::EIO, libc::ENOSPC, libc::EINTR, libc::EACCES, libc::EMFILE]));
    let fault = pick(random, &[errno, errno, errno, Fault::Short, Fault::Slow(1), Fault::Torn]);
    let sticky = match fault {
        // What is interrupted for ever goes on for ever.
        Fault::Errno(libc::EINTR) | Fault::Slow(_) => false,
        _ => chance(random, 30),
    };
    // A bit that turns in text is other text.
    let scratch_only = fault == Fault::Torn || chance(random, 30);
    Some(Trouble { nth: 1 + magnitude(random, 600), sticky, fault, scratch_only })
}

/// The records in the bytes of a random format that can hold them.
struct Input {
    format: InputFormat,
    columns: Columns,
    shape: Shape,
    n: u64,
}

fn input(operator: Operator, random: &mut Numbers) -> Input {
    let numbers = [Type::I32, Type::U32, Type::F32, Type::I64, Type::U64, Type::F64];
    let value_bytes_max = if operator == Operator::Longs { 8 } else { magnitude(random, 300) };
    let mut shape = Shape {
        alphabet: Alphabet::Any,
        key_type: Type::Bytes,
        distinct: 1 + magnitude(random, 100_000),
        key_bytes_max: magnitude(random, 60),
        value_bytes_max,
        fixed: operator == Operator::Longs,
        long_percent: if chance(random, 20) && operator == Operator::Identity { 3 } else { 0 },
    };
    let mut columns = Columns::default();
    let separator = pick(random, b",;\t|");
    let named = |k: &str, v: &str| Columns { key: vec![k.into()], value: vec![v.into()] };
    let format = match if operator == Operator::Longs { random.below(2) } else { random.below(7) } {
        0 => InputFormat::Framed,
        1 => {
            shape.fixed = true;
            shape.long_percent = 0;
            shape.key_bytes_max = shape.key_bytes_max.max(1);
            if operator == Operator::Identity && chance(random, 50) {
                shape.key_type = pick(random, &numbers);
                shape.key_bytes_max = shape.key_type.fixed_bytes().unwrap() as u64;
            }
            let record_bytes = (shape.key_bytes_max + shape.value_bytes_max) as u32;
            InputFormat::Fixed { record_bytes, key_bytes: shape.key_bytes_max as u32 }
        }
        2 | 3 => {
            shape.alphabet = Alphabet::Line;
            InputFormat::KeyValue { separator: b'\t' }
        }
        4 => {
            shape.alphabet = Alphabet::Line;
            (shape.value_bytes_max, shape.key_bytes_max) = (0, shape.key_bytes_max + value_bytes_max);
            InputFormat::Text { delimiter: chance(random, 30).then(|| b"\n".to_vec()) }
        }
        5 => {
            let header = chance(random, 50);
            columns = if header { named("k", "v") } else { named("1", "2") };
            InputFormat::Csv { separator, header }
        }
        _ => {
            shape.alphabet = Alphabet::Printable;
            columns = named("k", "v");
            InputFormat::Json
        }
    };
    // Few jobs are so large that they spill: those of much memory are quick.
    let bytes = if chance(random, 5) { 3_000_000 } else { magnitude(random, 100_000) };
    let each = shape.key_bytes_max / 2 + shape.value_bytes_max * (1 + shape.long_percent) / 2 + 8;
    let n = (bytes / each).min(40_000);
    Input { format, columns, shape, n }
}

impl Input {
    fn bytes(&self, records: &[Record], random: &mut Numbers) -> Vec<u8> {
        match &self.format {
            InputFormat::Framed => shapes::framed(records),
            InputFormat::Fixed { .. } => shapes::joined(records, b"", b""),
            InputFormat::KeyValue { .. } => shapes::joined(records, b"\t", pick(random, &[b"\n", b"\r\n", b"\r"])),
            InputFormat::Text { delimiter: None } => shapes::joined(records, b"", pick(random, &[b"\n", b"\r\n"])),
            InputFormat::Text { .. } => shapes::joined(records, b"", b"\n"),
            InputFormat::Csv { separator, header } => shapes::csv(records, *separator, *header, random),
            InputFormat::Json => shapes::json(records, random),
            InputFormat::Class(_) => unreachable!("no class reads random jobs"),
        }
    }
}

fn compress(target: Target, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = Compression { target, level: None }.encoder().unwrap();
    encoder.write(bytes, &mut out).unwrap();
    encoder.finish(&mut out).unwrap();
    out
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

impl Random {
    pub fn of(seed: u64) -> Random {
        let random = &mut Numbers::new(seed);
        let operator = pick(random, &[Operator::Identity, Operator::Identity, Operator::Words, Operator::Longs]);
        let codecs: &[Option<Target>] = &[None, None, None, Some(pick(random, &Target::ALL))];
        let (input, mut records, mut files) = match operator {
            Operator::Words => {
                let bytes = if chance(random, 5) { 1_500_000 } else { magnitude(random, 100_000) };
                let distinct = 1 + magnitude(random, 300_000);
                (None, Vec::new(), cut_text(&shapes::text(bytes, distinct, random), random))
            }
            _ => {
                let input = input(operator, random);
                let records = input.shape.records(input.n, random);
                let mut files = Vec::new();
                let mut rest = &records[..];
                for last in [false, false, true] {
                    let n = if last { rest.len() } else { random.below(rest.len() as u64 + 1) as usize };
                    let (own, others) = rest.split_at(n);
                    files.push(input.bytes(own, random));
                    rest = others;
                }
                (Some(input), records, files)
            }
        };
        let key_type = input.as_ref().map_or(Type::Bytes, |i| i.shape.key_type);
        let mut spec = JobSpec {
            input_format: input.as_ref().map_or(InputFormat::Text { delimiter: None }, |i| i.format.clone()),
            columns: input.as_ref().map(|i| i.columns.clone()).unwrap_or_default(),
            ..JobSpec::default()
        };
        if operator == Operator::Words {
            records = files.iter().flat_map(|text| plain::words(text)).collect();
        }
        let input_records = records.len();
        if operator == Operator::Longs {
            spec.mapper = Some("Test.Longs".into());
        } else if operator == Operator::Words {
            spec.mapper = Some("Yunti.WordCountMapper".into());
        } else if key_type != Type::Bytes {
            spec.mapper = Some(format!("Test.Pass.{}", key_type.name()));
        }
        let mut value_type = match (operator, &spec.input_format) {
            (Operator::Identity, InputFormat::Text { .. }) => Type::None,
            (Operator::Identity, _) => Type::Bytes,
            _ => Type::I64,
        };
        if value_type == Type::None {
            records.iter_mut().for_each(|r| r.1.clear());
        }
        spec.mode = pick(random, &[Mode::Sorted, Mode::Sorted, Mode::Grouped, Mode::None]);
        if operator != Operator::Identity && spec.mode != Mode::None {
            type Fold = (&'static str, fn(i64) -> i64, fn(i64, i64) -> i64);
            let folds: [Fold; 4] = [
                ("Sum", |v| v, i64::wrapping_add),
                ("Min", |v| v, i64::min),
                ("Max", |v| v, i64::max),
                ("Count", |_| 1, |n, _| n + 1),
            ];
            let (name, first, fold) = pick(random, &folds);
            match random.below(4) {
                _ if name == "Count" => spec.folder = Some("Yunti.CountFolder".into()),
                0 | 1 => spec.folder = Some(format!("Yunti.{name}Folder")),
                2 => spec.reducer = Some(format!("Yunti.{name}Reducer")),
                _ if name == "Sum" => {
                    spec.reducer = Some("Test.Sum".into());
                    spec.combiner = Some(pick(random, &["Test.Sum", "Yunti.SumReducer"]).into());
                }
                _ => {
                    spec.reducer = Some(format!("Yunti.{name}Reducer"));
                    spec.combiner = spec.reducer.clone();
                }
            }
            records = plain::folded(&records, first, fold);
            value_type = Type::I64;
        }
        spec.descending = chance(random, 20);
        spec.deterministic = chance(random, 20);
        spec.reduces = if spec.mode == Mode::None { 1 } else { 1 + magnitude(random, 12) as u32 };
        let bytes = key_type == Type::Bytes;
        spec.partitioning = match random.below(4) {
            0 if spec.mode == Mode::Sorted => Partitioning::TotalOrder,
            1 if bytes => Partitioning::Class("Test.FirstByte".into()),
            _ => Partitioning::Hash,
        };
        // Floats are printed by the sort tests; what comes in any order must be told apart.
        let text = !matches!(key_type, Type::F32 | Type::F64);
        spec.output_format = match random.below(3) {
            _ if spec.mode == Mode::Grouped => OutputFormat::Framed,
            0 if text => OutputFormat::Text { separator: b"\t".to_vec() },
            1 => OutputFormat::Raw,
            _ => OutputFormat::Framed,
        };
        let codec_in = pick(random, codecs);
        spec.compress = pick(random, codecs).map(|target| Compression { target, level: None });
        spec.split_bytes = pick(random, &[100, 2000, 50_000, 333_333, 1 << 30])
            .max(files.iter().map(|f| f.len() as u64 / 200).max().unwrap_or(1));
        spec.memory_bytes = Some(pick(random, &[2, 3, 4, 6, 8, 64, 256]) << 20);
        spec.threads = Some(1 + random.below(4) as usize);
        spec.spill_codec = pick(random, &[SpillCodec::Auto, SpillCodec::None, SpillCodec::Lz4]);
        let older = chance(random, 20);
        spec.overwrite = older || chance(random, 20);
        spec.durable = chance(random, 5);
        let order = match (spec.mode, &spec.partitioning) {
            (Mode::Grouped, _) => Order::Any,
            (Mode::None, _) | (_, Partitioning::TotalOrder) => Order::Joined,
            _ => Order::Parts,
        };
        let records = if spec.mode == Mode::None { records } else { plain::sorted(records, key_type, spec.descending) };
        let mut by_part: Vec<Vec<Record>> = vec![Vec::new(); spec.reduces as usize];
        for record in records {
            let part = match &spec.partitioning {
                _ if spec.mode == Mode::None => 0,
                Partitioning::TotalOrder => 0,
                Partitioning::Class(_) => plain::first_byte_part(&record.0, spec.reduces),
                Partitioning::Hash => plain::hash_part(key_type, &record.0, spec.reduces),
            };
            by_part[part].push(record);
        }
        let parts = by_part
            .into_iter()
            .map(|part| encoded(&part, &spec.output_format, (key_type, value_type), order == Order::Any))
            .collect();
        if let Some(target) = codec_in {
            files.iter_mut().for_each(|bytes| *bytes = compress(target, bytes));
        }
        let extension = codec_in.map_or("", Target::extension);
        let files = files.into_iter().enumerate().map(|(i, bytes)| (format!("{i}{extension}"), bytes)).collect();
        let trouble = trouble(random);
        let threads_given = 1 + random.below(8) as usize;
        Random { spec, files, parts, order, trouble, threads_given, input_records, older }
    }

    pub fn told(&self) -> String {
        let files: Vec<String> =
            self.files.iter().map(|(name, bytes)| format!("{name}: {} bytes", bytes.len())).collect();
        format!(
            "{:?}, {} records in {files:?}, threads given: {}, an older output: {}, fault: {:?}",
            self.spec, self.input_records, self.threads_given, self.older, self.trouble
        )
    }

    /// Runs it once; says how it ended.
    pub fn run(&self) -> &'static str {
        let temp = Temp::new("random");
        for (name, bytes) in &self.files {
            temp.write(&format!("in/{name}"), bytes);
        }
        ["s", "t"].iter().for_each(|s| fs::create_dir(temp.path(s)).unwrap());
        if self.older {
            temp.write("out/older", b"older");
        }
        let spec = JobSpec {
            inputs: vec![temp.path("in").to_string_lossy().into_owned()],
            output: OutputTarget::Directory(temp.path("out")),
            scratch_dirs: vec![temp.path("s"), temp.path("t")],
            ..self.spec.clone()
        };
        let mut outcome = "troubled, the same";
        let mut result = run_in(&self.env(), &spec);
        if result.as_ref().is_err_and(|e| e.code() == Code::Memory) && spec.memory_bytes < Some(256 << 20) {
            // Encoders of some codecs need more than the least.
            self.expect_nothing(&temp);
            let more = JobSpec { memory_bytes: Some(256 << 20), ..spec.clone() };
            outcome = "with more memory";
            result = run_in(&self.env(), &more);
        }
        match (result, self.trouble) {
            (Ok(_), None) if outcome == "with more memory" => {}
            (Ok(_), None) => outcome = "the same",
            (Ok(_), Some(_)) => {}
            (Err(e), None) => panic!("{e}"),
            (Err(e), Some(t)) => {
                let allowed: &[Code] = match t.fault {
                    Fault::Errno(libc::EINTR) | Fault::Short | Fault::Slow(_) => &[],
                    Fault::Torn => &[Code::Corrupt],
                    Fault::Errno(_) => &[Code::Input, Code::Output],
                };
                assert!(allowed.contains(&e.code()) && e.path().is_some(), "{:?}: {e}", e.code());
                self.expect_nothing(&temp);
                return "troubled, one error";
            }
        }
        self.expect_parts(&temp);
        outcome
    }

    fn env(&self) -> Env {
        let mut env = Env { cache_dir: None, threads: Arc::new(FewThreads(self.threads_given)), ..Env::real() };
        if let Some(t) = self.trouble {
            // What could not be removed is left: the sweep looks at that.
            let counted = move |step: &Step| match step.place {
                Place::Scratch => true,
                _ => !t.scratch_only && !step.operation.is_removal(),
            };
            env.files = Arc::new(FaultyFiles::only(Arc::new(RealFiles), t.nth, t.sticky, t.fault, counted));
        }
        env
    }

    fn expect_nothing(&self, temp: &Temp) {
        let expect: &[&str] = if self.older { &["in", "out", "s", "t"] } else { &["in", "s", "t"] };
        assert_eq!(temp.names(), expect);
        assert!(!self.older || fs::read(temp.path("out/older")).is_ok_and(|b| b == b"older"));
        for scratch in ["s", "t"] {
            assert_eq!(fs::read_dir(temp.path(scratch)).unwrap().count(), 0);
        }
    }

    fn expect_parts(&self, temp: &Temp) {
        let out = temp.path("out");
        let mut names: Vec<String> =
            fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert!(names.iter().any(|n| n == "_SUCCESS") && !names.iter().any(|n| n == "older"), "{names:?}");
        let parts: Vec<Vec<u8>> = (names.iter().filter(|n| n.starts_with("part-")))
            .map(|name| {
                let bytes = fs::read(out.join(name)).unwrap();
                let kind = CodecKind::from_path(Path::new(name));
                assert_eq!(kind.is_some(), self.spec.compress.is_some());
                kind.map_or(bytes.clone(), |kind| decompress(kind, &bytes))
            })
            .collect();
        assert!(self.spec.mode == Mode::None || parts.len() == self.spec.reduces as usize, "{names:?}");
        match self.order {
            Order::Parts => assert!(parts == self.parts, "another answer"),
            Order::Joined => assert!(parts.concat() == self.parts.concat(), "another answer"),
            Order::Any => {
                for (part, expect) in parts.iter().zip(&self.parts) {
                    let mut records = framed_records(part);
                    records.sort();
                    assert!(shapes::framed(&records) == *expect, "another answer");
                }
            }
        }
    }
}

fn cut_text(text: &[u8], random: &mut Numbers) -> Vec<Vec<u8>> {
    // Between words: a word that is cut would be two.
    let at = random.below(text.len() as u64 + 1) as usize;
    let at = text[at..].iter().position(|b| b" \n".contains(b)).map_or(text.len(), |n| at + n + 1);
    vec![text[..at].to_vec(), text[at..].to_vec()]
}

fn encoded(records: &[Record], format: &OutputFormat, types: (Type, Type), any_order: bool) -> Vec<u8> {
    if any_order {
        let mut records = records.to_vec();
        records.sort();
        return shapes::framed(&records);
    }
    let (key_type, value_type) = types;
    let printed = |kind: Type, bytes: &[u8]| match kind {
        Type::I64 => i64::from_le_bytes(bytes.try_into().unwrap()).to_string().into_bytes(),
        Type::U64 => u64::from_le_bytes(bytes.try_into().unwrap()).to_string().into_bytes(),
        Type::I32 => i32::from_le_bytes(bytes.try_into().unwrap()).to_string().into_bytes(),
        Type::U32 => u32::from_le_bytes(bytes.try_into().unwrap()).to_string().into_bytes(),
        _ => bytes.to_vec(),
    };
    let mut out = Vec::new();
    match format {
        OutputFormat::Framed => out = shapes::framed(records),
        OutputFormat::Raw => out = shapes::joined(records, b"", b""),
        OutputFormat::Text { separator } => {
            for (key, value) in records {
                out.extend(printed(key_type, key));
                if value_type != Type::None {
                    out.extend_from_slice(separator);
                    out.extend(printed(value_type, value));
                }
                out.push(b'\n');
            }
        }
        _ => unreachable!("no random job has columns or a class as output"),
    }
    out
}

fn framed_records(mut bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    while let Some((header, rest)) = bytes.split_first_chunk::<8>() {
        let number = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().unwrap()) as usize;
        let (key, rest) = rest.split_at(number(0));
        let (value, rest) = rest.split_at(number(4));
        records.push((key.to_vec(), value.to_vec()));
        bytes = rest;
    }
    assert!(bytes.is_empty());
    records
}
