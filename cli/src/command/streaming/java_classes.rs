//! Classes of Hadoop that a streaming job may name, and what they are here.

use yunti_base::{Code, Error, Result};
use yunti_engine::job::spec::{InputFormat, Partitioning};

/// Packages whose classes may be named without them.
const PACKAGES: [&str; 6] = [
    "org.apache.hadoop.mapred.lib.aggregate.",
    "org.apache.hadoop.mapred.lib.",
    "org.apache.hadoop.mapred.",
    "org.apache.hadoop.mapreduce.lib.partition.",
    "org.apache.hadoop.mapreduce.lib.input.",
    "org.apache.hadoop.mapreduce.lib.output.",
];

/// Returns the name of a class without Hadoop's packages.
fn simple_name(class: &str) -> &str {
    PACKAGES.iter().find_map(|package| class.strip_prefix(package)).unwrap_or(class)
}

fn refused(option: &str, class: &str, hint: &str) -> Error {
    Error::new(Code::Usage, format!("{option}: the Java class {class} cannot run here")).hint(hint)
}

/// Mapper, combiner or reducer of a streaming job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Records pass unchanged.
    Identity,
    /// A sum, a minimum and so on, as the key says.
    Aggregate,
    Program(String),
}

/// Returns what `name` is as a mapper, combiner or reducer. `option`: the option, for messages.
///
/// Errors: `Usage` for a Java class that is none of these.
pub fn operator(option: &str, name: &str) -> Result<Operator> {
    match simple_name(name) {
        "IdentityMapper" | "IdentityReducer" if name.contains('.') => Ok(Operator::Identity),
        "ValueAggregatorReducer" | "ValueAggregatorCombiner" if name.contains('.') => Ok(Operator::Aggregate),
        _ if option != "-mapper" && name.eq_ignore_ascii_case("aggregate") => Ok(Operator::Aggregate),
        _ if is_java_class(name) && !std::path::Path::new(name).exists() => Err(refused(
            option,
            name,
            "name a program, org.apache.hadoop.mapred.lib.IdentityMapper, IdentityReducer or aggregate",
        )),
        _ => Ok(Operator::Program(name.into())),
    }
}

/// Returns true for a name like `org.example.Parser`.
fn is_java_class(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    let word =
        |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$');
    let class = parts.last().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_uppercase()));
    parts.len() > 2 && class && parts.iter().all(word)
}

/// Returns the input format of a class. Errors: `Usage` for another class.
pub fn input_format(class: &str) -> Result<InputFormat> {
    match simple_name(class) {
        "TextInputFormat" => Ok(InputFormat::Text { delimiter: None }),
        "KeyValueTextInputFormat" => Ok(InputFormat::KeyValue { separator: b'\t' }),
        // The lines of a split are a setting of the job (job.rs).
        "NLineInputFormat" => Ok(InputFormat::Text { delimiter: None }),
        name if name.starts_with("SequenceFile") => {
            Err(refused("-inputformat", class, "convert the files to text: hadoop fs -text FILE"))
        }
        _ => Err(refused("-inputformat", class, "use TextInputFormat, KeyValueTextInputFormat or NLineInputFormat")),
    }
}

/// Returns true for NLineInputFormat, whose splits have a number of lines.
pub fn has_lines_a_split(class: &str) -> bool {
    simple_name(class) == "NLineInputFormat"
}

/// Checks the class of the output format. Errors: `Usage` for another class than TextOutputFormat.
pub fn check_output_format(class: &str) -> Result<()> {
    match simple_name(class) {
        "TextOutputFormat" => Ok(()),
        _ => Err(refused("-outputformat", class, "use TextOutputFormat, or yunti run --output-format")),
    }
}

/// Returns the partitioning of a class. Errors: `Usage` for another class.
pub fn partitioning(class: &str) -> Result<Partitioning> {
    match simple_name(class) {
        "HashPartitioner" => Ok(Partitioning::Hash),
        "KeyFieldBasedPartitioner" => Ok(Partitioning::Class("Yunti.KeyFieldPartitioner".into())),
        "TotalOrderPartitioner" => Ok(Partitioning::TotalOrder),
        _ => Err(refused(
            "-partitioner",
            class,
            "use HashPartitioner, KeyFieldBasedPartitioner or TotalOrderPartitioner",
        )),
    }
}

/// Returns the key order of a comparator's class. Errors: `Usage` for another class.
pub fn key_order(class: &str) -> Result<String> {
    match simple_name(class) {
        "KeyFieldBasedComparator" => Ok("Yunti.KeyFieldOrder".into()),
        _ => Err(refused("the comparator", class, "use KeyFieldBasedComparator")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_classes_are_known_or_refused() {
        let reducer = |name: &str| operator("-reducer", name);
        for name in ["uniq -c", "./r.py", "IdentityReducer", "a.B", "org.example.parse", "cat"] {
            assert_eq!(reducer(name).unwrap(), Operator::Program(name.into()));
        }
        assert_eq!(reducer("org.apache.hadoop.mapred.lib.IdentityReducer").unwrap(), Operator::Identity);
        assert_eq!(reducer("Aggregate").unwrap(), Operator::Aggregate);
        assert_eq!(operator("-mapper", "aggregate").unwrap(), Operator::Program("aggregate".into()));
        let error = reducer("org.apache.hadoop.mapred.lib.LongSumReducer").unwrap_err().to_string();
        assert!(error.starts_with("-reducer: the Java class org.apache.hadoop.mapred.lib.LongSumReducer"), "{error}");
        assert!(input_format("org.apache.hadoop.mapred.KeyValueTextInputFormat").is_ok());
        assert!(has_lines_a_split("org.apache.hadoop.mapred.lib.NLineInputFormat"));
        assert!(!has_lines_a_split("TextInputFormat"));
        assert!(input_format("SequenceFileInputFormat").unwrap_err().to_string().contains("hadoop fs -text"));
        assert!(check_output_format("org.apache.hadoop.mapred.SequenceFileOutputFormat").is_err());
        assert!(partitioning("org.apache.hadoop.mapred.lib.HashPartitioner").is_ok());
        assert!(partitioning("org.example.Mine").is_err() && key_order("org.example.Mine").is_err());
    }
}
