//! Joins against a plain loop over all pairs: kinds, budgets, threads, hot keys, tables that do not fit.

use yunti_base::Code;
use yunti_engine::env::Env;
use yunti_engine::env::random::Random;
use yunti_engine::job::{JobSpec, OutputTarget, application};

use crate::support::{Temp, parts_of, read_parts, run_in};

const MIB: u64 = 1 << 20;

/// A line as a key and the rest; None if it has too few columns.
fn cut(line: &str, column: usize) -> Option<(String, String)> {
    let mut columns: Vec<&str> = line.split('\t').collect();
    if columns.len() < column {
        return None;
    }
    let key = columns.remove(column - 1).to_string();
    Some((key, columns.join("\t")))
}

/// Returns the lines of a join, in the order of the left lines, and for each of the right lines; lines of the right
/// side without a partner are last.
fn pairs(left: &[String], right: &[String], columns: (usize, usize), kind: &str) -> Vec<String> {
    let sides = |lines: &[String], column| -> Vec<_> { lines.iter().filter_map(|line| cut(line, column)).collect() };
    let (left, right) = (sides(left, columns.0), sides(right, columns.1));
    let text = |key: &str, rest: &[&str]| {
        let rest: Vec<&str> = rest.iter().filter(|rest| !rest.is_empty()).copied().collect();
        format!("{key}\t{}", rest.join("\t"))
    };
    let mut all = Vec::new();
    for (key, own) in &left {
        let before = all.len();
        let mut partners = right.iter().filter(|row| row.0 == *key);
        match kind {
            "semi" => all.extend(partners.next().map(|_| text(key, &[own]))),
            "anti" => all.extend(partners.next().is_none().then(|| text(key, &[own]))),
            _ => all.extend(partners.map(|row| text(key, &[own, &row.1]))),
        }
        if all.len() == before && matches!(kind, "left" | "full") {
            all.push(text(key, &[own]));
        }
    }
    if matches!(kind, "right" | "full") {
        let alone = right.iter().filter(|row| left.iter().all(|other| other.0 != row.0));
        all.extend(alone.map(|row| text(&row.0, &[&row.1])));
    }
    all
}

/// Returns the output as lines, sorted by key: lines of one key keep their order.
fn lines_of(parts: &[Vec<u8>]) -> Vec<String> {
    let text = String::from_utf8(parts.concat()).unwrap();
    by_key(text.lines().map(str::to_string).collect())
}

fn by_key(mut lines: Vec<String>) -> Vec<String> {
    lines.sort_by_key(|line| line.split('\t').next().map(str::to_string));
    lines
}

fn text_of(lines: &[String], end: &str) -> Vec<u8> {
    lines.iter().map(|line| format!("{line}{end}")).collect::<String>().into_bytes()
}

struct Case {
    temp: Temp,
    left: Vec<String>,
    right: Vec<String>,
    columns: (usize, usize),
}

impl Case {
    fn new(left: Vec<String>, right: Vec<String>, columns: (usize, usize)) -> Case {
        let temp = Temp::new("join");
        // The inputs of one side are in two files, and in several splits.
        let (first, second) = left.split_at(left.len() / 3);
        temp.write("left/a", &text_of(first, "\n"));
        temp.write("left/b", &text_of(second, "\r\n"));
        temp.write("right", &text_of(&right, "\n"));
        std::fs::create_dir(temp.path("scratch")).unwrap();
        Case { temp, left, right, columns }
    }

    fn spec(&self, name: &str, kind: &str, (memory_bytes, threads): (u64, usize)) -> JobSpec {
        let path = |name: &str| self.temp.path(name).to_string_lossy().into_owned();
        let mut spec = JobSpec {
            inputs: vec![path("left")],
            split_bytes: 3000,
            memory_bytes: Some(memory_bytes),
            threads: Some(threads),
            scratch_dirs: vec![self.temp.path("scratch").into()],
            ..(application(name).unwrap().spec)()
        };
        let (left, right) = self.columns;
        for (key, value) in [
            ("join.left.column", left.to_string()),
            ("join.right.column", right.to_string()),
            ("join.kind", kind.into()),
            ("join.left", path("left")),
            ("join.small", "right".into()),
        ] {
            spec.settings.insert(key.into(), value);
        }
        match name {
            "join" => spec.inputs.push(path("right")),
            _ => spec.side_files.push(self.temp.path("right")),
        }
        spec
    }

    /// Checks all joins of both sides with these budgets and threads.
    fn check(&self, name: &str, resources: &[(u64, usize)]) {
        for kind in ["inner", "left", "right", "full", "semi", "anti"] {
            let expected = by_key(pairs(&self.left, &self.right, self.columns, kind));
            for &given in resources {
                for job in ["join", "hash-join"] {
                    let spec = self.spec(job, kind, given);
                    if job == "hash-join" && matches!(kind, "right" | "full") {
                        assert_eq!(parts_of(&spec, &self.temp.path("out")).unwrap_err().code(), Code::Usage);
                        continue;
                    }
                    let found = lines_of(&parts_of(&spec, &self.temp.path("out")).unwrap());
                    let equal = found.iter().zip(&expected).take_while(|(a, b)| a == b).count();
                    assert!(
                        found == expected,
                        "{name}, {job}, {kind}, {given:?}: {} of {} lines, from line {equal} on: {:?} for {:?}",
                        found.len(),
                        expected.len(),
                        found.get(equal),
                        expected.get(equal)
                    );
                }
            }
        }
        assert_eq!(std::fs::read_dir(self.temp.path("scratch")).unwrap().count(), 0);
    }
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> Vec<String> {
    (0..n).map(line).collect()
}

#[test]
fn joins_of_many_shapes() {
    let long = "k".repeat(60_000);
    let large = |i: usize| format!("k{}\t{}", i % 3, "x".repeat(1_000_000 + i));
    for (name, left, right, columns) in [
        ("no lines", vec![], vec![], (1, 1)),
        ("no left lines", vec![], lines(50, |i| format!("{i}\tr{i}")), (1, 1)),
        ("no right lines", lines(50, |i| format!("{i}\tl{i}")), vec![], (1, 1)),
        ("one key", lines(70, |i| format!("k\tl{i}")), lines(90, |i| format!("k\tr{i}")), (1, 1)),
        ("keys alone", lines(70, |i| format!("{}", i % 20)), lines(60, |i| format!("{}", i % 30)), (1, 1)),
        ("empty keys", lines(40, |i| format!("\tl{i}")), lines(30, |i| format!("\tr{i}")), (1, 1)),
        ("no common keys", lines(300, |i| format!("l{i}\tx")), lines(300, |i| format!("r{i}\ty")), (1, 1)),
        (
            "other columns",
            lines(500, |i| format!("a\tb{i}\t{}", i % 90)),
            lines(90, |i| format!("r{i}\t{i}\tc")),
            (3, 2),
        ),
        (
            "absent columns",
            lines(90, |i| ["x".into(), format!("x\t{i}")][i % 2].clone()),
            lines(90, |i| format!("{i}")),
            (2, 1),
        ),
        ("long keys", lines(9, |i| format!("{long}{i}\tl{i}")), lines(7, |i| format!("{long}{i}\tr{i}")), (1, 1)),
        ("large lines", lines(4, large), lines(3, large), (1, 1)),
    ] {
        let left: Vec<String> = left;
        Case::new(left, right, columns).check(name, &[(8 * MIB, 1), (64 * MIB, 3)]);
    }
}

#[test]
fn random_joins_in_any_memory() {
    let mut random = Random::new(5);
    for round in 0..6 {
        let keys = [1, 3, 40, 700][round % 4];
        let mut side = |n: u64, name: &str| {
            let line = |random: &mut Random, i| {
                // A key in four is the same one.
                let key = if random.below(4) == 0 { 0 } else { random.below(keys) };
                let key = format!("{key:0width$}", width = 1 + (key % 23) as usize);
                match random.below(30) {
                    0 => format!("{name}{i}"),
                    1 => format!("\t{key}"),
                    _ => format!("{name}{i}\t{key}\t{}", "y".repeat(random.below(50) as usize)),
                }
            };
            (0..n).map(|i| line(&mut random, i)).collect::<Vec<String>>()
        };
        let (left, right) = (side(250, "l"), side(200, "r"));
        let case = Case::new(left, right, (2, 2));
        case.check(&format!("round {round}"), &[(3 * MIB, 1), (5 * MIB, 2), (64 * MIB, 2), (256 * MIB, 4)]);
    }
}

/// The side file has more bytes than the table may take. The budgets go down to the least that the engine accepts.
#[test]
fn a_table_that_does_not_fit_is_sorted() {
    let left = lines(4000, |i| format!("{}\tl{i}", i * 7 % 3000));
    let right = lines(60_000, |i| format!("{i}\t{}", "r".repeat(i % 100)));
    let case = Case::new(left, right, (1, 1));
    // The plain loop is too slow here: each key is on the right side once.
    let line = |line: &String| {
        let (key, own) = cut(line, 1).unwrap();
        let other = cut(&case.right[key.parse::<usize>().unwrap()], 1).unwrap().1;
        format!("{key}\t{own}{}{other}", if other.is_empty() { "" } else { "\t" })
    };
    let expected = by_key(case.left.iter().map(line).collect());
    let mut modes = std::collections::BTreeSet::new();
    for (mib, threads) in [(3, 1), (4, 2), (6, 1), (8, 2), (12, 2), (16, 1), (64, 2)] {
        for kind in ["inner", "left"] {
            let out = case.temp.path("out");
            let spec = case.spec("hash-join", kind, (mib * MIB, threads));
            let spec = JobSpec { output: OutputTarget::Directory(out.clone()), overwrite: true, ..spec };
            let report = run_in(&Env::real(), &spec).unwrap().report;
            assert!(lines_of(&read_parts(&out)) == expected, "{mib} MiB, {threads} threads, {kind}");
            assert!(report.memory.peak_bytes <= mib * MIB, "{:?}", report.memory);
            let table = report.join_table.as_ref().unwrap();
            assert_eq!((table.side_bytes, table.sorted), (case.side_bytes(), report.job.mode == "sorted"));
            assert!(table.sorted || table.budget_bytes <= mib * MIB, "{table:?}");
            assert_eq!(report.stages.iter().any(|stage| stage.name == "prepare"), !table.sorted);
            modes.insert((report.job.mode.clone(), mib));
        }
    }
    assert!(modes.contains(&("sorted".into(), 3)) && modes.contains(&("none".into(), 64)), "{modes:?}");
    assert_eq!(std::fs::read_dir(case.temp.path("scratch")).unwrap().count(), 0);
}

impl Case {
    fn side_bytes(&self) -> u64 {
        std::fs::metadata(self.temp.path("right")).unwrap().len()
    }
}

/// The same bytes in the same order, whether the lines of a key are in memory or on scratch.
#[test]
fn pairs_of_a_hot_key_have_one_order() {
    let left = lines(700, |i| format!("{}\tl{i}", if i % 5 == 0 { "cold" } else { "hot" }));
    let right = lines(300, |i| format!("hot\tr{i}{}", "r".repeat(i % 60)));
    let case = Case::new(left, right, (1, 1));
    let expected = by_key(pairs(&case.left, &case.right, (1, 1), "full"));
    for resources in [(3 * MIB, 1), (16 * MIB, 2), (128 * MIB, 3)] {
        let parts = parts_of(&case.spec("join", "full", resources), &case.temp.path("out")).unwrap();
        assert!(lines_of(&parts) == expected, "{resources:?}");
    }
}
