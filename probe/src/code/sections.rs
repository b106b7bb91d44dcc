//! Sections and segments of an ELF file of 64 bits, read from the file one by one. Libraries for all formats read the
//! symbols first, which takes 50 ms for a program of 100 MB.

use std::fs::File;

use object::Endianness;
use object::read::ReadCache;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, SectionTable};

type Header = object::elf::FileHeader64<Endianness>;

/// Contents of an open file, read when they are used.
pub struct FileParts<'a>(ReadCache<&'a File>);

/// Sections and segments.
pub struct Sections<'a> {
    parts: &'a FileParts<'a>,
    endian: Endianness,
    header: &'a Header,
    sections: SectionTable<'a, Header, &'a ReadCache<&'a File>>,
}

/// Segment with its place in the file.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub address: u64,
    pub offset: u64,
    pub file_bytes: u64,
}

impl<'a> FileParts<'a> {
    /// Returns the parts of a file.
    pub fn of(file: &'a File) -> FileParts<'a> {
        FileParts(ReadCache::new(file))
    }
}

impl<'a> Sections<'a> {
    /// Returns the sections of an ELF file of 64 bits; `None` for another file.
    pub fn of(parts: &'a FileParts<'a>) -> Option<Sections<'a>> {
        let header = Header::parse(&parts.0).ok()?;
        let endian = header.endian().ok()?;
        Some(Sections { parts, endian, header, sections: header.sections(endian, &parts.0).ok()? })
    }

    /// Returns the segments that are loaded.
    pub fn segments(&self) -> Vec<Segment> {
        let all = self.header.program_headers(self.endian, &self.parts.0).unwrap_or_default().iter();
        let loaded = all.filter(|segment| segment.p_type(self.endian) == object::elf::PT_LOAD);
        let of = |segment: &object::elf::ProgramHeader64<Endianness>| Segment {
            address: segment.p_vaddr(self.endian),
            offset: segment.p_offset(self.endian),
            file_bytes: segment.p_filesz(self.endian),
        };
        loaded.map(of).collect()
    }

    /// Returns the addresses of a section.
    pub fn range(&self, name: &str) -> Option<std::ops::Range<u64>> {
        let (_, section) = self.sections.section_by_name(self.endian, name.as_bytes())?;
        let begin = section.sh_addr(self.endian);
        Some(begin..begin + section.sh_size(self.endian))
    }

    /// Returns the contents of a section; `None` for a compressed one.
    pub fn data(&self, name: &str) -> Option<&'a [u8]> {
        let (_, section) = self.sections.section_by_name(self.endian, name.as_bytes())?;
        let is_packed = section.sh_flags(self.endian) & u64::from(object::elf::SHF_COMPRESSED) != 0;
        if is_packed { None } else { section.data(self.endian, &self.parts.0).ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_own_program() {
        let file = File::open("/proc/self/exe").unwrap();
        let parts = FileParts::of(&file);
        let sections = Sections::of(&parts).unwrap();
        let text = sections.range(".text").unwrap();
        assert!(sections.segments().iter().any(|s| s.address <= text.start && text.start < s.address + s.file_bytes));
        assert_eq!(sections.data(".text").unwrap().len() as u64, text.end - text.start);
        assert!(sections.data(".no_such_section").is_none());
    }

    #[test]
    fn refuses_other_files() {
        let file = File::open("/proc/self/status").unwrap();
        assert!(Sections::of(&FileParts::of(&file)).is_none());
    }
}
