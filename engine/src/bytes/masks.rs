//! Bit masks of the bytes in a small set: one bit for each byte of a buffer. Tokenisers and line splitters walk these
//! masks.
//! One of the listed files with `unsafe`: SIMD chosen at run time (AVX-512, AVX2, SSE2). Other CPUs run plain code.

#[cfg(target_arch = "x86_64")]
use super::simd;

/// Bytes in a set, at most.
pub const SET_MAX: usize = 8;

/// Sets bit `i % 64` of `bits[i / 64]` if `bytes[i]` is in `set`, and clears the other bits. Writes `ceil(len / 64)`
/// words; bits beyond the last byte are 0.
///
/// # Panics
///
/// Panics if `set` has more than `SET_MAX` bytes or `bits` is too short.
pub fn mask_any(bytes: &[u8], set: &[u8], bits: &mut [u64]) {
    assert!(set.len() <= SET_MAX && bits.len() >= bytes.len().div_ceil(64));
    #[cfg(target_arch = "x86_64")]
    {
        if simd::avx512_bytes() {
            // SAFETY: the feature was just detected, and the sizes asserted.
            unsafe { avx512(bytes, set, bits) };
            return;
        }
        if simd::avx2() {
            // SAFETY: as above.
            unsafe { avx2(bytes, set, bits) };
            return;
        }
        sse2(bytes, set, bits);
    }
    #[cfg(not(target_arch = "x86_64"))]
    plain(bytes, set, bits);
}

/// Extra numbers that `edges` may overwrite beyond the last one that it returns.
pub const EDGES_SLACK: usize = 64;

/// Finds the edges of runs of bytes in `set`: positions where a byte is in the set and the byte before is not, or the
/// reverse.
///
/// Writes the positions to `to`, ascending, as `base` plus the index in `bytes`; returns their number. `before` is true
/// if the byte before the first one is in the set; afterwards it is true if the last byte is.
///
/// # Panics
///
/// Panics if `set` has more than `SET_MAX` bytes or `to` has room for fewer than `bytes.len() + EDGES_SLACK` numbers.
pub fn edges(bytes: &[u8], set: &[u8], base: u32, before: &mut bool, to: &mut [u32]) -> usize {
    assert!(set.len() <= SET_MAX && to.len() >= bytes.len() + EDGES_SLACK);
    #[cfg(target_arch = "x86_64")]
    if simd::avx512_compress() {
        // SAFETY: the features were just detected, and the room asserted.
        return unsafe {
            match NibbleTable::of(set) {
                Some(table) => edges_avx512(bytes, base, before, to, |v| table.mask(v)),
                None => {
                    let wanted = Wanted::of(set);
                    edges_avx512(bytes, base, before, to, |v| wanted.mask(v))
                }
            }
        };
    }
    let mut bits = [0u64; 16];
    let (mut n, mut at) = (0, base);
    for piece in bytes.chunks(64 * bits.len()) {
        let bits = &mut bits[..piece.len().div_ceil(64)];
        mask_any(piece, set, bits);
        for (word, chunk) in bits.iter().zip(piece.chunks(64)) {
            let mut left = (word ^ (word << 1 | u64::from(*before))) & u64::MAX >> (64 - chunk.len());
            *before = word >> (chunk.len() - 1) & 1 == 1;
            while left != 0 {
                to[n] = at.wrapping_add(left.trailing_zeros());
                left &= left - 1;
                n += 1;
            }
            at = at.wrapping_add(64);
        }
    }
    n
}

/// Returns the number of line ends (LF, CRLF, CR) in `bytes`.
pub fn line_ends(bytes: &[u8]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if simd::avx512_bytes() {
        // SAFETY: the feature was just detected.
        return unsafe { line_ends_avx512(bytes) };
    }
    let mut bits = [[0u64; 16]; 2];
    let (mut n, mut after_cr) = (0, 0);
    for piece in bytes.chunks(64 * 16) {
        mask_any(piece, b"\n", &mut bits[0]);
        mask_any(piece, b"\r", &mut bits[1]);
        for (&lf, &cr) in bits[0].iter().zip(&bits[1]).take(piece.len().div_ceil(64)) {
            n += ends_of(lf, cr, &mut after_cr);
        }
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

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,popcnt,bmi2")]
fn line_ends_avx512(bytes: &[u8]) -> u64 {
    use std::arch::x86_64::*;
    let (lf, cr) = (_mm512_set1_epi8(b'\n' as i8), _mm512_set1_epi8(b'\r' as i8));
    let (mut n, mut after_cr) = (0, 0);
    for chunk in bytes.chunks(64) {
        let here = _bzhi_u64(u64::MAX, chunk.len() as u32);
        // SAFETY: the load reads no more than the chunk has.
        let v = unsafe { _mm512_maskz_loadu_epi8(here, chunk.as_ptr().cast()) };
        n += ends_of(_mm512_cmpeq_epi8_mask(v, lf), _mm512_cmpeq_epi8_mask(v, cr), &mut after_cr);
    }
    n
}

/// A set of bytes below 128 with distinct lower four bits: one shuffle finds the only candidate for each byte.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct NibbleTable([u8; 16]);

#[cfg(target_arch = "x86_64")]
impl NibbleTable {
    fn of(set: &[u8]) -> Option<NibbleTable> {
        // Places without a candidate hold a byte of another place: 0 at place 0 would match the byte 0.
        let mut table = [0u8; 16];
        table[0] = 1;
        let mut taken = 0u16;
        for &b in set {
            let place = usize::from(b & 15);
            if b >= 128 || taken >> place & 1 == 1 && table[place] != b {
                return None;
            }
            table[place] = b;
            taken |= 1 << place;
        }
        Some(NibbleTable(table))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn mask(self, v: std::arch::x86_64::__m512i) -> u64 {
        use std::arch::x86_64::*;
        // SAFETY: the table has 16 bytes.
        let table = _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(self.0.as_ptr().cast()) });
        // A byte from 128 on is looked up as 0, so it never matches.
        _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(table, v), v)
    }
}

/// Any set: one comparison for each of its bytes.
#[cfg(target_arch = "x86_64")]
struct Wanted {
    bytes: [std::arch::x86_64::__m512i; SET_MAX],
    n: usize,
}

#[cfg(target_arch = "x86_64")]
impl Wanted {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn of(set: &[u8]) -> Wanted {
        use std::arch::x86_64::*;
        let mut bytes = [_mm512_setzero_si512(); SET_MAX];
        for (w, &s) in bytes.iter_mut().zip(set) {
            *w = _mm512_set1_epi8(s as i8);
        }
        Wanted { bytes, n: set.len() }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn mask(&self, v: std::arch::x86_64::__m512i) -> u64 {
        let equal = |w: &_| std::arch::x86_64::_mm512_cmpeq_epi8_mask(v, *w);
        self.bytes[..self.n].iter().fold(0, |mask, w| mask | equal(w))
    }
}

/// Compresses the numbers 0 to 63 by the mask of each 64 bytes: no branch depends on where the edges are.
///
/// # Safety
/// The CPU has the features; `to` has the room that `edges` requires.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt,bmi2")]
unsafe fn edges_avx512(
    bytes: &[u8],
    base: u32,
    before: &mut bool,
    to: &mut [u32],
    mask: impl Fn(std::arch::x86_64::__m512i) -> u64,
) -> usize {
    use std::arch::x86_64::*;
    const IOTA: [u8; 64] = {
        let mut iota = [0; 64];
        let mut i = 0;
        while i < 64 {
            iota[i] = i as u8;
            i += 1;
        }
        iota
    };
    // SAFETY: loads of IOTA and of chunks read 64 bytes, or fewer by the mask. At most 64 w edges precede chunk number
    // w. `to` has room for all bytes of the chunk and for the 64 numbers of one store.
    unsafe {
        let iota = _mm512_loadu_si512(IOTA.as_ptr().cast());
        let mut last = u64::from(*before);
        let mut n = 0;
        let mut put = |edge: u64, base: u32| {
            let at = _mm512_set1_epi32(base as i32);
            let packed = _mm512_maskz_compress_epi8(edge, iota);
            let p = to.as_mut_ptr().add(n);
            let first = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed));
            let second = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<1>(packed));
            _mm512_storeu_si512(p.cast(), _mm512_add_epi32(at, first));
            _mm512_storeu_si512(p.add(16).cast(), _mm512_add_epi32(at, second));
            let count = edge.count_ones() as usize;
            if count > 32 {
                let third = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<2>(packed));
                let fourth = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<3>(packed));
                _mm512_storeu_si512(p.add(32).cast(), _mm512_add_epi32(at, third));
                _mm512_storeu_si512(p.add(48).cast(), _mm512_add_epi32(at, fourth));
            }
            n += count;
        };
        let mut at = base;
        let chunks = bytes.chunks_exact(64);
        let rest = chunks.remainder();
        for chunk in chunks {
            let inside = mask(_mm512_loadu_si512(chunk.as_ptr().cast()));
            put(inside ^ (inside << 1 | last), at);
            last = inside >> 63;
            at = at.wrapping_add(64);
        }
        if !rest.is_empty() {
            let here = _bzhi_u64(u64::MAX, rest.len() as u32);
            let inside = mask(_mm512_maskz_loadu_epi8(here, rest.as_ptr().cast()));
            put((inside ^ (inside << 1 | last)) & here, at);
            last = inside >> (rest.len() - 1) & 1;
        }
        *before = last == 1;
        n
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain(bytes: &[u8], set: &[u8], bits: &mut [u64]) {
    for (word, chunk) in bits.iter_mut().zip(bytes.chunks(64)) {
        *word = mask_of(chunk, set);
    }
}

fn mask_of(chunk: &[u8], set: &[u8]) -> u64 {
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

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn avx512(bytes: &[u8], set: &[u8], bits: &mut [u64]) {
    use std::arch::x86_64::*;
    let wanted = Wanted::of(set);
    let chunks = bytes.chunks_exact(64);
    let rest = chunks.remainder();
    let whole = bytes.len() / 64;
    for (word, chunk) in bits.iter_mut().zip(chunks) {
        // SAFETY: the chunk has 64 bytes; unaligned load.
        *word = wanted.mask(unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) });
    }
    if !rest.is_empty() {
        bits[whole] = mask_of(rest, set);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2(bytes: &[u8], set: &[u8], bits: &mut [u64]) {
    use std::arch::x86_64::*;
    let mut wanted = [_mm256_setzero_si256(); SET_MAX];
    for (w, &s) in wanted.iter_mut().zip(set) {
        *w = _mm256_set1_epi8(s as i8);
    }
    let chunks = bytes.chunks_exact(64);
    let rest = chunks.remainder();
    let whole = bytes.len() / 64;
    for (word, chunk) in bits.iter_mut().zip(chunks) {
        // SAFETY: the chunk has 64 bytes; unaligned loads of its halves.
        let (low, high) =
            unsafe { (_mm256_loadu_si256(chunk.as_ptr().cast()), _mm256_loadu_si256(chunk.as_ptr().add(32).cast())) };
        let (mut a, mut b) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for w in &wanted[..set.len()] {
            a = _mm256_or_si256(a, _mm256_cmpeq_epi8(low, *w));
            b = _mm256_or_si256(b, _mm256_cmpeq_epi8(high, *w));
        }
        *word = u64::from(_mm256_movemask_epi8(a) as u32) | u64::from(_mm256_movemask_epi8(b) as u32) << 32;
    }
    if !rest.is_empty() {
        bits[whole] = mask_of(rest, set);
    }
}

/// Uses SSE2, which every x86-64 CPU has: five times as fast as `plain`, which compiles to a loop over bytes.
#[cfg(target_arch = "x86_64")]
fn sse2(bytes: &[u8], set: &[u8], bits: &mut [u64]) {
    use std::arch::x86_64::*;
    let (chunks, rest) = bytes.as_chunks::<64>();
    for (word, chunk) in bits.iter_mut().zip(chunks) {
        *word = 0;
        for (at, quarter) in chunk.as_chunks::<16>().0.iter().enumerate() {
            // SAFETY: SSE2 is part of x86-64; an unaligned load of 16 bytes from an array of 16.
            let found = unsafe {
                let quarter = _mm_loadu_si128(quarter.as_ptr().cast());
                let equal = |any, s: &u8| _mm_or_si128(any, _mm_cmpeq_epi8(quarter, _mm_set1_epi8(*s as i8)));
                _mm_movemask_epi8(set.iter().fold(_mm_setzero_si128(), equal))
            };
            *word |= u64::from(found as u32) << (16 * at);
        }
    }
    if !rest.is_empty() {
        bits[chunks.len()] = mask_of(rest, set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marsaglia's xorshift; `env::random` is on a higher floor.
    fn next(random: &mut u64) -> u64 {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        *random
    }

    #[test]
    fn finds_edges_of_runs_of_any_density() {
        let mut random = 88172645463325252u64;
        let mut bytes = vec![0u8; 700];
        for set in [&b"\t\n\x0c\r "[..], b"\0", b"\x01\x11", b"\x80a", b""] {
            for density in 1..6 {
                for byte in &mut bytes {
                    let random = next(&mut random);
                    let hit = random % (1 << density) == 0 && !set.is_empty();
                    *byte = if hit { set[(random >> 32) as usize % set.len()] } else { (random >> 40) as u8 };
                }
                for len in (0..140).chain([bytes.len()]) {
                    for start in [false, true] {
                        let (mut before, mut to) = (start, vec![7; len + EDGES_SLACK]);
                        let n = edges(&bytes[..len], set, 1000, &mut before, &mut to);
                        let inside = |i: usize| if i == 0 { start } else { set.contains(&bytes[i - 1]) };
                        let expect: Vec<u32> =
                            (0..len).filter(|&i| inside(i) != inside(i + 1)).map(|i| i as u32 + 1000).collect();
                        assert_eq!(to[..n], expect, "{set:?} {len}");
                        assert_eq!(before, inside(len));
                    }
                }
            }
        }
    }

    #[test]
    fn counts_line_ends_as_hadoop_does() {
        let mut random = 88172645463325252u64;
        for n in (0..200).chain([1000, 5000]) {
            let bytes: Vec<u8> = (0..n).map(|_| b"a\r\n\n\r\0"[next(&mut random) as usize % 6]).collect();
            let lf =
                bytes.iter().enumerate().filter(|&(i, &b)| b == b'\n' && (i == 0 || bytes[i - 1] != b'\r')).count();
            let cr = bytes.iter().filter(|&&b| b == b'\r').count();
            assert_eq!(line_ends(&bytes), (lf + cr) as u64);
        }
    }

    #[test]
    fn all_instruction_sets_agree_at_every_length() {
        let bytes: Vec<u8> = (0..300u32).map(|i| (i * 7919 % 251) as u8).collect();
        for set in [&b""[..], b"\n", b"\r\n", b"\t\n\x0c\r ", &[0, 1, 2, 3, 4, 5, 6, 255]] {
            for len in 0..bytes.len() {
                let bytes = &bytes[..len];
                let mut bits = vec![u64::MAX; len.div_ceil(64)];
                mask_any(bytes, set, &mut bits);
                let mut expect = vec![u64::MAX; len.div_ceil(64)];
                plain(bytes, set, &mut expect);
                #[cfg(target_arch = "x86_64")]
                {
                    let mut found = vec![!0; expect.len()];
                    sse2(bytes, set, &mut found);
                    assert_eq!(found, expect, "sse2");
                }
                assert_eq!(bits, expect);
                for (i, b) in bytes.iter().enumerate() {
                    assert_eq!(bits[i / 64] >> (i % 64) & 1 == 1, set.contains(b));
                }
            }
        }
    }
}
