//! A server in this process, and clients over its sockets: the same answers as the table, whatever happens.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use yunti_base::{Cancel, Code, Result};
use yunti_table::builder::{Duplicates, Gather, Settings, write};
use yunti_table::format::schema::{Column, Kind, Schema};
use yunti_table::index::keys;
use yunti_table::read::{self, Table};
use yunti_table_remote::address::Address;
use yunti_table_remote::client::{Answers, Lookups, Options, RemoteTable};
use yunti_table_serve::server::{self, TableFile, serve};

static NUMBER: AtomicU64 = AtomicU64::new(0);

struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("yunti-serve-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The row of a number in the table with this stamp: keys are every third number, and each sixth key has two rows.
fn text_of(number: u64, stamp: u64) -> String {
    format!("{stamp}-{}", "x".repeat((number % 40) as usize))
}

const KEYS: u64 = 20_000;

/// Builds a table, or a part of it.
fn build(path: &Path, stamp: u64, shard: (u32, u32)) {
    let columns = vec![
        Column::new("id", Kind::U64, false),
        Column::new("text", Kind::Utf8, false),
        Column::new("city", Kind::Dict, true),
        Column::new("score", Kind::F32, true),
    ];
    let settings = Settings { duplicates: Duplicates::List, shard, ..Settings::default() };
    let gather = Gather::new(Schema::new(columns, vec![0]).unwrap(), path, &settings);
    let mut feeder = gather.feeder();
    let mut line = 0;
    for key in 0..KEYS {
        let id = (key * 3).to_le_bytes();
        let (text, city) = (text_of(key, stamp), format!("city{}", key % 30));
        let score = (key as f32 / 8.0).to_le_bytes();
        for _ in 0..if key % 6 == 0 { 2 } else { 1 } {
            let city = (key % 7 > 0).then_some(city.as_bytes());
            feeder.add(&[Some(&id), Some(text.as_bytes()), city, (key % 5 > 0).then_some(&score)], line).unwrap();
            line += 1;
        }
    }
    feeder.finish().unwrap();
    write(path, gather, &settings).unwrap();
}

/// A server that runs in a thread until it is dropped.
struct Server {
    address: Address,
    cancel: Cancel,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Server {
    fn start(address: &str, path: &Path, shard: Option<(u32, u32)>) -> Server {
        Server::with(address, path, shard, |settings| settings)
    }

    fn with(
        address: &str,
        path: &Path,
        shard: Option<(u32, u32)>,
        change: impl FnOnce(server::Settings) -> server::Settings,
    ) -> Server {
        let settings = change(server::Settings {
            listen: vec![address.parse().unwrap()],
            metrics: None,
            threads: 2,
            connections: 100,
            token: None,
            tls: None,
        });
        let options = read::Options::default();
        let tables = vec![TableFile { name: "users".into(), path: path.to_owned(), shard, options }];
        let cancel = Cancel::default();
        let (sender, listening) = mpsc::channel();
        let stop = cancel.clone();
        let thread = std::thread::spawn(move || {
            serve(tables, settings, &stop, |addresses, _| {
                sender.send(addresses[0].clone()).unwrap();
                Ok(())
            })
        });
        let Ok(address) = listening.recv() else { panic!("{:?}", thread.join().unwrap()) };
        Server { address, cancel, thread: Some(thread) }
    }

    fn stop(&mut self) {
        self.cancel.set();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn key(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

fn unix(folder: &Folder, name: &str) -> String {
    format!("unix:{}", folder.0.join(name).display())
}

/// Checks that a client finds what the table has, for keys with and without rows.
fn check(client: &RemoteTable, table: &Table, numbers: &[u64]) {
    let wanted: Vec<[u8; 8]> = numbers.iter().copied().map(key).collect();
    let (first, all) = (client.get(&wanted, false).unwrap(), client.get(&wanted, true).unwrap());
    for (at, key) in wanted.iter().enumerate() {
        let own = table.get_all(key).unwrap().map(|row| row.unwrap().object().unwrap()).collect::<Vec<_>>();
        let others: Vec<_> = all.rows(at).map(|row| row.object().unwrap()).collect();
        assert_eq!(others, own, "{}", numbers[at]);
        assert_eq!(first.first(at).map(|row| row.object().unwrap()), own.first().cloned());
    }
}

fn numbers(count: u64, seed: u64) -> Vec<u64> {
    (0..count).map(|at| (at * 2_654_435_761 + seed) % (KEYS * 4)).collect()
}

#[test]
fn the_same_answers_as_the_table() {
    let folder = Folder::new();
    let path = folder.0.join("users.ytab");
    build(&path, 1, (0, 0));
    let table = Table::open(&path).unwrap();
    for address in [unix(&folder, "socket"), "127.0.0.1:0".to_owned()] {
        let server = Server::start(&address, &path, None);
        let client = RemoteTable::connect(Some("users"), from_ref(&server.address), Options::default()).unwrap();
        for count in [0, 1, 2, 1023, 1024, 1025, 9000] {
            check(&client, &table, &numbers(count, count));
        }
        let columns = Some(vec!["city".to_owned(), "id".to_owned()]);
        let options = Options { columns, ..Options::default() };
        let client = RemoteTable::connect(None, from_ref(&server.address), options).unwrap();
        let answers = client.get(&[key(3)], false).unwrap();
        assert_eq!(answers.first(0).unwrap().object().unwrap().to_string(), r#"{"city":"city1","id":3}"#);
        let options = Options { columns: Some(vec!["nosuch".to_owned()]), ..Options::default() };
        let error = RemoteTable::connect(None, from_ref(&server.address), options).err().unwrap();
        assert!(error.what().contains("the table has no column nosuch"), "{error}");
    }
    assert!(!folder.0.join("socket").exists());
}

#[test]
fn shards_of_files_and_of_pages() {
    let folder = Folder::new();
    let whole = folder.0.join("users.ytab");
    build(&whole, 1, (0, 0));
    let table = Table::open(&whole).unwrap();
    let mut servers = Vec::new();
    let mut keys_of_parts = 0;
    for shard in 1..=3 {
        let part = folder.0.join(format!("{shard}.ytab"));
        build(&part, 1, (shard, 3));
        keys_of_parts += Table::open(&part).unwrap().len();
        servers.push(Server::start(&unix(&folder, &format!("part{shard}")), &part, None));
    }
    assert_eq!(keys_of_parts, KEYS);
    let addresses: Vec<Address> = servers.iter().map(|server| server.address.clone()).collect();
    let client = RemoteTable::connect(Some("users"), &addresses, Options::default()).unwrap();
    check(&client, &table, &numbers(5000, 7));
    let error = RemoteTable::connect(Some("users"), &addresses[1..], Options::default()).err().unwrap();
    assert_eq!(error.what(), "no server has shard 1 of 3");
    // A server of the whole file takes the place of a part that is gone.
    let spare = Server::start(&unix(&folder, "spare"), &whole, Some((1, 3)));
    let addresses = [&addresses[1..], from_ref(&spare.address)].concat();
    check(&RemoteTable::connect(Some("users"), &addresses, Options::default()).unwrap(), &table, &numbers(5000, 8));
    check(
        &RemoteTable::connect(Some("users"), from_ref(&spare.address), Options::default()).unwrap(),
        &table,
        &numbers(3000, 9),
    );
    let other = Server::start(&unix(&folder, "other"), &whole, Some((1, 4)));
    let addresses = [addresses, vec![other.address.clone()]].concat();
    let error = RemoteTable::connect(Some("users"), &addresses, Options::default()).err().unwrap();
    assert!(error.what().contains("a shard of 4, others of 3"), "{error}");
}

#[test]
fn one_shard_alone_has_a_key_with_several_rows() {
    let folder = Folder::new();
    let mut servers = Vec::new();
    for shard in 1..=2 {
        let part = folder.0.join(format!("{shard}.ytab"));
        let settings = Settings { duplicates: Duplicates::List, shard: (shard, 2), ..Settings::default() };
        let schema = Schema::new(vec![Column::new("id", Kind::U64, false)], vec![0]).unwrap();
        let gather = Gather::new(schema, &part, &settings);
        let mut feeder = gather.feeder();
        (0..2).for_each(|line| feeder.add(&[Some(&key(1))], line).unwrap());
        feeder.finish().unwrap();
        write(&part, gather, &settings).unwrap();
        servers.push(Server::start(&unix(&folder, &format!("part{shard}")), &part, None));
    }
    let mut addresses: Vec<Address> = servers.iter().map(|server| server.address.clone()).collect();
    for _ in 0..2 {
        let client = RemoteTable::connect(Some("users"), &addresses, Options::default()).unwrap();
        assert!(client.has_lists());
        assert_eq!(client.get(&[key(1)], true).unwrap().rows(0).count(), 2);
        addresses.reverse();
    }
}

#[test]
fn a_server_that_ends_under_load_is_replaced() {
    let folder = Folder::new();
    let path = folder.0.join("users.ytab");
    build(&path, 1, (0, 0));
    let table = Table::open(&path).unwrap();
    let names = [unix(&folder, "a"), unix(&folder, "b")];
    let mut servers: Vec<Server> = names.iter().map(|name| Server::start(name, &path, None)).collect();
    let addresses: Vec<Address> = servers.iter().map(|server| server.address.clone()).collect();
    let client = RemoteTable::connect(Some("users"), &addresses, Options::default()).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (client, table, is_done) = (&client, &table, &is_done);
            scope.spawn(move || {
                let mut seed = thread;
                while !is_done.load(Ordering::Relaxed) {
                    check(client, table, &numbers(3000, seed));
                    seed += 3;
                }
            });
        }
        for round in 0..6 {
            std::thread::sleep(Duration::from_millis(60));
            let one = round % 2;
            servers[one].stop();
            std::thread::sleep(Duration::from_millis(60));
            servers[one] = Server::start(&names[one], &path, None);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    drop(servers);
    let error = client.get(&[key(3)], false).err().unwrap();
    assert_eq!(error.code(), Code::Input);
    assert!(error.to_string().contains("unix:"), "{error}");
}

#[test]
fn batches_under_way_survive_the_end_of_servers() {
    let folder = Folder::new();
    let whole = folder.0.join("whole.ytab");
    build(&whole, 1, (0, 0));
    let table = Table::open(&whole).unwrap();
    let names: Vec<String> = ["a", "b", "c", "d"].iter().map(|name| unix(&folder, name)).collect();
    let shard = |number: usize| Some((number as u32 % 2 + 1, 2));
    let mut servers: Vec<Server> =
        names.iter().enumerate().map(|(number, name)| Server::start(name, &whole, shard(number))).collect();
    let addresses: Vec<Address> = servers.iter().map(|server| server.address.clone()).collect();
    let client = Arc::new(RemoteTable::connect(Some("users"), &addresses, Options::default()).unwrap());
    for round in 0..8_u64 {
        let mut lookups = Lookups::new(client.clone(), true);
        // Batches of any size, an empty one among them.
        let batches: Vec<Vec<u64>> = (0..30).map(|batch| numbers(batch * 331 % 5000, round * 100 + batch)).collect();
        let equal = |answers: Answers, batch: &Vec<u64>| {
            for (at, number) in batch.iter().enumerate() {
                let rows: Vec<Vec<u8>> = answers.rows(at).map(|row| row.value(1).unwrap().unwrap().to_vec()).collect();
                let expect = table.get_all(&key(*number)).unwrap();
                let expect: Vec<Vec<u8>> = expect.map(|row| row.unwrap().value(1).unwrap().unwrap().to_vec()).collect();
                assert_eq!(rows, expect, "{number}");
            }
        };
        let mut taken = 0;
        for (number, batch) in batches.iter().enumerate() {
            let keys: Vec<[u8; 8]> = batch.iter().map(|number| key(*number)).collect();
            lookups.add(&keys).unwrap();
            if number == 7 {
                servers[round as usize % 4].stop();
            }
            if lookups.count() > 3 {
                equal(lookups.take().unwrap().unwrap(), &batches[taken]);
                taken += 1;
            }
        }
        while let Some(answers) = lookups.take().unwrap() {
            equal(answers, &batches[taken]);
            taken += 1;
        }
        assert_eq!(taken, batches.len());
        let one = round as usize % 4;
        servers[one] = Server::start(&names[one], &whole, shard(one));
    }
    drop(servers);
    let mut lookups = Lookups::new(client, false);
    let error = lookups.add(&[key(3)]).and_then(|()| lookups.take().map(drop)).unwrap_err();
    assert!(error.code() == Code::Input && error.to_string().contains("unix:"), "{error}");
}

#[test]
fn one_version_alone() {
    let folder = Folder::new();
    let paths = [folder.0.join("a.ytab"), folder.0.join("b.ytab")];
    paths.iter().for_each(|path| build(path, 1, (0, 0)));
    let names = [unix(&folder, "a"), unix(&folder, "b")];
    let mut servers: Vec<Server> = (0..2).map(|one| Server::start(&names[one], &paths[one], None)).collect();
    let addresses: Vec<Address> = servers.iter().map(|server| server.address.clone()).collect();
    let options = Options { one_version: true, ..Options::default() };
    let client = RemoteTable::connect(Some("users"), &addresses, options.clone()).unwrap();
    let text = |client: &RemoteTable| client.get(&[key(3)], false).map(|all| all.first(0).unwrap().text(1).unwrap());
    assert_eq!((text(&client).unwrap(), client.versions().len()), (Some(text_of(1, 1)), 1));
    // A server that comes back with another table is none of this client's any more; the other one answers.
    build(&paths[0], 2, (0, 0));
    servers[0].stop();
    servers[0] = Server::start(&names[0], &paths[0], None);
    for _ in 0..5 {
        assert_eq!(text(&client).unwrap(), Some(text_of(1, 1)));
    }
    let error = RemoteTable::connect(Some("users"), &addresses, options).err().unwrap();
    assert!(error.code() == Code::Input && error.what().contains("another version"), "{error}");
    // Without a server of the first version, lookups fail.
    build(&paths[1], 2, (0, 0));
    servers[1].stop();
    servers[1] = Server::start(&names[1], &paths[1], None);
    let error = text(&client).unwrap_err();
    assert!(error.code() == Code::Input && error.what().contains("another version"), "{error}");
}

#[test]
fn a_server_with_the_whole_file_takes_over_under_load() {
    let folder = Folder::new();
    let (whole, part) = (folder.0.join("users.ytab"), folder.0.join("part.ytab"));
    build(&whole, 1, (0, 0));
    build(&part, 1, (2, 2));
    let table = Table::open(&whole).unwrap();
    let first = Server::start(&unix(&folder, "whole"), &whole, Some((1, 2)));
    let name = unix(&folder, "part");
    let mut second = Server::start(&name, &part, None);
    let addresses = [second.address.clone(), first.address.clone()];
    let client = RemoteTable::connect(Some("users"), &addresses, Options::default()).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (client, table, is_done) = (&client, &table, &is_done);
            scope.spawn(move || {
                let mut seed = thread;
                while !is_done.load(Ordering::Relaxed) {
                    check(client, table, &numbers(3000, seed));
                    check(client, table, &numbers(1, seed));
                    seed += 2;
                }
            });
        }
        for _ in 0..4 {
            std::thread::sleep(Duration::from_millis(60));
            second.stop();
            std::thread::sleep(Duration::from_millis(60));
            second = Server::start(&name, &part, None);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    second.stop();
    check(&client, &table, &numbers(3000, 3));
    let reports = client.report();
    assert_eq!(reports[1].1.as_ref().unwrap().table.shard, (1, 2));
    assert!(reports[1].1.as_ref().unwrap().counters["yunti_table_keys_total"] > 3000.0);
    assert!(reports[0].1.as_ref().unwrap_err().to_string().contains("part"));
    drop(first);
    assert!(client.get(&[key(3)], false).is_err());
    let error = RemoteTable::connect(Some(""), &addresses, Options::default()).err().unwrap();
    assert_eq!(error.what(), "the name of the table is empty");
}

#[test]
fn a_file_that_is_replaced_under_load() {
    let folder = Folder::new();
    let path = folder.0.join("users.ytab");
    build(&path, 1, (0, 0));
    let server = Server::start(&unix(&folder, "socket"), &path, None);
    let connect = || RemoteTable::connect(None, from_ref(&server.address), Options::default()).unwrap();
    let (old, first) = (connect(), Table::open(&path).unwrap());
    build(&path, 2, (0, 0));
    let second = Table::open(&path).unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    let is_new = |client: &RemoteTable| {
        let answers = client.get(&[key(3)], false).unwrap();
        answers.first(0).unwrap().text(1).unwrap().unwrap().starts_with("2-")
    };
    while !is_new(&connect()) {
        assert!(Instant::now() < end, "the new file did not take its place");
        std::thread::sleep(Duration::from_millis(20));
    }
    check(&connect(), &second, &numbers(3000, 3));
    // A client goes on with the version that it opened.
    check(&old, &first, &numbers(3000, 4));
    // A damaged file takes no place.
    std::fs::write(folder.0.join("wrong"), b"YTAB and nothing else").unwrap();
    std::fs::rename(folder.0.join("wrong"), &path).unwrap();
    std::thread::sleep(Duration::from_millis(1200));
    check(&connect(), &second, &numbers(300, 5));
}

#[test]
fn responses_that_are_too_long_are_asked_for_in_halves() {
    let folder = Folder::new();
    let path = folder.0.join("users.ytab");
    let columns = vec![Column::new("id", Kind::U64, false), Column::new("text", Kind::Bytes, false)];
    let gather = Gather::new(Schema::new(columns, vec![0]).unwrap(), &path, &Settings::default());
    let mut feeder = gather.feeder();
    for number in 0..64 {
        let text = vec![number as u8; if number == 63 { 17 << 20 } else { 1 << 20 }];
        feeder.add(&[Some(&key(number)), Some(&text)], number).unwrap();
    }
    feeder.finish().unwrap();
    write(&path, gather, &Settings::default()).unwrap();
    let server = Server::start(&unix(&folder, "socket"), &path, None);
    let client = RemoteTable::connect(None, from_ref(&server.address), Options::default()).unwrap();
    let wanted: Vec<[u8; 8]> = (0..63).map(key).collect();
    let answers = client.get(&wanted, false).unwrap();
    for number in 0..63 {
        let row = answers.first(number).unwrap();
        assert_eq!(row.value(1).unwrap().unwrap(), vec![number as u8; 1 << 20]);
    }
    let error = client.get(&[key(63)], false).err().unwrap();
    assert!(error.what().contains("too long"), "{error}");
}

#[test]
fn tokens() {
    let folder = Folder::new();
    let path = folder.0.join("users.ytab");
    build(&path, 1, (0, 0));
    let server = Server::with(&unix(&folder, "socket"), &path, None, |settings| server::Settings {
        token: Some(b"secret".to_vec()),
        ..settings
    });
    let connect = |token: &[u8]| {
        let options = Options { token: token.to_vec(), ..Options::default() };
        RemoteTable::connect(None, from_ref(&server.address), options)
    };
    assert!(connect(b"secret").is_ok());
    assert!(connect(b"").err().unwrap().what().contains("needs a token"));
    assert!(connect(b"secreT").err().unwrap().what().contains("token is wrong"));
}

/// Sends bytes to a server, and returns what it sends until it closes the connection or says nothing for a while.
fn spoken(path: &Path, bytes: &[u8]) -> Vec<u8> {
    let mut socket = UnixStream::connect(path).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(150))).unwrap();
    let _ = socket.write_all(bytes);
    let (mut all, mut part) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = socket.read(&mut part) {
        all.extend_from_slice(&part[..count]);
    }
    all
}

fn frame(id: u32, kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u32 + 5;
    [&length.to_le_bytes()[..], &id.to_le_bytes(), &[kind], payload].concat()
}

#[test]
fn hostile_clients() {
    let folder = Folder::new();
    let path = folder.0.join("users.ytab");
    build(&path, 1, (0, 0));
    let name = unix(&folder, "socket");
    let server = Server::start(&name, &path, None);
    let socket = folder.0.join("socket");
    let hello = frame(1, 1, b"YTSV\x02\x00\x00\x00");
    let open = frame(2, 2, b"\x05\x00users\xff\xff");
    let said = |payload: &[u8]| spoken(&socket, &[&hello[..], &open, &frame(3, 3, payload)].concat());
    for (bytes, what) in [
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "none of this protocol"),
        (vec![0; 64], "none of this protocol"),
        (vec![0xff; 64], "none of this protocol"),
        (frame(7, 1, b"YTSX\x01\x00\x00\x00"), "no client"),
        (frame(7, 1, b"YTSV\x09\x00\x00\x00"), "version 9"),
        (frame(7, 3, b"\0\0\0\0\0\0\0\0\0"), "first request"),
        ([&hello[..], &frame(8, 77, b"")].concat(), "no known kind"),
        ([&hello[..], &frame(8, 2, b"\0\0\xff\xff")].concat(), "the name of the table is empty; the server has users"),
        ([&hello[..], &frame(8, 2, b"\x00\x01ab")].concat(), "a wrong request to open"),
    ] {
        let answer = String::from_utf8_lossy(&spoken(&socket, &bytes)).into_owned();
        assert!(answer.contains(what), "{what}: {answer}");
    }
    // Handles, counts and keys that do not fit.
    for payload in [
        b"\x09\0\0\0\0\0\0\0\0".as_slice(),
        b"\0\0\0\0\0\xff\xff\xff\xff",
        b"\0\0\0\0\0\x02\0\0\0\x08abcdefgh",
        b"\0\0\0\0\0\x01\0\0\0\xff\xff\xff\xff\x7f",
        b"\0\0\0\0\0\x01\0\0\0\x08abcdefghmore",
        b"\0\0",
    ] {
        let answer = said(payload);
        assert!(answer.len() > 9, "{payload:?}");
    }
    // Keys of other lengths than the table's have no row.
    assert_eq!(said(b"\0\0\0\0\0\x02\0\0\0\x00\x03abc").last_chunk::<2>(), Some(&[0, 0]));
    // Random bytes, whole frames of them and cut ones.
    let mut random = 1_u64;
    for round in 0..200 {
        let mut bytes = Vec::new();
        for _ in 0..round % 50 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bytes.extend_from_slice(&random.to_le_bytes());
        }
        let kind = 1 + (round % 5) as u8;
        let mut stream = UnixStream::connect(&socket).unwrap();
        let _ = stream.write_all(&[&hello[..], &open, &frame(9, kind, &bytes)[..], &bytes].concat());
    }
    // The server notices that all of them are gone: a hundred connections are possible, and these were two hundred.
    let end = Instant::now() + Duration::from_secs(20);
    let client = loop {
        match RemoteTable::connect(None, from_ref(&server.address), Options::default()) {
            Ok(client) => break client,
            Err(e) => assert!(e.what().contains("as many connections") && Instant::now() < end, "{e}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    check(&client, &Table::open(&path).unwrap(), &numbers(2000, 1));
}

#[test]
fn a_client_that_does_not_read_is_not_read_either() {
    let folder = Folder::new();
    let path = folder.0.join("users.ytab");
    build(&path, 1, (0, 0));
    let _server = Server::start(&unix(&folder, "socket"), &path, None);
    let mut socket = UnixStream::connect(folder.0.join("socket")).unwrap();
    socket.write_all(&frame(1, 1, b"YTSV\x02\x00\x00\x00")).unwrap();
    socket.write_all(&frame(2, 2, b"\x05\x00users\xff\xff")).unwrap();
    let mut payload = b"\0\0\0\0\0\xe8\x03\0\0".to_vec();
    for number in 0..1000_u64 {
        payload.push(8);
        payload.extend_from_slice(&key(number * 3));
    }
    socket.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let request = frame(3, 3, &payload);
    let mut sent = 0;
    // A request has 9 KB, its response 30 KB: 4 MiB of them wait, and what the sockets hold.
    let is_blocked = loop {
        match socket.write_all(&request) {
            Ok(()) if sent < 5000 => sent += 1,
            Ok(()) => break false,
            Err(_) => break true,
        }
    };
    assert!(is_blocked && sent < 1000, "{sent} requests were taken");
    let (mut all, mut part) = (0, vec![0; 1 << 20]);
    socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    while let Ok(count @ 1..) = socket.read(&mut part) {
        all += count;
    }
    assert!(all > sent * 20_000, "{all} bytes for {sent} requests");
}

#[test]
fn keys_go_to_the_shard_of_their_hash() {
    for shards in [1_u32, 2, 7, 1000] {
        for number in 0..1000 {
            let hash = keys::hash(&key(number), keys::start(0));
            let expected = ((u128::from(shards) * u128::from(hash)) >> 64) as u32;
            assert_eq!(keys::shard(&key(number), shards), expected);
        }
    }
}
