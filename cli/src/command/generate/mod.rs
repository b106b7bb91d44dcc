//! `yunti generate`: test data in a directory that appears when it is whole.

mod parts;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::command::numbers::{number, whole};
use crate::command::part::stores::StoreFlags;
use clap::{Args, ValueEnum};
use serde_json::json;
use yunti_base::{Code, Error, Result};
use yunti_engine::env::{Crew, Env};
use yunti_engine::job::commit::{Claim, ClaimOptions, PendingOutput};
use yunti_engine::job::spec::parse_size;
use yunti_engine::job::{Control, Progress};
use yunti_engine::library::generate::{PairBlocks, TERA_RECORD_BYTES, TextBlocks, ZipfBlocks};

use crate::console::{progress, signals, stdout};
use crate::failure::Outcome;
use crate::text::numbers;
use parts::Data;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Records of 100 bytes with 10-byte keys, as Hadoop's TeraGen makes them
    Tera,
    /// Lines of words from a small vocabulary
    Text,
    /// Lines of words with a Zipf distribution: few common words, many rare ones
    Zipf,
    /// Lines of key TAB number
    Pairs,
}

/// Make test data
///
/// The same arguments give the same bytes, on any number of threads.
/// The part files (part-m-00000 ..) are written to a temporary directory, which is renamed when
/// it is complete.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  yunti generate tera --records 10000000 --output t/\n  yunti generate zipf --bytes 2GB --output z/"
)]
pub struct GenerateFlags {
    #[arg(value_enum)]
    pub kind: Kind,

    /// Number of tera records
    #[arg(long, value_name = "N", value_parser = whole(0..=u64::MAX), conflicts_with = "bytes", required_unless_present = "bytes")]
    pub records: Option<u64>,

    /// Size of the data, as in 1GB; tera writes the whole records that fit, text ends with the last word that fits
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub bytes: Option<u64>,

    /// Directory to create
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Replace the output if it exists
    #[arg(long)]
    pub overwrite: bool,

    /// Wait if another job is writing the output
    #[arg(long)]
    pub wait: bool,

    /// tera: write lines of printable characters
    #[arg(long)]
    pub ascii: bool,

    /// text, zipf: number of distinct words; pairs: number of distinct keys [default: 1000, 5000000, 100000]
    #[arg(long, value_name = "N", value_parser = whole(0..=u32::MAX))]
    pub distinct: Option<u32>,

    /// zipf: exponent; the frequency of the word of rank r is proportional to 1 / r^S
    #[arg(long, value_name = "S", value_parser = number, default_value_t = ZipfBlocks::EXPONENT)]
    pub exponent: f64,

    /// Seed of the random text; tera ignores it
    #[arg(long, value_name = "S", value_parser = whole(0..=u64::MAX), default_value_t = 0)]
    pub seed: u64,

    /// Number of part files [default: one per 256 MB]
    #[arg(long, value_name = "N", value_parser = whole(1..=100_000u32))]
    pub files: Option<u32>,

    /// Number of threads [default: the number of processors]
    #[arg(short, long, value_name = "N", value_parser = whole(1..=4096u32))]
    pub threads: Option<u32>,

    /// Print a summary as one JSON document
    #[arg(long)]
    pub json: bool,

    /// Print no progress and no summary on standard error
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub stores: StoreFlags,
}

/// Bytes of a part file, where `--files` does not set their number.
const FILE_BYTES: u64 = 256_000_000;

pub fn generate(flags: &GenerateFlags) -> Outcome {
    let env = flags.stores.env();
    let data = data(flags)?;
    let files =
        flags.files.map_or_else(|| data.bytes().div_ceil(FILE_BYTES).clamp(1, 100_000) as usize, |n| n as usize);
    let threads = flags.threads.map_or_else(|| env.threads.processors(), |n| n as usize);
    let control = Control::new();
    signals::cancel_on_signals(control.cancelled());
    let done = Arc::new(AtomicU64::new(0));
    let begin = env.clock.now_ns();
    {
        let (written, total_bytes, shared) = (done.clone(), data.bytes(), control.clone());
        let sample = move || Progress {
            stage: "generate",
            done_bytes: written.load(Ordering::Relaxed),
            total_bytes,
            records: 0,
            output_bytes: 0,
            status: shared.progress().status,
        };
        let _display = progress::show(sample, flags.quiet);
        write(&env, &data, flags, files, threads, &control, &done)?;
    }
    let seconds = (env.clock.now_ns() - begin) as f64 / 1e9;
    let bytes = done.load(Ordering::Relaxed);
    if flags.json {
        let document = json!({ "output": flags.output.to_string_lossy(), "bytes": bytes, "records": data.records(), "files": files, "seconds": seconds });
        return stdout::print_json(&document);
    }
    if !flags.quiet {
        let what = data.records().map_or(String::new(), |n| format!(" ({})", numbers::several(n, "record")));
        let speed = numbers::rate(bytes as f64 / 1e6 / seconds);
        let (size, time) = (numbers::bytes(bytes), numbers::milliseconds(seconds * 1000.0));
        let files = numbers::several(files as u64, "file");
        eprintln!("generate: {size}{what} in {files}, {time}, {speed}, in {}", flags.output.display());
    }
    Ok(())
}

fn data(flags: &GenerateFlags) -> Result<Data> {
    let only =
        |flag: &str, kind: &str| Err(Error::new(Code::Usage, format!("{flag} is for {kind}")).hint("leave it out"));
    if flags.ascii && flags.kind != Kind::Tera {
        return only("--ascii", "tera");
    }
    if flags.distinct.is_some() && flags.kind == Kind::Tera {
        return only("--distinct", "text, zipf and pairs");
    }
    if flags.kind == Kind::Tera {
        let records = flags.records.unwrap_or_else(|| flags.bytes.unwrap_or(0) / TERA_RECORD_BYTES as u64);
        if records.checked_mul(TERA_RECORD_BYTES as u64).is_none() {
            return Err(Error::new(Code::Usage, format!("{records} records are too many")).hint("no disk holds them"));
        }
        return Ok(Data::Tera { records, ascii: flags.ascii });
    }
    let Some(bytes) = flags.bytes else {
        return Err(Error::new(Code::Usage, "--records is for tera").hint("give --bytes SIZE"));
    };
    let seed = flags.seed;
    Ok(match flags.kind {
        Kind::Text => {
            let distinct = flags.distinct.unwrap_or(TextBlocks::DISTINCT_WORDS);
            Data::Blocks { blocks: Box::new(TextBlocks::new(seed, distinct)?), bytes }
        }
        Kind::Zipf => {
            let distinct = flags.distinct.unwrap_or(ZipfBlocks::DISTINCT_WORDS);
            Data::Blocks { blocks: Box::new(ZipfBlocks::new(seed, distinct, flags.exponent)?), bytes }
        }
        Kind::Pairs | Kind::Tera => {
            let distinct = flags.distinct.unwrap_or(PairBlocks::KEYS);
            Data::Blocks { blocks: Box::new(PairBlocks::new(seed, distinct)?), bytes }
        }
    })
}

/// Writes to the temporary directory of a claim and renames it: a partial output never has the output's name.
fn write(
    env: &Env,
    data: &Data,
    flags: &GenerateFlags,
    files: usize,
    threads: usize,
    control: &Control,
    done: &AtomicU64,
) -> Result<()> {
    let options = ClaimOptions { overwrite: flags.overwrite, wait: flags.wait, resume: false };
    let claim = Arc::new(Claim::take(env, control, &flags.output, &options)?);
    let mut pending = PendingOutput::begin(env.files.clone(), claim, flags.overwrite, &|_| false)?;
    let crew = Crew { threads: &*env.threads, workers: threads, cancel: control.cancelled() };
    crew.each(files, |_, i| {
        let file = pending.create(&format!("part-m-{i:05}"))?;
        parts::write(&file, data, i, files, crew.cancel, done)
    })?;
    pending.create("_SUCCESS")?;
    control.cancelled().check()?;
    pending.commit(false)
}
