//! What was written to a connection and has not reached the other side.
//!
//! One of the listed files with `unsafe`: no crate here has this call. A write says that the bytes are in a buffer of this machine's, no more.

use std::net::TcpStream;
use std::os::fd::AsFd;

use rustix::ioctl::{Getter, ioctl};

/// linux/sockios.h; the same number on all architectures but three that nobody runs this on.
const SIOCOUTQ: rustix::ioctl::Opcode = 0x5411;

/// Bytes, as tcp(7) has them of SIOCOUTQ.
pub fn unacknowledged_bytes(connection: &TcpStream) -> std::io::Result<u32> {
    // SAFETY: SIOCOUTQ writes one int, as the getter has it, and reads nothing.
    let bytes = unsafe { ioctl(connection.as_fd(), Getter::<SIOCOUTQ, std::ffi::c_int>::new()) }?;
    Ok(bytes.max(0) as u32)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::unacknowledged_bytes;

    #[test]
    fn what_has_not_arrived() {
        let listening = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut out = TcpStream::connect(listening.local_addr().unwrap()).unwrap();
        let (mut taken, _) = listening.accept().unwrap();
        out.write_all(b"here").unwrap();
        taken.read_exact(&mut [0; 4]).unwrap();
        assert_eq!(unacknowledged_bytes(&out).unwrap(), 0);
        // Nobody reads: what does not fit there waits here.
        out.set_nonblocking(true).unwrap();
        while out.write(&[0; 65536]).is_ok() {}
        assert!(unacknowledged_bytes(&out).unwrap() > 0);
    }
}
