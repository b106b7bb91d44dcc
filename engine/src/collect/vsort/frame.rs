//! The quicksort around the vectors, shared by the kernels because it does not depend on the vector's width.
//! One of the listed files with `unsafe`: the partition reads and writes keys by address.
//!
//! A kernel brings its constants (`LANES`, `BLOCK_VECTORS`, `BLOCK`, `BASE`, `NINTHER_LEN_MIN`) and these functions:
//!
//! | function | what it does |
//! |---|---|
//! | `load(keys, at)` | one vector, in the form in which the kernel compares keys |
//! | `median3(a, b, c)`, `middle(v)` | the median lane by lane; the key in the middle of a vector |
//! | `load_vector(at)` | one vector of keys as they are |
//! | `Dealer::new`, `deal`, `deal_odd` | the writing half of a partition: one vector, or fewer keys |
//! | `sort_base(keys)` | the base case |
//!
//! A macro, because a function with vector instructions cannot be generic over the instruction set.

/// Defines `quicksort`, `choose_pivot`, `partition`, `deal_block` and `load_block` for a kernel.
macro_rules! quicksort_frame {
    ($features:literal, $vector:ty) => {
        #[target_feature(enable = $features)]
        fn quicksort(mut keys: &mut [u64], mut depth: u32) {
            while keys.len() > BASE {
                if depth == 0 {
                    return super::plain::sort(keys);
                }
                depth -= 1;
                let pivot = choose_pivot(keys);
                let cut = partition::<false>(keys, pivot);
                if cut == 0 {
                    // The pivot is the smallest key: peel off all that equal it.
                    let equal = partition::<true>(keys, pivot);
                    keys = &mut keys[equal..];
                    continue;
                }
                let (low, high) = keys.split_at_mut(cut);
                quicksort(low, depth);
                keys = high;
            }
            sort_base(keys);
        }

        /// Returns a key near the median: of 3 or 9 vectors spread evenly, the median lane by lane, then of its lanes.
        #[inline]
        #[target_feature(enable = $features)]
        fn choose_pivot(keys: &[u64]) -> u64 {
            if keys.len() < NINTHER_LEN_MIN {
                let step = keys.len() / 4;
                return middle(median3(load(keys, step), load(keys, 2 * step), load(keys, 3 * step)));
            }
            let step = keys.len() / 10;
            middle(median3(
                median3(load(keys, step), load(keys, 2 * step), load(keys, 3 * step)),
                median3(load(keys, 4 * step), load(keys, 5 * step), load(keys, 6 * step)),
                median3(load(keys, 7 * step), load(keys, 8 * step), load(keys, 9 * step)),
            ))
        }

        /// Moves the keys below `pivot` (`OR_EQUAL`: or equal to it) to the front, and returns their number.
        ///
        /// ```text
        /// 0       write        left            left + unread        write + gap      len
        /// | low keys |  free    |  not read yet   |       free           | high keys |
        /// ```
        ///
        /// A block from each end is held in registers, so that 2 blocks of space are free. Each turn reads the next
        /// block from the side with less free space, then writes the block read in the turn before: which side has
        /// less does not wait for that block's comparisons. (Writing the block just read makes every turn wait.)
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn partition<const OR_EQUAL: bool>(keys: &mut [u64], pivot: u64) -> usize {
            let len = keys.len();
            assert!(len >= 2 * BLOCK);
            let base = keys.as_mut_ptr();
            let mut rest = [MaybeUninit::<u64>::uninit(); BLOCK];
            let rest: *mut u64 = rest.as_mut_ptr().cast();

            // SAFETY: the first and the last block are within `keys`, which is at least 2 blocks long.
            let (mut current, held) = unsafe { (load_block(base), load_block(base.add(len - BLOCK))) };
            let mut left = BLOCK;
            let mut unread = len - 2 * BLOCK;
            let mut dealer = Dealer::<OR_EQUAL>::new(base, len, pivot);
            while unread >= BLOCK {
                // The space on the left (left - write) is no more than on the right (write + gap - left - unread).
                let from_left = 2 * left + unread <= 2 * dealer.write + dealer.gap;
                let at = left + if from_left { 0 } else { unread - BLOCK };
                left += if from_left { BLOCK } else { 0 };
                unread -= BLOCK;
                // SAFETY: `at` starts a block within the unread keys.
                let next = unsafe { load_block(base.add(at)) };
                // SAFETY: 3 blocks of space were free after that read, at least 1 of them on either side: the side
                // that was read from gained one, the other had no less than half of 2. This writes 1 block.
                unsafe { deal_block(&mut dealer, current) };
                current = next;
            }

            // Fewer keys than a block are unread: move them out of the way, and the whole gap is free.
            // SAFETY: reads the unread keys; `rest` holds a block, which is more, and is not part of `keys`.
            unsafe { base.add(left).copy_to_nonoverlapping(rest, unread) };
            let whole = unread - unread % LANES;
            // SAFETY: every key has been read, so the whole gap is free: the odd keys, then whole vectors down to the
            // last one.
            unsafe {
                dealer.deal_odd(rest.add(whole), unread - whole, pivot);
                deal_block(&mut dealer, current);
                deal_block(&mut dealer, held);
                for at in (0..whole).step_by(LANES) {
                    dealer.deal(load_vector(rest.add(at)));
                }
            }
            debug_assert_eq!(dealer.gap, 0);
            dealer.write
        }

        /// # Safety
        /// As for `deal`, before each vector: a block is free at each end, or the gap is whole vectors, all of it free.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn deal_block<const OR_EQUAL: bool>(dealer: &mut Dealer<OR_EQUAL>, block: [$vector; BLOCK_VECTORS]) {
            for vector in block {
                // SAFETY: each vector takes at most its own keys of space from either end, and there was a block for
                // all.
                unsafe { dealer.deal(vector) };
            }
        }

        /// # Safety
        /// `at` starts a block of readable keys.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn load_block(at: *const u64) -> [$vector; BLOCK_VECTORS] {
            // SAFETY: the caller vouches for the block; vectors are plain numbers, so zeros are a value.
            let mut block: [$vector; BLOCK_VECTORS] = unsafe { std::mem::zeroed() };
            for (i, vector) in block.iter_mut().enumerate() {
                // SAFETY: the caller vouches for the block.
                *vector = unsafe { load_vector(at.add(i * LANES)) };
            }
            block
        }
    };
}
