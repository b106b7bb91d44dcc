//! Connections over io_uring: one system call sends all calls of a round and returns all received pieces.
//!
//! One of the listed files with `unsafe`: the kernel reads a send's bytes until its completion, and receives into
//! lent buffers ([`BufferPool`]).
//!
//! The gain is not the saved system calls. Between two sends of an epoll loop the kernel returns to the program,
//! and the server's threads that the first send woke preempt it. Here they run after all calls are sent.
//!
//! ```text
//!   open -> poll until connected -> receive (multishot) until closed
//!                                -> send, one at a time
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

use super::buffer_pool::{BufferPool, Piece};
use super::connection::End;
use super::input::Input;

const REQUESTS_MAX: u32 = 1024;
const COMPLETIONS: u32 = 32 << 10;
const BUFFERS: usize = 256;
const GROUP: u16 = 0;
/// `MSG_WAITALL`, which io_uring also takes for sends; rustix defines it for receives only.
const WAIT_ALL: u32 = RecvFlags::WAITALL.bits();
/// Time within which all requests of shut-down connections complete.
const ENDS_WITHIN: Duration = Duration::from_secs(1);

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Connect,
    Receive,
    Send,
}

const KINDS: [Kind; 3] = [Kind::Connect, Kind::Receive, Kind::Send];

/// State of a connection until its last request completes, which may be after its close.
struct Line {
    /// Number of the connection; None once closed.
    connection: Option<usize>,
    stream: TcpStream,
    is_connected: bool,
    out: Vec<u8>,
    /// Bytes that belong to the kernel while `is_sending`.
    sent: Vec<u8>,
    is_sending: bool,
    input: Input,
    under_way: u8,
}

/// Event of a connection.
#[derive(Debug)]
pub enum LineEvent {
    /// The connection is established or has failed: see [`Ring::connected`].
    Connected,
    Received(Piece),
    Closed,
}

/// Connections of a thread on one io_uring instance.
pub struct Ring {
    /// The io_uring instance; first, so that it is dropped before the memory that the kernel may write into.
    ring: IoUring,
    buffers: BufferPool,
    lines: Vec<Option<Line>>,
    free: Vec<usize>,
    /// Lines that are free from the next wait on; until then `events` may still name them.
    gone: Vec<usize>,
    /// Line of each connection.
    of: Vec<Option<usize>>,
    /// Events by line.
    events: VecDeque<(usize, LineEvent)>,
    done: Vec<cqueue::Entry>,
    /// Sends without a completion.
    sends: usize,
    under_way: usize,
}

impl Ring {
    /// Creates an instance for the calling thread; no other thread may use it.
    ///
    /// # Errors
    /// The kernel does not have io_uring (6.1 or later), or forbids it.
    pub fn new(connections: usize) -> io::Result<Ring> {
        let mut builder = IoUring::builder();
        builder.setup_single_issuer().setup_defer_taskrun().setup_submit_all().setup_clamp();
        // Completions of each connection: a connect or receive, a send, and two of its predecessor.
        let completions = (4 * connections as u32).next_power_of_two().clamp(64, COMPLETIONS);
        let ring = builder.setup_cqsize(completions).build(REQUESTS_MAX.min(completions / 2))?;
        let buffers = BufferPool::new(connections.next_power_of_two().clamp(8, BUFFERS) as u16);
        // SAFETY: the memory of the buffer ring keeps its address until `drop` below.
        unsafe { ring.submitter().register_buf_ring_with_flags(buffers.address(), buffers.count(), GROUP, 0)? };
        Ok(Ring {
            ring,
            buffers,
            lines: Vec::new(),
            free: Vec::new(),
            gone: Vec::new(),
            of: vec![None; connections],
            events: VecDeque::new(),
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
        // The connect has started. A request on a non-blocking socket would fail instead of waiting.
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
        // SAFETY: the request names no memory; the descriptor is open until the line's last request completes.
        unsafe { self.push(at, Kind::Connect, poll) }
    }

    /// Shuts a connection down; its line is freed after its last request.
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

    /// Handles [`LineEvent::Connected`].
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
        // SAFETY: the request names the group of lent buffers, which outlive all requests. The descriptor is open until
        // the line's last request completes.
        unsafe { self.push(at, Kind::Receive, receive) }
    }

    /// Queues the output; the next [`Ring::wait`] submits it.
    pub fn flush(&mut self, connection: usize) -> io::Result<()> {
        let Some((at, line)) = self.line(connection) else { return Ok(()) };
        if !line.is_connected || line.is_sending || line.out.is_empty() {
            return Ok(());
        }
        std::mem::swap(&mut line.out, &mut line.sent);
        line.is_sending = true;
        let bytes = line.sent.len() as u32;
        let send = opcode::Send::new(Fd(line.stream.as_raw_fd()), line.sent.as_ptr(), bytes);
        // The kernel sends all bytes, or reports an error.
        let send = send.flags((SendFlags::NOSIGNAL.bits() | WAIT_ALL) as i32).build();
        self.sends += 1;
        // SAFETY: `sent` does not change while `is_sending`, until the completion. The line and its descriptor live as
        // long.
        unsafe { self.push(at, Kind::Send, send) }
    }

    /// Submits a request.
    ///
    /// # Safety
    /// The memory that the request names must live, and not change, until its completion.
    unsafe fn push(&mut self, at: usize, kind: Kind, request: Entry) -> io::Result<()> {
        let request = request.user_data((at << 2 | kind as usize) as u64);
        // SAFETY: the caller keeps the contract of this function.
        while unsafe { self.ring.submission().push(&request) }.is_err() {
            self.ring.submit()?;
        }
        if let Some(line) = &mut self.lines[at] {
            line.under_way += 1;
        }
        self.under_way += 1;
        Ok(())
    }

    /// Submits all requests, and waits for completions up to this time.
    pub fn wait(&mut self, time: Duration) -> io::Result<()> {
        debug_assert!(self.events.is_empty());
        self.free.append(&mut self.gone);
        self.buffers.publish();
        let time = Timespec::from(time);
        // Sends complete at once unless the peer reads slowly; one more completion is a received piece. If a send does
        // not complete, the time ends the wait.
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
        // SAFETY: this completion names the buffer and its bytes.
        let piece = piece.map(|(number, bytes)| unsafe { self.buffers.take(number, bytes) });
        let is_last = !cqueue::more(one.flags());
        let Some(line) = &mut self.lines[at] else { unreachable!("a line stays until nothing of it is under way") };
        if is_last {
            line.under_way -= 1;
            self.under_way -= 1;
        }
        let is_open = line.connection.is_some();
        match (kind, piece) {
            (Kind::Connect, _) => self.events.push_back((at, LineEvent::Connected)),
            (Kind::Send, _) => {
                line.is_sending = false;
                let is_whole = bytes == Ok(line.sent.len());
                line.sent.clear();
                match line.connection.filter(|_| is_whole) {
                    Some(connection) => self.flush(connection)?,
                    None => self.events.push_back((at, LineEvent::Closed)),
                }
            }
            (Kind::Receive, Some(piece)) if !is_open || bytes == Ok(0) => {
                self.buffers.give_back(piece);
                self.events.push_back((at, LineEvent::Closed));
            }
            (Kind::Receive, Some(piece)) => {
                self.events.push_back((at, LineEvent::Received(piece)));
                if is_last {
                    self.receive(at)?;
                }
            }
            // All buffers were in use; they are lent again by the next wait.
            (Kind::Receive, None) if is_open && one.result() == -Errno::NOBUFS.raw_os_error() => self.receive(at)?,
            (Kind::Receive, None) => self.events.push_back((at, LineEvent::Closed)),
        }
        self.let_go(at);
        Ok(())
    }

    /// Returns the next event since the last [`Ring::wait`].
    pub fn next(&mut self) -> Option<(usize, LineEvent)> {
        while let Some((at, event)) = self.events.pop_front() {
            let connection = self.lines[at].as_ref().and_then(|line| line.connection);
            match (connection, event) {
                (Some(connection), event) => return Some((connection, event)),
                (None, LineEvent::Received(piece)) => self.buffers.give_back(piece),
                (None, _) => {}
            }
        }
        None
    }

    /// Passes each response on that a piece completes.
    pub fn read(&mut self, connection: usize, piece: Piece, take: impl FnMut(&[u8]) -> Result<()>) -> Result<End> {
        let line = self.of[connection].and_then(|at| self.lines[at].as_mut());
        let end = line.map_or(Ok(()), |line| line.input.add(self.buffers.bytes(&piece), take));
        self.buffers.give_back(piece);
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
            // The kernel may still access this memory, so it is leaked.
            std::mem::forget((
                std::mem::take(&mut self.lines),
                std::mem::replace(&mut self.buffers, BufferPool::new(1)),
            ));
        }
    }
}
