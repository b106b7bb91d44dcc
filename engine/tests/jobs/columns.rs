//! Jobs on CSV and JSON lines: columns by name, from any kind of file, in splits of any size.

use yunti_base::Code;
use yunti_engine::codec::encode::{Compression, Target};
use yunti_engine::env::Env;
use yunti_engine::env::random::Random;
use yunti_engine::job::{InputFormat, JobSpec, Mode, OutputFormat};

use crate::support::{Temp, parts_of, run_in};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| n.to_string()).collect()
}

fn spec(inputs: &[String], input_format: InputFormat, key: &[&str], value: &[&str]) -> JobSpec {
    let mut spec = JobSpec {
        inputs: inputs.to_vec(),
        input_format,
        mode: Mode::None,
        threads: Some(2),
        memory_bytes: Some(64 << 20),
        ..JobSpec::default()
    };
    (spec.columns.key, spec.columns.value) = (names(key), names(value));
    spec
}

fn bzip2(data: &[u8]) -> Vec<u8> {
    let mut encoder = Compression { target: Target::Bzip2, level: Some(1) }.encoder().unwrap();
    let mut file = Vec::new();
    encoder.write(data, &mut file).unwrap();
    encoder.finish(&mut file).unwrap();
    file
}

const CSV: InputFormat = InputFormat::Csv { separator: b',', header: true };

#[test]
fn reads_csv_with_any_cells() {
    let temp = Temp::new("csv");
    let mut random = Random::new(40);
    let pieces = ["a", "bc", " ", "\"", ",", "\n", "\r\n", "\t", "\\", "é", "a longer piece of a cell "];
    let (mut csv, mut expect) = (String::from("key,\"x,1\",y\r\n"), String::new());
    for number in 0..3000 {
        let mut cell = || (0..random.below(5)).map(|_| pieces[random.below(11) as usize]).collect::<String>();
        let (x, mut y) = (cell(), cell());
        if number == 1234 {
            // Longer than one read.
            y = "many lines\n".repeat(500);
        }
        let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
        csv += &format!("{number},{},{}\n", quoted(&x), quoted(&y));
        let escaped =
            |cell: &str| cell.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r");
        expect += &format!("{}\t{}\t{number}\n", escaped(&y), escaped(&x));
    }
    let plain = temp.write("plain.csv", csv.as_bytes());
    let packed = temp.write("packed.csv.bz2", &bzip2(csv.as_bytes()));
    for split_bytes in [1 << 30, 1000] {
        for input in [&plain, &packed] {
            // Each file has its header. No file is cut, because a quote in the middle is ambiguous.
            let spec = spec(&[input.clone(), plain.clone()], CSV, &["y", "x,1"], &["key"]);
            let parts = parts_of(&JobSpec { split_bytes, ..spec }, &temp.path("out")).unwrap();
            assert!(parts.concat() == expect.repeat(2).into_bytes(), "{input} {split_bytes}");
        }
    }
}

#[test]
fn json_lines_are_split_like_text() {
    let temp = Temp::new("json");
    let (mut json, mut expect) = (String::new(), String::new());
    for number in 0..2000 {
        let name = "n\u{e9}\"\\".repeat(number % 7);
        let text = serde_json::to_string(&name).unwrap();
        json += &format!("{{\"id\": {number}, \"user\": {{\"name\": {text}, \"tags\": [ {number}, null ]}}}}\r\n");
        if number % 3 == 0 {
            json += "\n";
        }
        let escaped = name.replace('\\', "\\\\");
        expect += &format!("{number}\t{escaped}\t[{number},null]\n");
    }
    let plain = temp.write("plain.jsonl", json.as_bytes());
    let packed = temp.write("packed.jsonl.bz2", &bzip2(json.as_bytes()));
    for split_bytes in [1 << 30, 70_000, 1009, 333] {
        for input in [&plain, &packed] {
            let spec = spec(std::slice::from_ref(input), InputFormat::Json, &["id"], &["user.name", "user.tags"]);
            let parts = parts_of(&JobSpec { split_bytes, ..spec }, &temp.path("out")).unwrap();
            assert!(parts.concat() == expect.as_bytes(), "{input} {split_bytes}");
        }
    }
}

#[test]
fn bad_records_are_reported_with_their_place_or_counted() {
    let temp = Temp::new("bad");
    let csv = temp.write("a.csv", b"a,b\n1,2\n3\n4,5\n\"6,7\n");
    let json = temp.write("a.json", b"{\"a\": 1, \"b\": 2}\n{\"a\": }\n{\"a\": 4, \"b\": 5}\n[6]\n");
    for (spec, place, bad) in
        [(spec(&[csv], CSV, &[], &[]), 8, 2), (spec(&[json], InputFormat::Json, &["a"], &["b"]), 23, 2)]
    {
        let error = run_in(&Env::real(), &spec).err().unwrap();
        assert_eq!((error.code(), error.offset()), (Code::Corrupt, Some(place)), "{error}");
        assert_eq!(error.path(), Some(&spec.inputs[0][..]));
        let mut skipping = spec.clone();
        skipping.settings.insert("skip.bad.records".into(), "true".into());
        assert_eq!(parts_of(&skipping, &temp.path("out")).unwrap().concat(), b"1\t2\n4\t5\n");
        let report = run_in(&Env::real(), &skipping).unwrap().report;
        assert_eq!(report.counters["Yunti"]["BAD_RECORDS"], bad, "{:?}", spec.input_format);
    }
    let csv = temp.write("b.csv", b"a,b\n1,2\n");
    let error = run_in(&Env::real(), &spec(&[csv], CSV, &["c"], &[])).err().unwrap();
    assert_eq!(error.code(), Code::Input);
    assert!(error.to_string().contains("has no column 'c'") && error.to_string().contains("b.csv"), "{error}");
}

#[test]
fn columns_are_sorted_and_summed() {
    let temp = Temp::new("columns");
    let input = temp.write("sales.csv", b"city,item,n\nrome,\"a, b\",3\noslo,c,4\nrome,d,5\n");
    let spec = spec(&[input], InputFormat::Csv { separator: b',', header: true }, &["city"], &["item"]);
    let sorted = parts_of(&JobSpec { mode: Mode::Sorted, ..spec.clone() }, &temp.path("out")).unwrap().concat();
    assert_eq!(sorted, b"oslo\tc\nrome\ta, b\nrome\td\n");
    // Words in the values.
    let words = JobSpec {
        mode: Mode::Sorted,
        mapper: Some("Yunti.WordCountMapper".into()),
        folder: Some("Yunti.SumFolder".into()),
        ..spec
    };
    assert_eq!(parts_of(&words, &temp.path("out")).unwrap().concat(), b"a,\t1\nb\t1\nc\t1\nd\t1\n");
}

/// Columns through a sorted job, written and read back.
#[test]
fn reads_back_columns_of_every_output_format() {
    let temp = Temp::new("columns-out");
    let mut random = Random::new(41);
    let pieces = ["a", "bc", " ", "\"", ",", "\n", "\r\n", "\t", "\\", "é", "\u{1}"];
    let mut rows: Vec<[String; 3]> = Vec::new();
    for number in 0..4000 {
        let mut cell = || (0..random.below(5)).map(|_| pieces[random.below(11) as usize]).collect::<String>();
        rows.push([format!("{:05}", number * 7919 % 4000), cell(), cell()]);
    }
    // Longer than the staging buffer.
    rows[1234][2] = "many \"lines\"\n".repeat(if cfg!(debug_assertions) { 9000 } else { 200_000 });
    let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
    let csv = |rows: &[[String; 3]]| {
        let lines: Vec<String> = rows.iter().map(|r| r.each_ref().map(quoted).join(",")).collect();
        format!("id,x,\"user.y\"\n{}\n", lines.join("\n"))
    };
    let input = temp.write("in.csv", csv(&rows).as_bytes());
    rows.sort();
    let expect = temp.write("expect.csv", csv(&rows).as_bytes());
    let text = |inputs: &[String], format: InputFormat| {
        let spec = spec(inputs, format, &["id"], &["x", "user.y"]);
        parts_of(&spec, &temp.path("text")).unwrap().concat()
    };
    let expect = text(&[expect], CSV);
    let formats = [
        (OutputFormat::Csv { separator: b',', header: true }, CSV),
        (OutputFormat::Csv { separator: b';', header: true }, InputFormat::Csv { separator: b';', header: true }),
        (OutputFormat::Json, InputFormat::Json),
    ];
    for (output_format, again) in formats {
        for (memory_bytes, compress) in [(256 << 20, None), (4 << 20, None), (256 << 20, Some(Target::Gzip))] {
            let mut job = JobSpec {
                mode: Mode::Sorted,
                reduces: 2,
                partitioning: yunti_engine::job::Partitioning::TotalOrder,
                memory_bytes: Some(memory_bytes),
                output_format: output_format.clone(),
                compress: compress.map(|target| Compression { target, level: None }),
                ..spec(std::slice::from_ref(&input), CSV, &["id"], &["x", "user.y"])
            };
            job.output_columns = job.columns.clone();
            let parts = parts_of(&job, &temp.path("out")).unwrap();
            let extension = if compress.is_some() { ".gz" } else { "" };
            let files: Vec<String> =
                parts.iter().enumerate().map(|(i, p)| temp.write(&format!("part{i}{extension}"), p)).collect();
            assert!(files.len() == 2 && text(&files, again.clone()) == expect, "{output_format:?} {memory_bytes}");
        }
    }
}

#[test]
fn every_part_begins_with_the_names_of_its_columns() {
    let temp = Temp::new("columns-head");
    let input = temp.write("in", b"the cat\nthe dog\n");
    let mut words = JobSpec {
        mode: Mode::Sorted,
        mapper: Some("Yunti.WordCountMapper".into()),
        folder: Some("Yunti.SumFolder".into()),
        reduces: 3,
        output_format: OutputFormat::Csv { separator: b',', header: true },
        ..spec(&[input], InputFormat::Text { delimiter: None }, &[], &[])
    };
    let error = run_in(&Env::real(), &words).err().unwrap();
    assert!(
        error.code() == Code::Usage && error.to_string().starts_with("no column of the output is named"),
        "{error}"
    );
    (words.output_columns.key, words.output_columns.value) = (names(&["word"]), names(&["count"]));
    for mode in [Mode::Sorted, Mode::Grouped] {
        let parts = parts_of(&JobSpec { mode, ..words.clone() }, &temp.path("out")).unwrap();
        assert!(parts.len() == 3 && parts.iter().all(|p| p.starts_with(b"word,count\n")), "{mode:?}");
        let all = String::from_utf8(parts.concat()).unwrap();
        let mut all: Vec<&str> = all.lines().filter(|l| *l != "word,count").collect();
        all.sort();
        assert_eq!(all, ["cat,1", "dog,1", "the,2"]);
    }
    let json = JobSpec { output_format: OutputFormat::Json, reduces: 1, ..words.clone() };
    let expect = "{\"word\":\"cat\",\"count\":1}\n{\"word\":\"dog\",\"count\":1}\n{\"word\":\"the\",\"count\":2}\n";
    assert_eq!(parts_of(&json, &temp.path("out")).unwrap().concat(), expect.as_bytes());
    words.output_columns.value = names(&["count", "more"]);
    let error = run_in(&Env::real(), &words).err().unwrap();
    assert!(error.to_string().starts_with("a value of type i64 is one column, but 2 are named"), "{error}");
    words.output_format = OutputFormat::Framed;
    let error = run_in(&Env::real(), &words).err().unwrap();
    assert!(error.to_string().starts_with("only csv, json, parquet, orc"), "{error}");
}
