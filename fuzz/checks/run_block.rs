//! Any bytes as a block of a spilled run, as they are and with the checksum made right: no panic, no access behind its end.

pub fn check(bytes: &[u8]) {
    yunti_engine::run::block::fuzz(bytes);
}
