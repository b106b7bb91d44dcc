//! Escapes in settings: bytes that are not text (separators, delimiters) as text.

use yunti_base::{Code, Error, Result};

/// Returns the bytes of a text with the escapes `\t`, `\n`, `\r`, `\0`, `\\` and `\xNN`. Fails with `Code::Usage` on
/// any other escape.
pub fn unescape(text: &str) -> Result<Vec<u8>> {
    let bad = || {
        Error::new(Code::Usage, format!("'{text}' has an unknown escape")).hint("use \\t, \\n, \\r, \\0, \\\\ or \\xNN")
    };
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        rest = tail;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let (kind, tail) = rest.split_first().ok_or_else(bad)?;
        rest = tail;
        out.push(match kind {
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'0' => 0,
            b'\\' => b'\\',
            b'x' => {
                let digits = rest.get(..2).and_then(|d| std::str::from_utf8(d).ok()).ok_or_else(bad)?;
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).map_err(|_| bad())?
            }
            _ => return Err(bad()),
        });
    }
    Ok(out)
}

/// Returns the text that `unescape` turns into these bytes.
pub fn escape(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|&byte| match byte {
            b'\t' => "\\t".into(),
            b'\n' => "\\n".into(),
            b'\r' => "\\r".into(),
            b'\\' => "\\\\".into(),
            b' '..=b'~' => char::from(byte).to_string(),
            _ => format!("\\x{byte:02x}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_escape_and_unescape() {
        for byte in 0..=255u8 {
            assert_eq!(unescape(&escape(&[byte, b'x', byte])).unwrap(), [byte, b'x', byte]);
        }
        for text in ["\\", "\\q", "\\x1", "\\xgg"] {
            assert!(unescape(text).is_err(), "{text}");
        }
    }
}
