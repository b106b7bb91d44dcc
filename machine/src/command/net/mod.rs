//! `yunti machine net`: how long services take to answer as the kernel sees it, and what becomes of connections.

mod look;
mod queues;
mod tell;
mod time_wait;

use clap::Args;
use yunti_program::failure::Outcome;

use yunti_probe::answer::Answer;
use yunti_probe::kernel::system::Pair;
use yunti_probe::options::OutputFlags;
use yunti_probe::stopping::Stopping;
use yunti_probe::target::Process;

/// TCP as the kernel sees it: answer times by port and peer, retransmits, full listen queues, who closes, ports in TIME_WAIT
#[derive(Debug, Args)]
pub struct NetFlags {
    /// Only services at these ports, here or elsewhere
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Vec<u16>,
    /// Only answers of these processes, and to them
    #[arg(short, long, value_name = "PID")]
    pid: Vec<u32>,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// What is told of.
struct Wanted {
    ports: Vec<u16>,
    pids: Vec<u32>,
}

impl Wanted {
    fn has(&self, pair: &Pair) -> bool {
        self.has_port(pair.port) && (self.pids.is_empty() || pair.pid == 0 || self.pids.contains(&pair.pid))
    }

    fn has_port(&self, port: u16) -> bool {
        self.ports.is_empty() || self.ports.contains(&port)
    }
}

pub fn net(flags: &NetFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    for pid in &flags.pid {
        Process::of(*pid)?;
    }
    let wanted = Wanted { ports: flags.port.clone(), pids: flags.pid.clone() };
    let mut skips = Vec::new();
    let mut look = look::Look::start(wanted, !flags.output.answer.json, &mut skips)?;
    eprintln!("watching TCP; ctrl-C ends it");
    let watched = stopping.wait_for_time(flags.output.seconds, look::PULSE, || look.pass());
    let seen = look.end(&mut skips)?;
    let mut answer = Answer::of_device("net", "TCP".to_owned());
    answer.skips = skips;
    answer.watched(&watched);
    answer.missing(seen.lost, |n| format!("{n} answers or connections: there were too many peers to count all"));
    let facts = tell::tell(&seen, &mut answer);
    answer.give(&flags.output.answer, watched.end, facts)
}
