//! One random job: derived from a seed, with its files, its run, and the expected output.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use yunti_base::Code;
use yunti_engine::codec::encode::{Compression, Target};
use yunti_engine::codec::{self, CodecKind, State};
use yunti_engine::env::faulty::{Fault, FaultyFiles, Place, Step};
use yunti_engine::env::random::Random as Numbers;
use yunti_engine::env::real::RealFiles;
use yunti_engine::env::threads::RealThreads;
use yunti_engine::env::{Env, Threads};
use yunti_engine::job::spec::SourceSpec;
use yunti_engine::job::{JobSpec, Mode, OutputFormat, OutputTarget, SpillCodec};
use yunti_engine::operator::Type;

use crate::answer;
use crate::classes::aside::{ASIDE, GONE, is_aside};
use crate::input::{self, Operator};
use crate::shapes::{Record, chance, magnitude, pick};
use crate::stage::{self, Dataset, Order};
use crate::support::{Temp, run_in};

/// A fault: kind, files, and the operation at which it begins.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    nth: u64,
    sticky: bool,
    fault: Fault,
    scratch_only: bool,
}

/// A random job and its expected output.
pub struct Random {
    /// Specification. Inputs and side files are names within the input directory.
    spec: JobSpec,
    files: Vec<(String, Vec<u8>)>,
    answer: Dataset,
    /// Expected records in the files of the output `aside`.
    aside: Dataset,
    trouble: Option<Trouble>,
    /// Threads that the system provides at most.
    threads_given: usize,
    maps_files: bool,
    input_records: usize,
    /// True if an older output exists.
    older: bool,
}

/// System that starts at most this many threads.
struct FewThreads(usize);

impl Threads for FewThreads {
    fn run(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        RealThreads.run(n.min(self.0), body);
    }
    fn processors(&self) -> usize {
        4
    }
}

fn trouble(random: &mut Numbers) -> Option<Trouble> {
    if chance(random, 60) {
        return None;
    }
    let errno = Fault::Errno(pick(random, &[libc::EIO, libc::ENOSPC, libc::EINTR, libc::EACCES, libc::EMFILE]));
    let fault = pick(random, &[errno, errno, errno, Fault::Short, Fault::Slow(1), Fault::Torn]);
    let sticky = match fault {
        // An operation that is always interrupted would never end.
        Fault::Errno(libc::EINTR) | Fault::Slow(_) => false,
        _ => chance(random, 30),
    };
    // A flipped bit in the input would be other input.
    let scratch_only = fault == Fault::Torn || chance(random, 30);
    Some(Trouble { nth: 1 + magnitude(random, 600), sticky, fault, scratch_only })
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
    pub fn of(seed: u64) -> Random {
        let random = &mut Numbers::new(seed);
        let operator = pick(random, &[Operator::Identity, Operator::Identity, Operator::Words, Operator::Longs]);
        let input = input::input(operator, random);
        let input_records: usize = input.files.iter().map(|file| file.records.len()).sum();
        let later = if chance(random, 20) { 1 + random.below(2) as usize } else { 0 };

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
        for (number, (file, mapper)) in input.files.into_iter().zip(mappers).enumerate() {
            let bytes = codec_in.map_or(file.bytes.clone(), |target| compress(target, &file.bytes));
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
        let (mut answer, more) = stage::work(&mut spec, mapped, aside_of_reduce && later == 0, random);
        aside.extend(more);
        for number in 1..=later {
            let mut job = JobSpec::default();
            let (next, more) = stage::work(&mut job, answer, aside_of_reduce && number == later, random);
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
        spec.threads = Some(1 + random.below(4) as usize);
        spec.spill_codec = pick(random, &[SpillCodec::Auto, SpillCodec::None, SpillCodec::Lz4]);
        let older = chance(random, 20);
        spec.overwrite = older || chance(random, 20);
        let trouble = trouble(random);
        // If the new directory can neither be synced nor changed, both outputs stay.
        let both_left = older && trouble.is_some_and(|t| t.sticky && !t.scratch_only);
        spec.durable = !both_left && chance(random, 10);
        let threads_given = 1 + random.below(8) as usize;
        let maps_files = chance(random, 50);
        Random { spec, files, answer, aside, trouble, threads_given, maps_files, input_records, older }
    }

    pub fn describe(&self) -> String {
        let files: Vec<String> =
            self.files.iter().map(|(name, bytes)| format!("{name}: {} bytes", bytes.len())).collect();
        format!(
            "{:?}, {} records in {files:?}, threads given: {}, files mapped: {}, an older output: {}, \
             fault: {:?}",
            self.spec, self.input_records, self.threads_given, self.maps_files, self.older, self.trouble
        )
    }

    /// Runs the job once. Returns a name of the outcome.
    pub fn run(&self) -> &'static str {
        let temp = Temp::new("random");
        for (name, bytes) in &self.files {
            temp.write(&format!("in/{name}"), bytes);
        }
        ["s", "t"].iter().for_each(|s| fs::create_dir(temp.path(s)).unwrap());
        if self.older {
            temp.write("out/older", b"older");
        }
        let input = |name: &String| temp.path("in").join(name).to_string_lossy().into_owned();
        let source =
            |source: &SourceSpec| SourceSpec { inputs: source.inputs.iter().map(input).collect(), ..source.clone() };
        let spec = JobSpec {
            inputs: self.spec.inputs.iter().map(input).collect(),
            sources: self.spec.sources.iter().map(source).collect(),
            side_files: self.spec.side_files.iter().map(|name| temp.path("in").join(name)).collect(),
            output: OutputTarget::Directory(temp.path("out")),
            scratch_dirs: vec![temp.path("s").into(), temp.path("t").into()],
            ..self.spec.clone()
        };
        let mut outcome = "troubled, the same";
        let mut result = run_in(&self.env(), &spec);
        if result.as_ref().is_err_and(|e| e.code() == Code::Memory) && spec.memory_bytes < Some(256 << 20) {
            // Encoders of some codecs need more memory than the least budget.
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
        self.expect_output(&temp);
        outcome
    }

    fn env(&self) -> Env {
        let threads = Arc::new(FewThreads(self.threads_given));
        let mut env = Env { cache_dir: None, threads, maps_files: self.maps_files, ..Env::real() };
        if let Some(t) = self.trouble {
            // Failed removals leave files behind; the sweep tests cover them.
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

    fn expect_output(&self, temp: &Temp) {
        let out = temp.path("out");
        let mut names: Vec<String> =
            fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert!(names.iter().any(|n| n == "_SUCCESS"), "{names:?}");
        let files_of = |prefix: &str| -> Vec<Vec<u8>> {
            let read = |name: &String| {
                let bytes = fs::read(out.join(name)).unwrap();
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
