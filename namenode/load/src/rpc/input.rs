//! What has come of a connection and is no whole answer yet.

use yunti_base::Result;

use super::frame;

/// A buffer that an answer has made larger than this is not kept.
const KEPT_BYTES: usize = 32 << 10;

#[derive(Default)]
pub struct Input(Vec<u8>);

impl Input {
    /// Adds what has come, and hands on each answer that is whole now.
    ///
    /// # Errors
    /// The other side speaks no Hadoop RPC, or `take` fails.
    pub fn add(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if self.0.is_empty() {
            let rest = whole(bytes, &mut take)?;
            self.0.extend_from_slice(&bytes[bytes.len() - rest..]);
        } else {
            self.0.extend_from_slice(bytes);
            let rest = whole(&self.0, &mut take)?;
            self.0.drain(..self.0.len() - rest);
            if self.0.is_empty() && self.0.capacity() > KEPT_BYTES {
                self.0 = Vec::new();
            }
        }
        Ok(())
    }
}

/// Hands on what is whole. Returns how many bytes are left at the end.
fn whole(mut bytes: &[u8], take: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<usize> {
    while let Some(length) = frame::answer_bytes(bytes)? {
        let Some((one, rest)) = bytes.split_at_checked(length) else { break };
        take(one)?;
        bytes = rest;
    }
    Ok(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_handed_on_when_they_are_whole() {
        let answers: Vec<Vec<u8>> =
            [0, 1, 5, 40_000, 3].map(|n: u32| [&n.to_be_bytes()[..], &vec![n as u8; n as usize]].concat()).into();
        let all = answers.concat();
        for piece in [1, 3, 4, 7, 4096, all.len()] {
            let (mut input, mut seen) = (Input::default(), Vec::new());
            for bytes in all.chunks(piece) {
                let take = |answer: &[u8]| {
                    seen.push(answer.to_vec());
                    Ok(())
                };
                input.add(bytes, take).unwrap();
            }
            assert!(seen == answers && input.0.is_empty(), "pieces of {piece}");
            assert!(input.0.capacity() <= KEPT_BYTES);
        }
    }
}
