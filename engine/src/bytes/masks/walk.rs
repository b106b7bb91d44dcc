//! The loops over 64 bytes at a time that all instruction sets share. A kernel passes in the mask of 64 bytes and, for
//! edges, how the positions of a mask's bits are written. All is inlined into the kernel and compiled for its
//! instruction set.
//! One of the listed files with `unsafe`: the positions are written without checks.

/// Returns the mask of the bytes of `chunk`, at most 64, that are in `set`.
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[inline]
pub(super) fn mask_of(chunk: &[u8], set: &[u8]) -> u64 {
    let mut mask = 0u64;
    for (i, b) in chunk.iter().enumerate() {
        let mut hit = false;
        for s in set {
            hit |= b == s;
        }
        mask |= u64::from(hit) << i;
    }
    mask
}

/// Copies the last bytes of a buffer, fewer than 64, in front of zeros, so that a kernel may load 64.
#[inline(always)]
fn padded(rest: &[u8]) -> [u8; 64] {
    let mut chunk = [0; 64];
    chunk[..rest.len()].copy_from_slice(rest);
    chunk
}

/// Returns a mask of the lowest `n` bits, 1 to 64.
#[inline(always)]
fn low_bits(n: usize) -> u64 {
    u64::MAX >> (64 - n)
}

/// `masks::mask_any` with the mask of a chunk.
#[inline(always)]
pub(super) fn mask_any(bytes: &[u8], bits: &mut [u64], mask: impl Fn(&[u8; 64]) -> u64) {
    let (chunks, rest) = bytes.as_chunks::<64>();
    for (word, chunk) in bits.iter_mut().zip(chunks) {
        *word = mask(chunk);
    }
    if !rest.is_empty() {
        bits[chunks.len()] = mask(&padded(rest)) & low_bits(rest.len());
    }
}

/// `masks::edges` with the mask of a chunk. `put` writes the positions of a mask's bits, each plus the base, and
/// returns their number; it may write up to 64 numbers.
///
/// # Safety
/// `to` has room for `bytes.len() + 64` numbers.
#[inline(always)]
pub(super) unsafe fn edges(
    bytes: &[u8],
    base: u32,
    before: &mut bool,
    to: &mut [u32],
    mask: impl Fn(&[u8; 64]) -> u64,
    put: impl Fn(u64, u32, *mut u32) -> usize,
) -> usize {
    let mut last = u64::from(*before);
    let (mut n, mut at) = (0, base);
    let (chunks, rest) = bytes.as_chunks::<64>();
    let end = to.as_mut_ptr();
    for chunk in chunks {
        let inside = mask(chunk);
        // SAFETY: at most 64 w edges precede chunk number w: there is room for its 64 bytes, or for 64 more numbers.
        n += put(inside ^ (inside << 1 | last), at, unsafe { end.add(n) });
        last = inside >> 63;
        at = at.wrapping_add(64);
    }
    if !rest.is_empty() {
        let inside = mask(&padded(rest));
        // SAFETY: as above.
        n += put((inside ^ (inside << 1 | last)) & low_bits(rest.len()), at, unsafe { end.add(n) });
        last = inside >> (rest.len() - 1) & 1;
    }
    *before = last == 1;
    n
}

/// Returns the number of line ends. `masks` returns the masks of the LFs and the CRs of a chunk.
#[inline(always)]
pub(super) fn line_ends(bytes: &[u8], masks: impl Fn(&[u8; 64]) -> (u64, u64)) -> u64 {
    let (mut n, mut after_cr) = (0, 0);
    let (chunks, rest) = bytes.as_chunks::<64>();
    for chunk in chunks {
        let (lf, cr) = masks(chunk);
        n += ends_of(lf, cr, &mut after_cr);
    }
    if !rest.is_empty() {
        // The zeros behind the rest are no line ends.
        let (lf, cr) = masks(&padded(rest));
        n += ends_of(lf, cr, &mut after_cr);
    }
    n
}

/// Counts the line ends among 64 bytes; a CRLF counts once. `after_cr` is 1 if the byte before them is a CR.
#[inline(always)]
fn ends_of(lf: u64, cr: u64, after_cr: &mut u64) -> u64 {
    if cr | *after_cr == 0 {
        return u64::from(lf.count_ones());
    }
    let second = lf & (cr << 1 | *after_cr);
    *after_cr = cr >> 63;
    u64::from((lf & !second).count_ones() + cr.count_ones())
}

/// Positions of the bits that are set in each byte, ascending; zeros behind them.
pub(super) static POSITIONS: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut n) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][n] = bit;
                n += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Writes the positions of the bits of a mask eight bits at a time, by the table: no branch depends on where the bits
/// are. `eight` writes eight positions of the table, each plus a base.
#[inline(always)]
pub(super) fn put_by_bytes(edge: u64, base: u32, to: *mut u32, eight: impl Fn(&[u8; 8], u32, *mut u32)) -> usize {
    let mut n = 0;
    for (i, byte) in edge.to_le_bytes().into_iter().enumerate() {
        eight(&POSITIONS[usize::from(byte)], base.wrapping_add(8 * i as u32), to.wrapping_add(n));
        n += usize::from(COUNTS[usize::from(byte)]);
    }
    n
}

/// Numbers of bits that are set in each byte: SSE2 and NEON have no fast count of a register's bits.
static COUNTS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).count_ones() as u8;
        byte += 1;
    }
    table
};

/// Writes the positions of the bits of a mask one by one.
///
/// # Safety
/// `to` has room for them.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) unsafe fn put_plain(mut edge: u64, base: u32, to: *mut u32) -> usize {
    let mut n = 0;
    while edge != 0 {
        // SAFETY: the caller grants the room.
        unsafe { *to.add(n) = base.wrapping_add(edge.trailing_zeros()) };
        edge &= edge - 1;
        n += 1;
    }
    n
}
