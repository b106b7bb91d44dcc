//! Frame: one call of a stack.

use std::sync::Arc;

/// Kind of code in a frame. Names are those of `yunti observe flame`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrameKind {
    /// Heading without code: a thread or a state.
    Group,
    /// Interpreted Java.
    Interpreted,
    /// Java, compiled by the JVM's first compiler.
    CompiledC1,
    /// Java, compiled by the JVM's last compiler.
    Compiled,
    /// Inlined into the frame below.
    Inlined,
    /// C++ of the JVM.
    Jvm,
    /// Native code, and code of profiles that name no kind.
    #[default]
    Native,
    /// Kernel code.
    Kernel,
    /// JavaScript.
    JavaScript,
    /// Python.
    Python,
}

impl FrameKind {
    /// All kinds.
    pub const ALL: [FrameKind; 10] = [
        FrameKind::Group,
        FrameKind::Interpreted,
        FrameKind::CompiledC1,
        FrameKind::Compiled,
        FrameKind::Inlined,
        FrameKind::Jvm,
        FrameKind::Native,
        FrameKind::Kernel,
        FrameKind::JavaScript,
        FrameKind::Python,
    ];

    /// Returns the name in files and on pages.
    pub fn name(self) -> &'static str {
        match self {
            FrameKind::Group => "group",
            FrameKind::Interpreted => "interpreted",
            FrameKind::CompiledC1 => "compiled-c1",
            FrameKind::Compiled => "compiled",
            FrameKind::Inlined => "inlined",
            FrameKind::Jvm => "jvm",
            FrameKind::Native => "native",
            FrameKind::Kernel => "kernel",
            FrameKind::JavaScript => "javascript",
            FrameKind::Python => "python",
        }
    }

    /// Returns the kind of a name, or `None` for other text.
    pub fn from_name(name: &str) -> Option<FrameKind> {
        FrameKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Call of a stack. Two frames are one function if their names are equal: code is interpreted at first and compiled
/// later, and a file may move.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// Name of the function, as pages show it.
    pub name: Arc<str>,
    /// Source file or module; empty if it is unknown.
    pub file: Arc<str>,
    /// Kind of its code.
    pub kind: FrameKind,
}

impl Frame {
    /// Returns a frame without a file.
    pub fn new(name: &str, kind: FrameKind) -> Frame {
        Frame { name: name.into(), file: "".into(), kind }
    }
}
