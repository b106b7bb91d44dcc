//! Exchange: one request and its answer, as a task.

use std::future::poll_fn;
use std::time::Instant;

use bytes::Bytes;
use h2::Reason;
use h2::client::SendRequest;

use crate::tally::failure::Failure;

/// Answer, or the reason for its absence.
pub struct Exchange {
    /// Nanoseconds since the start of the run at which the connection took the request.
    pub ready_ns: u64,
    pub sent_ns: u64,
    pub done_ns: u64,
    /// Bytes of the body.
    pub bytes: u64,
    pub result: Result<u16, Fault>,
}

/// Reason for the absence of an answer.
pub struct Fault {
    pub failure: Failure,
    /// True if the server has not worked on the request.
    pub is_refused: bool,
    pub text: String,
}

impl From<h2::Error> for Fault {
    fn from(error: h2::Error) -> Self {
        let is_refused = error.reason() == Some(Reason::REFUSED_STREAM)
            || error.is_go_away() && error.is_remote() && error.reason() == Some(Reason::NO_ERROR);
        let is_closed = error.is_io() || error.is_go_away() || error.is_reset() && error.is_remote();
        let failure = if is_closed { Failure::Closed } else { Failure::Protocol };
        Fault { failure, is_refused, text: error.to_string() }
    }
}

/// Sends a request and reads its answer to the end. The body is dropped.
///
/// @param ready_ns moment from which the request could have been sent
pub async fn exchange(
    mut sender: SendRequest<Bytes>,
    request: http::Request<()>,
    body: Bytes,
    begun: Instant,
    ready_ns: u64,
) -> Exchange {
    let now_ns = || begun.elapsed().as_nanos() as u64;
    let mut exchange = Exchange { ready_ns, sent_ns: now_ns(), done_ns: 0, bytes: 0, result: Ok(0) };
    // The server limits the requests at once: a wait for it is not the client's own lateness.
    let mut has_waited = false;
    let ready = poll_fn(|context| {
        let poll = sender.poll_ready(context);
        has_waited |= poll.is_pending();
        poll
    })
    .await;
    if has_waited {
        exchange.sent_ns = now_ns();
        exchange.ready_ns = exchange.sent_ns;
    }
    exchange.result = match ready {
        Ok(()) => answer(sender, request, body, &mut exchange.bytes).await,
        Err(e) => Err(Fault { is_refused: true, ..e.into() }),
    };
    exchange.done_ns = now_ns();
    exchange
}

async fn answer(
    mut sender: SendRequest<Bytes>,
    request: http::Request<()>,
    body: Bytes,
    bytes: &mut u64,
) -> Result<u16, Fault> {
    let (response, mut stream) = sender.send_request(request, body.is_empty())?;
    if !body.is_empty() {
        // h2 keeps the bytes until the windows of the server allow them.
        stream.send_data(body, true)?;
    }
    let response = response.await?;
    let status = response.status().as_u16();
    let mut body = response.into_body();
    while let Some(piece) = body.data().await {
        let piece = piece?;
        *bytes += piece.len() as u64;
        body.flow_control().release_capacity(piece.len())?;
    }
    body.trailers().await?;
    Ok(status)
}
