//! Class libraries in Rust: every kind of class gives what a loop over the lines gives, in the process and isolated;
//! errors and panics become one line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::{Dir, build};

const USER_CODE: i32 = 6;

/// Builds a crate of the checkout, once, and returns its library.
fn library(cell: &OnceLock<PathBuf>, folder: &str, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    cell.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--offline", "--manifest-path"])
            .arg(root.join(folder).join("Cargo.toml"))
            .arg("--target-dir")
            .arg(&target)
            .env_remove("CARGO_TARGET_DIR")
            .status();
        assert!(status.unwrap().success(), "{folder}");
        target.join(format!("debug/lib{name}.so"))
    })
    .clone()
}

/// Returns a directory with `kinds.so`.
fn with_kinds() -> Dir {
    static KINDS: OnceLock<PathBuf> = OnceLock::new();
    let dir = Dir::new();
    std::fs::copy(library(&KINDS, "tests/class_libraries/rust", "kinds"), dir.path("kinds.so")).unwrap();
    dir
}

fn pairs(n: usize) -> Vec<(String, i64)> {
    let mut number = 7u64;
    let mut next = || {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        number >> 33
    };
    (0..n).map(|_| (format!("k{}", next() % 40), (next() % 20_000) as i64 - 10_000)).collect()
}

fn lines(pairs: &[(String, i64)]) -> String {
    pairs.iter().map(|(key, number)| format!("{key}\t{number}\n")).collect()
}

fn output(dir: &Dir) -> String {
    let names = dir.names().into_iter().filter(|name| name.starts_with("out/part-"));
    names.map(|name| String::from_utf8(dir.read(&name)).unwrap()).collect()
}

/// Runs a job in every way: in the process and isolated, with one thread and several, with little memory.
#[track_caller]
fn check(dir: &Dir, words: &str, expect: &str) {
    for how in ["--threads 1", "--threads 3 -D split.size=16KiB", "--isolate --threads 2", "--memory 4MiB --scratch ."]
    {
        dir.ok(&format!("run --lib kinds.so {words} -i in -o out --overwrite -q {how}"));
        let found = output(dir);
        assert!(found == expect, "{words} {how}: {}", found.chars().take(300).collect::<String>());
    }
}

fn groups(pairs: &[(String, i64)]) -> BTreeMap<&str, Vec<i64>> {
    let mut groups = BTreeMap::<&str, Vec<i64>>::new();
    pairs.iter().for_each(|(key, number)| groups.entry(key).or_default().push(*number));
    groups
}

#[test]
fn the_example_counts_as_the_one_in_cpp() {
    static EXAMPLE: OnceLock<PathBuf> = OnceLock::new();
    let dir = Dir::with_books();
    std::fs::copy(library(&EXAMPLE, "examples/rust_word_count", "rust_word_count"), dir.path("rust.so")).unwrap();
    let books = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/books");
    if !build(&dir, "../../examples/word_count/word_count.cpp", "cpp.so", &[]) {
        return;
    }
    let job = |library: &str, name: &str, classes: &str, how: &str| {
        let classes = classes.replace("LIB", name);
        dir.ok(&format!("run --lib {library} {classes} -i {books} -o out --overwrite -q {how}"));
        output(&dir)
    };
    let folded = "--mapper LIB.Tokenizer --folder LIB.Count";
    let summed = "--mapper LIB.Tokenizer --combiner LIB.SumCombiner --reducer LIB.SumReducer";
    let expect = job("cpp.so", "WordCount", folded, "");
    assert!(expect.lines().count() > 10_000);
    for how in ["", "--isolate", "--threads 3 --isolate"] {
        for classes in [folded, summed, &summed.replace("Tokenizer", "LoopTokenizer")] {
            assert!(job("rust.so", "RustWordCount", classes, how) == expect, "{classes} {how}");
        }
    }
}

#[test]
fn every_kind_gives_what_a_loop_gives() {
    let dir = with_kinds();
    let pairs = pairs(20_000);
    dir.write("in", lines(&pairs).as_bytes());
    let groups = groups(&pairs);
    let rows = |row: &dyn Fn(&str, &[i64]) -> String| -> String {
        groups.iter().map(|(key, numbers)| format!("{key}\t{}\n", row(key, numbers))).collect()
    };
    let whole = rows(&|_, n| format!("{} {} {}", n.len(), n.iter().sum::<i64>(), n.iter().max().unwrap()));
    check(&dir, "--mapper Kinds.Parse --reducer Kinds.Whole", &whole);
    let mean = rows(&|_, n| {
        let mut last = [0; 20];
        n.iter().for_each(|n| last[n.rem_euclid(20) as usize] += 1);
        format!("{} {} {last:?}", n.len(), n.iter().sum::<i64>())
    });
    for folder in ["--folder Kinds.Mean", "--reducer Kinds.MeanReducer"] {
        check(&dir, &format!("--mapper Kinds.Parse {folder}"), &mean);
    }
    let sums = rows(&|_, n| n.iter().sum::<i64>().to_string());
    check(&dir, "--mapper Kinds.Parse --combiner Kinds.SumCombiner --reducer Kinds.SumReducer", &sums);
    check(&dir, "--mapper Kinds.Parse --folder Kinds.Max", &rows(&|_, n| n.iter().max().unwrap().to_string()));
    // Keys of four bytes, with values of up to 200 KB.
    let mut numbers: Vec<i64> = pairs[..2000].iter().map(|(_, number)| *number).collect();
    numbers.sort();
    numbers.dedup();
    let halves: String = numbers
        .iter()
        .map(|n| if n % 2 == 0 { format!("{n}\t{}.0\n", n / 2) } else { format!("{n}\t{}\n", *n as f64 / 2.0) })
        .collect();
    dir.write("in", lines(&pairs[..2000]).as_bytes());
    let job = "run --lib kinds.so --mapper Kinds.Numbers --reducer Kinds.Halves -i in -o out --overwrite -q";
    let of = |text: &str| -> Vec<(i64, f64)> {
        let rows = text.lines().map(|line| line.split_once('\t').unwrap());
        rows.map(|(key, half)| (key.parse().unwrap(), half.parse().unwrap())).collect()
    };
    for how in ["", "--isolate", "--memory 4MiB --scratch . -D split.size=4KiB"] {
        dir.ok(&format!("{job} {how}"));
        assert_eq!(of(&output(&dir)), of(&halves), "{how}");
    }
}

#[test]
fn orders_partitions_and_formats() {
    let dir = with_kinds();
    let mut pairs = pairs(3000);
    pairs.iter_mut().enumerate().for_each(|(i, (key, _))| *key = format!("{}{i}", ["a", "b", "c"][i % 3]));
    let text = lines(&pairs);
    dir.write("in", text.as_bytes());
    let mut ordered: Vec<(usize, &(String, i64))> = pairs.iter().enumerate().collect();
    ordered.sort_by_key(|(i, (key, number))| (key.as_bytes()[0], -number, *i));
    let mut expect = String::new();
    for first in ["a", "b", "c"] {
        let group = ordered.iter().filter(|(_, (key, _))| key.starts_with(first));
        let items: String = group.map(|(_, (key, number))| format!("{key}={number} ")).collect();
        expect += &format!("{first}\t{items}\n");
    }
    check(&dir, "--mapper Kinds.Parse --key-order Kinds.Descend --reducer Kinds.List", &expect);
    // 'a' is byte 97: 97 % 3 is 1, so `c` (99) is in part 0.
    let rotated: String = [2, 0, 1].map(|i| expect.split_inclusive('\n').nth(i).unwrap()).concat();
    let parts = "--partitioner Kinds.ByFirst --reduces 3";
    check(&dir, &format!("--mapper Kinds.Parse --key-order Kinds.Descend --reducer Kinds.List {parts}"), &rotated);
    let mut page = String::from("<page>\n");
    text.lines().for_each(|line| page += &format!("8:{line}\n"));
    page += "</page>\n";
    check(&dir, "--input-format class:Kinds.Lines --output-format class:Kinds.Page", &page);
    assert!(dir.names().contains(&"out/part-r-00000.page".into()));
}

#[test]
fn the_context_reaches_the_job() {
    let dir = with_kinds();
    dir.write("in", b"a\t5\nno tab\nb\t1\nc\t7\n");
    dir.write("side.txt", b"abc");
    for how in ["", "--isolate"] {
        dir.ok(&format!(
            "run --lib kinds.so --mapper Kinds.Route --mode none --named-output bad=text --side-file side.txt \
             -D kinds.limit=2 -i in -o out --overwrite -q --report r.json {how}"
        ));
        assert_eq!(output(&dir), "a\tin 3 0\nc\tin 3 15\n", "{how}");
        assert_eq!(dir.read("out/bad-m-00000"), b"no tab\t6\nb\t1\t3\n", "{how}");
        let report: serde_json::Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
        assert_eq!(report["counters"]["Kinds"]["LINES"], 4, "{how}");
    }
    let job = "run --lib kinds.so --mapper Kinds.Route --mode none -i in -o no";
    dir.fails(job, USER_CODE, "bad");
    dir.fails(
        &format!("{job} --named-output bad=text -D kinds.limit=many"),
        USER_CODE,
        "Kinds.Route: the setting kinds.limit=many cannot be read: invalid digit found in string",
    );
}

#[test]
fn errors_and_panics_are_one_line() {
    let dir = with_kinds();
    dir.write("in", lines(&pairs(50)).as_bytes());
    for (classes, place) in [
        ("--mapper Kinds.Parse", "creation of Parse"),
        ("--mapper Kinds.Parse", "map"),
        ("--mapper Kinds.Parse", "flush"),
        ("--mapper Kinds.Parse --reducer Kinds.Whole", "reduce"),
        ("--mapper Kinds.Parse --folder Kinds.Mean", "fold"),
        ("--mapper Kinds.Parse --reducer Kinds.MeanReducer", "creation of Mean"),
        ("--mapper Kinds.Parse --partitioner Kinds.ByFirst --reduces 3", "partition"),
        ("--mapper Kinds.Parse --key-order Kinds.Descend", "arrange"),
        ("--input-format class:Kinds.Lines", "read"),
        ("--input-format class:Kinds.Lines -D split.size=100", "find"),
        ("--input-format class:Kinds.Lines --output-format class:Kinds.Page", "write"),
    ] {
        let job = format!("run --lib kinds.so {classes} -i in -o no --scratch .");
        let fail = format!("-D kinds.fail={}", place.replace(' ', "\u{a0}"));
        for (how, what) in [("error", format!("the {place} failed")), ("panic", "kinds.rs:".into())] {
            for isolate in ["", "--isolate --attempts 1"] {
                let words = format!("{job} {isolate} -D kinds.how={how}");
                let mut command = dir.command(&words);
                let before = dir.names();
                let run = command.arg(&fail[..2]).arg(fail[3..].replace('\u{a0}', " ")).output().unwrap();
                let error = String::from_utf8_lossy(&run.stderr).into_owned();
                assert_eq!(run.status.code(), Some(USER_CODE), "{words} {place}: {run:?}");
                assert!(error.contains(&what), "{words} {place}: {error}");
                assert!(how == "error" || error.contains(&format!(": the {place} was bad")), "{words}: {error}");
                assert_eq!(error.trim_end().lines().filter(|line| !line.contains("attempt")).count(), 1, "{error}");
                assert_eq!(dir.names(), before, "{words}");
            }
        }
    }
}

#[test]
fn broken_promises_are_errors() {
    let dir = with_kinds();
    dir.write("in", b"a\t1\n");
    let fold = "--folder Yunti.CountFolder";
    for (classes, what) in [
        (format!("--mapper Kinds.Liar {fold}"), "declares VALUE_IS_ONE emitted a value other than 1"),
        ("--mapper Kinds.Parse --partitioner Kinds.ByFirst --reduces 3 -D kinds.fail=parts".into(), "returned 3 for 3"),
        ("--mapper Kinds.Elsewhere".into(), "a context was used by a thread"),
        ("--mapper Kinds.Texts --folder Kinds.Mean".into(), "Kinds.Mean"),
        ("--mapper Kinds.Leak".into(), "Kinds.Leak crashed with SIGABRT"),
    ] {
        let words = format!("run --lib kinds.so {classes} -i in -o no --scratch .");
        let run = dir.run(&words);
        let error = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.code().is_some_and(|code| code != 0), "{words}: {run:?}");
        assert!(error.contains(what), "{words}: {error}");
    }
    dir.write("in", b"\na\n");
    let liar = format!("run --lib kinds.so --mapper Kinds.Liar {fold} -i in -o no");
    dir.fails(&liar, USER_CODE, "declares VALUE_IS_ONE");
}
