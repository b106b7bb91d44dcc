//! Files of web servers, by ranges. They are read and not written, and have no directories.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use reqwest::header::{CONTENT_RANGE, ETAG, HeaderMap, IF_MATCH, LAST_MODIFIED, RANGE};
use reqwest::{Client, Method, Response, StatusCode};
use yunti_base::store_protocol::{Entry, Failure, FailureKind, Pin};

use crate::counted::Counts;
use crate::failure::{Outcome, failure, of_window};
use crate::objects::{changed, wait_before};
use crate::place::Place;

/// Web servers, all of them.
#[derive(Clone)]
pub struct Web {
    pub client: Client,
    pub counts: Arc<Counts>,
    pub retries: usize,
}

/// Queries that are credentials: an address with one would be shown in reports.
const SECRET_QUERIES: [&str; 8] =
    ["x-amz-signature", "x-goog-signature", "sig", "signature", "token", "access_token", "api_key", "password"];

fn address(place: &Place) -> Outcome<String> {
    let query = place.query.as_deref().unwrap_or_default();
    let mut names = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default().to_lowercase());
    if let Some(name) = names.find(|name| SECRET_QUERIES.contains(&&**name)) {
        return Err(failure(
            FailureKind::Usage,
            format!("the address has a credential ({name}=), which reports would show; download the file first"),
        ));
    }
    let query = place.query.as_ref().map_or(String::new(), |query| format!("?{query}"));
    Ok(format!("{}://{}/{}{query}", place.scheme, place.host, place.path))
}

fn text<'a>(headers: &'a HeaderMap, name: &reqwest::header::HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Returns the identity in an answer. `len`: the length of the whole file.
fn pin_of(headers: &HeaderMap, len: u64) -> Pin {
    // A weak tag does not promise the same bytes.
    let tag = text(headers, &ETAG).filter(|tag| !tag.starts_with("W/")).map(str::to_string);
    let modified = text(headers, &LAST_MODIFIED).and_then(|date| httpdate::parse_http_date(date).ok());
    let modified = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    Pin { len, tag, modified_ms: modified.map_or(0, |since| since.as_millis() as u64) }
}

/// Returns the start, the end and the whole length of `bytes 0-9/100`.
fn content_range(headers: &HeaderMap) -> Option<(u64, u64, u64)> {
    let (range, len) = text(headers, &CONTENT_RANGE)?.strip_prefix("bytes ")?.split_once('/')?;
    let (start, last) = range.split_once('-')?;
    Some((start.parse().ok()?, last.parse::<u64>().ok()?.checked_add(1)?, len.parse().ok()?))
}

impl Web {
    /// Finds the length of a file by the range of its first byte, which also shows that the server has ranges.
    pub async fn stat(&self, place: &Place) -> Outcome<Entry> {
        let response = self.send(place, Some("bytes=0-0".into()), None).await?;
        let headers = response.headers();
        let len = match response.status() {
            StatusCode::PARTIAL_CONTENT => content_range(headers).map(|(_, _, len)| len),
            // An empty file has no first byte.
            StatusCode::RANGE_NOT_SATISFIABLE => Some(0),
            _ if response.content_length() == Some(0) => Some(0),
            _ => None,
        };
        let len = len.ok_or_else(|| {
            failure(
                FailureKind::Unsupported,
                "the server sends whole files alone, without ranges; download the file first",
            )
        })?;
        Ok(Entry { url: address(place)?, is_dir: false, pin: pin_of(headers, len) })
    }

    /// Reads a range into the window; see `Objects::get`.
    pub async fn get(&self, place: &Place, from: u64, len: u64, at: u64, pin: &Pin, window: &File) -> Outcome<u64> {
        let (mut done, mut attempt) = (0, 0);
        while done < len {
            let before = done;
            match self.get_once(place, (from, len, at), &mut done, pin, window).await {
                Ok(()) => {}
                Err(cause) if cause.kind != FailureKind::Other || attempt >= self.retries => return Err(cause),
                Err(_) => {
                    self.counts.note_broken();
                    tokio::time::sleep(wait_before(attempt)).await;
                    attempt = if done > before { 0 } else { attempt + 1 };
                }
            }
        }
        Ok(len)
    }

    async fn get_once(
        &self,
        place: &Place,
        (from, len, at): (u64, u64, u64),
        done: &mut u64,
        pin: &Pin,
        window: &File,
    ) -> Outcome<()> {
        let (start, end) = (from + *done, from + len);
        let mut response = self.send(place, Some(format!("bytes={start}-{}", end - 1)), pin.tag.as_deref()).await?;
        let range = content_range(response.headers());
        let Some((is_start, is_end, whole)) = range.filter(|_| response.status() == StatusCode::PARTIAL_CONTENT) else {
            return Err(failure(FailureKind::Other, "the server did not send the range that was requested"));
        };
        let is = pin_of(response.headers(), whole);
        let is_same_time = pin.modified_ms == 0 || is.modified_ms == 0 || pin.modified_ms == is.modified_ms;
        if whole != pin.len || (pin.tag.is_some() && is.tag != pin.tag) || (pin.tag.is_none() && !is_same_time) {
            return Err(changed(pin, Some(&is)));
        }
        if (is_start, is_end) != (start, end) {
            return Err(failure(FailureKind::Other, "the server sent another range than was requested"));
        }
        while let Some(bytes) = response.chunk().await.map_err(|e| broken(&e))? {
            if bytes.len() as u64 > len - *done {
                return Err(failure(FailureKind::Other, "the server sent more bytes than were requested"));
            }
            window.write_all_at(&bytes, at + *done).map_err(|e| of_window(&e))?;
            *done += bytes.len() as u64;
            self.counts.received_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        if *done < len { Err(failure(FailureKind::Other, "the server sent too few bytes")) } else { Ok(()) }
    }

    /// Sends a request, and repeats it while the server is busy.
    async fn send(&self, place: &Place, range: Option<String>, tag: Option<&str>) -> Outcome<Response> {
        let address = address(place)?;
        let mut attempt = 0;
        loop {
            let mut request = self.client.request(Method::GET, &address);
            if let Some(range) = &range {
                request = request.header(RANGE, range);
            }
            if let Some(tag) = tag {
                request = request.header(IF_MATCH, tag);
            }
            self.counts.requests.fetch_add(1, Ordering::Relaxed);
            let problem = match request.send().await {
                Ok(response) => match response.status() {
                    status if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE => {
                        return Ok(response);
                    }
                    StatusCode::PRECONDITION_FAILED => {
                        return Err(failure(
                            FailureKind::Changed,
                            "the file changed while the job read it; run the job again",
                        ));
                    }
                    StatusCode::NOT_FOUND | StatusCode::GONE => {
                        return Err(failure(FailureKind::NotFound, "the server has no such file"));
                    }
                    StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                        return Err(failure(
                            FailureKind::Denied,
                            format!("the server answered with status {}", response.status().as_u16()),
                        ));
                    }
                    status => {
                        self.counts.note_status(status.as_u16());
                        let text = format!("the server answered with status {}", status.as_u16());
                        let failure = failure(FailureKind::Other, text);
                        if !(status.is_server_error() || status.as_u16() == 429 || status.as_u16() == 408) {
                            return Err(failure);
                        }
                        failure
                    }
                },
                Err(e) => {
                    self.counts.note_broken();
                    broken(&e)
                }
            };
            if attempt >= self.retries {
                return Err(failure(FailureKind::Other, format!("{}, after {} tries", problem.text, attempt + 1)));
            }
            tokio::time::sleep(wait_before(attempt)).await;
            attempt += 1;
        }
    }
}

/// Returns a failure of a connection, without the address and its query.
fn broken(e: &reqwest::Error) -> Failure {
    let mut last: &dyn std::error::Error = e;
    while let Some(cause) = last.source() {
        last = cause;
    }
    let text = if e.is_timeout() { "the server did not answer in time".into() } else { last.to_string() };
    failure(FailureKind::Other, text)
}
