//! Class libraries that break the rules: one line, exit code 6, no files left. One library folds correctly.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{Dir, build};

const USER_CODE: i32 = 6;

#[test]
fn reports_files_that_are_not_class_libraries() {
    let dir = Dir::with_books();
    if !build(&dir, "broken.c", "other.so", &["-DMAJOR=7"])
        || !build(&dir, "broken.c", "refuses.so", &["-DREFUSES"])
        || !build(&dir, "broken.c", "table.so", &["-DNO_TABLE"])
        || !build(&dir, "broken.c", "broken.so", &[])
    {
        return;
    }
    dir.write("text.so", b"this is no library\n");
    dir.write("empty.so", b"");
    let whole = dir.read("broken.so");
    dir.write("cut.so", &whole[..whole.len() / 2]);
    for (lib, what) in [
        ("nowhere.so", "there is no class library: nowhere.so: check the path"),
        ("books", "cannot load the class library"),
        ("text.so", "cannot load the class library"),
        ("empty.so", "cannot load the class library"),
        ("cut.so", "the class library is truncated"),
        ("other.so", "the class library was built for version 7."),
        ("refuses.so", "the class library refuses version"),
        ("table.so", "table of classes is invalid: table.so"),
        ("broken.so", "there is no class Broken.NoSuch: there are Broken."),
    ] {
        dir.fails(&format!("run --lib {lib} --mapper Broken.NoSuch --input books --output out"), USER_CODE, what);
    }
    // A shared library that is not a class library.
    let other = [
        "/lib/x86_64-linux-gnu/libm.so.6",
        "/lib64/libm.so.6",
        "/usr/lib/libm.so.6",
        "/lib/aarch64-linux-gnu/libm.so.6",
    ];
    if let Some(libm) = other.iter().find(|p| Path::new(p).exists()) {
        dir.fails(
            &format!("run --lib {libm} --mapper M.M --input books"),
            USER_CODE,
            "it does not export yunti_library_v0",
        );
    }
}

#[test]
fn classes_that_fail() {
    let dir = Dir::with_books();
    if !build(&dir, "broken.c", "broken.so", &[]) || !build(&dir, "thrower.cpp", "thrower.so", &[]) {
        return;
    }
    for (classes, what) in [
        ("--mapper Broken.CreateFails", "Broken.CreateFails: set broken.key"),
        ("--mapper Broken.CreateSilent", "Broken.CreateSilent: an allocation of the class failed"),
        ("--mapper Broken.FlushFails", "Broken.FlushFails: the end was bad"),
        ("--mapper Broken.Fails", "Broken.Fails: the first message has two lines"),
        ("--mapper Broken.Silent", "Broken.Silent failed with status 77 and no message"),
        ("--mapper Broken.Huge", "a record of 3221225472 bytes was emitted"),
        ("--mapper Broken.HugePair", "a record of 2147483648 bytes was emitted"),
        ("--mapper Broken.HugeOverflow", "a record of 18446744073709551615 bytes was emitted"),
        ("--mapper Broken.Deaf", "a record of 3221225472 bytes was emitted"),
        ("--mapper Broken.Room", "full() requested 1048576 bytes"),
        ("--mapper Broken.ShortKey", "a key of 3 bytes and a value of 8 bytes were emitted"),
        ("--mapper Broken.LongValue", "a key of 8 bytes and a value of 9 bytes were emitted"),
        ("--mapper Broken.BigKey", "a key of 100000 bytes and a value of 8 bytes were emitted"),
        ("--mapper Broken.ShortKey --mode none", "a key of 3 bytes and a value of 8 bytes were emitted"),
        ("--mapper Broken.BigKey --mode none", "a key of 100000 bytes and a value of 8 bytes were emitted"),
        ("--mapper Broken.ShortKey --folder Yunti.SumFolder", "a key of 3 bytes and a value of 8 bytes were emitted"),
        ("--mapper Broken.LongValue --folder Yunti.SumFolder", "a value of 9 bytes was emitted"),
        ("--mapper Broken.ShortKey --folder Yunti.SumFolder --mode grouped", "a key of 3 bytes and a value of 8 bytes"),
        ("--mapper Broken.Words --reducer Broken.Reduce", "Broken.Reduce: no reduce today"),
        ("--mapper Broken.Words --partitioner Broken.Partition --reduces 3", "chose partition 10 of 3"),
        ("--mapper Broken.Words --partitioner Broken.Nothing --reduces 3", "chose partition"),
        ("--mapper Broken.Words --folder Broken.Fold", "Broken.Fold: this does not fold"),
        ("--mapper Thrower.Exception", "Thrower.Exception: I do not like dogs"),
        ("--mapper Thrower.Int", "Thrower.Int: unknown exception"),
        ("--mapper Thrower.Memory", "Thrower.Memory: an allocation of the class failed"),
        ("--mapper Thrower.Huge", "bytes was emitted"),
        ("--mapper Thrower.Words --folder Thrower.Breaks", "Thrower.Breaks: it broke at the end"),
        ("--mapper Thrower.Words --folder Thrower.Breaks --mode grouped", "Thrower.Breaks: it broke at the end"),
    ] {
        let words = format!("run --lib broken.so --lib thrower.so {classes} --input books --output out --scratch .");
        dir.fails(&words, USER_CODE, what);
    }
}

/// A class library's folder with states of 24 bytes gives the result of a loop over the lines, for any memory.
#[test]
fn a_folder_of_a_library() {
    let dir = Dir::new();
    if !build(&dir, "thrower.cpp", "thrower.so", &[]) {
        return;
    }
    let mut text = String::new();
    let mut number = 12345u64;
    for i in 0..60_000u64 {
        number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        // Some keys occur often, most once.
        let key = if i % 3 == 0 { number >> 58 } else { number >> 40 };
        text += &format!("{key} {}\n", "x".repeat((number >> 33) as usize % 20));
    }
    dir.write("in", text.as_bytes());
    let mut expect: BTreeMap<&str, (i64, i64, i64)> = BTreeMap::new();
    for line in text.lines() {
        let s = expect.entry(line.split(' ').next().unwrap()).or_insert((0, 0, i64::MIN));
        *s = (s.0 + 1, s.1 + line.len() as i64, s.2.max(line.len() as i64));
    }
    let expect: String = expect.iter().map(|(k, s)| format!("{k}\t{} {} {}\n", s.0, s.1, s.2)).collect();
    for memory in ["2MiB", "3MiB", "1GiB"] {
        for how in ["--mode sorted --threads 1", "--mode sorted --threads 3", "--mode grouped --threads 2"] {
            let words = format!(
                "run --lib thrower.so --mapper Thrower.Words --folder Thrower.Statistics --input in --output out --overwrite \
                 --memory {memory} {how} -D split.size=100KiB --scratch . -q"
            );
            dir.ok(&words);
            let got = String::from_utf8(dir.read("out/part-r-00000")).unwrap();
            let got = if how.contains("grouped") {
                let mut lines: Vec<&str> = got.split_inclusive('\n').collect();
                lines.sort_by_key(|l| l.split('\t').next());
                lines.concat()
            } else {
                got
            };
            assert!(got == expect, "{memory} {how}");
        }
    }
    // In workers, the mapper folds, and a reducer merges the states of its splits.
    let counters = |isolate: &str| {
        dir.ok(&format!(
            "run --lib thrower.so --mapper Thrower.Words --folder Thrower.Statistics --input in --output out --overwrite \
             {isolate} --threads 2 -D split.size=100KiB -q"
        ));
        assert!(dir.read("out/part-r-00000") == expect.as_bytes(), "{isolate}");
        let report: serde_json::Value = serde_json::from_slice(&dir.read("out/_yunti/report.json")).unwrap();
        let of = |name: &str| {
            report["counters"]["org.apache.hadoop.mapreduce.TaskCounter"][name].as_u64().unwrap_or_default()
        };
        ["MAP_OUTPUT_RECORDS", "COMBINE_INPUT_RECORDS", "COMBINE_OUTPUT_RECORDS", "REDUCE_OUTPUT_RECORDS"].map(of)
    };
    let (own, isolated) = (counters(""), counters("--isolate"));
    assert_eq!((own[0], own[1], own[3]), (isolated[0], isolated[1], isolated[3]));
    assert!(own[0] == 60_000 && isolated[2] < isolated[1] && isolated[2] >= isolated[3], "{own:?}, {isolated:?}");
}
