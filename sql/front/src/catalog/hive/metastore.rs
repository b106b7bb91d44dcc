//! The calls of a Hive metastore that queries need, over one connection. Kerberos and TLS are not spoken.

use std::collections::BTreeMap;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Mutex;
use std::time::Duration;

use yunti_base::{Code, Error, Result};

use super::thrift::{self, Answer, Argument, Fields, Value};

const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Time without a byte of the answer; a metastore may think for long about many partitions.
const SILENCE_MAX: Duration = Duration::from_secs(120);
/// Characters of a server's message that are shown.
const SHOWN_CHARS: usize = 300;
const PORT: u16 = 9083;

/// Address of a metastore: `thrift://HOST[:PORT][?framed=true]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub host: String,
    pub port: u16,
    pub framed: bool,
}

impl Address {
    /// Parses an address.
    pub fn parse(text: &str) -> Result<Address> {
        let wrong = || {
            Error::new(Code::Usage, format!("'{text}' is no address of a metastore"))
                .hint("write hive:thrift://HOST:9083, or hive:thrift://HOST:9083?framed=true")
        };
        let rest = text.strip_prefix("thrift://").ok_or_else(wrong)?;
        let (place, option) = rest.split_once('?').unwrap_or((rest, ""));
        let framed = match option {
            "" | "framed=false" => false,
            "framed=true" => true,
            _ => return Err(wrong()),
        };
        let (host, port) = match place.trim_end_matches('/').rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') => (host, port.parse().map_err(|_| wrong())?),
            _ => (place.trim_end_matches('/'), PORT),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        match host.is_empty() || host.contains(['/', '@', ' ', ',']) {
            true => Err(wrong()),
            false => Ok(Address { host: host.into(), port, framed }),
        }
    }
}

/// A name and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSchema {
    pub name: String,
    pub data_type: String,
}

/// Where and how rows are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    pub columns: Vec<FieldSchema>,
    pub location: String,
    pub input_format: String,
    pub serde: String,
    pub parameters: BTreeMap<String, String>,
}

/// A table as the metastore has it.
#[derive(Clone, Debug, Default)]
pub struct HiveTable {
    pub storage: Storage,
    pub partition_keys: Vec<FieldSchema>,
    pub parameters: BTreeMap<String, String>,
    /// Text of a view.
    pub view: Option<String>,
}

/// A partition: the values of the keys, and its storage.
#[derive(Clone, Debug)]
pub struct HivePartition {
    pub values: Vec<String>,
    pub storage: Storage,
}

/// A metastore.
#[derive(Debug)]
pub struct Metastore {
    address: Address,
    connection: Mutex<Option<(TcpStream, i32)>>,
}

/// Outcome of a call.
enum Outcome {
    Value(Value),
    /// There is no such thing.
    Missing,
    /// The server does not know the call.
    Unknown,
    /// The server refused, with a message.
    Refused(String),
}

impl Metastore {
    pub fn new(address: Address) -> Metastore {
        Metastore { address, connection: Mutex::new(None) }
    }

    fn name(&self) -> String {
        format!("thrift://{}:{}", self.address.host, self.address.port)
    }

    fn connect(&self) -> Result<TcpStream> {
        let cannot = |e: &io::Error| {
            Error::io(Code::Input, "cannot reach the metastore", e).at_path(self.name()).hint("check host and port")
        };
        let address = (&*self.address.host, self.address.port);
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in address.to_socket_addrs().map_err(|e| cannot(&e))? {
            match TcpStream::connect_timeout(&address, CONNECT_MAX) {
                Ok(stream) => {
                    let set = stream.set_read_timeout(Some(SILENCE_MAX));
                    set.and_then(|()| stream.set_write_timeout(Some(SILENCE_MAX))).map_err(|e| cannot(&e))?;
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Err(e) => last = e,
            }
        }
        Err(cannot(&last))
    }

    /// Makes a call. A connection that broke since the last call is opened once more.
    fn call(&self, name: &str, arguments: &[Argument<'_>]) -> Result<Outcome> {
        let mut connection = self.connection.lock().unwrap_or_else(|e| e.into_inner());
        let is_used = connection.is_some();
        let answer = match self.call_once(&mut connection, name, arguments) {
            Err(e) if is_used && e.code() == Code::Input => self.call_once(&mut connection, name, arguments),
            other => other,
        };
        let answer = answer.map_err(|e| e.at_path(self.name()))?;
        Ok(match answer {
            Answer::Unknown => Outcome::Unknown,
            Answer::Failed(message) => Outcome::Refused(plain(&message)),
            Answer::Fields(mut fields) => match fields.remove(&0) {
                Some(value) => Outcome::Value(value),
                None => exception(&fields),
            },
        })
    }

    fn call_once(
        &self,
        connection: &mut Option<(TcpStream, i32)>,
        name: &str,
        arguments: &[Argument<'_>],
    ) -> Result<Answer> {
        let (stream, sequence) = match connection.take() {
            Some((stream, sequence)) => (stream, sequence.wrapping_add(1)),
            None => (self.connect()?, 1),
        };
        let message = thrift::call(name, sequence, arguments);
        thrift::send(&message, self.address.framed, &mut &stream)
            .map_err(|e| Error::io(Code::Input, "cannot ask the metastore", &e))?;
        let mut buffered = io::BufReader::new(&stream);
        let answer = thrift::receive(name, sequence, self.address.framed, &mut buffered)?;
        // After an error, what is left of the answer would be taken for the next one: only a whole answer comes here.
        if buffered.buffer().is_empty() {
            *connection = Some((stream, sequence));
        }
        Ok(answer)
    }

    fn refused(&self, message: &str) -> Error {
        Error::new(Code::Input, format!("the metastore refuses: {message}")).at_path(self.name())
    }

    /// Returns the names of all databases.
    pub fn databases(&self) -> Result<Vec<String>> {
        self.names("get_all_databases", &[])
    }

    /// Returns the names of the tables of a database.
    pub fn tables(&self, database: &str) -> Result<Vec<String>> {
        self.names("get_all_tables", &[Argument::Text(database)])
    }

    fn names(&self, call: &str, arguments: &[Argument<'_>]) -> Result<Vec<String>> {
        match self.call(call, arguments)? {
            Outcome::Value(value) => Ok(value.list().iter().filter_map(Value::text).collect()),
            Outcome::Missing => Ok(Vec::new()),
            Outcome::Unknown => Err(self.refused(&format!("it has no call {call}"))),
            Outcome::Refused(message) => Err(self.refused(&message)),
        }
    }

    /// Returns a table, if it is there.
    pub fn table(&self, database: &str, name: &str) -> Result<Option<HiveTable>> {
        // Version 4 has the second call alone.
        let mut outcome = self.call("get_table", &[Argument::Text(database), Argument::Text(name)])?;
        if matches!(outcome, Outcome::Unknown) {
            outcome = self.call("get_table_req", &[Argument::Texts(&[(1, database), (2, name)])])?;
            if let Outcome::Value(Value::Struct(mut fields)) = outcome {
                outcome = fields.remove(&1).map_or(Outcome::Missing, Outcome::Value);
            }
        }
        match outcome {
            Outcome::Value(Value::Struct(fields)) => Ok(Some(table_of(&fields))),
            Outcome::Value(_) => Err(self.refused("its answer is no table")),
            Outcome::Missing => Ok(None),
            Outcome::Unknown => Err(self.refused("it has no call get_table")),
            Outcome::Refused(message) => Err(self.refused(&message)),
        }
    }

    /// Returns the partitions of a table that may meet a filter in the metastore's language; all without one.
    pub fn partitions(&self, database: &str, name: &str, filter: Option<&str>) -> Result<Vec<HivePartition>> {
        let (database, name, all) = (Argument::Text(database), Argument::Text(name), Argument::Short(-1));
        if let Some(filter) = filter {
            let (Argument::Text(d), Argument::Text(n)) = (&database, &name) else { return Ok(Vec::new()) };
            let arguments = [Argument::Text(d), Argument::Text(n), Argument::Text(filter), Argument::Short(-1)];
            // A metastore that cannot filter so gives all; they are filtered here anyway.
            if let Outcome::Value(value) = self.call("get_partitions_by_filter", &arguments)? {
                return Ok(partitions_of(&value));
            }
        }
        match self.call("get_partitions", &[database, name, all])? {
            Outcome::Value(value) => Ok(partitions_of(&value)),
            Outcome::Missing => Ok(Vec::new()),
            Outcome::Unknown => Err(self.refused("it has no call get_partitions")),
            Outcome::Refused(message) => Err(self.refused(&message)),
        }
    }
}

/// Returns a server's message in one line.
fn plain(message: &str) -> String {
    let words: Vec<&str> =
        message.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let text: String = words.join(" ").chars().take(SHOWN_CHARS).collect();
    if text.is_empty() { "it says nothing".into() } else { text }
}

/// Returns the meaning of an answer without a value.
fn exception(fields: &Fields) -> Outcome {
    let Some((_, value)) = fields.iter().next() else { return Outcome::Missing };
    let message = value.fields().and_then(|fields| fields.get(&1)).and_then(Value::text).unwrap_or_default();
    // All calls here declare MetaException and NoSuchObjectException, in either order; both have a message alone.
    let is_missing = ["not found", "does not exist", "no such", "nosuchobject"];
    match is_missing.iter().any(|word| message.to_lowercase().contains(word)) {
        true => Outcome::Missing,
        false => Outcome::Refused(plain(&message)),
    }
}

fn text(fields: &Fields, id: i16) -> String {
    fields.get(&id).and_then(Value::text).unwrap_or_default()
}

fn schemas(fields: &Fields, id: i16) -> Vec<FieldSchema> {
    let all = fields.get(&id).map(Value::list).unwrap_or_default();
    let of = |fields: &Fields| FieldSchema { name: text(fields, 1), data_type: text(fields, 2) };
    all.iter().filter_map(Value::fields).map(of).collect()
}

fn storage_of(fields: &Fields) -> Storage {
    let serde = fields.get(&7).and_then(Value::fields).cloned().unwrap_or_default();
    let mut parameters = fields.get(&10).map(Value::texts).unwrap_or_default();
    parameters.extend(serde.get(&3).map(Value::texts).unwrap_or_default());
    Storage {
        columns: schemas(fields, 1),
        location: text(fields, 2),
        input_format: text(fields, 3),
        serde: text(&serde, 2),
        parameters,
    }
}

fn table_of(fields: &Fields) -> HiveTable {
    let storage = fields.get(&7).and_then(Value::fields).map(storage_of).unwrap_or_default();
    let is_view = text(fields, 12) == "VIRTUAL_VIEW";
    let view = [11, 10].into_iter().map(|id| text(fields, id)).find(|text| !text.is_empty());
    HiveTable {
        storage,
        partition_keys: schemas(fields, 8),
        parameters: fields.get(&9).map(Value::texts).unwrap_or_default(),
        view: view.filter(|_| is_view),
    }
}

fn partitions_of(value: &Value) -> Vec<HivePartition> {
    let of = |fields: &Fields| HivePartition {
        values: fields.get(&1).map(Value::list).unwrap_or_default().iter().filter_map(Value::text).collect(),
        storage: fields.get(&6).and_then(Value::fields).map(storage_of).unwrap_or_default(),
    };
    value.list().iter().filter_map(Value::fields).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, expect) in [
            ("thrift://ms", Some(("ms", 9083, false))),
            ("thrift://ms:1234/", Some(("ms", 1234, false))),
            ("thrift://ms:1234?framed=true", Some(("ms", 1234, true))),
            ("thrift://[::1]:1234", Some(("::1", 1234, false))),
            ("thrift://", None),
            ("thrift://a,b", None),
            ("thrift://ms:x", None),
            ("thrift://ms?kerberos=true", None),
            ("http://ms", None),
        ] {
            let expect = expect.map(|(host, port, framed)| Address { host: host.into(), port, framed });
            assert_eq!(Address::parse(text).ok(), expect, "{text}");
        }
    }

    #[test]
    fn messages_are_one_line() {
        assert_eq!(plain("a\n\tb\u{1b}[0m "), "a b [0m");
        assert_eq!(plain(&"x".repeat(1000)).len(), SHOWN_CHARS);
    }
}
