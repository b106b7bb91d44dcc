//! Rows for which an expression is computed: all rows of a batch, some of them, or the values of a dictionary.

use std::cell::RefCell;
use std::sync::Arc;

use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Data, Value, Vector};
use yunti_sql_plan::Batch;

/// Columns and the rows of them that are wanted. Columns are fetched when an expression needs them, once.
pub struct Scope<'a> {
    source: Source<'a>,
    /// Rows of the source; None for all.
    chosen: Option<Vec<u32>>,
    rows: usize,
    /// Columns as they are and without codes of numbers.
    fetched: RefCell<Vec<[Option<Arc<Vector>>; 2]>>,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Batch(&'a Batch),
    /// Values of a dictionary and a null, in place of the one column that an expression has.
    Dictionary(&'a Arc<Vector>),
}

impl<'a> Scope<'a> {
    /// Returns all rows of a batch.
    pub fn of(batch: &'a Batch) -> Scope<'a> {
        Scope { source: Source::Batch(batch), chosen: None, rows: batch.rows, fetched: RefCell::default() }
    }

    /// Returns the values of a dictionary.
    pub fn of_dictionary(values: &'a Arc<Vector>) -> Scope<'a> {
        let rows = values.len();
        Scope { source: Source::Dictionary(values), chosen: None, rows, fetched: RefCell::default() }
    }

    /// Returns some of the rows, by their numbers in this scope.
    pub fn choose(&self, rows: &[u32]) -> Scope<'a> {
        let chosen = match &self.chosen {
            None => rows.to_vec(),
            Some(chosen) => rows.iter().map(|&row| chosen[row as usize]).collect(),
        };
        Scope { source: self.source, chosen: Some(chosen), rows: rows.len(), fetched: RefCell::default() }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns true for the values of a dictionary.
    pub fn is_dictionary(&self) -> bool {
        matches!(self.source, Source::Dictionary(_))
    }

    /// Returns a column, with its codes.
    pub fn column(&self, number: usize) -> Arc<Vector> {
        self.fetch(number, 0)
    }

    /// Returns a column without codes of numbers.
    pub fn decoded(&self, number: usize) -> Arc<Vector> {
        self.fetch(number, 1)
    }

    fn fetch(&self, number: usize, form: usize) -> Arc<Vector> {
        if let Some(Some(vector)) = self.fetched.borrow().get(number).map(|forms| &forms[form]) {
            return vector.clone();
        }
        let vector = match form {
            0 => self.select(number),
            _ => {
                let coded = self.fetch(number, 0);
                match coded.data {
                    Data::NumberCodes(..) => Arc::new(coded.decoded().into_owned()),
                    _ => coded,
                }
            }
        };
        let mut fetched = self.fetched.borrow_mut();
        if fetched.len() <= number {
            fetched.resize(number + 1, [None, None]);
        }
        fetched[number][form] = Some(vector.clone());
        vector
    }

    fn select(&self, number: usize) -> Arc<Vector> {
        let whole = match self.source {
            Source::Batch(batch) => &batch.columns[number],
            Source::Dictionary(values) => values,
        };
        match (without_values(whole, self.rows), &self.chosen) {
            (Some(nulls), _) => Arc::new(nulls),
            (None, None) => whole.clone(),
            (None, Some(rows)) => Arc::new(whole.select(rows)),
        }
    }
}

/// Returns nulls for a column of codes whose dictionary has no value, which no code can name.
fn without_values(vector: &Vector, rows: usize) -> Option<Vector> {
    let (codes, dictionary) = match &vector.data {
        Data::Codes(codes, _) | Data::NumberCodes(codes, _) => (codes, vector.data.codes()?.1),
        _ => return None,
    };
    if codes.is_empty() || !dictionary.is_empty() {
        return None;
    }
    let kind = match &vector.data {
        Data::NumberCodes(_, values) => match **values {
            Data::Bools(_) => Kind::Boolean,
            Data::Floats(_) => Kind::Float,
            Data::Decimals(_) | Data::SmallDecimals(_) => Kind::Decimal { scale: 0 },
            _ => Kind::Int,
        },
        _ => Kind::Text,
    };
    Some(Vector::constant(&Value::Null, kind, rows))
}
