//! A stage: the work of one job of a cluster. Its map tasks run fragments, each over the rows of one input; its reduce
//! tasks run one plan over the rows that the fragments send.
//!
//! ```text
//!   input 0 --> fragment 0 --by hash--.
//!   input 1 --> fragment 1 --by hash--+--> reduction --> rows of the stage
//!                                     |
//!   files in each task's directory ---'    tables that every task reads whole
//! ```
//!
//! The bytes are a file of the job:
//!
//! ```text
//!   | magic "YSS1" | tag | fragments | reduction, if there is one | CRC32C of all before: u32, little-endian |
//! ```

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_engine::bytes::checksum::crc32c;

use super::bytes::{Reader, Writer};
use super::{Open, damaged, expressions, nodes, types};
use crate::expression::Expression;
use crate::node::Node;
use crate::table::Field;

const MAGIC: [u8; 4] = *b"YSS1";

/// Work of the map tasks of one input. The leaf `TablePlace::Input(0)` of its plan gives the rows of the input.
#[derive(Clone, Debug)]
pub struct Fragment {
    pub input: Input,
    pub plan: Node,
    /// Where its rows go; None: to the rows of the stage.
    pub route: Option<Route>,
}

/// Rows that a fragment reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    pub fields: Vec<Field>,
    /// Name of the format of its files; empty for rows of an earlier stage.
    pub format: String,
    /// Bounds that let the reader pass over rows, a line each.
    pub condition: String,
    /// All columns of the files in their order, of a format whose files do not name them; else none.
    pub file_fields: Vec<Field>,
}

/// Way of rows to the reduce tasks.
#[derive(Clone, Debug)]
pub struct Route {
    /// Number of the reduction's input.
    pub input: u32,
    /// Equal keys go to one task; without keys, all rows go to the first.
    pub keys: Vec<Expression>,
}

/// Work of the reduce tasks. The leaves `TablePlace::Input(n)` of its plan give the rows that fragments send.
#[derive(Clone, Debug)]
pub struct Reduction {
    pub plan: Node,
    /// Types of each input's rows.
    pub inputs: Vec<Vec<DataType>>,
}

/// Work of one job.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// Key of its rows: the number of the fragment that reads them in a later stage.
    pub tag: u32,
    pub fragments: Vec<Fragment>,
    pub reduction: Option<Reduction>,
}

impl Stage {
    /// Returns the stage as bytes.
    ///
    /// Errors: `Usage` for a function or a table that no other process knows, with its name.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut to = Writer::default();
        to.fixed(MAGIC);
        to.number(self.tag.into());
        to.list(&self.fragments, |to, fragment| {
            nodes::put_fields(&fragment.input.fields, to)?;
            to.text(&fragment.input.format);
            to.text(&fragment.input.condition);
            nodes::put_fields(&fragment.input.file_fields, to)?;
            nodes::put(&fragment.plan, to)?;
            to.option(fragment.route.as_ref(), |to, route| {
                to.number(route.input.into());
                to.list(&route.keys, |to, key| expressions::put(key, to))
            })
        })?;
        to.option(self.reduction.as_ref(), |to, reduction| {
            nodes::put(&reduction.plan, to)?;
            to.list(&reduction.inputs, |to, of| to.list(of, |to, of| types::put(of, to)))
        })?;
        let checksum = crc32c(&to.0);
        to.fixed(checksum.to_le_bytes());
        Ok(to.0)
    }

    /// Returns the stage of some bytes, whose tables `open` opens. Errors: `Corrupt`; those of `open`.
    pub fn of_bytes(bytes: &[u8], open: &mut Open<'_>) -> Result<Stage> {
        let (rest, checksum) = bytes.split_last_chunk::<4>().ok_or_else(|| damaged("it ends too early"))?;
        if crc32c(rest) != u32::from_le_bytes(*checksum) {
            return Err(damaged("its checksum is wrong"));
        }
        Stage::of_checked(rest, open)
    }

    /// Returns the stage of bytes without their checksum.
    pub(super) fn of_checked(bytes: &[u8], open: &mut Open<'_>) -> Result<Stage> {
        let mut from = Reader::new(bytes);
        if from.fixed()? != MAGIC {
            return Err(damaged("it is of another version"));
        }
        let tag = from.small()?;
        let fragments = from.list(|from| {
            let input = Input {
                fields: nodes::take_fields(from)?,
                format: from.text()?,
                condition: from.text()?,
                file_fields: nodes::take_fields(from)?,
            };
            let plan = nodes::take(from, open)?;
            let columns = plan.types().len();
            let route = from.option(|from| {
                let input = from.small()?;
                Ok(Route { input, keys: from.list(|from| expressions::take(from, columns, open))? })
            })?;
            Ok(Fragment { input, plan, route })
        })?;
        let reduction = from.option(|from| {
            let plan = nodes::take(from, open)?;
            Ok(Reduction { plan, inputs: from.list(|from| from.list(types::take))? })
        })?;
        let inputs = reduction.as_ref().map_or(0, |of| of.inputs.len());
        let fits = |route: &Route| (route.input as usize) < inputs;
        if !from.is_empty() || !fragments.iter().filter_map(|of| of.route.as_ref()).all(fits) {
            return Err(damaged("its parts do not fit together"));
        }
        Ok(Stage { tag, fragments, reduction })
    }
}
