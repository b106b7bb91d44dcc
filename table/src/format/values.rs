//! Text of one value to its bytes, and back.

use super::schema::Kind;

/// Appends the bytes of a value; false if the text is none of this type. `dict` values are text here.
pub fn parse(kind: Kind, text: &[u8], out: &mut Vec<u8>) -> bool {
    let said = std::str::from_utf8(text);
    macro_rules! number {
        ($type:ty) => {
            match said.ok().and_then(|said| said.trim().parse::<$type>().ok()) {
                Some(value) => out.extend_from_slice(&value.to_le_bytes()),
                None => return false,
            }
        };
    }
    match kind {
        Kind::Bool => match text.to_ascii_lowercase().as_slice() {
            b"true" | b"t" | b"1" | b"yes" => out.push(1),
            b"false" | b"f" | b"0" | b"no" => out.push(0),
            _ => return false,
        },
        Kind::I8 => number!(i8),
        Kind::I16 => number!(i16),
        Kind::I32 => number!(i32),
        Kind::I64 => number!(i64),
        Kind::U8 => number!(u8),
        Kind::U16 => number!(u16),
        Kind::U32 => number!(u32),
        Kind::U64 => number!(u64),
        Kind::F32 => number!(f32),
        Kind::F64 => number!(f64),
        Kind::Utf8 | Kind::Dict => match said {
            Ok(said) => out.extend_from_slice(said.as_bytes()),
            Err(_) => return false,
        },
        Kind::Bytes => out.extend_from_slice(text),
        Kind::Record | Kind::List => return false,
    }
    true
}

/// Appends a value that is not nested as text. Bytes that are no UTF-8 are shown as replacement characters.
pub fn print(kind: Kind, value: &[u8], out: &mut String) {
    use std::fmt::Write;
    macro_rules! number {
        ($type:ty) => {
            match value.try_into() {
                Ok(bytes) => drop(write!(out, "{}", <$type>::from_le_bytes(bytes))),
                Err(_) => out.push('?'),
            }
        };
    }
    match kind {
        Kind::Bool => out.push_str(if value == [0] { "false" } else { "true" }),
        Kind::I8 => number!(i8),
        Kind::I16 => number!(i16),
        Kind::I32 => number!(i32),
        Kind::I64 => number!(i64),
        Kind::U8 => number!(u8),
        Kind::U16 => number!(u16),
        Kind::U32 => number!(u32),
        Kind::U64 => number!(u64),
        Kind::F32 => number!(f32),
        Kind::F64 => number!(f64),
        Kind::Utf8 | Kind::Bytes | Kind::Dict => out.push_str(&String::from_utf8_lossy(value)),
        Kind::Record | Kind::List => out.push('?'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_printed_as_they_were_read() {
        for (kind, text) in [
            (Kind::Bool, "true"),
            (Kind::I8, "-128"),
            (Kind::U64, "18446744073709551615"),
            (Kind::I64, "-9223372036854775808"),
            (Kind::F32, "0.1"),
            (Kind::F64, "-1e300"),
            (Kind::F64, "NaN"),
            (Kind::Utf8, "Grüße, 世界"),
            (Kind::Bytes, ""),
        ] {
            let (mut bytes, mut printed) = (Vec::new(), String::new());
            assert!(parse(kind, text.as_bytes(), &mut bytes), "{text}");
            print(kind, &bytes, &mut printed);
            let is_same = printed == text || printed.parse::<f64>().ok() == text.parse::<f64>().ok();
            assert!(is_same, "{kind:?}: {text} became {printed}");
        }
        for (kind, text) in
            [(Kind::I8, "128"), (Kind::U8, "-1"), (Kind::I64, "1.5"), (Kind::Bool, "maybe"), (Kind::F32, "")]
        {
            assert!(!parse(kind, text.as_bytes(), &mut Vec::new()), "{text}");
        }
        assert!(!parse(Kind::Utf8, b"\xff", &mut Vec::new()));
    }
}
