//! `yunti run aggregate`, `select` and `filter` on random tables, compared with a plain program, for several numbers of
//! splits and threads and little memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::Dir;

/// Row of the table: city, empty or not; number of thousandths, or none; whole number; name.
struct Row {
    city: String,
    amount: Option<i64>,
    n: i64,
    name: String,
}

fn rows(n: usize, cities: u64) -> Vec<Row> {
    let mut state = 11u64;
    let mut draw = move |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    (0..n)
        .map(|_| Row {
            city: ["", "Paris", "Köln, \"am\" Rhein", "Rome\tEternal"][draw(4) as usize]
                .repeat(1 + draw(cities) as usize),
            amount: (draw(9) > 0).then(|| draw(4_000_000) as i64 - 1_000_000),
            n: draw(1000) as i64 - 300,
            name: format!("name {}", draw(60)),
        })
        .collect()
}

/// Returns a decimal of thousandths, as people write it.
fn decimal(thousandths: i64) -> String {
    let sign = if thousandths < 0 { "-" } else { "" };
    format!("{sign}{}.{:03}", thousandths.abs() / 1000, thousandths.abs() % 1000)
}

fn csv(rows: &[Row]) -> String {
    let cell = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let line = |row: &Row| {
        let amount = row.amount.map_or(String::new(), decimal);
        format!("{},{amount},{},{}\n", cell(&row.city), row.n, cell(&row.name))
    };
    "city,amount,n,name\n".to_string() + &rows.iter().map(line).collect::<String>()
}

fn json(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let amount = row.amount.map_or("null".into(), decimal);
        let place = serde_json::json!({ "city": row.city, "name": row.name });
        format!("{{\"place\":{place},\"amount\":{amount},\"n\":{}}}\n", row.n)
    };
    rows.iter().map(line).collect()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t")
}

/// Runs a job on a table in several shapes, which must give the same bytes; returns the lines.
fn gives(dir: &Dir, job: &[&str]) -> Vec<String> {
    let mut found: Option<String> = None;
    for shape in ["--threads 1", "--threads 3 --split-size 20000", "--threads 2 --split-size 60000 --memory 64MiB"] {
        let mut command = dir.command("run");
        let output = command.args(job).args("-o - -q".split(' ')).args(shape.split(' ')).output().unwrap();
        assert!(output.status.success(), "{job:?}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(found.as_ref().is_none_or(|first| *first == text), "{job:?}: {shape} gives something else");
        found = Some(text);
    }
    found.unwrap().lines().map(str::to_string).collect()
}

/// The results of one group, by plain means.
fn expected(rows: &[&Row]) -> String {
    let amounts: Vec<i64> = rows.iter().filter_map(|row| row.amount).collect();
    let shown = |value: Option<i64>| value.map_or(String::new(), decimal);
    let sum = (!amounts.is_empty()).then(|| amounts.iter().sum::<i64>());
    let mean = sum.map_or(String::new(), |sum| format!("{:?}", sum as f64 / amounts.len() as f64 / 1000.0));
    let mut sorted: Vec<i64> = rows.iter().map(|row| row.n).collect();
    sorted.sort_unstable();
    let last = sorted.len() - 1;
    let median = sorted[last / 2] as f64 / 2.0 + sorted[last.div_ceil(2)] as f64 / 2.0;
    let ninth = sorted[((0.9 * sorted.len() as f64).ceil() as usize - 1).min(last)];
    let names: BTreeSet<&str> = rows.iter().map(|row| &row.name[..]).collect();
    [
        rows.len().to_string(),
        amounts.len().to_string(),
        shown(sum),
        shown(amounts.iter().min().copied()),
        shown(amounts.iter().max().copied()),
        mean,
        names.len().to_string(),
        format!("{median:?}"),
        ninth.to_string(),
        rows[0].n.to_string(),
        rows[rows.len() - 1].n.to_string(),
        rows.iter().map(|row| row.n * 2 + 1).sum::<i64>().to_string(),
        names.first().unwrap().to_string(),
    ]
    .join("\t")
}

const AGGREGATES: &str = "count, count(amount), sum(amount), min(amount), max(amount), mean(amount), \
                          count(distinct name), median(n), quantile(n, 0.9), first(n), last(n), sum(n * 2 + 1), min(name)";
/// The same without the exact ones, which need a sort of all values.
const STATES: &str = "count, count(amount), sum(amount), min(amount), max(amount), mean(amount), \
                      first(n), last(n), sum(n * 2 + 1), min(name)";

fn without_exact(line: &str) -> String {
    let columns: Vec<&str> = line.split('\t').collect();
    let key = columns.len() - 13;
    [&columns[..key + 6], &columns[key + 9..]].concat().join("\t")
}

#[test]
fn aggregates_by_columns() {
    for cities in [1, 400] {
        let table = rows(6000, cities);
        let mut groups: BTreeMap<(&str, bool), Vec<&Row>> = BTreeMap::new();
        table.iter().for_each(|row| groups.entry((&row.city, row.n > 0)).or_default().push(row));
        let line = |((city, is_positive), rows): (&(&str, bool), &Vec<&Row>)| {
            format!("{}\t{}\t{}", escaped(city), if *is_positive { 1 } else { 0 }, expected(rows))
        };
        let expect: Vec<String> = groups.iter().map(line).collect();
        let dir = Dir::new();
        // Grouping by an expression needs a column of it.
        let flags: Vec<i64> = table.iter().map(|row| i64::from(row.n > 0)).collect();
        let text = csv(&table);
        let mut lines = text.lines();
        let mut flagged = format!("{},flag\n", lines.next().unwrap());
        lines.zip(flags).for_each(|(line, flag)| flagged += &format!("{line},{flag}\n"));
        dir.write("table.csv", flagged.as_bytes());
        let types = ["--type", "amount=Decimal128(20, 3)"];
        let all = [&["aggregate", "table.csv", "--by", "city,flag", "--agg", AGGREGATES][..], &types].concat();
        assert_eq!(gives(&dir, &all), expect, "{cities} cities");
        let states = [&["aggregate", "table.csv", "--by", "city,flag", "--agg", STATES][..], &types].concat();
        let expect: Vec<String> = expect.iter().map(|line| without_exact(line)).collect();
        assert_eq!(gives(&dir, &states), expect, "{cities} cities");
    }
}

#[test]
fn aggregates_of_all_rows() {
    let table = rows(3000, 3);
    let dir = Dir::new();
    dir.write("table.jsonl", json(&table).as_bytes());
    let types = ["--type", "amount=Decimal128(20, 3)"];
    let list = AGGREGATES.replace("name)", "place.name)");
    let job = [&["aggregate", "table.jsonl", "--agg", &list][..], &types].concat();
    assert_eq!(gives(&dir, &job), [expected(&table.iter().collect::<Vec<_>>())]);
    // Without a row there is still one line.
    let none = [&job[..], &["--where", "n > 1000"]].concat();
    assert_eq!(gives(&dir, &none), ["0\t0\t\t\t\t\t0\t\t\t\t\t\t"]);
    let by =
        [&["aggregate", "table.jsonl", "--by", "place.city", "--agg", "count", "--where", "n > 1000"][..]].concat();
    assert_eq!(gives(&dir, &by), [""; 0]);
}

/// Sums of floats are the same in any order.
#[test]
fn sums_of_floats_are_exact() {
    let dir = Dir::new();
    let mut text = String::from("k,x\n");
    let mut total = 0i64;
    for i in 0..20_000i64 {
        let (k, x) = (i % 7, (i * 7919) % 100_003 - 50_000);
        total += x;
        // Large ones cancel.
        let large = if i % 2 == 0 { "1e30" } else { "-1e30" };
        text += &format!("{k},{:?}\n{k},{large}\n", x as f64 / 8.0);
    }
    dir.write("x.csv", text.as_bytes());
    let types = ["--type", "x=Float64"];
    let job = [&["aggregate", "x.csv", "--agg", "sum(x)"][..], &types].concat();
    assert_eq!(gives(&dir, &job), [format!("{:?}", total as f64 / 8.0)]);
}

#[test]
fn selects_and_filters_rows() {
    let table = rows(4000, 2);
    let dir = Dir::new();
    dir.write("table.csv", csv(&table).as_bytes());
    let kept = |row: &&Row| row.amount.is_some_and(|amount| amount > 1_000_500) && row.city.contains("Köln");
    let plain = |row: &Row| {
        format!("{}\t{}\t{}\t{}", escaped(&row.city), row.amount.map_or(String::new(), decimal), row.n, row.name)
    };
    // Texts are passed on as they are: the zeros at the end of a number too.
    let kept_rows: Vec<&Row> = table.iter().filter(kept).collect();
    assert!(kept_rows.len() > 100 && kept_rows.iter().any(|row| row.amount.unwrap() % 10 == 0));
    let condition = "amount > 1000.5 and city like '%Köln%'";
    let found = gives(&dir, &["filter", "table.csv", "--where", condition]);
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    // A key of one column is not escaped.
    let raw = |row: &Row| plain(row).replacen(&escaped(&row.city), &row.city, 1);
    assert_eq!(sorted(found), sorted(kept_rows.into_iter().map(raw).collect()));
    let columns = "n, n * 2 as twice, upper(name) as who, amount is null as gone";
    let found = gives(&dir, &["select", "table.csv", "--columns", columns, "--output-format", "csv"]);
    let rows =
        table.iter().map(|row| format!("{},{},{},{}", row.n, row.n * 2, row.name.to_uppercase(), row.amount.is_none()));
    let expect: Vec<String> = std::iter::once("n,twice,who,gone".to_string()).chain(rows).collect();
    assert_eq!(found, expect);
    assert_eq!(
        gives(&dir, &["select", "table.csv", "--columns", "n"]),
        table.iter().map(|row| row.n.to_string()).collect::<Vec<_>>()
    );
}

#[test]
fn wrong_requests_have_one_line() {
    let dir = Dir::new();
    dir.write("table.csv", b"city,amount\nParis,1\nRome,2\n");
    dir.write("late.csv", ("city,amount\n".to_string() + &"Paris,1\n".repeat(20_000) + "Rome,soon\n").as_bytes());
    for (job, code, expect) in [
        (&["aggregate", "table.csv", "--by", "city"][..], 2, "no aggregate is named"),
        (&["aggregate", "table.csv", "--agg", "sum(city)"], 2, "sum needs numbers"),
        (&["aggregate", "table.csv", "--agg", "sum(price)"], 2, "there is no column price: the input has city, amount"),
        (&["aggregate", "table.csv", "--agg", "frob(amount)"], 2, "there is no aggregate frob"),
        (&["aggregate", "table.csv", "--agg", "sum(amount"], 2, "expected ')' at character 11"),
        (&["aggregate", "table.csv", "--agg", "quantile(amount, 2)"], 2, "must be a number from 0 to 1"),
        (&["aggregate", "table.csv", "--agg", "count", "--by", "town"], 2, "there is no column town"),
        (&["aggregate", "table.csv", "--agg", "count", "--where", "amount"], 2, "need true or false"),
        (&["aggregate", "table.csv", "--agg", "count", "--type", "amount=Number"], 2, "is not the type of a column"),
        (&["aggregate", "none.csv", "--agg", "count"], 3, "none.csv"),
        (&["aggregate", "-", "--input-format", "csv", "--agg", "sum(amount)"], 2, "standard input cannot be sampled"),
        (&["filter", "table.csv", "--where", "city > 3"], 2, "cannot be compared"),
        (&["select", "table.csv", "--columns", "amount,"], 2, "expected a value"),
        (&["aggregate", "late.csv", "--agg", "sum(amount)"], 4, "the column amount is 'soon', which is no Int64"),
    ] {
        let output = dir.command("run").args(job).args(["-o", "-", "-q"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{job:?}: {text}");
        assert!(text.contains(expect) && text.trim_end().lines().count() == 1, "{job:?}: {text}");
    }
    let skipped = ["aggregate", "late.csv", "--agg", "count, sum(amount)", "-D", "skip.bad.records=true"];
    assert_eq!(gives(&dir, &skipped), ["20000\t20000"]);
    let typed = ["aggregate", "late.csv", "--agg", "count, max(amount)", "--type", "amount=Utf8"];
    assert_eq!(gives(&dir, &typed), ["20001\tsoon"]);
}

#[test]
fn without_an_output_the_rows_are_a_table_with_names() {
    let dir = Dir::new();
    dir.write("t.csv", "city,amount,note\nParis,1,\nRome,12,\nRome,3,a\\b\n\"a\tb\",7,\n".as_bytes());
    let table = |words: &str| -> Vec<String> {
        let text = dir.ok(words);
        let lines = text.lines().take_while(|line| !line.is_empty());
        lines.map(str::to_string).collect()
    };
    for (words, expect) in [
        (
            "aggregate t.csv --by city --agg sum(amount),count",
            &[
                "  city   sum(amount)  count",
                "  Paris            1      1",
                "  Rome            15      2",
                "  a\\tb             7      1",
            ][..],
        ),
        (
            "aggregate t.csv --by city,note --agg count --top 2",
            &[
                "  city   note  count",
                "  Paris            1",
                "  Rome             1",
                "  the first 2 of 4 rows; --top N prints more, --output DIR writes all",
            ],
        ),
        ("aggregate t.csv --agg max(amount)", &["  max(amount)", "           12"]),
        ("filter t.csv --where amount=3", &["  city  amount  note", "  Rome       3  a\\b"]),
        // A column without a value stays.
        ("select t.csv --columns note,city --where amount<2", &["  note  city", "        Paris"]),
        ("select t.csv --columns city --where amount>99", &["  city", "  no rows"]),
    ] {
        assert_eq!(table(&format!("run {words}")), expect, "{words}");
    }
    let rows = dir.json("run aggregate t.csv --by city --agg count --json")["rows"].take();
    let expect = serde_json::json!([
        { "city": "Paris", "count": "1" }, { "city": "Rome", "count": "2" }, { "city": "a\\tb", "count": "1" }
    ]);
    assert_eq!(rows, expect);
}
