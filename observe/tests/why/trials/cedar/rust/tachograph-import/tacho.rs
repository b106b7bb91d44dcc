//! Records of a tachograph.

use std::io::{self, ErrorKind, Read};

pub struct Record {
    pub at: u64,
    pub driver: u32,
    pub activity: u32,
    pub speed: f32,
}

/// The records of a tachograph's download.
pub struct Tacho {
    source: Box<dyn Read>,
}

impl Tacho {
    pub fn new(source: Box<dyn Read>) -> Self {
        Tacho { source }
    }

    fn word(&mut self) -> io::Result<[u8; 4]> {
        let mut b = [0; 4];
        self.source.read_exact(&mut b)?;
        Ok(b)
    }

    pub fn next(&mut self) -> io::Result<Option<Record>> {
        let mut at = [0; 8];
        match self.source.read_exact(&mut at) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            Err(e) => return Err(e),
        }
        let driver = u32::from_le_bytes(self.word()?);
        let activity = u32::from_le_bytes(self.word()?);
        let speed = f32::from_le_bytes(self.word()?);
        Ok(Some(Record { at: u64::from_le_bytes(at), driver, activity, speed }))
    }
}
