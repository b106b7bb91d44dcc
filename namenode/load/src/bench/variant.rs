//! Ways to start a NameNode, by name.

use yunti_engine::base::{Code, Error, Result};

/// The lock, by its key in hdfs-site.xml.
const LOCK: &str = "dfs.namenode.lock.model.provider.class";
const PHASED: &str = "org.yunti.namenode.lock.PhasedLockManager";
const PRESET: &str = "yunti.namenode.lock.preset";

#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    pub name: String,
    /// What it adds to hdfs-site.xml.
    pub properties: Vec<(String, String)>,
    /// What it adds to the command line of the JVM.
    pub options: Vec<String>,
    pub needs_plugin: bool,
}

struct Known {
    name: &'static str,
    about: &'static str,
    properties: &'static [(&'static str, &'static str)],
    options: &'static [&'static str],
    needs_plugin: bool,
}

const KNOWN: [Known; 5] = [
    Known { name: "stock", about: "as it comes", properties: &[], options: &[], needs_plugin: false },
    Known {
        name: "unfair",
        about: "dfs.namenode.fslock.fair=false",
        properties: &[("dfs.namenode.fslock.fair", "false")],
        options: &[],
        needs_plugin: false,
    },
    Known {
        name: "throughput",
        about: "our lock, preset throughput",
        properties: &[(LOCK, PHASED), (PRESET, "throughput")],
        options: &[],
        needs_plugin: true,
    },
    Known {
        name: "balanced",
        about: "our lock, preset balanced",
        properties: &[(LOCK, PHASED), (PRESET, "balanced")],
        options: &[],
        needs_plugin: true,
    },
    Known {
        name: "fine-grained",
        about: "stock's locks of the name space and of the blocks apart",
        properties: &[(LOCK, "org.apache.hadoop.hdfs.server.namenode.fgl.FineGrainedFSNamesystemLock")],
        options: &[],
        needs_plugin: false,
    },
];

/// What there is, a line each.
pub fn known() -> String {
    KNOWN.iter().map(|known| format!("  {:14} {}\n", known.name, known.about)).collect()
}

impl Variant {
    /// `NAME`, or one of your own: `NAME:BASE,KEY=VALUE,-JVM-OPTION`, with BASE one of those that are known.
    pub fn parse(text: &str) -> Result<Variant> {
        let (name, words) = text.split_once(':').unwrap_or((text, text));
        let mut variant =
            Variant { name: name.to_owned(), properties: Vec::new(), options: Vec::new(), needs_plugin: false };
        for word in words.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            if let Some(known) = KNOWN.iter().find(|known| known.name == word) {
                let owned = |(k, v): &(&str, &str)| ((*k).to_owned(), (*v).to_owned());
                variant.properties.extend(known.properties.iter().map(owned));
                variant.options.extend(known.options.iter().map(|option| (*option).to_owned()));
                variant.needs_plugin |= known.needs_plugin;
            } else if word.starts_with('-') {
                variant.options.push(word.to_owned());
            } else if let Some((key, value)) = word.split_once('=') {
                variant.properties.push((key.to_owned(), value.to_owned()));
                variant.needs_plugin |= value.starts_with("org.yunti.");
            } else {
                return Err(Error::new(Code::Usage, format!("'{word}' is no variant of a NameNode"))
                    .hint("see yunti nn bench --help; NAME:KEY=VALUE,.. makes one of your own"));
            }
        }
        Ok(variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants() {
        assert_eq!(Variant::parse("stock").unwrap().properties, []);
        assert!(Variant::parse("throughput").unwrap().needs_plugin);
        let own = Variant::parse("mine:balanced,ipc.server.read.threadpool.size=3,-Xint").unwrap();
        assert_eq!((own.name.as_str(), own.properties.len(), own.options), ("mine", 3, vec!["-Xint".to_owned()]));
        assert!(Variant::parse("fast").is_err());
        assert!(Variant::parse("x:fast").is_err());
    }
}
