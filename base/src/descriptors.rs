//! File descriptors that travel through a Unix socket, with the first byte of some bytes (unix(7), `SCM_RIGHTS`).

use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

/// Descriptors that come with one message, at most.
const DESCRIPTORS_MAX: usize = 3;

/// Sends bytes, and at most three descriptors with the first of them.
pub fn send(mut socket: &UnixStream, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let sent = sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)?;
    socket.write_all(&bytes[sent..])
}

/// Receives the first bytes of a message, as many as are there, and the descriptors that came with them. Programs that
/// this one starts do not get them. Returns 0 bytes at the end of the stream.
pub fn receive(socket: impl AsFd, into: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(socket, &mut [IoSliceMut::new(into)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let descriptors = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors.collect::<Vec<_>>()),
            _ => None,
        })
        .flatten()
        .collect();
    Ok((received.bytes, descriptors))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn descriptors_come_with_the_first_byte() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (mut writer, reader) = UnixStream::pair().unwrap();
        let null = File::open("/dev/null").unwrap();
        send(&ours, b"hello", &[reader.as_fd(), null.as_fd()]).unwrap();
        let mut first = [0; 2];
        let (length, descriptors) = receive(&theirs, &mut first).unwrap();
        assert_eq!((length, &first, descriptors.len()), (2, b"he", 2));
        let mut rest = [0; 3];
        theirs.read_exact(&mut rest).unwrap();
        assert_eq!(&rest, b"llo");
        writer.write_all(b"x").unwrap();
        let mut passed = UnixStream::from(descriptors.into_iter().next().unwrap());
        let mut byte = [0];
        passed.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"x");
        drop(ours);
        assert_eq!(receive(&theirs, &mut first).unwrap().0, 0);
    }
}
