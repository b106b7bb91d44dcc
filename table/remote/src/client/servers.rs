//! Servers of a table: what each has, its idle connections, and when it failed last.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use yunti_base::{Code, Error, Result};

use super::Options;
use super::connection::{Connection, Failed};
use super::report::{ServerReport, report};
use crate::address::Address;
use crate::protocol::opened::Opened;

/// Idle connections that a server keeps.
const IDLE: usize = 16;
/// How long a server that failed comes after the others.
const AFTER: Duration = Duration::from_secs(5);

struct Server {
    address: Address,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Shard that it has; `None` until it was reached.
    shard: Option<(u32, u32)>,
    /// Its file has all shards, whatever its own.
    is_whole: bool,
    idle: Vec<Connection>,
    failed: Option<Instant>,
}

pub struct Servers {
    all: Vec<Server>,
    name: Option<String>,
    options: Options,
    /// Number of shards.
    pub shards: u32,
    /// Calls, which begin at another replica each.
    turn: AtomicUsize,
    /// The table, as the first server describes it.
    pub opened: Opened,
    /// Version of each file: of the whole table, or of a shard.
    versions: Mutex<BTreeMap<FileOf, u64>>,
}

/// Number of a shard and of all shards, of a file that has one part; `None`: a file with all keys.
type FileOf = Option<(u32, u32)>;

fn file_of(opened: &Opened) -> FileOf {
    (!opened.is_whole).then_some(opened.shard)
}

fn locked<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Servers {
    /// Opens a table at all of its servers. Some may be down, but each shard needs one.
    pub fn open(name: Option<&str>, addresses: &[Address], options: Options) -> Result<Servers> {
        let mut all = Vec::new();
        let (mut opened, mut last, mut shards) = (None::<Opened>, None, 1);
        let mut versions = BTreeMap::new();
        for address in addresses {
            let mut state = State::default();
            match Connection::open(address, name, &options) {
                Ok(connection) => {
                    let own = &connection.opened;
                    let first = opened.get_or_insert_with(|| own.clone());
                    first.require_columns(own).map_err(|e| e.at_path(address.to_string()))?;
                    let version = *versions.entry(file_of(own)).or_insert(own.version);
                    if options.one_version && version != own.version {
                        let what = "the server has another version of the table than others";
                        return Err(Error::new(Code::Input, what).at_path(address.to_string()));
                    }
                    // The file of a shard says nothing of the keys of others.
                    first.has_lists |= own.has_lists;
                    if own.shard.1 > 1 && shards > 1 && own.shard.1 != shards {
                        let what = format!("the server has a shard of {}, others of {shards}", own.shard.1);
                        return Err(Error::new(Code::Input, what).at_path(address.to_string()));
                    }
                    shards = shards.max(own.shard.1);
                    (state.shard, state.is_whole) = (Some(own.shard), own.is_whole);
                    state.idle.push(connection);
                }
                Err(Failed::Connection(e)) => {
                    state.failed = Some(Instant::now());
                    last = Some(e.at_path(address.to_string()));
                }
                Err(refused) => return Err(refused.error().at_path(address.to_string())),
            }
            all.push(Server { address: address.clone(), state: Mutex::new(state) });
        }
        let no_server = || Error::new(Code::Usage, "a table of servers needs an address");
        let Some(opened) = opened else { return Err(last.unwrap_or_else(no_server)) };
        let (name, turn, versions) = (name.map(str::to_owned), AtomicUsize::new(0), Mutex::new(versions));
        let servers = Servers { all, name, options, shards, turn, opened, versions };
        // A server that was not reached may have any shard, but counts for none.
        match (0..shards).find(|shard| !servers.is_reached(*shard)) {
            Some(shard) => {
                let missing = Error::new(Code::Input, format!("no server has shard {} of {shards}", shard + 1));
                Err(last.unwrap_or(missing))
            }
            None => Ok(servers),
        }
    }

    fn is_reached(&self, shard: u32) -> bool {
        let has = |server: &Server| {
            let state = locked(&server.state);
            state.is_whole || state.shard.is_some_and(|(own, _)| own == shard + 1)
        };
        self.all.iter().any(has)
    }

    pub fn report(&self) -> Vec<(Address, Result<ServerReport>)> {
        let addresses: Vec<Address> = self.all.iter().map(|server| server.address.clone()).collect();
        report(self.name.as_deref(), &addresses, &self.options)
    }

    pub fn address(&self, server: usize) -> &Address {
        &self.all[server].address
    }

    /// Returns the servers that answer for a shard, in the order in which they are to be tried: servers with this
    /// shard, with the whole table, and last the ones that failed or were never reached.
    pub fn replicas(&self, shard: u32) -> Vec<usize> {
        let turn = self.turn.fetch_add(1, Relaxed);
        let rank = |server: &Server| {
            let state = locked(&server.state);
            let fits = match state.shard {
                Some(own) if own == (shard + 1, self.shards) => 0,
                Some(_) if state.is_whole => 1,
                Some(_) => return None,
                None => 2,
            };
            Some((state.failed.is_some_and(|when| when.elapsed() < AFTER), fits))
        };
        let count = self.all.len();
        let places = (0..count).map(|place| (place + turn) % count);
        let mut found: Vec<_> = places.filter_map(|place| Some((rank(&self.all[place])?, place))).collect();
        found.sort_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, place)| place).collect()
    }

    /// Returns a connection to a server, and true if it has been used before: it may have been closed since.
    pub fn connection(&self, server: usize, shard: u32) -> std::result::Result<(Connection, bool), Failed> {
        let Server { address, state } = &self.all[server];
        if let Some(idle) = locked(state).idle.pop() {
            return Ok((idle, true));
        }
        let connection = Connection::open(address, self.name.as_deref(), &self.options)?;
        self.opened.require_columns(&connection.opened).map_err(Failed::Connection)?;
        let version = *locked(&self.versions).entry(file_of(&connection.opened)).or_insert(connection.opened.version);
        if self.options.one_version && version != connection.opened.version {
            let what = "the server has another version of the table since the job began";
            return Err(Failed::Connection(Error::new(Code::Input, what).hint("begin again")));
        }
        let own = connection.opened.shard;
        let is_whole = connection.opened.is_whole;
        {
            let mut state = locked(state);
            (state.shard, state.is_whole) = (Some(own), is_whole);
        }
        if !is_whole && own != (shard + 1, self.shards) {
            let what = format!("the server has shard {} of {}", own.0, own.1);
            return Err(Failed::Connection(Error::new(Code::Input, what)));
        }
        Ok((connection, false))
    }

    /// Returns the versions of files in the order of their shards.
    pub fn versions(&self) -> Vec<u64> {
        locked(&self.versions).values().copied().collect()
    }

    /// Gives a connection back without requests under way.
    pub fn give_back(&self, server: usize, connection: Connection) {
        let mut state = locked(&self.all[server].state);
        state.failed = None;
        if state.idle.len() < IDLE {
            state.idle.push(connection);
        }
    }

    pub fn failed(&self, server: usize) {
        let mut state = locked(&self.all[server].state);
        state.failed = Some(Instant::now());
        state.idle.clear();
    }
}
