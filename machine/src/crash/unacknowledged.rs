//! Bytes written to a connection that the peer has not acknowledged.
//!
//! One of the listed files with `unsafe`: no crate in use has this call. A successful write means only that the bytes
//! are in a local buffer.

use std::net::TcpStream;
use std::os::fd::AsFd;

use rustix::ioctl::{Getter, ioctl};

/// linux/sockios.h; the same number on all supported architectures.
const SIOCOUTQ: rustix::ioctl::Opcode = 0x5411;

/// Returns the unacknowledged bytes, as tcp(7) defines SIOCOUTQ.
pub fn unacknowledged_bytes(connection: &TcpStream) -> std::io::Result<u32> {
    // SAFETY: SIOCOUTQ writes one int, as the getter expects, and reads nothing.
    let bytes = unsafe { ioctl(connection.as_fd(), Getter::<SIOCOUTQ, std::ffi::c_int>::new()) }?;
    Ok(bytes.max(0) as u32)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::unacknowledged_bytes;

    #[test]
    fn counts_unacknowledged_bytes() {
        let listening = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut out = TcpStream::connect(listening.local_addr().unwrap()).unwrap();
        let (mut taken, _) = listening.accept().unwrap();
        out.write_all(b"here").unwrap();
        taken.read_exact(&mut [0; 4]).unwrap();
        assert_eq!(unacknowledged_bytes(&out).unwrap(), 0);
        // No process reads, so data above the peer's buffer waits here.
        out.set_nonblocking(true).unwrap();
        while out.write(&[0; 65536]).is_ok() {}
        assert!(unacknowledged_bytes(&out).unwrap() > 0);
    }
}
