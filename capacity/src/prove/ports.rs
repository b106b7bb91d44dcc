//! Ports of TCP: the ones that a process listens on, free ones, and the words of a command line that name one.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};

use yunti_base::{Code, Error, Result};

/// Ports of copies: below the range of clients, so that no connection takes one before the copy listens.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;
const STATE_LISTEN: &str = "0A";
/// Hosts before a port that are the process itself.
const OWN_HOSTS: [&str; 7] = ["", "localhost", "0.0.0.0", "*", "[::]", "[::1]", "::"];

/// Socket that listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    pub address: IpAddr,
    pub port: u16,
    inode: String,
}

/// Returns the sockets that a process listens on.
pub fn of_process(pid: u32) -> Vec<Listener> {
    let mut all = all(&format!("/proc/{pid}/net"));
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links: BTreeSet<String> =
        entries.filter_map(|entry| Some(fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned())).collect();
    all.retain(|listener| links.contains(&format!("socket:[{}]", listener.inode)));
    all
}

/// Returns the sockets of this machine that listen on a port.
pub fn at(port: u16) -> Vec<Listener> {
    let mut all = all("/proc/self/net");
    all.retain(|listener| listener.port == port);
    all
}

fn all(folder: &str) -> Vec<Listener> {
    let read = |name: &str| fs::read_to_string(format!("{folder}/{name}")).unwrap_or_default();
    [read("tcp"), read("tcp6")].iter().flat_map(|text| text.lines().skip(1).filter_map(listener)).collect()
}

fn listener(line: &str) -> Option<Listener> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let (address, port) = words.get(1)?.split_once(':')?;
    (*words.get(3)? == STATE_LISTEN).then_some(())?;
    let port = u16::from_str_radix(port, 16).ok()?;
    Some(Listener { address: ip(address)?, port, inode: (*words.get(9)?).to_owned() })
}

/// Returns an address of `/proc/net/tcp`: words of 32 bits in the order of the processor.
fn ip(hex: &str) -> Option<IpAddr> {
    let mut bytes = Vec::new();
    for at in (0..hex.len()).step_by(8) {
        bytes.extend(u32::from_str_radix(hex.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    }
    match bytes.len() {
        4 => Some(IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?))),
        16 => Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_canonical()),
        _ => None,
    }
}

/// Returns a port that nobody listens on.
///
/// @param start any number: two searches at the same time begin at different ports
pub fn free(start: u32) -> Result<u16> {
    let port = |n: u32| FIRST + (start.wrapping_add(n) % u32::from(COUNT)) as u16;
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::UNSPECIFIED, *port)).is_ok() && at(*port).is_empty();
    (0..u32::from(COUNT))
        .map(port)
        .find(is_free)
        .ok_or_else(|| Error::new(Code::Input, "this machine has no free port"))
}

/// Returns a text in which one port of this process is replaced by another; `None` if the text does not name it.
///
/// `8080`, `--port=8080`, `-p8080` and `127.0.0.1:8080` name the port 8080; `db:8080`, `/srv/8080` and `8080m` do not.
pub fn replaced(text: &str, from: u16, to: u16) -> Option<String> {
    let wanted = from.to_string();
    let (mut made, mut done) = (String::new(), 0);
    for (at, _) in text.match_indices(&wanted) {
        let (before, after) = (&text[..at], &text[at + wanted.len()..]);
        if at < done || !may_precede(before) || !may_follow(after) {
            continue;
        }
        made += &text[done..at];
        made += &to.to_string();
        done = at + wanted.len();
    }
    (done > 0).then(|| made + &text[done..])
}

fn may_precede(before: &str) -> bool {
    match before.chars().last() {
        None => true,
        Some(':') => {
            let rest = &before[..before.len() - 1];
            let is_of_host = |c: char| c.is_alphanumeric() || "._-:[]*".contains(c);
            let host = rest.rsplit(|c| !is_of_host(c)).next().unwrap_or("");
            OWN_HOSTS.contains(&host) || host.starts_with("127.")
        }
        Some(c) if c.is_ascii_alphabetic() => before.len() == 2 && before.starts_with('-'),
        Some(c) => !c.is_alphanumeric() && !"./_-\\".contains(c),
    }
}

fn may_follow(after: &str) -> bool {
    let mut next = after.chars();
    match next.next() {
        None => true,
        Some('.' | '-') => !next.next().is_some_and(|c| c.is_alphanumeric()),
        Some(c) => !c.is_alphanumeric() && c != '_',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_name_a_port() {
        for (text, expect) in [
            ("8080", Some("9")),
            ("--port=8080", Some("--port=9")),
            ("-p8080", Some("-p9")),
            ("-Dserver.port=8080", Some("-Dserver.port=9")),
            ("127.0.0.1:8080", Some("127.0.0.1:9")),
            ("[::1]:8080", Some("[::1]:9")),
            (":8080", Some(":9")),
            ("http://localhost:8080/a", Some("http://localhost:9/a")),
            ("8080,127.0.0.1:8080", Some("9,127.0.0.1:9")),
            ("{\"port\":8080}", Some("{\"port\":9}")),
            ("http://db:8080/", None),
            ("db.example.org:8080", None),
            ("10.0.0.1:8080", None),
            ("18080", None),
            ("80801", None),
            ("8080m", None),
            ("-Xmx8080m", None),
            ("/srv/8080/app.jar", None),
            ("app-8080.jar", None),
            ("1.8080", None),
            ("8080.5", None),
            ("ünder8080", None),
        ] {
            assert_eq!(replaced(text, 8080, 9).as_deref(), expect, "{text}");
        }
    }

    #[test]
    fn own_listeners_are_found() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let found = of_process(std::process::id());
        let one = found.iter().find(|listener| listener.port == port).unwrap();
        assert_eq!((one.address, at(port).len()), (IpAddr::from([127, 0, 0, 1]), 1));
        let free = free(7).unwrap();
        assert!((FIRST..FIRST + COUNT).contains(&free) && at(free).is_empty());
    }

    #[test]
    fn addresses_of_the_kernel() {
        assert_eq!(ip("0100007F"), Some(IpAddr::from([127, 0, 0, 1])));
        assert_eq!(ip("00000000000000000000000001000000"), Some(IpAddr::V6(Ipv6Addr::LOCALHOST)));
        assert_eq!(ip("0000000000000000FFFF00000100007F"), Some(IpAddr::from([127, 0, 0, 1])));
        assert_eq!(ip("é"), None);
    }
}
