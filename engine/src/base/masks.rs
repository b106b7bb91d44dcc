//! Which bytes of a buffer are in a small set, as one bit a byte: what tokenisers and line splitters walk.
//! One of the listed files with `unsafe`: SIMD chosen at run time (AVX-512, AVX2, else what the compiler makes of plain code).

/// At most this many bytes in a set.
pub const SET_MAX: usize = 8;

/// Sets bit `i % 64` of `bits[i / 64]` where `bytes[i]` is in `set`, clears the others. `bits` holds `ceil(len / 64)` words, which
/// are all written; bits behind the end are 0.
pub fn mask_any(bytes: &[u8], set: &[u8], bits: &mut [u64]) {
    assert!(set.len() <= SET_MAX && bits.len() >= bytes.len().div_ceil(64));
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512bw") {
            // SAFETY: the feature was just detected, and the sizes asserted.
            unsafe { avx512(bytes, set, bits) };
            return;
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: as above.
            unsafe { avx2(bytes, set, bits) };
            return;
        }
    }
    plain(bytes, set, bits);
}

/// Positions of the bits set in `bits`, ascending, counted from `base`, into `to`; how many there were. `to` has room for all bits
/// and 64 more, which may be overwritten.
pub fn positions(bits: &[u64], base: u32, to: &mut [u32]) -> usize {
    assert!(to.len() >= bits.len() * 64 + 64);
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512vbmi2") {
        // SAFETY: the feature was just detected, and the room asserted.
        return unsafe { positions_avx512(bits, base, to) };
    }
    let mut n = 0;
    for (w, &word) in bits.iter().enumerate() {
        let (mut word, at) = (word, base + w as u32 * 64);
        while word != 0 {
            to[n] = at + word.trailing_zeros();
            word &= word - 1;
            n += 1;
        }
    }
    n
}

/// Compresses the numbers 0 to 63 by each mask: no branch depends on where the bits are.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
unsafe fn positions_avx512(bits: &[u64], base: u32, to: &mut [u32]) -> usize {
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
    // SAFETY: `positions` asserted room for 64 numbers behind every `n` that is reached; the loads read IOTA's 64 bytes.
    unsafe {
        let iota = _mm512_loadu_si512(IOTA.as_ptr().cast());
        let mut n = 0;
        for (w, &word) in bits.iter().enumerate() {
            let at = _mm512_set1_epi32((base + w as u32 * 64) as i32);
            let packed = _mm512_maskz_compress_epi8(word, iota);
            let p = to.as_mut_ptr().add(n);
            let first = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed));
            let second = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<1>(packed));
            _mm512_storeu_si512(p.cast(), _mm512_add_epi32(at, first));
            _mm512_storeu_si512(p.add(16).cast(), _mm512_add_epi32(at, second));
            let count = word.count_ones() as usize;
            if count > 32 {
                let third = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<2>(packed));
                let fourth = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<3>(packed));
                _mm512_storeu_si512(p.add(32).cast(), _mm512_add_epi32(at, third));
                _mm512_storeu_si512(p.add(48).cast(), _mm512_add_epi32(at, fourth));
            }
            n += count;
        }
        n
    }
}

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
    let mut wanted = [_mm512_setzero_si512(); SET_MAX];
    for (w, &s) in wanted.iter_mut().zip(set) {
        *w = _mm512_set1_epi8(s as i8);
    }
    let chunks = bytes.chunks_exact(64);
    let rest = chunks.remainder();
    let whole = bytes.len() / 64;
    for (word, chunk) in bits.iter_mut().zip(chunks) {
        // SAFETY: the chunk has 64 bytes; unaligned load.
        let v = unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) };
        let mut mask = 0u64;
        for w in &wanted[..set.len()] {
            mask |= _mm512_cmpeq_epi8_mask(v, *w);
        }
        *word = mask;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_every_density() {
        let mut random = 88172645463325252u64;
        for density in 0..6 {
            let bits: Vec<u64> = (0..50)
                .map(|_| {
                    let mut word = u64::MAX;
                    for _ in 0..density {
                        random ^= random << 13;
                        random ^= random >> 7;
                        random ^= random << 17;
                        word &= random;
                    }
                    word
                })
                .collect();
            let mut to = vec![7; bits.len() * 64 + 64];
            let n = positions(&bits, 1000, &mut to);
            let expect: Vec<u32> = (0..bits.len() as u32 * 64)
                .filter(|i| bits[*i as usize / 64] >> (i % 64) & 1 == 1)
                .map(|i| i + 1000)
                .collect();
            assert_eq!(&to[..n], expect);
        }
    }

    #[test]
    fn every_length_and_level_agrees() {
        let bytes: Vec<u8> = (0..300u32).map(|i| (i * 7919 % 251) as u8).collect();
        for set in [&b""[..], b"\n", b"\r\n", b"\t\n\x0c\r ", &[0, 1, 2, 3, 4, 5, 6, 255]] {
            for len in 0..bytes.len() {
                let bytes = &bytes[..len];
                let mut bits = vec![u64::MAX; len.div_ceil(64)];
                mask_any(bytes, set, &mut bits);
                let mut expect = vec![u64::MAX; len.div_ceil(64)];
                plain(bytes, set, &mut expect);
                assert_eq!(bits, expect);
                for (i, b) in bytes.iter().enumerate() {
                    assert_eq!(bits[i / 64] >> (i % 64) & 1 == 1, set.contains(b));
                }
            }
        }
    }
}
