//! How a table's files are read: by the classes of its input format and of its serde.

use std::collections::BTreeMap;

use yunti_base::{Code, Error, Result};

use super::metastore::Storage;

/// How the bytes of files become rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// A format that names its columns, by the name of the engine.
    Columns(&'static str),
    /// Lines of text, each a record.
    Lines(Record),
    /// Values of a sequence file, each a record.
    Sequence(Record),
}

/// How a text becomes the values of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// `LazySimpleSerDe`: a byte between values, another between those of lists, and so on for each level.
    Delimited { separators: Vec<u8>, escape: Option<u8>, null: String },
    /// `OpenCSVSerde`.
    Csv { separator: u8, quote: u8, escape: u8 },
    /// The serdes of JSON: an object a record.
    Json,
}

/// Levels of separators that Hive has: \x01 to \x08.
const LEVELS: usize = 8;

impl Stored {
    /// Returns how files of a storage are read. Errors: `Usage` for a format that is not read.
    pub fn of(storage: &Storage) -> Result<Stored> {
        let input = storage.input_format.rsplit('.').next().unwrap_or_default();
        let serde = storage.serde.rsplit('.').next().unwrap_or_default();
        let lacks = |what: &str| {
            let shown: String = what.chars().take(100).flat_map(char::escape_default).collect();
            Error::new(Code::Usage, format!("tables of Hive in the format {shown} are not read"))
                .hint("text, CSV, JSON, sequence files, Parquet, ORC and Avro are")
        };
        Ok(match input {
            "MapredParquetInputFormat" | "ParquetInputFormat" | "DeprecatedParquetInputFormat" => {
                Stored::Columns("parquet")
            }
            "OrcInputFormat" => Stored::Columns("orc"),
            "AvroContainerInputFormat" => Stored::Columns("avro"),
            "TextInputFormat" => Stored::Lines(record(serde, &storage.parameters).ok_or_else(|| lacks(serde))?),
            "SequenceFileInputFormat" => {
                Stored::Sequence(record(serde, &storage.parameters).ok_or_else(|| lacks(serde))?)
            }
            _ => return Err(lacks(input)),
        })
    }
}

fn record(serde: &str, parameters: &BTreeMap<String, String>) -> Option<Record> {
    let get = |name: &str| parameters.get(name).map(String::as_str).filter(|value| !value.is_empty());
    Some(match serde {
        "LazySimpleSerDe" | "MetadataTypedColumnsetSerDe" => {
            let mut separators: Vec<u8> = (1..=LEVELS as u8).collect();
            // Hive's own spelling of the second name.
            let names = [("field.delim", "serialization.format"), ("colelction.delim", "collection.delim")];
            for (level, (name, other)) in names.into_iter().enumerate() {
                if let Some(value) = get(name).or_else(|| get(other)) {
                    separators[level] = byte(value);
                }
            }
            if let Some(value) = get("mapkey.delim") {
                separators[2] = byte(value);
            }
            let null = parameters.get("serialization.null.format").cloned().unwrap_or_else(|| "\\N".into());
            Record::Delimited { separators, escape: get("escape.delim").map(byte), null }
        }
        "OpenCSVSerde" => Record::Csv {
            separator: get("separatorChar").map_or(b',', first),
            quote: get("quoteChar").map_or(b'"', first),
            escape: get("escapeChar").map_or(b'\\', first),
        },
        "JsonSerDe" => Record::Json,
        _ => return None,
    })
}

/// Returns a separator as Hive spells it: a number, or a character.
fn byte(text: &str) -> u8 {
    text.parse::<i8>().map_or_else(|_| first(text), |number| number as u8)
}

fn first(text: &str) -> u8 {
    text.bytes().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage(input: &str, serde: &str, parameters: &[(&str, &str)]) -> Storage {
        let parameters = parameters.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        Storage { input_format: input.into(), serde: serde.into(), parameters, ..Storage::default() }
    }

    #[test]
    fn formats_by_their_classes() {
        let text = "org.apache.hadoop.mapred.TextInputFormat";
        let lazy = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe";
        let delimited = |first: u8, second: u8, escape, null: &str| {
            let separators = [first, second].into_iter().chain(3..=8).collect();
            Stored::Lines(Record::Delimited { separators, escape, null: null.into() })
        };
        for (input, serde, parameters, expect) in [
            (text, lazy, &[][..], delimited(1, 2, None, "\\N")),
            (text, lazy, &[("serialization.format", "1")], delimited(1, 2, None, "\\N")),
            (text, lazy, &[("field.delim", "\t"), ("serialization.format", ",")], delimited(b'\t', 2, None, "\\N")),
            (text, lazy, &[("field.delim", "9"), ("escape.delim", "\\")], delimited(9, 2, Some(b'\\'), "\\N")),
            (text, lazy, &[("field.delim", "|"), ("colelction.delim", ";")], delimited(b'|', b';', None, "\\N")),
            (text, lazy, &[("serialization.null.format", "")], delimited(1, 2, None, "")),
            (text, "x.OpenCSVSerde", &[], Stored::Lines(Record::Csv { separator: b',', quote: b'"', escape: b'\\' })),
            (text, "org.apache.hive.hcatalog.data.JsonSerDe", &[], Stored::Lines(Record::Json)),
            ("a.b.SequenceFileInputFormat", "x.JsonSerDe", &[], Stored::Sequence(Record::Json)),
            ("x.MapredParquetInputFormat", "x.ParquetHiveSerDe", &[], Stored::Columns("parquet")),
            ("x.OrcInputFormat", "x.OrcSerde", &[], Stored::Columns("orc")),
            ("x.AvroContainerInputFormat", "x.AvroSerDe", &[], Stored::Columns("avro")),
        ] {
            assert_eq!(Stored::of(&storage(input, serde, parameters)), Ok(expect), "{input} {serde} {parameters:?}");
        }
        for (input, serde) in [(text, "x.RegexSerDe"), ("x.RCFileInputFormat", lazy), ("", "")] {
            assert_eq!(Stored::of(&storage(input, serde, &[])).unwrap_err().code(), Code::Usage);
        }
    }
}
