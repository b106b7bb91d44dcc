//! Settings of stores, by the names of docs/guide/stores.md without `store.`. Credentials are not among them: a setting
//! is shown in reports and job files.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::failure::{Outcome, usage};

/// Names of all settings.
const NAMES: [&str; 17] = [
    "az.account",
    "az.anonymous",
    "az.endpoint",
    "ca.file",
    "gs.anonymous",
    "gs.endpoint",
    "hdfs.config",
    "hdfs.user",
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

/// Settings that are true or false.
const FLAGS: [&str; 5] = ["az.anonymous", "gs.anonymous", "s3.anonymous", "s3.conditional.put", "s3.path.style"];

/// Setting that is a number, with its bounds.
struct Number {
    name: &'static str,
    least: u64,
    most: u64,
    default: u64,
}

const RETRIES: Number = Number { name: "retries", least: 0, most: 100, default: 8 };
const REQUESTS: Number = Number { name: "requests", least: 1, most: 1024, default: 64 };
const TIMEOUT: Number = Number { name: "timeout", least: 1, most: 3600, default: 20 };

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
        for name in FLAGS {
            settings.flag(name)?;
        }
        for number in [RETRIES, REQUESTS, TIMEOUT] {
            settings.number(number)?;
        }
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

    fn number(&self, Number { name, least, most, default }: Number) -> Outcome<u64> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| usage(format!("store.{name}: '{text}' is not a number of {least} to {most}")))
    }

    /// Returns how often a request is repeated.
    pub fn retries(&self) -> usize {
        self.number(RETRIES).unwrap_or(RETRIES.default) as usize
    }

    /// Returns the requests that may be in flight at once.
    pub fn requests(&self) -> usize {
        self.number(REQUESTS).unwrap_or(REQUESTS.default) as usize
    }

    /// Returns the time without a byte after which a request is given up and repeated.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.number(TIMEOUT).unwrap_or(TIMEOUT.default))
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
