//! A table by its files, as a query or a flag names them: paths and options.

use yunti_base::{Code, Error, Result};

/// A table by its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Files, directories and patterns.
    pub paths: Vec<String>,
    /// Name of a format; None: by the names of the files.
    pub format: Option<String>,
    /// True if text has the names of columns in its first line.
    pub header: Option<bool>,
    pub delimiter: Option<u8>,
}

impl Place {
    /// Returns the place of a path.
    pub fn of(path: &str) -> Place {
        Place { paths: vec![path.into()], ..Place::default() }
    }

    /// Parses `PATH[,format=F][,header=true|false][,delimiter=C]`.
    pub fn parse(text: &str) -> Result<Place> {
        let mut place = Place::default();
        let mut path = text;
        while let Some((rest, option)) = path.rsplit_once(',') {
            let Some((name, value)) = option.split_once('=') else { break };
            match name {
                "format" => place.format = Some(value.into()),
                "header" => place.header = Some(flag(value)?),
                "delimiter" => place.delimiter = Some(byte(value)?),
                _ => break,
            }
            path = rest;
        }
        place.paths.push(path.into());
        Ok(place)
    }
}

/// Parses true or false.
pub fn flag(text: &str) -> Result<bool> {
    match &text.to_ascii_lowercase()[..] {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(Error::new(Code::Usage, format!("'{text}' is neither true nor false"))),
    }
}

/// Parses one character of a byte, or `\t`.
pub fn byte(text: &str) -> Result<u8> {
    match text {
        "\\t" | "tab" => Ok(b'\t'),
        "comma" => Ok(b','),
        _ if text.len() == 1 => Ok(text.as_bytes()[0]),
        _ => Err(Error::new(Code::Usage, format!("'{text}' is not one character")).hint("write \\t for a tab")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_follow_the_path() {
        let place = Place::parse("a,b/x.txt,format=csv,header=no,delimiter=\\t").unwrap();
        assert_eq!(place.paths, ["a,b/x.txt"]);
        assert_eq!((place.format.as_deref(), place.header, place.delimiter), (Some("csv"), Some(false), Some(b'\t')));
        assert_eq!(Place::parse("t/day=1,2/x.csv").unwrap().paths, ["t/day=1,2/x.csv"]);
        assert!(Place::parse("x,header=maybe").is_err());
    }
}
