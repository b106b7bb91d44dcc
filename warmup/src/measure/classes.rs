//! Classes of a JVM by their source: the archive, or files. The JVM logs one line a class (`-Xlog:class+load`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;
use yunti_base::{Code, Error, Result};

/// Count of classes by their source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Classes {
    /// Classes from an archive: ours, or the one of the JDK below it.
    pub archived: usize,
    /// Classes from our archive, if the JVM tells them from the JDK's (AppCDS).
    pub archived_on_top: usize,
    /// Classes read from jars, directories and modules.
    pub from_files: usize,
    /// Classes made while the program runs: lambdas, proxies, accessors.
    pub made: usize,
    /// Source with most of the classes read from files, and their count.
    pub most_from: Option<(String, usize)>,
}

impl Classes {
    /// Counts the lines of a log.
    pub fn of_log(path: &Path) -> Result<Classes> {
        let text = fs::read(path).map_err(|e| {
            Error::io(Code::Input, "the JVM wrote no log of its classes", &e).at_path(path.to_string_lossy())
        })?;
        Ok(Classes::of_text(&String::from_utf8_lossy(&text)))
    }

    fn of_text(text: &str) -> Classes {
        let mut classes = Classes::default();
        let mut files: BTreeMap<&str, usize> = BTreeMap::new();
        for line in text.lines() {
            let Some((_, source)) = line.split_once(" source: ") else { continue };
            let source = source.trim();
            if source.starts_with("shared objects file") {
                classes.archived += 1;
                classes.archived_on_top += usize::from(source.ends_with("(top)"));
            } else if source.contains(":/") {
                classes.from_files += 1;
                *files.entry(source).or_default() += 1;
            } else {
                classes.made += 1;
            }
        }
        let most = files.into_iter().max_by_key(|(_, count)| *count);
        classes.most_from = most.map(|(source, count)| (source.to_string(), count));
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_classes_by_source() {
        let classes = Classes::of_text(
            "[0.1s][info][class,load] java.lang.Object source: shared objects file\n\
             [0.1s][info][class,load] A source: shared objects file (top)\n\
             [0.2s][info][class,load] B source: file:/w/a.jar\n\
             [0.2s][info][class,load] C source: jar:nested:/w/a.jar/!lib/b.jar!/\n\
             [0.2s][info][class,load] D source: jrt:/java.base\n\
             [0.2s][info][class,load] E source: file:/w/a.jar\n\
             [0.3s][info][class,load] A$$Lambda/0x1 source: A\nnoise\n",
        );
        let most_from = Some(("file:/w/a.jar".into(), 2));
        assert_eq!(classes, Classes { archived: 2, archived_on_top: 1, from_files: 4, made: 1, most_from });
    }
}
