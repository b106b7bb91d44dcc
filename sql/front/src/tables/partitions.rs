//! Columns that directories name: `day=2026-11-01/city=New York`, as Hive and Spark write them.
//!
//! A column has whole numbers if all its values are; else days if all are; else text. A name that not all files have is
//! no column.

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::catalog::Session;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::Expr;
use yunti_engine::format::hive_path;

use super::world::DataFile;

/// Columns of directories.
#[derive(Clone, Debug, Default)]
pub struct Partitions {
    pub fields: Vec<FieldRef>,
}

/// Names and values of the directories above a file, outermost first.
fn pairs(root: &Path, path: &Path) -> Vec<(String, Option<String>)> {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts = below.parent().into_iter().flat_map(|parent| parent.iter());
    let pairs = parts.filter_map(|part| hive_path::pair_of(part.as_encoded_bytes()));
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    pairs.map(|(name, value)| (text(name), value.map(text))).collect()
}

impl Partitions {
    /// Returns the columns of files, and sets the values of these. `root`: the directory below which directories count.
    /// `taken`: names of columns of the files, which win.
    pub fn of(root: &Path, files: &mut [DataFile], taken: &Schema) -> Partitions {
        files.iter_mut().for_each(|file| file.values.clear());
        let all: Vec<_> = files.iter().map(|file| pairs(root, &file.path)).collect();
        let mut fields: Vec<FieldRef> = Vec::new();
        for (name, _) in all.first().into_iter().flatten() {
            let value_of = |pairs: &[(String, Option<String>)]| pairs.iter().find(|pair| pair.0 == *name).cloned();
            let is_known = fields.iter().any(|field| field.name() == name) || taken.column_with_name(name).is_some();
            let Some(values) = all.iter().map(|pairs| value_of(pairs)).collect::<Option<Vec<_>>>() else { continue };
            if is_known {
                continue;
            }
            let texts: Vec<Option<&str>> = values.iter().map(|(_, value)| value.as_deref()).collect();
            let data_type = type_of(&texts);
            fields.push(Arc::new(Field::new(name, data_type.clone(), true)));
            for (file, text) in files.iter_mut().zip(texts) {
                file.values.push(value_of_text(text, &data_type));
            }
        }
        Partitions { fields }
    }

    /// Returns true for a condition on these columns alone.
    pub fn decides(&self, filter: &Expr) -> bool {
        let columns = filter.column_refs();
        let is_own = |name: &str| self.fields.iter().any(|field| field.name() == name);
        !columns.is_empty()
            && columns.iter().all(|column| is_own(&column.name))
            && !filter.is_volatile()
            && !has_query(filter)
    }

    /// Returns the numbers of the files that meet the conditions on these columns.
    pub fn matching(&self, files: &[DataFile], filters: &[Expr], state: &dyn Session) -> Result<Vec<usize>> {
        let own: Vec<&Expr> = filters.iter().filter(|filter| self.decides(filter)).collect();
        if own.is_empty() {
            return Ok((0..files.len()).collect());
        }
        let schema = Arc::new(Schema::new(self.fields.clone()));
        let columns =
            (0..self.fields.len()).map(|n| ScalarValue::iter_to_array(files.iter().map(|file| file.values[n].clone())));
        let batch = RecordBatch::try_new(schema.clone(), columns.collect::<Result<Vec<ArrayRef>>>()?)?;
        let names = DFSchema::try_from(schema)?;
        let mut kept = vec![true; files.len()];
        for filter in own {
            let mut filter = filter.clone();
            filter = unqualified(filter)?;
            let values = state.create_physical_expr(filter, &names)?.evaluate(&batch)?.into_array(files.len())?;
            let values = values.as_boolean();
            kept.iter_mut().enumerate().for_each(|(n, kept)| *kept &= values.is_valid(n) && values.value(n));
        }
        Ok((0..files.len()).filter(|&n| kept[n]).collect())
    }
}

/// Returns true for a condition whose value another query gives, while this one runs.
fn has_query(filter: &Expr) -> bool {
    use datafusion::common::tree_node::TreeNode;
    let is_query = |of: &Expr| {
        let is = matches!(
            of,
            Expr::ScalarSubquery(_)
                | Expr::InSubquery(_)
                | Expr::Exists(_)
                | Expr::SetComparison(_)
                | Expr::OuterReferenceColumn(..)
        );
        Ok(is)
    };
    filter.exists(is_query).unwrap_or(true)
}

fn unqualified(filter: Expr) -> Result<Expr> {
    use datafusion::common::tree_node::{Transformed, TreeNode};
    let plain = filter.transform(|expression| {
        Ok(match expression {
            Expr::Column(column) if column.relation.is_some() => {
                Transformed::yes(Expr::Column(datafusion::common::Column::new_unqualified(column.name)))
            }
            other => Transformed::no(other),
        })
    })?;
    Ok(plain.data)
}

fn type_of(texts: &[Option<&str>]) -> DataType {
    let all = |is: fn(&str) -> bool| texts.iter().flatten().all(|text| is(text));
    let is_number = |text: &str| text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
    match texts.iter().flatten().next() {
        None => DataType::Utf8,
        _ if all(is_number) => DataType::Int64,
        _ if all(|text| day_of(text).is_some()) => DataType::Date32,
        _ => DataType::Utf8,
    }
}

fn day_of(text: &str) -> Option<i32> {
    let is_plain = text.len() == 10 && text.is_ascii();
    let date = chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| is_plain)?;
    i32::try_from((date - chrono::NaiveDate::default()).num_days()).ok()
}

fn value_of_text(text: Option<&str>, data_type: &DataType) -> ScalarValue {
    match data_type {
        DataType::Int64 => ScalarValue::Int64(text.and_then(|text| text.parse().ok())),
        DataType::Date32 => ScalarValue::Date32(text.and_then(day_of)),
        _ => ScalarValue::Utf8(text.map(Into::into)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_follow_from_all_values() {
        for (texts, expect) in [
            (&[Some("1"), Some("-20"), None][..], DataType::Int64),
            (&[Some("1"), Some("01")], DataType::Utf8),
            (&[Some("2026-11-01"), Some("2024-02-29")], DataType::Date32),
            (&[Some("2026-11-01"), Some("2023-02-29")], DataType::Utf8),
            (&[Some("2026-1-1")], DataType::Utf8),
            (&[None], DataType::Utf8),
        ] {
            assert_eq!(type_of(texts), expect, "{texts:?}");
        }
        assert_eq!(day_of("1970-01-02"), Some(1));
        assert_eq!(day_of("1969-12-31"), Some(-1));
    }

    #[test]
    fn directories_below_the_root_count() {
        let found = pairs(Path::new("/a=1/t"), Path::new("/a=1/t/day=2026-11-01/x/city=New%20York/part=0"));
        let expect = [("day", "2026-11-01"), ("city", "New York")];
        assert_eq!(found, expect.map(|(name, value)| (name.to_string(), Some(value.to_string()))));
    }
}
