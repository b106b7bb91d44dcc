//! Slices as numbers, and numbers beside slices.

use crate::slices::{Columns, Slices};

/// Writes the slices as whole numbers: decimal digits, with a sign or without. Returns the first slice that is none.
pub fn to_i64(slices: &Slices<'_>, to: &mut [i64]) -> Result<(), usize> {
    for (i, (item, to)) in slices.items().zip(to).enumerate() {
        *to = whole(item).ok_or(i)?;
    }
    Ok(())
}

/// Writes the slices as floating-point numbers. Returns the first slice that is none.
pub fn to_f64(slices: &Slices<'_>, to: &mut [f64]) -> Result<(), usize> {
    for (i, (item, to)) in slices.items().zip(to).enumerate() {
        *to = std::str::from_utf8(item).ok().and_then(|text| text.parse().ok()).ok_or(i)?;
    }
    Ok(())
}

#[inline(always)]
fn whole(item: &[u8]) -> Option<i64> {
    let (digits, is_negative) = match item {
        [b'-', digits @ ..] => (digits, true),
        [b'+', digits @ ..] | digits => (digits, false),
    };
    if digits.is_empty() {
        return None;
    }
    let mut number = 0u64;
    let (eights, rest) = digits.as_chunks::<8>();
    if eights.len() > 2 {
        // Leading zeros, or beyond 64 bits.
        return std::str::from_utf8(item).ok()?.parse().ok();
    }
    for eight in eights {
        number = number * 100_000_000 + eight_digits(u64::from_le_bytes(*eight))?;
    }
    for &byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    match is_negative {
        false => i64::try_from(number).ok(),
        true => 0i64.checked_sub_unsigned(number),
    }
}

/// Returns the number of eight digits, the first in the lowest byte. Neighbours become numbers of 2, 4 and 8 digits,
/// all at once.
#[inline(always)]
fn eight_digits(text: u64) -> Option<u64> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let digits = text ^ ZEROS;
    // A byte above 9 carries into the high half of its sum with 6, or has a high half already.
    if (digits | digits.wrapping_add(0x0606_0606_0606_0606)) & 0xf0f0_f0f0_f0f0_f0f0 != 0 {
        return None;
    }
    let twos = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (twos * 100 + (twos >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// Writes each slice's offset and length with the number beside it.
pub fn triples(columns: Columns<'_>, values: &[u64], to: &mut [u64]) {
    for (((at, len), value), to) in columns.places().zip(values).zip(to.chunks_exact_mut(2)) {
        (to[0], to[1]) = (at as u64 | (len as u64) << 32, *value);
    }
}

/// Copies the slices, one behind the other. Returns the bytes of all.
pub fn gather(slices: &Slices<'_>, to: &mut [u8]) -> usize {
    let mut end = 0;
    for item in slices.items() {
        if let Some(to) = to.get_mut(end..end + item.len()) {
            to.copy_from_slice(item);
        }
        end += item.len();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_those_of_the_standard_library() {
        let mut texts: Vec<String> =
            ["", "+", "-", "--1", "+-1", "1 ", "1a", "a1234567", "1234567a", "12345678:"].map(String::from).to_vec();
        for n in [0, 1, 9, 12_345_678, 99_999_999, 123_456_789, i64::MAX, i64::MIN, -1, -100_000_000] {
            for text in [n.to_string(), format!("+{n}"), format!("0{n}"), format!("{}{n}", "0".repeat(30))] {
                texts.push(text);
            }
        }
        texts.push("9223372036854775808".into());
        texts.push("-9223372036854775809".into());
        texts.push("99999999999999999999".into());
        for byte in 0..=255u8 {
            texts.push(format!("1234{}678", byte as char));
        }
        for text in texts {
            assert_eq!(whole(text.as_bytes()), text.parse().ok(), "{text:?}");
        }
    }
}
