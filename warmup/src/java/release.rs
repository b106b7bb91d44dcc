//! Build of a Java installation, from its file `release`. The JVM is not started: that takes 40 ms.

use std::fs;
use std::path::{Path, PathBuf};

use yunti_base::{Code, Error, Result};

/// Build of a Java installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    pub home: PathBuf,
    /// Feature release: 8, 11, 17, 25.
    pub feature: u32,
    /// Vendor and full version.
    pub build: String,
}

impl Release {
    /// Returns the build that a `java` program belongs to.
    pub fn of_program(java: &Path) -> Result<Release> {
        let unknown = |hint: &str| {
            Error::new(Code::Input, "cannot tell the build of this Java").at_path(java.to_string_lossy()).hint(hint)
        };
        let program = fs::canonicalize(java)
            .map_err(|e| Error::io(Code::Input, "cannot find Java", &e).at_path(java.to_string_lossy()))?;
        // JDK 8 has its java in jre/bin/, and the file one directory higher.
        let homes = program.ancestors().skip(2).take(2);
        let found = homes.filter_map(|home| Some((home, fs::read_to_string(home.join("release")).ok()?))).next();
        let (home, text) =
            found.ok_or_else(|| unknown("its directory has no file 'release': name another with --java"))?;
        Release::of_text(home, &text)
            .ok_or_else(|| unknown("its file 'release' has no JAVA_VERSION: name another with --java"))
    }

    fn of_text(home: &Path, text: &str) -> Option<Release> {
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
            Some(line.trim_matches('"').to_string())
        };
        let version = value("JAVA_VERSION")?;
        let mut numbers = version.split(['.', '_', '-', '+']).map(|n| n.parse::<u32>().ok());
        let feature = match numbers.next()?? {
            1 => numbers.next()??,
            feature => feature,
        };
        let full = value("JAVA_RUNTIME_VERSION").unwrap_or(version);
        let build = format!("{} {full}", value("IMPLEMENTOR").unwrap_or_default()).trim().to_string();
        Some(Release { home: home.into(), feature, build })
    }

    /// Returns the library of the JVM.
    pub fn library(&self) -> PathBuf {
        let places = ["lib/server/libjvm.so", "jre/lib/amd64/server/libjvm.so", "lib/amd64/server/libjvm.so"];
        places
            .iter()
            .map(|place| self.home.join(place))
            .find(|path| path.is_file())
            .unwrap_or_else(|| self.home.join("release"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_old_and_new_versions() {
        for (text, feature, build) in [
            (
                "IMPLEMENTOR=\"Eclipse Adoptium\"\nJAVA_RUNTIME_VERSION=\"25.0.3+9-LTS\"\nJAVA_VERSION=\"25.0.3\"\n",
                25,
                "Eclipse Adoptium 25.0.3+9-LTS",
            ),
            ("JAVA_VERSION=\"1.8.0_402\"\n", 8, "1.8.0_402"),
            ("JAVA_VERSION=\"26-ea\"", 26, "26-ea"),
        ] {
            let release = Release::of_text(Path::new("/j"), text).unwrap();
            assert_eq!((release.feature, release.build.as_str()), (feature, build));
        }
        assert_eq!(Release::of_text(Path::new("/j"), "X=1"), None);
    }
}
