//! Connections by io_uring: all that is to be sent goes to the kernel at once, and what has come is there when it returns.
//!
//! One of the listed files with `unsafe`: what is to be sent is read by the kernel until it says that it has sent it, and it receives into buffers that
//! are lent to it ([`Lent`]).
//!
//! The gain is not the system calls that are saved: between two sends of an epoll loop the kernel goes back to the program, and there the server's threads
//! that the first one has woken take the processor from it. Here they wait until all is sent.
//!
//! ```text
//!   open -> poll until it is connected -> receive, again and again, until it is closed
//!                                      -> send, one at a time
//! ```

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use io_uring::squeue::Entry;
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use yunti_base::Result;

use super::connection::End;
use super::input::Input;
use super::lent::{Lent, Piece};

const REQUESTS_MAX: u32 = 1024;
const COMPLETIONS: u32 = 32 << 10;
const BUFFERS: usize = 256;
const GROUP: u16 = 0;
/// `MSG_WAITALL`, of sends too here; rustix has it for what is received alone.
const WAIT_ALL: u32 = RecvFlags::WAITALL.bits();
/// Connections that are shut down have nothing under way after this.
const ENDS_WITHIN: Duration = Duration::from_secs(1);

/// What a request of ours is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Connect,
    Receive,
    Send,
}

const KINDS: [Kind; 3] = [Kind::Connect, Kind::Receive, Kind::Send];

/// A connection, from its opening until the kernel has nothing of it under way any more: that may be later than it is closed.
struct Line {
    /// None: closed.
    connection: Option<usize>,
    stream: TcpStream,
    is_connected: bool,
    out: Vec<u8>,
    /// The kernel's while `is_sending`.
    sent: Vec<u8>,
    is_sending: bool,
    input: Input,
    under_way: u8,
}

#[derive(Debug)]
pub enum What {
    /// Or it has failed to: see [`Ring::connected`].
    Connected,
    Came(Piece),
    Closed,
}

pub struct Ring {
    /// Before what the kernel may write into: it is dropped first.
    ring: IoUring,
    lent: Lent,
    lines: Vec<Option<Line>>,
    free: Vec<usize>,
    /// Free from the next wait on: until then something seen may be of those that had these places.
    gone: Vec<usize>,
    /// By connection.
    of: Vec<Option<usize>>,
    /// Of lines.
    seen: VecDeque<(usize, What)>,
    done: Vec<cqueue::Entry>,
    /// That are not known to be sent.
    sends: usize,
    under_way: usize,
}

impl Ring {
    /// Of the thread that calls: no other may use it.
    ///
    /// # Errors
    /// The kernel has it not (6.1 at least), or does not allow it.
    pub fn new(connections: usize) -> io::Result<Ring> {
        let mut builder = IoUring::builder();
        builder.setup_single_issuer().setup_defer_taskrun().setup_submit_all().setup_clamp();
        // Of each connection a connect or a receive, a send, and what is closed and not gone.
        let completions = (4 * connections as u32).next_power_of_two().clamp(64, COMPLETIONS);
        let ring = builder.setup_cqsize(completions).build(REQUESTS_MAX.min(completions / 2))?;
        let lent = Lent::new(connections.next_power_of_two().clamp(8, BUFFERS) as u16);
        // SAFETY: the memory of the ring stays where it is until `drop` below.
        unsafe { ring.submitter().register_buf_ring_with_flags(lent.address(), lent.count(), GROUP, 0)? };
        Ok(Ring {
            ring,
            lent,
            lines: Vec::new(),
            free: Vec::new(),
            gone: Vec::new(),
            of: vec![None; connections],
            seen: VecDeque::new(),
            done: Vec::new(),
            sends: 0,
            under_way: 0,
        })
    }

    fn line(&mut self, connection: usize) -> Option<(usize, &mut Line)> {
        let at = self.of[connection]?;
        self.lines[at].as_mut().map(|line| (at, line))
    }

    pub fn is_open(&self, connection: usize) -> bool {
        self.of[connection].is_some()
    }

    pub fn out(&mut self, connection: usize) -> Option<&mut Vec<u8>> {
        self.line(connection).map(|(_, line)| &mut line.out)
    }

    pub fn open(&mut self, connection: usize, address: SocketAddr) -> io::Result<()> {
        self.close(connection);
        let stream = TcpStream::from(OwnedFd::from(mio::net::TcpStream::connect(address)?));
        stream.set_nodelay(true)?;
        // It has begun to connect. A request on a socket that never blocks would fail rather than wait.
        stream.set_nonblocking(false)?;
        let poll = opcode::PollAdd::new(Fd(stream.as_raw_fd()), u32::from(PollFlags::OUT.bits())).build();
        let line = Line {
            connection: Some(connection),
            stream,
            is_connected: false,
            out: Vec::new(),
            sent: Vec::new(),
            is_sending: false,
            input: Input::default(),
            under_way: 0,
        };
        let at = self.free.pop().unwrap_or_else(|| {
            self.lines.push(None);
            self.lines.len() - 1
        });
        self.lines[at] = Some(line);
        self.of[connection] = Some(at);
        // SAFETY: it names no memory; the descriptor is open until the line has nothing under way.
        unsafe { self.push(at, Kind::Connect, poll) }
    }

    /// What is under way still ends; the line goes with the last of it.
    pub fn close(&mut self, connection: usize) {
        let Some(at) = self.of[connection].take() else { return };
        if let Some(line) = &mut self.lines[at] {
            line.connection = None;
            let _ = line.stream.shutdown(Shutdown::Both);
        }
        self.let_go(at);
    }

    fn let_go(&mut self, at: usize) {
        if self.lines[at].as_ref().is_some_and(|line| line.connection.is_none() && line.under_way == 0) {
            self.lines[at] = None;
            self.gone.push(at);
        }
    }

    /// After [`What::Connected`].
    pub fn connected(&mut self, connection: usize) -> io::Result<()> {
        let Some((at, line)) = self.line(connection) else { return Ok(()) };
        if let Some(e) = line.stream.take_error()? {
            return Err(e);
        }
        line.is_connected = true;
        self.receive(at)?;
        self.flush(connection)
    }

    fn receive(&mut self, at: usize) -> io::Result<()> {
        let Some(line) = &self.lines[at] else { return Ok(()) };
        let receive = opcode::RecvMulti::new(Fd(line.stream.as_raw_fd()), GROUP).build();
        // SAFETY: it names the group of lent buffers, which outlive all that is under way; the descriptor is open until the line has nothing under way.
        unsafe { self.push(at, Kind::Receive, receive) }
    }

    /// What is to be sent goes to the kernel with the next [`Ring::wait`].
    pub fn flush(&mut self, connection: usize) -> io::Result<()> {
        let Some((at, line)) = self.line(connection) else { return Ok(()) };
        if !line.is_connected || line.is_sending || line.out.is_empty() {
            return Ok(());
        }
        std::mem::swap(&mut line.out, &mut line.sent);
        line.is_sending = true;
        let bytes = line.sent.len() as u32;
        let send = opcode::Send::new(Fd(line.stream.as_raw_fd()), line.sent.as_ptr(), bytes);
        // All of it, or an error.
        let send = send.flags((SendFlags::NOSIGNAL.bits() | WAIT_ALL) as i32).build();
        self.sends += 1;
        // SAFETY: `sent` is not touched while `is_sending`, which ends by the completion, and its line lives as long. The descriptor is open until then.
        unsafe { self.push(at, Kind::Send, send) }
    }

    /// # Safety
    /// What the request names lives, and is not touched, until its completion has come.
    unsafe fn push(&mut self, at: usize, kind: Kind, request: Entry) -> io::Result<()> {
        let request = request.user_data((at << 2 | kind as usize) as u64);
        // SAFETY: as of this function.
        while unsafe { self.ring.submission().push(&request) }.is_err() {
            self.ring.submit()?;
        }
        if let Some(line) = &mut self.lines[at] {
            line.under_way += 1;
        }
        self.under_way += 1;
        Ok(())
    }

    /// Sends what is to be sent, and waits for what comes, so long at most.
    pub fn wait(&mut self, time: Duration) -> io::Result<()> {
        debug_assert!(self.seen.is_empty());
        self.free.append(&mut self.gone);
        self.lent.publish();
        let time = Timespec::from(time);
        // Sends are done at once but where the other side is slow to read; one completion more is something that has come. Where a send is not done, the time
        // ends the wait.
        let want = self.sends + 1;
        match self.ring.submitter().submit_with_args(want, &SubmitArgs::new().timespec(&time)) {
            Err(e) if !matches!(Errno::from_io_error(&e), Some(Errno::TIME | Errno::INTR | Errno::BUSY)) => {
                return Err(e);
            }
            _ => {}
        }
        self.sends = 0;
        let mut done = std::mem::take(&mut self.done);
        done.extend(self.ring.completion());
        for one in done.drain(..) {
            self.completed(&one)?;
        }
        self.done = done;
        Ok(())
    }

    fn completed(&mut self, one: &cqueue::Entry) -> io::Result<()> {
        let (at, kind) = (one.user_data() as usize >> 2, KINDS[one.user_data() as usize & 3]);
        let bytes = usize::try_from(one.result());
        let piece = cqueue::buffer_select(one.flags()).zip(bytes.ok());
        // SAFETY: this completion says so.
        let piece = piece.map(|(number, bytes)| unsafe { self.lent.take(number, bytes) });
        let is_last = !cqueue::more(one.flags());
        let Some(line) = &mut self.lines[at] else { unreachable!("a line stays until nothing of it is under way") };
        if is_last {
            line.under_way -= 1;
            self.under_way -= 1;
        }
        let is_open = line.connection.is_some();
        match (kind, piece) {
            (Kind::Connect, _) => self.seen.push_back((at, What::Connected)),
            (Kind::Send, _) => {
                line.is_sending = false;
                let is_whole = bytes == Ok(line.sent.len());
                line.sent.clear();
                match line.connection.filter(|_| is_whole) {
                    Some(connection) => self.flush(connection)?,
                    None => self.seen.push_back((at, What::Closed)),
                }
            }
            (Kind::Receive, Some(piece)) if !is_open || bytes == Ok(0) => {
                self.lent.give_back(piece);
                self.seen.push_back((at, What::Closed));
            }
            (Kind::Receive, Some(piece)) => {
                self.seen.push_back((at, What::Came(piece)));
                if is_last {
                    self.receive(at)?;
                }
            }
            // All buffers were in use: they are lent again by now, or before the next wait.
            (Kind::Receive, None) if is_open && one.result() == -Errno::NOBUFS.raw_os_error() => self.receive(at)?,
            (Kind::Receive, None) => self.seen.push_back((at, What::Closed)),
        }
        self.let_go(at);
        Ok(())
    }

    /// What has happened since the last [`Ring::wait`], one after the other.
    pub fn next(&mut self) -> Option<(usize, What)> {
        while let Some((at, what)) = self.seen.pop_front() {
            let connection = self.lines[at].as_ref().and_then(|line| line.connection);
            match (connection, what) {
                (Some(connection), what) => return Some((connection, what)),
                (None, What::Came(piece)) => self.lent.give_back(piece),
                (None, _) => {}
            }
        }
        None
    }

    /// Hands on each answer that is whole with what has come.
    pub fn read(&mut self, connection: usize, piece: Piece, take: impl FnMut(&[u8]) -> Result<()>) -> Result<End> {
        let line = self.of[connection].and_then(|at| self.lines[at].as_mut());
        let end = line.map_or(Ok(()), |line| line.input.add(self.lent.bytes(&piece), take));
        self.lent.give_back(piece);
        end.map(|()| End::Open)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        (0..self.of.len()).for_each(|connection| self.close(connection));
        let end = Instant::now() + ENDS_WITHIN;
        while self.under_way > 0 && Instant::now() < end && self.wait(Duration::from_millis(20)).is_ok() {
            while self.next().is_some() {}
        }
        if self.under_way > 0 {
            // The kernel may still write into these.
            std::mem::forget((std::mem::take(&mut self.lines), std::mem::replace(&mut self.lent, Lent::new(1))));
        }
    }
}
