//! Rows of one column chunk: read, passed over, or tested.

use parquet::column::page::Page;
use parquet::file::metadata::ColumnChunkMetaData;
use yunti_api::{Result, SourceFile};

use super::block::Fill;
use super::dictionary::Dictionary;
use super::form::Form;
use super::page::{OpenPage, Values, too_short};
use super::plain::{self, NULL, Places};
use super::read::{self, Next, Pages};
use crate::bounds::Test;
use crate::parquet::failure::of_text;
use crate::parquet::schema::has_only_codes;

/// A column chunk that is being read.
pub struct Column {
    pages: Pages,
    form: Form,
    has_levels: bool,
    has_only_codes: bool,
    pub tests: Vec<Test>,
    dictionary: Option<Dictionary>,
    page: Option<OpenPage>,
    /// Rows to pass over before the next one is read.
    skipped: usize,
    /// Codes of the rows that were taken, without nulls.
    codes: Vec<u32>,
    /// Place of the value of each row that was taken, if the page has nulls.
    places: Vec<u32>,
    taken: Taken,
    picks: Vec<u32>,
    fill: Fill,
}

/// Rows that were taken from the page.
#[derive(Clone, Copy, Default)]
struct Taken {
    rows: usize,
    /// Place of the first value.
    value: usize,
    has_nulls: bool,
}

impl Column {
    /// Opens a column chunk. `window`: bytes that are read at a time.
    pub fn open(
        file: &SourceFile,
        chunk: &ColumnChunkMetaData,
        rows: usize,
        (form, tests): (Form, Vec<Test>),
        window: u64,
    ) -> Result<Column> {
        Ok(Column {
            pages: Pages::open(file, chunk, rows, window)?,
            form,
            has_levels: chunk.column_descr().max_def_level() > 0,
            has_only_codes: has_only_codes(chunk),
            tests,
            dictionary: None,
            page: None,
            skipped: 0,
            codes: Vec::new(),
            places: Vec::new(),
            taken: Taken::default(),
            picks: Vec::new(),
            fill: Fill::new(form),
        })
    }

    /// Passes over rows, when the next row is read.
    pub fn skip(&mut self, rows: usize) {
        self.skipped += rows;
    }

    /// Opens the page of the next row. Returns the rows that are left in it.
    pub fn page_rows(&mut self) -> Result<usize> {
        loop {
            if let Some(page) = self.page.as_mut().filter(|page| page.rows_left > 0) {
                if self.skipped == 0 {
                    return Ok(page.rows_left);
                }
                let rows = self.skipped.min(page.rows_left);
                page.skip(rows).map_err(|what| of_text(&what))?;
                self.skipped -= rows;
                continue;
            }
            if let Some(page) = self.page.take() {
                read::give(page.into_bytes());
            }
            let ended = || of_text("a column has fewer rows than its row group");
            if let Next::Data(Some(rows)) = self.pages.peek()?.ok_or_else(ended)?
                && rows <= self.skipped
            {
                self.pages.skip()?;
                self.skipped -= rows;
                continue;
            }
            match self.pages.read()?.ok_or_else(ended)? {
                Page::DictionaryPage { .. } if self.dictionary.is_some() => {
                    return Err(of_text("a column has two dictionaries"));
                }
                Page::DictionaryPage { buf, num_values, .. } => {
                    let of = Dictionary::of(buf, num_values as usize, self.form, &self.tests);
                    self.dictionary = Some(of.ok_or_else(|| of_text("the dictionary of a column is damaged"))?);
                }
                page => {
                    let page = OpenPage::of(page, self.form, self.has_levels).map_err(|what| of_text(&what))?;
                    self.page = Some(page);
                }
            }
        }
    }

    /// Takes rows of the open page, which has as many.
    fn take(&mut self, rows: usize) -> Result<()> {
        let Some(page) = &mut self.page else { return Err(of_text(&too_short())) };
        let values = page.values_in(rows);
        let first = match &mut page.values {
            Values::Codes(codes) => {
                self.codes.resize(values, 0);
                codes.read(&mut self.codes).ok_or_else(|| of_text(&too_short()))?;
                let len = self.dictionary.as_ref().map_or(0, |of| of.len);
                // All bits together are no less than the largest, and cheaper: most often they are within already.
                let together = self.codes.iter().fold(0, |all, code| all | code);
                let largest = || self.codes.iter().fold(0, |most, code| most.max(*code));
                if together as usize >= len && largest() as usize >= len && values > 0 {
                    return Err(of_text("a code is beyond its dictionary"));
                }
                0
            }
            Values::Stored(..) => page.value,
        };
        if let Some(nulls) = page.nulls(rows) {
            let mut next = first as u32;
            self.places.clear();
            self.places.extend(nulls.iter().map(|&null| {
                let place = if null { NULL } else { next };
                next += u32::from(!null);
                place
            }));
        }
        self.taken = Taken { rows, value: first, has_nulls: page.nulls(rows).is_some() };
        page.advance(rows, values);
        Ok(())
    }

    /// Takes rows, all of one page, and removes those from `kept` that no bound allows.
    pub fn test(&mut self, rows: usize, kept: &mut Vec<u32>) -> Result<()> {
        self.take(rows)?;
        let Column { page, dictionary, codes, places, taken, tests, form, .. } = self;
        let place = |row: u32| match taken.has_nulls {
            true => places[row as usize],
            false => taken.value as u32 + row,
        };
        match (page.as_ref().map(|page| &page.values), dictionary) {
            (Some(Values::Codes(_)), Some(of)) => {
                let passes = &of.passes;
                match taken.has_nulls {
                    false => plain::keep(kept, |row| passes[codes[row as usize] as usize]),
                    true => plain::keep(kept, |row| {
                        codes.get(place(row) as usize).is_some_and(|code| passes[*code as usize])
                    }),
                }
            }
            (Some(Values::Stored(stored, None)), _) => plain::retain(*form, stored, tests, kept, place),
            (Some(Values::Stored(stored, Some(texts))), _) => plain::keep(kept, |row| {
                let text = texts.get(stored, place(row) as usize);
                text.is_some_and(|text| tests.iter().all(|test| test.bytes(text)))
            }),
            // Nothing but nulls.
            _ => kept.clear(),
        }
        Ok(())
    }

    /// Appends those of the rows taken that are in `kept`, which are numbered from `first`; all without `kept`.
    pub fn push(&mut self, kept: Option<(&[u32], usize)>) -> Result<()> {
        let Column { page, dictionary, codes, places, taken, picks, fill, .. } = self;
        let Some(page) = page else { return Err(of_text(&too_short())) };
        let Taken { rows, value, has_nulls } = *taken;
        let picked = match kept {
            None if has_nulls => Places::List(places),
            None => Places::Range(value, value + rows),
            Some((kept, first)) => {
                picks.clear();
                match has_nulls {
                    true => picks.extend(kept.iter().map(|&row| places[row as usize - first])),
                    false => picks.extend(kept.iter().map(|&row| (value + row as usize - first) as u32)),
                }
                Places::List(picks)
            }
        };
        let pushed = match (&page.values, dictionary) {
            (Values::Codes(_), Some(of)) => match picked {
                Places::Range(..) => fill.push_codes(codes.iter().copied(), false, of),
                Places::List(list) => {
                    let of_place = |&place: &u32| codes.get(place as usize).copied().unwrap_or(NULL);
                    fill.push_codes(list.iter().map(of_place), has_nulls, of)
                }
            },
            (Values::Codes(_), None) => {
                // Only nulls need no dictionary.
                let none = Dictionary::of(Default::default(), 0, self.form, &[]);
                let none = none.ok_or_else(|| of_text("a column has codes without a dictionary"))?;
                fill.push_codes((0..picked.len()).map(|_| NULL), true, &none)
            }
            (Values::Stored(stored, texts), of) => {
                fill.push_stored((stored, texts.as_ref()), picked, has_nulls, of.as_ref())
            }
        };
        pushed.map_err(|what| of_text(&what))
    }

    /// Reads rows, and appends those in `kept`; all without it.
    pub fn read(&mut self, rows: usize, kept: Option<&[u32]>) -> Result<()> {
        let mut done = 0;
        while done < rows {
            let kept = kept.map(|kept| &kept[kept.partition_point(|&row| (row as usize) < done)..]);
            // Rows before the next one that counts, or behind the last, are passed over.
            let idle = match kept {
                Some(kept) => kept.first().map_or(rows, |&row| row as usize) - done,
                None => 0,
            };
            if idle > 0 {
                self.skip(idle);
                done += idle;
                continue;
            }
            let n = self.page_rows()?.min(rows - done);
            self.take(n)?;
            let within = kept.map(|kept| &kept[..kept.partition_point(|&row| (row as usize) < done + n)]);
            self.push(within.map(|kept| (kept, done)))?;
            done += n;
        }
        Ok(())
    }

    /// Returns the bytes that wait for a block.
    pub fn bytes(&self) -> usize {
        self.fill.bytes()
    }

    /// Appends the column to a block.
    pub fn put(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.fill.put(self.dictionary.as_ref(), out).map_err(|what| of_text(&what))
    }

    /// Returns true if no row meets the bounds, as the dictionary shows, which was read with the first page.
    pub fn has_none(&self) -> bool {
        self.has_only_codes && self.dictionary.as_ref().is_some_and(Dictionary::has_none)
    }
}
