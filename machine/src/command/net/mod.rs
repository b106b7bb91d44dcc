//! `yunti machine net`: response times of services as the kernel measures them, and the fate of connections.

mod measure;
mod queues;
mod report;
mod time_wait;

use clap::Args;
use yunti_program::failure::Outcome;

use yunti_probe::answer::Answer;
use yunti_probe::kernel::system::Pair;
use yunti_probe::options::OutputFlags;
use yunti_probe::stopping::Stopping;
use yunti_probe::target::Process;

/// Measure TCP in the kernel: response times by port and peer, retransmissions, full accept queues, active closes,
/// ports in TIME_WAIT
#[derive(Debug, Args)]
pub struct NetFlags {
    /// Only services at these ports, on this machine or elsewhere
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Vec<u16>,
    /// Only responses by or to these processes
    #[arg(short, long, value_name = "PID")]
    pid: Vec<u32>,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Selection of ports and processes that are measured.
struct Filter {
    ports: Vec<u16>,
    pids: Vec<u32>,
}

impl Filter {
    fn has(&self, pair: &Pair) -> bool {
        self.has_port(pair.port) && (self.pids.is_empty() || pair.pid == 0 || self.pids.contains(&pair.pid))
    }

    fn has_port(&self, port: u16) -> bool {
        self.ports.is_empty() || self.ports.contains(&port)
    }
}

/// Measures TCP until its time is over, and prints the result.
pub fn net(flags: &NetFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    for pid in &flags.pid {
        Process::of(*pid)?;
    }
    let filter = Filter { ports: flags.port.clone(), pids: flags.pid.clone() };
    let mut skips = Vec::new();
    let mut measurement = measure::NetMeasurement::start(filter, !flags.output.answer.json, &mut skips)?;
    eprintln!("watching TCP; ctrl-C ends it");
    let watched = stopping.wait_for_time(flags.output.seconds, measure::PULSE, || measurement.pass());
    let sample = measurement.end(&mut skips)?;
    let mut answer = Answer::of_device("net", "TCP".to_owned());
    answer.skips = skips;
    answer.watched(&watched);
    answer.missing(sample.lost, |n| format!("{n} responses or connections: too many peers to count all"));
    let facts = report::report(&sample, &mut answer);
    answer.give(&flags.output.answer, watched.end, facts)
}
