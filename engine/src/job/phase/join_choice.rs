//! The way of a hash join whose small side is a file and at servers too: a table in memory, lookups at the servers, or
//! a sort of both sides. A probe asks the servers for keys of the input, and the cheapest way is taken.
//!
//! The choice is made before the first record is read and before the output is opened. It depends on the clock, so a
//! job that may go on later (`--resume`) must name its way.

use std::path::Path;

use super::join_table;
use crate::env::{Crew, Env, NamedFile};
use crate::format::LineEnd;
use crate::job::control::Control;
use crate::job::plan::Plan;
use crate::job::plan::join_cost::{JoinBy, JoinCosts, JoinFacts, RATES, SideSize, slowness};
use crate::job::report::JoinChoice;
use crate::job::spec::JobSpec;
use crate::job::task_files::side_files;
use crate::library::applications::join::{self, Probe};
use crate::library::tables::TablePlace;
use crate::read::split::{Piece, RecordFormat};
use yunti_base::{Code, Error, Result};

/// Places of the input that are sampled, and the bytes of each.
const PLACES: usize = 64;
const PLACE_BYTES: u64 = if cfg!(debug_assertions) { 512 } else { 16 << 10 };
/// Places of the side file whose lines servers must have, and the lines of each.
const SIDE_PLACES: usize = 4;
const SIDE_LINES: usize = 32;

/// Returns the way that the job's settings name, or the cheapest; None if there is nothing to choose: no hash join, or
/// one side that is a file alone or at servers alone.
///
/// Errors: `Usage` for settings that do not fit together; `Input` for servers that do not answer, or have other rows
/// than the side file.
pub fn choose(
    spec: &JobSpec,
    plan: &Plan,
    env: &Env,
    control: &Control,
    (threads, budget_bytes): (usize, u64),
) -> Result<Option<JoinChoice>> {
    if !join_table::looks_up_lines(plan) {
        return Ok(None);
    }
    let usage = |what: String, hint: &str| Err(Error::new(Code::Usage, what).hint(hint.to_string()));
    let named = spec.settings.get(join::BY).map(|name| JoinBy::named(name)).transpose()?.flatten();
    let forced = |by| JoinChoice { by, named: true, ..JoinChoice::default() };
    let small = spec.settings.get(join::SMALL).map_or("", |name| name);
    let Some(servers) = spec.settings.get(join::SERVERS) else {
        let is_table = spec.tables.contains_key(small);
        return match named {
            Some(JoinBy::Lookup) if !is_table => usage(
                "join.by is lookup, but the small side is a file alone".into(),
                "name a table of servers with the same rows: -D join.servers=NAME --table NAME=server:ADDRESS",
            ),
            Some(JoinBy::Memory | JoinBy::Sort) if is_table => usage(
                format!("join.by needs the lines of the small side, but {small} is a table"),
                "name a side file with the same lines as join.small, and the table as join.servers",
            ),
            Some(JoinBy::Sort) => Ok(Some(forced(JoinBy::Sort))),
            _ => Ok(None),
        };
    };
    let Some(TablePlace::Servers(addresses)) = spec.tables.get(servers) else {
        let hint = format!("add --table {servers}=server:ADDRESS");
        return usage(format!("join.servers is {servers}, but no table of servers has this name"), &hint);
    };
    let Some(path) = join::small_path(small, &spec.side_files) else {
        return usage(
            format!("join.servers needs the same rows in a side file, and join.small is '{small}'"),
            "name a side file as join.small, or the table as join.small alone",
        );
    };
    let context = join_table::context(spec, env, control);
    let probe = Probe::connect(&context, servers, addresses)?;
    let (side, right) = side_lines(path, env)?;
    if let Some(missing) = probe.missing(&side)? {
        let line = String::from_utf8_lossy(&side[missing]).into_owned();
        let what = format!("the table {servers} of the servers does not have the line '{line}' of the side file");
        let error = Error::new(Code::Input, what).at_path(path.to_string_lossy());
        return Err(error.hint("both must have the same rows, in the same text"));
    }
    if let Some(by) = named {
        return Ok(Some(forced(by)));
    }
    if spec.resume {
        return usage(
            "the cheapest way of a join may be another one when the job goes on".into(),
            "name it: -D join.by=lookup, memory or sort",
        );
    }
    let Some((lines, line_bytes)) = left_lines(plan, env)? else { return Ok(None) };
    let crew = Crew { threads: &*env.threads, workers: threads.max(1), cancel: control.cancelled() };
    let parts: Vec<&[Vec<u8>]> = lines.chunks(lines.len().div_ceil(crew.workers).max(1)).collect();
    // The first keys open the connections.
    crew.each(parts.len(), |_, part| probe.look_up(&parts[part][..parts[part].len().min(16)]).map(drop))?;
    let from_ns = env.clock.now_ns();
    crew.each(parts.len(), |_, part| probe.look_up(parts[part]).map(drop))?;
    let elapsed_ns = env.clock.now_ns() - from_ns;
    let slowness = crew_slowness(&crew, &parts, env)?;
    let facts = JoinFacts {
        left: SideSize { bytes: plan.input_bytes, line_bytes },
        right,
        budget_bytes,
        workers: crew.workers,
        key_ns: elapsed_ns as f64 / lines.len().max(1) as f64,
        slowness,
    };
    let costs = JoinCosts::of(&facts, &RATES);
    Ok(Some(JoinChoice {
        by: costs.cheapest(),
        named: false,
        probed_keys: lines.len() as u64,
        probe_ms: elapsed_ns as f64 / 1e6,
        slowness,
        costs: Some(costs),
    }))
}

/// Returns how much slower the workers sort sampled lines than the processor of the rates.
fn crew_slowness(crew: &Crew<'_>, parts: &[&[Vec<u8>]], env: &Env) -> Result<f64> {
    let mut elapsed_ns = 0;
    // The first sort has new memory: the rate is one without.
    for _ in 0..2 {
        let from_ns = env.clock.now_ns();
        crew.each(parts.len(), |_, part| {
            let mut lines: Vec<&[u8]> = parts[part].iter().map(|line| &line[..]).collect();
            lines.sort_unstable();
            std::hint::black_box(&lines);
            Ok(())
        })?;
        elapsed_ns = env.clock.now_ns() - from_ns;
    }
    Ok(slowness(parts.first().map_or(0, |part| part.len()), elapsed_ns))
}

/// Chooses among the ways without a table in memory, because the table did not fit. Returns true for lookups.
pub fn without_memory(choice: &mut JoinChoice) -> bool {
    choice.named = false;
    choice.by = choice.costs.as_ref().map_or(JoinBy::Sort, JoinCosts::without_memory);
    choice.by == JoinBy::Lookup
}

/// Returns the error for a job that cannot sort both sides.
pub fn not_sorted() -> Error {
    let what = "join.by is sort, but the job does more than a hash join";
    Error::new(Code::Usage, what).hint("use the application join, or leave out join.by")
}

/// Returns the same job with lookups at the servers.
pub fn looked_up(spec: &JobSpec) -> JobSpec {
    let mut other = spec.clone();
    let small = spec.settings.get(join::SMALL).and_then(|small| join::small_path(small, &spec.side_files));
    let small = small.map(Path::to_path_buf);
    other.side_files.retain(|path| Some(path) != small.as_ref());
    if let Some(servers) = spec.settings.get(join::SERVERS) {
        other.settings.insert(join::SMALL.into(), servers.clone());
    }
    other
}

/// Returns lines from many places of the input, and the mean of their bytes; None if it cannot be read in places.
fn left_lines(plan: &Plan, env: &Env) -> Result<Option<(Vec<Vec<u8>>, f64)>> {
    let is_line = |format: &RecordFormat| matches!(format, RecordFormat::Lines { end: LineEnd::Any });
    let is_cut = |piece: &Piece| {
        let file = &plan.files[piece.file as usize];
        !file.is_stream && file.codec.is_none()
    };
    let mut pieces = plan.splits.iter().flat_map(|split| &split.pieces);
    if !plan.sources.iter().all(|source| is_line(&source.format)) || !pieces.all(is_cut) {
        return Ok(None);
    }
    let mut lines = Vec::new();
    for place in 0..PLACES as u64 {
        // The place is a byte of the whole input.
        let mut at = plan.input_bytes * place / PLACES as u64;
        for file in plan.files.iter() {
            if at < file.len {
                read_lines(&NamedFile::open(&*env.files, &file.path, Code::Input)?, at, PLACE_BYTES, &mut lines)?;
                break;
            }
            at -= file.len;
        }
    }
    let bytes: usize = lines.iter().map(|line| line.len() + 1).sum();
    Ok(Some(match lines.len() {
        0 => (lines, 1.0),
        count => (lines, bytes as f64 / count as f64),
    }))
}

/// Returns some lines of the side file, and its size.
fn side_lines(path: &Path, env: &Env) -> Result<(Vec<Vec<u8>>, SideSize)> {
    let bytes = side_files::meta(&*env.files, path)?.len;
    let file = join_table::open(path, env)?;
    let (mut some, mut line_bytes, mut count) = (Vec::new(), 0, 0);
    for place in 0..SIDE_PLACES as u64 {
        let mut lines = Vec::new();
        read_lines(&file, bytes * place / SIDE_PLACES as u64, PLACE_BYTES, &mut lines)?;
        line_bytes += lines.iter().map(|line| line.len() + 1).sum::<usize>();
        count += lines.len();
        some.extend(lines.into_iter().take(SIDE_LINES));
    }
    Ok((some, SideSize { bytes, line_bytes: line_bytes as f64 / count.max(1) as f64 }))
}

/// Appends the whole lines among some bytes of a file, without their ends.
fn read_lines(file: &NamedFile, at: u64, most: u64, lines: &mut Vec<Vec<u8>>) -> Result<()> {
    let mut bytes = vec![0; most as usize];
    let from = at.saturating_sub(1);
    let length = file.read_up_to(&mut bytes, from)?;
    let bytes = &bytes[..length];
    // The byte before the place is the end of a line, or the first line began earlier.
    let begin = match at {
        0 => 0,
        _ => bytes.iter().position(|byte| *byte == b'\n').map_or(length, |end| end + 1),
    };
    let is_at_end = length < most as usize;
    for line in bytes[begin..].split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(line) => lines.push(line.strip_suffix(b"\r").unwrap_or(line).to_vec()),
            None if is_at_end => lines.push(line.to_vec()),
            None => {}
        }
    }
    Ok(())
}
