//! Profiles of the AWS tools: `~/.aws/config` and `~/.aws/credentials`, as far as they hold keys.
//!
//! ```text
//!   [profile work]                      [work]
//!   region = eu-central-1               aws_access_key_id = ..
//!   endpoint_url = https://s3.local     aws_secret_access_key = ..
//! ```
//!
//! A profile that must be resolved by another program (`sso_session`, `role_arn`, `credential_process`) is refused with
//! the command that resolves it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::failure::{Outcome, usage};

/// Values of one profile.
#[derive(Default)]
pub struct Profile(BTreeMap<String, String>);

impl Profile {
    /// Returns a value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Reads the profile of this name from the files of the AWS tools. `is_asked`: the user named it, so it must exist.
    pub fn read(name: &str, is_asked: bool) -> Outcome<Profile> {
        let mut profile = Profile::default();
        let mut found = false;
        for (variable, file, section) in [
            ("AWS_CONFIG_FILE", "config", if name == "default" { name.into() } else { format!("profile {name}") }),
            ("AWS_SHARED_CREDENTIALS_FILE", "credentials", name.to_string()),
        ] {
            let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".aws").join(file));
            let path = std::env::var_os(variable).map(PathBuf::from).or_else(home);
            let Some(text) = path.and_then(|path| std::fs::read_to_string(path).ok()) else { continue };
            if let Some(values) = section_of(&text, &section) {
                found = true;
                profile.0.extend(values);
            }
        }
        if !found && is_asked {
            return Err(usage(format!("there is no profile '{name}' in ~/.aws/config or ~/.aws/credentials")));
        }
        let has_keys = profile.get("aws_access_key_id").is_some();
        let other = ["sso_session", "sso_start_url", "role_arn", "credential_process"];
        if let Some(other) = other.into_iter().find(|other| !has_keys && profile.get(other).is_some()) {
            return Err(usage(format!(
                "the profile '{name}' has {other}, which another program must resolve; run \
                 'eval \"$(aws configure export-credentials --profile {name} --format env)\"' first"
            )));
        }
        Ok(profile)
    }
}

/// Returns the values of a section of an INI file; None if there is no such section.
fn section_of(text: &str, section: &str) -> Option<BTreeMap<String, String>> {
    let mut values = None;
    let mut inside = false;
    for line in text.lines() {
        let is_nested = line.starts_with([' ', '\t']);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            inside = name.split_whitespace().eq(section.split_whitespace());
            if inside {
                values.get_or_insert_with(BTreeMap::new);
            }
        } else if let (true, false, Some((name, value))) = (inside, is_nested, line.split_once('=')) {
            let values = values.get_or_insert_with(BTreeMap::new);
            values.insert(name.trim().to_lowercase(), value.trim().to_string());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_have_their_own_values() {
        let text =
            "# all\n[default]\nregion=a\n\n[profile  work]\nregion = b\ns3 =\n  region = nested\n[x]\nregion=c\n";
        let region = |section| section_of(text, section).and_then(|mut values| values.remove("region"));
        assert_eq!(region("default").as_deref(), Some("a"));
        assert_eq!(region("profile work").as_deref(), Some("b"));
        assert_eq!(region("x").as_deref(), Some("c"));
        assert_eq!(region("work"), None);
    }
}
