//! Failures of requests by kind.

use serde::Serialize;

/// Kind of a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// No connection: refused, unreachable, out of ports or descriptors.
    Connect,
    /// TLS: a certificate that is not trusted, no common version.
    Tls,
    /// Connection closed or reset before the end of the answer.
    Closed,
    /// No answer within the timeout.
    Timeout,
    /// No free connection within the timeout; the request was not sent.
    NotSent,
    /// Answer that is not HTTP.
    Protocol,
    /// Answer with a status of 500 or more, or 429 (too many requests).
    Status,
}

/// All kinds, by their numbers.
pub const FAILURES: [Failure; 7] = [
    Failure::Connect,
    Failure::Tls,
    Failure::Closed,
    Failure::Timeout,
    Failure::NotSent,
    Failure::Protocol,
    Failure::Status,
];

impl Failure {
    /// Returns true if a status is a failure of the server.
    pub fn is_status(status: u16) -> bool {
        status >= 500 || status == 429
    }

    /// Returns the words of a report.
    pub fn name(self) -> &'static str {
        match self {
            Failure::Connect => "no connection",
            Failure::Tls => "TLS",
            Failure::Closed => "closed without an answer",
            Failure::Timeout => "no answer in time",
            Failure::NotSent => "no free connection in time",
            Failure::Protocol => "answer not HTTP",
            Failure::Status => "status 5xx or 429",
        }
    }
}
