//! Settings of stores, by the names of docs/guide/stores.md without `store.`. Credentials are not among them: a setting
//! is shown in reports and job files.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::failure::{Outcome, usage};

/// Names, the longest text of their values in a word, and whether a secret.
const NAMES: [&str; 18] = [
    "az.account",
    "az.anonymous",
    "az.endpoint",
    "ca.file",
    "gs.anonymous",
    "gs.endpoint",
    "hdfs.config",
    "hdfs.user",
    "http.anonymous",
    "requests",
    "retries",
    "s3.anonymous",
    "s3.conditional.put",
    "s3.endpoint",
    "s3.path.style",
    "s3.profile",
    "s3.region",
    "timeout",
];

/// Settings of one job.
#[derive(Clone, Debug, Default)]
pub struct Settings(BTreeMap<String, String>);

impl Settings {
    /// Checks names and values. Fails with a line for the first that is wrong.
    pub fn checked(all: BTreeMap<String, String>) -> Outcome<Settings> {
        for name in all.keys() {
            let is_secret = ["secret", "password", "token", "key", "credential"].iter().any(|word| name.contains(word));
            if is_secret {
                return Err(usage(format!(
                    "store.{name}: credentials do not go into settings, which reports show; use the environment \
                     (AWS_SECRET_ACCESS_KEY ..) or a profile"
                )));
            }
            if !NAMES.contains(&&**name) {
                let known = NAMES.iter().filter(|known| known.split('.').next() == name.split('.').next());
                let known = known.copied().collect::<Vec<_>>();
                let known = if known.is_empty() { NAMES.join(", ") } else { known.join(", ") };
                return Err(usage(format!("there is no setting store.{name}; settings are {known}")));
            }
        }
        let settings = Settings(all);
        for name in ["az.anonymous", "gs.anonymous", "s3.anonymous", "s3.conditional.put", "s3.path.style"] {
            settings.flag(name)?;
        }
        settings.number("retries", 0, 100)?;
        settings.number("requests", 1, 1024)?;
        settings.number("timeout", 1, 3600)?;
        Ok(settings)
    }

    /// Returns the text of a setting.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns a setting that is true or false; None if it is not set.
    pub fn flag(&self, name: &str) -> Outcome<Option<bool>> {
        match self.text(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(usage(format!("store.{name}: '{other}' is neither true nor false"))),
        }
    }

    fn number(&self, name: &str, least: u64, most: u64) -> Outcome<Option<u64>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.map(Some).ok_or_else(|| usage(format!("store.{name}: '{text}' is not a number of {least} to {most}")))
    }

    /// Returns how often a request is repeated.
    pub fn retries(&self) -> usize {
        self.number("retries", 0, 100).ok().flatten().unwrap_or(8) as usize
    }

    /// Returns the requests that may be in flight at once.
    pub fn requests(&self) -> usize {
        self.number("requests", 1, 1024).ok().flatten().unwrap_or(64) as usize
    }

    /// Returns the time without a byte after which a request is given up and repeated.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.number("timeout", 1, 3600).ok().flatten().unwrap_or(20))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_settings_are_one_line() {
        for (name, value, line) in [
            ("s3.endpont", "x", "there is no setting store.s3.endpont; settings are s3.anonymous,"),
            ("s3.secret.access.key", "x", "credentials do not go into settings"),
            ("s3.anonymous", "yes", "store.s3.anonymous: 'yes' is neither true nor false"),
            ("retries", "-1", "store.retries: '-1' is not a number of 0 to 100"),
            ("timeout", "0", "store.timeout: '0' is not a number of 1 to 3600"),
            ("speed", "1", "there is no setting store.speed; settings are az.account,"),
        ] {
            let failure = Settings::checked([(name.to_string(), value.to_string())].into()).unwrap_err();
            assert!(failure.text.contains(line), "{}", failure.text);
            assert!(!failure.text.contains('\n'));
        }
        let good = Settings::checked([("retries".to_string(), "3".to_string())].into()).unwrap();
        assert_eq!((good.retries(), good.requests()), (3, 64));
    }
}
