//! `hash-join` with a table as its small side, mapped and from servers: the records of a hash join with the lines that
//! the table was built from.

use crate::support::servers::Server;
use crate::support::{Dir, Duplicates, build_table};

/// Returns a number that looks random.
fn mixed(i: u64) -> u64 {
    (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 33
}

/// Runs the join with the lines, and with the table; both must write the same parts.
#[track_caller]
fn check(dir: &Dir, settings: &str) {
    let job = format!("run hash-join orders -q --overwrite --threads 2 --split-size 4KiB -D separator=, {settings}");
    dir.ok(&format!("{job} -o lines --side-file people.csv -D join.small=people.csv"));
    let settings = job.replace("-D join.right.column=1", "");
    dir.ok(&format!("{settings} -o table --table people=people.ytab -D join.small=people"));
    let parts = |of: &str| {
        let names = dir.names().into_iter().filter(|name| name.starts_with(&format!("{of}/part-m-")));
        names.map(|name| (name[of.len()..].to_string(), dir.read(&name))).collect::<Vec<_>>()
    };
    let lines = parts("lines");
    assert!(lines.len() > 3 && lines.iter().any(|(_, bytes)| !bytes.is_empty()));
    assert_eq!(parts("table"), lines, "{settings}");
    // The same table, from a server of all keys, and from two shards.
    let shards = [("a", None), ("b", Some((1, 2))), ("c", Some((2, 2)))];
    let _servers = shards.map(|(socket, shard)| Server::start(dir, socket, ("people", "people.ytab"), shard, ""));
    for addresses in ["unix:a", "unix:b,unix:c"] {
        dir.ok(&format!("{settings} -o servers --table people=server:{addresses} -D join.small=people"));
        assert_eq!(parts("servers"), lines, "{settings} {addresses}");
    }
}

fn write(dir: &Dir, orders: impl Fn(u64) -> String, people: impl Fn(u64) -> String) {
    dir.write("orders", (0..3000).map(|i| orders(mixed(i)) + "\n").collect::<String>().as_bytes());
    let header = String::from("id,name,city,score,age,is_new\n");
    dir.write("people.csv", (header + &(0..400).map(|i| people(i) + "\n").collect::<String>()).as_bytes());
}

#[test]
fn a_table_gives_the_records_of_its_lines() {
    let dir = Dir::new();
    let rest = |i: u64| {
        let score = if i.is_multiple_of(3) { String::new() } else { format!("{}.5", i as i64 - 200) };
        format!("name {i},city {},{score},{},{}", i % 5, i % 90, i.is_multiple_of(2))
    };
    let columns = "name,city:dict,score:f64?,age:u8,is_new:bool";
    // Some keys have no partner, or are no number.
    let order =
        |i: u64| format!("{},{},x{}", i % 50, (i % 900) as i64 - 450, if i.is_multiple_of(7) { "" } else { ",more" });
    write(
        &dir,
        |i| if i.is_multiple_of(50) { format!("7,007,{i}") } else { order(i) },
        |i| format!("{},{}", 2 * i as i64 - 400, rest(i)),
    );
    build_table(&dir, "people.csv", "id:i16", columns, "people.ytab", Duplicates::Refuse);
    for kind in ["inner", "left", "semi", "anti"] {
        check(&dir, &format!("-D join.left.column=2 -D join.kind={kind}"));
    }
    // Keys of text, several rows of a key, and output with another separator.
    write(&dir, |i| format!("k{},{i}", i % 300), |i| format!("k{},{}", i % 150, rest(i)));
    build_table(&dir, "people.csv", "id", columns, "people.ytab", Duplicates::List);
    for kind in ["inner", "left", "semi", "anti"] {
        check(&dir, &format!("-D join.kind={kind} --output-format text:,"));
    }
    // A key alone.
    dir.write("people.csv", b"k1\nk2\n");
    dir.write("with-header.csv", b"id\nk1\nk2\n");
    build_table(&dir, "with-header.csv", "id", "", "people.ytab", Duplicates::Refuse);
    check(&dir, "-D join.kind=left");
}

#[test]
fn what_cannot_be_joined_is_refused() {
    let dir = Dir::new();
    write(&dir, |i| format!("k{i},1"), |i| format!("k{i},a,b,1.5,2,true"));
    build_table(&dir, "people.csv", "id", "", "people.ytab", Duplicates::Refuse);
    build_table(&dir, "people.csv", "id,age:u8", "name", "two.ytab", Duplicates::Refuse);
    let job = "run hash-join orders -o no --table people=people.ytab -D separator=,";
    dir.fails(&format!("{job} -D join.small=other"), 2, "join.small is other, but no side file has this name");
    let both = "--side-file people --table people=people.ytab -D join.small=people";
    dir.write("people", b"k1,a\n");
    dir.fails(&format!("{job} {both}"), 2, "people, a side file and a table");
    dir.fails(&format!("{job} -D join.small=people -D join.kind=full"), 2, "a hash join cannot find lines");
    dir.fails(&format!("{job} -D join.small=people -D join.right.column=2"), 2, "is not the key of the table");
    dir.fails(&format!("{job} -D join.small=two --table two=two.ytab"), 2, "has several columns");
    dir.fails(&format!("{job} -D join.small=people --key-columns id"), 2, "a table is joined with lines");
}
