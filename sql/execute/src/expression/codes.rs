//! Values of an expression for a dictionary: what depends on one column of codes alone is computed once for each value
//! of its dictionary, and once for null, then looked up by code.
//!
//! A dictionary is worth it if it has at most four times the values of the rows that ask for it, or fewer values than
//! all rows that asked for it so far: a near-unique one of a row group is computed when its second batch comes.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use yunti_engine::columns::vector::{Bytes, Data, Dictionary, Vector};

/// Values of a dictionary, for each row of a batch, above which they wait for further batches.
const DICTIONARY_PER_ROWS: usize = 4;

/// Values of an expression for the dictionary that came last.
#[derive(Default)]
pub struct Codes {
    /// Kept so that no other dictionary takes its place in memory.
    dictionary: Option<Dictionary>,
    /// Rows that have asked so far.
    rows: usize,
    state: State,
}

#[derive(Default)]
enum State {
    #[default]
    Unknown,
    /// Some value of the dictionary is an error, which no row need have.
    Failed,
    Known(Table),
}

/// Values by code; the last is the value for a null.
pub struct Table {
    values: ByCode,
    /// True for each value that is null; None if none is.
    nulls: Option<Vec<bool>>,
}

enum ByCode {
    Bools(Vec<bool>),
    /// Codes of another dictionary, which has no value twice.
    Texts(Vec<u32>, Arc<Bytes>),
    /// The same for numbers, and the numbers by the code that comes.
    Numbers(Vec<u32>, Arc<Data>, Data),
}

impl Codes {
    /// Counts some rows with codes of a dictionary. Returns true if its values are to be computed now.
    pub fn ask(&mut self, dictionary: &Dictionary, rows: usize) -> bool {
        if !self.dictionary.as_ref().is_some_and(|known| known.is(dictionary)) {
            *self = Codes { dictionary: Some(dictionary.clone()), ..Codes::default() };
        }
        self.rows = self.rows.saturating_add(rows);
        let len = dictionary.len();
        let pays = len <= DICTIONARY_PER_ROWS.saturating_mul(rows) || len < self.rows;
        pays && matches!(self.state, State::Unknown)
    }

    /// Notes the values of the dictionary and its null; None if that fails.
    pub fn note(&mut self, values: Option<&Vector>) {
        self.state = match values {
            Some(values) => State::Known(Table::of(values)),
            None => State::Failed,
        };
    }

    /// Returns the values, if they are known.
    pub fn table(&self) -> Option<&Table> {
        if let State::Known(table) = &self.state { Some(table) } else { None }
    }
}

/// Returns the values of a dictionary, and a null.
pub fn values_of(dictionary: &Dictionary) -> Vector {
    let len = dictionary.len();
    let data = match dictionary {
        // The null has the code of the first value; a dictionary has one.
        Dictionary::Texts(values) => Data::Codes((0..len as u32).chain([0]).collect(), values.clone()),
        Dictionary::Numbers(values) => values.select(&(0..len as u32).chain([0]).collect::<Vec<_>>()),
    };
    Vector { data, nulls: Some((0..=len).map(|value| value == len).collect()) }
}

impl Table {
    fn of(values: &Vector) -> Table {
        let nulls = values.nulls.clone().filter(|nulls| nulls.contains(&true));
        let values = match &values.data {
            Data::Bools(values) => ByCode::Bools(values.clone()),
            Data::Ints(values) => distinct(values, |value| *value, Data::Ints),
            Data::Floats(values) => distinct(values, |value| value.to_bits(), Data::Floats),
            Data::Decimals(values) => distinct(values, |value| *value, Data::Decimals),
            Data::SmallDecimals(values) => distinct(values, |value| *value, Data::SmallDecimals),
            Data::Bytes(values) => distinct_texts(values.iter(), values.len()),
            Data::Codes(codes, values) => {
                distinct_texts(codes.iter().map(|&code| values.get(code as usize)), codes.len())
            }
            // Values of an expression have no codes of numbers.
            Data::NumberCodes(codes, values) => return Table::of(&Vector { data: values.select(codes), nulls }),
        };
        Table { values, nulls }
    }

    /// Returns the values of some rows; numbers as codes if `coded`.
    pub fn map(&self, codes: &[u32], nulls: Option<&Vec<bool>>, coded: bool) -> Vector {
        let replaced;
        let codes = match nulls {
            None => codes,
            Some(nulls) => {
                let null = self.len() as u32 - 1;
                replaced = codes.iter().zip(nulls).map(|(&code, &is)| if is { null } else { code }).collect::<Vec<_>>();
                &replaced
            }
        };
        let data = match &self.values {
            ByCode::Bools(values) => Data::Bools(pick(values, codes)),
            ByCode::Texts(of, values) => Data::Codes(pick(of, codes), values.clone()),
            ByCode::Numbers(of, values, _) if coded => Data::NumberCodes(pick(of, codes), values.clone()),
            ByCode::Numbers(_, _, plain) => plain.select(codes),
        };
        let nulls = self.nulls.as_ref().map(|nulls| pick(nulls, codes)).filter(|nulls| nulls.contains(&true));
        Vector { data, nulls }
    }

    fn len(&self) -> usize {
        match &self.values {
            ByCode::Bools(values) => values.len(),
            ByCode::Texts(codes, _) | ByCode::Numbers(codes, ..) => codes.len(),
        }
    }

    /// Returns the conditions that hold, by code.
    pub fn truths(&self) -> Option<Vec<bool>> {
        let ByCode::Bools(values) = &self.values else { return None };
        Some(match &self.nulls {
            None => values.clone(),
            Some(nulls) => values.iter().zip(nulls).map(|(value, null)| value & !null).collect(),
        })
    }
}

fn pick<T: Copy>(from: &[T], codes: &[u32]) -> Vec<T> {
    codes.iter().map(|&code| from[code as usize]).collect()
}

/// Returns codes of the different values.
fn distinct<T: Copy, K: Hash + Eq>(values: &[T], key: impl Fn(&T) -> K, data: impl Fn(Vec<T>) -> Data) -> ByCode {
    let (mut known, mut all) = (HashMap::new(), Vec::new());
    let codes = values
        .iter()
        .map(|value| {
            *known.entry(key(value)).or_insert_with(|| {
                all.push(*value);
                all.len() as u32 - 1
            })
        })
        .collect();
    ByCode::Numbers(codes, Arc::new(data(all)), data(values.to_vec()))
}

fn distinct_texts<'a>(values: impl Iterator<Item = &'a [u8]>, len: usize) -> ByCode {
    let mut all = Bytes::with_capacity(len, 0);
    let mut known = HashMap::new();
    let codes = values
        .map(|value| {
            *known.entry(value).or_insert_with(|| {
                all.push(value);
                all.len() as u32 - 1
            })
        })
        .collect();
    ByCode::Texts(codes, Arc::new(all))
}
