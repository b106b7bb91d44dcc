//! Names of Java classes, as people write them and as the JVM has them.

/// Classes that are meant by a name: in full, or without the package (but those of the JDK), a class within another behind a point or a `$`.
pub fn classes_called<'a>(loaded: &'a [String], name: &str) -> Vec<&'a String> {
    let plain = name.replace('$', ".");
    let end = format!(".{plain}");
    let fits = |class: &&String| {
        let class = class.replace('$', ".");
        let is_of_jdk = ["java.", "javax.", "jdk.", "sun.", "com.sun."].iter().any(|begin| class.starts_with(begin));
        class == plain || !is_of_jdk && class.ends_with(&end)
    };
    let found: Vec<&String> = loaded.iter().filter(fits).collect();
    // A name in full wins over the end of another.
    match found.iter().find(|class| ***class == name) {
        Some(exact) => vec![exact],
        None => found,
    }
}

/// `com.shop.Shop.Cart` -> `com.shop.Shop$Cart`, by the convention that packages begin with small letters.
pub fn as_the_jvm_says(class: &str) -> String {
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
        for (said, name) in [
            ("com.shop.Shop.Cart", "com.shop.Shop$Cart"),
            ("A.B", "A$B"),
            ("com.A", "com.A"),
            ("a.b", "a.b"),
            ("A$B", "A$B"),
            ("a", "a"),
        ] {
            assert_eq!(as_the_jvm_says(said), name);
        }
    }

    #[test]
    fn names_of_classes() {
        let loaded = ["com.shop.Cart", "com.shop.Shop$Cart", "com.shop.Discart", "Cart"].map(str::to_owned);
        assert_eq!(classes_called(&loaded, "Cart"), ["Cart"]);
        assert_eq!(classes_called(&loaded, "com.shop.Cart"), ["com.shop.Cart"]);
        assert_eq!(classes_called(&loaded, "Shop.Cart"), ["com.shop.Shop$Cart"]);
        assert_eq!(classes_called(&loaded, "shop.Cart"), ["com.shop.Cart"]);
        assert!(classes_called(&loaded, "art").is_empty());
        let loaded = ["com.shop.Thread", "java.lang.Thread"].map(str::to_owned);
        assert_eq!(classes_called(&loaded, "Thread"), ["com.shop.Thread"]);
        assert_eq!(classes_called(&loaded, "java.lang.Thread"), ["java.lang.Thread"]);
    }
}
