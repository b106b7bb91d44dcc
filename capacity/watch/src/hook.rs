//! Web hook: the verdict of a measurement as JSON, posted to an address of the user.
//!
//! Addresses often hold a secret, so errors name the host alone.

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::Uri;

/// Attempts, the time of one, and the time between two.
const ATTEMPTS: u32 = 3;
const TIME: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_secs(1);

/// Checks an address. Returns what is wrong.
pub fn check(url: &str) -> Result<(), String> {
    let uri: Uri = url.parse().map_err(|_| "it is no address".to_owned())?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() => Ok(()),
        _ => Err("give an address such as https://chat.example.com/hooks/x".to_owned()),
    }
}

/// Posts a document. Returns the reason of a failure, without the address.
pub fn post(url: &str, document: &Value) -> Result<(), String> {
    let host = url.parse::<Uri>().ok().and_then(|uri| Some(uri.host()?.to_owned())).unwrap_or_default();
    let agent: Agent = Agent::config_builder().timeout_global(Some(TIME)).max_redirects(0).build().into();
    let mut reason = String::new();
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            std::thread::sleep(PAUSE * attempt);
        }
        let sent = agent.post(url).header("content-type", "application/json").send(document.to_string());
        match sent {
            Ok(answer) if answer.status().is_success() => return Ok(()),
            Ok(answer) => reason = format!("status {}", answer.status().as_u16()),
            Err(ureq::Error::StatusCode(status)) if status < 500 && status != 429 => {
                return Err(format!("the hook at {host} refuses: status {status}"));
            }
            Err(ureq::Error::StatusCode(status)) => reason = format!("status {status}"),
            Err(ureq::Error::Io(e)) => reason = e.kind().to_string(),
            Err(ureq::Error::Timeout(_)) => reason = "no answer in time".to_owned(),
            Err(ureq::Error::HostNotFound) => reason = "no such host".to_owned(),
            // Other errors may repeat the address.
            Err(_) => reason = "no valid answer".to_owned(),
        }
    }
    Err(format!("the hook at {host} got nothing: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_and_not_repeated() {
        for good in ["http://127.0.0.1:9/x", "https://chat.example.com/hooks/secret"] {
            assert_eq!(check(good), Ok(()));
        }
        for wrong in ["", "x", "ftp://host/x", "http://", "/path"] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
        let failure = post("http://127.0.0.1:9/secret", &Value::Null).unwrap_err();
        assert!(failure.contains("127.0.0.1") && !failure.contains("secret"), "{failure}");
    }
}
