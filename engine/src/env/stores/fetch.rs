//! One range of a file on its way to a slot of the window.

use std::io;
use std::sync::Arc;

use yunti_base::store_protocol::{Answer, Ask, Pin};

use super::link::{Link, Ticket, odd_answer};

/// Request for a slot of bytes.
pub struct Fetch {
    link: Arc<Link>,
    pub from: u64,
    pub len: u64,
    pub slot: u32,
    /// None when the bytes are there.
    ticket: Option<Ticket>,
}

impl Fetch {
    /// Sends a request for bytes (`from`, `len`) of a file to a slot.
    pub fn send(link: &Arc<Link>, url: &str, pin: &Pin, (from, len): (u64, u64), slot: u32) -> io::Result<Fetch> {
        // The slot is free again if the request cannot be sent.
        let mut fetch = Fetch { link: link.clone(), from, len, slot, ticket: None };
        let ask = Ask::Get { url: url.into(), from, len, at: link.window.at(slot), pin: pin.clone() };
        fetch.ticket = Some(link.submit(ask)?);
        Ok(fetch)
    }

    /// Waits until the bytes are there.
    pub fn wait(&mut self) -> io::Result<()> {
        let Some(ticket) = self.ticket.take() else { return Ok(()) };
        match self.link.wait(ticket)? {
            Answer::Bytes(n) if n == self.len => Ok(()),
            _ => Err(odd_answer()),
        }
    }

    /// Returns true if the byte at an offset is among the requested ones.
    pub fn has(&self, offset: u64) -> bool {
        (self.from..self.from + self.len).contains(&offset)
    }
}

impl Drop for Fetch {
    fn drop(&mut self) {
        match self.ticket.take() {
            Some(ticket) => self.link.leave(ticket, self.slot),
            None => self.link.window.release(self.slot),
        }
    }
}
