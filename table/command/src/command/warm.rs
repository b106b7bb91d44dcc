//! Runs `yunti table warm`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use yunti_base::Cancel;
use yunti_program::failure::Outcome;
use yunti_program::terminal::{signals, stdout};
use yunti_table::read::{Options, Table};

/// Time between two looks at the end, and at a file that has taken the place of the table.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Parser)]
pub struct Flags {
    /// Table
    table: PathBuf,
    /// Keep the pages in memory until this command is ended, and those of each file that takes the table's place
    #[arg(long)]
    lock: bool,
}

pub fn run(flags: &Flags) -> Outcome {
    let begin = Instant::now();
    let options = Options { populate: true, lock: flags.lock, ..Options::default() };
    let mut table = Table::open_with(&flags.table, options)?;
    let bytes = |table: &Table| table.header().sections.sums.end();
    let verb = if flags.lock { "are kept in memory" } else { "are in memory" };
    let seconds = begin.elapsed().as_secs_f64();
    stdout::print(&format!("{}: {} bytes {verb} ({seconds:.2} s)\n", flags.table.display(), bytes(&table)))?;
    if !flags.lock {
        return Ok(());
    }
    let cancel = Cancel::default();
    signals::cancel_on_signals(&cancel);
    while !cancel.is_set() {
        std::thread::sleep(LOOK);
        // A file that is not whole yet, or damaged, leaves the old one where it is.
        if let Ok(Some(next)) = table.reopen() {
            table = next;
            stdout::print(&format!("{}: {} bytes {verb}\n", flags.table.display(), bytes(&table)))?;
        }
    }
    Ok(())
}
