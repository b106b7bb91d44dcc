//! Cuts of small plans: stages, and what runs where.

use std::path::Path;
use std::sync::Arc;

use arrow_schema::DataType;
use yunti_engine::columns::vector::{Value, Vector};
use yunti_sql_plan::{
    Aggregate, AggregateFunction, Bounds, Comparison, Expression, Field, Found, Join, JoinKind, Morsel, MorselReader,
    Node, Operation, PartColumn, Scan, SortKey, Statistics, Table, TableIndex, TablePart, TablePlace, TableSource,
};

use super::rows::placed;
use super::*;

/// Bytes of a file: its name is a letter and a number.
fn size(path: &Path) -> Result<u64> {
    Ok(path.to_string_lossy()[1..].parse().unwrap_or(0))
}

fn scan(name: &str) -> Node {
    let field = |name: &str| Field { name: name.into(), data_type: DataType::Int64, nullable: true };
    let place = TablePlace::Files { format: "parquet".into(), paths: vec![name.into()] };
    let table = placed(name.into(), vec![field("k"), field("v")], Some(9), place);
    Node::Scan(Scan { table, columns: vec![0, 1], conditions: Vec::new(), limit: None })
}

fn column(n: usize) -> Expression {
    Expression::column(n, DataType::Int64)
}

fn join(kind: JoinKind, left: Node, right: Node) -> Node {
    Node::Join(Join {
        left: Box::new(left),
        right: Box::new(right),
        kind,
        keys: vec![(column(0), column(0))],
        nulls_equal: false,
        condition: None,
        build_left: true,
    })
}

fn sum(input: Node, key: usize, of: usize) -> Node {
    let function = AggregateFunction::Sum;
    let sum = Aggregate {
        function,
        argument: Some(column(of)),
        distinct: false,
        condition: None,
        data_type: DataType::Int64,
        foreign: None,
    };
    Node::Aggregate { input: Box::new(input), keys: vec![column(key)], sets: Vec::new(), aggregates: vec![sum] }
}

fn sort(input: Node, limit: Option<usize>) -> Node {
    let key = SortKey { value: column(0), descending: false, nulls_first: false };
    Node::Sort { input: Box::new(input), keys: vec![key], limit }
}

/// Returns for each job: its drives, its reduces, the tops of its plans, and the shipped files.
fn shape(plan: &Node, reduces: u32) -> Vec<String> {
    let choices = Choices { small_bytes: 10, reduce_bytes: 100, reduces: Some(reduces), part_bytes: 40 };
    let jobs = cut(plan, &choices, &size).unwrap();
    for job in &jobs {
        // Each stage travels.
        let bytes = job.stage.to_bytes().unwrap();
        let mut open = |of: yunti_sql_plan::wire::TableName| Ok(placed(of.name, of.fields, of.rows, of.place));
        Stage::of_bytes(&bytes, &mut open).unwrap();
    }
    let of = |job: &Job| {
        let drives: Vec<String> = job.drives.iter().map(|drive| format!("{drive:?}")).collect();
        let keys: Vec<String> = job
            .stage
            .fragments
            .iter()
            .map(|of| of.route.as_ref().map_or("-".into(), |route| format!("{}/{}", route.input, route.keys.len())))
            .collect();
        format!("{} > {} > {}", drives.join(" "), keys.join(" "), job.reduces)
    };
    jobs.iter().map(of).collect()
}

#[test]
fn plans_become_stages() {
    let files = |name: &str| format!("Files([\"{name}\"])");
    for (plan, reduces, expect) in [
        // Rows alone need no reduce.
        (scan("a100"), 1, vec![format!("{} > - > 0", files("a100"))]),
        (scan("a5"), 1, vec!["Once > - > 0".into()]),
        (sum(scan("a100"), 0, 1), 1, vec![format!("{} > 0/0 > 1", files("a100"))]),
        (sum(scan("a100"), 0, 1), 3, vec![format!("{} > 0/1 > 3", files("a100"))]),
        // A sort behind a divided aggregation is a stage of its own, but for one reduce.
        (sort(sum(scan("a100"), 0, 1), Some(5)), 1, vec![format!("{} > 0/0 > 1", files("a100"))]),
        (
            sort(sum(scan("a100"), 0, 1), Some(5)),
            3,
            vec![format!("{} > 0/1 > 3", files("a100")), "Stage(0) > 0/0 > 1".into()],
        ),
        // A small side goes everywhere, unless its own rows are in the result.
        (join(JoinKind::Inner, scan("a100"), scan("b5")), 2, vec![format!("{} > - > 0", files("a100"))]),
        (join(JoinKind::Left, scan("a100"), scan("b5")), 2, vec![format!("{} > - > 0", files("a100"))]),
        (join(JoinKind::Right, scan("a100"), scan("b5")), 2, vec![format!("{} Once > 0/1 1/1 > 2", files("a100"))]),
        (
            join(JoinKind::Full, scan("a100"), scan("b5")),
            1,
            // The table of the left side comes first; the small side is made in the reduce task.
            vec![format!("{} > 0/0 > 1", files("a100"))],
        ),
        // Large sides meet by their keys; an aggregation by the same keys needs no other exchange.
        (
            sum(join(JoinKind::Inner, scan("a100"), scan("b100")), 0, 1),
            2,
            vec![format!("{} {} > 0/1 1/1 > 2", files("a100"), files("b100"))],
        ),
        (
            sum(join(JoinKind::Inner, scan("a100"), scan("b100")), 1, 1),
            2,
            vec![format!("{} {} > 0/1 1/1 > 2", files("a100"), files("b100")), "Stage(0) > 0/1 > 2".into()],
        ),
        // The key of either side will do.
        (
            sum(join(JoinKind::Inner, scan("a100"), scan("b100")), 2, 1),
            2,
            vec![format!("{} {} > 0/1 1/1 > 2", files("a100"), files("b100"))],
        ),
        (
            join(JoinKind::Left, sum(scan("a100"), 0, 1), scan("b100")),
            2,
            vec![format!("{} {} > 0/1 1/1 > 2", files("a100"), files("b100"))],
        ),
        (
            Node::Union { inputs: vec![scan("a100"), sum(scan("b100"), 0, 1)] },
            2,
            vec![format!("{} > 0/1 > 2", files("b100")), format!("{} Stage(0) > - - > 0", files("a100"))],
        ),
    ] {
        assert_eq!(shape(&plan, reduces), expect, "{plan}{reduces}");
    }
}

#[test]
fn small_tables_travel_once_by_name() {
    let twice = join(JoinKind::Inner, join(JoinKind::Inner, scan("a100"), scan("b5")), scan("b5"));
    let jobs = cut(&twice, &Choices { small_bytes: 10, ..Choices::default() }, &size).unwrap();
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].shipped, [(PathBuf::from("b5"), "yunti-table-0".to_string())]);
}

#[test]
fn reduces_follow_from_the_tables() {
    let reduces = |name: &str| {
        let choices = Choices { small_bytes: 0, reduce_bytes: 100, ..Choices::default() };
        cut(&sum(scan(name), 0, 1), &choices, &size).unwrap()[0].reduces
    };
    assert_eq!([reduces("a50"), reduces("a250"), reduces("a99999999")], [1, 3, 64]);
}

/// A table of two parts, whose second column is a value.
#[derive(Debug)]
struct TwoParts;

impl TableSource for TwoParts {
    fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
        Ok(Vec::new())
    }

    fn open(&self, _: &Morsel, _: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        Err(Error::new(Code::Internal, "no morsel"))
    }

    fn parts(&self) -> Option<Vec<TablePart>> {
        let part = |(name, day): (&str, i64)| {
            let Node::Scan(Scan { table, .. }) = scan(name) else { unreachable!() };
            TablePart { table, columns: vec![PartColumn::Own(1), PartColumn::Value(Value::Int(day))] }
        };
        Some([("a5", 1), ("b6", 2)].map(part).to_vec())
    }
}

#[test]
fn a_table_of_parts_is_split_by_its_parts() {
    let field = |name: &str| Field { name: name.into(), data_type: DataType::Int64, nullable: true };
    let (fields, statistics) = (vec![field("v"), field("day")], Statistics::default());
    let table = Arc::new(Table { name: "t".into(), fields, statistics, source: Arc::new(TwoParts) });
    let equal = Operation::Compare(Comparison::Less, Box::new([column(1), column(0)]));
    let conditions = vec![Expression::new(DataType::Boolean, equal)];
    let plan = sum(Node::Scan(Scan { table, columns: vec![1, 0], conditions, limit: None }), 0, 1);
    // Each part is smaller than a small table, but not both together.
    let choices = Choices { small_bytes: 10, reduce_bytes: 100, reduces: Some(1), part_bytes: 40 };
    let jobs = cut(&plan, &choices, &size).unwrap();
    assert_eq!(jobs.len(), 1);
    let drives: Vec<Drive> = ["a5", "b6"].map(|name| Drive::Files(vec![name.into()])).to_vec();
    assert_eq!((&jobs[0].drives, jobs[0].shipped.len()), (&drives, 0));
    for (fragment, day) in jobs[0].stage.fragments.iter().zip([1, 2]) {
        assert_eq!(fragment.input.fields, [field("v")]);
        let text = fragment.plan.to_string();
        assert!(text.contains(&format!("({day} < #0)")) && text.contains(&format!("project {day}, #0")), "{text}");
    }
    let choices = Choices { small_bytes: 11, ..choices };
    let jobs = cut(&plan, &choices, &size).unwrap();
    assert_eq!((&jobs[0].drives[..], jobs[0].shipped.len()), (&[Drive::Once][..], 2));
}

/// A shared table with the key `k`.
#[derive(Debug)]
struct Indexed(&'static str);

impl TableSource for Indexed {
    fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
        Ok(Vec::new())
    }

    fn open(&self, _: &Morsel, _: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        Err(Error::new(Code::Internal, "no morsel"))
    }

    fn index(&self) -> Option<Arc<dyn TableIndex>> {
        Some(Arc::new(Indexed(self.0)))
    }

    fn place(&self) -> Option<TablePlace> {
        Some(TablePlace::Files { format: "ytab".into(), paths: vec![self.0.into()] })
    }
}

impl TableIndex for Indexed {
    fn key(&self) -> &[usize] {
        &[0]
    }

    fn look_up(&self, _: &[Arc<Vector>], _: &[usize], _: &mut dyn FnMut(Found) -> Result<()>) -> Result<()> {
        Err(Error::new(Code::Internal, "no row"))
    }

    fn rows_of(&self, _: &[Vec<Value>]) -> Arc<dyn TableSource> {
        Arc::new(Indexed(self.0))
    }
}

#[test]
fn shared_tables_are_looked_up_in_each_task_and_scanned_in_parts() {
    let shared = |name: &'static str| {
        let Node::Scan(of) = scan(name) else { unreachable!() };
        let table = Table { source: Arc::new(Indexed(name)), ..(*of.table).clone() };
        Node::Scan(Scan { table: Arc::new(table), ..of })
    };
    let by_key = |name| {
        let Node::Scan(of) = shared(name) else { unreachable!() };
        let seven = Expression::new(DataType::Int64, Operation::Literal(Value::Int(7)));
        let equal = Operation::Compare(Comparison::Equal, Box::new([column(0), seven]));
        Node::Scan(Scan { conditions: vec![Expression::new(DataType::Boolean, equal)], ..of })
    };
    let files = |name: &str| format!("Files([\"{name}\"])");
    for (plan, expect) in [
        // 100 bytes are three parts of 40; each part is a fragment of its own.
        (shared("u100"), "Once Once Once > - - - > 0".to_string()),
        (sum(shared("u100"), 1, 0), "Once Once Once > 0/1 0/1 0/1 > 2".into()),
        (by_key("u100"), "Once > - > 0".into()),
        // The other side drives, whichever it is, and however large the table is.
        (join(JoinKind::Inner, scan("a100"), shared("u1000")), format!("{} > - > 0", files("a100"))),
        (join(JoinKind::Inner, shared("u1000"), scan("a100")), format!("{} > - > 0", files("a100"))),
        (join(JoinKind::LeftAnti, scan("a100"), shared("u1000")), format!("{} > - > 0", files("a100"))),
        (join(JoinKind::Inner, scan("a5"), shared("u1000")), "Once > - > 0".into()),
        (join(JoinKind::Inner, shared("u100"), shared("v90")), "Once Once Once > - - - > 0".into()),
        // A full join needs the table's own rows, by their keys.
        (join(JoinKind::Full, scan("a100"), shared("u50")), format!("{} Once Once > 0/1 1/1 1/1 > 2", files("a100"))),
    ] {
        assert_eq!(shape(&plan, 2), [expect], "{plan}");
    }
    let jobs = cut(&shared("u100"), &Choices { small_bytes: 10, part_bytes: 40, ..Choices::default() }, &size).unwrap();
    let texts: Vec<String> = jobs[0].stage.fragments.iter().map(|of| of.plan.to_string()).collect();
    assert!(texts.iter().enumerate().all(|(n, of)| of.contains(&format!(", part {} of 3", n + 1))), "{texts:?}");
    assert_eq!(jobs[0].shipped, [(PathBuf::from("u100"), "yunti-table-0".to_string())]);
    // What is looked up does not count for the reduces.
    let plan = sum(join(JoinKind::Inner, scan("a150"), shared("u1000")), 1, 1);
    let choices = Choices { small_bytes: 10, reduce_bytes: 100, ..Choices::default() };
    assert_eq!(cut(&plan, &choices, &size).unwrap()[0].reduces, 2);
}
