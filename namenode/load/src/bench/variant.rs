//! Variants of a NameNode, by name.

use yunti_base::{Code, Error, Result};

/// Key of the lock in hdfs-site.xml.
const LOCK: &str = "dfs.namenode.lock.model.provider.class";
const PHASED: &str = "org.yunti.namenode.lock.PhasedLockManager";
const PRESET: &str = "yunti.namenode.lock.preset";
/// Values of the preset.
const PRESETS: [&str; 2] = ["throughput", "balanced"];

/// Settings of a NameNode that differ from stock's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variant {
    pub name: String,
    /// Properties to add to hdfs-site.xml.
    pub properties: Vec<(String, String)>,
    /// Options to add to the command line of the JVM.
    pub options: Vec<String>,
    pub needs_plugin: bool,
}

/// Placeholders in properties: the NameNode's RPC port, and its folder.
pub const PORT: &str = "PORT";
pub const FOLDER: &str = "FOLDER";
/// Prefix of properties that belong to log4j.properties.
pub const LOG4J_KEYS: &str = "log4j.";

struct Known {
    name: &'static str,
    about: &'static str,
    properties: &'static [(&'static str, &'static str)],
}

const KNOWN: [Known; 11] = [
    Known { name: "stock", about: "as Hadoop ships it", properties: &[] },
    Known {
        name: "unfair",
        about: "dfs.namenode.fslock.fair=false",
        properties: &[("dfs.namenode.fslock.fair", "false")],
    },
    Known {
        name: "throughput",
        about: "our lock, preset throughput",
        properties: &[(LOCK, PHASED), (PRESET, "throughput")],
    },
    Known { name: "balanced", about: "our lock, preset balanced", properties: &[(LOCK, PHASED), (PRESET, "balanced")] },
    Known {
        name: "fine-grained",
        about: "stock's separate locks of the name space and of the blocks",
        properties: &[(LOCK, "org.apache.hadoop.hdfs.server.namenode.fgl.FineGrainedFSNamesystemLock")],
    },
    Known {
        name: "apart",
        about: "our separate locks of the name space and of the blocks, preset throughput",
        properties: &[(LOCK, "org.yunti.namenode.lock.PhasedFineGrainedLockManager"), (PRESET, "throughput")],
    },
    Known {
        name: "fair-queue",
        about: "stock's FairCallQueue",
        properties: &[("ipc.PORT.callqueue.impl", "org.apache.hadoop.ipc.FairCallQueue")],
    },
    Known {
        name: "queue",
        about: "our call queue",
        properties: &[("ipc.PORT.callqueue.impl", "org.yunti.namenode.queue.ShardedCallQueue")],
    },
    Known {
        name: "audit-stock",
        about: "the audit log by stock's appender",
        properties: &[
            ("log4j.logger.org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit", "INFO,RFAAUDIT"),
            ("log4j.additivity.org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit", "false"),
            ("log4j.appender.RFAAUDIT", "org.apache.log4j.RollingFileAppender"),
            ("log4j.appender.RFAAUDIT.File", "FOLDER/hdfs-audit.log"),
            ("log4j.appender.RFAAUDIT.layout", "org.apache.log4j.PatternLayout"),
            ("log4j.appender.RFAAUDIT.layout.ConversionPattern", "%d{ISO8601} %p %c{2}: %m%n"),
            ("log4j.appender.RFAAUDIT.MaxFileSize", "256MB"),
            ("log4j.appender.RFAAUDIT.MaxBackupIndex", "20"),
        ],
    },
    Known {
        name: "audit",
        about: "the audit log by our logger",
        properties: &[("dfs.namenode.audit.loggers", "org.yunti.namenode.audit.RingAuditLogger")],
    },
    Known {
        name: "edits-inside",
        about: "dfs.namenode.edits.asynclogging=false",
        properties: &[("dfs.namenode.edits.asynclogging", "false")],
    },
];

/// Returns a line of help for each known variant.
pub fn about() -> String {
    KNOWN.iter().map(|known| format!("  {:14} {}\n", known.name, known.about)).collect()
}

/// Returns a variant of the table above; an unknown name is stock.
pub fn known(name: &str) -> Variant {
    let properties = KNOWN.iter().find(|known| known.name == name).map_or(&[][..], |known| known.properties);
    let properties: Vec<(String, String)> =
        properties.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let needs_plugin = properties.iter().any(is_ours);
    Variant { name: name.to_owned(), properties, options: Vec::new(), needs_plugin }
}

fn is_ours((_, value): &(String, String)) -> bool {
    value.starts_with("org.yunti.")
}

impl Variant {
    /// Parses `NAME`, or `NAME:BASE,KEY=VALUE,-JVM-OPTION`, with BASE a known variant.
    ///
    /// # Errors
    /// A word is not a known variant, a property or a JVM option.
    pub fn parse(text: &str) -> Result<Variant> {
        let (name, words) = text.split_once(':').unwrap_or((text, text));
        let mut variant = Variant { name: name.to_owned(), ..Variant::default() };
        for word in words.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            if KNOWN.iter().any(|known| known.name == word) {
                variant = variant.and(&[known(word)]);
            } else if word.starts_with('-') {
                variant.options.push(word.to_owned());
            } else if let Some((key, value)) = word.split_once('=') {
                if key == PRESET && !PRESETS.iter().any(|preset| preset.eq_ignore_ascii_case(value)) {
                    let what = format!("variant {name}: {PRESET} is '{value}'");
                    return Err(Error::new(Code::Usage, what).hint(format!("give {}", PRESETS.join(" or "))));
                }
                variant.properties.push((key.to_owned(), value.to_owned()));
                variant.needs_plugin |= variant.properties.iter().any(is_ours);
            } else {
                let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
                let what = format!("'{word}' is not a variant of a NameNode");
                let hint = format!("give one of {}; NAME:KEY=VALUE,.. defines your own", names.join(", "));
                return Err(Error::new(Code::Usage, what).hint(hint));
            }
        }
        Ok(variant)
    }

    /// Adds the settings of other variants.
    pub fn and(mut self, others: &[Variant]) -> Variant {
        for other in others {
            self.properties.extend(other.properties.iter().cloned());
            self.options.extend(other.options.iter().cloned());
            self.needs_plugin |= other.needs_plugin;
        }
        self
    }

    /// Renames the variant.
    pub fn named(mut self, name: &str) -> Variant {
        self.name = name.to_owned();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_variants() {
        assert_eq!(Variant::parse("stock").unwrap().properties, []);
        assert!(Variant::parse("throughput").unwrap().needs_plugin);
        let own = Variant::parse("mine:balanced,ipc.server.read.threadpool.size=3,-Xint").unwrap();
        assert_eq!((own.name.as_str(), own.properties.len(), own.options), ("mine", 3, vec!["-Xint".to_owned()]));
        assert!(Variant::parse("fast").is_err());
        assert!(Variant::parse("x:fast").is_err());
        assert!(Variant::parse("x:balanced,yunti.namenode.lock.preset=Throughput").is_ok());
        let wrong = Variant::parse("x:balanced,yunti.namenode.lock.preset=fast").unwrap_err().to_string();
        assert_eq!(wrong, "variant x: yunti.namenode.lock.preset is 'fast': give throughput or balanced");
    }
}
