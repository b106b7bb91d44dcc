//! Names of C++ and Rust functions in the spelling of their source.

/// Returns the name with arguments and compiler suffix: `ns::f(int).cold`. Other names stay unchanged.
pub fn readable(symbol: &str) -> String {
    let (mangled, added) = symbol.split_at(symbol.find('.').unwrap_or(symbol.len()));
    match spelled(mangled, cpp_demangle::DemangleOptions::new()) {
        Some(name) => name + added,
        // Symbols of Rust may contain a dot.
        None => spelled(symbol, cpp_demangle::DemangleOptions::new()).unwrap_or_else(|| symbol.to_owned()),
    }
}

/// Returns the name without arguments and hashes: `ns::Class::method`.
pub fn plain(symbol: &str) -> String {
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    spelled(symbol, options).unwrap_or_else(|| symbol.to_owned())
}

/// Demangled name; `None` for other symbols. A C function named `d` is not the C++ type `double`.
fn spelled(symbol: &str, options: cpp_demangle::DemangleOptions) -> Option<String> {
    if !symbol.starts_with("_Z") && !symbol.starts_with("_R") && !symbol.starts_with("_GLOBAL_") {
        return None;
    }
    if let Ok(rust) = rustc_demangle::try_demangle(symbol) {
        return Some(format!("{rust:#}"));
    }
    cpp_demangle::Symbol::new(symbol).ok()?.demangle_with_options(&options).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demangles_names() {
        let check = |symbol: &str, with, without| assert_eq!((&*readable(symbol), &*plain(symbol)), (with, without));
        check("_ZN2ns1fEi", "ns::f(int)", "ns::f");
        check("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", "core::fmt::write");
        check("_RNvC6_123foo3bar", "123foo::bar", "123foo::bar");
        check("d", "d", "d");
        check("malloc", "malloc", "malloc");
        check("_Z", "_Z", "_Z");
        assert_eq!(readable("_ZN2ns1fEi.cold"), "ns::f(int).cold");
        assert_eq!(readable("f.part.0"), "f.part.0");
    }
}
