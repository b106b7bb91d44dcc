//! `hash-join` with a table of servers: shards, replicas that end, tokens, attempts that go on.

use std::process::Stdio;
use std::time::Duration;

use crate::support::servers::Server;
use crate::support::{Dir, Duplicates, build_table};

const JOB: &str = "run hash-join orders -q --overwrite -D join.small=people -D separator=,";

/// Writes orders and people, and builds people.ytab. Returns the directory.
fn with_files(orders: u64) -> Dir {
    let dir = Dir::new();
    let lines: String = (0..orders).map(|i| format!("{},{i}\n", i.wrapping_mul(0x9E37_79B9) % 5000)).collect();
    dir.write("orders", lines.as_bytes());
    let people: String = (0..4000).map(|i| format!("{i},name {i},{}\n", "x".repeat(i % 50))).collect();
    dir.write("people.csv", people.as_bytes());
    dir.write("with-header.csv", format!("id,name,more\n{people}").as_bytes());
    build_table(&dir, "with-header.csv", "id:u32", "name,more", "people.ytab", Duplicates::Refuse);
    dir
}

/// Returns the part files of an output, without the journal's names.
fn parts(dir: &Dir, of: &str) -> Vec<(String, Vec<u8>)> {
    let names = dir.names().into_iter().filter(|name| name.starts_with(&format!("{of}/part-m-")));
    names.map(|name| (name[of.len()..].to_string(), dir.read(&name))).collect()
}

/// Runs the join with the lines of the table, in memory.
fn expected(dir: &Dir) -> Vec<(String, Vec<u8>)> {
    let job = JOB.replace("join.small=people", "join.small=people.csv");
    dir.ok(&format!("{job} --split-size 64KiB -o expected --side-file people.csv"));
    parts(dir, "expected")
}

#[test]
fn replicas_take_over_while_the_job_runs() {
    let dir = with_files(400_000);
    let expect = expected(&dir);
    let names = ["a", "b", "c", "d"];
    let start = |number: usize| {
        let shard = Some((number as u32 % 2 + 1, 2));
        Some(Server::start(&dir, names[number], ("people", "people.ytab"), shard, ""))
    };
    let mut servers: Vec<Option<Server>> = (0..4).map(start).collect();
    let table = "--table people=server:unix:a,unix:b,unix:c,unix:d";
    let mut job = dir.command(&format!("{JOB} --split-size 64KiB -o out --threads 2 {table}")).spawn().unwrap();
    let mut stopped = 0;
    while job.try_wait().unwrap().is_none() {
        servers[stopped % 4] = None;
        std::thread::sleep(Duration::from_millis(40));
        servers[stopped % 4] = start(stopped % 4);
        stopped += 1;
        std::thread::sleep(Duration::from_millis(40));
    }
    assert!(job.wait().unwrap().success() && stopped > 1);
    assert_eq!(parts(&dir, "out"), expect);
}

#[test]
fn without_a_server_the_job_ends_without_an_output() {
    let dir = with_files(400_000);
    let server = Server::start(&dir, "a", ("people", "people.ytab"), None, "");
    let words = format!("{JOB} --split-size 64KiB -o out --threads 2 --table people=server:unix:a");
    let job = dir.command(&words).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(150));
    drop(server);
    let output = job.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), error.lines().count()), (Some(3), 1), "{error}");
    assert!(error.contains("the table people: ") && error.contains("unix:/"), "{error}");
    assert!(!dir.path("out").exists());
    // The next attempt finds nothing in its way.
    let _server = Server::start(&dir, "a", ("people", "people.ytab"), None, "");
    dir.ok(&words);
    assert_eq!(parts(&dir, "out"), expected(&dir));
}

#[test]
fn what_servers_refuse_is_refused_before_the_job() {
    let dir = with_files(100);
    dir.write("token", b"hidden\n");
    dir.write("wrong", b"other");
    dir.write("ca.pem", b"none");
    dir.write("two.csv", b"id,day,x\n1,2,3\n");
    build_table(&dir, "two.csv", "id,day", "x", "two.ytab", Duplicates::Refuse);
    let _server = Server::start(&dir, "a", ("people", "people.ytab"), None, "hidden");
    let _other = Server::start(&dir, "two", ("people", "two.ytab"), None, "");
    let job = format!("{JOB} -o no");
    let table = "--table people=server:unix:a";
    dir.fails(&format!("{job} {table}"), 3, "the table people: the server needs a token");
    dir.fails(&format!("{job} {table} --table-token-file wrong"), 3, "the token is wrong");
    dir.fails(&format!("{job} {table} --table-token-file nosuch"), 2, "cannot read the token");
    dir.fails(&format!("{job} {table} --table-tls-ca ca.pem"), 2, "there is no certificate in PEM");
    dir.fails(&format!("{job} --table people=server:unix:nosuch"), 3, "the table people: cannot connect");
    dir.fails(&format!("{job} --table people=server:here"), 2, "here is no address");
    dir.fails(&format!("{job} --table people=server:unix:two"), 2, "the key of the table has several columns");
    let others = job.replace("small=people", "small=others");
    dir.fails(
        &format!("{others} --table others=server:unix:a --table-token-file token"),
        2,
        "the table others: there is no table others",
    );
    dir.fails(&format!("{job} {table} --table-token-file token -D join.kind=full"), 2, "a hash join cannot find");
    dir.fails(&format!("{job} {table} --table-token-file token -D join.right.column=2"), 2, "is not the key");
    dir.fails("run wordcount orders --table-token-file token -o no -q", 2, "the job has no table of servers");
    // The token is in no file and no line of the job.
    let ok = format!("{job} {table} --table-token-file token --report r.json");
    let text = dir.ok(&format!("{ok} --print-job"));
    assert!(text.contains("\"people\" = \"server:unix:/") && text.contains("/token\"") && !text.contains("hidden"));
    dir.ok(&ok);
    for name in dir.names().into_iter().filter(|name| name.starts_with("no/") || name == "r.json") {
        let is_file = dir.path(&name).is_file();
        assert!(!is_file || !String::from_utf8_lossy(&dir.read(&name)).contains("hidden"), "{name}");
    }
    // The job file says the same.
    dir.write("job.toml", text.replace("\"no\"", "\"by-file\"").as_bytes());
    dir.ok("run -f job.toml -q");
    assert_eq!(parts(&dir, "by-file"), parts(&dir, "no"));
}

#[test]
fn an_attempt_that_goes_on_needs_the_same_version() {
    let dir = with_files(400_000);
    let expect = expected(&dir);
    let server = Server::start(&dir, "a", ("people", "people.ytab"), None, "");
    let words = format!("{JOB} --split-size 64KiB -o out --threads 1 --resume --table people=server:unix:a");
    let job = dir.command(&words).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(250));
    drop(server);
    assert!(!job.wait_with_output().unwrap().status.success());
    let server = Server::start(&dir, "a", ("people", "people.ytab"), None, "");
    let output = dir.run(&words.replace(" -q", ""));
    assert!(output.status.success(), "{output:?}");
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(shown.contains("resume: "), "{shown}");
    assert_eq!(parts(&dir, "out"), expect);
    // Another table: nothing of the first attempt is kept.
    drop(server);
    std::fs::remove_dir_all(dir.path("out")).unwrap();
    let server = Server::start(&dir, "a", ("people", "people.ytab"), None, "");
    let job = dir.command(&words).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(250));
    drop(server);
    assert!(!job.wait_with_output().unwrap().status.success());
    let people: String = (0..4000).map(|i| format!("{i},new {i},\n")).collect();
    dir.write("people.csv", people.as_bytes());
    dir.write("with-header.csv", format!("id,name,more\n{people}").as_bytes());
    build_table(&dir, "with-header.csv", "id:u32", "name,more", "people.ytab", Duplicates::Refuse);
    let _server = Server::start(&dir, "a", ("people", "people.ytab"), None, "");
    let output = dir.run(&words);
    eprintln!("{output:?}");
    let output = if output.status.success() { output } else { dir.run(&words) };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(parts(&dir, "out"), expected(&dir));
}

/// Returns the records of an output, in an order that no way of a join decides.
fn records(dir: &Dir, of: &str) -> Vec<Vec<u8>> {
    let names = dir.names().into_iter().filter(|name| name.starts_with(&format!("{of}/part-")));
    let bytes: Vec<u8> = names.flat_map(|name| dir.read(&name)).collect();
    let mut records: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    records.sort();
    records
}

#[test]
fn each_way_gives_the_same_records() {
    let dir = with_files(20_000);
    let _server = Server::start(&dir, "a", ("people", "people.ytab"), None, "");
    let job = JOB.replace("join.small=people", "join.small=people.csv");
    let job =
        format!("{job} --side-file people.csv --table people=server:unix:a -D join.servers=people --report r.json");
    for kind in ["inner", "left", "semi", "anti"] {
        let job = format!("{job} -D join.kind={kind}");
        let choice = |settings: &str| {
            dir.ok(&format!("{job} {settings} -o out"));
            let report: serde_json::Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
            (records(&dir, "out"), report["join_choice"].clone())
        };
        let (expect, memory) = choice("-D join.by=memory");
        assert!(expect.len() > 100 && memory["by"] == "memory" && memory["named"] == true, "{memory}");
        for by in ["lookup", "sort", "auto"] {
            let (found, chosen) = choice(&format!("-D join.by={by}"));
            assert_eq!(found, expect, "{kind} by {by}");
            if by != "auto" {
                assert!(chosen["by"] == by && chosen.get("costs").is_none(), "{chosen}");
                continue;
            }
            // Whatever is the cheapest here, it has the least cost of those in the report.
            let costs = &chosen["costs"];
            let least = ["memory", "lookup", "sort"].into_iter().min_by(|a, b| {
                let of = |way: &str| costs[format!("{way}_ms")].as_f64().unwrap();
                of(a).total_cmp(&of(b))
            });
            assert_eq!(chosen["by"].as_str(), least, "{chosen}");
            assert!(chosen["probed_keys"].as_u64().unwrap() > 500, "{chosen}");
        }
    }
    let text = dir.ok(&format!("{job} -o out").replace(" -q", ""));
    let shown = text + &dir.ok("report out");
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("the join ") && shown.contains("by lookups (") && shown.contains(" by sorting"), "{shown}");
}

#[test]
fn a_way_that_does_not_fit_is_refused() {
    let dir = with_files(100);
    let _server = Server::start(&dir, "a", ("people", "people.ytab"), None, "");
    let table = "--table people=server:unix:a";
    let file = format!("{} --side-file people.csv -o no", JOB.replace("join.small=people", "join.small=people.csv"));
    dir.fails(&format!("{file} -D join.by=fast"), 2, "join.by is 'fast'");
    dir.fails(&format!("{file} -D join.by=lookup"), 2, "the small side is a file alone");
    dir.fails(&format!("{JOB} {table} -o no -D join.by=sort"), 2, "people is a table");
    dir.fails(&format!("{JOB} {table} -o no -D join.servers=people"), 2, "the same rows in a side file");
    dir.fails(&format!("{file} -D join.servers=people"), 2, "no table of servers has this name");
    let both = format!("{file} {table} -D join.servers=people");
    dir.fails(&format!("{both} --resume"), 2, "may be another one when the job goes on");
    dir.fails(&format!("{both} --key-columns id"), 2, "joined with lines, not columns");
    // Another table than the side file.
    dir.write("people.csv", b"1,name 1,x\n2,other,xx\n");
    dir.fails(&both, 3, "does not have the line '2,other,xx'");
}
