//! Bad records: user code that fails at certain records, which are named, or left out and kept.

use std::collections::BTreeMap;

use crate::endings::{USER_CODE, error_line, with_library};
use crate::support::Dir;

/// Lines of an input, with killers at some of them.
fn lines(killers: &[usize]) -> Vec<String> {
    let line = |i: usize| format!("k{} line {i}", i % 7);
    (0..300).map(|i| if killers.contains(&i) { format!("k{} KILLER {i}", i % 7) } else { line(i) }).collect()
}

/// First words of the lines without killers, with their numbers.
fn expected(lines: &[String]) -> String {
    let mut counts = BTreeMap::new();
    for line in lines.iter().filter(|line| !line.contains("KILLER")) {
        *counts.entry(line.split(' ').next().unwrap()).or_insert(0) += 1;
    }
    counts.iter().map(|(word, n)| format!("{word}\t{n}\n")).collect()
}

fn job(mapper: &str, how: &str, threads: usize) -> String {
    format!(
        "run --lib ./ending.so --isolate --mapper {mapper} --folder Yunti.SumFolder -i in.txt -o out --overwrite \
         --scratch . --split-size 4096 --threads {threads} -D ending.how={how} -D ending.word=KILLER"
    )
}

/// Returns keys and values of the kept records, as the engine reads them.
fn kept(dir: &Dir) -> Vec<String> {
    let run = dir.run("run --input-format framed -i out/_yunti/bad-records --mode none -o - --quiet");
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    String::from_utf8(run.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bad_records_are_left_out_and_kept() {
    let Some(dir) = with_library() else { return };
    for killers in [&[5][..], &[0], &[299], &[0, 1, 2], &[100, 101, 250], &[17, 80, 81, 160, 298, 299]] {
        let lines = lines(killers);
        // The last line has no end.
        dir.write("in.txt", lines.join("\n").as_bytes());
        for (mapper, how, threads) in [
            ("Ending.Map", "segv", 1),
            ("Ending.Span", "exit", 3),
            ("Ending.Map", "throw", 2),
            ("Ending.Span", "throw", 1),
        ] {
            let run = dir.run(&format!("{} --bad-records skip:10", job(mapper, how, threads)));
            assert_eq!(run.status.code(), Some(0), "{killers:?} {mapper} {how}: {run:?}");
            let output = String::from_utf8(dir.read("out/part-r-00000")).unwrap();
            assert_eq!(output, expected(&lines), "{killers:?} {mapper} {how}");
            let kept = kept(&dir);
            assert_eq!(kept.len(), killers.len(), "{killers:?} {mapper} {how}: {kept:?}");
            for (kept, &killer) in kept.iter().zip(killers) {
                let offset: usize = lines[..killer].iter().map(|line| line.len() + 1).sum();
                assert!(kept.starts_with(&format!("in.txt\t{offset}\tEnding.")), "{kept}");
                assert!(kept.ends_with(&format!("\t{}", lines[killer])), "{kept}");
            }
            let report = String::from_utf8(dir.read("out/_yunti/report.json")).unwrap();
            assert!(report.contains("BAD_RECORDS"), "{report}");
        }
    }
}

#[test]
fn the_error_names_the_record() {
    let Some(dir) = with_library() else { return };
    let lines = lines(&[123]);
    dir.write("in.txt", (lines.join("\n") + "\n").as_bytes());
    let offset: usize = lines[..123].iter().map(|line| line.len() + 1).sum();
    let before = dir.names();
    for (mapper, how, what) in [
        ("Ending.Map", "segv", "signal 11"),
        ("Ending.Span", "exit3", "exit code 3"),
        ("Ending.Map", "throw", "a text that the class cannot read"),
    ] {
        for more in ["", "--bad-records fail", "--bad-records skip:0"] {
            let run = dir.run(&format!("{} {more}", job(mapper, how, 2)));
            assert_eq!(run.status.code(), Some(USER_CODE), "{run:?}");
            let text = error_line(&run);
            let last = text.lines().last().unwrap_or_default();
            let named = format!(" at the record 'k4 KILLER 123': in.txt, byte {offset}: ");
            assert!(last.contains(what) && last.contains(&named), "{text}");
            assert_eq!(dir.names(), before);
        }
    }
}

#[test]
fn more_bad_records_than_the_limit_end_the_job() {
    let Some(dir) = with_library() else { return };
    dir.write("in.txt", lines(&[10, 20, 30]).join("\n").as_bytes());
    for (limit, code) in [("skip:2", USER_CODE), ("skip:3", 0), ("skip:0.9%", USER_CODE), ("skip:1%", 0), ("skip", 0)] {
        let run = dir.run(&format!("{} --bad-records {limit}", job("Ending.Map", "segv", 1)));
        assert_eq!(run.status.code(), Some(code), "{limit}: {run:?}");
    }
    for (limit, code) in [("skip:0.9%", USER_CODE), ("skip:1%", 0)] {
        let run = dir.run(
            &format!("{} --bad-records {limit} --mode none", job("Ending.Map", "segv", 1))
                .replace("--folder Yunti.SumFolder ", ""),
        );
        assert_eq!(run.status.code(), Some(code), "{limit} without a reduce: {run:?}");
    }
    dir.fails(&format!("{} --bad-records skip:x", job("Ending.Map", "segv", 1)), 2, "'skip:x' is not a limit");
}
