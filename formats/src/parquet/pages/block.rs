//! Values of a column that gather until they are a block.

use arrow_buffer::ToByteSlice;

use super::dictionary::Dictionary;
use super::form::Form;
use super::plain::{self, NULL, Places, Texts};
use crate::block::{put_number, shape};

/// A dictionary with this many values for each row of a block is not sent with it.
const VALUES_A_CODE: usize = 4;
const NO_TEXT: &str = "a text is not UTF-8";

/// Values of one column.
pub struct Fill {
    form: Form,
    rows: usize,
    /// 1 for each null. Empty as long as there is none.
    nulls: Vec<u8>,
    values: Values,
    /// True if an earlier block of the unit has the dictionary.
    sent: bool,
}

enum Values {
    Codes(Vec<u32>),
    /// In the shape of the block.
    Fixed(Vec<u8>),
    /// Ends of values, and their bytes.
    Texts(Vec<u32>, Vec<u8>),
}

impl Fill {
    pub fn new(form: Form) -> Fill {
        Fill { form, rows: 0, nulls: Vec::new(), values: Values::Codes(Vec::new()), sent: false }
    }

    /// Returns the bytes that the values take, about.
    pub fn bytes(&self) -> usize {
        match &self.values {
            Values::Codes(codes) => 4 * codes.len(),
            Values::Fixed(bytes) => bytes.len(),
            Values::Texts(ends, bytes) => 4 * ends.len() + bytes.len(),
        }
    }

    fn note(&mut self, rows: usize, nulls: Option<impl Iterator<Item = bool>>) {
        if let Some(nulls) = nulls {
            self.nulls.resize(self.rows, 0);
            self.nulls.extend(nulls.map(u8::from));
        } else if !self.nulls.is_empty() {
            self.nulls.resize(self.rows + rows, 0);
        }
        self.rows += rows;
    }

    /// Appends values by their codes; `NULL` for a null. Fails with what is wrong with them.
    pub fn push_codes(
        &mut self,
        codes: impl ExactSizeIterator<Item = u32> + Clone,
        nulls: bool,
        of: &Dictionary,
    ) -> Result<(), String> {
        let rows = codes.len();
        if self.rows == 0 && !matches!(self.values, Values::Codes(_)) {
            self.values = Values::Codes(Vec::new());
        }
        let (first, start) = self.texts();
        match &mut self.values {
            Values::Codes(all) if nulls => all.extend(codes.clone().map(|code| if code == NULL { 0 } else { code })),
            Values::Codes(all) => all.extend(codes.clone()),
            Values::Fixed(out) => {
                let list: Vec<u32> = codes.clone().collect();
                plain::put(self.form, &of.stored, Places::List(&list), out);
            }
            Values::Texts(ends, bytes) => {
                if let Some(texts) = &of.texts {
                    codes.clone().for_each(|code| put_text(texts.get(&of.stored, code as usize), ends, bytes));
                }
            }
        }
        self.note(rows, nulls.then(|| codes.map(|code| code == NULL)));
        self.check(first, start)
    }

    /// Makes room for values that are no codes. Codes become values of the dictionary.
    fn without_codes(&mut self, dictionary: Option<&Dictionary>) -> Result<(), String> {
        let Values::Codes(codes) = &mut self.values else { return Ok(()) };
        let codes = std::mem::take(codes);
        self.values = match self.form.stored_bytes() {
            Some(_) => Values::Fixed(Vec::new()),
            None => Values::Texts(Vec::new(), Vec::new()),
        };
        if let (Some(of), false) = (dictionary, codes.is_empty()) {
            match &mut self.values {
                Values::Fixed(out) => plain::put(self.form, &of.stored, Places::List(&codes), out),
                Values::Texts(ends, bytes) => {
                    if let Some(texts) = &of.texts {
                        codes.iter().for_each(|&code| put_text(texts.get(&of.stored, code as usize), ends, bytes));
                    }
                }
                Values::Codes(_) => {}
            }
        }
        self.check(0, 0)
    }

    /// Returns the number of values of any length, and their bytes.
    fn texts(&self) -> (usize, usize) {
        if let Values::Texts(ends, bytes) = &self.values { (ends.len(), bytes.len()) } else { (0, 0) }
    }

    /// Fails unless the texts from number `first`, at byte `start`, are UTF-8.
    fn check(&self, first: usize, start: usize) -> Result<(), String> {
        let Values::Texts(ends, bytes) = &self.values else { return Ok(()) };
        if bytes.len() > u32::MAX as usize {
            return Err("rows of a block have more than 4 GB of text".into());
        }
        let is_text = || is_text(&bytes[start..], ends[first..].iter().map(|end| *end as usize - start));
        if self.form == Form::Text && !is_text() { Err(NO_TEXT.into()) } else { Ok(()) }
    }

    /// Appends values of a page. Fails with what is wrong with them.
    pub fn push_stored(
        &mut self,
        (stored, texts): (&[u8], Option<&Texts>),
        places: Places<'_>,
        nulls: bool,
        dictionary: Option<&Dictionary>,
    ) -> Result<(), String> {
        self.without_codes(dictionary)?;
        let (first, start) = self.texts();
        match (&mut self.values, texts) {
            (Values::Texts(ends, bytes), Some(texts)) => match places {
                Places::Range(from, to) => {
                    (from..to).for_each(|place| put_text(texts.get(stored, place), ends, bytes));
                }
                Places::List(list) => {
                    list.iter().for_each(|&place| put_text(texts.get(stored, place as usize), ends, bytes));
                }
            },
            (Values::Fixed(out), None) => plain::put(self.form, stored, places, out),
            _ => return Err("a page has values of another type".into()),
        }
        let list = match places {
            Places::List(list) if nulls => Some(list.iter().map(|&place| place == NULL)),
            _ => None,
        };
        self.note(places.len(), list);
        self.check(first, start)
    }

    /// Appends the column to a block, and forgets its values. Fails with what is wrong with them.
    pub fn put(&mut self, dictionary: Option<&Dictionary>, out: &mut Vec<u8>) -> Result<(), String> {
        let is_large = |of: &Dictionary| of.len / VALUES_A_CODE > self.rows;
        if !self.sent && dictionary.is_some_and(is_large) {
            // The few values cost less than their dictionary.
            self.without_codes(dictionary)?;
        }
        let has_nulls = self.nulls.contains(&1);
        let own = self.form.shape();
        let kind = match (&self.values, self.sent) {
            (Values::Codes(_), true) => shape::CODES_AS_BEFORE,
            (Values::Codes(_), false) if own == shape::BYTES => shape::CODES,
            (Values::Codes(_), false) => shape::CODES_OF_NUMBERS,
            _ => own,
        };
        out.extend_from_slice(&[kind, has_nulls.into()]);
        if has_nulls {
            out.extend_from_slice(&self.nulls);
        }
        match &mut self.values {
            Values::Codes(codes) => {
                if !self.sent {
                    put_dictionary(self.form, dictionary, out)?;
                    self.sent = true;
                }
                put_words(codes, out);
                codes.clear();
            }
            Values::Fixed(bytes) => {
                out.extend_from_slice(bytes);
                bytes.clear();
            }
            Values::Texts(ends, bytes) => {
                put_texts(ends, bytes, out);
                ends.clear();
                bytes.clear();
            }
        }
        self.nulls.clear();
        self.rows = 0;
        Ok(())
    }
}

/// Appends the values of a dictionary; one at least, which is the code of nulls.
fn put_dictionary(form: Form, dictionary: Option<&Dictionary>, out: &mut Vec<u8>) -> Result<(), String> {
    let len = dictionary.map_or(0, |of| of.len);
    put_number(len.max(1), out);
    match (dictionary, form.stored_bytes()) {
        (Some(of), Some(_)) if len > 0 => {
            out.push(form.shape());
            of.put_values(form, out);
        }
        (_, Some(_)) => {
            out.push(form.shape());
            out.resize(out.len() + if form.shape() == shape::DECIMALS { 16 } else { 8 }, 0);
        }
        (Some(of), None) if len > 0 => {
            let (mut ends, mut bytes) = (Vec::new(), Vec::new());
            if let Some(texts) = &of.texts {
                (0..len).for_each(|n| put_text(texts.get(&of.stored, n), &mut ends, &mut bytes));
            }
            if form == Form::Text && !is_text(&bytes, ends.iter().map(|end| *end as usize)) {
                return Err(NO_TEXT.into());
            }
            put_texts(&ends, &bytes, out);
        }
        (_, None) => put_texts(&[0], b"", out),
    }
    Ok(())
}

/// Appends values of any length: their offsets, and their bytes.
fn put_texts(ends: &[u32], bytes: &[u8], out: &mut Vec<u8>) {
    put_number(0, out);
    put_words(ends, out);
    out.extend_from_slice(bytes);
}

fn put_words(words: &[u32], out: &mut Vec<u8>) {
    // The crates are for little-endian machines.
    out.extend_from_slice(words.to_byte_slice());
}

#[inline(always)]
fn put_text(text: Option<&[u8]>, ends: &mut Vec<u32>, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(text.unwrap_or_default());
    ends.push(bytes.len() as u32);
}

/// Returns true if bytes are UTF-8, and each value ends where a character does.
fn is_text(bytes: &[u8], mut ends: impl Iterator<Item = usize>) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| text.is_ascii() || ends.all(|end| text.is_char_boundary(end)))
}
