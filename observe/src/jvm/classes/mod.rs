//! Names of the classes that a JVM has loaded.

pub mod servers;

use yunti_base::Result;

use crate::jvm::attach::diagnose;
use yunti_probe::target::Process;

/// Returns the sorted names, without interfaces. A class of several class loaders appears once.
pub fn loaded_classes(process: &Process) -> Result<Vec<String>> {
    let mut classes: Vec<String> = diagnose(process, "VM.class_hierarchy")?.lines().filter_map(class).collect();
    classes.sort();
    classes.dedup();
    Ok(classes)
}

/// Parses `|  |--java.io.BufferedOutputStream/null`. The class loader follows the slash.
fn class(line: &str) -> Option<String> {
    let name = line.trim_start_matches(['|', '-', ' ']);
    Some(name.split_once('/')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn lines_of_a_hierarchy() {
        assert_eq!(class("java.lang.Object/null").as_deref(), Some("java.lang.Object"));
        assert_eq!(class("|  |--com.shop.Cart$Row/0x7f").as_deref(), Some("com.shop.Cart$Row"));
        assert!(class("").is_none());
    }
}
