//! Failures of stores in one line: what the store said, without its XML, its addresses and any credential.

use std::error::Error as _;

use yunti_base::store_protocol::{Failure, FailureKind};

/// Result of an operation on a store.
pub type Outcome<T> = Result<T, Failure>;

/// Returns a failure.
pub fn failure(kind: FailureKind, text: impl Into<String>) -> Failure {
    Failure { kind, text: one_line(&text.into()) }
}

/// Returns a failure that the user can mend by another name or setting.
pub fn usage(text: impl Into<String>) -> Failure {
    failure(FailureKind::Usage, text)
}

/// Longest text of a server in bytes.
const TEXT_BYTES_MAX: usize = 300;

fn one_line(text: &str) -> String {
    // The engine cuts the text of an error of the system at its number.
    let text = match text.split_once(" (os error ") {
        Some((before, number)) => format!("{before}{}", number.split_once(')').map_or("", |(_, after)| after)),
        None => text.to_string(),
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    let end = (0..=TEXT_BYTES_MAX).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{} ..", &text[..end])
}

/// Returns the failure of a file that both processes share.
pub fn of_window(e: &std::io::Error) -> Failure {
    failure(FailureKind::Other, format!("cannot use the shared memory: {e}"))
}

/// Returns a failure of object_store.
pub fn of_store(error: &object_store::Error) -> Failure {
    use object_store::Error::*;
    let kind = match error {
        NotFound { .. } => FailureKind::NotFound,
        PermissionDenied { .. } | Unauthenticated { .. } => FailureKind::Denied,
        AlreadyExists { .. } => FailureKind::Exists,
        Precondition { .. } => FailureKind::Changed,
        NotSupported { .. } | NotImplemented { .. } => FailureKind::Unsupported,
        InvalidPath { .. } | UnknownConfigurationKey { .. } => FailureKind::Usage,
        _ => FailureKind::Other,
    };
    let chain = chain(error);
    if let Some(region) = wrong_region(&chain) {
        return usage(region);
    }
    let text = said(&chain);
    let text = if text.trim().is_empty() { "the store refused the request".to_string() } else { text };
    let expired = ["ExpiredToken", "RequestExpired", "TokenRefreshRequired"].iter().any(|word| chain.contains(word));
    if expired {
        return failure(FailureKind::Denied, format!("{text}; get new credentials and run it again"));
    }
    match kind {
        FailureKind::Denied if chain.contains("RequestTimeTooSkewed") => {
            failure(kind, format!("{text}; set the clock of this machine"))
        }
        FailureKind::Denied => {
            failure(kind, format!("{text}; check the credentials (docs/guide/stores.md) and the permissions"))
        }
        FailureKind::NotFound if chain.contains("NoSuchBucket") => failure(kind, "the bucket does not exist"),
        FailureKind::NotFound => failure(kind, "no such file or directory"),
        kind => failure(kind, text),
    }
}

/// Returns the text about a bucket of another region, which names it.
pub fn in_region(region: &str) -> String {
    format!("{IN_REGION}{region}; set it with --store-option s3.region={region}")
}

const IN_REGION: &str = "the bucket is in the region ";

/// Returns the text for a request that S3 refuses because the bucket is in another region.
fn wrong_region(chain: &str) -> Option<String> {
    let is_wrong = ["PermanentRedirect", "AuthorizationHeaderMalformed", "incorrectly configured region", IN_REGION];
    if !is_wrong.iter().any(|word| chain.contains(word)) {
        return None;
    }
    let behind = |open: &str, close: char| Some(chain.split_once(open)?.1.split_once(close)?.0);
    let region = behind("<Region>", '<').or_else(|| behind("expecting '", '\'')).or_else(|| behind(IN_REGION, ';'));
    let is_name = |name: &&str| {
        let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=40).contains(&name.len()) && name.bytes().all(known)
    };
    Some(match region.filter(is_name) {
        Some(region) => in_region(region),
        None => "the bucket is in another region; name it with --store-option s3.region=REGION".into(),
    })
}

/// Returns the texts of an error and its causes.
fn chain(error: &object_store::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// Returns what the store said, out of the texts of an error.
fn said(chain: &str) -> String {
    let between = |open: &str, close: &str| {
        let start = chain.find(open)? + open.len();
        Some(chain[start..start + chain[start..].find(close)?].trim())
    };
    let code = between("<Code>", "</Code>");
    let message = between("<Message>", "</Message>").filter(|message| !message.is_empty());
    let is_status = |word: &&str| word.len() == 3 && word.bytes().all(|b| b.is_ascii_digit());
    let status = chain.split([' ', ':']).rev().find(is_status);
    let tries = chain.split("after ").nth(1).and_then(|rest| rest.split(" retries").next());
    let tries = tries.and_then(|count| count.parse::<u32>().ok()).filter(|&count| count > 0);
    let again = tries.map_or(String::new(), |count| format!(", after {} tries", count + 1));
    match (code, message, status) {
        (Some(code), Some(message), _) => {
            format!("the store answered {code} ({}){again}", message.trim_end_matches('.'))
        }
        (Some(code), None, _) => format!("the store answered {code}{again}"),
        (None, _, Some(status)) => format!("the store answered with status {status}{again}"),
        // The last cause says it best; addresses with their queries are left out.
        _ => {
            let last = chain.rsplit(": ").take(2).collect::<Vec<_>>();
            let last = last.into_iter().rev().filter(|text| !text.contains("://")).collect::<Vec<_>>().join(": ");
            format!("{}{again}", if last.is_empty() { "the store cannot be reached" } else { last.as_str() })
        }
    }
}

/// Returns true if the client has repeated the request as often as it may.
pub fn is_exhausted(error: &object_store::Error) -> bool {
    chain(error).contains("max_retries")
}

/// Returns a failure of HDFS.
pub fn of_hdfs(error: &hdfs_native::HdfsError) -> Failure {
    use hdfs_native::HdfsError::*;
    let text = error.to_string();
    let text = text.split("\n\tat ").next().unwrap_or_default().to_string();
    let kind = match error {
        FileNotFound(_) => FailureKind::NotFound,
        AlreadyExists(_) => FailureKind::Exists,
        UnsupportedFeature(_) => FailureKind::Unsupported,
        UrlParseError(_) | InvalidPath(_) | InvalidArgument(_) => FailureKind::Usage,
        SASLError(_) | GSSAPIError(..) | NoSASLMechanism => FailureKind::Denied,
        _ if text.contains("AccessControlException") => FailureKind::Denied,
        _ if text.contains("FileAlreadyExistsException") => FailureKind::Exists,
        _ if text.contains("FileNotFoundException") => FailureKind::NotFound,
        _ => FailureKind::Other,
    };
    match kind {
        FailureKind::NotFound => failure(kind, "no such file or directory"),
        kind => failure(kind, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_store_said_is_one_line_without_addresses() {
        let xml = "<Error><Code>SlowDown</Code><Message>Reduce your rate.</Message></Error>";
        for (chain, line) in [
            (
                format!(
                    "Generic S3 error: Error performing GET http://h/b?x=1 in 1ms, after 2 retries, max_retries: 2 - \
                         Server returned non-2xx status code: 503 Service Unavailable: {xml}"
                ),
                "the store answered SlowDown (Reduce your rate), after 3 tries",
            ),
            (
                "Generic S3 error: HEAD http://h/b in 1ms - Client error: 403 Forbidden: ".into(),
                "the store answered with status 403",
            ),
            (
                "Generic S3 error: error sending request: tcp connect error: Connection refused (os error 111)".into(),
                "tcp connect error: Connection refused",
            ),
        ] {
            assert_eq!(one_line(&said(&chain)), line);
        }
        assert_eq!(one_line("a (b)\n c"), "a (b) c");
    }

    #[test]
    fn a_wrong_region_names_the_right_one() {
        let unknown = "the bucket is in another region; name it with --store-option s3.region=REGION";
        let known = "the bucket is in the region eu-west-3; set it with --store-option s3.region=eu-west-3";
        for (chain, expect) in [
            (
                "<Code>AuthorizationHeaderMalformed</Code><Message>the region 'us-east-1' is wrong; expecting \
              'eu-west-3'</Message><Region>eu-west-3</Region>",
                Some(known),
            ),
            (
                "<Code>AuthorizationHeaderMalformed</Code><Message>is wrong; expecting 'eu-west-3'</Message>",
                Some(known),
            ),
            ("Generic S3 error: the bucket is in the region eu-west-3; set it with ..", Some(known)),
            ("<Code>PermanentRedirect</Code><Endpoint>b.s3.amazonaws.com</Endpoint>", Some(unknown)),
            ("<Code>PermanentRedirect</Code><Region>a b\x1b[1m</Region>", Some(unknown)),
            (
                "Received redirect without LOCATION, this normally indicates an incorrectly configured region",
                Some(unknown),
            ),
            ("<Code>AccessDenied</Code>", None),
        ] {
            assert_eq!(wrong_region(chain).as_deref(), expect, "{chain}");
        }
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(one_line(&"x".repeat(999)).len(), TEXT_BYTES_MAX + 3);
    }
}
