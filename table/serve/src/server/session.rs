//! Requests of one client to their responses.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use yunti_base::Result;
use yunti_table::format::row::write_number;
use yunti_table::index::keys;
use yunti_table::read::Rows;

use super::handle::Handle;
use super::metrics::Metrics;
use super::served::Served;
use yunti_table_remote::protocol::frame::{self, Frame};
use yunti_table_remote::protocol::parts::{Parts, put_string};
use yunti_table_remote::protocol::refusal::{Reason, Refusal};
use yunti_table_remote::protocol::{ALL_COLUMNS, ALL_ROWS, MAGIC, VERSION, kind};

/// Most handles of a connection: each keeps a version of a table mapped.
const HANDLES: usize = 1024;

/// Parts of a server that all sessions share.
pub struct Shared {
    pub tables: Vec<Served>,
    pub token: Option<Vec<u8>>,
    pub metrics: Metrics,
    pub began: Instant,
}

/// State of one client: the tables that it has opened.
#[derive(Default)]
pub struct Session {
    pub is_known: bool,
    handles: Vec<Handle>,
    scratch: Vec<u8>,
}

type Answer<T> = std::result::Result<T, Refusal>;

fn protocol(what: &str) -> Refusal {
    Refusal::new(Reason::Protocol, what)
}

impl Session {
    /// Appends the response to a request. Returns false if the connection ends with it.
    pub fn answer(&mut self, shared: &Shared, frame: &Frame<'_>, out: &mut Vec<u8>) -> bool {
        shared.metrics.requests.fetch_add(1, Relaxed);
        let mut refused = None;
        let is_whole = frame::append(out, frame.id, frame.kind, |out| {
            refused = self.payload(shared, frame, out).err();
            refused.is_none()
        });
        if is_whole {
            return true;
        }
        let too_long = || Refusal::new(Reason::TooLong, "the response is too long: ask for fewer keys");
        append_refusal(shared, frame.id, &refused.unwrap_or_else(too_long), out)
    }

    fn payload(&mut self, shared: &Shared, frame: &Frame<'_>, out: &mut Vec<u8>) -> Answer<()> {
        let parts = Parts(frame.payload);
        match frame.kind {
            kind::HELLO => self.hello(shared, parts, out),
            _ if !self.is_known => Err(protocol("the first request of a connection is hello")),
            kind::OPEN => self.open(shared, parts, out),
            kind::GET => self.get(shared, parts, out),
            kind::METRICS => {
                out.extend_from_slice(shared.metrics.page(&shared.tables, shared.began).as_bytes());
                Ok(())
            }
            _ => Err(protocol("a request of no known kind")),
        }
    }

    fn hello(&mut self, shared: &Shared, mut parts: Parts<'_>, out: &mut Vec<u8>) -> Answer<()> {
        let magic = parts.0.split_off(..4);
        let (Some(version), Some(token)) = (parts.u16(), parts.string()) else {
            return Err(protocol("this is no client of yunti table serve"));
        };
        if magic != Some(&MAGIC) || !parts.is_at_end() {
            return Err(protocol("this is no client of yunti table serve"));
        }
        if version != VERSION {
            return Err(protocol(&format!("the client speaks version {version}, this server {VERSION}")));
        }
        if shared.token.as_ref().is_some_and(|own| !is_same(own, token)) {
            let what = if token.is_empty() { "the server needs a token" } else { "the token is wrong" };
            return Err(Refusal::new(Reason::Token, what));
        }
        self.is_known = true;
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&(shared.tables.len() as u16).to_le_bytes());
        shared.tables.iter().for_each(|table| put_string(table.name.as_bytes(), out));
        Ok(())
    }

    fn open(&mut self, shared: &Shared, mut parts: Parts<'_>, out: &mut Vec<u8>) -> Answer<()> {
        let wrong = || protocol("a wrong request to open a table");
        let name = parts.text().ok_or_else(wrong)?;
        let names = match parts.u16().ok_or_else(wrong)? {
            ALL_COLUMNS => None,
            count => Some((0..count).map(|_| parts.text()).collect::<Option<Vec<_>>>().ok_or_else(wrong)?),
        };
        if !parts.is_at_end() {
            return Err(wrong());
        }
        let Some(table) = shared.tables.iter().find(|table| table.name == name) else {
            let names: Vec<&str> = shared.tables.iter().map(|table| table.name.as_str()).collect();
            let names = names.join(", ");
            let what = match name.as_str() {
                "" => format!("the name of the table is empty; the server has {names}"),
                name => format!("there is no table {name}; the server has {names}"),
            };
            return Err(Refusal::new(Reason::NoSuchTable, what));
        };
        if self.handles.len() >= HANDLES {
            return Err(Refusal::new(Reason::NoSuchTable, format!("a connection opens at most {HANDLES} tables")));
        }
        let handle = Handle::of(table.newest(), names.as_deref())?;
        handle.opened(self.handles.len() as u32).write(out);
        self.handles.push(handle);
        Ok(())
    }

    fn get(&mut self, shared: &Shared, mut parts: Parts<'_>, out: &mut Vec<u8>) -> Answer<()> {
        let begin = Instant::now();
        let wrong = || protocol("a wrong request for rows");
        let (number, flags, count) = (parts.u32(), parts.u8(), parts.u32());
        let (Some(number), Some(flags), Some(count)) = (number, flags, count) else { return Err(wrong()) };
        let unknown = || Refusal::new(Reason::NoSuchTable, "this handle was not opened");
        let handle = self.handles.get(number as usize).ok_or_else(unknown)?;
        // A key has a byte of length at the least: a hostile count ends here.
        if count as usize > parts.0.len() {
            return Err(wrong());
        }
        let mut wanted = Vec::with_capacity(count as usize);
        for _ in 0..count {
            wanted.push(parts.bytes().ok_or_else(wrong)?);
        }
        if !parts.is_at_end() {
            return Err(wrong());
        }
        let (shard, shards) = handle.version.table.header().shard;
        if shards > 0 && wanted.iter().any(|key| keys::shard(key, shards) + 1 != shard) {
            let what = format!("a key belongs to another shard than {shard}/{shards}");
            return Err(Refusal::new(Reason::WrongKey, what));
        }
        let found = if flags & ALL_ROWS == 0 {
            first_rows(handle, &wanted, &mut self.scratch, out)
        } else {
            all_rows(handle, &wanted, &mut self.scratch, out)
        };
        shared.metrics.keys.fetch_add(wanted.len() as u64, Relaxed);
        shared.metrics.rows.fetch_add(found?, Relaxed);
        shared.metrics.took(begin.elapsed());
        Ok(())
    }
}

/// Appends an error. Returns false if the connection ends with it.
pub fn append_refusal(shared: &Shared, id: u32, refusal: &Refusal, out: &mut Vec<u8>) -> bool {
    shared.metrics.errors.fetch_add(1, Relaxed);
    frame::append(out, id, kind::ERROR, |out| {
        refusal.write(out);
        true
    });
    !refusal.is_last()
}

/// Appends the first row of each key, and returns how many there are.
fn first_rows(handle: &Handle, wanted: &[&[u8]], scratch: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<u64> {
    let (mut rows, mut failed) = (0, None);
    let limit = out.len() + frame::MOST;
    handle.version.table.get_batch(wanted, |_, row| {
        out.push(u8::from(row.is_some()));
        // A response beyond the limit is thrown away: it need not become longer.
        if let Some(row) = row.filter(|_| out.len() < limit) {
            rows += 1;
            if let Err(e) = handle.append(&row, scratch, out) {
                failed = Some(e);
            }
        }
    })?;
    failed.map_or(Ok(rows), Err)
}

/// Appends all rows of each key, and returns how many there are.
fn all_rows(handle: &Handle, wanted: &[&[u8]], scratch: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<u64> {
    let (mut all, mut failed) = (0, None);
    let limit = out.len() + frame::MOST;
    handle.version.table.get_all_batch(wanted, |_, rows| {
        // A response beyond the limit is thrown away: it need not become longer.
        if failed.is_none() && out.len() < limit {
            match append_all(handle, rows, scratch, out) {
                Ok(count) => all += count,
                Err(e) => failed = Some(e),
            }
        }
    })?;
    failed.map_or(Ok(all), Err)
}

/// Appends the number of rows, and the rows.
fn append_all(handle: &Handle, rows: Rows<'_>, scratch: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<u64> {
    let mut count = 0;
    for row in rows.clone() {
        row?;
        count += 1;
    }
    write_number(count, out);
    for row in rows {
        handle.append(&row?, scratch, out)?;
    }
    Ok(count as u64)
}

/// Compares a token in a time that does not tell how much of it is right.
fn is_same(own: &[u8], given: &[u8]) -> bool {
    own.len() == given.len() && own.iter().zip(given).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}
