//! A set of bytes in a form that one shuffle looks up.

/// A set of bytes below 128 with distinct lower four bits: one shuffle finds the only candidate for each byte.
#[derive(Clone, Copy)]
pub(super) struct NibbleTable(pub [u8; 16]);

impl NibbleTable {
    /// Returns the table of a set, or None if the set has no such form.
    pub fn of(set: &[u8]) -> Option<NibbleTable> {
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
}
