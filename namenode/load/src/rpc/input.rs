//! Received bytes of a connection up to the next complete response.

use yunti_base::Result;

use super::frame;

/// Capacity of an empty buffer, at most; a larger one is freed.
const KEPT_BYTES: usize = 32 << 10;

/// Bytes of an incomplete response.
#[derive(Default)]
pub struct Input(Vec<u8>);

impl Input {
    /// Adds received bytes, and passes each complete response on.
    ///
    /// # Errors
    /// The bytes are not Hadoop RPC, or `take` fails.
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

/// Passes complete responses on, and returns the number of bytes left.
fn whole(mut bytes: &[u8], take: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<usize> {
    while let Some(length) = frame::response_bytes(bytes)? {
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
    fn passes_on_complete_responses() {
        let responses: Vec<Vec<u8>> =
            [0, 1, 5, 40_000, 3].map(|n: u32| [&n.to_be_bytes()[..], &vec![n as u8; n as usize]].concat()).into();
        let all = responses.concat();
        for piece in [1, 3, 4, 7, 4096, all.len()] {
            let (mut input, mut received) = (Input::default(), Vec::new());
            for bytes in all.chunks(piece) {
                let take = |response: &[u8]| {
                    received.push(response.to_vec());
                    Ok(())
                };
                input.add(bytes, take).unwrap();
            }
            assert!(received == responses && input.0.is_empty(), "pieces of {piece}");
            assert!(input.0.capacity() <= KEPT_BYTES);
        }
    }
}
