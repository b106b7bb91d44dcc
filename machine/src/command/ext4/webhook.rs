//! Web hook: one POST of one JSON document.

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::Uri;

/// Time limit for name, connection and response together.
const TIME_MAX: Duration = Duration::from_secs(10);

/// Checks a URL for a web hook.
pub fn url(text: &str) -> Result<String, String> {
    let uri: Uri = text.parse().map_err(|e| format!("'{text}' is not a URL: {e}"))?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(_)) => Ok(text.to_owned()),
        _ => Err(format!("'{text}' is not a web hook; give one such as https://host/path")),
    }
}

/// Posts the document. Fails with a message unless the response status is 200 to 299.
pub fn post(url: &str, document: &Value) -> Result<(), String> {
    let agent: Agent = Agent::config_builder().timeout_global(Some(TIME_MAX)).max_redirects(0).build().into();
    let sent = agent.post(url).content_type("application/json").send(document.to_string());
    match sent {
        Ok(response) if response.status().is_success() => Ok(()),
        Ok(response) => Err(status_error(response.status().as_u16())),
        Err(ureq::Error::StatusCode(status)) => Err(status_error(status)),
        Err(e) => Err(e.to_string()),
    }
}

fn status_error(status: u16) -> String {
    format!("the response has status {status}")
}

#[cfg(test)]
mod tests {
    use super::url;

    #[test]
    fn checks_urls() {
        for good in ["http://127.0.0.1:8080/x", "https://host/a?b=c"] {
            assert!(url(good).is_ok(), "{good}");
        }
        for wrong in ["", "host", "/path", "ftp://host/", "http://", "file:///etc"] {
            assert!(url(wrong).is_err(), "{wrong}");
        }
    }
}
