//! Beginnings of files that no worker has opened yet, fetched in the order in which workers will.
//!
//! ```text
//!   pieces   a.txt:0  a.txt:64M  b.txt:0  c.txt:0  ..     in the order of the splits
//!             taken    ready      ready    next           a quarter of the window is for these
//! ```
//!
//! A file in the middle is read ahead by its own reader. Between two pieces a worker would wait for one answer, which
//! is all the time there is if the files are small.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use yunti_base::store_protocol::Pin;

use super::fetch::Fetch;
use super::link::Link;

/// Bytes before a piece that its reader may need.
const BEFORE: u64 = 64;

/// Stretch of a file that a worker will read from front to back.
pub struct Piece {
    pub url: String,
    pub pin: Pin,
    pub from: u64,
    pub to: u64,
}

/// Pieces that are not taken yet.
pub struct Upcoming {
    link: Arc<Link>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pieces: VecDeque<Piece>,
    /// First stretches by file.
    ready: HashMap<String, Vec<Fetch>>,
    count: usize,
}

impl Upcoming {
    pub fn new(link: Arc<Link>) -> Upcoming {
        Upcoming { link, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Sets the pieces, and sends the first requests. A failure is left to the reader of the piece.
    pub fn set(&self, pieces: impl Iterator<Item = Piece>) {
        let mut state = self.lock();
        state.pieces = pieces.collect();
        (state.ready, state.count) = (HashMap::new(), 0);
        let _ = self.advance(&mut state);
    }

    /// Takes the stretch of a file that has an offset, if it was fetched, and sends further requests.
    pub fn take(&self, url: &str, offset: u64) -> Option<Fetch> {
        let mut state = self.lock();
        let fetches = state.ready.get_mut(url);
        let taken = fetches.and_then(|fetches| {
            let at = fetches.iter().position(|fetch| fetch.has(offset))?;
            Some(fetches.swap_remove(at))
        });
        if taken.is_some() {
            state.count -= 1;
        } else {
            // Its reader was faster; a request would come too late.
            let is_it = |piece: &Piece| piece.url == url && piece.from <= offset && offset <= piece.from + 2 * BEFORE;
            let near = state.pieces.iter().take(NEAR).position(is_it);
            if let Some(at) = near {
                state.pieces.remove(at);
            }
        }
        let _ = self.advance(&mut state);
        taken
    }

    fn advance(&self, state: &mut State) -> io::Result<()> {
        let most = (self.link.window.slots() / 4).max(1);
        while state.count < most && !state.pieces.is_empty() {
            let Some((slot, slot_bytes)) = self.link.window.try_slot() else { return Ok(()) };
            let Some(piece) = state.pieces.pop_front() else {
                self.link.window.release(slot);
                return Ok(());
            };
            let from = piece.from.saturating_sub(BEFORE);
            let len = slot_bytes.min(piece.to.min(piece.pin.len).saturating_sub(from));
            if len == 0 {
                self.link.window.release(slot);
                continue;
            }
            let fetch = Fetch::send(&self.link, &piece.url, &piece.pin, (from, len), slot)?;
            state.ready.entry(piece.url).or_default().push(fetch);
            state.count += 1;
        }
        Ok(())
    }
}

/// Pieces at the head of the queue among which a reader may be.
const NEAR: usize = 64;
