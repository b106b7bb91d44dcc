//! Collector of reports: syslog over UDP (RFC 5426) or TLS (RFC 5425), and a connection to it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::sockopt;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use yunti_base::{Code, Error, Result};

use super::unacknowledged::unacknowledged_bytes;

/// Message sizes that each transport must or should accept: RFC 5426 section 3.2, RFC 5425 section 4.3.1.
const UDP_BYTES_MAX: usize = 2048;
const TLS_BYTES_MAX: usize = 8192;
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Milliseconds that the kernel tries to deliver written data before the connection fails.
const UNACKNOWLEDGED_TIME_MS: u32 = 60_000;
/// A host refuses a datagram at once, or after one round trip.
const REFUSED_WITHIN: Duration = Duration::from_millis(100);
/// Reads of a collector's data, at a time.
const READS_MAX: usize = 64;
/// Certificates of authorities by distribution.
const SYSTEM_ROOTS: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Address of a collector, and its TLS configuration.
#[derive(Clone)]
pub struct Collector {
    host: String,
    port: u16,
    tls: Option<Arc<ClientConfig>>,
}

/// Files for TLS, in PEM.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// Trusted certificates; by default the system's.
    pub roots: Option<PathBuf>,
    /// Client certificate.
    pub certificate: Option<PathBuf>,
    /// Private key of the client certificate.
    pub key: Option<PathBuf>,
}

impl Collector {
    /// Parses `udp://host`, `udp://host:514`, `tls://host:6514` or `tls://[::1]:6514`. Fails on other names and on
    /// unusable files.
    pub fn new(name: &str, credentials: &Credentials) -> Result<Collector> {
        let wrong = || {
            Error::new(Code::Usage, format!("'{name}' is not a collector"))
                .hint("give one such as udp://host:514 or tls://host:6514")
        };
        let (scheme, rest) = name.split_once("://").ok_or_else(wrong)?;
        let (is_tls, usual_port) = match scheme {
            "udp" => (false, 514),
            "tls" => (true, 6514),
            _ => return Err(wrong()),
        };
        let (host, port) = host_and_port(rest, usual_port).ok_or_else(wrong)?;
        let are_for_tls = credentials.roots.is_some() || credentials.certificate.is_some() || credentials.key.is_some();
        if !is_tls && are_for_tls {
            return Err(Error::new(Code::Usage, "certificates need tls://").hint("omit them, or use tls://"));
        }
        let tls = if is_tls { Some(config(&host, credentials)?) } else { None };
        Ok(Collector { host, port, tls })
    }

    /// Returns the largest message in bytes.
    pub fn bytes_max(&self) -> usize {
        if self.tls.is_some() { TLS_BYTES_MAX } else { UDP_BYTES_MAX }
    }

    /// Returns the time after an apparent arrival within which a loss may still be detected.
    pub fn doubt(&self) -> Duration {
        // With TCP, a peer that closes without reading sends RST. With UDP, an absent host is given up after three
        // seconds.
        if self.tls.is_some() { Duration::from_secs(2) } else { Duration::from_secs(4) }
    }

    /// Returns true if recent messages may be lost too. A datagram that cannot be sent affects no earlier one.
    pub fn concerns_earlier(&self, error: &io::Error) -> bool {
        self.tls.is_some() || matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable)
    }

    /// Connects to the first address that accepts.
    pub fn connect(&self) -> io::Result<Connection> {
        let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match self.connect_to(address) {
                Ok(connection) => return Ok(connection),
                Err(e) => last = e,
            }
        }
        Err(last)
    }

    fn connect_to(&self, address: SocketAddr) -> io::Result<Connection> {
        let Some(config) = &self.tls else {
            let socket = UdpSocket::bind(if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
            socket.connect(address)?;
            return Ok(Connection::Udp(socket));
        };
        let stream = TcpStream::connect_timeout(&address, CONNECT_TIME)?;
        stream.set_nodelay(true)?;
        sockopt::set_tcp_user_timeout(&stream, UNACKNOWLEDGED_TIME_MS)?;
        // Keepalive detects a silent loss of the collector while nothing is sent.
        sockopt::set_socket_keepalive(&stream, true)?;
        let name = ServerName::try_from(self.host.clone()).map_err(io::Error::other)?;
        let mut session = ClientConnection::new(config.clone(), name).map_err(io::Error::other)?;
        let mut stream_until = DeadlineStream { stream: &stream, end: Instant::now() + CONNECT_TIME };
        while session.is_handshaking() {
            session.complete_io(&mut stream_until)?;
        }
        stream.set_nonblocking(true)?;
        Ok(Connection::Tls(Box::new(Session { stream, session })))
    }
}

/// Stream with a deadline, however slowly the peer sends.
struct DeadlineStream<'a> {
    stream: &'a TcpStream,
    end: Instant,
}

impl DeadlineStream<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

/// Turns the system's error of an expired timeout into `TimedOut`.
fn as_timeout(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::WouldBlock { ErrorKind::TimedOut.into() } else { error }
}

impl Read for DeadlineStream<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes).map_err(as_timeout)
    }
}

impl Write for DeadlineStream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes).map_err(as_timeout)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn host_and_port(text: &str, usual_port: u16) -> Option<(String, u16)> {
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        let _: Ipv6Addr = host.parse().ok()?;
        (host, rest.strip_prefix(':').or(rest.is_empty().then_some("")))
    } else {
        let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
        (host, Some(port.unwrap_or("")))
    };
    let is_host = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:".contains(&b));
    let port = match port? {
        "" => usual_port,
        text => text.parse().ok().filter(|p| *p > 0)?,
    };
    is_host.then(|| (host.to_owned(), port))
}

fn config(host: &str, credentials: &Credentials) -> Result<Arc<ClientConfig>> {
    let failed = |path: &Path, e: &dyn std::fmt::Display| {
        Error::new(Code::Input, format!("{e}")).at_path(path.to_string_lossy()).within("the TLS configuration")
    };
    ServerName::try_from(host).map_err(|e| Error::new(Code::Usage, format!("'{host}': {e}")))?;
    let system = || SYSTEM_ROOTS.iter().map(PathBuf::from).find(|path| path.exists());
    let path = credentials.roots.clone().or_else(system).ok_or_else(|| {
        Error::new(Code::Input, "this system has no certificates of authorities")
            .hint("set a file of certificates with --ca")
    })?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(&path).map_err(|e| failed(&path, &e))? {
        let certificate = certificate.map_err(|e| failed(&path, &e))?;
        let added = roots.add(certificate);
        // Some certificates of a system are outdated and refused; in a file of the user each must be valid.
        if credentials.roots.is_some() {
            added.map_err(|e| failed(&path, &e))?;
        }
    }
    if roots.is_empty() {
        return Err(failed(&path, &"the file holds no certificate"));
    }
    let config = ClientConfig::builder().with_root_certificates(roots);
    let config = match (&credentials.certificate, &credentials.key) {
        (Some(certificate), Some(key)) => {
            let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
            let chain = chain.map_err(|e| failed(certificate, &e))?;
            let private = PrivateKeyDer::from_pem_file(key).map_err(|e| failed(key, &e))?;
            config.with_client_auth_cert(chain, private).map_err(|e| failed(certificate, &e))?
        }
        _ => config.with_no_client_auth(),
    };
    Ok(Arc::new(config))
}

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Open.
    Alive,
    /// Closed by the peer after it had read all data.
    Ended,
    /// Failed; the last data may be unread.
    Broken,
}

/// Connection to a collector.
pub enum Connection {
    Udp(UdpSocket),
    Tls(Box<Session>),
}

/// TLS session over TCP.
pub struct Session {
    stream: TcpStream,
    session: ClientConnection,
}

impl Connection {
    /// Hands a message to the system, framed for the transport.
    pub fn send(&mut self, message: &str) -> io::Result<()> {
        match self {
            Connection::Udp(socket) => socket.send(message.as_bytes()).map(drop),
            Connection::Tls(tls) => {
                let framed = format!("{} {message}", message.len());
                tls.session.writer().write_all(framed.as_bytes())?;
                tls.flush()
            }
        }
    }

    /// Returns true if all data has arrived as far as is known; with UDP, if no host has refused it. Fails if the
    /// connection is broken.
    pub fn has_arrived(&mut self) -> io::Result<bool> {
        match self {
            Connection::Udp(socket) => {
                let time = rustix::event::Timespec { tv_sec: 0, tv_nsec: REFUSED_WITHIN.subsec_nanos().into() };
                let _ = poll(&mut [PollFd::new(socket, PollFlags::ERR)], Some(&time));
                socket.take_error()?.map_or(Ok(true), Err)
            }
            Connection::Tls(tls) => {
                tls.flush()?;
                let is_sent = !tls.session.wants_write() && unacknowledged_bytes(&tls.stream)? == 0;
                match tls.state() {
                    State::Alive => Ok(is_sent),
                    // The data had arrived before the peer closed.
                    State::Ended if is_sent => Ok(true),
                    _ => {
                        Err(tls.stream.take_error().ok().flatten().unwrap_or_else(|| ErrorKind::ConnectionReset.into()))
                    }
                }
            }
        }
    }

    /// Returns the state of the connection.
    pub fn state(&mut self) -> State {
        match self {
            Connection::Udp(socket) => match socket.take_error() {
                Ok(None) => State::Alive,
                _ => State::Broken,
            },
            Connection::Tls(tls) => tls.state(),
        }
    }
}

impl Session {
    fn flush(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut self.stream) {
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Reads the peer's data: session tickets, and its close.
    fn state(&mut self) -> State {
        // A peer that sends without end is alive.
        for _ in 0..READS_MAX {
            match self.session.read_tls(&mut self.stream) {
                Ok(0) => return State::Ended,
                Ok(_) => match self.session.process_new_packets() {
                    Ok(state) if state.peer_has_closed() => return State::Ended,
                    // The peer's data is ignored.
                    Ok(_) => while matches!(self.session.reader().read(&mut [0; 4096]), Ok(1..)) {},
                    Err(_) => return State::Broken,
                },
                Err(e) if e.kind() == ErrorKind::WouldBlock => return State::Alive,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return State::Broken,
            }
        }
        State::Alive
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.session.send_close_notify();
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_addresses() {
        let parse = |text| host_and_port(text, 514);
        for (text, host, port) in [
            ("logs", "logs", 514),
            ("logs.example.org:1514", "logs.example.org", 1514),
            ("10.0.0.1", "10.0.0.1", 514),
            ("[::1]", "::1", 514),
            ("[fe80::1]:99", "fe80::1", 99),
        ] {
            assert_eq!(parse(text), Some((host.to_owned(), port)), "{text}");
        }
        for wrong in ["", ":1", "a:0", "a:65536", "a:b", "a b", "a/b", "[::1", "[x]:1", "[::1]1", "::1"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn refuses_wrong_collectors() {
        for wrong in ["", "logs", "tcp://logs", "http://logs:1", "udp://", "udp://a:b"] {
            let error = Collector::new(wrong, &Credentials::default()).err().expect(wrong);
            assert_eq!(error.code(), Code::Usage, "{error}");
        }
        let roots = Credentials { roots: Some("/nowhere/ca.pem".into()), ..Credentials::default() };
        assert_eq!(Collector::new("udp://a", &roots).err().unwrap().code(), Code::Usage);
        let error = Collector::new("tls://a", &roots).err().unwrap();
        assert!(error.code() == Code::Input && error.to_string().contains("/nowhere/ca.pem"), "{error}");
        // A text file is not a certificate.
        let file = std::env::temp_dir().join(format!("yunti-no-ca-{}", std::process::id()));
        std::fs::write(&file, "text").unwrap();
        let empty = Credentials { roots: Some(file.clone()), ..Credentials::default() };
        assert_eq!(Collector::new("tls://a", &empty).err().unwrap().code(), Code::Input);
        std::fs::remove_file(file).unwrap();
    }
}
