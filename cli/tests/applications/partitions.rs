//! `yunti convert --partition-by`: directories by values, their names, and requests that do not fit. And what `convert`
//! writes for a table without rows.

use crate::support::Dir;

fn sales() -> Dir {
    let dir = Dir::new();
    let rows = "city,item,day\nRome,tea,2026-11-24\n,\"r,ice\",2026-11-24\na/b=c%:,tea,\nRome,rice,2026-11-24\n";
    dir.write("sales.csv", rows.as_bytes());
    dir
}

/// Returns the files of an output that hold rows, with their text.
fn files(dir: &Dir, out: &str) -> Vec<(String, String)> {
    let below = format!("{out}/");
    let names = dir.names().into_iter().filter(|name| name.starts_with(&below) && name.contains("part-"));
    names.map(|name| (name[below.len()..].to_string(), String::from_utf8(dir.read(&name)).unwrap())).collect()
}

fn pairs(expect: &[(&str, &str)]) -> Vec<(String, String)> {
    expect.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect()
}

#[test]
fn values_are_directories_as_in_hive() {
    let dir = sales();
    dir.ok("convert sales.csv out --output-format csv --partition-by day,city -q");
    let (none, day) = ("__HIVE_DEFAULT_PARTITION__", "day=2026-11-24");
    let expect = [
        (format!("{day}/city=Rome/part-r-00000"), "item\ntea\nrice\n".to_string()),
        (format!("{day}/city={none}/part-r-00000"), "item\n\"r,ice\"\n".to_string()),
        (format!("day={none}/city=a%2Fb%3Dc%25%3A/part-r-00000"), "item\ntea\n".to_string()),
    ];
    assert_eq!(files(&dir, "out"), expect);
    assert!(dir.names().contains(&"out/_SUCCESS".to_string()));
    // The same with other threads, and in place of the first.
    dir.fails("convert sales.csv out --output-format csv --partition-by day", 8, "out");
    dir.ok(
        "convert sales.csv out --output-format csv --partition-by day,city -q --overwrite --threads 1 --memory 64MiB",
    );
    assert_eq!(files(&dir, "out"), expect);
    dir.ok("convert sales.csv json --output-format json --partition-by city --columns city,item -q");
    let json = [
        ("city=Rome/part-r-00000", "{\"item\":\"tea\"}\n{\"item\":\"rice\"}\n"),
        ("city=__HIVE_DEFAULT_PARTITION__/part-r-00000", "{\"item\":\"r,ice\"}\n"),
        ("city=a%2Fb%3Dc%25%3A/part-r-00000", "{\"item\":\"tea\"}\n"),
    ];
    assert_eq!(files(&dir, "json"), pairs(&json));
    dir.write("rows.json", b"{\"a\":{\"b\":1},\"c\":\"x\"}\n{\"a\":{},\"c\":\"y\"}\n");
    dir.ok("convert rows.json members --output-format csv --columns a.b,c --partition-by a.b -q");
    let members = [("a.b=1/part-r-00000", "c\nx\n"), ("a.b=__HIVE_DEFAULT_PARTITION__/part-r-00000", "c\ny\n")];
    assert_eq!(files(&dir, "members"), pairs(&members));
}

#[test]
fn wrong_columns_are_one_line() {
    let dir = sales();
    for (words, expect) in [
        (
            "out --partition-by town",
            "there is no column town to partition by: the columns of the output are city, item",
        ),
        ("out --partition-by day --columns city,item", "there is no column day to partition by"),
        ("out --partition-by day,city,day", "names the column day twice"),
        ("out --partition-by day,city,item", "all columns are named in --partition-by"),
        ("- --partition-by day", "not standard output"),
    ] {
        dir.fails(&format!("convert sales.csv {words} --output-format csv"), 2, expect);
    }
    // A directory's name has 255 bytes at most; nothing of the output remains.
    dir.write("long.csv", format!("a,b\n1,2\n{},3\n", "x".repeat(300)).as_bytes());
    dir.fails("convert long.csv out --output-format csv --partition-by a", 5, "cannot make the directory");
}

#[test]
fn a_table_without_rows_keeps_its_columns() {
    let dir = Dir::new();
    dir.write("empty.csv", b"city,item\n");
    dir.ok("convert empty.csv out --output-format csv -q");
    assert_eq!(files(&dir, "out"), pairs(&[("part-m-00000", "city,item\n")]));
    assert_eq!(dir.ok("convert empty.csv - --output-format csv -q"), "city,item\n");
    dir.ok("convert empty.csv parts --output-format csv --partition-by city -q");
    assert_eq!(files(&dir, "parts"), []);
    assert!(dir.names().contains(&"parts/_SUCCESS".to_string()));
}

#[test]
fn an_empty_file_is_a_table_without_rows() {
    let dir = sales();
    std::fs::create_dir(dir.path("table")).unwrap();
    dir.write("table/a.csv", b"");
    dir.write("table/b.csv", &dir.read("sales.csv"));
    dir.ok("convert table out --output-format csv --columns item -q");
    let texts: Vec<String> = files(&dir, "out").into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts.concat(), "item\ntea\n\"r,ice\"\ntea\nrice\n");
    dir.write("none.csv", b"");
    dir.fails("convert none.csv o --output-format csv", 3, "the CSV data has no header");
}
