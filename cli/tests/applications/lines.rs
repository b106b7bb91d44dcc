//! The ready applications compared with plain programs on random lines, for several numbers of splits and threads.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::Dir;

/// Returns lines `name TAB number TAB words`, some without a number.
fn lines() -> Vec<String> {
    let mut state = 7u64;
    let mut draw = move |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    (0..5000)
        .map(|i| match draw(50) {
            0 => format!("short{i}"),
            1 => String::new(),
            _ => {
                let number = draw(2000) as f64 / 8.0 - 100.0;
                let words: Vec<String> = (0..draw(6)).map(|_| "x".repeat(1 + draw(12) as usize)).collect();
                format!("name{}\t{number}\t{}", draw(40), words.join(" "))
            }
        })
        .collect()
}

/// Runs a job with several numbers of splits and threads, which must give the same lines; returns them in order.
fn gives(job: &str) -> (Dir, Vec<String>) {
    let dir = Dir::new();
    dir.write("in", (lines().join("\n") + "\n").as_bytes());
    let mut found: Option<Vec<u8>> = None;
    for (i, shape) in ["--threads 1", "--threads 4 --split-size 5000", "--threads 2 --split-size 31000 --memory 64MiB"]
        .into_iter()
        .enumerate()
    {
        let out = format!("out{i}");
        dir.ok(&format!("run {job} --input in -o {out} -q {shape}"));
        let names = if dir.path(&format!("{out}/part-r-00000")).exists() { "r" } else { "m" };
        let mut parts: Vec<_> =
            std::fs::read_dir(dir.path(&out)).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        parts.retain(|name| name.starts_with(&format!("part-{names}-")));
        parts.sort();
        let bytes: Vec<u8> = parts.iter().flat_map(|name| dir.read(&format!("{out}/{name}"))).collect();
        assert!(found.as_ref().is_none_or(|first| *first == bytes), "{job}: {shape} gives something else");
        found = Some(bytes);
    }
    let text = String::from_utf8(found.unwrap()).unwrap();
    (dir, text.lines().map(str::to_string).collect())
}

fn counted<T: Ord>(items: impl Iterator<Item = T>) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    items.for_each(|item| *counts.entry(item).or_insert(0) += 1);
    counts
}

fn shown<T: std::fmt::Display>(counts: BTreeMap<T, u64>) -> Vec<String> {
    counts.into_iter().map(|(item, n)| format!("{item}\t{n}")).collect()
}

#[test]
fn grep() {
    let matching = |of: &dyn Fn(&str) -> bool| lines().into_iter().filter(|l| of(l)).collect::<Vec<_>>();
    assert_eq!(
        gives("grep -D grep.pattern=e7\\t-?[0-9]+\\.5").1,
        matching(&|l| {
            let mut columns = l.split('\t');
            columns.next().is_some_and(|c| c.ends_with("e7")) && columns.next().is_some_and(|c| c.ends_with(".5"))
        })
    );
    assert_eq!(
        gives("grep -D grep.pattern=NAME -D grep.ignore-case=true -D grep.invert=true").1,
        matching(&|l| !l.contains("name"))
    );
    let (dir, _) = gives("grep -D grep.pattern=nothing");
    dir.fails("run grep in -o x", 2, "the setting grep.pattern is missing");
    dir.fails("run grep in -o x -D grep.pattern=a(", 2, "grep.pattern is not a regular expression: unclosed group");
    dir.fails(
        "run grep in -o x -D grep.pattern=a -D grep.invert=maybe",
        2,
        "grep.invert: 'maybe' is not true or false",
    );
    assert!(!dir.path("x").exists());
}

#[test]
fn count_matches() {
    let all = lines();
    let words =
        |l: &str| l.split(['\t', ' ', '\n']).filter(|w| w.starts_with('x')).map(str::to_string).collect::<Vec<_>>();
    assert_eq!(gives("count-matches -D grep.pattern=x+").1, shown(counted(all.iter().flat_map(|l| words(l)))));
    let names = all.iter().filter_map(|l| l.strip_prefix("name")).map(|l| l.split('\t').next().unwrap().to_string());
    let (dir, found) = gives("count-matches -D grep.pattern=name([0-9]+) -D grep.group=1");
    assert_eq!(found, shown(counted(names)));
    dir.fails("run count-matches in -D grep.pattern=a -D grep.group=1", 2, "grep.group is 1, but the last group is 0");
}

#[test]
fn count_column() {
    let all = lines();
    let (dir, found) = gives("count-column");
    assert_eq!(found, shown(counted(all.iter().map(|l| l.split('\t').next().unwrap()))));
    let numbers = all.iter().filter_map(|l| l.split('\t').nth(1));
    assert_eq!(gives("count-column -D column=2").1, shown(counted(numbers)));
    let behind = all.iter().filter_map(|l| l.split('.').nth(1));
    assert_eq!(gives("count-column -D column=2 -D separator=\\x2e").1, shown(counted(behind)));
    dir.ok("run count-column in -o few -D column=3");
    let report = dir.json("report few --json");
    let few = all.iter().filter(|l| l.split('\t').nth(2).is_none()).count() as u64;
    assert_eq!(report["counters"]["Yunti"]["LINES_PASSED_OVER"], few);
    dir.fails("run count-column in -D column=0", 2, "the setting column is 0");
    dir.fails("run count-column in -D separator=ab", 2, "the setting separator is 'ab'");
}

#[test]
fn distinct() {
    let expect: Vec<String> = lines().into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    assert_eq!(gives("distinct").1, expect);
    let (dir, _) = gives("distinct --reducer Yunti.DistinctReducer --combiner Yunti.DistinctReducer");
    assert_eq!(dir.read("out0/part-r-00000"), (expect.join("\n") + "\n").into_bytes());
}

#[test]
fn top() {
    let mut ranked: Vec<(f64, String)> =
        lines().into_iter().filter_map(|l| Some((l.split('\t').nth(1)?.parse().ok()?, l))).collect();
    // The order is stable: equal numbers keep the order of their lines.
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let first = |n: usize, of: &[(f64, String)]| of.iter().take(n).map(|r| r.1.clone()).collect::<Vec<_>>();
    assert_eq!(gives("top -D column=2").1, first(10, &ranked));
    assert_eq!(gives("top -D column=2 -D top.k=700").1, first(700, &ranked));
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (dir, found) = gives("top -D column=2 -D top.smallest=true -D top.k=33");
    assert_eq!(found, first(33, &ranked));
    dir.fails("run top in -D top.k=1000000", 2, "top.k is 1000000, above the limit of 100000");
}

#[test]
fn sample() {
    let (dir, found) = gives("sample -D sample.fraction=0.2");
    assert!((800..1200).contains(&found.len()), "{} of 5000", found.len());
    let mut rest = lines().into_iter();
    assert!(found.iter().all(|line| rest.any(|l| l == *line)), "in the order of the input");
    assert_ne!(gives("sample -D sample.fraction=0.2 -D sample.seed=2").1, found);
    assert_eq!(gives("sample -D sample.fraction=1").1, lines());
    assert!(gives("sample -D sample.fraction=0").1.is_empty());
    dir.fails("run sample in -o x -D sample.fraction=2", 2, "sample.fraction is 2");
}

#[test]
fn word_lengths() {
    let all = lines().join("\n");
    assert_eq!(gives("word-lengths").1, shown(counted(all.split_whitespace().map(str::len))));
}

#[test]
fn pagerank() {
    let dir = Dir::new();
    // The example of a small web; e has links to it, but no line of its own.
    std::fs::create_dir(dir.path("web0")).unwrap();
    dir.write("web0/graph", b"a\t1\tb\tc\nb\t1\tc\nc\t1\ta\nd\t1\tc\te\n");
    let links: BTreeMap<&str, Vec<&str>> =
        [("a", vec!["b", "c"]), ("b", vec!["c"]), ("c", vec!["a"]), ("d", vec!["c", "e"]), ("e", vec![])].into();
    let mut ranks: BTreeMap<&str, f64> =
        links.keys().map(|node| (*node, if *node == "e" { 0.0 } else { 1.0 })).collect();
    for step in 0..30 {
        dir.ok(&format!("run pagerank web{step} -o web{} -q --split-size 9", step + 1));
        let mut next: BTreeMap<&str, f64> = links.keys().map(|node| (*node, 0.15)).collect();
        for (node, to) in &links {
            to.iter().for_each(|link| *next.get_mut(link).unwrap() += 0.85 * ranks[node] / to.len() as f64);
        }
        ranks = next;
    }
    let text = String::from_utf8(dir.read("web30/part-r-00000")).unwrap();
    for (line, (node, rank)) in text.lines().zip(&ranks) {
        let mut columns = line.split('\t');
        assert_eq!(columns.next(), Some(*node), "{text}");
        let found: f64 = columns.next().unwrap().parse().unwrap();
        assert!((found - rank).abs() < 1e-9, "{line}: {rank}");
        assert_eq!(columns.collect::<Vec<_>>(), links[node], "{line}");
    }
    assert_eq!(text.lines().count(), 5);
    // The commonest example has this order.
    assert!(ranks["c"] > ranks["a"] && ranks["a"] > ranks["b"] && ranks["b"] > ranks["d"]);
}

#[test]
fn inverted_index() {
    let dir = Dir::with_books();
    dir.write("books/three.txt", b"the the cat");
    dir.ok("run inverted-index books -o out --split-size 7 --threads 3");
    let text = String::from_utf8_lossy(&dir.read("out/part-r-00000")).into_owned();
    let of =
        |word: &str| text.lines().find_map(|l| l.strip_prefix(&format!("{word}\t"))).unwrap_or_default().to_string();
    assert_eq!(of("the"), "books/one.txt\tbooks/three.txt\tbooks/two.txt");
    assert_eq!(of("cat"), "books/one.txt\tbooks/three.txt");
    assert_eq!(of("bird"), "books/two.txt");
    assert_eq!(text.lines().count(), 8);
}

/// Returns people with a country in column 3, and countries with their code in column 1. Each side has codes that the
/// other lacks.
fn people_and_countries() -> (Vec<String>, Vec<String>) {
    let people = (0..900).map(|i| format!("p{i},{},c{},{}", i % 7, i * 31 % 45, i * i % 11)).collect();
    let countries = (10..60).flat_map(|i| (0..1 + i % 3).map(move |k| format!("c{i},Country {i}/{k}"))).collect();
    (people, countries)
}

#[test]
fn joins() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("people")).unwrap();
    let (people, countries) = people_and_countries();
    dir.write("people/a", people[..400].join("\n").as_bytes());
    dir.write("people/b", (people[400..].join("\n") + "\r\nshort\n").as_bytes());
    dir.write("countries", (countries.join("\n") + "\n").as_bytes());
    let row = |person: &str| {
        let c: Vec<&str> = person.split(',').collect();
        (c[2].to_string(), format!("{},{},{}", c[0], c[1], c[3]))
    };
    for kind in ["inner", "left", "right", "full"] {
        let mut expect = Vec::new();
        for (code, person) in people.iter().map(|p| row(p)) {
            let partners: Vec<&str> = countries.iter().filter_map(|c| c.strip_prefix(&format!("{code},"))).collect();
            expect.extend(partners.iter().map(|name| format!("{code},{person},{name}")));
            if partners.is_empty() && matches!(kind, "left" | "full") {
                expect.push(format!("{code},{person}"));
            }
        }
        if matches!(kind, "right" | "full") {
            let codes: BTreeSet<String> = people.iter().map(|p| row(p).0).collect();
            expect.extend(countries.iter().filter(|c| !codes.contains(c.split(',').next().unwrap())).cloned());
        }
        expect.sort();
        let settings = format!(
            "-D separator=, -D join.left.column=3 -D join.kind={kind} --output-format text:, -q --split-size 3000"
        );
        dir.ok(&format!("run join countries people -o {kind} -D join.left=people {settings} --reduces 3"));
        let mut found: Vec<String> = Vec::new();
        for part in 0..3 {
            let text = String::from_utf8(dir.read(&format!("{kind}/part-r-0000{part}"))).unwrap();
            found.extend(text.lines().map(str::to_string));
        }
        found.sort();
        assert_eq!(found, expect, "{kind}");
        let hashed =
            format!("run hash-join people -o hash-{kind} --side-file countries -D join.small=countries {settings}");
        if matches!(kind, "right" | "full") {
            dir.fails(&hashed, 2, "a hash join cannot find lines of the small side");
            continue;
        }
        dir.ok(&hashed);
        let names = dir.names().into_iter().filter(|n| n.starts_with(&format!("hash-{kind}/part-m-")));
        let mut found: Vec<String> = names
            .flat_map(|n| String::from_utf8(dir.read(&n)).unwrap().lines().map(str::to_string).collect::<Vec<_>>())
            .collect();
        found.sort();
        assert_eq!(found, expect, "hashed, {kind}");
    }
    let report = dir.json("report inner --json");
    assert_eq!(report["counters"]["Yunti"]["LINES_PASSED_OVER"], 1);
    dir.fails("run join people -o x", 2, "the setting join.left is missing");
    dir.fails(
        "run hash-join people -o x -D join.small=other",
        2,
        "join.small is other, but no side file has this name",
    );
    dir.fails("run hash-join people -o x --side-file none", 3, "none");
    dir.fails("run hash-join people -o x --side-file people", 3, "a side file is a directory");
    dir.fails(
        "run hash-join people -o x --side-file people/a --side-file people/../people/a",
        2,
        "two side files have the name a",
    );
    dir.write("large", &vec![b'x'; 40 << 20]);
    dir.fails("run grep people -o x --side-file large -D grep.pattern=x -m 64MiB", 7, "side files");
    let small = "run hash-join people -o x --side-file large -D join.small=large -m";
    dir.fails(&format!("{small} 64MiB"), 7, "a record of more than");
    dir.ok(&format!("{small} 192MiB -q"));
    dir.write("names.gz", b"c1\tone\n");
    let words = "run hash-join people -o y --side-file names.gz -D join.small=names.gz";
    dir.fails(words, 3, "the small side of a hash join is compressed: names.gz");
    dir.write("names", &[&b"PAR1"[..], &[0; 40], b"PAR1"].concat());
    dir.fails("run hash-join people -o y --side-file names -D join.small=names", 3, "names");
}

/// A table that does not fit becomes a sorted join with the same records, and the report says so.
#[test]
fn a_hash_join_in_little_memory() {
    let dir = Dir::new();
    let line = |i: usize| format!("k{}\tvalue {i} {}\n", i % 40_000, "x".repeat(i % 70));
    dir.write("in", (0..30_000).map(line).collect::<String>().as_bytes());
    dir.write("side", (0..90_000).map(line).collect::<String>().as_bytes());
    let job = "run hash-join in --side-file side -D join.small=side -D join.kind=left --threads 2 -q -m";
    let sorted_lines = |out: &str, part: &str| {
        let names = dir.names().into_iter().filter(|name| name.starts_with(&format!("{out}/{part}")));
        let text: String = names.map(|name| String::from_utf8(dir.read(&name)).unwrap()).collect();
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        lines.sort();
        lines
    };
    dir.ok(&format!("{job} 128MiB -o roomy"));
    dir.ok(&format!("{job} 4MiB -o tight"));
    let expected = sorted_lines("roomy", "part-m-");
    assert!(expected.len() >= 30_000 && sorted_lines("tight", "part-r-") == expected);
    let [roomy, tight] = ["roomy", "tight"].map(|out| dir.json(&format!("report {out} --json")));
    assert_eq!(roomy["join_table"]["rows"], 90_000);
    assert_eq!((&roomy["join_table"]["sorted"], &tight["join_table"]["sorted"]), (&false.into(), &true.into()));
    assert_eq!(roomy["stages"][0]["name"], "prepare");
    for (report, words) in [("roomy", "the join table has 90,000 rows in"), ("tight", "so both sides were sorted")] {
        let text = dir.ok(&format!("report {report}"));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn k_means() {
    let dir = Dir::new();
    let center = [(0.0, 0.0), (10.0, 0.0), (0.0, 10.0)];
    let points: Vec<(f64, f64)> = (0..600)
        .map(|i| {
            let (x, y) = center[i % 3];
            (x + ((i * 7919) % 200) as f64 / 100.0 - 1.0, y + ((i * 104_729) % 200) as f64 / 100.0 - 1.0)
        })
        .collect();
    let lines: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
    dir.write("points", (lines.join("\n") + "\nno point\n1,2,3\n").as_bytes());
    dir.write("centers0", b"1 1\n6 1\n1 6\n");
    for step in 0..5 {
        let here = format!("centers{step}");
        dir.ok(&format!(
            "run kmeans points -o out{step} --side-file {here} -D kmeans.centers={here} -q --split-size 2000"
        ));
        dir.write(&format!("centers{}", step + 1), &dir.read(&format!("out{step}/part-r-00000")));
    }
    let text = String::from_utf8(dir.read("centers5")).unwrap();
    for (i, line) in text.lines().enumerate() {
        let own: Vec<&(f64, f64)> = points.iter().skip(i).step_by(3).collect();
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| own.iter().map(|p| of(p)).sum::<f64>() / own.len() as f64;
        let found: Vec<f64> =
            line.strip_prefix(&format!("{i}\t")).unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
        assert!((found[0] - mean(&|p| p.0)).abs() < 1e-9 && (found[1] - mean(&|p| p.1)).abs() < 1e-9, "{text}");
    }
    assert_eq!(text.lines().count(), 3);
    assert_eq!(dir.json("report out0 --json")["counters"]["Yunti"]["LINES_PASSED_OVER"], 2);
    dir.write("bad", b"1 2\n3\n");
    dir.fails(
        "run kmeans points -o x --side-file bad -D kmeans.centers=bad",
        3,
        "line 2 is not a center like the others",
    );
}
