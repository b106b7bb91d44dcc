//! Answers in one piece, in pieces split at every byte, and wrong ones.

use super::*;

#[derive(Debug, PartialEq)]
enum End {
    /// Status, bytes used, keeps alive.
    Done(u16, usize, bool),
    Open,
    Fault(Fault),
}

/// Feeds the pieces, then closes if `closes`.
fn read(is_head_request: bool, pieces: &[&[u8]], closes: bool) -> End {
    let mut answer = Answer::default();
    answer.begin(is_head_request);
    let mut used = 0;
    for piece in pieces {
        match answer.feed(piece) {
            Ok(n) => used += n,
            Err(fault) => return End::Fault(fault),
        }
        if answer.is_done() {
            break;
        }
    }
    assert_eq!(answer.bytes(), used as u64);
    match answer.is_done() || closes && answer.close() {
        true => End::Done(answer.status(), used, answer.keeps_alive()),
        false => End::Open,
    }
}

/// Checks an answer whole, split at every byte, and byte by byte.
#[track_caller]
fn check(is_head_request: bool, text: &str, closes: bool, expect: End) {
    let bytes = text.as_bytes();
    assert_eq!(read(is_head_request, &[bytes], closes), expect, "{text:?}");
    for at in 1..bytes.len() {
        let (a, b) = bytes.split_at(at);
        assert_eq!(read(is_head_request, &[a, b], closes), expect, "{text:?} split at {at}");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(is_head_request, &single, closes), expect, "{text:?} byte by byte");
}

#[test]
fn complete_answers() {
    for (text, status, rest, keeps_alive) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\nhelloHTTP", 200, "HTTP", true),
        ("HTTP/1.1 200\r\ncontent-length:0\r\n\r\n", 200, "", true),
        ("HTTP/1.1 404 Not Found\nContent-Length: 1\n\nx", 404, "", true),
        ("HTTP/1.1 204 No Content\r\n\r\nx", 204, "x", true),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, "", true),
        ("HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 1\r\n\r\nx", 200, "", false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "", false),
        ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", 200, "", true),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 500 x\r\nContent-Length: 2\r\n\r\nab",
            500,
            "",
            true,
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\nx",
            200,
            "x",
            true,
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n1 \r\na\r\n00\r\nX: y\r\nZ: \r\n\r\n",
            200,
            "",
            true,
        ),
    ] {
        check(false, text, false, End::Done(status, text.len() - rest.len(), keeps_alive));
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n";
    check(true, head, false, End::Done(200, head.len(), true));
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    check(true, chunked, false, End::Done(200, chunked.len(), true));
}

#[test]
fn a_close_ends_only_bodies_without_a_length() {
    let text = "HTTP/1.1 200 OK\r\n\r\nany bytes";
    check(false, text, false, End::Open);
    check(false, text, true, End::Done(200, text.len(), false));
    let other = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nabc";
    check(false, other, true, End::Done(200, other.len(), false));
    for cut in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
        "HTTP/1.1 200 OK\r\nContent-",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HT",
    ] {
        check(false, cut, true, End::Open);
    }
}

#[test]
fn wrong_answers() {
    let chunked = |rest: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{rest}");
    for (text, fault) in [
        ("SSH-2.0-OpenSSH\r\n".into(), "the answer is not HTTP/1.1"),
        ("HTTP/2 200\r\n\r\n".into(), "the answer is not HTTP/1.1"),
        ("HTTP/1.1 abc\r\n\r\n".into(), "the head is no head of HTTP/1.1"),
        ("HTTP/1.1 999 x\r\n\r\n".into(), "the status is out of range"),
        ("HTTP/1.1 101 Switching\r\n\r\n".into(), "the server switches protocols unasked"),
        ("HTTP/1.1 100 x\r\n\r\n".repeat(17), "more than 16 interim answers (1xx)"),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n".into(), "Content-Length is no number"),
        ("HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n".into(), "Content-Length is no number"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n".into(), "Content-Length is no number"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n".into(),
            "the head has two values of Content-Length",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n".into(),
            "the head has both Content-Length and Transfer-Encoding",
        ),
        (chunked("xyz\r\n"), "the size of a chunk is no number"),
        (chunked("\r\n"), "the size of a chunk is no number"),
        (chunked("3\nabc"), "the size of a chunk is no number"),
        (chunked("-3\r\nabc"), "the size of a chunk is no number"),
        (chunked("fffffffffffffffff\r\n"), "the size of a chunk is too large"),
        (chunked("2\r\nabc\r\n"), "a chunk is longer than its size"),
        (chunked("0\r\n\rx"), "the end of the last chunk is wrong"),
    ] {
        check(false, &text, false, End::Fault(fault));
    }
}

#[test]
fn endless_parts_have_a_limit() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (start, piece, fault) in [
        ("HTTP/1.1 200 OK\r\n", "X-A: b\r\n", "the head has more than 64 KiB"),
        ("HTTP/1.1 200 OK\r\nX: ", "aaaaaaa", "the head has more than 64 KiB"),
        (&format!("{chunked}1;"), "aaaaaaa", "the size line of a chunk has more than 4 KiB"),
        (&format!("{chunked}0\r\n"), "X-A: b\r\n", "the trailers have more than 16 KiB"),
    ] {
        for in_one in [false, true] {
            let mut answer = Answer::default();
            answer.begin(false);
            let all = format!("{start}{}", piece.repeat(20_000));
            let pieces: Vec<&[u8]> = if in_one { vec![all.as_bytes()] } else { all.as_bytes().chunks(7).collect() };
            let result = pieces.into_iter().try_for_each(|piece| answer.feed(piece).map(drop));
            let many = "the head has more than 128 headers";
            let found = result.unwrap_err();
            assert!(found == fault || in_one && found == many, "{found}");
            assert!(answer.head.capacity() <= 2 * HEAD_BYTES_MAX);
        }
    }
}

#[test]
fn the_next_answer_follows_on_the_same_reader() {
    let text = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1 201 OK\r\nContent-Length: 0\r\n\r\n";
    let mut answer = Answer::default();
    answer.begin(false);
    let used = answer.feed(text).unwrap();
    assert!(answer.is_done() && answer.status() == 200);
    answer.begin(false);
    assert_eq!(answer.feed(&text[used..]), Ok(text.len() - used));
    assert!(answer.is_done() && answer.status() == 201);
}
