//! One job of a random chain: its random specification, and its result by simple loops.

use yunti_engine::env::random::Random as Numbers;
use yunti_engine::job::{JobSpec, Mode, Partitioning};
use yunti_engine::operator::Type;

use crate::classes::aside::is_aside;
use crate::job::Limits;
use crate::plain;
use crate::shapes::{Record, chance, magnitude, pick};

/// Order in which the output of a job is deterministic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Part by part.
    Parts,
    /// All parts, concatenated.
    Joined,
    /// Any order within a part.
    AnyInParts,
    /// Any order, in any part.
    Any,
}

/// Input or output of a job.
#[derive(Clone)]
pub struct Dataset {
    pub parts: Vec<Vec<Record>>,
    pub order: Order,
    pub key_type: Type,
    pub value_type: Type,
}

/// Chooses a job for these records and computes its output. The records that the reducer puts aside are returned
/// separately.
pub fn work(
    spec: &mut JobSpec,
    input: Dataset,
    may_put_aside: bool,
    limits: &Limits,
    random: &mut Numbers,
) -> (Dataset, Vec<Record>) {
    let (key_type, mut value_type) = (input.key_type, input.value_type);
    let mut records = input.parts.concat();
    let mut aside = None;
    spec.mode = pick(random, &[Mode::Sorted, Mode::Sorted, Mode::Grouped, Mode::None]);
    if value_type == Type::I64 && key_type == Type::Bytes && spec.mode != Mode::None && chance(random, 90) {
        records = fold(spec, &records, random);
        value_type = Type::I64;
    } else if may_put_aside && spec.mode != Mode::None && (key_type, value_type) == (Type::Bytes, Type::Bytes) {
        spec.reducer = Some("Test.AsideReducer".into());
        aside = Some(Vec::new());
    }
    spec.descending = chance(random, 20);
    spec.deterministic = chance(random, 20);
    spec.reduces = if spec.mode == Mode::None { 1 } else { (1 + magnitude(random, 12) as u32).min(limits.reduces) };
    spec.partitioning = match random.below(4) {
        0 if spec.mode == Mode::Sorted => Partitioning::TotalOrder,
        1 if key_type == Type::Bytes => Partitioning::Class("Test.FirstByte".into()),
        _ => Partitioning::Hash,
    };
    let any = matches!(input.order, Order::AnyInParts | Order::Any);
    let order = match (spec.mode, &spec.partitioning) {
        (Mode::Grouped, _) => Order::AnyInParts,
        (Mode::None, _) | (_, Partitioning::TotalOrder) if any => Order::Any,
        (Mode::None, _) | (_, Partitioning::TotalOrder) => Order::Joined,
        _ if any => Order::AnyInParts,
        _ => Order::Parts,
    };
    if spec.mode != Mode::None {
        records = plain::sorted(records, key_type, spec.descending);
    }
    let mut parts: Vec<Vec<Record>> = vec![Vec::new(); spec.reduces as usize];
    for record in records {
        let part = match &spec.partitioning {
            _ if spec.mode == Mode::None => 0,
            // The bounds of the parts depend on a sample.
            Partitioning::TotalOrder => 0,
            Partitioning::Class(_) => plain::first_byte_part(&record.0, spec.reduces),
            Partitioning::Hash => plain::hash_part(key_type, &record.0, spec.reduces),
        };
        parts[part].push(record);
    }
    if let Some(aside) = &mut aside {
        for part in &mut parts {
            aside.extend(part.extract_if(.., |record| is_aside(&record.0)));
        }
    }
    (Dataset { parts, order, key_type, value_type }, aside.unwrap_or_default())
}

/// Computes one number a key, by a folder, a reducer, or a reducer with a combiner.
fn fold(spec: &mut JobSpec, records: &[Record], random: &mut Numbers) -> Vec<Record> {
    type Fold = (&'static str, fn(i64) -> i64, fn(i64, i64) -> i64);
    let folds: [Fold; 4] = [
        ("Sum", |v| v, i64::wrapping_add),
        ("Min", |v| v, i64::min),
        ("Max", |v| v, i64::max),
        ("Count", |_| 1, |n, _| n + 1),
    ];
    let (name, first, fold) = pick(random, &folds);
    match random.below(4) {
        _ if name == "Count" => spec.folder = Some("Yunti.CountFolder".into()),
        0 | 1 => spec.folder = Some(format!("Yunti.{name}Folder")),
        2 => spec.reducer = Some(format!("Yunti.{name}Reducer")),
        _ if name == "Sum" => {
            spec.reducer = Some("Test.Sum".into());
            spec.combiner = Some(pick(random, &["Test.Sum", "Yunti.SumReducer"]).into());
        }
        _ => {
            spec.reducer = Some(format!("Yunti.{name}Reducer"));
            spec.combiner = spec.reducer.clone();
        }
    }
    plain::folded(records, first, fold)
}
