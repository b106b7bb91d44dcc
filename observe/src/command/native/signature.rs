//! Types of arguments and results: from the user's notation (`open(s,d)`), or from a table of common functions.

use yunti_base::{Code, Error, Result};

use yunti_probe::kernel::Form;

/// Type of an argument or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 32 bits with a sign, as C's int.
    Int,
    /// 64 bits with a sign: long, ssize_t, off_t.
    Long,
    /// 64 bits without a sign: size_t.
    Size,
    /// An address, flags.
    Hex,
    /// A C string.
    Text,
    /// A struct sockaddr.
    SocketAddress,
}

/// Types of the arguments and of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub arguments: Vec<Kind>,
    pub result: Kind,
}

/// Function -> signature in the user's notation.
const KNOWN: &[(&str, &str)] = &[
    ("getaddrinfo", "s,s=d"),
    ("getnameinfo", "a=d"),
    ("gethostbyname", "s=x"),
    ("gethostbyname_r", "s=d"),
    ("connect", "d,a=d"),
    ("bind", "d,a=d"),
    ("accept", "d=d"),
    ("accept4", "d=d"),
    ("open", "s,x=d"),
    ("open64", "s,x=d"),
    ("openat", "d,s,x=d"),
    ("openat64", "d,s,x=d"),
    ("fopen", "s,s=x"),
    ("fopen64", "s,s=x"),
    ("unlink", "s=d"),
    ("unlinkat", "d,s=d"),
    ("rename", "s,s=d"),
    ("mkdir", "s,x=d"),
    ("access", "s,x=d"),
    ("stat", "s=d"),
    ("lstat", "s=d"),
    ("newfstatat", "d,s=d"),
    ("statx", "d,s=d"),
    ("execve", "s=d"),
    ("dlopen", "s,x=x"),
    ("read", "d,x,u=l"),
    ("write", "d,x,u=l"),
    ("pread64", "d,x,u,l=l"),
    ("pwrite64", "d,x,u,l=l"),
    ("recvfrom", "d,x,u=l"),
    ("sendto", "d,x,u=l"),
    ("recv", "d,x,u=l"),
    ("send", "d,x,u=l"),
    ("recvmsg", "d=l"),
    ("sendmsg", "d=l"),
    ("close", "d=d"),
    ("fsync", "d=d"),
    ("fdatasync", "d=d"),
    ("fallocate", "d,d,l,l=d"),
    ("ftruncate", "d,l=d"),
    ("malloc", "u=x"),
    ("calloc", "u,u=x"),
    ("realloc", "x,u=x"),
    ("free", "x=x"),
    ("mmap", "x,u,x,x,d=x"),
    ("munmap", "x,u=d"),
    ("madvise", "x,u,d=d"),
    ("mprotect", "x,u,x=d"),
    ("brk", "x=x"),
    ("futex", "x,x,d=l"),
    ("poll", "x,u,d=d"),
    ("epoll_wait", "d,x,d,d=d"),
    ("nanosleep", "x,x=d"),
    ("usleep", "u=d"),
    ("pthread_mutex_lock", "x=d"),
    ("pthread_cond_wait", "x,x=d"),
];

impl Signature {
    /// Parses a notation. Returns a usage error for an unknown letter or too many arguments.
    ///
    /// @param notation `s,d` or `s,d=x`
    pub fn parse(notation: &str) -> Result<Signature> {
        let wrong = |what: &str| {
            Error::new(Code::Usage, format!("'{what}' is not a type of argument"))
                .hint("write d int, l long, u size, x address or flags, s text, a socket address: open(s,x)=d")
        };
        let (arguments, result) = notation.split_once('=').unwrap_or((notation, "l"));
        let kind = |text: &str| Kind::of(text.trim()).ok_or_else(|| wrong(text));
        let arguments: Vec<Kind> =
            arguments.split(',').filter(|a| !a.trim().is_empty()).map(kind).collect::<Result<_>>()?;
        if arguments.len() > yunti_probe::kernel::ARGUMENTS {
            let error = Error::new(Code::Usage, format!("'{notation}' has too many arguments"));
            return Err(error.hint(format!("name the first {} at most", yunti_probe::kernel::ARGUMENTS)));
        }
        Ok(Signature { arguments, result: kind(result)? })
    }

    pub fn known(function: &str) -> Option<Signature> {
        let (_, notation) = KNOWN.iter().find(|(name, _)| *name == function)?;
        Signature::parse(notation).ok()
    }

    pub fn forms(&self) -> Vec<Form> {
        self.arguments.iter().map(|kind| kind.form()).collect()
    }

    /// Formats arguments: `"db.example", 0x1`.
    ///
    /// @param texts memory of the arguments that are texts or addresses, in order; `None` if it could not be read
    pub fn arguments(&self, values: &[u64], texts: &[Option<Vec<u8>>]) -> String {
        let mut texts = texts.iter();
        let mut of_memory = |value: u64, show: fn(&[u8]) -> String| match texts.next() {
            _ if value == 0 => "NULL".to_owned(),
            Some(Some(bytes)) => show(bytes),
            _ => Kind::Hex.number(value),
        };
        let shown = self.arguments.iter().zip(values).map(|(kind, value)| match kind.form() {
            Form::Number => kind.number(*value),
            Form::Text => of_memory(*value, text),
            Form::Bytes => of_memory(*value, socket_address),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    pub fn result(&self, value: u64) -> String {
        self.result.number(value)
    }
}

impl Kind {
    fn of(letter: &str) -> Option<Kind> {
        Some(match letter {
            "d" => Kind::Int,
            "l" => Kind::Long,
            "u" => Kind::Size,
            "x" => Kind::Hex,
            "s" => Kind::Text,
            "a" => Kind::SocketAddress,
            _ => return None,
        })
    }

    fn form(self) -> Form {
        match self {
            Kind::Text => Form::Text,
            Kind::SocketAddress => Form::Bytes,
            _ => Form::Number,
        }
    }

    fn number(self, value: u64) -> String {
        match self {
            Kind::Int => (value as i32).to_string(),
            Kind::Long => (value as i64).to_string(),
            Kind::Size => value.to_string(),
            _ => format!("0x{value:x}"),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0);
    let text = String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len()).min(bytes.len())]);
    // A zero in the last byte of a full copy ends the copy, not the text.
    let is_cut = end.is_none_or(|end| end + 1 == bytes.len());
    format!("\"{}\"{}", text.escape_debug(), if is_cut { ".." } else { "" })
}

/// Formats a struct sockaddr_in, sockaddr_in6 or sockaddr_un: `127.0.0.1:80`, `[::1]:80`, `/run/x.sock`.
fn socket_address(bytes: &[u8]) -> String {
    let family = bytes.get(..2).map_or(0, |b| u16::from_ne_bytes([b[0], b[1]]));
    let port = || bytes.get(2..4).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]));
    match i32::from(family) {
        libc::AF_INET if bytes.len() >= 8 => {
            format!("{}.{}.{}.{}:{}", bytes[4], bytes[5], bytes[6], bytes[7], port())
        }
        libc::AF_INET6 if bytes.len() >= 24 => {
            let address: [u8; 16] = bytes[8..24].try_into().unwrap_or_default();
            format!("[{}]:{}", std::net::Ipv6Addr::from(address), port())
        }
        // The first byte of an abstract socket's name is zero.
        libc::AF_UNIX if bytes.get(2) == Some(&0) => format!("@{}", path(&bytes[3..])),
        libc::AF_UNIX => path(&bytes[2..]),
        other => format!("family {other}"),
    }
}

fn path(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0);
    let path = String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]);
    format!("{}{}", path.escape_debug(), if end.is_none() { ".." } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations() {
        assert!(KNOWN.iter().all(|(name, _)| Signature::known(name).is_some()));
        let signature = Signature::parse("s, d=x").unwrap();
        assert_eq!((signature.arguments, signature.result), (vec![Kind::Text, Kind::Int], Kind::Hex));
        assert!(Signature::parse("").unwrap().arguments.is_empty());
        for wrong in ["q", "s,,q", "s=?", "d,d,d,d,d,d,d"] {
            assert!(Signature::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values() {
        let signature = Signature::parse("s,d,x,u=d").unwrap();
        let shown = signature.arguments(&[1, u64::from(u32::MAX), 255, 7], &[Some(b"a\"b\0xx".to_vec())]);
        assert_eq!(shown, r#""a\"b", -1, 0xff, 7"#);
        assert_eq!(signature.arguments(&[0, 0, 0, 0], &[None]), "NULL, 0, 0x0, 0");
        assert_eq!(signature.arguments(&[16, 0, 0, 0], &[None]), "0x10, 0, 0x0, 0");
        // A NULL argument has its place among the texts.
        let two = Signature::parse("s,s").unwrap();
        assert_eq!(two.arguments(&[0, 16], &[None, Some(b"80\0".to_vec())]), r#"NULL, "80".."#);
        assert_eq!(signature.result(u64::from(-2i32 as u32)), "-2");
        assert_eq!(text(&[b'a'; 64]), format!("\"{}\"..", "a".repeat(64)));
    }

    #[test]
    fn socket_addresses() {
        let v4 = [2, 0, 0, 80, 127, 0, 0, 1];
        assert_eq!(socket_address(&v4), "127.0.0.1:80");
        assert_eq!(socket_address(b"\x01\0/run/x\0"), "/run/x");
        assert_eq!(socket_address(b"\x01\0\0name\0"), "@name");
        assert_eq!(socket_address(b"\x01\0/run/long"), "/run/long..");
        assert_eq!(socket_address(b"\x01\0"), "..");
        assert_eq!(socket_address(&[10, 0, 0, 1]), "family 10");
        assert_eq!(socket_address(&[]), "family 0");
    }
}
