//! `yunti nn load`: one load on a NameNode, from its files to its report.

use std::io::{IsTerminal, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use yunti_base::whole_file;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::{signals, stdout};

use super::load_flags::LoadFlags;
use super::plot;
use super::report::{LoadReport, time};
use crate::call::operation::Operation;
use crate::datanode::fleet::Fleet;
use crate::load::driver::{self, Outcome as LoadOutcome, Plan, Progress, Task};
use crate::load::figures;
use crate::load::history::History;
use crate::load::names::NameSpace;
use crate::load::recent::Sample;
use crate::load::schedule::Pace;
use crate::server::Server;

/// Resolves HOST:PORT, HOST or `hdfs://HOST:PORT/`; the default port is 8020.
pub fn address(text: &str) -> Result<SocketAddr> {
    let bare = text.strip_prefix("hdfs://").unwrap_or(text).trim_end_matches('/');
    let has_port = bare.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let with_port = if has_port { bare.to_owned() } else { format!("{bare}:8020") };
    let found = with_port.to_socket_addrs().ok().and_then(|mut all| all.next());
    let unknown =
        || Error::new(Code::Input, format!("unknown host '{bare}'")).hint("give HOST:PORT, as in fs.defaultFS");
    found.ok_or_else(unknown)
}

/// Runs the command.
pub fn load(flags: &LoadFlags) -> Outcome {
    if let Some(path) = &flags.plot {
        whole_file::check(path, plot::WHAT)?;
    }
    let progress = Arc::new(Progress::default());
    stop_on_signals(progress.clone(), |progress| &progress.stop);
    let run = run(flags, &progress)?;
    let report = LoadReport { flags, loaded: &run.loaded };
    if let Some(path) = &flags.plot {
        plot::write(path, &report, &run.samples)?;
    }
    if flags.json {
        stdout::print_json(&report.to_json())?;
    } else {
        stdout::print(&report.to_text())?;
    }
    // Without a time, a signal is the planned end.
    if progress.stop.load(Relaxed) && !flags.is_endless() {
        return Err(Failure::Reported(Code::Cancelled));
    }
    if report.loaded.latencies.calls() == 0 {
        let what = report.loaded.errors.first().map_or("no call had a response", |(_, error)| error.as_str());
        return Err(Error::new(Code::Input, what.to_owned()).into());
    }
    Ok(())
}

/// Outcome of one load, and a sample for each second.
pub struct Run {
    pub loaded: LoadOutcome,
    pub samples: Vec<Sample>,
}

/// Creates the files to read if they are missing, runs the load, and removes the files that the load created.
pub fn run(flags: &LoadFlags, progress: &Arc<Progress>) -> Result<Run> {
    let address = address(&flags.namenode)?;
    // A random number keeps the names of runs apart.
    let names = NameSpace { files: flags.files, run: fastrand::u64(..), has_blocks: flags.datanodes > 0 };
    let mut fleet = datanodes(flags, address, &names, progress)?;
    create_files(flags, address, &names, progress, fleet.as_ref())?;
    let server = Server::listening_at(address);
    let history = flags.history.as_deref().map(History::create).transpose()?.map(Arc::new);
    let companions = Companions { server: server.as_ref(), history: history.as_ref(), fleet: fleet.as_ref() };
    let loaded = measure(flags, address, &names, progress, &companions);
    match history.and_then(Arc::into_inner) {
        Some(history) => history.finish()?,
        None => remove(flags, address, &names),
    }
    let mut run = loaded?;
    let loaded = &mut run.loaded;
    if let Some(fleet) = &mut fleet {
        let outcome = fleet.end()?;
        loaded.latencies.join(&outcome.latencies);
        loaded.errors.extend(outcome.errors);
        loaded.cpu_seconds += outcome.cpu_seconds;
    }
    Ok(run)
}

/// Starts the DataNodes and returns once all are registered.
fn datanodes(flags: &LoadFlags, address: SocketAddr, names: &NameSpace, progress: &Progress) -> Result<Option<Fleet>> {
    if flags.datanodes == 0 {
        return Ok(None);
    }
    // The call also shows that a NameNode responds.
    driver::exists(&plan(flags, address, names, 1, 0), &names.run())?;
    let count = flags.datanodes as usize;
    let counting = progress.is_counting.clone();
    let mut fleet = Fleet::start(address, &flags.user, count, names.run, flags.block_reports, counting)?;
    fleet.wait(|| progress.stop.load(Relaxed), |live| show(&format!("DataNodes: {live} of {count} registered")))?;
    show("");
    Ok(Some(fleet))
}

/// Sets the flag on the first signal, and ends the process on the second.
pub fn stop_on_signals<T: Send + Sync + 'static>(progress: Arc<T>, stop: fn(&T) -> &AtomicBool) {
    let Ok(mut signals) = signal_hook::iterator::Signals::new(signals::that_end()) else { return };
    let _ = thread::Builder::new().name("yunti-signals".into()).spawn(move || {
        for _ in signals.forever() {
            if stop(&progress).swap(true, Relaxed) {
                signal_hook::low_level::exit(i32::from(Code::Cancelled as u8));
            }
        }
    });
}

pub fn plan(flags: &LoadFlags, address: SocketAddr, names: &NameSpace, connections: usize, first: usize) -> Plan {
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

pub fn panicked<T>(_: T) -> Error {
    Error::new(Code::Internal, "a thread of ours panicked".to_owned())
}

/// Creates the files to read, unless an earlier run created them.
fn create_files(
    flags: &LoadFlags,
    address: SocketAddr,
    names: &NameSpace,
    progress: &Progress,
    fleet: Option<&Fleet>,
) -> Result<()> {
    let needs_it = |operation: Operation| !matches!(operation, Operation::Null | Operation::Mkdirs | Operation::Create);
    let one = plan(flags, address, names, 1, 0);
    // The call also shows that a NameNode responds.
    if driver::exists(&one, &names.is_made())? || !flags.mix.shares().iter().any(|(operation, _)| needs_it(*operation))
    {
        return Ok(());
    }
    let begun = Instant::now();
    // Calls for each file: create, complete, and addBlock with DataNodes.
    let all = if fleet.is_some() { 3 } else { 2 } * names.files + names.directories();
    let mut making = plan(flags, address, names, (flags.connections as usize).min(64), 0);
    making.pipeline = fleet.map(Fleet::pipeline);
    let made = thread::scope(|scope| {
        let work = scope.spawn(|| driver::run(&making, &Task::Make, progress));
        while !work.is_finished() {
            thread::sleep(Duration::from_millis(100));
            let share = progress.calls.load(Relaxed) as f64 / all as f64;
            show(&format!("creating {} files: {:.0} %", names.files, share * 100.0));
        }
        show("");
        work.join().map_err(panicked)?
    })?;
    if progress.stop.load(Relaxed) {
        return Err(Error::new(Code::Cancelled, "cancelled".to_owned()));
    }
    if let Some((_, error)) = made.errors.first() {
        return Err(Error::new(Code::Input, format!("cannot create the files to read: {error}")));
    }
    driver::make_directory(&one, &names.is_made())?;
    eprintln!("created {} files in {:.1} s", names.files, begun.elapsed().as_secs_f64());
    Ok(())
}

/// Removes the files that the connections created. A killed process leaves them in `/yunti-nn/run-*`.
fn remove(flags: &LoadFlags, address: SocketAddr, names: &NameSpace) {
    let one = plan(flags, address, names, 1, 0);
    if let Err(e) = driver::delete(&one, &names.run()) {
        eprintln!("yunti: cannot remove {}: {e}", names.run());
    }
}

/// Parts beside the load: the NameNode's process, the history file, the DataNodes.
struct Companions<'a> {
    server: Option<&'a Server>,
    history: Option<&'a Arc<History>>,
    fleet: Option<&'a Fleet>,
}

fn measure(
    flags: &LoadFlags,
    address: SocketAddr,
    names: &NameSpace,
    progress: &Progress,
    companions: &Companions,
) -> Result<Run> {
    let threads = (flags.threads as usize).min(flags.connections as usize);
    let pace = flags.rate.map_or(Pace::Closed, |rate| Pace::Open(rate / threads as f64));
    let task = Task::Load { mix: flags.mix.clone(), pace, warm_up: flags.warm_up, time: flags.time() };
    let mut first = 0;
    let plans: Vec<Plan> = (0..threads)
        .map(|n| {
            let connections = (flags.connections as usize + n) / threads;
            let mut plan = plan(flags, address, names, connections, first);
            plan.history = companions.history.cloned();
            plan.pipeline = companions.fleet.map(Fleet::pipeline);
            first += connections;
            plan
        })
        .collect();
    progress.calls.store(0, Relaxed);
    let web = flags.jmx.clone().unwrap_or_else(|| format!("{}:9870", address.ip()));
    let is_over = AtomicBool::new(false);
    let mut samples = Vec::new();
    let whole = match flags.is_endless() {
        true => "s until ctrl-C".to_owned(),
        false => format!("of {:.0} s", (flags.warm_up + flags.time()).as_secs_f64()),
    };
    let (outcomes, figures) = thread::scope(|scope| {
        let figures = scope.spawn(|| figures::watch(&web, address.port(), &progress.is_counting, &is_over));
        // The first thread samples the NameNode's process, since it knows the measured time.
        let task = &task;
        let run = |(n, plan)| {
            scope.spawn(move || driver::run_watching(plan, task, progress, companions.server.filter(|_| n == 0)))
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
                    "{:.0} {whole}{}: {:.0} calls a second, p50 {}, p99 {}, {} failed",
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
    let mut all = LoadOutcome::default();
    outcomes?.into_iter().for_each(|one| all.join(one));
    all.figures = figures.map_err(panicked)?;
    Ok(Run { loaded: all, samples })
}

/// Prints a line on a terminal; the next one overwrites it.
pub fn show(line: &str) {
    if std::io::stderr().is_terminal() {
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
    }
}
