//! Texts of a whole column. They stay in the batches and dictionaries that they came in; a row has a reference.
//!
//! ```text
//!   few values:  codes, one dictionary              gathered as codes: no text is copied
//!   many:        segment << 32 | place, segments    gathered as texts
//! ```
//!
//! Rejected: one array of all texts. Its offsets are u32, so 4 GiB are the end, and each text is copied twice.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::vector::{Bytes, Data, Vector};

use super::wrong_shape;

/// Values and bytes of a dictionary that is made of several, at most.
const VALUES_MAX: usize = 1 << 16;
const BYTES_MAX: usize = 4 << 20;

/// Texts of some rows.
pub enum Texts {
    Coded { codes: Vec<u32>, values: Arc<Bytes> },
    Spread { places: Vec<u64>, segments: Vec<Segment> },
}

/// Texts that came together.
pub enum Segment {
    Dictionary(Arc<Bytes>),
    /// A part of the column whose data are `Data::Bytes`.
    Part(Arc<Vector>),
}

impl Segment {
    fn texts(&self) -> Option<&Bytes> {
        match self {
            Segment::Dictionary(values) => Some(values),
            Segment::Part(vector) => match &vector.data {
                Data::Bytes(values) => Some(values),
                _ => None,
            },
        }
    }

    fn len(&self) -> usize {
        self.texts().map_or(0, Bytes::len)
    }

    #[inline]
    fn get(&self, place: u32) -> &[u8] {
        match self.texts() {
            Some(values) => values.get(place as usize),
            None => &[],
        }
    }
}

impl Texts {
    /// Returns the texts of parts, one part behind the other.
    pub fn of(parts: Vec<Arc<Vector>>, rows: usize) -> Result<Texts> {
        let mut places = Vec::with_capacity(rows);
        let mut segments: Vec<Segment> = Vec::new();
        // A scan gives the same dictionary with many batches.
        let mut numbers = std::collections::HashMap::new();
        for part in parts {
            match &part.data {
                Data::Codes(codes, values) => {
                    let number = *numbers.entry(Arc::as_ptr(values)).or_insert_with(|| {
                        segments.push(Segment::Dictionary(values.clone()));
                        segments.len() - 1
                    });
                    let base = (number as u64) << 32;
                    places.extend(codes.iter().map(|&code| base | u64::from(code)));
                }
                Data::Bytes(_) => {
                    let base = (segments.len() as u64) << 32;
                    places.extend((0..part.len() as u64).map(|row| base | row));
                    segments.push(Segment::Part(part));
                }
                _ => return Err(wrong_shape()),
            }
        }
        Ok(Texts::Spread { places, segments }.compact())
    }

    /// Returns the texts with one dictionary if they have few values.
    fn compact(self) -> Texts {
        let Texts::Spread { places, segments } = self else { return self };
        if let [Segment::Dictionary(values)] = &segments[..] {
            return Texts::Coded { codes: places.iter().map(|&place| place as u32).collect(), values: values.clone() };
        }
        let values: usize = segments.iter().map(Segment::len).sum();
        let bytes: usize = segments.iter().filter_map(Segment::texts).map(Bytes::used_bytes).sum();
        if values > VALUES_MAX || bytes > BYTES_MAX {
            return Texts::Spread { places, segments };
        }
        let mut all = Bytes::with_capacity(values, bytes);
        let mut bases = Vec::with_capacity(segments.len());
        for segment in &segments {
            bases.push(all.len() as u32);
            segment.texts().into_iter().flat_map(Bytes::iter).for_each(|text| all.push(text));
        }
        let codes = places.iter().map(|&place| bases[(place >> 32) as usize] + place as u32).collect();
        Texts::Coded { codes, values: Arc::new(all) }
    }

    /// Returns the number of rows.
    pub fn count(&self) -> usize {
        match self {
            Texts::Coded { codes, .. } => codes.len(),
            Texts::Spread { places, .. } => places.len(),
        }
    }

    /// Returns the bytes of the rows, with texts that no dictionary has.
    pub fn bytes(&self) -> u64 {
        match self {
            Texts::Coded { codes, .. } => 4 * codes.len() as u64,
            Texts::Spread { places, segments } => {
                let texts = segments.iter().filter(|of| matches!(of, Segment::Part(_))).filter_map(Segment::texts);
                8 * places.len() as u64 + texts.map(|texts| texts.used_bytes() as u64).sum::<u64>()
            }
        }
    }

    /// Returns the text of a row.
    #[inline]
    pub fn get(&self, row: usize) -> &[u8] {
        match self {
            Texts::Coded { codes, values } => values.get(codes[row] as usize),
            Texts::Spread { places, segments } => {
                let place = places[row];
                segments[(place >> 32) as usize].get(place as u32)
            }
        }
    }

    /// Returns the texts of some rows. The caller bounds the rows so that the texts are fewer than 4 GiB.
    pub fn gather(&self, rows: &[u32]) -> Data {
        match self {
            Texts::Coded { codes, values } => {
                Data::Codes(rows.iter().map(|&row| codes[row as usize]).collect(), values.clone())
            }
            Texts::Spread { .. } => {
                let bytes = rows.iter().map(|&row| self.get(row as usize).len()).sum();
                let mut all = Bytes::with_capacity(rows.len(), bytes);
                rows.iter().for_each(|&row| all.push(self.get(row as usize)));
                Data::Bytes(all)
            }
        }
    }

    /// Returns the length of a gathered text, if gathering copies it.
    #[inline]
    pub fn copied_bytes(&self, row: u32) -> usize {
        match self {
            Texts::Coded { .. } => 0,
            Texts::Spread { .. } => self.get(row as usize).len(),
        }
    }
}
