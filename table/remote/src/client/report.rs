//! Reports of a table's servers: schema, version, keys and shard of each, and its counters.

use std::collections::BTreeMap;

use yunti_base::{Code, Error, Result};

use super::Options;
use super::connection::{Connection, Failed};
use crate::address::Address;
use crate::protocol::kind;
use crate::protocol::opened::Opened;

/// Counters of a server by their names: those of its page for Prometheus, with their labels.
pub type Counters = BTreeMap<String, f64>;

/// A server that answers.
#[derive(Clone, Debug)]
pub struct ServerReport {
    pub table: Opened,
    pub counters: Counters,
}

/// Opens a table at each server by a connection of its own, all at a time, and requests the counters. A server that is
/// away, or has a table with other columns than the first that answers, has an error, and the others their reports.
pub fn report(name: Option<&str>, addresses: &[Address], options: &Options) -> Vec<(Address, Result<ServerReport>)> {
    let of_server = |address: &Address| ask(address, name, options).map_err(|failed| failed.error());
    let mut found: Vec<Result<ServerReport>> = std::thread::scope(|scope| {
        let threads: Vec<_> = addresses.iter().map(|address| scope.spawn(move || of_server(address))).collect();
        let panicked = |_| Err(Error::new(Code::Internal, "the request of the counters panicked"));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
    });
    let first = found.iter().flatten().next().map(|report| report.table.clone());
    for one in &mut found {
        if let (Ok(report), Some(first)) = (&*one, &first)
            && let Err(e) = first.require_columns(&report.table)
        {
            *one = Err(e);
        }
    }
    let with_address = |(address, report): (&Address, Result<ServerReport>)| {
        (address.clone(), report.map_err(|e| e.at_path(address.to_string())))
    };
    addresses.iter().zip(found).map(with_address).collect()
}

fn ask(address: &Address, name: Option<&str>, options: &Options) -> std::result::Result<ServerReport, Failed> {
    let mut connection = Connection::open(address, name, options)?;
    let page = connection.request(kind::METRICS, |_| {})?;
    let wrong = || Failed::Connection(Error::new(Code::Input, "the counters of the server are no page for Prometheus"));
    Ok(ServerReport { counters: read(&page).ok_or_else(wrong)?, table: connection.opened })
}

/// Reads a page of Prometheus: `name{labels} value`, and lines that begin with #.
fn read(page: &[u8]) -> Option<Counters> {
    let lines = std::str::from_utf8(page).ok()?.lines();
    let counter = |line: &str| {
        let (name, value) = line.rsplit_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages() {
        let page = b"# TYPE a counter\na 12\nb{table=\"two words\",le=\"+Inf\"} 0.5\n\n";
        let expect = [("a".to_owned(), 12.0), ("b{table=\"two words\",le=\"+Inf\"}".to_owned(), 0.5)];
        assert_eq!(read(page), Some(Counters::from(expect)));
        for wrong in ["a", "a b", "a 1 x", "\u{0}"] {
            assert_eq!(read(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(read(b"a \xff"), None);
    }
}
