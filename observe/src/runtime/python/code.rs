//! Functions of Python programs by the addresses of their code objects. Each is read once: code objects live long, and
//! most of the time of a look would go into their names otherwise.

use std::collections::HashMap;
use std::rc::Rc;

use super::layout::Layout;
use super::memory::{Memory, half, number};
use yunti_probe::stack::{Frame, Kind};

/// Functions that are kept; a program that makes code all the time has more.
const KNOWN_MAX: usize = 50_000;
/// Characters of a name, and of the path of a file, above which it is none.
const NAME_MAX: u64 = 400;
const PATH_MAX: u64 = 4096;

/// Function of a Python program.
#[derive(Clone, Debug)]
pub struct Code {
    /// Frame for pages and sentences: `Pricer.total shop/orders.py:42`, with the line in which it begins.
    pub frame: Frame,
    /// File as the frame has it.
    pub file: Rc<str>,
    /// Name within the file: `Pricer.total`, before 3.11 by the class of `self`.
    pub function: Rc<str>,
}

impl Code {
    /// Returns true for functions of the interpreter's own library.
    pub fn is_of_library(&self) -> bool {
        self.file.starts_with("python3.") || self.file.starts_with('<')
    }

    /// Returns true if it is a function of the library.
    ///
    /// Before 3.11, the class is the object's own, which may be derived from the library's. Then the method alone
    /// counts, if its file has only one of this name.
    ///
    /// @param function its name with its class; `*` for each function of the file
    pub fn is(&self, file: &str, function: &str) -> bool {
        const OF_SEVERAL: [&str; 3] = ["run", "wait", "acquire"];
        let same_file = self.file.strip_suffix(file).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        same_file
            && (function == "*"
                || *self.function == *function
                || method(function) == method(&self.function) && !OF_SEVERAL.contains(&method(function)))
    }
}

/// Returns the last part of a name: `get` for `Queue.get`.
fn method(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, method)| method)
}

/// Functions that have been read.
#[derive(Default)]
pub struct Codes {
    known: HashMap<u64, Option<Rc<Code>>>,
}

impl Codes {
    /// Returns the function of a code object; `None` if there is none at the address.
    ///
    /// @param frame address of a frame that runs it
    pub fn get(&mut self, memory: &Memory, layout: &Layout, address: u64, frame: u64) -> Option<Rc<Code>> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        let code = read(memory, layout, address, frame).map(Rc::new);
        // What is none may be one at the next look.
        if code.is_some() {
            self.known.insert(address, code.clone());
        }
        code
    }
}

fn read(memory: &Memory, layout: &Layout, address: u64, frame: u64) -> Option<Code> {
    let mut bytes = [0; 160];
    memory.read(address, &mut bytes)?;
    let text = |at: u64, most| string(memory, layout, number(&bytes, at), most);
    let path = text(layout.file, PATH_MAX)?;
    let function = match layout.qualified_name {
        Some(at) => text(at, NAME_MAX)?.replace("<locals>.", ""),
        None => {
            let name = text(layout.name, NAME_MAX)?;
            match class_of_self(memory, layout, &bytes, frame) {
                Some(class) => format!("{class}.{name}"),
                None => name,
            }
        }
    };
    let line = half(&bytes, layout.first_line);
    if path.is_empty() || function.is_empty() || line > 10_000_000 {
        return None;
    }
    let file = short(&path);
    let name = format!("{function} {file}:{}", line.max(1));
    Some(Code { frame: Frame { name: name.into(), kind: Kind::Python }, file: file.into(), function: function.into() })
}

/// Class of a method's object before 3.11, where code objects have no qualified names.
fn class_of_self(memory: &Memory, layout: &Layout, code: &[u8], frame: u64) -> Option<String> {
    const ARGUMENTS: u64 = 16;
    const VARIABLES: u64 = 72;
    const OF_TUPLE: u64 = 24;
    const OF_OBJECT: u64 = 8;
    const OF_TYPE: u64 = 24;
    if half(code, ARGUMENTS) == 0 {
        return None;
    }
    let first = memory.word(frame + layout.arguments)?;
    let name = memory.word(number(code, VARIABLES) + OF_TUPLE)?;
    let kind = match string(memory, layout, name, NAME_MAX)?.as_str() {
        "self" => memory.word(first + OF_OBJECT)?,
        "cls" => first,
        _ => return None,
    };
    let class = memory.text(memory.word(kind + OF_TYPE)?)?;
    let class = class.rsplit('.').next()?;
    class.chars().all(|letter| letter.is_alphanumeric() || letter == '_').then(|| class.to_owned())
}

/// Returns the text of a `str`.
fn string(memory: &Memory, layout: &Layout, address: u64, most: u64) -> Option<String> {
    const LENGTH: u64 = 16;
    const STATE: u64 = 32;
    let mut head = [0; 40];
    memory.read(address, &mut head)?;
    let (length, state) = (number(&head, LENGTH), half(&head, STATE));
    if length == 0 || length > most {
        return None;
    }
    // Without the interpreter's lock, another word says whether it is interned, in front of the kind.
    let (kind, is_ascii) = if layout.is_free_threaded { (1, true) } else { (state >> 2 & 7, state >> 6 & 1 == 1) };
    let mut bytes = vec![0; (length * u64::from(kind)) as usize];
    memory.read(address + if is_ascii { layout.ascii_head } else { layout.text_head }, &mut bytes)?;
    let of = |letter: u32| char::from_u32(letter).filter(|letter| !letter.is_control());
    match kind {
        1 if is_ascii && !bytes.is_ascii() => None,
        1 => bytes.iter().map(|byte| of(u32::from(*byte))).collect(),
        2 => bytes.chunks_exact(2).map(|two| of(u32::from(u16::from_le_bytes([two[0], two[1]])))).collect(),
        4 => bytes.chunks_exact(4).map(|four| of(half(four, 0))).collect(),
        _ => None,
    }
}

/// Returns the part of a path that a reader needs: from `python3.11/` or `site-packages/` on for libraries, the last
/// folder and the file for the program's own code.
fn short(path: &str) -> String {
    for packages in ["/site-packages/", "/dist-packages/"] {
        if let Some(at) = path.rfind(packages) {
            return path[at + 1..].to_owned();
        }
    }
    if let Some(at) = path.rfind("/python3.") {
        let rest = &path[at + 1..];
        let version = rest.split('/').next().unwrap_or_default();
        if version["python3.".len()..].chars().all(|letter| letter.is_ascii_digit() || letter == 't') {
            return rest.to_owned();
        }
    }
    let mut parts = path.rsplitn(3, '/');
    match (parts.next(), parts.next()) {
        (Some(file), Some(folder)) if !folder.is_empty() => format!("{folder}/{file}"),
        (Some(file), _) => file.to_owned(),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortens_paths() {
        assert_eq!(short("/usr/lib/python3.11/threading.py"), "python3.11/threading.py");
        assert_eq!(short("/v/lib/python3.12/site-packages/requests/api.py"), "site-packages/requests/api.py");
        assert_eq!(short("/srv/python3.x/shop/orders.py"), "shop/orders.py");
        assert_eq!((short("orders.py"), short("/orders.py")), ("orders.py".to_owned(), "orders.py".to_owned()));
        assert_eq!(short("<frozen importlib._bootstrap>"), "<frozen importlib._bootstrap>");
    }
}
