//! Names of Avro: letters, digits and `_`, no digit first. Other characters of a column's name become `_`.

use std::collections::HashSet;

use yunti_api::{Result, fail};

/// Returns names for columns, all different. Fails if two columns would have the same.
pub fn of_columns<'a>(columns: impl Iterator<Item = &'a str>) -> Result<Vec<String>> {
    let (mut names, mut seen) = (Vec::new(), HashSet::new());
    for column in columns {
        let name = of_column(column);
        if !seen.insert(name.clone()) {
            return fail(format!("two columns have the Avro name '{name}': rename one by --output-value-columns"));
        }
        names.push(name);
    }
    Ok(names)
}

fn of_column(column: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = column.chars().map(allowed).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_allowed_and_different() {
        let names = of_columns(["a", "b c", "1st", "", "größe"].into_iter()).unwrap();
        assert_eq!(names, ["a", "b_c", "_1st", "_", "gr__e"]);
        assert!(of_columns(["a b", "a.b"].into_iter()).is_err());
    }
}
