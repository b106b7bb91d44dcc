//! Applications: ready jobs by name, from which `yunti run NAME` starts.

use super::{InputFormat, JobSpec, Mode, OutputFormat, Partitioning};
use crate::library::applications::join;

/// A ready job.
pub struct Application {
    pub name: &'static str,
    pub summary: &'static str,
    pub spec: fn() -> JobSpec,
    /// Settings that the job reads: key, and meaning with default.
    pub settings: &'static [(&'static str, &'static str)],
}

/// Returns the application of a name.
pub fn application(name: &str) -> Option<&'static Application> {
    applications().iter().find(|a| a.name == name)
}

/// Returns the names of all applications, for messages.
pub fn application_names() -> String {
    applications().iter().map(|a| a.name).collect::<Vec<_>>().join(", ")
}

/// Returns all applications.
pub fn applications() -> &'static [Application] {
    &[
        Application {
            name: "wordcount",
            summary: "count words, cut at space, tab, LF, CR and form feed",
            spec: || JobSpec {
                name: "wordcount".into(),
                mapper: Some("Yunti.WordCountMapper".into()),
                folder: Some("Yunti.SumFolder".into()),
                ..JobSpec::default()
            },
            settings: &[],
        },
        Application {
            name: "sort",
            summary: "sort lines by their bytes, like LC_ALL=C sort",
            spec: || JobSpec {
                name: "sort".into(),
                input_format: InputFormat::Text { delimiter: Some(b"\n".to_vec()) },
                partitioning: Partitioning::TotalOrder,
                ..JobSpec::default()
            },
            settings: &[],
        },
        Application {
            name: "terasort",
            summary: "sort records of 100 bytes by their first 10, in total order over all parts",
            spec: || JobSpec {
                name: "terasort".into(),
                input_format: InputFormat::Fixed { record_bytes: 100, key_bytes: 10 },
                output_format: OutputFormat::Raw,
                partitioning: Partitioning::TotalOrder,
                ..JobSpec::default()
            },
            settings: &[],
        },
        Application {
            name: "identity",
            summary: "copy lines as they are, without a reduce",
            spec: || JobSpec { name: "identity".into(), mode: Mode::None, ..JobSpec::default() },
            settings: &[],
        },
        Application {
            name: "grep",
            summary: "print the lines that match a regular expression",
            spec: || JobSpec {
                name: "grep".into(),
                mapper: Some("Yunti.GrepMapper".into()),
                mode: Mode::None,
                ..JobSpec::default()
            },
            settings: &[
                ("grep.pattern", "the expression (syntax: docs.rs/regex)"),
                ("grep.ignore-case", "ignore case [default: false]"),
                ("grep.invert", "print the lines that do not match [default: false]"),
            ],
        },
        Application {
            name: "count-matches",
            summary: "count the matches of a regular expression",
            spec: || JobSpec {
                name: "count-matches".into(),
                mapper: Some("Yunti.MatchMapper".into()),
                folder: Some("Yunti.SumFolder".into()),
                ..JobSpec::default()
            },
            settings: &[
                ("grep.pattern", "the expression (syntax: docs.rs/regex)"),
                ("grep.ignore-case", "ignore case [default: false]"),
                ("grep.group", "the group of the match that is counted; 0: all of it [default: 0]"),
            ],
        },
        Application {
            name: "count-column",
            summary: "count the values of a column",
            spec: || JobSpec {
                name: "count-column".into(),
                mapper: Some("Yunti.CountColumnMapper".into()),
                folder: Some("Yunti.SumFolder".into()),
                ..JobSpec::default()
            },
            settings: &COLUMN,
        },
        Application {
            name: "distinct",
            summary: "keep each line once, in byte order, like LC_ALL=C sort -u; of tables each row (--key-columns)",
            spec: || JobSpec {
                name: "distinct".into(),
                folder: Some("Yunti.DistinctLinesFolder".into()),
                ..JobSpec::default()
            },
            settings: &[],
        },
        Application {
            name: "aggregate",
            summary: "count, sum, min, max, mean and more of columns, by other columns (--by, --agg)",
            spec: || JobSpec {
                name: "aggregate".into(),
                mapper: Some("Yunti.ColumnsAggregateMapper".into()),
                reducer: Some("Yunti.ColumnsAggregateReducer".into()),
                ..JobSpec::default()
            },
            settings: &[],
        },
        Application {
            name: "select",
            summary: "write columns and expressions of the rows that meet a condition (--columns, --where)",
            spec: || JobSpec {
                name: "select".into(),
                mapper: Some("Yunti.SelectMapper".into()),
                mode: Mode::None,
                ..JobSpec::default()
            },
            settings: &[],
        },
        Application {
            name: "filter",
            summary: "write all columns of the rows that meet a condition (--where)",
            spec: || JobSpec {
                name: "filter".into(),
                mapper: Some("Yunti.SelectMapper".into()),
                mode: Mode::None,
                ..JobSpec::default()
            },
            settings: &[],
        },
        Application {
            name: "top",
            summary: "find the lines with the largest numbers in a column, or rows of a table (--key-columns)",
            spec: || JobSpec {
                name: "top".into(),
                mapper: Some("Yunti.TopMapper".into()),
                reducer: Some("Yunti.FirstReducer".into()),
                descending: true,
                ..JobSpec::default()
            },
            settings: &[
                ("top.k", "number of lines [default: 10]"),
                ("top.smallest", "the smallest numbers instead [default: false]"),
                COLUMN[0],
                COLUMN[1],
            ],
        },
        Application {
            name: "sample",
            summary: "take a random sample of the lines or rows, the same for any number of threads",
            spec: || JobSpec {
                name: "sample".into(),
                mapper: Some("Yunti.SampleMapper".into()),
                mode: Mode::None,
                ..JobSpec::default()
            },
            settings: &[
                ("sample.fraction", "the probability, from 0 to 1 [default: 0.01]"),
                ("sample.seed", "seed: another number gives another sample [default: 1]"),
            ],
        },
        Application {
            name: "word-lengths",
            summary: "count words by their length in bytes",
            spec: || JobSpec {
                name: "word-lengths".into(),
                mapper: Some("Yunti.WordLengthMapper".into()),
                folder: Some("Yunti.SumFolder".into()),
                ..JobSpec::default()
            },
            settings: &[],
        },
        Application {
            name: "inverted-index",
            summary: "list the files in which each word occurs",
            spec: || JobSpec {
                name: "inverted-index".into(),
                mapper: Some("Yunti.InvertedIndexMapper".into()),
                combiner: Some("Yunti.DistinctValuesReducer".into()),
                reducer: Some("Yunti.JoinedValuesReducer".into()),
                ..JobSpec::default()
            },
            settings: &[],
        },
        Application {
            name: "join",
            summary: "join lines of two inputs by a column, or tables by columns (--key-columns), sorting both",
            spec: || JobSpec {
                name: "join".into(),
                mapper: Some("Yunti.JoinMapper".into()),
                reducer: Some(join::REDUCERS[0].into()),
                ..JobSpec::default()
            },
            settings: &[
                ("join.left", "the file or directory of the left lines, as it is named as an input"),
                JOIN[0],
                JOIN[1],
                JOIN[2],
                COLUMN[1],
            ],
        },
        Application {
            name: "hash-join",
            summary: "join lines or tables with the right side in memory, from a side file",
            spec: || JobSpec {
                name: "hash-join".into(),
                mapper: Some(join::LOOKUPS[0].into()),
                mode: Mode::None,
                ..JobSpec::default()
            },
            settings: &[
                (join::SMALL, "the name of the side file, or of a table"),
                (join::SERVERS, "a table of servers with the rows of the side file"),
                (join::BY, "memory, lookup (at the servers), sort, or auto: the cheapest [default: auto]"),
                JOIN[0],
                JOIN[1],
                JOIN[2],
                COLUMN[1],
            ],
        },
        Application {
            name: "kmeans",
            summary: "run a step of k-means over lines of numbers",
            spec: || JobSpec {
                name: "kmeans".into(),
                mapper: Some("Yunti.KMeansMapper".into()),
                reducer: Some("Yunti.KMeansReducer".into()),
                ..JobSpec::default()
            },
            settings: &[("kmeans.centers", "the name of the side file with the centers")],
        },
        Application {
            name: "pagerank",
            summary: "run a step of PageRank over lines of node, rank and links",
            spec: || JobSpec {
                name: "pagerank".into(),
                mapper: Some("Yunti.PageRankMapper".into()),
                combiner: Some("Yunti.PageRankCombiner".into()),
                reducer: Some("Yunti.PageRankReducer".into()),
                ..JobSpec::default()
            },
            settings: &[
                ("pagerank.damping", "the share of a rank that follows links [default: 0.85]"),
                ("pagerank.nodes", "number of nodes, for ranks that add up to 1 [default: 1]"),
            ],
        },
    ]
}

/// Settings of both joins.
const JOIN: [(&str, &str); 3] = [
    ("join.left.column", "the column of the left lines, from 1 [default: 1]"),
    ("join.right.column", "the column of the right lines, from 1 [default: 1]"),
    (
        "join.kind",
        "inner, left, right, full, semi or anti, as in SQL; a hash join has no right and full [default: inner]",
    ),
];

/// Settings of applications that read a column.
const COLUMN: [(&str, &str); 2] = [
    ("column", "number of the column, from 1 [default: 1]"),
    ("separator", "the byte between columns; \\t and \\xNN are known [default: \\t]"),
];
