//! The dictionary of a column chunk, and which of its values meet the bounds of a scan.

use bytes::Bytes;

use super::form::Form;
use super::plain::{self, Places, Texts};
use super::read;
use crate::bounds::Test;

/// Values of a dictionary, as their page stores them.
pub struct Dictionary {
    pub stored: Bytes,
    /// For values of any length.
    pub texts: Option<Texts>,
    pub len: usize,
    /// True for each value that meets all bounds. Empty without a bound.
    pub passes: Vec<bool>,
}

impl Drop for Dictionary {
    fn drop(&mut self) {
        read::give(std::mem::take(&mut self.stored));
    }
}

impl Dictionary {
    /// Returns the dictionary of a page; None if the page has fewer values than it says.
    pub fn of(stored: Bytes, len: usize, form: Form, tests: &[Test]) -> Option<Dictionary> {
        let texts = match form.stored_bytes() {
            Some(bytes) if stored.len() / bytes < len => return None,
            Some(_) => None,
            None => Some(Texts::find(&stored, len)?),
        };
        let mut passes = Vec::new();
        if !tests.is_empty() {
            let mut kept: Vec<u32> = (0..len as u32).collect();
            match &texts {
                Some(texts) => plain::keep(&mut kept, |n| {
                    let text = texts.get(&stored, n as usize).unwrap_or_default();
                    tests.iter().all(|test| test.bytes(text))
                }),
                None => plain::retain(form, &stored, tests, &mut kept, |n| n),
            }
            passes = vec![false; len];
            kept.iter().for_each(|&n| passes[n as usize] = true);
        }
        Some(Dictionary { stored, texts, len, passes })
    }

    /// Returns true if no value meets the bounds.
    pub fn has_none(&self) -> bool {
        !self.passes.is_empty() && !self.passes.contains(&true)
    }

    /// Appends all values in the shape of a block.
    pub fn put_values(&self, form: Form, out: &mut Vec<u8>) {
        plain::put(form, &self.stored, Places::Range(0, self.len), out);
    }
}
