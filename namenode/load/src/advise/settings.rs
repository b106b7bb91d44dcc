//! Settings of a NameNode: the keys of hdfs-site.xml and core-site.xml.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use yunti_base::{Code, Error, Result};

use super::site_xml;

/// Settings by key. Callers give the defaults of Hadoop 3.5.0, since a folder has only the keys that differ.
#[derive(Debug, Default)]
pub struct Settings {
    values: HashMap<String, String>,
    /// Text of the folder's `log4j.properties`; `/conf` does not contain it.
    pub log4j: Option<String>,
}

impl Settings {
    /// Parses the page `/conf?format=json`, or the same in XML.
    pub fn of_page(text: &str) -> Result<Settings> {
        let no_conf = || Error::new(Code::Input, "this is not Hadoop's /conf");
        if text.trim_start().starts_with('<') {
            return Ok(Settings { values: site_xml::parse(text)?.into_iter().collect(), log4j: None });
        }
        let document: Value = serde_json::from_str(text).map_err(|_| no_conf())?;
        let rows = document["properties"].as_array().ok_or_else(no_conf)?;
        let pair = |row: &Value| Some((row["key"].as_str()?.to_owned(), row["value"].as_str()?.to_owned()));
        Ok(Settings { values: rows.iter().filter_map(pair).collect(), log4j: None })
    }

    /// Reads a configuration folder such as HADOOP_CONF_DIR.
    pub fn of_folder(folder: &Path) -> Result<Settings> {
        let mut values = HashMap::new();
        let mut is_any_there = false;
        // A NameNode reads them in this order.
        for name in ["core-site.xml", "hdfs-site.xml"] {
            let path = folder.join(name);
            match std::fs::read_to_string(&path) {
                Ok(text) => {
                    is_any_there = true;
                    values.extend(site_xml::parse(&text).map_err(|e| e.at_path(path.to_string_lossy()))?);
                }
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => {
                    return Err(
                        Error::io(Code::Input, "cannot read a configuration", &e).at_path(path.to_string_lossy())
                    );
                }
            }
        }
        if !is_any_there {
            return Err(Error::new(Code::Input, "the folder has neither core-site.xml nor hdfs-site.xml")
                .at_path(folder.to_string_lossy())
                .hint("give the folder of HADOOP_CONF_DIR"));
        }
        Ok(Settings { values, log4j: std::fs::read_to_string(folder.join("log4j.properties")).ok() })
    }

    #[cfg(test)]
    pub fn of(pairs: &[(&str, &str)]) -> Settings {
        Settings { values: pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(), log4j: None }
    }

    /// Returns the value; None if the key is not set, or empty.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    pub fn number(&self, key: &str, default: f64) -> f64 {
        self.get(key).and_then(|value| value.parse().ok()).unwrap_or(default)
    }

    pub fn is(&self, key: &str, default: bool) -> bool {
        self.get(key).map_or(default, |value| value.eq_ignore_ascii_case("true"))
    }

    /// Returns a key of the RPC server on this port: `ipc.PORT.X`, else `ipc.X`.
    pub fn ipc(&self, port: u16, key: &str) -> Option<&str> {
        self.get(&format!("ipc.{port}.{key}")).or_else(|| self.get(&format!("ipc.{key}")))
    }

    /// Returns true if the key is set, alone or with the suffix of a name service and a NameNode.
    pub fn is_set_for_any(&self, key: &str) -> bool {
        let of_service = format!("{key}.");
        self.get(key).is_some() || self.values.iter().any(|(k, v)| k.starts_with(&of_service) && !v.trim().is_empty())
    }

    pub fn handlers(&self) -> f64 {
        self.number("dfs.namenode.handler.count", 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_page_of_json_or_xml() {
        let page =
            r#"{"properties":[{"key":"a","value":"7","isFinal":false,"resource":"x"},{"key":"b","value":" true"}]}"#;
        let settings = Settings::of_page(page).unwrap();
        assert_eq!((settings.number("a", 1.0), settings.number("none", 1.0)), (7.0, 1.0));
        assert!(settings.is("b", false) && settings.is("none", true));
        let xml = "<configuration><property><name>a</name><value>8</value></property></configuration>";
        assert_eq!(Settings::of_page(xml).unwrap().get("a"), Some("8"));
        assert!(Settings::of_page("{}").is_err());
        assert!(Settings::of_page("hello").is_err());
    }

    #[test]
    fn keys_of_ports_and_services() {
        let settings = Settings::of(&[
            ("ipc.8020.backoff.enable", "true"),
            ("ipc.callqueue.impl", "A"),
            ("x.ns1.nn1", "h:1"),
            ("y", ""),
        ]);
        assert_eq!(settings.ipc(8020, "backoff.enable"), Some("true"));
        assert_eq!(settings.ipc(8021, "backoff.enable"), None);
        assert_eq!(settings.ipc(8020, "callqueue.impl"), Some("A"));
        assert!(settings.is_set_for_any("x") && !settings.is_set_for_any("y"));
    }
}
