//! Client and server that open and close connections at the highest rate, in a network namespace of their own. `bench
//! time-wait` starts this process there, so that no setting and no port of the machine is touched. Prints the counts
//! as JSON.

use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use serde::{Deserialize, Serialize};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use crate::scratch::tool;

/// Flags of the hidden command `churn`.
#[derive(Debug, Args)]
pub struct ChurnFlags {
    /// Value of tcp_tw_reuse
    #[arg(long)]
    reuse: u32,
    /// Ephemeral ports
    #[arg(long)]
    ports: u16,
    /// Value of tcp_fin_timeout, in seconds
    #[arg(long)]
    fin_timeout: u32,
    /// The server closes first
    #[arg(long)]
    server_closes: bool,
    /// Time limit in milliseconds
    #[arg(long)]
    milliseconds: u64,
    /// Stop after this many connections; 0: at the time limit
    #[arg(long, default_value_t = 0)]
    connections: u64,
    /// Milliseconds to wait before a second count
    #[arg(long, default_value_t = 0)]
    wait_milliseconds: u64,
}

/// Counts of one run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ChurnCounts {
    /// Connections that were opened.
    pub connections: u64,
    /// Connections that failed.
    pub failures: u64,
    /// Duration of the run.
    pub seconds: f64,
    /// Connections in TIME_WAIT at the end.
    pub time_wait: u64,
    /// Connections in TIME_WAIT after the wait.
    pub time_wait_after_wait: u64,
}

/// First ephemeral port.
const PORT: u16 = 20_000;

/// Runs the churn and prints its counts. Fails outside a network namespace of its own.
pub fn churn(flags: &ChurnFlags) -> Outcome {
    // A namespace with other devices is not ours: it must not be changed if a user starts this command by mistake.
    let devices = fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    if devices.lines().skip(2).any(|line| !line.trim_start().starts_with("lo:")) {
        return Err(Error::new(Code::Usage, "this command needs a network namespace of its own")
            .hint("run: yunti machine bench time-wait")
            .into());
    }
    tool::run("ip", ["link", "set", "lo", "up"])?;
    set("tcp_tw_reuse", &flags.reuse.to_string())?;
    set("tcp_fin_timeout", &flags.fin_timeout.to_string())?;
    set("ip_local_port_range", &format!("{PORT} {}", PORT + flags.ports - 1))?;
    let churned = connections(flags).map_err(|e| Error::io(Code::Output, "cannot open connections", &e))?;
    stdout::print_json(&serde_json::to_value(&churned).unwrap_or_default())
}

fn connections(flags: &ChurnFlags) -> std::io::Result<ChurnCounts> {
    let listener = TcpListener::bind("127.0.0.1:1999")?;
    let address = listener.local_addr()?;
    let over = AtomicBool::new(false);
    let mut churned = ChurnCounts::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while let Ok((mut stream, _)) = listener.accept() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                if !flags.server_closes {
                    // Waits until the client has closed.
                    let _ = stream.read(&mut [0; 1]);
                }
            }
        });
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(flags.milliseconds) {
            match TcpStream::connect(address) {
                Ok(mut stream) => {
                    churned.connections += 1;
                    if flags.server_closes {
                        let _ = stream.read(&mut [0; 1]);
                    }
                }
                Err(_) => churned.failures += 1,
            }
            if flags.connections > 0 && churned.connections >= flags.connections {
                break;
            }
        }
        churned.seconds = begun.elapsed().as_secs_f64();
        churned.time_wait = time_wait();
        if flags.wait_milliseconds > 0 {
            std::thread::sleep(Duration::from_millis(flags.wait_milliseconds));
            churned.time_wait_after_wait = time_wait();
        }
        over.store(true, Ordering::Relaxed);
        // One more connection from a port outside the range ends the server.
        let _ = set("ip_local_port_range", "40000 50000");
        let _ = TcpStream::connect(address);
    });
    Ok(churned)
}

fn set(name: &str, value: &str) -> Result<()> {
    let path = format!("/proc/sys/net/ipv4/{name}");
    fs::write(&path, value).map_err(|e| Error::io(Code::Output, "cannot write this setting", &e).at_path(path))
}

/// Connections of this namespace in TIME_WAIT.
fn time_wait() -> u64 {
    time_wait_in(&fs::read_to_string("/proc/self/net/sockstat").unwrap_or_default())
}

fn time_wait_in(text: &str) -> u64 {
    let words = text.lines().find(|line| line.starts_with("TCP:")).map(|line| line.split_whitespace());
    words
        .and_then(|mut words| words.by_ref().find(|word| *word == "tw").and(words.next()))
        .and_then(|n| n.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts_time_wait() {
        let text = "sockets: used 9\nTCP: inuse 4 orphan 0 tw 123 alloc 7 mem 1\nUDP: inuse 0 mem 0\n";
        assert_eq!((super::time_wait_in(text), super::time_wait_in("")), (123, 0));
    }
}
