//! Arbitrary bytes as typed bytes of a program: whole data one after the other, bytes that wait for more, or one error.
//! Whole data can be printed.

use yunti_base::Code;
use yunti_engine::streaming::protocol::typed_bytes::{next, print};

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let mut at = 0;
    loop {
        let taken = match next(&bytes[at..]) {
            Ok(Some(datum)) => datum.taken,
            Ok(None) => return,
            Err(e) => return assert!(e.code() == Code::UserCode && e.hint_text().is_some(), "{e}"),
        };
        let datum = &bytes[at..at + taken];
        assert!(next(datum).is_ok_and(|found| found.is_some_and(|found| found.bytes == datum)));
        assert!(next(&datum[..taken - 1]).is_ok_and(|found| found.is_none()));
        let mut text = Vec::new();
        print(datum, &mut text).unwrap();
        assert!(String::from_utf8(text).is_ok());
        at += taken;
    }
}
