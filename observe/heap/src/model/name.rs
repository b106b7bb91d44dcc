//! Names of classes as people write them: `java.lang.String[]`, `int[][]`.

/// Types of primitive arrays by their type in a dump, from 4 on: name of the array, letter, bytes of a value.
const PRIMITIVES: [(&str, u8); 8] = [
    ("boolean[]", b'Z'),
    ("char[]", b'C'),
    ("float[]", b'F'),
    ("double[]", b'D'),
    ("byte[]", b'B'),
    ("short[]", b'S'),
    ("int[]", b'I'),
    ("long[]", b'J'),
];
const PRIMITIVE_FIRST: u8 = 4;
/// Number of primitive types.
pub const PRIMITIVE_TYPES: usize = PRIMITIVES.len();

/// Returns the name of arrays of a primitive type, which is 4 to 11.
pub fn primitive_array(kind: u8) -> &'static str {
    PRIMITIVES[(kind - PRIMITIVE_FIRST) as usize].0
}

/// Returns the index of a primitive type among all.
pub fn primitive_index(kind: u8) -> usize {
    (kind - PRIMITIVE_FIRST) as usize
}

/// Returns the primitive type of an index.
pub fn primitive_kind(index: usize) -> u8 {
    index as u8 + PRIMITIVE_FIRST
}

/// Returns true for the readable name of a class, or of a method, of the JDK.
pub fn is_of_the_jdk(name: &str) -> bool {
    ["java.", "javax.", "jdk.", "sun.", "com.sun."].iter().any(|package| name.starts_with(package))
}

/// Returns the readable name for the name in a dump.
pub fn readable(name: &str) -> String {
    let name = name.replace('/', ".");
    let element = name.trim_start_matches('[');
    let depth = name.len() - element.len();
    if depth == 0 {
        return name;
    }
    let brackets = |n: usize| "[]".repeat(n);
    if let Some(class) = element.strip_prefix('L').and_then(|class| class.strip_suffix(';')) {
        return format!("{class}{}", brackets(depth));
    }
    match element.as_bytes() {
        [letter] => {
            let array = PRIMITIVES.iter().find(|(_, of)| of == letter).map_or("unknown[]", |(array, _)| array);
            format!("{array}{}", brackets(depth - 1))
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_readable() {
        for (name, want) in [
            ("java/lang/String", "java.lang.String"),
            ("[Ljava/util/Map$Entry;", "java.util.Map$Entry[]"),
            ("[[I", "int[][]"),
            ("[Z", "boolean[]"),
            ("long[]", "long[]"),
            ("[Q", "unknown[]"),
            ("[", "["),
        ] {
            assert_eq!(readable(name), want);
        }
    }
}
