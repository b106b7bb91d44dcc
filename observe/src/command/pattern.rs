//! Methods as users write them: `com.shop.Cart.total`, `Cart.total`, `Cart.<init>`, `com.shop.Cart.*`, `com.shop.**`. What they fit is decided in the
//! JVM; here is what can be said without one.

/// What is wrong with it is told with what would be right.
pub fn pattern(text: &str) -> Result<String, String> {
    let wrong = |why: &str| Err(format!("'{text}' {why}"));
    if let Some(c) = text.chars().find(|c| !(c.is_alphanumeric() || ".$_*<>-".contains(*c))) {
        return wrong(&match c {
            '(' => "has a bracket: overloads are traced together, so write Class.method alone".to_owned(),
            '#' | ':' | '/' => format!("has '{c}': write package.Class.method"),
            c => format!("has '{c}', which no method's name has"),
        });
    }
    let Some((class, method)) = text.rsplit_once('.') else {
        return wrong("names no class: write Class.method, or package.** for all in a package");
    };
    if class.is_empty() || method.is_empty() || text.split('.').any(str::is_empty) {
        return wrong("has a point too many: write package.Class.method");
    }
    if class.contains(['<', '>']) || method.contains(['<', '>']) && method != "<init>" && method != "<clinit>" {
        return wrong("has '<' or '>': only the constructor, Class.<init>, does");
    }
    if class.chars().all(|c| c == '*' || c == '.') {
        return wrong("fits classes of any name: name a package or a class");
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_method_is_told() {
        for right in [
            "com.shop.Cart.total",
            "Cart.total",
            "Cart.<init>",
            "com.shop.Cart.*",
            "com.shop.**",
            "a.*Service.get*",
            "A$B.c",
            "Größe.wert",
            "x.Kt.a-b",
        ] {
            assert_eq!(pattern(right).as_deref(), Ok(right));
        }
        for (wrong, why) in [
            ("total", "no class"),
            ("Cart.total(int)", "bracket"),
            ("Cart#total", "package.Class.method"),
            ("Cart::total", "package.Class.method"),
            ("Cart..total", "point"),
            (".total", "point"),
            ("Cart.", "point"),
            ("Cart.<x>", "constructor"),
            ("<init>.x", "constructor"),
            ("**.total", "any name"),
            ("**", "no class"),
            ("*.*", "any name"),
            ("a b.c", "no method's name"),
            ("", "no class"),
        ] {
            let said = pattern(wrong).unwrap_err();
            assert!(said.contains(why), "{wrong}: {said}");
        }
    }
}
