//! A web hook: one POST of one JSON document.

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::Uri;

/// All of it: names, connection, answer.
const TIME_MAX: Duration = Duration::from_secs(10);

/// Checks what will be posted to, before it is needed.
pub fn url(text: &str) -> Result<String, String> {
    let uri: Uri = text.parse().map_err(|e| format!("'{text}' is no URL: {e}"))?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(_)) => Ok(text.to_owned()),
        _ => Err(format!("'{text}' is no URL that can be posted to; give one such as https://host/path")),
    }
}

/// What went wrong, in one line, where it was not taken with a status of 200 to 299.
pub fn post(url: &str, document: &Value) -> Result<(), String> {
    let agent: Agent = Agent::config_builder().timeout_global(Some(TIME_MAX)).max_redirects(0).build().into();
    let sent = agent.post(url).content_type("application/json").send(document.to_string());
    match sent {
        Ok(response) if response.status().is_success() => Ok(()),
        Ok(response) => Err(answered(response.status().as_u16())),
        Err(ureq::Error::StatusCode(status)) => Err(answered(status)),
        Err(e) => Err(e.to_string()),
    }
}

fn answered(status: u16) -> String {
    format!("it was answered with status {status}")
}

#[cfg(test)]
mod tests {
    use super::url;

    #[test]
    fn urls() {
        for good in ["http://127.0.0.1:8080/x", "https://host/a?b=c"] {
            assert!(url(good).is_ok(), "{good}");
        }
        for wrong in ["", "host", "/path", "ftp://host/", "http://", "file:///etc"] {
            assert!(url(wrong).is_err(), "{wrong}");
        }
    }
}
