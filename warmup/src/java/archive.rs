//! Archives of a JVM's classes: which one a build can write, and the options that write and use it.
//!
//! | JDK | archive | content |
//! |---|---|---|
//! | 25 and later | AOT cache (JEP 514, 515) | loaded and linked classes, profiles of methods |
//! | 13 to 24 | AppCDS, at exit (JEP 350) | loaded classes |
//! | up to 12 | none: 11 needs a list of classes and a second run, 8 a commercial JVM | |

use serde::{Deserialize, Serialize};

use crate::java::release::Release;

/// Archive of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    AotCache,
    AppCds,
}

impl Kind {
    /// Returns the archive that a build writes by one training run, or the reason why it writes none.
    pub fn of(release: &Release) -> Result<Kind, String> {
        match release.feature {
            25.. => Ok(Kind::AotCache),
            13..25 => Ok(Kind::AppCds),
            old => Err(format!("JDK {old} writes no archive in a training run; JDK 13 and later do")),
        }
    }

    /// Returns the name of its file in a profile.
    pub fn file(self) -> &'static str {
        match self {
            Kind::AotCache => "classes.aot",
            Kind::AppCds => "classes.jsa",
        }
    }

    /// Returns its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Kind::AotCache => "AOT cache",
            Kind::AppCds => "AppCDS archive",
        }
    }

    /// Returns the options of a JVM that writes the archive at its exit. Its warnings name each class that it leaves
    /// out, so that only errors are shown.
    pub fn options_to_write(self, file: &str) -> Vec<String> {
        match self {
            Kind::AotCache => vec![format!("-XX:AOTCacheOutput={file}"), "-Xlog:aot*=error,cds*=error".into()],
            Kind::AppCds => vec![format!("-XX:ArchiveClassesAtExit={file}"), "-Xlog:cds*=error".into()],
        }
    }

    /// Returns the options of a JVM that uses the archive. Only messages about archives are silenced: the stamps of the
    /// profile have found why one does not fit.
    pub fn options_to_use(self, file: &str) -> Vec<String> {
        match self {
            Kind::AotCache => vec![format!("-XX:AOTCache={file}"), "-Xlog:aot*=off,cds*=off".into()],
            Kind::AppCds => vec![format!("-XX:SharedArchiveFile={file}"), "-Xlog:cds*=off".into()],
        }
    }
}
