//! Readers and writers of a class library: the same records for any splits, whole parts, one line for
//! invalid results.

use std::fmt::Write;

use crate::support::{Dir, build};

const USER_CODE: i32 = 6;

/// Returns a directory with the library, or `None` and a note without a compiler.
fn with_library() -> Option<Dir> {
    let dir = Dir::new();
    build(&dir, "formats.cpp", "formats.so", &[]).then_some(dir)
}

fn run(words: &str) -> String {
    format!("run --lib formats.so -q --overwrite {words}")
}

/// Returns the parts of an output, in order.
fn parts(dir: &Dir, out: &str) -> Vec<(String, Vec<u8>)> {
    let names = dir.names().into_iter().filter(|n| n.starts_with(&format!("{out}/part-")));
    names.map(|n| (n.clone(), dir.read(&n))).collect()
}

fn text_of(parts: &[(String, Vec<u8>)]) -> String {
    parts.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).collect()
}

fn pairs(records: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in records {
        bytes.extend((key.len() as u32).to_le_bytes());
        bytes.extend((value.len() as u32).to_le_bytes());
        bytes.extend([&key[..], value].concat());
    }
    bytes
}

/// Returns paragraphs of many lengths with various numbers of blank lines between them, and the records a reader makes.
fn paragraphs(n: usize) -> (String, String) {
    let (mut text, mut expect) = (String::new(), String::new());
    for i in 0..n {
        text += &"\n".repeat(i * 7 % 5);
        let words = format!("paragraph {i}{}", " word".repeat(i * 11 % 17));
        let lines = words.replace(" word word", "\nword");
        writeln!(expect, "{}\t{}", text.len(), lines.replace('\n', "|")).unwrap();
        text += &lines;
        text += "\n\n";
    }
    (text, expect)
}

#[test]
fn paragraphs_are_the_same_in_splits_of_every_size() {
    let Some(dir) = with_library() else { return };
    for (n, end) in [(12, ""), (12, "\n"), (300, "")] {
        let (mut text, expect) = paragraphs(n);
        text.truncate(text.trim_end().len());
        text += end;
        // At the beginning of a file too.
        let text = format!("\n{text}");
        let expect: Vec<(u64, &str)> = expect
            .lines()
            .map(|l| l.split_once('\t').unwrap())
            .map(|(p, t)| (p.parse::<u64>().unwrap() + 1, t))
            .collect();
        dir.write("in", text.as_bytes());
        let sizes: Vec<usize> =
            if n < 100 { (1..=text.len() + 1).step_by(3).collect() } else { vec![1, 97, 1024, 1 << 20] };
        for size in sizes {
            let words =
                format!("--input-format class:Formats.Paragraphs --mode none -i in -o out -D split.size={size}");
            dir.ok(&run(&words));
            let out = text_of(&parts(&dir, "out")).replace('\n', "|");
            let expect: String = expect.iter().map(|(p, t)| format!("{p}\t{t}|")).collect();
            assert_eq!(out, expect, "{n} paragraphs in splits of {size}");
        }
    }
}

#[test]
fn records_come_back_through_reader_and_writer() {
    let Some(dir) = with_library() else { return };
    let records: Vec<(Vec<u8>, Vec<u8>)> = (0..3000usize)
        .map(|i| (format!("{:04}", i * 7919 % 3000).into_bytes(), vec![i as u8; [0, 1, 9, 80, 700][i % 5]]))
        .chain([(b"9999\x00\xff".to_vec(), vec![7; 300_000])])
        .collect();
    let mut sorted = records.clone();
    sorted.sort();
    dir.write("in.pairs", &pairs(&records));
    let format = "--input-format class:Formats.Pairs --output-format class:Formats.PairsOut";
    for how in
        ["--mode none", "--threads 1", "--threads 2 --memory 16MiB --scratch .", "--compress gzip", "--compress zstd"]
    {
        dir.ok(&run(&format!("{format} -i in.pairs -o out {how} --report r.json")));
        let written = parts(&dir, "out");
        let extension = match how.split_once("--compress ") {
            Some((_, "gzip")) => ".pairs.gz",
            Some(_) => ".pairs.zst",
            None => ".pairs",
        };
        assert!(written.len() == 1 && written[0].0.ends_with(&format!("00000{extension}")), "{how}: {}", written[0].0);
        if extension == ".pairs" {
            let expect = if how.contains("none") { &records } else { &sorted };
            assert!(written[0].1 == pairs(expect), "{how}");
        }
        // Compressed files are read through the codec.
        dir.ok(&run(&format!("{format} -i {} -o again", written[0].0)));
        assert!(parts(&dir, "again")[0].1 == pairs(&sorted), "{how}");
        let report: serde_json::Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
        for counter in ["PAIRS", "PAIRS_OUT"] {
            assert_eq!(report["counters"]["Formats"][counter], 3001, "{how}");
        }
    }
    // A mapper gets keys and values as the reader emitted them; without a mapper the reader defines their types.
    dir.ok(&run(&format!("{format} --mapper Yunti.IdentityMapper -i in.pairs -o out --reduces 3")));
    assert_eq!(parts(&dir, "out").iter().map(|p| p.1.len()).sum::<usize>(), pairs(&records).len());
    let cut = pairs(&records);
    dir.write("cut.pairs", &cut[..cut.len() - 1]);
    let what = "the file ends within a record: Formats.Pairs takes none of the last 300013 bytes: cut.pairs, byte";
    dir.fails("run --lib formats.so --input-format class:Formats.Pairs -i cut.pairs -o none", 4, what);
}

#[test]
fn a_reader_may_keep_a_state_through_a_file() {
    let Some(dir) = with_library() else { return };
    for (name, lines) in [("a", 3), ("b", 0), ("c", 200)] {
        dir.write(&format!("{name}.txt"), format!("title {name}\n{}", "line\n".repeat(lines)).as_bytes());
    }
    dir.ok(&run("--input-format class:Formats.Titled --mode none -i a.txt -i b.txt -i c.txt -o out"));
    let mut expect = String::new();
    for (name, lines) in [("a", 3), ("b", 0), ("c", 200)] {
        expect += &format!("title {name}\tline\n").repeat(lines);
        expect += &format!("title {name}\t{}\n", lines + 1);
    }
    assert_eq!(text_of(&parts(&dir, "out")), expect);
}

#[test]
fn every_part_has_its_head_and_its_foot() {
    let Some(dir) = with_library() else { return };
    let text: String = (0..2000).map(|i| format!("word{} <&'>\n", i * 31 % 500)).collect();
    dir.write("in", text.as_bytes());
    dir.write("empty", b"");
    let items = |list: &str| -> Vec<String> {
        let inner = list.strip_prefix("<list>\n").and_then(|l| l.strip_suffix("</list>\n"));
        inner.unwrap_or_else(|| panic!("no list: {list}")).lines().map(str::to_string).collect()
    };
    let count = "--mapper Yunti.WordCountMapper --folder Yunti.SumFolder";
    let list = "--output-format class:Formats.List";
    for how in
        ["--mode sorted", "--mode grouped", "--mode grouped --memory 4MiB --scratch .", "--mode sorted --threads 1"]
    {
        dir.ok(&run(&format!("{count} {list} {how} -i in -o out --reduces 3 -D split.size=4KiB")));
        let parts = parts(&dir, "out");
        assert!(parts.len() == 3 && parts.iter().all(|p| p.0.ends_with(".xml")), "{how}");
        let all: Vec<String> = parts.iter().flat_map(|p| items(&String::from_utf8_lossy(&p.1))).collect();
        assert_eq!(all.len(), 501, "{how}");
        assert!(all.iter().any(|i| i.starts_with(" <item key='&lt;&amp;&apos;>'>")), "{how}");
    }
    // Parts without a record, splits as parts, one stream, and through a codec.
    dir.ok(&run(&format!("{list} -i empty -o out --reduces 2")));
    assert_eq!(text_of(&parts(&dir, "out")), "<list>\n</list>\n".repeat(2));
    dir.ok(&run(&format!("{list} --mode none -i in -o out -D split.size=4KiB")));
    let all: usize = parts(&dir, "out").iter().map(|p| items(&String::from_utf8_lossy(&p.1)).len()).sum();
    assert_eq!(all, 2000);
    for mode in ["none", "sorted"] {
        let out = dir.ok(&format!("run --lib formats.so -q {list} --mode {mode} -i in -o - -D split.size=4KiB"));
        assert_eq!(items(&out).len(), 2000, "{mode}");
    }
    for codec in ["gzip", "zstd", "bzip2", "xz", "lz4", "snappy", "hadoop-lz4", "hadoop-snappy", "deflate"] {
        dir.ok(&run(&format!("{list} --compress {codec} -i in -o out --reduces 2")));
        let name = &parts(&dir, "out")[1].0;
        let plain = dir.ok(&format!("run identity -q -i {name} -o -"));
        assert!(items(&plain).len() > 100 && name.starts_with("out/part-r-00001.xml."), "{codec}");
    }
}

#[test]
fn a_whole_part_has_one_writer() {
    let Some(dir) = with_library() else { return };
    let text: String = (0..3000).map(|i| format!("word{} ", i * 31 % 700)).collect();
    dir.write("in", text.replace("0 ", "0\n").as_bytes());
    let job = "--mapper Yunti.WordCountMapper --folder Yunti.SumFolder --output-format class:Formats.Numbered";
    for how in ["--mode sorted", "--mode grouped", "--memory 4MiB --scratch . --threads 2", "--compress zstd"] {
        dir.ok(&run(&format!("{job} {how} -i in -o out --reduces 3 -D split.size=2KiB")));
        let mut records = 0;
        for (part, (name, bytes)) in parts(&dir, "out").into_iter().enumerate() {
            let text = match name.strip_suffix(".zst") {
                Some(_) => dir.ok(&format!("run identity -q -i {name} -o -")),
                None => String::from_utf8(bytes).unwrap(),
            };
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines[0], format!("part {part}"), "{how}");
            assert_eq!(lines[lines.len() - 1], format!("records {}", lines.len() - 2), "{how}");
            for (number, line) in lines[1..lines.len() - 1].iter().enumerate() {
                assert!(line.starts_with(&format!("{} word", number + 1)), "{how}: {line}");
            }
            records += lines.len() - 2;
        }
        assert_eq!(records, 700, "{how}");
    }
    let none = "--mapper Yunti.WordCountMapper --output-format class:Formats.Numbered --mode none -i in";
    dir.ok(&run(&format!("{none} -o out -D split.size=2KiB")));
    let out = text_of(&parts(&dir, "out"));
    assert!(out.matches("part ").count() > 3 && out.matches("records ").count() == out.matches("part ").count());
    dir.fails(&format!("run --lib formats.so {none} -o - -D split.size=2KiB"), 2, "the writer makes whole parts");
}

#[test]
fn reports_invalid_results_and_exceptions_in_one_line() {
    let Some(dir) = with_library() else { return };
    let (text, _) = paragraphs(200);
    dir.write("in", format!("{text}the dog\n").as_bytes());
    for (reader, code, what) in [
        ("Greedy", USER_CODE, "Formats.Greedy took"),
        ("Endless", USER_CODE, "Formats.Endless emitted records and took no byte of the file: in, byte 0"),
        ("Flood", 7, "the records of a reader"),
        ("Lazy", 4, "the file ends within a record: Formats.Lazy takes none of the last"),
        ("Throwing", USER_CODE, "Formats.Throwing: no dogs: in, byte"),
        ("Backwards", USER_CODE, "Formats.Backwards found a record 1 bytes before the cut: in, byte"),
        ("Beyond", USER_CODE, "Formats.Beyond found a record at byte"),
        ("FindThrows", USER_CODE, "Formats.FindThrows: nothing found: in, byte"),
        ("Unmade", USER_CODE, "Formats.Unmade: no reader today"),
        ("List", 2, "the class Formats.List is a writer, not a reader"),
    ] {
        let job = format!(
            "run --lib formats.so --input-format class:Formats.{reader} -i in -o out --memory 64MiB -D split.size=2KiB"
        );
        dir.fails(&job, code, what);
    }
    for (writer, what) in [("Head", "no head"), ("Record", "no record"), ("Foot", "no foot")] {
        for whole in ["", "Whole"] {
            let name = format!("Formats.No{whole}{writer}");
            for how in
                ["--mode none", "--reduces 2", "--mode grouped --mapper Yunti.WordCountMapper --folder Yunti.SumFolder"]
            {
                let job = format!("run --lib formats.so --output-format class:{name} {how} -i in -o out");
                dir.fails(&job, USER_CODE, &format!("{name}: {what}: "));
            }
        }
    }
    let types = "run --lib formats.so --output-format class:Formats.Numbered -i in -o out";
    dir.fails(
        types,
        2,
        "the writer Formats.Numbered takes keys of type bytes and values of type i64: the job emits bytes and none",
    );
    dir.fails(
        "run --lib formats.so --output-format class:Formats.No -i in -o out",
        USER_CODE,
        "there is no class Formats.No",
    );
    dir.fails(
        "run --lib formats.so --input-format class:Formats -i in -o out",
        2,
        "unknown input format 'class:Formats'",
    );
}
