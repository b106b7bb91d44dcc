//! Shared tables in jobs: `--table NAME=FILE` reaches classes in the process and isolated, and the job file.

use crate::support::servers::Server;
use crate::support::{Dir, Duplicates, build, build_table};

const USERS: &[u8] = b"id,name,city\n1,Ada,London\n2,Bo,\n3,Cyd,Oslo\n";
const JOB: &str = "run --lib tables.so --mapper Tables.Name -i in --overwrite -q --report r.json";

fn with_table() -> Option<Dir> {
    let dir = Dir::new();
    dir.write("users.csv", USERS);
    dir.write("in", b"1\tx\n3\tx\n9\tx\n2\tx\nnone\n1\ty\n");
    build_table(&dir, "users.csv", "id:i64", "name,city:dict?", "users.ytab", Duplicates::Refuse);
    build(&dir, "tables.cpp", "tables.so", &[]).then_some(dir)
}

#[test]
fn classes_map_a_table() {
    let Some(dir) = with_table() else { return };
    for how in ["", "--isolate", "--sandbox", "--threads 3 --split-size 8"] {
        dir.ok(&format!("{JOB} --table users=users.ytab --mode none -o out {how}"));
        let names = dir.names().into_iter().filter(|name| name.starts_with("out/part-"));
        let text: String = names.map(|name| String::from_utf8(dir.read(&name)).unwrap()).collect();
        assert_eq!(text, "Ada\tLondon\nCyd\tOslo\nBo\tnowhere\nAda\tLondon\n", "{how}");
        let report: serde_json::Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
        assert_eq!(report["counters"]["Tables"]["UNKNOWN"], 2, "{how}");
    }
    dir.ok(&format!("{JOB} --table users=users.ytab --reducer Tables.Count -o counted"));
    assert_eq!(dir.read("counted/part-r-00000"), b"Ada\t2\nBo\t1\nCyd\t1\n");
    // The job file has the table, by its place.
    let file = dir.ok("run --mapper Yunti.IdentityMapper -i in --table users=users.ytab --print-job");
    assert!(file.contains("[tables]\n\"users\" = \"/"), "{file}");
    dir.write("job.toml", file.replace("Yunti.IdentityMapper", "Tables.Name").as_bytes());
    dir.ok("run -f job.toml --lib tables.so --mode none --reduces 0 -o by-file -q");
    assert_eq!(dir.read("by-file/part-m-00000"), b"Ada\tLondon\nCyd\tOslo\nBo\tnowhere\nAda\tLondon\n");
}

#[test]
fn what_is_no_table_is_refused_before_the_job() {
    let Some(dir) = with_table() else { return };
    let job = format!("{JOB} --mode none -o no").replace(" --report r.json", "");
    dir.fails(&format!("{job} --table users=none.ytab"), 3, "cannot open the table");
    dir.fails(&format!("{job} --table users=users.csv"), 3, "users.csv");
    dir.fails(&format!("{job} --table users"), 2, "write --table NAME=FILE, or NAME=server:ADDRESS");
    dir.fails(&format!("{job} --table us,ers=users.ytab"), 2, "'us,ers' cannot be the name of a table");
    dir.fails(&job, 6, "there is no table users: add --table users=FILE");
    let mut bytes = dir.read("users.ytab");
    bytes[100] ^= 1;
    dir.write("damaged.ytab", &bytes);
    dir.fails(&format!("{job} --table users=damaged.ytab"), 4, "damaged");
}

#[test]
fn an_attempt_that_goes_on_needs_the_same_table() {
    let Some(dir) = with_table() else { return };
    let job = format!("{JOB} --table users=users.ytab --reducer Tables.Count -o resumed --resume");
    dir.ok(&job);
    assert_eq!(dir.read("resumed/part-r-00000"), b"Ada\t2\nBo\t1\nCyd\t1\n");
}

#[test]
fn classes_ask_the_servers_of_a_table() {
    let Some(dir) = with_table() else { return };
    if !build(&dir, "remote_tables.cpp", "tables.so", &[]) {
        return;
    }
    dir.write("token", b"hidden\n");
    let _server = Server::start(&dir, "socket", ("users", "users.ytab"), None, "hidden");
    let table = "--table users=server:unix:socket --table-token-file token";
    for how in ["", "--isolate", "--threads 3 --split-size 8"] {
        dir.ok(&format!("{JOB} {table} --mode none -o out {how}"));
        let names = dir.names().into_iter().filter(|name| name.starts_with("out/part-"));
        let text: String = names.map(|name| String::from_utf8(dir.read(&name)).unwrap()).collect();
        assert_eq!(text, "Ada\tLondon\nCyd\tOslo\nBo\tnowhere\nAda\tLondon\n", "{how}");
    }
    let job = format!("{JOB} --mode none -o no").replace(" --report r.json", "");
    dir.fails(&format!("{job} --table users=users.ytab"), 6, "there is no table users of servers");
    let mapped = job.replace("Tables.Name", "Tables.Mapped");
    dir.fails(&format!("{mapped} {table}"), 6, "the table users is one of servers");
}
