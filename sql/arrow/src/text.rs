//! Files of CSV and JSON lines as a table. Their columns and types are known; a file has those of the table.
//!
//! ```text
//!   CSV, or compressed     |------------------ one morsel ------------------|
//!   JSON lines             |-- 16 MiB --|-- 16 MiB --|..     a line belongs to the morsel in which it begins
//! ```

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_schema::{Field as ArrowField, Schema, SchemaRef};
use yunti_base::Result;
use yunti_engine::codec::CodecKind;
use yunti_engine::env::Env;
use yunti_engine::memory::Budget;
use yunti_sql_plan::{Bounds, Field, Morsel, MorselReader, Statistics, Table, TablePlace, TableSource};

use crate::bytes::Bytes;
use crate::csv::Records;
use crate::json::{Lines, Stretch};

pub use crate::csv::Dialect;

/// Bytes of a morsel of a file that may be cut: unit n begins at n times as many.
pub const MORSEL_BYTES: u64 = 16 << 20;

/// Format of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Csv(Dialect),
    /// A record a line.
    Json,
}

/// Mark before the codec in a name.
const CODEC: char = '/';

impl Format {
    /// Returns the name by which another process knows the format of files with a codec: `csv:44:true/gzip`.
    pub fn name(&self, codec: Option<CodecKind>) -> String {
        let format = match self {
            Format::Csv(dialect) => format!("csv:{}:{}", dialect.delimiter, dialect.header),
            Format::Json => "json".into(),
        };
        codec.map_or(format.clone(), |kind| format!("{format}{CODEC}{}", kind.name()))
    }

    /// Returns the format and the codec of a name.
    pub fn parse(name: &str) -> Option<(Format, Option<CodecKind>)> {
        let (format, codec) = match name.split_once(CODEC) {
            Some((format, codec)) => (format, Some(CodecKind::ALL.into_iter().find(|kind| kind.name() == codec)?)),
            None => (name, None),
        };
        let parts: Vec<&str> = format.split(':').collect();
        let format = match parts[..] {
            ["json"] => Format::Json,
            ["csv", delimiter, header] => {
                Format::Csv(Dialect { delimiter: delimiter.parse().ok()?, header: header.parse().ok()? })
            }
            _ => return None,
        };
        Some((format, codec))
    }
}

/// Returns a schema of fields.
pub fn schema_of(fields: &[Field]) -> SchemaRef {
    let fields = fields.iter().map(|of| ArrowField::new(&of.name, of.data_type.clone(), of.nullable));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// A file of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFile {
    pub path: PathBuf,
    /// Stored bytes.
    pub len: u64,
    pub codec: Option<CodecKind>,
}

/// Files of a format, with the columns of all of them.
struct Texts {
    files: Vec<TextFile>,
    format: Format,
    schema: SchemaRef,
    env: Env,
    budget: Arc<Budget>,
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "texts of {} files", self.files.len())
    }
}

/// Returns the table of files.
pub fn table(
    name: &str,
    files: Vec<TextFile>,
    format: Format,
    schema: &SchemaRef,
    (env, budget): (&Env, &Arc<Budget>),
) -> Table {
    let field = |of: &arrow_schema::FieldRef| Field {
        name: of.name().clone(),
        data_type: of.data_type().clone(),
        nullable: true,
    };
    let fields = schema.fields().iter().map(field).collect();
    let source = Texts { files, format, schema: schema.clone(), env: env.clone(), budget: budget.clone() };
    Table { name: name.into(), fields, statistics: Statistics::default(), source: Arc::new(source) }
}

impl Texts {
    fn is_cut(&self, file: &TextFile) -> bool {
        self.format == Format::Json && file.codec.is_none()
    }
}

impl TableSource for Texts {
    fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
        let mut morsels = Vec::new();
        for (number, file) in self.files.iter().enumerate() {
            let piece = if self.is_cut(file) { MORSEL_BYTES } else { file.len.max(1) };
            for unit in 0..file.len.div_ceil(piece) {
                let bytes = piece.min(file.len - unit * piece);
                morsels.push(Morsel { file: number as u32, unit, rows: 0, bytes });
            }
        }
        Ok(morsels)
    }

    fn open(&self, morsel: &Morsel, columns: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        let file = &self.files[morsel.file as usize];
        let begin = if self.is_cut(file) { morsel.unit * MORSEL_BYTES } else { 0 };
        let end = if self.is_cut(file) { begin + MORSEL_BYTES } else { u64::MAX };
        let (env, budget) = (&self.env, &self.budget);
        let bytes = Bytes::open(&*env.files, &file.path, file.codec, begin.saturating_sub(1), budget)?;
        Ok(match self.format {
            Format::Csv(dialect) => {
                let path = file.path.to_string_lossy().into();
                Box::new(Records::new(bytes, path, dialect, self.schema.clone(), columns, budget)?)
            }
            Format::Json => {
                let fields: Vec<_> = columns.iter().map(|&column| self.schema.fields()[column].clone()).collect();
                let stretch = Stretch { path: file.path.clone(), begin, end };
                Box::new(Lines::new(bytes, stretch, Arc::new(Schema::new(fields)), env, budget)?)
            }
        })
    }

    fn place(&self) -> Option<TablePlace> {
        let codec = self.files.first()?.codec;
        // A place has one format.
        self.files.iter().all(|file| file.codec == codec).then(|| TablePlace::Files {
            format: self.format.name(codec),
            paths: self.files.iter().map(|file| file.path.clone()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;
    use yunti_engine::columns::vector::Value;
    use yunti_engine::env::random::Random;

    use super::*;

    /// Returns the values of the only column of a file, a list for each stretch.
    fn read(data: &[u8], name: &str, cuts: &[u64]) -> Vec<Vec<Value>> {
        let directory = std::env::temp_dir().join(format!("yunti-sql-text-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join(name);
        std::fs::write(&path, data).unwrap();
        let (env, budget) = (Env::real(), Budget::new(64 << 20));
        let schema = Arc::new(Schema::new(vec![ArrowField::new("a", DataType::Int64, true)]));
        let ends = cuts.iter().skip(1).copied().chain([u64::MAX]);
        let stretches = cuts.iter().zip(ends).map(|(&begin, end)| {
            let bytes = Bytes::open(&*env.files, &path, None, begin.saturating_sub(1), &budget).unwrap();
            let stretch = Stretch { path: path.clone(), begin, end };
            let mut lines = Lines::new(bytes, stretch, schema.clone(), &env, &budget).unwrap();
            let mut values = Vec::new();
            while let Some(batch) = lines.next().unwrap() {
                values.extend((0..batch.rows).map(|row| batch.columns[0].value(row)));
            }
            values
        });
        let all = stretches.collect();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(budget.used_bytes(), 0);
        all
    }

    #[test]
    fn a_format_survives_its_name() {
        for codec in CodecKind::ALL.into_iter().map(Some).chain([None]) {
            for delimiter in [b',', b':', b'/', 0, 255] {
                let format = Format::Csv(Dialect { delimiter, header: delimiter == b'/' });
                assert_eq!(Format::parse(&format.name(codec)), Some((format, codec)));
            }
            assert_eq!(Format::parse(&Format::Json.name(codec)), Some((Format::Json, codec)));
        }
        for name in ["parquet", "csv", "csv:x:true", "json/none", ""] {
            assert_eq!(Format::parse(name), None, "{name}");
        }
    }

    #[test]
    fn a_line_belongs_to_the_stretch_in_which_it_begins() {
        let data = b"{\"a\": 1}\n{\"a\": 22}\n\n{\"a\": 3}";
        let starts = [0, 9, 20];
        for cut in 1..data.len() as u64 {
            let all = read(data, "cut", &[0, cut]);
            let first = starts.iter().filter(|&&start| start < cut).count();
            let values = [1, 22, 3].map(Value::Int);
            assert_eq!(all, [values[..first].to_vec(), values[first..].to_vec()], "{cut}");
        }
    }

    #[test]
    fn any_cuts_give_all_lines_once() {
        let mut random = Random::new(7);
        for round in 0..40 {
            let mut data = Vec::new();
            for n in 0..random.below(300) {
                let long = " ".repeat(random.below(9) as usize);
                data.extend(format!("{{\"a\":{long}{n}}}\n").bytes());
            }
            let mut cuts: Vec<u64> = (0..4).map(|_| random.below(data.len() as u64 + 1)).collect();
            cuts.push(0);
            cuts.sort_unstable();
            cuts.dedup();
            let all: Vec<Value> = read(&data, "cuts", &cuts).concat();
            assert!(all.iter().enumerate().all(|(n, value)| *value == Value::Int(n as i64)), "round {round}");
            assert_eq!(all.len(), data.iter().filter(|&&byte| byte == b'\n').count(), "round {round}");
        }
    }
}
