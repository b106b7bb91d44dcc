//! Memory of pages and windows that are done, for the next ones of the thread. Fresh memory costs a page fault each
//! 4 KB, and zeros.

use std::cell::RefCell;

use bytes::{Bytes, BytesMut};

/// Pieces that a thread keeps, at most, and bytes of one.
const PIECES_MAX: usize = 16;
const BYTES_MAX: usize = 2 << 20;

thread_local! {
    static SPARE: RefCell<Vec<BytesMut>> = const { RefCell::new(Vec::new()) };
}

/// Returns at least `len` bytes, whatever they are.
pub fn take(len: usize) -> BytesMut {
    let mut space = SPARE.with_borrow_mut(|spare| {
        // The smallest that has room, else the last one.
        let fits = (0..spare.len()).filter(|&n| spare[n].capacity() >= len).min_by_key(|&n| spare[n].capacity());
        let found = fits.or_else(|| spare.len().checked_sub(1));
        found.map(|n| spare.swap_remove(n)).unwrap_or_default()
    });
    if space.len() < len {
        space.resize(len, 0);
    }
    space
}

/// Keeps the memory of bytes that nobody else has.
pub fn give(bytes: Bytes) {
    if let Ok(space) = bytes.try_into_mut()
        && (1..=BYTES_MAX).contains(&space.capacity())
    {
        SPARE.with_borrow_mut(|spare| {
            if spare.len() < PIECES_MAX {
                spare.push(space);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_returns_once_nobody_has_it() {
        std::thread::spawn(|| {
            let first = take(1000).freeze();
            let place = first.as_ptr();
            let other = first.clone();
            give(first);
            assert_ne!(take(10).as_ptr(), place, "another has it");
            give(other);
            let again = take(1000);
            assert_eq!((again.as_ptr(), again.len()), (place, 1000));
            give(take(BYTES_MAX + 1).freeze());
            assert!(take(1).len() < BYTES_MAX);
        })
        .join()
        .unwrap();
    }
}
