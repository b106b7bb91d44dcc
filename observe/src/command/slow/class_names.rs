//! Names of Java classes: from the command line to the JVM's binary names.

use yunti_heap::model::name::is_of_the_jdk;

/// Returns the loaded classes that a name matches: in full, or without the package except for the JDK's classes. A
/// nested class follows a `.` or a `$`.
pub fn matching_classes<'a>(loaded: &'a [String], name: &str) -> Vec<&'a String> {
    let plain = name.replace('$', ".");
    let end = format!(".{plain}");
    let fits = |class: &&String| {
        let class = class.replace('$', ".");
        class == plain || !is_of_the_jdk(&class) && class.ends_with(&end)
    };
    let found: Vec<&String> = loaded.iter().filter(fits).collect();
    // A full name wins over the end of another.
    match found.iter().find(|class| ***class == name) {
        Some(exact) => vec![exact],
        None => found,
    }
}

/// Returns the binary name: `com.shop.Shop.Cart` -> `com.shop.Shop$Cart`.
/// Packages begin with a small letter by convention.
pub fn binary_name(class: &str) -> String {
    let words: Vec<&str> = class.split('.').collect();
    let first = words.iter().position(|word| word.starts_with(char::is_uppercase)).unwrap_or(words.len() - 1);
    let mut name = words[..first].join(".");
    if first > 0 {
        name.push('.');
    }
    name + &words[first..].join("$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_nested_classes() {
        for (written, name) in [
            ("com.shop.Shop.Cart", "com.shop.Shop$Cart"),
            ("A.B", "A$B"),
            ("com.A", "com.A"),
            ("a.b", "a.b"),
            ("A$B", "A$B"),
            ("a", "a"),
        ] {
            assert_eq!(binary_name(written), name);
        }
    }

    #[test]
    fn names_of_classes() {
        let loaded = ["com.shop.Cart", "com.shop.Shop$Cart", "com.shop.Discart", "Cart"].map(str::to_owned);
        assert_eq!(matching_classes(&loaded, "Cart"), ["Cart"]);
        assert_eq!(matching_classes(&loaded, "com.shop.Cart"), ["com.shop.Cart"]);
        assert_eq!(matching_classes(&loaded, "Shop.Cart"), ["com.shop.Shop$Cart"]);
        assert_eq!(matching_classes(&loaded, "shop.Cart"), ["com.shop.Cart"]);
        assert!(matching_classes(&loaded, "art").is_empty());
        let loaded = ["com.shop.Thread", "java.lang.Thread"].map(str::to_owned);
        assert_eq!(matching_classes(&loaded, "Thread"), ["com.shop.Thread"]);
        assert_eq!(matching_classes(&loaded, "java.lang.Thread"), ["java.lang.Thread"]);
    }
}
