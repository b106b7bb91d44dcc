//! Frame: one call of a stack.

use std::rc::Rc;

/// Kind of code in a frame; its name is used on pages and in `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Heading without code: a thread or a state.
    Group,
    /// Interpreted Java.
    Interpreted,
    /// Java, compiled by the JVM's first compiler with profiling.
    CompiledC1,
    /// Java, compiled by the JVM's last compiler.
    Compiled,
    /// Inlined into the frame below.
    Inlined,
    /// C++ of the JVM.
    Jvm,
    /// Native code of files, and code without a file.
    Native,
    /// Kernel code.
    Kernel,
    /// JavaScript, interpreted or compiled.
    JavaScript,
    /// Python.
    Python,
}

/// All kinds, in the order of their numbers.
pub const KINDS: [Kind; 10] = [
    Kind::Group,
    Kind::Interpreted,
    Kind::CompiledC1,
    Kind::Compiled,
    Kind::Inlined,
    Kind::Jvm,
    Kind::Native,
    Kind::Kernel,
    Kind::JavaScript,
    Kind::Python,
];

impl Kind {
    /// Returns true for Java code. Inlined frames may be Java or native code.
    pub fn is_java(self) -> bool {
        matches!(self, Kind::Interpreted | Kind::CompiledC1 | Kind::Compiled)
    }

    /// Returns the name on pages and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Group => "group",
            Kind::Interpreted => "interpreted",
            Kind::CompiledC1 => "compiled-c1",
            Kind::Compiled => "compiled",
            Kind::Inlined => "inlined",
            Kind::Jvm => "jvm",
            Kind::JavaScript => "javascript",
            Kind::Native => "native",
            Kind::Kernel => "kernel",
            Kind::Python => "python",
        }
    }
}

/// Frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Name of the function.
    pub name: Rc<str>,
    /// Kind of its code.
    pub kind: Kind,
}
