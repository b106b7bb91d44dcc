//! `yunti validate tera`: checks that records are sorted, and that they are the records of the input.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::command::numbers::whole;
use crate::command::part::stores::StoreFlags;
use clap::{Args, Subcommand};
use serde_json::json;
use yunti_base::{Code, Error, Result};
use yunti_engine::env::{Crew, Env, NamedFile};
use yunti_engine::job::Control;
use yunti_engine::library::validate::{TeraFile, TeraFileSummary, TeraSummary};

use crate::console::{signals, stdout};
use crate::failure::{self, Failure, Outcome};
use crate::text::numbers;

/// Check the order and the content of data
///
/// The exit code is 9 if the data is invalid.
#[derive(Debug, Args)]
pub struct ValidateFlags {
    #[command(subcommand)]
    pub subject: Subject,
}

#[derive(Debug, Subcommand)]
pub enum Subject {
    Tera(TeraFlags),
}

/// Check TeraSort records: their order and their checksum
///
/// Sorted means that each key is at least the previous one, from the first part file to the last. Prints the number of
/// records, the number with the same key as the previous record, and the checksum of Hadoop's TeraChecksum.
#[derive(Debug, Args)]
pub struct TeraFlags {
    /// Directory of part files, read in the order of their names, or one file
    pub path: PathBuf,

    /// Directory with the same records in any order: the input of the sort
    #[arg(long, value_name = "DIR", conflicts_with = "checksum")]
    pub against: Option<PathBuf>,

    /// Expected checksum, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = parse_checksum)]
    pub checksum: Option<u128>,

    /// Number of threads [default: the number of processors]
    #[arg(short, long, value_name = "N", value_parser = whole(1..=4096u32))]
    pub threads: Option<u32>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub stores: StoreFlags,
}

fn parse_checksum(text: &str) -> std::result::Result<u128, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u128::from_str_radix(digits, 16).map_err(|_| format!("'{text}' is not a hexadecimal number"))
}

pub fn validate(flags: &ValidateFlags) -> Outcome {
    let Subject::Tera(flags) = &flags.subject;
    let env = flags.stores.env();
    let control = Control::new();
    signals::cancel_on_signals(control.cancelled());
    let threads = flags.threads.map_or_else(|| env.threads.processors(), |n| n as usize);
    let summary = summarise(&env, &flags.path, threads, &control)?;
    let verdict = verdict(flags, &summary, &env, threads, &control);
    // Unreadable data is an error of its own; only invalid data gets a verdict.
    if let Err(e) = &verdict
        && e.code() != Code::Invalid
    {
        return Err(e.clone().into());
    }
    if flags.json {
        let mut document = json!({
            "files": summary.files,
            "records": summary.records,
            "duplicates": summary.duplicates,
            "misorders": summary.misorders,
            "checksum": summary.checksum_hex(),
            "valid": verdict.is_ok(),
        });
        if let Err(e) = &verdict {
            document["error"] = failure::as_json(e);
        }
        stdout::print_json(&document)?;
        return verdict.map_err(|e| Failure::Reported(e.code()));
    }
    stdout::print(&format!(
        "records     {}, in {}\nduplicates  {}\nchecksum    {}\nsorted      {}\n",
        numbers::count(summary.records),
        numbers::several(summary.files, "file"),
        numbers::count(summary.duplicates),
        summary.checksum_hex(),
        if summary.misorders == 0 {
            "yes".into()
        } else {
            format!("no, {}", numbers::several(summary.misorders, "descent"))
        },
    ))?;
    Ok(verdict?)
}

fn verdict(flags: &TeraFlags, summary: &TeraSummary, env: &Env, threads: usize, control: &Control) -> Result<()> {
    summary.check_order()?;
    let invalid = |what: String, hint: &str| {
        Err(Error::new(Code::Invalid, what).at_path(flags.path.to_string_lossy()).hint(hint))
    };
    if let Some(against) = &flags.against {
        let input = summarise(env, against, threads, control)?;
        if (input.records, input.checksum) != (summary.records, summary.checksum) {
            let (records, checksum) = (numbers::count(input.records), input.checksum_hex());
            let what = format!(
                "these are not the records of {}, which has {records} with checksum {checksum}",
                against.display()
            );
            return invalid(what, "records were lost, added or changed");
        }
    }
    if let Some(expected) = flags.checksum.filter(|c| *c != summary.checksum) {
        return invalid(format!("the checksum is not {expected:x}"), "records were lost, added or changed");
    }
    Ok(())
}

/// Reads all part files in parallel, and joins their summaries in the order of their names.
fn summarise(env: &Env, path: &Path, threads: usize, control: &Control) -> Result<TeraSummary> {
    let files = part_files(env, path)?;
    let crew = Crew { threads: &*env.threads, workers: threads, cancel: control.cancelled() };
    let checked: Vec<OnceLock<TeraFileSummary>> = files.iter().map(|_| OnceLock::new()).collect();
    crew.each(files.len(), |_, i| {
        let file = NamedFile::open(&*env.files, &files[i], Code::Input)?;
        let mut records = TeraFile::new(&files[i].to_string_lossy());
        let mut buffer = vec![0; 1 << 20];
        let mut at = 0;
        loop {
            crew.cancel.check()?;
            let n = file.read_up_to(&mut buffer, at)?;
            records.feed(&buffer[..n]);
            at += n as u64;
            if n < buffer.len() {
                break;
            }
        }
        let summary = records.end()?;
        checked[i].get_or_init(|| summary);
        Ok(())
    })?;
    let mut summary = TeraSummary::default();
    for file in checked.into_iter().filter_map(OnceLock::into_inner) {
        summary.append(file);
    }
    Ok(summary)
}

/// Returns the files that Hadoop reads in a directory, in the order of names: none that begins with `_` or `.`.
fn part_files(env: &Env, path: &Path) -> Result<Vec<PathBuf>> {
    let failed = |e: &std::io::Error| Error::io(Code::Input, "cannot read", e).at_path(path.to_string_lossy());
    if !env.files.meta(path).map_err(|e| failed(&e))?.is_dir {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut files = env.files.list(path).map_err(|e| failed(&e))?;
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().as_encoded_bytes();
        !name.starts_with(b"_") && !name.starts_with(b".") && env.files.meta(file).is_ok_and(|m| !m.is_dir)
    });
    if files.is_empty() {
        return Err(Error::new(Code::Input, "there are no part files")
            .at_path(path.to_string_lossy())
            .hint("name the output of a sort"));
    }
    Ok(files)
}
