//! Statistics of a column in the whole file, for the footer.

use super::Message;

/// Bytes of a text that is kept as a bound, at most.
const TEXT_MAX: usize = 1024;

/// Statistics of a column.
#[derive(Default)]
pub struct Statistics {
    pub values: u64,
    pub has_null: bool,
    pub bounds: Bounds,
}

/// Bounds and sums by type.
#[derive(Default)]
pub enum Bounds {
    #[default]
    None,
    /// The sum is None if it does not fit.
    Ints {
        least: i64,
        most: i64,
        sum: Option<i64>,
    },
    /// None: a value is no number.
    Doubles(Option<(f64, f64, f64)>),
    Texts {
        least: Vec<u8>,
        most: Vec<u8>,
        bytes: i64,
    },
    Binary(i64),
    Trues(u64),
    /// Digits, all with the same number after the point.
    Decimals {
        least: i128,
        most: i128,
        scale: i8,
    },
    Dates(i64, i64),
    /// Milliseconds from 1970.
    Times(i64, i64),
}

impl Bounds {
    pub fn int(&mut self, n: i64) {
        match self {
            Bounds::Ints { least, most, sum } => {
                (*least, *most) = ((*least).min(n), (*most).max(n));
                *sum = sum.and_then(|sum| sum.checked_add(n));
            }
            _ => *self = Bounds::Ints { least: n, most: n, sum: Some(n) },
        }
    }

    pub fn double(&mut self, n: f64) {
        match self {
            Bounds::Doubles(Some((least, most, sum))) if !n.is_nan() => {
                (*least, *most, *sum) = (least.min(n), most.max(n), *sum + n);
            }
            Bounds::Doubles(_) => *self = Bounds::Doubles(None),
            _ => *self = Bounds::Doubles((!n.is_nan()).then_some((n, n, n))),
        }
    }

    pub fn text(&mut self, text: &[u8]) {
        match self {
            Bounds::Texts { least, most, bytes } => {
                *bytes += text.len() as i64;
                if text < &least[..] {
                    *least = text.to_vec();
                }
                if text > &most[..] {
                    *most = text.to_vec();
                }
            }
            _ => *self = Bounds::Texts { least: text.to_vec(), most: text.to_vec(), bytes: text.len() as i64 },
        }
    }

    pub fn binary(&mut self, bytes: &[u8]) {
        match self {
            Bounds::Binary(sum) => *sum += bytes.len() as i64,
            _ => *self = Bounds::Binary(bytes.len() as i64),
        }
    }

    pub fn boolean(&mut self, value: bool) {
        match self {
            Bounds::Trues(n) => *n += u64::from(value),
            _ => *self = Bounds::Trues(u64::from(value)),
        }
    }

    pub fn decimal(&mut self, n: i128, of: i8) {
        match self {
            Bounds::Decimals { least, most, .. } => (*least, *most) = ((*least).min(n), (*most).max(n)),
            _ => *self = Bounds::Decimals { least: n, most: n, scale: of },
        }
    }

    pub fn date(&mut self, n: i64) {
        match self {
            Bounds::Dates(least, most) => (*least, *most) = ((*least).min(n), (*most).max(n)),
            _ => *self = Bounds::Dates(n, n),
        }
    }

    pub fn time(&mut self, n: i64) {
        match self {
            Bounds::Times(least, most) => (*least, *most) = ((*least).min(n), (*most).max(n)),
            _ => *self = Bounds::Times(n, n),
        }
    }
}

impl Statistics {
    /// Returns the message of the footer.
    pub fn message(&self) -> Message {
        let message = Message::default().number(1, self.values);
        let bounds = Message::default();
        let message = match &self.bounds {
            Bounds::None | Bounds::Doubles(None) => message,
            Bounds::Ints { least, most, sum } => {
                let bounds = bounds.signed(1, *least).signed(2, *most);
                message.message(
                    2,
                    &match sum {
                        Some(sum) => bounds.signed(3, *sum),
                        None => bounds,
                    },
                )
            }
            Bounds::Doubles(Some((least, most, sum))) => {
                message.message(3, &bounds.double(1, *least).double(2, *most).double(3, *sum))
            }
            Bounds::Texts { least, most, bytes } => {
                let is_short = least.len() <= TEXT_MAX && most.len() <= TEXT_MAX;
                let bounds = if is_short { bounds.bytes_of(1, least).bytes_of(2, most) } else { bounds };
                message.message(4, &bounds.signed(3, *bytes))
            }
            Bounds::Trues(n) => message.message(5, &bounds.packed_long(1, *n)),
            Bounds::Decimals { least, most, scale } => {
                let text = |n: i128| crate::orc::decode::decimal_text(n, *scale);
                message.message(6, &bounds.bytes_of(1, text(*least).as_bytes()).bytes_of(2, text(*most).as_bytes()))
            }
            Bounds::Dates(least, most) => message.message(7, &bounds.signed(1, *least).signed(2, *most)),
            Bounds::Binary(sum) => message.message(8, &bounds.signed(1, *sum)),
            Bounds::Times(least, most) => {
                let bounds = bounds.signed(1, *least).signed(2, *most).signed(3, *least).signed(4, *most);
                message.message(9, &bounds)
            }
        };
        message.number(10, u64::from(self.has_null))
    }
}
