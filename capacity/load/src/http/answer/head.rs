//! Head of an answer: its status, and how the end of the body is found.

use std::mem::MaybeUninit;

use super::Fault;

const HEADERS_MAX: usize = 128;
/// First bytes of every answer.
const START: &[u8] = b"HTTP/1.";

/// End of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

/// Facts of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    pub framing: Framing,
    pub keeps_alive: bool,
}

/// Returns an error if the bytes are not the start of an answer.
pub fn check_start(bytes: &[u8]) -> Result<(), Fault> {
    let known = bytes.len().min(START.len());
    if bytes[..known] == START[..known] { Ok(()) } else { Err("the answer is not HTTP/1.1") }
}

/// Returns true if an empty line ends in the bytes from `known` on.
pub fn may_end(head: &[u8], known: usize) -> bool {
    let fresh = &head[known.saturating_sub(2)..];
    fresh.windows(2).any(|two| two == b"\n\n") || fresh.windows(3).any(|three| three == b"\n\r\n")
}

impl Head {
    /// Returns a complete head and its bytes; None if it is incomplete.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Head, usize)>, Fault> {
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut []);
        let parsed =
            httparse::ParserConfig::default().parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
        let used = match parsed {
            Ok(httparse::Status::Complete(used)) => used,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => return Err("the head has more than 128 headers"),
            Err(_) => return Err("the head is no head of HTTP/1.1"),
        };
        let is_new = response.version == Some(1);
        let status = response.code.filter(|status| (100..=599).contains(status)).ok_or("the status is out of range")?;
        let mut head = Head { status, framing: Framing::UntilClose, keeps_alive: is_new };
        let (mut length, mut is_chunked, mut is_encoded) = (None, false, false);
        for header in response.headers.iter() {
            // Most names differ in length, which costs less to compare than letters.
            match header.name.len() {
                14 if header.name.eq_ignore_ascii_case("content-length") => {
                    let value = number(header.value)?;
                    if length.is_some_and(|known| known != value) {
                        return Err("the head has two values of Content-Length");
                    }
                    length = Some(value);
                }
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                    is_encoded = true;
                    is_chunked = words(header.value).last().is_some_and(|word| word.eq_ignore_ascii_case(b"chunked"));
                }
                10 if header.name.eq_ignore_ascii_case("connection") => {
                    for word in words(header.value) {
                        if word.eq_ignore_ascii_case(b"close") {
                            head.keeps_alive = false;
                        } else if word.eq_ignore_ascii_case(b"keep-alive") && !is_new {
                            head.keeps_alive = true;
                        }
                    }
                }
                _ => {}
            }
        }
        head.framing = match (is_chunked, is_encoded, length) {
            (true, _, None) => Framing::Chunked,
            (true, _, Some(_)) => return Err("the head has both Content-Length and Transfer-Encoding"),
            (false, true, _) => Framing::UntilClose,
            (false, false, Some(bytes)) => Framing::Length(bytes),
            (false, false, None) => Framing::UntilClose,
        };
        Ok(Some((head, used)))
    }
}

fn words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&b| b == b',').map(<[u8]>::trim_ascii)
}

fn number(value: &[u8]) -> Result<u64, Fault> {
    const WRONG: Fault = "Content-Length is no number";
    let digits = value.trim_ascii();
    if digits.is_empty() {
        return Err(WRONG);
    }
    digits.iter().try_fold(0u64, |sum, &b| {
        let digit = b.is_ascii_digit().then(|| u64::from(b - b'0'));
        digit.and_then(|digit| sum.checked_mul(10)?.checked_add(digit)).ok_or(WRONG)
    })
}
