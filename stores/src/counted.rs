//! HTTP client that counts: requests, repeated ones, and answers that ask for less.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use yunti_base::store_protocol::Traffic;

use crate::failure::in_region;

/// Counts of the process.
#[derive(Debug, Default)]
pub struct Counts {
    pub requests: AtomicU64,
    pub retries: AtomicU64,
    pub slow_downs: AtomicU64,
    pub received_bytes: AtomicU64,
    pub sent_bytes: AtomicU64,
}

impl Counts {
    /// Returns the counts at this moment.
    pub fn traffic(&self) -> Traffic {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Traffic {
            requests: of(&self.requests),
            retries: of(&self.retries),
            slow_downs: of(&self.slow_downs),
            received_bytes: of(&self.received_bytes),
            sent_bytes: of(&self.sent_bytes),
        }
    }

    /// Notes an answer: 429 and 5xx are followed by another try.
    pub fn note_status(&self, status: u16) {
        if status == 429 || status == 503 {
            self.slow_downs.fetch_add(1, Ordering::Relaxed);
        }
        if status == 429 || status == 408 || status >= 500 {
            self.retries.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Notes a request without an answer, or whose answer broke off.
    pub fn note_broken(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }
}

/// Connector whose clients count, and give up a request that gets no answer in time.
#[derive(Clone, Debug)]
pub struct Counted {
    pub counts: Arc<Counts>,
    pub timeout: Duration,
}

/// Slowest upload that is waited for, in bytes a second.
const SENT_BYTES_A_SECOND_MIN: u64 = 64 << 10;

#[derive(Debug)]
struct CountedClient {
    client: HttpClient,
    counted: Counted,
}

impl HttpConnector for Counted {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(CountedClient { client, counted: self.clone() }))
    }
}

#[async_trait::async_trait]
impl HttpService for CountedClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let Counted { counts, timeout } = &self.counted;
        counts.requests.fetch_add(1, Ordering::Relaxed);
        let sent = request.body().content_length() as u64;
        let region = signed_region(&request);
        let at_most = *timeout + Duration::from_secs(sent / SENT_BYTES_A_SECOND_MIN);
        let answer = match tokio::time::timeout(at_most, self.client.execute(request)).await {
            Ok(answer) => answer,
            Err(_) => {
                let late = std::io::Error::new(std::io::ErrorKind::TimedOut, "the store did not answer in time");
                Err(HttpError::new(HttpErrorKind::Timeout, late))
            }
        };
        match &answer {
            Ok(response) => {
                counts.sent_bytes.fetch_add(sent, Ordering::Relaxed);
                counts.note_status(response.status().as_u16());
            }
            Err(_) => counts.note_broken(),
        }
        match answer {
            Ok(response) => match other_region(&region, &response) {
                Some(other) => Err(HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(in_region(&other)))),
                None => Ok(response),
            },
            failed => failed,
        }
    }
}

/// Returns the region for which a request of S3 is signed.
fn signed_region(request: &HttpRequest) -> Option<String> {
    let signed = request.headers().get("authorization")?.to_str().ok()?;
    signed.split_once("Credential=")?.1.split('/').nth(2).map(str::to_string)
}

/// Returns the region of the bucket if a store of S3 refused the request because of it. The answer has no other text
/// when there is no body, as to HEAD.
fn other_region(signed: &Option<String>, response: &HttpResponse) -> Option<String> {
    let is_refused = match response.status().as_u16() {
        301 => !response.headers().contains_key("location"),
        400 => true,
        _ => false,
    };
    let region = response.headers().get("x-amz-bucket-region").filter(|_| is_refused)?.to_str().ok()?;
    (signed.as_deref() != Some(region)).then(|| region.to_string())
}
