//! Runs `yunti table serve`.

use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};

use clap::Parser;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use yunti_base::{Cancel, Code, Error, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::{signals, stdout};
use yunti_table::read::Options;
use yunti_table_remote::address::Address;
use yunti_table_remote::token;
use yunti_table_serve::server::{Settings, TableFile, serve};
use yunti_table_serve::tls;

use super::build::shard;

/// Descriptors beside those of connections: streams, files that are opened again, pages of counters, refused clients.
const OTHERS: usize = 100;
/// Descriptors of a thread: its events, their timer, and what wakes it.
const THREAD: usize = 4;

#[derive(Parser)]
pub struct Flags {
    /// Tables, as FILE or NAME=FILE; the name of users.ytab is users
    #[arg(required = true)]
    tables: Vec<String>,
    /// Address to listen on: unix:PATH or HOST:PORT; port 0 is one that is free. May be repeated
    #[arg(short, long, value_name = "ADDRESS", required = true)]
    listen: Vec<Address>,
    /// Shard of this server: lookups of these keys come here, so that memory holds their pages alone
    #[arg(long, value_name = "NUMBER/COUNT", value_parser = shard)]
    shard: Option<(u32, u32)>,
    /// File with a token that clients must send
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Certificates for TLS on TCP (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Key of the first certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Listen beyond this machine without a token
    #[arg(long)]
    without_token: bool,
    /// Address of a page with counters for Prometheus, over HTTP
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<Address>,
    /// Most connections at a time
    #[arg(long, default_value_t = 10_000)]
    connections: usize,
    /// Threads that answer [default: twice the number of processors, as one may wait for the disk]
    #[arg(short, long)]
    threads: Option<usize>,
    /// Read the whole files at the start
    #[arg(long)]
    populate: bool,
    /// Keep the pages of the tables in memory
    #[arg(long)]
    lock: bool,
}

pub fn run(flags: Flags) -> Outcome {
    let token = flags.token_file.as_deref().map(token::read).transpose()?;
    if token.is_none() && !flags.without_token {
        flags.listen.iter().try_for_each(is_of_this_machine)?;
    }
    let tls = match (&flags.tls_cert, &flags.tls_key) {
        (Some(certificates), Some(key)) => Some(tls::server(certificates, key)?),
        _ => None,
    };
    let options = Options { populate: flags.populate, lock: flags.lock, is_random: true, ..Options::default() };
    let tables = flags.tables.iter().map(|text| table(text, flags.shard, options)).collect::<Result<Vec<_>>>()?;
    for (at, table) in tables.iter().enumerate() {
        if tables[..at].iter().any(|other| other.name == table.name) {
            let what = format!("two tables have the name {}", table.name);
            return Err(Error::new(Code::Usage, what).hint("write NAME=FILE").into());
        }
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = flags.threads.unwrap_or(2 * processors);
    let settings = Settings {
        connections: with_descriptors(flags.connections, OTHERS + THREAD * threads + flags.listen.len())?,
        listen: flags.listen,
        metrics: flags.metrics,
        threads,
        token,
        tls,
    };
    let cancel = Cancel::default();
    signals::cancel_on_signals(&cancel);
    serve(tables, settings, &cancel, |addresses, page| {
        let mut text: String = addresses.iter().map(|address| format!("listening on {address}\n")).collect();
        if let Some(page) = page {
            text.push_str(&format!("counters on {page}\n"));
        }
        match stdout::print(&text) {
            Err(Failure::Error(e)) => Err(e),
            _ => Ok(()),
        }
    })?;
    Ok(())
}

/// Raises the limit of descriptors for a number of connections, and returns how many it allows.
fn with_descriptors(connections: usize, others: usize) -> Result<usize> {
    let limits = getrlimit(Resource::Nofile);
    let wanted = (connections + others) as u64;
    let most = limits.maximum.unwrap_or(u64::MAX);
    if limits.current.is_some_and(|current| current < wanted) {
        let raised = Rlimit { current: Some(wanted.min(most)), ..limits };
        setrlimit(Resource::Nofile, raised)
            .map_err(|e| Error::io(Code::Internal, "cannot raise the limit of descriptors", &e.into()))?;
    }
    if most >= wanted {
        return Ok(connections);
    }
    let allowed = (most as usize).saturating_sub(others);
    let what = format!("the system allows {most} descriptors, enough for {allowed} connections and not {connections}");
    if allowed == 0 {
        return Err(Error::new(Code::Usage, what).hint("raise the limit: ulimit -Hn"));
    }
    eprintln!("yunti: {what}: raise the limit (ulimit -Hn), or write --connections {allowed}");
    Ok(allowed)
}

fn table(text: &str, shard: Option<(u32, u32)>, options: Options) -> Result<TableFile> {
    let (name, path) = match text.split_once('=') {
        Some((name, path)) => (name.to_owned(), PathBuf::from(path)),
        None => (Path::new(text).file_stem().unwrap_or_default().to_string_lossy().into_owned(), PathBuf::from(text)),
    };
    if name.is_empty() || path.as_os_str().is_empty() {
        return Err(Error::new(Code::Usage, format!("{text} is no table: FILE or NAME=FILE")));
    }
    Ok(TableFile { name, path, shard, options })
}

/// Refuses an address that other machines reach: without a token, everybody there could read the tables.
fn is_of_this_machine(address: &Address) -> Result<()> {
    let Address::Tcp(host, port) = address else { return Ok(()) };
    let places = (host.as_str(), *port).to_socket_addrs();
    let places = places.map_err(|e| Error::io(Code::Usage, "no such host", &e).at_path(address.to_string()))?;
    let is_beyond = places.into_iter().any(|place| !place.ip().is_loopback());
    if !is_beyond {
        return Ok(());
    }
    let what = "other machines reach this address, and there is no token";
    Err(Error::new(Code::Usage, what).at_path(address.to_string()).hint("write --token-file, or --without-token"))
}
