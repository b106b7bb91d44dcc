//! Record of the kernel's log, as Documentation/ABI/testing/dev-kmsg defines it.

/// Facility of the kernel. Programs that write to the log have another facility.
const BY_KERNEL: u32 = 0;

/// Record of the kernel itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Level, from 0 (emergency) to 7 (debug).
    pub level: u32,
    /// Microseconds since boot.
    pub time_us: u64,
    /// Message. Line breaks in it stay as they are: a process name may hold one, which must not begin a line of its
    /// own.
    pub text: String,
}

/// Parses `6,339,5140900,-;text`; lines of a dictionary behind it begin with a blank and are skipped. `None`: not a
/// record of the kernel itself.
pub fn parse(bytes: &[u8]) -> Option<Record> {
    let at = bytes.iter().position(|b| *b == b';')?;
    let head = str::from_utf8(&bytes[..at]).ok()?;
    let mut fields = head.split(',');
    let priority: u32 = fields.next()?.parse().ok()?;
    let time_us = fields.nth(1)?.parse().ok()?;
    if priority >> 3 != BY_KERNEL {
        return None;
    }
    let line = bytes[at + 1..].split(|b| *b == b'\n').next().unwrap_or_default();
    Some(Record { level: priority & 7, time_us, text: String::from_utf8_lossy(&unescaped(line)).into_owned() })
}

/// Decodes `\x1b`, which stands for each byte that is not printable ASCII, UTF-8 included.
fn unescaped(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let [first, behind @ ..] = rest {
        let code = match rest {
            [b'\\', b'x', high, low, ..] => digit(*high).zip(digit(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        out.push(code.unwrap_or(*first));
        rest = if code.is_some() { &rest[4..] } else { behind };
    }
    out
}

fn digit(of_hex: u8) -> Option<u8> {
    char::from(of_hex).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_records() {
        let read = |text: &str| parse(text.as_bytes()).map(|r| (r.level, r.time_us, r.text));
        assert_eq!(read("6,339,5140900,-;NET: up\n"), Some((6, 5_140_900, "NET: up".to_owned())));
        assert_eq!(read("3,1,2,-,caller=T1;a;b\n SUBSYSTEM=x\n"), Some((3, 2, "a;b".to_owned())));
        assert_eq!(read("4,1,2,c;tab\\x09here, \\xzz \\x41"), Some((4, 2, "tab\there, \\xzz A".to_owned())));
        assert_eq!(read("4,1,2,c;(caf\\xc3\\xa9 \\x5cx41) \\x"), Some((4, 2, "(café \\x41) \\x".to_owned())));
        assert_eq!(read("4,1,2,c;\\xff\\xfe").unwrap().2, "\u{fffd}\u{fffd}");
        // Records of programs: facility 1 is user, 3 daemon.
        for text in ["12,1,2,-;Out of memory: Killed process 1 (init)", "30,1,2,-;x", "", ";", "6,1;x", "x,1,2,-;y"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(parse(b"\xff,1,2,-;x"), None);
    }
}
