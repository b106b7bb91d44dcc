//! Messages of the tracing agent, one per frame. `Wire.java` defines the frames, `ThreadCalls.java` the call records.

use std::collections::VecDeque;

use yunti_base::{Code, Error, Result};

/// A message of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Number and name of a traced method.
    Method(u32, String),
    /// Something that is not traced, and the reason.
    Skip(String),
    /// Calls are recorded from now on.
    Ready,
    Calls(Chunk),
    Events(EventChunk),
    /// Object of events: `Objects.java` defines the text.
    Object(String),
    /// Free units of a pool at a time: `Wire.java` defines the text.
    Free(String),
    /// Number of calls lost so far.
    Lost(u64),
    NoSuchMethod {
        pattern: String,
        hint: String,
    },
    /// Another trace is running.
    Busy,
    Failed(String),
    /// All methods are restored.
    End,
}

/// Calls of one thread, callees before their callers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    pub thread: u64,
    pub is_virtual: bool,
    /// Name of the thread, in its first chunk only.
    pub name: Option<String>,
    pub records: Vec<Record>,
}

/// A call that has ended, or that is still running when the trace ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    pub method: u32,
    /// Number of traced calls around it.
    pub depth: u16,
    /// System.nanoTime of the JVM.
    pub begin_ns: i64,
    pub nanos: u64,
    pub has_thrown: bool,
    pub is_running: bool,
    /// Arguments, and the result or the exception.
    pub texts: Option<(String, String)>,
}

/// Events of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventChunk {
    pub thread: u64,
    pub is_virtual: bool,
    /// Name of the thread and its thread ID in the JVM's PID namespace, `http-3|4711`, in its first chunk only.
    pub name: Option<String>,
    pub events: Vec<Event>,
    /// Texts of events, by their places in the list.
    pub texts: Vec<(usize, String)>,
    /// Bytes that the thread has allocated up to a time.
    pub allocated: Vec<(i64, u64)>,
}

/// Event at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// System.nanoTime of the JVM.
    pub at_ns: i64,
    pub place: u32,
    /// Identity hash code of the object, or 0.
    pub object: u32,
}

const HAS_THROWN: u64 = 1;
const IS_RUNNING: u64 = 2;
const HAS_TEXTS: u64 = 4;
const HEAD_BYTES: usize = 5;
/// Numbers of places that say more about the event before: `ThreadEvents.java`.
const ALLOCATED: u32 = 1 << 30;
const TEXT: u32 = ALLOCATED + 1;
/// Bytes of the records that follow a text are whole records.
const RECORD_BYTES: usize = 16;

/// Decoder of frames.
#[derive(Default)]
pub struct Frames {
    bytes: VecDeque<u8>,
}

impl Frames {
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// Returns the next message; `None` until its frame is complete.
    pub fn next(&mut self) -> Result<Option<Message>> {
        if self.bytes.len() < HEAD_BYTES {
            return Ok(None);
        }
        let head: Vec<u8> = self.bytes.iter().take(HEAD_BYTES).copied().collect();
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if self.bytes.len() < HEAD_BYTES + length {
            return Ok(None);
        }
        let body: Vec<u8> = self.bytes.drain(..HEAD_BYTES + length).skip(HEAD_BYTES).collect();
        let wrong = || Error::new(Code::Internal, format!("unknown message {} of the agent in the JVM", head[0]));
        decode(head[0], &body).map(Some).ok_or_else(wrong)
    }
}

fn decode(kind: u8, body: &[u8]) -> Option<Message> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(match kind {
        b'M' => Message::Method(u32::from_be_bytes(body.get(..4)?.try_into().ok()?), text(&body[4..])),
        b'S' => Message::Skip(text(body)),
        b'R' => Message::Ready,
        b'C' => Message::Calls(chunk(body)?),
        b'E' => Message::Events(event_chunk(body)?),
        b'O' => Message::Object(text(body)),
        b'P' => Message::Free(text(body)),
        b'L' => Message::Lost(u64::from_be_bytes(body.try_into().ok()?)),
        b'N' => {
            let text = text(body);
            let (pattern, hint) = text.split_once('\0')?;
            Message::NoSuchMethod { pattern: pattern.to_owned(), hint: hint.to_owned() }
        }
        b'B' => Message::Busy,
        b'F' => Message::Failed(text(body)),
        b'Z' => Message::End,
        _ => return None,
    })
}

/// Big-endian words, taken from the front.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn next(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_be_bytes(*word))
    }

    /// Takes consecutive texts of the given byte lengths. Together they are padded to whole words.
    fn texts<const N: usize>(&mut self, lengths: [usize; N]) -> Option<[String; N]> {
        let all: usize = lengths.iter().sum();
        let (bytes, rest) = self.0.split_at_checked(all.next_multiple_of(8))?;
        self.0 = rest;
        let mut from = 0;
        Some(lengths.map(|length| {
            from += length;
            String::from_utf8_lossy(&bytes[from - length..from]).into_owned()
        }))
    }
}

/// Takes the head of a chunk: true for a virtual thread, the thread's number, and its name in its first chunk.
fn head(words: &mut Words<'_>) -> Option<(bool, u64, Option<String>)> {
    let head = words.next()?;
    let name_bytes = (head >> 32 & 0x7fff_ffff) as usize;
    let thread = words.next()?;
    let name = if name_bytes > 0 { words.texts([name_bytes])?.into_iter().next() } else { None };
    Some((head >> 63 == 1, thread, name))
}

fn event_chunk(body: &[u8]) -> Option<EventChunk> {
    let mut words = Words(body);
    let (is_virtual, thread, name) = head(&mut words)?;
    let mut chunk = EventChunk { thread, is_virtual, name, ..EventChunk::default() };
    while let Some(first) = words.next() {
        let what = words.next()?;
        let before = chunk.events.len().checked_sub(1);
        match (what >> 32) as u32 {
            ALLOCATED => chunk.allocated.push((chunk.events.get(before?)?.at_ns, first)),
            TEXT => {
                let (bytes, length) = (words.0, usize::try_from(first).ok()?);
                let (padded, rest) = bytes.split_at_checked(length.checked_next_multiple_of(RECORD_BYTES)?)?;
                words.0 = rest;
                chunk.texts.push((before?, String::from_utf8_lossy(&padded[..length]).into_owned()));
            }
            place => chunk.events.push(Event { at_ns: first as i64, place, object: what as u32 }),
        }
    }
    Some(chunk)
}

fn chunk(body: &[u8]) -> Option<Chunk> {
    let mut words = Words(body);
    let (is_virtual, thread, name) = head(&mut words)?;
    let mut chunk = Chunk { is_virtual, thread, name, records: Vec::new() };
    while let Some(head) = words.next() {
        let flags = head >> 40 & 0xff;
        let mut record = Record {
            method: (head & 0xff_ffff) as u32,
            depth: (head >> 24) as u16,
            begin_ns: words.next()? as i64,
            nanos: words.next()?,
            has_thrown: flags & HAS_THROWN != 0,
            is_running: flags & IS_RUNNING != 0,
            texts: None,
        };
        if flags & HAS_TEXTS != 0 {
            let lengths = words.next()?;
            let [arguments, result] = words.texts([(lengths >> 32) as usize, (lengths & 0xffff_ffff) as usize])?;
            record.texts = Some((arguments, result));
        }
        chunk.records.push(record);
    }
    Some(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
        [&[kind][..], &(body.len() as u32).to_be_bytes(), body].concat()
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_be_bytes()).collect()
    }

    #[test]
    fn frames_in_any_pieces() {
        let bytes =
            [frame(b'M', b"\0\0\0\x07a.B.c"), frame(b'R', b""), frame(b'N', b"x.y\0hint"), frame(b'Z', b"")].concat();
        for piece in [1, 3, bytes.len()] {
            let mut frames = Frames::default();
            let mut messages = Vec::new();
            for part in bytes.chunks(piece) {
                frames.add(part);
                while let Some(next) = frames.next().unwrap() {
                    messages.push(next);
                }
            }
            let none = Message::NoSuchMethod { pattern: "x.y".into(), hint: "hint".into() };
            assert_eq!(messages, [Message::Method(7, "a.B.c".into()), Message::Ready, none, Message::End]);
        }
    }

    #[test]
    fn calls_with_and_without_texts() {
        let text = u64::from_be_bytes(*b"1, 2ok\0\0");
        let body = words(&[
            4 << 32 | 9,
            5,
            u64::from_be_bytes(*b"main\0\0\0\0"),
            5 << 48 | 4 << 40 | 1 << 24 | 3,
            100,
            7,
            4 << 32 | 2,
            text,
            3 << 48 | 1 << 40 | 2,
            90,
            30,
        ]);
        let mut frames = Frames::default();
        frames.add(&frame(b'C', &body));
        let Some(Message::Calls(chunk)) = frames.next().unwrap() else { panic!() };
        assert_eq!((chunk.thread, chunk.name.as_deref(), chunk.records.len()), (5, Some("main"), 2));
        let [inner, outer] = &chunk.records[..] else { panic!() };
        assert_eq!((inner.method, inner.depth, inner.nanos), (3, 1, 7));
        assert_eq!(inner.texts, Some(("1, 2".into(), "ok".into())));
        assert!(outer.has_thrown && outer.texts.is_none() && outer.begin_ns == 90);
    }

    #[test]
    fn events_with_texts_and_allocation() {
        let text = |bytes: &[u8; 8]| u64::from_be_bytes(*bytes);
        let more = |place: u32| u64::from(place) << 32;
        let body = words(&[
            13,
            5,
            100,
            3 << 32 | 77,
            4096,
            more(ALLOCATED),
            101,
            4 << 32,
            9,
            more(TEXT),
            text(b"GET /sea"),
            text(b"r\0\0\0\0\0\0\0"),
            102,
            5 << 32,
        ]);
        let chunk = event_chunk(&body).unwrap();
        assert_eq!(chunk.events.iter().map(|event| event.place).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!((chunk.texts, chunk.allocated), (vec![(1, "GET /sear".to_owned())], vec![(100, 4096)]));
        assert!(event_chunk(&words(&[4, 5, 9, more(TEXT)])).is_none(), "a text of no event");
        assert!(event_chunk(&words(&[4, 5, 100, 1 << 32, u64::MAX, more(TEXT)])).is_none(), "a text without end");
    }

    #[test]
    fn rejects_broken_frames() {
        for (kind, body) in
            [(b'?', vec![]), (b'L', vec![1]), (b'N', b"x".to_vec()), (b'C', vec![0; 12]), (b'C', words(&[99 << 32, 1]))]
        {
            let mut frames = Frames::default();
            frames.add(&frame(kind, &body));
            assert!(frames.next().is_err(), "{}", kind as char);
        }
    }
}
