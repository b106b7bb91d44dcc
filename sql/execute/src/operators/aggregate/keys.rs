//! Keys of groups as a fixed number of words: equal keys have equal words, whatever shape a batch gives their values.
//!
//! ```text
//!   integer, date, boolean   the value                             null: a word that no value has
//!   float                    its place in the order of floats      -0 is 0, and all NaN are one
//!   decimal of 18 digits     the units
//!   longer decimal           low word | high word
//!   text up to 12 bytes      length, 4 bytes | 8 bytes
//!   longer text              length, 4 bytes | place of the text in a store
//! ```
//!
//! 64-bit integers and timestamps have no word to spare for null: several columns have a word of flags behind them. An
//! only column marks its null by a hash that the value of the same word cannot have.

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::grouping::{hash_bytes, mix};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::normal::{float_of, ordered_float};
use yunti_engine::columns::vector::{Bytes, Data, Dictionary, Vector};
use yunti_sql_plan::kind_of;

use crate::missing::not_native;

/// Word of a null in an only column of 64 bits, and its hash before the last step.
const NULL_WORD: u64 = 0xb5ad_4ece_da1c_e2a9;
const NULL_HASH: u64 = 0x1d8e_4e27_c47d_124f;
/// Length of a null text.
const NULL_TEXT: u64 = u32::MAX as u64;
/// Bytes of a text that its words hold.
const SHORT_BYTES: usize = 12;
const WIDE_NULL: u64 = 1 << 63;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// One word, of which `null` is no value.
    Word {
        null: u64,
    },
    /// One word, any of which is a value.
    Full,
    Wide,
    Text,
}

#[derive(Clone, Debug)]
struct KeyColumn {
    kind: Kind,
    shape: Shape,
    /// Place of its first word.
    at: usize,
}

/// Words of a key.
#[derive(Clone, Debug)]
pub struct Layout {
    columns: Vec<KeyColumn>,
    /// Words of a key.
    pub width: usize,
    /// Place of the flags of nulls: 64 columns a word.
    flags: Option<usize>,
    /// True if an only column marks its null by the hash.
    null_by_hash: bool,
    /// Places of the first words of texts.
    pub texts: Vec<usize>,
}

impl Layout {
    /// Returns the words of keys of these types. Errors: `Usage` for a type that this executor lacks.
    pub fn new(types: &[DataType]) -> Result<Layout> {
        let mut columns = Vec::new();
        let mut width = 0;
        for data_type in types {
            let kind = kind_of(data_type).ok_or_else(|| not_native(&format!("keys of {data_type}")))?;
            let shape = shape_of(data_type, kind);
            columns.push(KeyColumn { kind, shape, at: width });
            width += if matches!(shape, Shape::Wide | Shape::Text) { 2 } else { 1 };
        }
        let full = columns.iter().any(|column| column.shape == Shape::Full);
        let null_by_hash = full && columns.len() == 1;
        let flags = (full && !null_by_hash).then_some(width);
        let texts = columns.iter().filter(|column| column.shape == Shape::Text).map(|column| column.at).collect();
        let flag_words = if flags.is_some() { columns.len().div_ceil(64) } else { 0 };
        Ok(Layout { columns, width: width + flag_words, flags, null_by_hash, texts })
    }

    /// Returns the place of the word that is the value of a column of whole numbers; None for other shapes.
    pub fn number_at(&self, column: usize) -> Option<usize> {
        let of = self.columns.get(column)?;
        let is_number =
            matches!(of.kind, Kind::Int | Kind::Date) && matches!(of.shape, Shape::Word { .. } | Shape::Full);
        is_number.then_some(of.at)
    }

    /// Returns the values of a key column for some keys.
    pub fn decode(&self, column: usize, keys: &impl Keys, rows: &[u32]) -> Vector {
        let KeyColumn { kind, shape, at } = self.columns[column];
        let (width, words, hashes) = (self.width, keys.words(), keys.hashes());
        let first = |row: u32| words[row as usize * width + at];
        let flag = 1 << (column % 64);
        let is_null = |row: u32| match shape {
            Shape::Word { null } => first(row) == null,
            Shape::Full => match self.flags {
                Some(flags) => words[row as usize * width + flags + column / 64] & flag != 0,
                None => first(row) == NULL_WORD && hashes[row as usize] == finished(NULL_HASH),
            },
            Shape::Wide => first(row) == 0 && words[row as usize * width + at + 1] == WIDE_NULL,
            Shape::Text => first(row) & NULL_TEXT == NULL_TEXT,
        };
        let nulls: Vec<bool> = rows.iter().map(|&row| is_null(row)).collect();
        let each = rows.iter().zip(&nulls);
        let ints = || each.clone().map(|(&row, &null)| if null { 0 } else { first(row) as i64 }).collect();
        let data = match (kind, shape) {
            (Kind::Boolean, _) => Data::Bools(each.map(|(&row, null)| !null && first(row) == 1).collect()),
            (Kind::Float | Kind::Float32, _) => {
                Data::Floats(each.map(|(&row, null)| if *null { 0.0 } else { float_of(first(row)) }).collect())
            }
            (Kind::Decimal { .. }, Shape::Wide) => {
                let high = |row: u32| words[row as usize * width + at + 1];
                let units = |row: u32| i128::from(high(row) as i64) << 64 | i128::from(first(row));
                smallest(each.map(|(&row, null)| if *null { 0 } else { units(row) }).collect())
            }
            (Kind::Decimal { .. }, _) => Data::SmallDecimals(ints()),
            (Kind::Text, _) => {
                let mut texts = Bytes::with_capacity(rows.len(), 16 * rows.len());
                for (&row, null) in each {
                    let pair = [first(row), words[row as usize * width + at + 1]];
                    let mut short = [0; 16];
                    let text =
                        if *null { &[] } else { text_of(pair, &mut short, |place, len| keys.text(at, place, len)) };
                    texts.push(text);
                }
                Data::Bytes(texts)
            }
            _ => Data::Ints(ints()),
        };
        Vector { data, nulls: nulls.contains(&true).then_some(nulls) }
    }

    /// Returns true if the words of two keys are equal, but for places of long texts, which `long` compares.
    #[inline(always)]
    fn texts_equal(&self, a: &[u64], b: &[u64], long: impl Fn(usize, u64, u64, usize) -> bool) -> bool {
        let mut place = 0;
        while place < self.width {
            if a[place] != b[place] {
                return false;
            }
            if self.texts.contains(&place) {
                let len = (a[place] & NULL_TEXT) as usize;
                let is_long = len > SHORT_BYTES && len as u64 != NULL_TEXT;
                let same = a[place + 1] == b[place + 1];
                if if is_long { !long(place, a[place + 1], b[place + 1], len) } else { !same } {
                    return false;
                }
                place += 1;
            }
            place += 1;
        }
        true
    }

    /// Returns true if key `a` of one store equals key `b` of another.
    #[inline(always)]
    pub fn equal<A: Keys, B: Keys, const W: usize>(&self, (of_a, a): (&A, usize), (of_b, b): (&B, usize)) -> bool {
        let width = if W == 0 { self.width } else { W };
        let (first, second) = (&of_a.words()[a * width..][..width], &of_b.words()[b * width..][..width]);
        if self.texts.is_empty() {
            let same = first.iter().zip(second).fold(true, |same, (a, b)| same & (a == b));
            return same && (!self.null_by_hash || first[0] != NULL_WORD || of_a.hashes()[a] == of_b.hashes()[b]);
        }
        self.texts_equal(first, second, |place, a, b, len| of_a.text(place, a, len) == of_b.text(place, b, len))
    }

    /// Returns the length of a long text whose first word is at `place` of a key; None for a short one.
    #[inline]
    pub fn long_len(first: u64) -> Option<usize> {
        let len = first & NULL_TEXT;
        (len > SHORT_BYTES as u64 && len != NULL_TEXT).then_some(len as usize)
    }
}

/// Returns decimals in the smallest shape that has them.
pub fn smallest(units: Vec<i128>) -> Data {
    if units.iter().all(|&v| i64::try_from(v).is_ok()) {
        return Data::SmallDecimals(units.into_iter().map(|v| v as i64).collect());
    }
    Data::Decimals(units)
}

fn shape_of(data_type: &DataType, kind: Kind) -> Shape {
    match (kind, data_type) {
        (Kind::Boolean, _) => Shape::Word { null: 2 },
        (Kind::Float | Kind::Float32, _) => Shape::Word { null: u64::MAX },
        (Kind::Text, _) => Shape::Text,
        (_, DataType::UInt64) => Shape::Wide,
        (_, DataType::Decimal128(precision, _)) if *precision > 18 => Shape::Wide,
        (Kind::Decimal { .. }, _) => Shape::Word { null: 1 << 63 },
        (_, DataType::Int64 | DataType::Time64(_) | DataType::Timestamp(..)) => Shape::Full,
        _ => Shape::Word { null: 1 << 63 },
    }
}

/// Keys side by side.
pub trait Keys {
    fn words(&self) -> &[u64];
    fn hashes(&self) -> &[u64];
    /// Returns a long text by its place and length, of the column whose first word is the `column`-th.
    fn text(&self, column: usize, place: u64, len: usize) -> &[u8];
}

#[inline]
fn text_of<'a>(pair: [u64; 2], short: &'a mut [u8; 16], long: impl FnOnce(u64, usize) -> &'a [u8]) -> &'a [u8] {
    let len = (pair[0] & NULL_TEXT) as usize;
    if len > SHORT_BYTES {
        return long(pair[1], len);
    }
    short[..8].copy_from_slice(&pair[0].to_le_bytes());
    short[8..].copy_from_slice(&pair[1].to_le_bytes());
    &short[4..4 + len]
}

/// Returns the words of a text and what its hash needs instead of the second.
#[inline]
fn text_words(text: &[u8], place: u64) -> [u64; 3] {
    let len = text.len();
    let mut all = [0; 16];
    all[..4].copy_from_slice(&(len as u32).to_le_bytes());
    let kept = len.min(SHORT_BYTES);
    all[4..4 + kept].copy_from_slice(&text[..kept]);
    let (low, high) = all.split_at(8);
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    let (first, second) = (word(low), word(high));
    if len <= SHORT_BYTES { [first, second, second] } else { [first, place, hash_bytes(text)] }
}

/// Returns the hash of a key from its chained words. The multiplication spreads what folding left in a lattice; see the
/// engine's `fold/hash.rs`.
#[inline]
fn finished(hash: u64) -> u64 {
    (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Where the long texts of a column of rows are.
#[derive(Default)]
enum TextSource {
    #[default]
    None,
    Dictionary(Arc<Bytes>),
    Column(Arc<Vector>),
    Arena,
}

/// Words of the values of a dictionary, which are kept for the next batch.
#[derive(Default)]
struct DictionaryWords {
    of: Option<Dictionary>,
    words: Vec<[u64; 3]>,
}

/// Makes keys of batches.
pub struct KeyEncoder {
    layout: Arc<Layout>,
    dictionaries: Vec<DictionaryWords>,
    /// The word that the hash takes for the second word of each value of a column.
    tails: Vec<u64>,
}

/// Keys of the rows of a batch.
#[derive(Default)]
pub struct KeyRows {
    words: Vec<u64>,
    hashes: Vec<u64>,
    texts: Vec<TextSource>,
    /// Long texts of rows that come from a file.
    arena: Vec<u8>,
}

impl Keys for KeyRows {
    #[inline(always)]
    fn words(&self) -> &[u64] {
        &self.words
    }

    #[inline(always)]
    fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    #[inline]
    fn text(&self, column: usize, place: u64, len: usize) -> &[u8] {
        match &self.texts[column] {
            TextSource::None => &[],
            TextSource::Dictionary(values) => values.get(place as usize),
            TextSource::Column(column) => column.bytes(place as usize),
            TextSource::Arena => &self.arena[place as usize..][..len],
        }
    }
}

impl KeyRows {
    /// Returns the bytes that the keys take.
    pub fn used_bytes(&self) -> usize {
        8 * (self.words.len() + self.hashes.len()) + self.arena.len()
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.words.clear();
        self.hashes.clear();
        self.texts.clear();
        self.arena.clear();
    }

    /// Adds a key from the bytes that `put_key` made. Returns None, and leaves a part of a key, if they are damaged.
    pub fn push_encoded(&mut self, layout: &Layout, from: &mut &[u8]) -> Option<()> {
        if self.texts.is_empty() {
            self.texts.resize_with(layout.width, || TextSource::Arena);
        }
        let (hash, rest) = from.split_first_chunk::<8>()?;
        self.hashes.push(u64::from_be_bytes(*hash));
        let (words, mut rest) = rest.split_at_checked(8 * layout.width)?;
        let start = self.words.len();
        self.words.extend(words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)));
        for &at in &layout.texts {
            if let Some(len) = Layout::long_len(self.words[start + at]) {
                let (text, behind) = rest.split_at_checked(len)?;
                self.words[start + at + 1] = self.arena.len() as u64;
                self.arena.extend_from_slice(text);
                rest = behind;
            }
        }
        *from = rest;
        Some(())
    }

    /// Adds a key of another store, with another first word, and hashes it anew.
    pub fn push_with(&mut self, layout: &Layout, keys: &impl Keys, row: usize, first: u64) {
        if self.texts.is_empty() {
            self.texts.resize_with(layout.width, || TextSource::Arena);
        }
        let start = self.words.len();
        self.words.extend_from_slice(&keys.words()[row * layout.width..][..layout.width]);
        self.words[start] = first;
        let mut hash = 0;
        for column in &layout.columns {
            let at = start + column.at;
            let [one, two] = [self.words[at], self.words.get(at + 1).copied().unwrap_or(0)];
            hash = match column.shape {
                Shape::Word { .. } | Shape::Full => mix(hash ^ one),
                Shape::Wide => mix(mix(hash ^ one) ^ two),
                Shape::Text => match Layout::long_len(one) {
                    None => mix(mix(hash ^ one) ^ two),
                    Some(len) => {
                        let text = keys.text(column.at, two, len);
                        self.words[at + 1] = self.arena.len() as u64;
                        self.arena.extend_from_slice(text);
                        mix(mix(hash ^ one) ^ hash_bytes(text))
                    }
                },
            };
        }
        if let Some(flags) = layout.flags {
            hash = self.words[start + flags..].iter().fold(hash, |hash, flags| mix(hash ^ flags));
        }
        self.hashes.push(finished(hash));
    }
}

/// Appends a key as bytes: its hash, so that bytes sort by it, its words, and its long texts.
pub fn put_key(layout: &Layout, keys: &impl Keys, row: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&keys.hashes()[row].to_be_bytes());
    let words = &keys.words()[row * layout.width..][..layout.width];
    let start = out.len();
    words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    for &at in &layout.texts {
        if let Some(len) = Layout::long_len(words[at]) {
            // The place of the text is no part of the key.
            out[start + 8 * at + 8..][..8].fill(0);
            out.extend_from_slice(keys.text(at, words[at + 1], len));
        }
    }
}

fn wrong_shape() -> Error {
    Error::new(Code::Internal, "a key has values of another shape than its type")
}

impl KeyEncoder {
    pub fn new(layout: &Arc<Layout>) -> KeyEncoder {
        let dictionaries = layout.columns.iter().map(|_| DictionaryWords::default()).collect();
        KeyEncoder { layout: layout.clone(), dictionaries, tails: Vec::new() }
    }

    /// Returns the keys of rows. None: the column is null in all rows.
    ///
    /// Errors: `Internal` for a value that its type does not hold.
    pub fn encode(&mut self, columns: &[Option<Arc<Vector>>], rows: usize) -> Result<KeyRows> {
        let layout = self.layout.clone();
        let width = layout.width;
        let mut keys = KeyRows { words: vec![0; width * rows], hashes: vec![0; rows], ..KeyRows::default() };
        if !layout.texts.is_empty() {
            keys.texts.resize_with(width, TextSource::default);
        }
        for (number, (column, vector)) in layout.columns.iter().zip(columns).enumerate() {
            if vector.as_ref().is_some_and(|vector| vector.len() != rows) {
                return Err(Error::new(Code::Internal, "a key has another number of rows than its batch"));
            }
            self.put_column(number, vector.as_ref(), &mut keys)?;
            let tails = &mut self.tails;
            match vector.as_ref().map(|vector| &vector.nulls) {
                None => put_nulls(&layout, number, 0..rows, &mut keys, tails),
                Some(None) => {}
                Some(Some(nulls)) => {
                    let rows = nulls.iter().enumerate().filter(|(_, null)| **null).map(|(row, _)| row);
                    put_nulls(&layout, number, rows, &mut keys, tails);
                }
            }
            let words = keys.words.iter().skip(column.at).step_by(width);
            let hashes = keys.hashes.iter_mut().zip(words);
            match column.shape {
                Shape::Word { .. } => hashes.for_each(|(hash, word)| *hash = mix(*hash ^ word)),
                Shape::Full => hashes.for_each(|(hash, word)| *hash = mix(*hash ^ word)),
                Shape::Wide | Shape::Text => {
                    hashes.zip(&*tails).for_each(|((hash, word), tail)| *hash = mix(mix(*hash ^ word) ^ tail));
                }
            }
        }
        if let Some(flags) = layout.flags {
            for (hash, words) in keys.hashes.iter_mut().zip(keys.words.chunks_exact(width)) {
                *hash = words[flags..].iter().fold(*hash, |hash, flags| mix(hash ^ flags));
            }
        }
        if layout.null_by_hash {
            let nulls = columns[0].as_ref().map(|vector| &vector.nulls);
            for (row, hash) in keys.hashes.iter_mut().enumerate() {
                let is_null = nulls.is_none_or(|nulls| nulls.as_ref().is_some_and(|nulls| nulls[row]));
                *hash = if is_null { NULL_HASH } else { *hash };
            }
        }
        keys.hashes.iter_mut().for_each(|hash| *hash = finished(*hash));
        Ok(keys)
    }

    /// Sets the words of a column's values, and what the hash takes for the second word of each.
    fn put_column(&mut self, number: usize, vector: Option<&Arc<Vector>>, keys: &mut KeyRows) -> Result<()> {
        let column = self.layout.columns[number].clone();
        let put = Put { at: column.at, width: self.layout.width, two: column.has_two(), tails: &mut self.tails };
        let rows = keys.hashes.len();
        let words = &mut keys.words;
        let Some(vector) = vector else {
            put.tails.clear();
            put.tails.resize(rows, 0);
            return Ok(());
        };
        let is_text = column.shape == Shape::Text;
        match &vector.data {
            Data::Codes(codes, values) if is_text => {
                keys.texts[column.at] = TextSource::Dictionary(values.clone());
                let of = |n: usize| Ok(text_words(values.get(n), n as u64));
                match self.dictionaries[number].get(Dictionary::Texts(values.clone()), rows, of)? {
                    Some(known) => put.each(words, rows, |row| Ok(known[codes[row] as usize])),
                    None => put.each(words, rows, |row| of(codes[row] as usize)),
                }
            }
            Data::Bytes(values) if is_text => {
                keys.texts[column.at] = TextSource::Column(vector.clone());
                put.each(words, rows, |row| Ok(text_words(values.get(row), row as u64)))
            }
            _ if is_text => Err(wrong_shape()),
            Data::NumberCodes(codes, values) => {
                let of = |n: usize| column.number_words(values, n);
                match self.dictionaries[number].get(Dictionary::Numbers(values.clone()), rows, of)? {
                    Some(known) => put.each(words, rows, |row| Ok(known[codes[row] as usize])),
                    None => put.each(words, rows, |row| of(codes[row] as usize)),
                }
            }
            Data::Ints(values) if column.kind != Kind::Boolean && !column.has_two() => {
                put.each(words, rows, |row| Ok([values[row] as u64, 0, 0]))
            }
            Data::SmallDecimals(values) if !column.has_two() && matches!(column.kind, Kind::Decimal { .. }) => {
                put.each(words, rows, |row| Ok([values[row] as u64, 0, 0]))
            }
            // A null may have any value.
            data => put
                .each(words, rows, |row| if vector.is_null(row) { Ok([0; 3]) } else { column.number_words(data, row) }),
        }
    }
}

impl KeyColumn {
    fn has_two(&self) -> bool {
        matches!(self.shape, Shape::Wide | Shape::Text)
    }

    /// Returns the words of a value that is no text.
    #[inline(always)]
    fn number_words(&self, data: &Data, row: usize) -> Result<[u64; 3]> {
        let of_decimal = |units: i128| match self.shape {
            Shape::Wide => Ok([units as u64, (units >> 64) as u64, (units >> 64) as u64]),
            _ => i64::try_from(units).map(|units| [units as u64, 0, 0]).map_err(|_| wrong_shape()),
        };
        match (data, self.kind) {
            (Data::Bools(values), Kind::Boolean) => Ok([values[row].into(), 0, 0]),
            (Data::Floats(values), Kind::Float | Kind::Float32) => Ok([ordered_float(values[row]), 0, 0]),
            (Data::Decimals(values), Kind::Decimal { .. }) => of_decimal(values[row]),
            (Data::SmallDecimals(values), Kind::Decimal { .. }) => of_decimal(values[row].into()),
            (Data::Ints(values), Kind::Int | Kind::Date | Kind::Time(_) | Kind::Timestamp { .. }) => {
                Ok([values[row] as u64, 0, 0])
            }
            _ => Err(wrong_shape()),
        }
    }
}

/// Where the words of a column go.
struct Put<'t> {
    at: usize,
    width: usize,
    /// True if a value has two words.
    two: bool,
    tails: &'t mut Vec<u64>,
}

impl Put<'_> {
    #[inline(always)]
    fn each(self, words: &mut [u64], rows: usize, of: impl Fn(usize) -> Result<[u64; 3]>) -> Result<()> {
        let Put { at, width, two, tails } = self;
        if !two {
            for (row, to) in words.iter_mut().skip(at).step_by(width).take(rows).enumerate() {
                *to = of(row)?[0];
            }
            return Ok(());
        }
        tails.clear();
        for (row, to) in words.chunks_exact_mut(width).take(rows).enumerate() {
            let [first, second, tail] = of(row)?;
            (to[at], to[at + 1]) = (first, second);
            tails.push(tail);
        }
        Ok(())
    }
}

impl DictionaryWords {
    /// Returns the words of all values of a dictionary, once it is worth it: it is small, or comes a second time.
    fn get(
        &mut self,
        of: Dictionary,
        rows: usize,
        words: impl Fn(usize) -> Result<[u64; 3]>,
    ) -> Result<Option<&[[u64; 3]]>> {
        let is_known = self.of.as_ref().is_some_and(|before| before.is(&of));
        if !is_known {
            self.words.clear();
        }
        if self.words.is_empty() && (is_known || of.len() <= 2 * rows) {
            self.words = (0..of.len()).map(words).collect::<Result<_>>()?;
        }
        self.of = Some(of);
        Ok((!self.words.is_empty()).then_some(&self.words))
    }
}

/// Makes some rows of a column null.
fn put_nulls(layout: &Layout, number: usize, rows: impl Iterator<Item = usize>, keys: &mut KeyRows, tails: &mut [u64]) {
    let column = &layout.columns[number];
    let (first, second) = match column.shape {
        Shape::Word { null } => (null, 0),
        Shape::Full if layout.null_by_hash => (NULL_WORD, 0),
        Shape::Full => (0, 0),
        Shape::Wide => (0, WIDE_NULL),
        Shape::Text => (NULL_TEXT, 0),
    };
    for row in rows {
        let words = &mut keys.words[row * layout.width..][..layout.width];
        words[column.at] = first;
        if column.has_two() {
            words[column.at + 1] = second;
            tails[row] = second;
        }
        if let (Shape::Full, Some(flags)) = (column.shape, layout.flags) {
            words[flags + number / 64] |= 1 << (number % 64);
        }
    }
}
