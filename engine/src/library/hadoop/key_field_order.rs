//! Yunti.KeyFieldOrder: keys in the order of Hadoop's KeyFieldBasedComparator, by options such as `-k2,2nr -k1,1`.
//!
//! Keys that agree in all fields are one group. A missing field comes before all others, after them if it is
//! descending. A number begins at the first character of its field, and a field without a number counts as 0.
//!
//! Hadoop orders numbers of equal value by the byte at which its comparison stops (a signed byte): the one behind the
//! digits, or, where nothing follows, the first of the field. So `07` comes before `7`, and both before `7x`, but `07`
//! and `007` are one group. A decimal point stops no comparison.
//!
//! Limitation: Hadoop's comparison is no order for some mixtures. It takes `7.0` as equal to `7`, to `07` and to `7x`;
//! here it is equal to `7` alone. The same holds for `-0` beside texts without a digit.

use super::key_fields::KeyFields;
use crate::bytes::ordered_bytes::OrderedBytes;
use crate::operator::{Batch, KeyOrderer, Out, TaskContext};
use yunti_base::Result;

const OPTIONS: &str = "mapreduce.partition.keycomparator.options";

/// Key order by fields. Setting: `mapreduce.partition.keycomparator.options`.
pub struct KeyFieldOrder {
    fields: KeyFields,
    form: Vec<u8>,
}

impl KeyFieldOrder {
    /// Reads the settings. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<KeyFieldOrder> {
        Ok(KeyFieldOrder { fields: KeyFields::of(context, OPTIONS)?, form: Vec::new() })
    }
}

impl KeyOrderer for KeyFieldOrder {
    fn order_keys(&mut self, batch: &Batch<'_>, out: &mut Out, _: &mut [u32]) -> Result<()> {
        for i in 0..batch.len() {
            let (key, _) = batch.record(i);
            let KeyFieldOrder { fields, form } = self;
            form.clear();
            if fields.fields.is_empty() {
                form.extend_from_slice(key);
            }
            fields.each(key, |field, stretch| {
                form.push(u8::from(stretch.is_some() != field.descending));
                let Some(text) = stretch else { return };
                let mut form = OrderedBytes(form);
                if !field.numeric {
                    return form.text(text, field.descending);
                }
                let number = if matches!(text.first(), Some(b' ' | b'\t')) { b"" } else { text };
                form.decimal(number, field.descending);
                form.0.push(tie(text) ^ if field.descending { 0xff } else { 0 });
            });
            out.emit(form, &[])?;
        }
        Ok(())
    }
}

/// Returns the byte that orders numbers of equal value.
fn tie(text: &[u8]) -> u8 {
    let is_negative = text.first() == Some(&b'-');
    let number = &text[usize::from(is_negative)..];
    let zeros = number.iter().take_while(|&&byte| byte == b'0').count();
    let digits = zeros + number[zeros..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let fraction = match &number[digits..] {
        [b'.', rest @ ..] => rest.iter().take_while(|byte| byte.is_ascii_digit()).any(|&byte| byte != b'0'),
        _ => false,
    };
    // Hadoop takes all negative zeros as one.
    let is_zero = zeros == digits && !fraction;
    let byte = match number.get(digits) {
        _ if is_negative && is_zero => b'0',
        Some(b'.') if is_negative => b'-',
        // As the whole number of this value without zeros before it.
        Some(b'.') if digits > zeros => number[zeros],
        Some(b'.') => b'0',
        Some(&behind) => behind,
        // Hadoop reads the separator of an empty field.
        None => text.first().copied().unwrap_or(b'\t'),
    };
    let signed = byte ^ 0x80;
    if is_negative && !is_zero { !signed } else { signed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    fn form(text: &str) -> Vec<u8> {
        let mut form = Vec::new();
        OrderedBytes(&mut form).decimal(text.as_bytes(), false);
        form.push(tie(text.as_bytes()));
        form
    }

    #[test]
    fn numbers_of_equal_value_are_ordered_as_in_hadoop() {
        for (a, b, expect) in [
            ("07", "7", Ordering::Less),
            ("007", "07", Ordering::Equal),
            ("00", "0", Ordering::Equal),
            ("7", "7x", Ordering::Less),
            ("7", "7 ", Ordering::Greater),
            ("7x", "7y", Ordering::Less),
            ("7x", "07x", Ordering::Equal),
            ("7", "7.0", Ordering::Equal),
            ("7.50", "07.5", Ordering::Equal),
            ("-7", "-07", Ordering::Equal),
            ("-7x", "-7y", Ordering::Greater),
            ("-0", "0", Ordering::Equal),
            ("-0", "-00", Ordering::Equal),
            ("x", "0", Ordering::Greater),
            ("6x", "07", Ordering::Less),
            ("10", "9z", Ordering::Greater),
        ] {
            assert_eq!(form(a).cmp(&form(b)), expect, "{a} {b}");
        }
    }
}
