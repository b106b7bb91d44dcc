//! Errors that a server sends.

use yunti_base::{Code, Error};

use super::parts::{Parts, put_string};

/// Why a server refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Protocol = 1,
    Token = 2,
    NoSuchTable = 3,
    WrongKey = 4,
    TooLong = 5,
    Damaged = 6,
    Full = 7,
}

const ALL: [Reason; 7] = [
    Reason::Protocol,
    Reason::Token,
    Reason::NoSuchTable,
    Reason::WrongKey,
    Reason::TooLong,
    Reason::Damaged,
    Reason::Full,
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// `None`: a code that this program does not know.
    pub reason: Option<Reason>,
    pub text: String,
}

impl Refusal {
    pub fn new(reason: Reason, text: impl Into<String>) -> Refusal {
        Refusal { reason: Some(reason), text: text.into() }
    }

    /// Returns true if the connection ends with this error.
    pub fn is_last(&self) -> bool {
        matches!(self.reason, Some(Reason::Protocol | Reason::Token | Reason::Full))
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.reason.map_or(0, |reason| reason as u16).to_le_bytes());
        put_string(self.text.as_bytes(), out);
    }

    pub fn read(payload: &[u8]) -> Option<Refusal> {
        let mut parts = Parts(payload);
        let code = parts.u16()?;
        let reason = ALL.into_iter().find(|reason| *reason as u16 == code);
        Some(Refusal { reason, text: parts.text()? })
    }

    /// Returns the error that a client reports.
    pub fn error(&self) -> Error {
        let code = match self.reason {
            Some(Reason::NoSuchTable | Reason::WrongKey) => Code::Usage,
            Some(Reason::Damaged) => Code::Corrupt,
            _ => Code::Input,
        };
        Error::new(code, self.text.clone())
    }
}

impl From<Error> for Refusal {
    fn from(e: Error) -> Refusal {
        let reason = if e.code() == Code::Corrupt { Reason::Damaged } else { Reason::NoSuchTable };
        Refusal::new(reason, e.to_string())
    }
}
