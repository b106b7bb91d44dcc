//! Writables: how the classes of Hadoop's keys and values stand in bytes.
//!
//! ```text
//!   Text               length: vint | bytes            IntWritable, LongWritable ..   4, 8 .. bytes, the highest first
//!   BytesWritable      length: int | bytes             VIntWritable, VLongWritable    vint: 1 to 9 bytes
//!   UTF8 (old)         length: 16 bits | bytes         NullWritable                   nothing
//! ```

use arrow_schema::DataType;
use yunti_api::{Error, Result};

/// Class of keys or values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writable {
    Text,
    Utf8,
    Bytes,
    Null,
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    VInt,
    VLong,
    Float,
    Double,
}

/// All classes: name after `org.apache.hadoop.io.`, and the type of the values as Arrow spells it.
const CLASSES: [(Writable, &str, &str); 13] = [
    (Writable::Text, "Text", "Utf8"),
    (Writable::Bytes, "BytesWritable", "Binary"),
    (Writable::Null, "NullWritable", "Null"),
    (Writable::Boolean, "BooleanWritable", "Boolean"),
    (Writable::Byte, "ByteWritable", "Int8"),
    (Writable::Short, "ShortWritable", "Int16"),
    (Writable::Int, "IntWritable", "Int32"),
    (Writable::Long, "LongWritable", "Int64"),
    (Writable::VInt, "VIntWritable", "Int32"),
    (Writable::VLong, "VLongWritable", "Int64"),
    (Writable::Float, "FloatWritable", "Float32"),
    (Writable::Double, "DoubleWritable", "Float64"),
    (Writable::Utf8, "UTF8", "Utf8"),
];
const PACKAGE: &str = "org.apache.hadoop.io.";

impl Writable {
    /// Returns the class of a name in a header. Fails for a class whose bytes are not known.
    pub fn of_class(name: &str) -> Result<Writable> {
        let simple = name.strip_prefix(PACKAGE);
        let found = CLASSES.iter().find(|(_, known, _)| simple == Some(known));
        found.map(|(class, ..)| *class).ok_or_else(|| {
            let name: String = name.escape_debug().take(120).collect();
            Error::unsupported(format!("the SequenceFile has the class {name}, which only its own program can read"))
        })
    }

    /// Returns the class for a type as Arrow spells it, or for the simple name of a class.
    pub fn of_type(name: &str) -> Option<Writable> {
        CLASSES.iter().find(|(_, class, kind)| name == *class || name == *kind).map(|(class, ..)| *class)
    }

    /// Returns the name in a header.
    pub fn class(self) -> String {
        format!("{PACKAGE}{}", self.row().1)
    }

    /// Returns the type of the values.
    pub fn kind(self) -> DataType {
        self.row().2.parse().expect("the types of the table are Arrow's")
    }

    fn row(self) -> &'static (Writable, &'static str, &'static str) {
        CLASSES.iter().find(|(class, ..)| *class == self).expect("every class has a row")
    }

    /// Returns the text of a value; None for a null. A number is written to `space`.
    ///
    /// Fails for bytes that are no value of the class.
    pub fn text<'a>(self, bytes: &'a [u8], space: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>> {
        let wrong = || {
            let n = bytes.len();
            Error::damaged(format!("the SequenceFile is damaged: {n} bytes are no {}", self.row().1))
        };
        fn number<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
            bytes.try_into().ok()
        }
        let mut digits = itoa::Buffer::new();
        let mut floating = ryu::Buffer::new();
        let text = match self {
            Writable::Null if bytes.is_empty() => return Ok(None),
            Writable::Null => return Err(wrong()),
            Writable::Text => {
                let (length, n) = vlong(bytes).ok_or_else(wrong)?;
                return Some(&bytes[n..]).filter(|rest| rest.len() as i64 == length).map(Some).ok_or_else(wrong);
            }
            Writable::Utf8 => {
                let (length, rest) = bytes.split_first_chunk().ok_or_else(wrong)?;
                let length = usize::from(u16::from_be_bytes(*length));
                return Some(rest).filter(|rest| rest.len() == length).map(Some).ok_or_else(wrong);
            }
            Writable::Bytes => {
                let (length, rest) = bytes.split_first_chunk().ok_or_else(wrong)?;
                let length = u32::from_be_bytes(*length);
                return Some(rest).filter(|rest| rest.len() as u64 == u64::from(length)).map(Some).ok_or_else(wrong);
            }
            Writable::Boolean => match bytes {
                // DataInput.readBoolean takes every byte but 0 for true.
                [byte] => return Ok(Some(if *byte == 0 { b"false" } else { b"true" })),
                _ => return Err(wrong()),
            },
            Writable::Byte => digits.format(i8::from_be_bytes(number(bytes).ok_or_else(wrong)?)),
            Writable::Short => digits.format(i16::from_be_bytes(number(bytes).ok_or_else(wrong)?)),
            Writable::Int => digits.format(i32::from_be_bytes(number(bytes).ok_or_else(wrong)?)),
            Writable::Long => digits.format(i64::from_be_bytes(number(bytes).ok_or_else(wrong)?)),
            Writable::VInt | Writable::VLong => match vlong(bytes) {
                Some((value, n)) if n == bytes.len() && (self == Writable::VLong || i32::try_from(value).is_ok()) => {
                    digits.format(value)
                }
                _ => return Err(wrong()),
            },
            Writable::Float => match f32::from_be_bytes(number(bytes).ok_or_else(wrong)?) {
                value if value.is_finite() => floating.format_finite(value),
                value => special(value.into()),
            },
            Writable::Double => match f64::from_be_bytes(number(bytes).ok_or_else(wrong)?) {
                value if value.is_finite() => floating.format_finite(value),
                value => special(value),
            },
        };
        space.clear();
        space.extend_from_slice(text.as_bytes());
        Ok(Some(space))
    }

    /// Appends a value by its text. Fails for a text that is no value of the class.
    pub fn put_text(self, text: &[u8], to: &mut Vec<u8>) -> Result<()> {
        let wrong = || {
            let shown: String = String::from_utf8_lossy(text).chars().take(60).collect();
            Error::new(format!("'{shown}' is no {}", self.row().1))
        };
        let string = || std::str::from_utf8(text).map(str::trim).map_err(|_| wrong());
        fn parse<T: std::str::FromStr>(text: &str, wrong: impl Fn() -> Error) -> Result<T> {
            text.parse().map_err(|_| wrong())
        }
        match self {
            Writable::Null if text.is_empty() => {}
            Writable::Null => return Err(wrong()),
            Writable::Text => {
                put_vlong(text.len() as i64, to);
                to.extend_from_slice(text);
            }
            Writable::Utf8 => {
                to.extend_from_slice(&u16::try_from(text.len()).map_err(|_| wrong())?.to_be_bytes());
                to.extend_from_slice(text);
            }
            Writable::Bytes => {
                to.extend_from_slice(&i32::try_from(text.len()).map_err(|_| wrong())?.to_be_bytes());
                to.extend_from_slice(text);
            }
            Writable::Boolean => to.push(match text {
                b"true" => 1,
                b"false" => 0,
                _ => return Err(wrong()),
            }),
            Writable::Byte => to.extend_from_slice(&parse::<i8>(string()?, wrong)?.to_be_bytes()),
            Writable::Short => to.extend_from_slice(&parse::<i16>(string()?, wrong)?.to_be_bytes()),
            Writable::Int => to.extend_from_slice(&parse::<i32>(string()?, wrong)?.to_be_bytes()),
            Writable::Long => to.extend_from_slice(&parse::<i64>(string()?, wrong)?.to_be_bytes()),
            Writable::VInt => put_vlong(parse::<i32>(string()?, wrong)?.into(), to),
            Writable::VLong => put_vlong(parse::<i64>(string()?, wrong)?, to),
            Writable::Float => to.extend_from_slice(&parse::<f32>(string()?, wrong)?.to_be_bytes()),
            Writable::Double => to.extend_from_slice(&parse::<f64>(string()?, wrong)?.to_be_bytes()),
        }
        Ok(())
    }
}

fn special(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "inf"
    } else {
        "-inf"
    }
}

/// Returns a number of variable length at the front of bytes, and its bytes; None if they end within it.
///
/// ```text
///   -112 .. 127   the number itself
///   -113 .. -120  1 to 8 bytes follow, the highest first          -121 .. -128  the same of the number's complement
/// ```
pub fn vlong(bytes: &[u8]) -> Option<(i64, usize)> {
    let (&first, rest) = bytes.split_first()?;
    let first = first as i8;
    if first >= -112 {
        return Some((first.into(), 1));
    }
    let (n, negative) = if first < -120 { (-120 - i32::from(first), true) } else { (-112 - i32::from(first), false) };
    let value = rest.get(..n as usize)?.iter().fold(0u64, |value, byte| value << 8 | u64::from(*byte)) as i64;
    Some((if negative { !value } else { value }, 1 + n as usize))
}

/// Appends a number of variable length.
pub fn put_vlong(value: i64, to: &mut Vec<u8>) {
    if (-112..=127).contains(&value) {
        to.push(value as u8);
        return;
    }
    let (base, magnitude) = if value < 0 { (-120, !value) } else { (-112, value) };
    let n = (64 - magnitude.leading_zeros()).div_ceil(8).max(1);
    to.push((base - n as i32) as u8);
    to.extend_from_slice(&magnitude.to_be_bytes()[8 - n as usize..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_variable_length_come_back() {
        let edges = [0, 1, -1, 127, 128, -112, -113, 255, 256, -256, -257, i64::MAX, i64::MIN, 1 << 31, -(1 << 31)];
        for value in edges.into_iter().chain((0..63).flat_map(|bit| [1 << bit, -(1 << bit), (1 << bit) - 1])) {
            let mut bytes = Vec::new();
            put_vlong(value, &mut bytes);
            assert_eq!(vlong(&bytes), Some((value, bytes.len())), "{value}");
            assert_eq!(vlong(&bytes[..bytes.len() - 1]), None);
        }
        // As WritableUtils writes them.
        for (value, expect) in [(128, &[0x8f, 0x80][..]), (-113, &[0x87, 0x70]), (256, &[0x8e, 1, 0])] {
            let mut bytes = Vec::new();
            put_vlong(value, &mut bytes);
            assert_eq!(bytes, expect, "{value}");
        }
    }

    #[test]
    fn texts_come_back() {
        for (class, name, _) in CLASSES {
            assert_eq!(Writable::of_class(&class.class()).unwrap(), class);
            let texts: &[&str] = match class {
                Writable::Text | Writable::Utf8 | Writable::Bytes => &["", "a\tb", "größe"],
                Writable::Null => &[""],
                Writable::Boolean => &["true", "false"],
                Writable::Byte => &["-128", "127"],
                Writable::Float | Writable::Double => &["1.0", "-0.5", "NaN", "inf", "-inf", "1e30"],
                _ => &["0", "-32768", "32767"],
            };
            for text in texts {
                let (mut bytes, mut space) = (Vec::new(), Vec::new());
                class.put_text(text.as_bytes(), &mut bytes).unwrap();
                let back = class.text(&bytes, &mut space).unwrap().unwrap_or_default();
                assert_eq!(back, text.as_bytes(), "{name}");
                bytes.push(0);
                assert!(class.text(&bytes, &mut space).is_err(), "{name}: a byte too many");
            }
        }
        assert!(Writable::of_class("com.example.Own").is_err());
        assert!(Writable::Int.put_text(b"x", &mut Vec::new()).is_err());
    }
}
