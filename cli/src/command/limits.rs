//! `yunti machine limits`: measures this machine, prints the rates, and stores them for the reports of later jobs.

use std::path::PathBuf;

use clap::Args;
use yunti_engine::env::Env;
use yunti_engine::job::report::limits::{self, Limits, Rate};

use crate::console::{paint, stdout};
use crate::failure::Outcome;
use crate::text::numbers;
use crate::text::table::{Side, Table};

/// Measure the maximum rates of this machine
///
/// Measures memory, files, checksums, compression and sorting, in about three seconds. The result is stored in
/// $XDG_CACHE_HOME/yunti/limits.json (~/.cache/yunti/limits.json); reports of later jobs compare their stages with it.
#[derive(Debug, Args)]
pub struct LimitsFlags {
    /// Directories whose file systems to measure [default: the current and the system's temporary directory]
    pub dirs: Vec<PathBuf>,

    /// Measure for one second, less precisely
    #[arg(long)]
    pub quick: bool,

    /// Print one JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

pub fn limits(flags: &LimitsFlags) -> Outcome {
    let env = Env::real();
    let dirs = if flags.dirs.is_empty() { vec![PathBuf::from("."), env.temp_dir.clone()] } else { flags.dirs.clone() };
    let dirs: Vec<&std::path::Path> = dirs.iter().map(PathBuf::as_path).collect();
    let mut limits = limits::measure(&env, &dirs, flags.quick)?;
    let kept = match env.cache_dir.as_ref().map(|dir| dir.join(limits::FILE_NAME)) {
        // The rates are printed even if they cannot be stored.
        Some(path) => limits.store(&*env.files, &path).map(|()| path).map_err(|e| e.to_string()),
        None => Err("neither HOME nor XDG_CACHE_HOME is set".into()),
    };
    let note = match &kept {
        Ok(path) => format!("kept in {}", path.display()),
        Err(why) => format!("not kept for later reports: {why}"),
    };
    if flags.json {
        limits.not_measured.extend(kept.err().map(|_| note));
        return stdout::print_json(&serde_json::to_value(&limits).expect("limits can be written as JSON"));
    }
    stdout::print(&(table(&limits) + "\n  " + &note + "\n"))
}

fn table(limits: &Limits) -> String {
    let paint = paint::for_stdout();
    let mut table = Table::new(&[("", Side::Left), ("one thread", Side::Right), ("all threads", Side::Right)]);
    let mut row =
        |name: &str, rate: Rate| table.row(vec![name.into(), numbers::rate(rate.one), numbers::rate(rate.all)]);
    row("memory, read", limits.memory_read);
    row("memory, write", limits.memory_write);
    row("memory, copy", limits.memory_copy);
    row("fresh memory, 4 KiB pages", limits.fresh_pages);
    row("fresh memory, huge pages", limits.fresh_huge_pages);
    row("crc32c", limits.crc32c);
    row("lz4, in", limits.lz4_compress);
    row("lz4, out", limits.lz4_decompress);
    row(&format!("sort of 8-byte entries ({})", limits.simd), limits.sort);
    let one = |rate| Rate { one: rate, all: 0.0 };
    for files in &limits.files {
        row(&format!("{}: read from the cache", files.directory), files.cached_read);
        row(&format!("{}: write", files.directory), one(files.write));
        row(&format!("{}: write, preallocated", files.directory), one(files.write_allocated));
        row(&format!("{}: write and sync", files.directory), one(files.write_synced));
    }
    let mut out = format!("{} {} threads\n", paint.bold("Maximum rates of this machine,"), limits.threads);
    out += &table.print(paint);
    for line in &limits.not_measured {
        out += &format!("  not measured: {line}\n");
    }
    out
}
