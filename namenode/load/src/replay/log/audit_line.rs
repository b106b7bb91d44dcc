//! Parser of a line of the audit log.
//!
//! ```text
//!   2026-11-25 09:37:53,123 INFO FSNamesystem.audit: allowed=true\tugi=al (auth:SIMPLE)\tip=/10.0.0.1\tcmd=open\t
//!       src=/a/b\tdst=null\tperm=null\tproto=rpc
//!   time, in any layout of log4j with a date           fields, in this order, separated by tabs
//! ```
//!
//! Hadoop 3 escapes paths as Java does: `\t`, `\u00E4`. Older versions do not: a tab within a path is in the line as it
//! is. So a piece that is not the next field belongs to the field before, and a line feed within a path cuts the line.

/// Names of the fields in their order.
const FIELDS: [&str; 10] =
    ["allowed", "ugi", "ip", "cmd", "src", "dst", "perm", "trackingId", "proto", "callerContext"];
const MS_OF_A_DAY: i64 = 86_400_000;

/// Result of a line.
#[derive(Debug, PartialEq)]
pub enum Parsed<'a> {
    Line(AuditLine<'a>),
    /// The line is of another logger, or part of a stack trace.
    Other,
    /// The line is of the audit log, but without a time, or cut.
    Cut,
}

/// Fields of a line.
#[derive(Debug, PartialEq)]
pub struct AuditLine<'a> {
    /// Milliseconds since 1970 in the log's own time zone.
    pub time_ms: i64,
    pub is_allowed: bool,
    /// Short name of the user who makes the call, without host and realm.
    pub user: &'a str,
    pub command: &'a str,
    /// Options in brackets after the command, as of `rename (options=[OVERWRITE])`.
    pub options: &'a str,
    pub src: Option<String>,
    pub dst: Option<String>,
    pub status: Option<Status<'a>>,
}

/// Owner, group and mode of a path after the call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status<'a> {
    pub owner: &'a str,
    pub group: &'a str,
    pub mode: u16,
}

/// Parses a line.
pub fn parse(line: &str) -> Parsed<'_> {
    let Some(at) = line.find("allowed=") else { return Parsed::Other };
    let (head, rest) = line.split_at(at);
    let Some(time_ms) = time(head) else { return Parsed::Cut };
    fields(time_ms, rest).map_or(Parsed::Cut, Parsed::Line)
}

fn fields(time_ms: i64, text: &str) -> Option<AuditLine<'_>> {
    // Some collectors of logs replace tabs by spaces.
    let separator = if text.contains('\t') { '\t' } else { ' ' };
    let mut found: [Option<&str>; FIELDS.len()] = [None; FIELDS.len()];
    let (mut last, mut begin, mut at) = (0, 0, 0);
    for piece in text.split(separator) {
        let next = FIELDS.iter().enumerate().skip(last + usize::from(at > 0));
        let named = |(_, name): &(usize, &&str)| piece.strip_prefix(**name).is_some_and(|rest| rest.starts_with('='));
        if let Some((number, name)) = next.clone().find(named).filter(|_| at == 0 || found[last].is_none()) {
            if at > 0 {
                found[last] = Some(&text[begin..at - 1]);
            }
            (last, begin) = (number, at + name.len() + 1);
        }
        at += piece.len() + 1;
    }
    found[last] = Some(&text[begin..]);
    let value = |name: &str| found[FIELDS.iter().position(|field| *field == name)?];
    let path = |text: &str| (text != "null").then(|| unescaped(text));
    let (command, options) = value("cmd")?.split_once(' ').unwrap_or((value("cmd")?, ""));
    let user = value("ugi")?.split([' ', '/', '@']).next()?;
    if user.is_empty() || command.is_empty() {
        return None;
    }
    Some(AuditLine {
        time_ms,
        is_allowed: value("allowed")?.trim() == "true",
        user,
        command,
        options,
        src: path(value("src")?),
        dst: path(value("dst")?),
        status: status(value("perm")?),
    })
}

/// Replaces the escapes of Java's strings; a backslash that begins none stays.
fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    // Letters beyond 16 bits are two escapes.
    let (mut units, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('\\') {
        units.extend(before.encode_utf16());
        let code = after.strip_prefix('u').and_then(|after| u16::from_str_radix(after.get(..4)?, 16).ok());
        let (unit, bytes) = match (code, after.as_bytes().first()) {
            (Some(code), _) => (code, 5),
            (None, Some(b't')) => (9, 1),
            (None, Some(b'n')) => (10, 1),
            (None, Some(b'r')) => (13, 1),
            (None, Some(b'f')) => (12, 1),
            (None, Some(b'b')) => (8, 1),
            (None, Some(letter @ (b'"' | b'\\'))) => (u16::from(*letter), 1),
            (None, _) => (u16::from(b'\\'), 0),
        };
        units.push(unit);
        rest = &after[bytes..];
    }
    units.extend(rest.encode_utf16());
    String::from_utf16_lossy(&units)
}

/// Parses `owner:group:rwxr-xr-x`; a sticky bit or an ACL may follow or replace the last letter.
fn status(text: &str) -> Option<Status<'_>> {
    let mut parts = text.rsplitn(3, ':');
    let (letters, group, owner) = (parts.next()?, parts.next()?, parts.next()?);
    let letters = letters.as_bytes().get(..9)?;
    let mut mode = 0;
    for (place, letter) in letters.iter().enumerate() {
        let bit = 0o400 >> place;
        mode |= match letter {
            b'-' => 0,
            b't' => bit | 0o1000,
            b'T' => 0o1000,
            _ => bit,
        };
    }
    Some(Status { owner, group, mode })
}

/// Finds a date and a time, such as `2026-11-25 09:37:53,123` or `26/11/25 09:37:53`.
fn time(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    (0..bytes.len()).filter(|at| *at == 0 || !bytes[at - 1].is_ascii_digit()).find_map(|at| time_at(&bytes[at..]))
}

fn time_at(mut bytes: &[u8]) -> Option<i64> {
    let year = match digits(&mut bytes) {
        (year, 4) => year,
        (year, 2) => year + 2000,
        _ => return None,
    };
    let mut part = |before: &[u8], max: i64| {
        let (first, rest) = bytes.split_first()?;
        bytes = rest;
        let (number, count) = digits(&mut bytes);
        (before.contains(first) && count == 2 && number <= max).then_some(number)
    };
    let (month, day) = (part(b"-/", 12)?, part(b"-/", 31)?);
    let (hour, minute, second) = (part(b" T", 23)?, part(b":", 59)?, part(b":", 60)?);
    let mut ms = 0;
    if let Some((b',' | b'.', rest)) = bytes.split_first() {
        let mut rest = &rest[..rest.len().min(3)];
        ms = match digits(&mut rest) {
            (ms, 3) => ms,
            _ => 0,
        };
    }
    let seconds = (hour * 60 + minute) * 60 + second;
    (month >= 1 && day >= 1).then(|| days(year, month, day) * MS_OF_A_DAY + seconds * 1000 + ms)
}

/// Takes digits off the front; returns the number and how many there are, four at most.
fn digits(bytes: &mut &[u8]) -> (i64, usize) {
    let count = bytes.iter().take(5).take_while(|byte| byte.is_ascii_digit()).count();
    let number = bytes[..count].iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
    *bytes = &bytes[count..];
    (number, count)
}

/// Returns the days since 1970-01-01 of a date (H. Hinnant, *chrono-compatible low-level date algorithms*).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "2026-11-25 09:37:53,123 INFO FSNamesystem.audit: ";

    fn line(text: &str) -> AuditLine<'_> {
        match parse(text) {
            Parsed::Line(line) => line,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn parses_stocks_line() {
        let text = format!(
            "{HEAD}allowed=false\tugi=al/nn1@R (auth:PROXY) via hive (auth:KERBEROS)\tip=/10.0.0.1\tcmd=rename \
             (options=[OVERWRITE])\tsrc=/a b/c\tdst=/d\tperm=bo:staff:rwxr-x--t\tproto=rpc\tcallerContext=x"
        );
        let status = Some(Status { owner: "bo", group: "staff", mode: 0o1751 });
        let expected = AuditLine {
            time_ms: 1_795_599_473_123,
            is_allowed: false,
            user: "al",
            command: "rename",
            options: "(options=[OVERWRITE])",
            src: Some("/a b/c".to_owned()),
            dst: Some("/d".to_owned()),
            status,
        };
        assert_eq!(line(&text), expected);
    }

    #[test]
    fn keeps_tabs_of_paths() {
        let with = |src: &str| format!("{HEAD}allowed=true\tugi=al\tip=/1\tcmd=open\tsrc={src}\tdst=null\tperm=null");
        for src in ["/a\tb", "/a\t", "/\t\tx", "/a\tcmd=delete", "/a\tip=/2\tugi=root", "/a\tallowed=false"] {
            let text = with(src);
            let parsed = line(&text);
            assert_eq!((parsed.src.as_deref(), parsed.command, parsed.user), (Some(src), "open", "al"), "{src:?}");
            assert!(parsed.is_allowed && parsed.dst.is_none());
        }
    }

    #[test]
    fn decodes_escaped_paths() {
        let check = |escaped: &str, expect: &str| assert_eq!(unescaped(escaped), expect);
        check("/a b", "/a b");
        check(r#"/a\tb\nc\\d\""#, "/a\tb\nc\\d\"");
        check(r"/\u00E4\uD83D\uDE00x", "/\u{e4}\u{1f600}x");
        check(r"/\q\u12\", r"/\q\u12\");
    }

    #[test]
    fn parses_other_layouts() {
        let fields = "allowed=true\tugi=al\tip=/1\tcmd=open\tsrc=/a\tdst=null\tperm=null";
        let at = |head: &str| line(&format!("{head}{fields}")).time_ms - 1_795_599_473_000;
        assert_eq!(at("2026-11-25T09:37:53.007Z [main] "), 7);
        assert_eq!(at("26/11/25 09:37:53 INFO audit: "), 0);
        assert_eq!(at("nn1 7 [12:00] 2026/11/25 09:37:53,999 "), 999);
        let spaces = fields.replace('\t', " ").replace("ugi=al", "ugi=al (auth:SIMPLE)");
        let text = format!("{HEAD}{spaces}");
        assert_eq!((line(&text).user, line(&text).src.as_deref()), ("al", Some("/a")));
    }

    #[test]
    fn reports_what_is_no_whole_line() {
        assert_eq!(parse(""), Parsed::Other);
        assert_eq!(parse("\tat org.apache.hadoop.ipc.Server.call(Server.java:1)"), Parsed::Other);
        let whole = format!("{HEAD}allowed=true\tugi=al\tip=/1\tcmd=open\tsrc=/a\tdst=null\tperm=null");
        // Any cut before the last field.
        for bytes in 0..whole.find("perm=").unwrap() + 4 {
            assert!(!matches!(parse(&whole[..bytes]), Parsed::Line(_)), "{bytes}");
        }
        assert_eq!(parse(&whole[HEAD.len()..]), Parsed::Cut, "no time");
        assert_eq!(parse(&whole.replace("09:37", "39:37")), Parsed::Cut);
        assert_eq!(parse(&whole.replace("-11-", "-13-")), Parsed::Cut);
        assert_eq!(parse("2026-11-25 09:37:53 allowed=x=\t=\tsrc"), Parsed::Cut);
    }
}
