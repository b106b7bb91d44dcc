//! A table of several parts: each has its own files, perhaps in another format or of another age, and one value of its
//! own for some columns, as the directories `day=2026-11-01` name them.
//!
//! ```text
//!   part 0   files 0 1 2   columns of the files   day = 2026-11-01
//!   part 1   files 3 4     columns of the files   day = 2026-11-02
//! ```
//!
//! A bound that the value of a part does not meet leaves out its files: they are not opened. A value is a code of a
//! dictionary with one value, never a text for each row.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::text;
use yunti_engine::columns::vector::{Data, Value, Vector};
use yunti_sql_plan::table::ColumnStatistics;
use yunti_sql_plan::{
    Batch, Bounds, Comparison, Field, Found, Morsel, MorselReader, PartColumn, Statistics, Table, TableIndex,
    TablePart, TableSource, ValueSet, kind_of,
};

use super::statistics::{compared, of_both};
use crate::spill::concat;

/// Keys that are looked up at once.
const KEYS: usize = 1024;
/// Rows that are held until they are in order. Keys with more are looked up one by one, which needs no order.
const ROWS_MAX: usize = 1 << 16;

/// Conversion of a column of a part to the type that the whole table has.
pub trait Convert: Send + Sync + fmt::Debug {
    /// Returns the values with the table's type. Errors: `Invalid`.
    fn vector(&self, of: &Arc<Vector>) -> Result<Arc<Vector>>;
}

/// Where the values of a column come from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Column of the part's own table, of the same type.
    Same(usize),
    /// Column of another type.
    Converted(usize, Arc<dyn Convert>),
    /// One value for all rows.
    Value(Value),
}

/// Files of a table that are read alike.
#[derive(Clone, Debug)]
pub struct Part {
    pub table: Arc<Table>,
    /// Number of its files.
    pub files: usize,
    /// Origin of each column of the whole table.
    pub columns: Vec<Origin>,
}

/// Parts with the columns of the whole table.
#[derive(Clone, Debug)]
pub struct Parts {
    pub fields: Vec<Field>,
    parts: Vec<Arc<Part>>,
    /// Number of files of the table, with the ones that are left out.
    files_of_all: usize,
}

impl Parts {
    /// Returns the parts of a table.
    pub fn new(fields: Vec<Field>, parts: Vec<Part>) -> Parts {
        let files_of_all = parts.iter().map(|part| part.files).sum();
        Parts { fields, parts: parts.into_iter().map(Arc::new).collect(), files_of_all }
    }

    /// Returns a table of one part, which has all columns.
    pub fn of(table: Table, files: usize) -> Parts {
        let columns = (0..table.fields.len()).map(Origin::Same).collect();
        Parts::new(table.fields.clone(), vec![Part { table: Arc::new(table), files, columns }])
    }

    /// Returns the parts of which a file is among `files`: numbers in ascending order.
    pub fn with_files(&self, files: &[usize]) -> Parts {
        let mut next = 0;
        let mut is_kept = |part: &Arc<Part>| {
            let first = next;
            next += part.files;
            let at = files.partition_point(|&file| file < first);
            files.get(at).is_some_and(|&file| file < next)
        };
        let parts = self.parts.iter().filter(|part| is_kept(part)).cloned().collect();
        Parts { parts, ..self.clone() }
    }

    /// Returns the table of the parts, whose files are numbered on.
    pub fn table(&self, name: &str) -> Table {
        if let [one] = &self.parts[..]
            && one.files == self.files_of_all
            && one.table.fields.len() == self.fields.len()
            && one.columns.iter().enumerate().all(|(n, of)| matches!(of, Origin::Same(own) if *own == n))
        {
            return Table { name: name.into(), ..(*one.table).clone() };
        }
        let kinds: Vec<Option<Kind>> = self.fields.iter().map(|field| kind_of(&field.data_type)).collect();
        let mut next = 0;
        let opened = |part: &Arc<Part>| {
            let first = next;
            next += part.files as u32;
            let constant = |(origin, kind): (&Origin, &Option<Kind>)| match origin {
                Origin::Value(value) => kind.map(|kind| coded(value, kind)),
                _ => None,
            };
            let constants = part.columns.iter().zip(&kinds).map(constant).collect();
            Arc::new(Numbered { part: part.clone(), first, constants })
        };
        let statistics = self.statistics(&kinds);
        let parts = self.parts.iter().map(opened).collect();
        let source = Arc::new(PartsSource { parts, kinds: kinds.into(), files_of_all: self.files_of_all });
        Table { name: name.into(), fields: self.fields.clone(), statistics, source }
    }

    fn statistics(&self, kinds: &[Option<Kind>]) -> Statistics {
        let rows = self.parts.iter().map(|part| part.table.statistics.rows).sum::<Option<u64>>();
        let of = |(column, kind): (usize, &Option<Kind>)| self.column_statistics(column, *kind).unwrap_or_default();
        Statistics { rows, columns: kinds.iter().enumerate().map(of).collect() }
    }

    fn column_statistics(&self, column: usize, kind: Option<Kind>) -> Option<ColumnStatistics> {
        let mut known: Option<ColumnStatistics> = None;
        let mut nulls = Some(0);
        let (mut texts, mut is_named) = (HashSet::new(), true);
        for part in &self.parts {
            let own = match &part.columns[column] {
                Origin::Value(Value::Null) => {
                    nulls = nulls.zip(part.table.statistics.rows).map(|(nulls, rows)| nulls + rows);
                    continue;
                }
                Origin::Value(value) => {
                    let mut key = Vec::new();
                    text::put(kind?, value, &mut key);
                    texts.insert(key);
                    let value = Some(value.clone());
                    ColumnStatistics { min: value.clone(), max: value, nulls: Some(0), distinct: None }
                }
                Origin::Same(own) => {
                    is_named = false;
                    part.table.statistics.columns.get(*own).cloned().unwrap_or_default()
                }
                Origin::Converted(..) => return None,
            };
            known = Some(match known {
                None => own,
                Some(so_far) => of_both(so_far, own),
            });
        }
        let known = known.unwrap_or_default();
        let nulls = known.nulls.zip(nulls).map(|(own, missing)| own + missing);
        let distinct = is_named.then_some(texts.len() as u64).filter(|&count| count > 0);
        Some(ColumnStatistics { nulls, distinct, ..known })
    }
}

/// Returns a value as a vector of one row: a code, if the shape has codes.
fn coded(value: &Value, kind: Kind) -> Vector {
    let one = Vector::constant(value, kind, 1);
    match one.data {
        Data::Ints(_) | Data::Floats(_) | Data::Decimals(_) => {
            Vector { data: Data::NumberCodes(vec![0], Arc::new(one.data)), nulls: one.nulls }
        }
        _ => one,
    }
}

/// Returns the only value of a vector for a number of rows.
fn repeated(one: &Vector, rows: usize) -> Vector {
    let data = match &one.data {
        Data::Codes(_, values) => Data::Codes(vec![0; rows], values.clone()),
        Data::NumberCodes(_, values) => Data::NumberCodes(vec![0; rows], values.clone()),
        other => other.select(&vec![0; rows]),
    };
    Vector { data, nulls: one.nulls.as_ref().map(|nulls| vec![nulls[0]; rows]) }
}

/// A part with the number of its first file.
#[derive(Debug)]
struct Numbered {
    part: Arc<Part>,
    first: u32,
    /// Value of each column that has one for all rows, as a vector of one row.
    constants: Vec<Option<Vector>>,
}

impl Numbered {
    /// Returns the columns of the part's own table that some columns need.
    fn own(&self, columns: &[usize]) -> Vec<usize> {
        let own = |&column: &usize| match self.part.columns[column] {
            Origin::Same(own) | Origin::Converted(own, _) => Some(own),
            Origin::Value(_) => None,
        };
        let mut own: Vec<usize> = columns.iter().filter_map(own).collect();
        own.sort_unstable();
        own.dedup();
        own
    }

    fn bounds(&self, bounds: &[Bounds]) -> Vec<Bounds> {
        let own = |of: &Bounds| match self.part.columns[of.column] {
            Origin::Same(column) => Some(Bounds { column, ..of.clone() }),
            _ => None,
        };
        bounds.iter().filter_map(own).collect()
    }

    fn sets(&self, sets: &[ValueSet]) -> Vec<ValueSet> {
        let own = |of: &ValueSet| match self.part.columns[of.column] {
            Origin::Same(column) => Some(ValueSet { column, ..of.clone() }),
            _ => None,
        };
        sets.iter().filter_map(own).collect()
    }

    /// Returns a batch of the part's own columns, which are `own`, as columns of the whole table.
    fn whole(&self, batch: &Batch, own: &[usize], columns: &[usize]) -> Result<Batch> {
        let own = |number: usize| &batch.columns[own.binary_search(&number).unwrap_or_default()];
        let column = |&column: &usize| match (&self.part.columns[column], &self.constants[column]) {
            (Origin::Same(number), _) => Ok(own(*number).clone()),
            (Origin::Converted(number, convert), _) => convert.vector(own(*number)),
            (Origin::Value(_), Some(one)) => Ok(Arc::new(repeated(one, batch.rows))),
            (Origin::Value(_), None) => Err(Error::new(Code::Internal, "a column has a type without a shape")),
        };
        let columns = columns.iter().map(column).collect::<Result<_>>()?;
        Ok(Batch { columns, rows: batch.rows })
    }

    /// Returns false if the values of the part are outside of a bound.
    fn may_meet(&self, bounds: &[Bounds]) -> bool {
        bounds.iter().all(|bound| match &self.part.columns[bound.column] {
            Origin::Value(value) => meets(value, bound),
            _ => true,
        })
    }
}

/// Returns true if a value meets a bound, and if the two cannot be compared. A null meets none.
fn meets(value: &Value, bound: &Bounds) -> bool {
    if *value == Value::Null {
        return false;
    }
    let Some(order) = compared(value, &bound.value) else { return true };
    match bound.comparison {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
        Comparison::Distinct | Comparison::NotDistinct => true,
    }
}

#[derive(Clone, Debug)]
struct PartsSource {
    parts: Vec<Arc<Numbered>>,
    /// Shape of each column of the whole table; None of a type without one.
    kinds: Arc<[Option<Kind>]>,
    files_of_all: usize,
}

impl Numbered {
    /// Returns the part with another source of its rows.
    fn with_source(&self, source: Arc<dyn TableSource>) -> Arc<Numbered> {
        let table = Arc::new(Table { source, ..(*self.part.table).clone() });
        let part = Arc::new(Part { table, ..(*self.part).clone() });
        Arc::new(Numbered { part, first: self.first, constants: self.constants.clone() })
    }
}

impl TableSource for PartsSource {
    fn morsels(&self, columns: &[usize], bounds: &[Bounds]) -> Result<Vec<Morsel>> {
        let mut all = Vec::new();
        for of in self.parts.iter().filter(|of| of.may_meet(bounds)) {
            let own = of.part.table.source.morsels(&of.own(columns), &of.bounds(bounds))?;
            all.extend(own.into_iter().map(|morsel| Morsel { file: morsel.file + of.first, ..morsel }));
        }
        Ok(all)
    }

    fn open(&self, morsel: &Morsel, columns: &[usize], bounds: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        self.open_within(morsel, columns, (bounds, &[]))
    }

    fn open_within(
        &self,
        morsel: &Morsel,
        columns: &[usize],
        (bounds, sets): (&[Bounds], &[ValueSet]),
    ) -> Result<Box<dyn MorselReader>> {
        // Parts without files have the number of the next one: the last that begins so is meant.
        let number = self.parts.partition_point(|of| of.first <= morsel.file).saturating_sub(1);
        let of = self.parts[number].clone();
        let own = of.own(columns);
        let inner = Morsel { file: morsel.file - of.first, ..morsel.clone() };
        let limits = (&of.bounds(bounds)[..], &of.sets(sets)[..]);
        let inner = of.part.table.source.open_within(&inner, &own, limits)?;
        Ok(Box::new(Reader { inner, of, own, columns: columns.to_vec() }))
    }

    fn index(&self) -> Option<Arc<dyn TableIndex>> {
        Some(Arc::new(PartsIndex::of(self)?))
    }

    fn parts(&self) -> Option<Vec<TablePart>> {
        let column = |of: &Origin| match of {
            Origin::Same(own) => Some(PartColumn::Own(*own)),
            Origin::Value(value) => Some(PartColumn::Value(value.clone())),
            Origin::Converted(..) => None,
        };
        let part = |of: &Arc<Numbered>| {
            let columns = of.part.columns.iter().map(column).collect::<Option<_>>()?;
            Some(TablePart { table: of.part.table.clone(), columns })
        };
        self.parts.iter().map(part).collect()
    }

    fn extent(&self) -> String {
        let files: usize = self.parts.iter().map(|of| of.part.files).sum();
        if files == self.files_of_all { String::new() } else { format!("{files} of {} files", self.files_of_all) }
    }
}

struct Reader {
    inner: Box<dyn MorselReader>,
    of: Arc<Numbered>,
    /// Columns of the part's own table, in the order of its batches.
    own: Vec<usize>,
    columns: Vec<usize>,
}

impl MorselReader for Reader {
    fn next(&mut self) -> Result<Option<Batch>> {
        let Some(batch) = self.inner.next()? else { return Ok(None) };
        self.of.whole(&batch, &self.own, &self.columns).map(Some)
    }
}

/// Look-ups in parts that all have an index of the same key, such as the shards of a shared table. Each part looks up
/// all keys, as any may have rows of a key; what they find is put in the order of the keys.
#[derive(Debug)]
struct PartsIndex {
    of: PartsSource,
    /// Index of each part.
    indexes: Vec<Arc<dyn TableIndex>>,
    /// Columns of the key in the whole table.
    key: Vec<usize>,
}

/// Receives the rows that have keys.
type Receive<'r> = dyn FnMut(Found) -> Result<()> + 'r;

impl PartsIndex {
    /// Returns the index of parts; None if one has none, or another key.
    fn of(source: &PartsSource) -> Option<PartsIndex> {
        let mut key: Option<Vec<usize>> = None;
        let mut indexes = Vec::new();
        for of in &source.parts {
            let index = of.part.table.source.index()?;
            let whole = |own: &usize| {
                of.part.columns.iter().position(|origin| matches!(origin, Origin::Same(column) if column == own))
            };
            let own = index.key().iter().map(whole).collect::<Option<Vec<usize>>>()?;
            if *key.get_or_insert_with(|| own.clone()) != own {
                return None;
            }
            indexes.push(index);
        }
        Some(PartsIndex { of: source.clone(), indexes, key: key? })
    }

    fn parts(&self) -> impl Iterator<Item = (&Arc<Numbered>, &Arc<dyn TableIndex>)> {
        self.of.parts.iter().zip(&self.indexes)
    }

    /// Calls `found` with what each part finds, part by part, as columns of the whole table.
    fn each(&self, keys: &[Arc<Vector>], columns: &[usize], found: &mut Receive<'_>) -> Result<()> {
        for (of, index) in self.parts() {
            let own = of.own(columns);
            index.look_up(keys, &own, &mut |Found { keys, rows }| {
                found(Found { keys, rows: of.whole(&rows, &own, columns)? })
            })?;
        }
        Ok(())
    }

    /// Returns all that the parts find for some keys, in the order of the keys; None for more rows than are held.
    fn ordered(&self, keys: &[Arc<Vector>], columns: &[usize]) -> Result<Option<Found>> {
        let mut all: Vec<Found> = Vec::new();
        let mut rows = 0;
        let mut is_full = false;
        let looked_up = self.each(keys, columns, &mut |found| {
            rows += found.keys.len();
            is_full = rows > ROWS_MAX;
            all.push(found);
            // The error ends the look-up, and goes no further.
            if is_full { Err(Error::new(Code::Internal, "too many rows")) } else { Ok(()) }
        });
        if is_full {
            return Ok(None);
        }
        looked_up?;
        if all.len() < 2 {
            return Ok(Some(all.pop().unwrap_or(Found { keys: Vec::new(), rows: Batch::default() })));
        }
        let numbers: Vec<u32> = all.iter().flat_map(|found| found.keys.iter().copied()).collect();
        // Rows of one key stay in the order of the parts.
        let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
        order.sort_by_key(|&row| numbers[row as usize]);
        let kinds = columns.iter().map(|&column| self.of.kinds[column]).collect::<Option<Vec<_>>>();
        let kinds = kinds.ok_or_else(|| Error::new(Code::Internal, "a column has a type without a shape"))?;
        let rows = concat(all.into_iter().map(|found| found.rows).collect(), &kinds)?.select(&order);
        let keys = order.iter().map(|&row| numbers[row as usize]).collect();
        Ok(Some(Found { keys, rows: Batch { rows: order.len(), ..rows } }))
    }
}

impl TableIndex for PartsIndex {
    fn key(&self) -> &[usize] {
        &self.key
    }

    fn look_up(&self, keys: &[Arc<Vector>], columns: &[usize], found: &mut Receive<'_>) -> Result<()> {
        let count = keys.first().map_or(0, |first| first.len());
        let some = |rows: Range<usize>| -> Vec<Arc<Vector>> {
            let rows: Vec<u32> = rows.map(|row| row as u32).collect();
            keys.iter().map(|key| Arc::new(key.select(&rows))).collect()
        };
        for begin in (0..count).step_by(KEYS) {
            let rows = begin..count.min(begin + KEYS);
            let mut hand_over = |mut of: Found, begin: usize| {
                of.keys.iter_mut().for_each(|key| *key += begin as u32);
                if of.keys.is_empty() { Ok(()) } else { found(of) }
            };
            match self.ordered(&some(rows.clone()), columns)? {
                Some(of) => hand_over(of, begin)?,
                None => {
                    for row in rows {
                        self.each(&some(row..row + 1), columns, &mut |of| hand_over(of, row))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn rows_of(&self, keys: &[Vec<Value>]) -> Arc<dyn TableSource> {
        let parts = self.parts().map(|(of, index)| of.with_source(index.rows_of(keys))).collect();
        Arc::new(PartsSource { parts, ..self.of.clone() })
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;

    use super::*;

    #[derive(Debug)]
    struct Rows(Vec<i64>);

    impl TableSource for Rows {
        fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
            Ok(vec![Morsel { file: 0, unit: 0, rows: self.0.len() as u64, bytes: 8 }])
        }

        fn open(&self, _: &Morsel, columns: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
            let column = Vector::of(Data::Ints(self.0.clone()));
            let columns = columns.iter().map(|_| column.clone()).collect();
            Ok(Box::new(Once(Some(Batch::of(columns, self.0.len())))))
        }
    }

    struct Once(Option<Batch>);

    impl MorselReader for Once {
        fn next(&mut self) -> Result<Option<Batch>> {
            Ok(self.0.take())
        }
    }

    fn field(name: &str, data_type: DataType) -> Field {
        Field { name: name.into(), data_type, nullable: true }
    }

    /// Returns parts with a column `v` of the files, and a text `city`, one part for each city.
    fn parts(cities: &[Option<&str>]) -> Parts {
        let fields = vec![field("v", DataType::Int64), field("city", DataType::Utf8)];
        let part = |(n, city): (usize, &Option<&str>)| {
            let source = Arc::new(Rows(vec![n as i64, -(n as i64)]));
            let statistics = Statistics { rows: Some(2), columns: Vec::new() };
            let table = Arc::new(Table { name: "t".into(), fields: vec![fields[0].clone()], statistics, source });
            let value = city.map_or(Value::Null, |city| Value::Bytes(city.into()));
            Part { table, files: 1, columns: vec![Origin::Same(0), Origin::Value(value)] }
        };
        let all = cities.iter().enumerate().map(part).collect();
        Parts::new(fields, all)
    }

    fn rows(table: &Table, bounds: &[Bounds]) -> Vec<(Value, Value)> {
        let mut all = Vec::new();
        for morsel in table.source.morsels(&[1, 0], bounds).unwrap() {
            let mut reader = table.source.open(&morsel, &[1, 0], bounds).unwrap();
            while let Some(batch) = reader.next().unwrap() {
                assert!(matches!(batch.columns[0].data, Data::Codes(..)), "a text for each row");
                all.extend((0..batch.rows).map(|row| (batch.columns[0].value(row), batch.columns[1].value(row))));
            }
        }
        all
    }

    #[test]
    fn a_bound_leaves_out_parts() {
        let table = parts(&[Some("a"), None, Some("b"), Some("c")]).table("t");
        let text = |text: &str| Value::Bytes(text.into());
        let bound = |comparison, value: &str| Bounds { column: 1, comparison, value: text(value) };
        for (bounds, expect) in [
            (vec![], vec![0, 0, 1, -1, 2, -2, 3, -3]),
            (vec![bound(Comparison::Equal, "b")], vec![2, -2]),
            (vec![bound(Comparison::NotEqual, "b")], vec![0, 0, 3, -3]),
            (vec![bound(Comparison::Greater, "a"), bound(Comparison::Less, "c")], vec![2, -2]),
            (vec![bound(Comparison::LessOrEqual, "a")], vec![0, 0]),
            (vec![bound(Comparison::GreaterOrEqual, "d")], vec![]),
        ] {
            let found: Vec<Value> = rows(&table, &bounds).into_iter().map(|(_, v)| v).collect();
            assert_eq!(found, expect.into_iter().map(Value::Int).collect::<Vec<_>>(), "{bounds:?}");
        }
        assert_eq!(
            rows(&table, &[])[2..5],
            [(Value::Null, Value::Int(1)), (Value::Null, Value::Int(-1)), (text("b"), Value::Int(2)),]
        );
    }

    #[test]
    fn files_that_are_left_are_numbered_on() {
        let all = parts(&[Some("a"), None, Some("b"), Some("c")]);
        for (files, expect) in [(&[1, 3][..], vec![1, -1, 3, -3]), (&[], vec![]), (&[0], vec![0, 0])] {
            let table = all.with_files(files).table("t");
            let found: Vec<Value> = rows(&table, &[]).into_iter().map(|(_, v)| v).collect();
            assert_eq!(found, expect.into_iter().map(Value::Int).collect::<Vec<_>>(), "{files:?}");
        }
    }

    #[test]
    fn statistics_of_values() {
        let statistics = parts(&[Some("b"), None, Some("a"), Some("b")]).table("t").statistics;
        let city = &statistics.columns[1];
        assert_eq!((statistics.rows, city.nulls, city.distinct), (Some(8), Some(2), Some(2)));
        assert_eq!((&city.min, &city.max), (&Some(Value::Bytes("a".into())), &Some(Value::Bytes("b".into()))));
    }
}
