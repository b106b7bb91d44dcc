//! Errors give one line and a documented exit code, and leave no files.

mod support;

use support::Dir;

const USAGE: i32 = 2;
const INPUT: i32 = 3;
const CORRUPT: i32 = 4;
const OUTPUT: i32 = 5;
const USER_CODE: i32 = 6;
const MEMORY: i32 = 7;
const EXISTS: i32 = 8;
const INVALID: i32 = 9;

#[test]
fn command_lines() {
    let dir = Dir::with_books();
    for (words, what) in [
        ("", "a command is missing"),
        ("nonsense", "there is no command 'nonsense'"),
        ("observe x", "'yunti observe' is not installed"),
        ("../../bin/sh", "there is no command"),
        ("run", "there is nothing to do: name an application (wordcount"),
        ("run wordcount", "no input is named: give --input PATH"),
        ("run wordcuont books", "there is no application 'wordcuont'"),
        ("run books", "to read it, write --input books"),
        ("run wordcount books --bogus", "unexpected argument '--bogus' found"),
        ("run wordcount books --oputput x", "did you mean '--output'?"),
        ("run wordcount books --output", "a value is required for '--output <DIR>'"),
        ("run wordcount books --memory 2XB", "'2XB' is not a size"),
        ("run wordcount books --threads 0", "threads is 0"),
        ("run wordcount books --threads -1", "unexpected argument '-1'"),
        ("run wordcount books --reduces 0", "reduces is 0"),
        (
            "run wordcount books --reduces many",
            "invalid value 'many' for '--reduces <N>': 'many' is not a whole number from 0 to 4294967295",
        ),
        ("run wordcount books --timeout abc", "'abc' is not a number of seconds: write it without a unit, as in 90"),
        ("run wordcount books --timeout=-1", "'-1' is not a number of seconds"),
        ("run wordcount books --timeout 10s", "'10s' is not a number of seconds"),
        ("run wordcount books --attempts 0", "'0' is not a whole number from 1 to"),
        ("run wordcount books --threads x", "'x' is not a whole number from 0 to 65536"),
        ("run wordcount books --worker-memory x", "'x' is not a size: write a number with KiB, MiB"),
        ("run wordcount books --top x", "'x' is not a whole number from 0"),
        ("run top books -D top.k=x", "top.k: 'x' is not a whole number"),
        ("run identity books -D split.lines=0", "split.lines: '0' is not a whole number from 1"),
        ("run identity books -D split.lines=x", "split.lines: 'x' is not a whole number from 1"),
        (
            "run --mapper cat -i books -D mapreduce.task.timeout=x",
            "mapreduce.task.timeout: 'x' is not a number of milli",
        ),
        ("run --mapper cat -i books -D stream.jobconf.truncate.limit=x", "stream.jobconf.truncate.limit: 'x' is not a"),
        ("streaming -inptu books -output o -mapper cat", "unexpected argument '-inptu' found: did you mean '-input'?"),
        ("streaming -input books -output o -mapper cat -numReduceTasks x", "'x' is not a whole number from 0 to"),
        ("streaming -input books -output o -mapper cat --timeout x", "'x' is not a number of seconds"),
        ("generate zipf --bytes 5kB --exponent x --output g", "'x' is not a number: write it as in 1.5"),
        ("run wordcount books --mode fast", "unknown mode 'fast': use sorted, grouped or none"),
        ("run wordcount books --mode none", "mode none has no reduce"),
        ("run wordcount books --key-type i128", "unknown type 'i128'"),
        ("run wordcount books --input-format cvs", "unknown input format 'cvs'"),
        ("run wordcount books --input-format json", "no column of the JSON lines is named: as in --key-columns"),
        ("run wordcount books --key-columns a", "only csv, json, parquet, orc"),
        (
            "run wordcount books --input-format csv -D skip.bad.records=yes",
            "skip.bad.records: 'yes' is neither true nor false",
        ),
        ("run wordcount books --input-format fixed:0:0", "fixed records need"),
        ("run wordcount books --partitioner random", "unknown partitioner 'random'"),
        ("run wordcount books --spill-codec zip", "unknown spill codec 'zip'"),
        ("run wordcount books -D novalue", "write -D key=value"),
        ("run wordcount books -D mapreduce.job.reduces=x", "mapreduce.job.reduces: 'x' is not a whole number"),
        ("run wordcount books --split-size 0", "the split size is 0"),
        ("run wordcount books --folder A.F --reducer A.R", "cannot be used with"),
        ("run wordcount books --output a --top 3", "cannot be used with"),
        ("run sort books --output - --reduces 2", "standard output takes one part"),
        ("run -f nowhere.toml", "cannot open: No such file or directory: nowhere.toml"),
        ("run -f books", "books"),
        ("generate tera --output g", "required arguments were not provided"),
        ("generate text --records 5 --output g", "--records is for tera: give --bytes SIZE"),
        ("generate text --bytes 5kB --ascii --output g", "--ascii is for tera"),
        ("generate zipf --bytes 5kB --distinct 0 --output g", "distinct"),
        ("generate pearls --bytes 5kB --output g", "invalid value 'pearls'"),
        ("generate tera --records 99999999999999999999 --output g", "invalid value"),
        ("generate tera --records 999999999999999999 --output g", "too many"),
        ("generate tera --records 1 --files 0 --output g", "invalid value '0' for '--files <N>'"),
        ("validate tera books --checksum xyz", "'xyz' is not a hexadecimal number"),
        ("completions dash", "invalid value 'dash'"),
        ("man nonsense", "there is no command 'nonsense'"),
    ] {
        dir.fails(words, USAGE, what);
    }
}

#[test]
fn job_files() {
    let dir = Dir::with_books();
    for (body, what) in [
        ("input = \"books\"\n", "line 1: the job file has no format: job.toml: begin it with"),
        ("format = \"yunti-job/2\"\n", "line 1: the format of the job file is not known: job.toml"),
        (
            "format = \"yunti-job/1\"\n\nreduses = 2\n",
            "line 3: unknown key 'reduses': job.toml: did you mean 'reduces'?",
        ),
        ("format = \"yunti-job/1\"\nmemory = \"lots\"\n", "line 2: memory: 'lots' is not a size: job.toml"),
        ("format = \"yunti-job/1\"\ninput = [\"a\",\n", "line 2: "),
        ("format = \"yunti-job/1\"\napplication = \"xyz\"\n", "there is no application 'xyz'"),
    ] {
        dir.write("job.toml", body.as_bytes());
        dir.fails("run -f job.toml", USAGE, what);
    }
    dir.write("job.toml", b"format = \"yunti-job/1\"\n# \xff\n");
    dir.fails("run -f job.toml", USAGE, "line 2: the job file is not UTF-8: job.toml");
}

#[test]
fn data() {
    let dir = Dir::with_books();
    dir.ok("generate tera --records 100 --output t -q");
    let records = dir.read("t/part-m-00000");
    dir.write("cut", &records[..9_950]);
    // A gzip header, and the first bytes of an incomplete block.
    dir.write("cut.gz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 0x4c]);
    dir.write("noise.gz", b"this is no gzip file");
    dir.write("noise.zst", b"this is no zstd file");
    dir.write("noise.bz2", b"this is no bzip2 file");
    dir.write("noise.xz", b"this is no xz file");
    dir.write("report.json", b"{\"format\": \"yunti-report/99\"}");
    for (words, code, what) in [
        ("run wordcount nowhere", INPUT, "nowhere"),
        ("run wordcount books nowhere/*.txt", INPUT, "nowhere"),
        ("run wordcount cut.gz", CORRUPT, "cut.gz"),
        ("run wordcount noise.gz", CORRUPT, "noise.gz"),
        ("run wordcount noise.zst", CORRUPT, "noise.zst"),
        ("run wordcount noise.bz2", CORRUPT, "noise.bz2"),
        ("run wordcount noise.xz", CORRUPT, "noise.xz"),
        ("run terasort cut --output o", CORRUPT, "cut"),
        ("validate tera cut", CORRUPT, "the last record has 50 bytes of 100: cut, byte 9900"),
        ("validate tera nowhere", INPUT, "nowhere"),
        ("validate tera books/_skipped --against nowhere", CORRUPT, "_skipped"),
        ("report nowhere", INPUT, "nowhere"),
        ("report books", INPUT, "report.json"),
        ("report books/one.txt", CORRUPT, "this is not a report of a job"),
        ("report report.json", CORRUPT, "the report has the format 'yunti-report/99'"),
        ("run wordcount books --output books", EXISTS, "books"),
        ("generate tera --records 1 --output books", EXISTS, "books: name another, or use --overwrite"),
        ("run wordcount books --output books/one.txt/out", OUTPUT, "books/one.txt"),
        ("generate tera --records 1 --output books/one.txt/out", OUTPUT, "books/one.txt"),
        ("run wordcount books --report nowhere/r.json", OUTPUT, "nowhere/r.json"),
        ("run wordcount books --lib ./nowhere.so", USER_CODE, "nowhere.so"),
        ("run wordcount books --lib books/one.txt", USER_CODE, "one.txt"),
        ("run --mapper No.Such --input books", USER_CODE, "No.Such"),
        ("run wordcount books --memory 1KiB", MEMORY, "give at least --memory "),
    ] {
        // A report file that fails is reported after the job's results; only the line counts here.
        dir.fails(words, code, what);
    }
    let unsorted = dir.run("validate tera t");
    assert_eq!(unsorted.status.code(), Some(INVALID));
    dir.fails("validate tera t", INVALID, "t/part-m-00000, byte ");
}

#[test]
fn a_full_device() {
    let dir = Dir::with_books();
    for words in ["run sort books --output -", "run wordcount books", "limits --help", "completions bash"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = dir.command(words).stdout(full).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(OUTPUT), "yunti {words}: {stderr}");
        assert!(stderr.lines().count() == 1 && stderr.contains("No space left"), "yunti {words}: {stderr}");
    }
}
