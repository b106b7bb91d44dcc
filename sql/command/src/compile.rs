//! The compiler of queries: LLVM, if the program is built with the feature `generate`.

use yunti_base::{Code, Error, Result};
use yunti_sql_execute::code::Compilation;

use crate::flags::CompileName;

/// Returns the compiler that a flag wants; None: kernels alone. Errors: `Usage` for `on` where there is none.
pub fn compilation(when: CompileName) -> Result<Option<Compilation>> {
    if when == CompileName::Off {
        return Ok(None);
    }
    match compiler(when) {
        None if when == CompileName::On => Err(Error::new(Code::Usage, "this program is built without a compiler")
            .hint("leave out --compile on; a build by 'make sql' has one where llvm-19-dev is installed")),
        found => Ok(found),
    }
}

#[cfg(not(feature = "generate"))]
fn compiler(_: CompileName) -> Option<Compilation> {
    None
}

#[cfg(feature = "generate")]
fn compiler(when: CompileName) -> Option<Compilation> {
    use std::path::PathBuf;
    use std::sync::Arc;

    use yunti_sql_execute::code::{Counts, Mode};
    use yunti_sql_generate::Generator;

    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    let compiler = Arc::new(Generator::new(home.map(|home| home.join("yunti/sql"))));
    let mode = if when == CompileName::On { Mode::On } else { Mode::Auto };
    Some(Compilation { compiler, mode, counts: Arc::new(Counts::default()) })
}
