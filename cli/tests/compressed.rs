//! Compressed input and output: by file names, by `--compress`, by Hadoop's settings, and read by the standard tools.

mod support;

use std::process::Command;

use support::Dir;

const COUNTS: &[u8] = b"and\t1\nbird\t1\ncat\t1\ndog\t1\nend\t2\nno\t1\nthe\t4\n\xff\xfe\t1\n";

const FILES: [(&str, &str); 9] = [
    ("gzip:9", "gz"),
    ("zstd:1", "zst"),
    ("bzip2", "bz2"),
    ("xz:0", "xz"),
    ("lz4", "lz4"),
    ("snappy", "sz"),
    ("hadoop-lz4", "lz4"),
    ("hadoop-snappy", "snappy"),
    ("deflate", "deflate"),
];

#[test]
fn jobs_read_their_compressed_output() {
    let dir = Dir::with_books();
    for (codec, extension) in FILES {
        dir.ok(&format!("run wordcount books -o out --overwrite --compress {codec} -q"));
        let name = format!("out/part-r-00000.{extension}");
        assert_ne!(dir.read(&name), COUNTS, "{codec}");
        dir.ok("run identity --input out -o again --overwrite -q");
        assert_eq!(dir.read("again/part-m-00000"), COUNTS, "{codec}");
        // Standard output has no name, but the same bytes.
        let piped = dir.run(&format!("run wordcount books -o - --compress {codec} -q")).stdout;
        dir.write(&format!("piped.{extension}"), &piped);
        dir.ok(&format!("run identity --input piped.{extension} -o again --overwrite -q"));
        assert_eq!(dir.read("again/part-m-00000"), COUNTS, "{codec}");
    }
}

#[test]
fn the_tools_read_what_jobs_write() {
    let dir = Dir::new();
    // Enough data for several members in one part.
    dir.ok("generate text --bytes 12MB -o text -q");
    dir.ok("run sort text -o plain -q");
    let mut compared = 0;
    for (codec, tool, extension) in [
        ("gzip:1", "gzip", "gz"),
        ("zstd", "zstd", "zst"),
        ("bzip2:1", "bzip2", "bz2"),
        ("xz:0", "xz", "xz"),
        ("lz4", "lz4", "lz4"),
    ] {
        dir.ok(&format!("run sort text -o packed --overwrite -q --compress {codec}"));
        let file = dir.path(&format!("packed/part-r-00000.{extension}"));
        let Ok(output) = Command::new(tool).args(["-d", "-c", "-q"]).arg(&file).output() else {
            eprintln!("{tool} is not installed: not compared with it");
            continue;
        };
        assert!(output.status.success(), "{tool}: {output:?}");
        assert!(output.stdout == dir.read("plain/part-r-00000"), "{codec}");
        compared += 1;
    }
    assert!(compared > 0, "none of the tools is installed");
}

#[test]
fn settings_of_hadoop_equal_keys_of_job_files() {
    let dir = Dir::with_books();
    let settings = "-D mapreduce.output.fileoutputformat.compress=true \
                    -D mapreduce.output.fileoutputformat.compress.codec=org.apache.hadoop.io.compress.SnappyCodec";
    dir.ok(&format!("run wordcount books -o out -q {settings}"));
    assert!(dir.path("out/part-r-00000.snappy").exists());
    let job = dir.ok(&format!("run wordcount books -o again -q {settings} --compress zstd:9 --print-job"));
    assert!(job.contains("compress = \"zstd:9\"\n"), "{job}");
    dir.write("job.toml", job.as_bytes());
    dir.ok("run -f job.toml -q");
    assert!(dir.path("again/part-r-00000.zst").exists());
    for (words, what) in [
        ("--compress zip", "unknown codec 'zip': use none, gzip, zstd"),
        ("--compress gzip:10", "'10' is not a level of gzip: its levels are 1 to 9"),
        ("--compress lz4:3", "lz4 has no levels"),
        (&settings.replace("SnappyCodec", "PassthroughCodec"), "no output codec"),
    ] {
        dir.fails(&format!("run wordcount books -o new {words}"), 2, what);
    }
    dir.fails("run wordcount books -o new --compress xz:9 --memory 64MiB", 7, "give at least --memory ");
}

#[test]
fn names_formats_that_are_not_supported() {
    let dir = Dir::with_books();
    for (name, bytes, what) in [
        // The first file of an input makes all of it columns.
        (
            "z.parquet",
            &b"PAR1\x15\x04..\x08\0\0\0PAR1"[..],
            "this is a Parquet file, not text: books/z.parquet: read it with --input-format parquet",
        ),
        (
            "z.orc",
            b"ORC\x0a\x0b..\x82\xf4\x03\x03ORC\x17",
            "this is an ORC file, not text: books/z.orc: read it with --input-format orc",
        ),
        ("z.avro", b"Obj\x01\x04\x14avro.codec", "this is an Avro file, not text: books/z.avro: "),
        ("z", b"SEQ\x06\x19org.apache.hadoop.io.Text", "this is a Hadoop sequence file, not text: books/z: "),
    ] {
        let name = format!("books/{name}");
        dir.write(&name, bytes);
        dir.fails("run wordcount books -o out", 3, what);
        std::fs::remove_file(dir.path(&name)).unwrap();
    }
}

#[test]
fn reports_data_that_is_not_in_the_named_format() {
    let dir = Dir::new();
    for name in ["noise.lz4", "noise.sz", "noise.snappy", "noise.deflate"] {
        dir.write(name, b"this is no such file");
        dir.fails(&format!("run wordcount {name}"), 4, name);
    }
    // The header of an lz4 frame, and nothing after it.
    dir.write("cut.lz4", b"\x04\x22\x4d\x18\x64\x40\xa7");
    dir.fails("run wordcount cut.lz4", 4, "the lz4 data is cut short: cut.lz4, byte 7");
}
