//! Draft of a profile beside its place, which takes the place by one exchange.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use yunti_base::process::unique_token;
use yunti_base::{Code, Error, Result};
use yunti_replay::request::Request;

use super::{DESCRIPTION, Profile, REQUESTS};

/// Directory of a profile that is not complete. Dropping it removes the directory.
pub struct Draft {
    folder: PathBuf,
    place: PathBuf,
}

impl Draft {
    /// Makes the directory beside `place`. An existing `place` must be a profile.
    pub fn begin(place: &Path) -> Result<Draft> {
        if place.exists() && !place.join(DESCRIPTION).exists() {
            let is_empty = fs::read_dir(place).is_ok_and(|mut files| files.next().is_none());
            if !is_empty {
                return Err(Error::new(Code::Exists, "this exists and is no profile")
                    .at_path(place.to_string_lossy())
                    .hint("name another place with --profile"));
            }
        }
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let folder = place.with_file_name(format!(".{name}.{}", unique_token()));
        fs::create_dir(&folder).map_err(|e| failed(place, &e))?;
        Ok(Draft { folder, place: place.into() })
    }

    /// Returns the path of a file in the draft.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Completes the profile and puts it in its place.
    pub fn commit(self, profile: &Profile, requests: &[Request]) -> Result<()> {
        let put = || -> io::Result<()> {
            if !requests.is_empty() {
                let lines: String = requests.iter().map(Request::to_lines).collect();
                fs::write(self.path(REQUESTS), lines)?;
            }
            fs::write(self.path(DESCRIPTION), format!("{:#}\n", serde_json::to_value(profile)?))?;
            if self.place.exists() {
                // The old profile is then in the draft's directory, which is removed.
                renameat_with(CWD, &self.folder, CWD, &self.place, RenameFlags::EXCHANGE)?;
                return Ok(());
            }
            fs::rename(&self.folder, &self.place)
        };
        put().map_err(|e| failed(&self.place, &e))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn failed(place: &Path, error: &io::Error) -> Error {
    Error::io(Code::Output, "cannot write the profile", error)
        .at_path(place.to_string_lossy())
        .hint("name another place with --profile")
}
