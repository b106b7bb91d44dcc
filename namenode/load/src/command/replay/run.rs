//! `yunti nn load --replay`: the calls of an audit log, at their times.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use yunti_base::{Code, Error, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;

use super::report::{Played, ReplayReport};
use crate::command::load::{self, panicked, show};
use crate::command::load_flags::LoadFlags;
use crate::load::driver;
use crate::load::figures;
use crate::load::names::{NameSpace, ROOT};
use crate::replay::log::audit_log::{AuditLog, LineCounts, Users};
use crate::replay::play::feed::{EventFeed, NodeFeed, UserFeed};
use crate::replay::play::outcome::{DENIED, ReplayOutcome};
use crate::replay::play::player::{Player, ReplayProgress};
use crate::replay::tree::derive::Paths;
use crate::replay::tree::image_xml;
use crate::replay::tree::name_space::NameTree;
use crate::server::Server;

/// Events between the thread that reads the log and the player.
const EVENTS: usize = 16 << 10;

/// Hint for a user who may not set owners and modes.
const SUPERUSER: &str = "give the NameNode's superuser: --user NAME";
/// Calls between two lines of progress while the log is read.
const SHOW_EVERY: u64 = 100_000;
const CONNECTIONS_MAX: usize = 10_000;
/// Nodes between two lines of progress while the name space is created.
const NODES_A_ROUND: usize = 10_000;

/// Lines and users of a log, and the name space to create before its replay.
struct Known {
    counts: LineCounts,
    users: Users,
    tree: NameTree,
}

/// Runs the replay and prints its report.
pub fn run(flags: &LoadFlags) -> Outcome {
    let progress = Arc::new(ReplayProgress::default());
    load::stop_on_signals(progress.clone(), |progress| &progress.stop);
    let log = AuditLog::open(&flags.replay.replay)?;
    let known = scan(flags, &log, &progress)?;
    let address = load::address(&flags.namenode)?;
    let root = format!("{ROOT}/replay-{:016x}", fastrand::u64(..));
    let names = NameSpace { files: 0, run: 0, has_blocks: false };
    let one = load::plan(flags, address, &names, 1, 0);
    driver::make_directory(&one, ROOT).map_err(|e| if e.what().contains(DENIED) { e.hint(SUPERUSER) } else { e })?;
    let done = play(flags, &log, &known, address, &root, &progress);
    show("");
    // Without a name space there is nothing to remove.
    if let (Err(e), Ok(_)) = (driver::delete(&one, &root), &done) {
        eprintln!("yunti: cannot remove {root}: {e}");
    }
    let played = done?;
    let report = ReplayReport { flags, log: &known.counts, users: known.users.names.len() - 1, played: &played };
    if flags.json {
        stdout::print_json(&report.to_json())?;
    } else {
        stdout::print(&report.to_text())?;
    }
    // Without a time, the end of the log is the planned end.
    if progress.stop.load(Relaxed) {
        return Err(Failure::Reported(Code::Cancelled));
    }
    if played.outcome.calls() == 0 {
        return Err(Error::new(Code::Input, "no call had a response").into());
    }
    Ok(())
}

/// Reads the log once: its users, its lines, and without an image the name space that it implies.
fn scan(flags: &LoadFlags, log: &AuditLog, progress: &ReplayProgress) -> Result<Known> {
    let mut users = Users::default();
    // The user who creates the name space has the number 0.
    users.number(&flags.user);
    let image = flags.replay.image.as_deref().map(image_xml::read).transpose()?;
    let (mut paths, mut events) = (Paths::default(), 0_u64);
    let counts = log.read(&mut users, |event| {
        if image.is_none() {
            paths.add(&event);
        }
        events += 1;
        if events.is_multiple_of(SHOW_EVERY) {
            show(&format!("reading the log: {events} calls"));
        }
        Ok(if progress.stop.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    show("");
    if counts.events == 0 {
        return Err(Error::new(Code::Input, "the log has no call that can be replayed").hint("see its cmd= fields"));
    }
    if progress.stop.load(Relaxed) {
        return Err(Error::new(Code::Cancelled, "cancelled".to_owned()));
    }
    let tree = image.unwrap_or_else(|| paths.into_tree(&users));
    Ok(Known { counts, users, tree })
}

/// Creates the name space and replays the log.
fn play(
    flags: &LoadFlags,
    log: &AuditLog,
    known: &Known,
    address: SocketAddr,
    root: &str,
    progress: &ReplayProgress,
) -> Result<Played> {
    // A connection that another user takes over is opened anew for each call.
    let connections = (flags.connections as usize).max(known.users.names.len()).min(CONNECTIONS_MAX);
    let mut player = Player::new(address, flags.io, connections, &known.users.names, progress)?;
    let begun = Instant::now();
    let not_created = create(&mut player, known, root, connections, progress)?;
    let users = known.users.names.len() as u32;
    player.play(&mut UserFeed { users, at: 0, root, under_way_max: connections }, None)?;
    let created = known.tree.nodes.len() as u64;
    eprintln!("created {created} directories and files in {:.1} s", begun.elapsed().as_secs_f64());
    let server = Server::listening_at(address);
    let web = flags.jmx.clone().unwrap_or_else(|| format!("{}:9870", address.ip()));
    let (events, receiver) = sync_channel(EVENTS);
    let now_ms = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_millis() as u64);
    let mut feed = EventFeed::new(receiver, root.to_owned(), flags.replay.speed, now_ms);
    let is_over = AtomicBool::new(false);
    let time = flags.seconds.filter(|time| !time.is_zero());
    let io = player.io_name();
    thread::scope(|scope| {
        let reading = scope.spawn(move || {
            // Ends when the player has gone. The users have the same numbers as in the first pass.
            let mut users = known.users.clone();
            log.read(&mut users, |event| {
                Ok(if events.send(event).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            })
        });
        let figures = scope.spawn(|| figures::watch(&web, address.port(), &progress.is_counting, &is_over));
        let reporting = scope.spawn(|| watch(progress, &is_over));
        progress.calls.store(0, Relaxed);
        progress.is_counting.store(true, Relaxed);
        let used_from = server.as_ref().and_then(Server::usage);
        let outcome = player.play(&mut feed, time);
        let used = used_from.zip(server.as_ref().and_then(Server::usage)).map(|(from, to)| to.since(&from));
        is_over.store(true, Relaxed);
        drop(feed);
        reading.join().map_err(panicked)??;
        reporting.join().map_err(panicked)?;
        let figures = figures.join().map_err(panicked)?;
        let mut outcome = outcome?;
        outcome.not_created = not_created;
        Ok(Played { outcome, created, connections, used, figures, io })
    })
}

/// Creates all nodes, the directories level by level, and returns the errors.
fn create(
    player: &mut Player,
    known: &Known,
    root: &str,
    connections: usize,
    progress: &ReplayProgress,
) -> Result<std::collections::BTreeMap<String, (u64, String)>> {
    let (tree, mut all) = (&known.tree, ReplayOutcome::new());
    let levels = tree.levels();
    let has_times = |number: &&u32| tree.nodes[**number as usize].mtime_ms > 0;
    let directories = levels[..levels.len() - 1].concat();
    let timed: Vec<u32> = directories.iter().filter(has_times).copied().collect();
    // Each connection has a call, and the next one is ready.
    let under_way_max = connections * 2;
    let parts = levels.iter().map(|nodes| (nodes, false)).chain([(&timed, true)]);
    let mut done = 0;
    for (nodes, is_for_times) in parts {
        for some in nodes.chunks(NODES_A_ROUND) {
            show(&format!("creating the name space: {done} of {} nodes", tree.nodes.len()));
            let mut feed = NodeFeed { tree, nodes: some, at: 0, root, is_for_times, under_way_max };
            let outcome = player.play(&mut feed, None)?;
            if progress.stop.load(Relaxed) {
                return Err(Error::new(Code::Cancelled, "cancelled".to_owned()));
            }
            for (class, (count, first)) in outcome.not_created {
                all.not_created.entry(class).or_insert((0, first)).0 += count;
            }
            done += some.len();
        }
    }
    show("");
    // Without the rights of the superuser, owners and modes would not be those of the log.
    if let Some((_, first)) = all.not_created.get(DENIED) {
        return Err(Error::new(Code::Input, format!("cannot create the name space: {first}")).hint(SUPERUSER));
    }
    Ok(all.not_created)
}

/// Shows the calls of each second until the replay is over.
fn watch(progress: &ReplayProgress, is_over: &AtomicBool) {
    let (begun, mut last, mut known) = (Instant::now(), Instant::now(), 0);
    while !is_over.load(Relaxed) {
        thread::sleep(Duration::from_millis(50));
        if last.elapsed() >= Duration::from_secs(1) {
            let calls = progress.calls.load(Relaxed);
            let per_second = (calls - known) as f64 / last.elapsed().as_secs_f64();
            (last, known) = (Instant::now(), calls);
            show(&format!("{:.0} s: {per_second:.0} calls a second", begun.elapsed().as_secs_f64()));
        }
    }
    show("");
}
