//! Sizes, offsets and numbers, compared with a program in C that includes yunti.h.

use std::mem::offset_of;
use std::process::Command;

use super::*;

/// Expressions of C, each with the number that Rust has for it.
struct Table(Vec<(String, u64)>);

impl Table {
    fn add(&mut self, expression: &str, number: usize) {
        self.0.push((expression.into(), number as u64));
    }
}

fn size_of_field<S, F>(_: fn(&S) -> &F) -> usize {
    size_of::<F>()
}

macro_rules! layout {
    ($table:ident, $c:literal, $rust:ident, $($field:ident)*) => {
        $table.add(concat!("sizeof(", $c, ")"), size_of::<$rust>());
        $(
            let field = stringify!($field);
            $table.add(&format!("offsetof({}, {field})", $c), offset_of!($rust, $field));
            $table.add(&format!("sizeof((({} *)0)->{field})", $c), size_of_field(|s: &$rust| &s.$field));
        )*
        // A field that Rust lacks would stand behind the last one.
        let last = [$(offset_of!($rust, $field) + size_of_field(|s: &$rust| &s.$field)),*].into_iter().max();
        assert_eq!(last, Some(size_of::<$rust>()), "{}", $c);
    };
}

fn expected() -> Table {
    let mut t = Table(Vec::new());
    layout!(t, "yt_str", RawStr, p n);
    layout!(t, "yt_batch", RawBatch, size n base koff klen voff vlen bytes first_position flags file_index);
    layout!(t, "yt_out", RawOut, size form cur end ref_base full big engine reserved);
    layout!(t, "yt_groups", RawGroups, size n base koff klen first voff vlen v8 flags pad vkoff vklen);
    layout!(t, "yt_chunk", RawChunk, size flags base bytes limit position file_index before);
    layout!(t, "yt_context", RawContext, size abi_minor engine config counter error status mask_any is_reduce task
        partitions pad edges side_file input output reserved);
    layout!(t, "yt_folder", RawFolder, size state_size known exact init fold merge finish);
    layout!(t, "yt_reader", RawReader, size flags look_back pad find read);
    layout!(t, "yt_writer", RawWriter, size flags begin write end extension);
    layout!(t, "yt_class", RawClass, size kind name flags key_type value_type in_value_type create destroy map reduce
        partition folder flush reader writer arrange source function aggregate);
    layout!(t, "yt_file", RawFile, size file_index bytes name engine read_at hold);
    layout!(t, "yt_scan", RawScan, size flags key value n_key n_value condition from to);
    layout!(t, "yt_unit", Unit, number position bytes records);
    layout!(t, "yt_units", RawUnits, size pad engine add);
    layout!(t, "yt_source", RawSource, size flags plan open next describe);
    layout!(t, "yt_library", RawLibrary, size abi_major abi_minor n name version classes);
    for (name, number) in [
        ("YT_ABI_MAJOR", ABI_MAJOR),
        ("YT_ABI_MINOR", ABI_MINOR),
        ("YT_MAPPER", MAPPER),
        ("YT_REDUCER", REDUCER),
        ("YT_COMBINER", COMBINER),
        ("YT_FOLDER", FOLDER),
        ("YT_PARTITIONER", PARTITIONER),
        ("YT_READER", READER),
        ("YT_WRITER", WRITER),
        ("YT_KEY_ORDER", KEY_ORDER),
        ("YT_SOURCE", SOURCE),
        ("YT_SCAN_NO_VALUE", SCAN_NO_VALUE),
        ("YT_SCAN_MARKS_NULLS", SCAN_MARKS_NULLS),
        ("YT_SCAN_BLOCKS", SCAN_BLOCKS),
        ("YT_SOURCE_BLOCKS", SOURCE_BLOCKS),
        ("YT_DAMAGED", DAMAGED as u32),
        ("YT_UNSUPPORTED", UNSUPPORTED as u32),
        ("YT_PURE", PURE),
        ("YT_EMITS_REFS", EMITS_REFS),
        ("YT_EMITS_ONE", EMITS_ONE),
        ("YT_WANTS_SPAN", WANTS_SPAN),
        ("YT_GROUPS", GROUPS),
        ("YT_FORM_COPY", FORM_COPY),
        ("YT_FORM_ONE", FORM_ONE),
        ("YT_FORM_REF", FORM_REF),
        ("YT_BIG_BYTES", BIG_BYTES as u32),
        ("YT_GROUP_MORE", GROUP_MORE),
        ("YT_GROUP_CONT", GROUP_CONT),
        ("YT_CHUNK_FIRST", CHUNK_FIRST),
        ("YT_CHUNK_LAST", CHUNK_LAST),
        ("YT_WHOLE_PART", WHOLE_PART),
        ("YT_OK", OK as u32),
        ("YT_FAIL", FAIL as u32),
        ("YT_FOLD_COUNT", <crate::Count<i64> as crate::Folder>::KNOWN.unwrap() as u32),
        ("YT_FOLD_SUM_I64", <crate::Sum<i64> as crate::Folder>::KNOWN.unwrap() as u32),
        ("YT_FOLD_MIN_I64", <crate::Min<i64> as crate::Folder>::KNOWN.unwrap() as u32),
        ("YT_FOLD_MAX_I64", <crate::Max<i64> as crate::Folder>::KNOWN.unwrap() as u32),
        ("YT_FOLD_SUM_F64", <crate::Sum<f64> as crate::Folder>::KNOWN.unwrap() as u32),
        ("YT_NONE", <() as crate::Type>::ID),
        ("YT_NONE", <crate::Any as crate::Type>::ID),
        ("YT_BYTES", <crate::Bytes as crate::Type>::ID),
        ("YT_I32", <i32 as crate::Type>::ID),
        ("YT_I64", <i64 as crate::Type>::ID),
        ("YT_U32", <u32 as crate::Type>::ID),
        ("YT_U64", <u64 as crate::Type>::ID),
        ("YT_F32", <f32 as crate::Type>::ID),
        ("YT_F64", <f64 as crate::Type>::ID),
    ] {
        t.add(name, number as usize);
    }
    t
}

#[test]
fn layout_is_the_header_s() {
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../include");
    if !std::path::Path::new(include).join("yunti.h").exists() {
        eprintln!("skipped: this copy of the crate has no yunti.h beside it");
        return;
    }
    let table = expected();
    let mut program = String::from("#include <stddef.h>\n#include <stdio.h>\n#include <yunti.h>\nint main(void) {\n");
    for (expression, _) in &table.0 {
        program += &format!("  printf(\"%llu\\n\", (unsigned long long)({expression}));\n");
    }
    program += "  return 0;\n}\n";
    let folder = std::env::temp_dir().join(format!("yunti-layout-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, binary) = (folder.join("layout.c"), folder.join("layout"));
    std::fs::write(&source, program).unwrap();
    let compiler = std::env::var("CC").unwrap_or("cc".into());
    let compiled =
        Command::new(compiler).args(["-std=c99", "-I", include, "-o"]).args([&binary, &source]).status().unwrap();
    assert!(compiled.success());
    let run = Command::new(&binary).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let found: Vec<u64> = String::from_utf8(run.stdout).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(found.len(), table.0.len());
    for ((expression, expect), found) in table.0.iter().zip(found) {
        assert_eq!(found, *expect, "{expression}");
    }
}
