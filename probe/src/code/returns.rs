//! Ends of a function: its `ret` instructions, and its jumps to other functions (tail calls), which return in its
//! place.

/// Ends of a function, by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Return instructions.
    pub returns: Vec<u64>,
    /// Direct jumps to other functions. Jumps through a table stay within the function, and jumps through a pointer
    /// cannot be distinguished from them. A call that ends by a pointer jump is reported without its end.
    pub jumps: Vec<u64>,
}

/// Finds the ends of a function. `pieces`: address and code of the function and of its parts elsewhere. Returns `None`
/// if the code cannot be decoded completely or has no end.
#[cfg(target_arch = "x86_64")]
pub fn of(pieces: &[(u64, &[u8])]) -> Option<Ends> {
    use iced_x86::{Decoder, DecoderOptions, FlowControl};
    let mut ends = Ends::default();
    for (address, code) in pieces {
        let mut decoder = Decoder::with_ip(64, code, *address, DecoderOptions::NONE);
        while decoder.can_decode() {
            let instruction = decoder.decode();
            match instruction.flow_control() {
                _ if instruction.is_invalid() => return None,
                FlowControl::Return => ends.returns.push(instruction.ip()),
                FlowControl::UnconditionalBranch if !is_within(pieces, instruction.near_branch_target()) => {
                    ends.jumps.push(instruction.ip());
                }
                _ => {}
            }
        }
    }
    ends.some()
}

#[cfg(target_arch = "aarch64")]
pub fn of(pieces: &[(u64, &[u8])]) -> Option<Ends> {
    let mut ends = Ends::default();
    for (address, code) in pieces {
        for (at, word) in (*address..).step_by(4).zip(code.chunks_exact(4)) {
            let word = u32::from_le_bytes(word.try_into().ok()?);
            let distance = i64::from((word << 6) as i32 >> 4);
            // RET, RETAA and RETAB; B to an address outside.
            if word & 0xffff_fc1f == 0xd65f_0000 || word & 0xffff_fbff == 0xd65f_0bff {
                ends.returns.push(at);
            } else if word >> 26 == 0b000101 && !is_within(pieces, at.wrapping_add_signed(distance)) {
                ends.jumps.push(at);
            }
        }
    }
    ends.some()
}

fn is_within(pieces: &[(u64, &[u8])], target: u64) -> bool {
    pieces.iter().any(|(address, code)| (*address..address + code.len() as u64).contains(&target))
}

impl Ends {
    fn some(self) -> Option<Ends> {
        (!self.returns.is_empty() || !self.jumps.is_empty()).then_some(self)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{Ends, of};

    #[test]
    fn finds_ends_of_a_function() {
        let ends = |returns: &[u64], jumps: &[u64]| Some(Ends { returns: returns.to_vec(), jumps: jumps.to_vec() });
        let check = |code: &[u8], expected| assert_eq!(of(&[(0x1000, code)]), expected);
        check(&[0x90, 0xc3], ends(&[0x1001], &[])); // nop; ret
        check(&[0x74, 0x01, 0xc3, 0xf3, 0xc3], ends(&[0x1002, 0x1003], &[])); // je +1; ret; rep ret
        check(&[0xc2, 0x08, 0x00], ends(&[0x1000], &[])); // ret 8
        check(&[0xeb, 0xfe], None); // jmp to itself
        check(&[0xe9, 0, 1, 0, 0], ends(&[], &[0x1000])); // jmp far away
        check(&[0x06], None); // no instruction of 64-bit code
        check(&[], None);
        // jmp 0x2000, the address of its rarely used piece; ret there
        let (piece, seldom): (&[u8], &[u8]) = (&[0xe9, 0xfb, 0x0f, 0, 0], &[0xc3]);
        assert_eq!(of(&[(0x1000, piece), (0x2000, seldom)]), ends(&[0x2000], &[]));
    }
}
