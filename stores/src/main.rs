//! `yunti-stores`: object stores, HTTP and HDFS for one job of `yunti`, which starts it and speaks to it over standard
//! input. It ends with that process, and then ends the uploads that the process did not complete.
//!
//! The clients of stores stand on tokio. In a process of its own they cannot end a job, and the engine stays without
//! them (docs/decisions/stores.md).

mod channel;
mod commit;
mod counted;
mod failure;
mod hdfs;
mod http;
mod objects;
mod place;
mod s3;
mod serve;
mod settings;
mod stores;
mod uploads;

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|word| word == "--version") {
        println!("yunti-stores {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("yunti-stores: {text}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let (first, files) = channel::hello()?;
    // It fails if a provider is there already, and then all is well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .map_err(|e| format!("cannot start threads: {e}"))?;
    runtime.block_on(serve::serve(first, files))
}
