//! Names that last: the JVM numbers generated classes anew at each start, so slices of two starts would share none of
//! them.
//!
//! ```text
//!   Cart$$Lambda$14.0x00007fc6b8000c08.run      -> Cart$$Lambda.run
//!   Cart$$Lambda/0x00007fc6b8000c08.run         -> Cart$$Lambda.run
//!   java.lang.invoke.LambdaForm$MH.0x0000.invoke -> java.lang.invoke.LambdaForm$MH.invoke
//!   jdk.internal.reflect.GeneratedMethodAccessor17.invoke -> jdk.internal.reflect.GeneratedMethodAccessor.invoke
//!   com.sun.proxy.$Proxy12.total                -> com.sun.proxy.$Proxy.total
//!   Cart$$EnhancerBySpringCGLIB$$1f2e3d4c.total -> Cart$$EnhancerBySpringCGLIB.total
//! ```

/// Words of generated classes that a number follows.
const NUMBERED: [&str; 5] = [
    "$$Lambda$",
    "GeneratedMethodAccessor",
    "GeneratedConstructorAccessor",
    "GeneratedSerializationConstructorAccessor",
    "$Proxy",
];
/// Words of generated classes that `$$` and hexadecimal digits follow.
const HASHED: &str = "CGLIB$$";

/// Returns the lasting name of a function, or `None` if its name lasts already.
pub fn lasting(name: &str) -> Option<String> {
    let mut text = without_address(name);
    for word in NUMBERED {
        let source = text.as_deref().unwrap_or(name);
        if let Some(at) = source.find(word) {
            let digits = at + word.len();
            let rest = source[digits..].trim_start_matches(|c: char| c.is_ascii_digit());
            if rest.len() < source.len() - digits {
                text = Some(format!("{}{rest}", source[..digits].trim_end_matches('$')));
            }
        }
    }
    let source = text.as_deref().unwrap_or(name);
    if let Some(at) = source.find(HASHED) {
        let digits = at + HASHED.len();
        let rest = source[digits..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
        text = Some(format!("{}{rest}", source[..digits].trim_end_matches('$')));
    }
    text
}

/// Removes `.0x00007fc6b8000c08` or `/0x00007fc6b8000c08`, the address of a hidden class.
fn without_address(name: &str) -> Option<String> {
    let at = name.find("0x").filter(|at| *at > 0 && matches!(name.as_bytes()[at - 1], b'.' | b'/' | b'+'))?;
    let rest = name[at + 2..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
    Some(format!("{}{rest}", &name[..at - 1]))
}

#[cfg(test)]
mod tests {
    use super::lasting;

    #[test]
    fn generated_classes_keep_their_names() {
        for (name, expected) in [
            ("Cart$$Lambda$14.0x00007fc6b8000c08.run", "Cart$$Lambda.run"),
            ("Cart$$Lambda/0x00007fc6b8000c08.run", "Cart$$Lambda.run"),
            ("a.Cart$$Lambda$14/0x00007fc6b8000c08.run", "a.Cart$$Lambda.run"),
            ("java.lang.invoke.LambdaForm$MH.0x00007f.invoke", "java.lang.invoke.LambdaForm$MH.invoke"),
            (
                "jdk.internal.reflect.GeneratedMethodAccessor17.invoke",
                "jdk.internal.reflect.GeneratedMethodAccessor.invoke",
            ),
            ("com.sun.proxy.$Proxy12.total", "com.sun.proxy.$Proxy.total"),
            ("Cart$$EnhancerBySpringCGLIB$$1f2e3d4c.total", "Cart$$EnhancerBySpringCGLIB.total"),
            ("Cart$$FastClassBySpringCGLIB$$1f2e3d4c.invoke", "Cart$$FastClassBySpringCGLIB.invoke"),
        ] {
            assert_eq!(lasting(name).as_deref(), Some(expected), "{name}");
        }
        for lasts in
            ["com.shop.Cart.total", "main", "0x12", "Cart$1.run", "spin.constprop.0", "Cart.lambda$total$3", "größe"]
        {
            assert_eq!(lasting(lasts), None, "{lasts}");
        }
    }
}
