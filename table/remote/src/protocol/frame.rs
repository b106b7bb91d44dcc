//! Frames: the bytes that follow (4), number of the request (4), kind (1), payload.

/// Most bytes behind the length of a frame.
pub const MOST: usize = 1 << 24;
/// Most bytes behind the length before a client is known.
pub const MOST_AT_FIRST: usize = 1 << 16;
/// Bytes of the number and the kind.
const HEAD: usize = 5;

/// A frame that is whole.
pub struct Frame<'a> {
    pub id: u32,
    pub kind: u8,
    pub payload: &'a [u8],
}

/// A length that no frame has.
#[derive(Debug, PartialEq, Eq)]
pub struct WrongLength(pub usize);

/// Cuts the first frame from a stream and returns it with its bytes; `None` if it is not whole yet.
pub fn first(bytes: &[u8], most: usize) -> Result<Option<(Frame<'_>, usize)>, WrongLength> {
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    if !(HEAD..=most).contains(&length) {
        return Err(WrongLength(length));
    }
    let Some(frame) = rest.get(..length) else { return Ok(None) };
    let id = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]);
    Ok(Some((Frame { id, kind: frame[4], payload: &frame[HEAD..] }, 4 + length)))
}

/// Appends a frame, whose payload `write` appends. `write` returns false to leave the frame out.
pub fn append(out: &mut Vec<u8>, id: u32, kind: u8, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
    let begin = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&id.to_le_bytes());
    out.push(kind);
    let length = |out: &Vec<u8>| out.len() - begin - 4;
    if !write(out) || length(out) > MOST {
        out.truncate(begin);
        return false;
    }
    let length = length(out) as u32;
    out[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_is_cut() {
        let mut out = Vec::new();
        assert!(append(&mut out, 7, 3, |out| {
            out.extend_from_slice(b"abc");
            true
        }));
        assert!(!append(&mut out, 8, 3, |_| false));
        assert!(!append(&mut out, 8, 3, |out| {
            out.resize(out.len() + MOST, 0);
            true
        }));
        let (frame, bytes) = first(&out, MOST).unwrap().unwrap();
        assert_eq!((frame.id, frame.kind, frame.payload, bytes), (7, 3, b"abc".as_slice(), out.len()));
        for length in 0..out.len() {
            assert!(first(&out[..length], MOST).unwrap().is_none());
        }
    }

    #[test]
    fn wrong_lengths() {
        for length in [0, 4, MOST_AT_FIRST as u32 + 1, u32::MAX] {
            let bytes = [&length.to_le_bytes()[..], &[0; 9]].concat();
            assert_eq!(first(&bytes, MOST_AT_FIRST).err(), Some(WrongLength(length as usize)));
        }
    }
}
