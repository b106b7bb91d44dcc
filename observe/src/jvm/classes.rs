//! Classes that a JVM has loaded, by name.

use yunti_base::Result;

use super::attach::diagnose;
use yunti_probe::target::Process;

/// Without interfaces. Each once, whatever class loaders have it.
pub fn loaded_classes(process: &Process) -> Result<Vec<String>> {
    let mut classes: Vec<String> = diagnose(process, "VM.class_hierarchy")?.lines().filter_map(class).collect();
    classes.sort();
    classes.dedup();
    Ok(classes)
}

/// `|  |--java.io.BufferedOutputStream/null`: behind the slash the class loader.
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
