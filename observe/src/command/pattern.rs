//! Method patterns of the command line: `com.shop.Cart.total`, `Cart.total`, `Cart.<init>`, `com.shop.Cart.*`,
//! `com.shop.**`. The agent matches them to methods; this file checks them without a JVM.

/// Checks a pattern. An error names the fault and the right form.
pub fn pattern(text: &str) -> Result<String, String> {
    let wrong = |why: &str| Err(format!("'{text}' {why}"));
    if let Some(c) = text.chars().find(|c| !(c.is_alphanumeric() || ".$_*<>-".contains(*c))) {
        return wrong(&match c {
            '(' => "has a bracket: overloads are traced together, so write Class.method only".to_owned(),
            '#' | ':' | '/' => format!("has '{c}': write package.Class.method"),
            c => format!("has '{c}', which no method name contains"),
        });
    }
    let Some((class, method)) = text.rsplit_once('.') else {
        return wrong("names no class: write Class.method, or package.** for a whole package");
    };
    if class.is_empty() || method.is_empty() || text.split('.').any(str::is_empty) {
        return wrong("has a dot too many: write package.Class.method");
    }
    if class.contains(['<', '>']) || method.contains(['<', '>']) && method != "<init>" && method != "<clinit>" {
        return wrong("has '<' or '>': only the constructor, Class.<init>, has them");
    }
    if class.chars().all(|c| c == '*' || c == '.') {
        return wrong("matches every class: name a package or a class");
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_what_is_not_a_method() {
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
            ("Cart..total", "dot"),
            (".total", "dot"),
            ("Cart.", "dot"),
            ("Cart.<x>", "constructor"),
            ("<init>.x", "constructor"),
            ("**.total", "every class"),
            ("**", "no class"),
            ("*.*", "every class"),
            ("a b.c", "no method name"),
            ("", "no class"),
        ] {
            let message = pattern(wrong).unwrap_err();
            assert!(message.contains(why), "{wrong}: {message}");
        }
    }
}
