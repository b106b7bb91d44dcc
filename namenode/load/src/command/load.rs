//! `yunti nn load`: so much load, and how the NameNode takes it.

use std::io::{IsTerminal, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use yunti_base::whole_file;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::{signals, stdout};

use super::plot;
use super::scenario::Scenario;
use super::told::{Told, time};
use crate::datanode::fleet::Fleet;
use crate::load::driver::{self, Outcome as Loaded, Plan, Progress, Task};
use crate::load::figures;
use crate::load::history::History;
use crate::load::mix::Mix;
use crate::load::names::NameSpace;
use crate::load::operation::Operation;
use crate::load::recent::Sample;
use crate::load::schedule::Pace;
use crate::rpc::wire::Io;
use crate::server::Server;

/// Loads a NameNode by many connections, and says what it took: operations a second, how long each call took, what it cost
#[derive(Clone, Debug, Args)]
pub struct LoadFlags {
    /// The NameNode's RPC address, as of fs.defaultFS
    #[arg(value_name = "HOST:PORT", default_value = "127.0.0.1:8020")]
    pub namenode: String,
    /// Operations and their weights: null, getFileInfo, getListing, getBlockLocations, contentSummary, mkdirs, create, rename, delete,
    /// setPermission
    #[arg(short, long, value_name = "MIX", default_value = "getFileInfo=90,mkdirs=10", value_parser = Mix::parse)]
    pub mix: Mix,
    /// Connections, each with a client of its own
    #[arg(short, long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub connections: u32,
    /// Operations that come in a second, whether the NameNode keeps up or not; without it each connection asks again as soon as it has its
    /// answer
    #[arg(short, long, value_name = "PER SECOND", value_parser = rate)]
    pub rate: Option<f64>,
    /// How long to measure
    #[arg(short, long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub seconds: Duration,
    /// How long to load before that
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub warm_up: Duration,
    /// Files of the name space that is read; they are made if they are not there
    #[arg(long, value_name = "N", default_value = "10000", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub files: u64,
    /// DataNodes that register, send heartbeats and report blocks; files have a block then
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub datanodes: u32,
    /// How often each DataNode reports all its blocks; without it once, in the beginning
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "datanodes")]
    pub block_reports: Option<Duration>,
    /// The NameNode's web server, as of dfs.namenode.http-address: how long calls were in its queue; without it, port 9870 of its host
    #[arg(long, value_name = "HOST:PORT")]
    pub jmx: Option<String>,
    /// Threads of ours
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub threads: u32,
    /// Which way of input and output
    #[arg(long, value_enum, value_name = "WAY", default_value_t)]
    pub io: Io,
    /// As whom; security is SIMPLE
    #[arg(long, value_name = "NAME", default_value_t = user())]
    pub user: String,
    /// What is by chance is the same for the same seed
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
    /// A load by its name, in steps; --datanodes says how many there are in the last one. It takes some minutes
    #[arg(long, value_name = "NAME", conflicts_with_all = ["mix", "rate", "connections", "plot", "history"])]
    pub scenario: Option<Scenario>,
    /// A page of calls a second and of how long they took, over time
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Writes down each change of the name space as it ended, and leaves what was made: what is to be there after a crash
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// The answer as one JSON document
    #[arg(long)]
    pub json: bool,
}

fn user() -> String {
    std::env::var("HADOOP_USER_NAME").or_else(|_| std::env::var("USER")).unwrap_or_else(|_| "root".to_owned())
}

fn rate(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= 10_000_000.0 => Ok(rate),
        _ => Err(format!("'{text}' is no rate; give operations a second, such as 15000")),
    }
}

const SECONDS_MAX: f64 = 86_400.0;

fn seconds(text: &str) -> std::result::Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=SECONDS_MAX).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("'{text}' is no number of seconds; from 0 to {SECONDS_MAX}")),
    }
}

/// `hdfs://host:8020/` too.
fn address(text: &str) -> Result<SocketAddr> {
    let bare = text.strip_prefix("hdfs://").unwrap_or(text).trim_end_matches('/');
    let has_port = bare.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let with_port = if has_port { bare.to_owned() } else { format!("{bare}:8020") };
    let found = with_port.to_socket_addrs().ok().and_then(|mut all| all.next());
    let unknown =
        || Error::new(Code::Input, format!("there is no host '{bare}'")).hint("HOST:PORT, as of fs.defaultFS");
    found.ok_or_else(unknown)
}

pub fn load(flags: &LoadFlags) -> Outcome {
    if let Some(path) = &flags.plot {
        whole_file::check(path, plot::WHAT)?;
    }
    let progress = Arc::new(Progress::default());
    stop_on_signals(&progress);
    let run = run(flags, &progress)?;
    let told = Told { flags, loaded: &run.loaded };
    if let Some(path) = &flags.plot {
        plot::write(path, &told, &run.samples)?;
    }
    if flags.json {
        stdout::print_json(&told.to_json())?;
    } else {
        stdout::print(&told.to_text())?;
    }
    if progress.stop.load(Relaxed) {
        return Err(Failure::Reported(Code::Cancelled));
    }
    if told.loaded.latencies.calls() == 0 {
        let what = told.loaded.errors.first().map_or("nothing was answered in this time", |(_, error)| error.as_str());
        return Err(Error::new(Code::Input, what.to_owned()).into());
    }
    Ok(())
}

/// What one load showed.
pub struct Run {
    pub loaded: Loaded,
    pub samples: Vec<Sample>,
}

/// From the name space that is made, if it is not there, to the removal of what was made beside it.
pub fn run(flags: &LoadFlags, progress: &Arc<Progress>) -> Result<Run> {
    let address = address(&flags.namenode)?;
    // No two runs have the same names.
    let names = NameSpace { files: flags.files, run: fastrand::u64(..), has_blocks: flags.datanodes > 0 };
    let mut fleet = datanodes(flags, address, &names, progress)?;
    make(flags, address, &names, progress, fleet.as_ref())?;
    let server = Server::listening_at(address);
    let history = flags.history.as_deref().map(History::create).transpose()?.map(Arc::new);
    let watched = Watched { server: server.as_ref(), history: history.as_ref(), fleet: fleet.as_ref() };
    let loaded = measure(flags, address, &names, progress, &watched);
    match history.and_then(Arc::into_inner) {
        Some(history) => history.finish()?,
        None => remove(flags, address, &names),
    }
    let mut run = loaded?;
    let loaded = &mut run.loaded;
    if let Some(fleet) = &mut fleet {
        let seen = fleet.end()?;
        loaded.latencies.join(&seen.latencies);
        loaded.errors.extend(seen.errors);
        loaded.cpu_seconds += seen.cpu_seconds;
    }
    Ok(run)
}

/// All of them alive, or none.
fn datanodes(flags: &LoadFlags, address: SocketAddr, names: &NameSpace, progress: &Progress) -> Result<Option<Fleet>> {
    if flags.datanodes == 0 {
        return Ok(None);
    }
    // Also asks whether anybody answers.
    driver::exists(&plan(flags, address, names, 1, 0), &names.run())?;
    let count = flags.datanodes as usize;
    let counting = progress.is_counting.clone();
    let mut fleet = Fleet::start(address, &flags.user, count, names.run, flags.block_reports, counting)?;
    fleet.wait(|| progress.stop.load(Relaxed), |live| show(&format!("DataNodes: {live} of {count} are registered")))?;
    show("");
    Ok(Some(fleet))
}

pub fn stop_on_signals(progress: &Arc<Progress>) {
    let Ok(mut signals) = signal_hook::iterator::Signals::new(signals::that_end()) else { return };
    let progress = progress.clone();
    let _ = thread::Builder::new().name("yunti-signals".into()).spawn(move || {
        for _ in signals.forever() {
            if progress.stop.swap(true, Relaxed) {
                signal_hook::low_level::exit(i32::from(Code::Cancelled as u8));
            }
        }
    });
}

fn plan(flags: &LoadFlags, address: SocketAddr, names: &NameSpace, connections: usize, first: usize) -> Plan {
    Plan {
        address,
        user: flags.user.clone(),
        io: flags.io,
        connections,
        first,
        names: names.clone(),
        seed: flags.seed.wrapping_add(first as u64),
        pipeline: None,
        history: None,
    }
}

fn panicked<T>(_: T) -> Error {
    Error::new(Code::Internal, "a thread of ours panicked".to_owned())
}

/// Makes the name space, if a run before has not.
fn make(
    flags: &LoadFlags,
    address: SocketAddr,
    names: &NameSpace,
    progress: &Progress,
    fleet: Option<&Fleet>,
) -> Result<()> {
    let needs_it = |operation: Operation| !matches!(operation, Operation::Null | Operation::Mkdirs | Operation::Create);
    let one = plan(flags, address, names, 1, 0);
    // Also asks whether anybody answers.
    if driver::exists(&one, &names.is_made())? || !flags.mix.shares().iter().any(|(operation, _)| needs_it(*operation))
    {
        return Ok(());
    }
    let begun = Instant::now();
    // create and complete, and addBlock between them.
    let all = if fleet.is_some() { 3 } else { 2 } * names.files + names.directories();
    let mut making = plan(flags, address, names, (flags.connections as usize).min(64), 0);
    making.pipeline = fleet.map(Fleet::pipeline);
    let made = thread::scope(|scope| {
        let work = scope.spawn(|| driver::run(&making, &Task::Make, progress));
        while !work.is_finished() {
            thread::sleep(Duration::from_millis(100));
            let share = progress.calls.load(Relaxed) as f64 / all as f64;
            show(&format!("making {} files: {:.0} %", names.files, share * 100.0));
        }
        show("");
        work.join().map_err(panicked)?
    })?;
    if progress.stop.load(Relaxed) {
        return Err(Error::new(Code::Cancelled, "cancelled".to_owned()));
    }
    if let Some((_, error)) = made.errors.first() {
        return Err(Error::new(Code::Input, format!("the files of the name space cannot be made: {error}")));
    }
    driver::make_directory(&one, &names.is_made())?;
    eprintln!("made {} files in {:.1} s", names.files, begun.elapsed().as_secs_f64());
    Ok(())
}

/// What the connections made. Who is killed leaves it behind, under /yunti-nn/run-*.
fn remove(flags: &LoadFlags, address: SocketAddr, names: &NameSpace) {
    let one = plan(flags, address, names, 1, 0);
    if let Err(e) = driver::delete(&one, &names.run()) {
        eprintln!("yunti: {} is left: {e}", names.run());
    }
}

/// What is looked at beside the load, and what it goes with.
struct Watched<'a> {
    server: Option<&'a Server>,
    history: Option<&'a Arc<History>>,
    fleet: Option<&'a Fleet>,
}

fn measure(
    flags: &LoadFlags,
    address: SocketAddr,
    names: &NameSpace,
    progress: &Progress,
    watched: &Watched,
) -> Result<Run> {
    let threads = (flags.threads as usize).min(flags.connections as usize);
    let pace = flags.rate.map_or(Pace::Closed, |rate| Pace::Open(rate / threads as f64));
    let task = Task::Load { mix: flags.mix.clone(), pace, warm_up: flags.warm_up, time: flags.seconds };
    let mut first = 0;
    let plans: Vec<Plan> = (0..threads)
        .map(|n| {
            let connections = (flags.connections as usize + n) / threads;
            let mut plan = plan(flags, address, names, connections, first);
            plan.history = watched.history.cloned();
            plan.pipeline = watched.fleet.map(Fleet::pipeline);
            first += connections;
            plan
        })
        .collect();
    progress.calls.store(0, Relaxed);
    let web = flags.jmx.clone().unwrap_or_else(|| format!("{}:9870", address.ip()));
    let is_over = AtomicBool::new(false);
    let mut samples = Vec::new();
    let whole = (flags.warm_up + flags.seconds).as_secs_f64();
    let (outcomes, figures) = thread::scope(|scope| {
        let figures = scope.spawn(|| figures::watch(&web, address.port(), &progress.is_counting, &is_over));
        // The NameNode's use is that of the time that counts, which the first thread knows.
        let task = &task;
        let run = |(n, plan)| {
            scope.spawn(move || driver::run_watching(plan, task, progress, watched.server.filter(|_| n == 0)))
        };
        let work: Vec<_> = plans.iter().enumerate().map(run).collect();
        let mut last = Instant::now();
        let begun = last;
        while work.iter().any(|work| !work.is_finished()) {
            thread::sleep(Duration::from_millis(50));
            if last.elapsed() >= Duration::from_secs(1) {
                let sample = progress.recent.sample(last, progress.is_counting.load(Relaxed));
                last = Instant::now();
                show(&format!(
                    "{:.0} of {whole:.0} s{}: {:.0} calls a second, p50 {}, p99 {}, {} failed",
                    begun.elapsed().as_secs_f64(),
                    if sample.is_counted { "" } else { " (not counted)" },
                    sample.calls_per_second,
                    time(sample.p50_us),
                    time(sample.p99_us),
                    sample.failed
                ));
                samples.push(sample);
            }
        }
        show("");
        let outcomes = work.into_iter().map(|work| work.join().map_err(panicked)?).collect::<Result<Vec<_>>>();
        is_over.store(true, Relaxed);
        (outcomes, figures.join())
    });
    let mut all = Loaded::default();
    outcomes?.into_iter().for_each(|one| all.join(one));
    all.figures = figures.map_err(panicked)?;
    Ok(Run { loaded: all, samples })
}

/// A line on a terminal that the next one takes the place of.
fn show(line: &str) {
    if std::io::stderr().is_terminal() {
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
    }
}
