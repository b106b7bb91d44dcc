//! Compares the use and the owner of each block of images by `mke2fs` and `debugfs` with `dumpe2fs` and `debugfs`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use yunti_ext4::{FileSystem, Files, Kind, Usage};

/// Temporary folder, removed with its contents.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("yunti-ext4-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Defaults of `mke2fs`, independent of this machine's /etc.
const SETTINGS: &str = "[defaults]
  base_features = sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr
  inode_size = 256
  inode_ratio = 16384
[fs_types]
  ext3 = {
    features = has_journal
  }
  ext4 = {
    features = has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize
  }
  small = {
    blocksize = 4096
  }
";

fn run(program: &str, arguments: &[&str]) -> String {
    let path = format!("/usr/sbin:/sbin:{}", std::env::var("PATH").unwrap_or_default());
    // Once for all threads: a program must not read half a file.
    static PATH_OF_SETTINGS: LazyLock<PathBuf> = LazyLock::new(|| {
        let path = std::env::temp_dir().join(format!("yunti-ext4-{}-mke2fs.conf", std::process::id()));
        fs::write(&path, SETTINGS).unwrap();
        path
    });
    let out = Command::new(program).args(arguments).env("PATH", path).env("MKE2FS_CONFIG", &*PATH_OF_SETTINGS).output();
    let out = out.unwrap_or_else(|e| panic!("{program} of e2fsprogs: {e}"));
    assert!(out.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// Creates files, directories and links of many sizes.
fn tree(root: &Path) {
    for (n, size) in [0, 1, 59, 100, 155, 4096, 70_000, 3_000_000].into_iter().enumerate() {
        fs::write(root.join(format!("file-{n}")), vec![n as u8 + 1; size]).unwrap();
    }
    // The extents do not fit into the inode.
    let holes = File::create(root.join("holes")).unwrap();
    for n in 0..700 {
        holes.write_all_at(b"data", n * 200_000).unwrap();
    }
    let crowded = root.join("crowded");
    fs::create_dir(&crowded).unwrap();
    for n in 0..900 {
        fs::write(crowded.join(format!("a-name-that-is-not-short-{n:05}")), b"").unwrap();
    }
    fs::create_dir_all(root.join("a/b/c")).unwrap();
    symlink("short", root.join("short-link")).unwrap();
    symlink("x".repeat(300), root.join("long-link")).unwrap();
}

fn make(folder: &Folder, options: &[&str], mib: u64) -> PathBuf {
    let (root, image) = (folder.0.join("root"), folder.0.join("image"));
    fs::create_dir(&root).unwrap();
    tree(&root);
    if options.contains(&"inline_data") {
        // mke2fs 1.47 does not fill directories that begin in an inode.
        fs::remove_dir_all(root.join("crowded")).unwrap();
    }
    File::create(&image).unwrap().set_len(mib << 20).unwrap();
    let mut words = vec!["-q", "-F", "-d", root.to_str().unwrap()];
    words.extend(options);
    words.push(image.to_str().unwrap());
    run("mke2fs", &words);
    image
}

fn debugfs(image: &Path, request: &str) -> String {
    run("debugfs", &["-w", "-R", request, image.to_str().unwrap()])
}

/// Numbers of a list of ranges, such as `3-5, 9`.
fn ranges(text: &str) -> impl Iterator<Item = u64> {
    text.split([',', ' '])
        .filter_map(|word| {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
        })
        .flatten()
}

fn after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split_once(key).map(|(_, rest)| rest)
}

/// Metadata blocks and free blocks, by `dumpe2fs`.
fn dumpe2fs_blocks(image: &Path) -> (BTreeMap<u64, Kind>, BTreeSet<u64>) {
    let (mut kinds, mut free) = (BTreeMap::new(), BTreeSet::new());
    let text = run("dumpe2fs", &[image.to_str().unwrap()]);
    let groups = &text[text.find("\nGroup 0:").expect("groups")..];
    for line in groups.lines() {
        for (key, kind) in [
            ("superblock at ", Kind::SuperBlock),
            ("Group descriptors at ", Kind::Descriptors),
            ("Group descriptor at ", Kind::Descriptors),
            ("Reserved GDT blocks at ", Kind::ReservedDescriptors),
            ("Block bitmap at ", Kind::BlockBitmap),
            ("Inode bitmap at ", Kind::InodeBitmap),
            ("Inode table at ", Kind::InodeTable),
        ] {
            if let Some(rest) = after(line, key) {
                let first = rest.split([' ', ',']).next().unwrap();
                kinds.extend(ranges(first).map(|block| (block, kind)));
            }
        }
        if let Some(rest) = after(line, "  Free blocks: ") {
            free.extend(ranges(rest));
        }
    }
    (kinds, free)
}

/// Owners of these blocks, by `debugfs`.
fn owners(image: &Path, blocks: &[u64]) -> BTreeMap<u64, u32> {
    let mut found = BTreeMap::new();
    for some in blocks.chunks(10_000) {
        let words: Vec<String> = some.iter().map(u64::to_string).collect();
        let text = debugfs(image, &format!("icheck {}", words.join(" ")));
        found.extend(text.lines().skip(1).filter_map(|line| {
            let (block, inode) = line.split_once('\t')?;
            Some((block.parse::<u64>().ok()?, inode.parse::<u32>().ok()?))
        }));
    }
    found
}

/// Tree blocks of an inode, by `debugfs`.
fn nodes(image: &Path, inode: u32) -> BTreeSet<u64> {
    let text = debugfs(image, &format!("stat <{inode}>"));
    let list = text.split_once("EXTENTS:").or(text.split_once("BLOCKS:")).map_or("", |(_, list)| list);
    let is_node = |word: &&str| {
        word.starts_with("(ETB")
            || word.starts_with("(IND)")
            || word.starts_with("(DIND)")
            || word.starts_with("(TIND)")
    };
    list.split_whitespace()
        .map(|w| w.trim_end_matches(','))
        .filter(is_node)
        .flat_map(|w| ranges(w.split_once("):").unwrap().1))
        .collect()
}

fn check(name: &str, options: &[&str], mib: u64, change: impl Fn(&Path)) -> Usage {
    let folder = Folder::new(name);
    let image = make(&folder, options, mib);
    change(&image);
    let opened = File::open(&image).unwrap();
    let fs = FileSystem::open(&opened).unwrap();
    let s = fs.superblock.clone();
    let walk = fs.walk(false, 1, Files::add).unwrap();
    assert_eq!(walk.damages().map(|e| e.what.as_str()).collect::<Vec<_>>(), [""; 0], "{name}");

    let mut ours: BTreeMap<u64, (Kind, u32)> = BTreeMap::new();
    let runs = walk.runs();
    for run in &runs {
        for block in run.start..run.end() {
            let before = ours.insert(block, (run.kind, run.inode));
            assert_eq!(before, None, "{name}: block {block} has two runs: {run:?}");
        }
    }
    let (layout, free) = dumpe2fs_blocks(&image);
    let layout_ours: BTreeMap<u64, Kind> = ours
        .iter()
        .filter(|(block, (kind, inode))| *inode == 0 && *kind != Kind::Mmp && (**block > 0 || s.block_bytes > 1024))
        .map(|(b, (k, _))| (*b, *k))
        .collect();
    assert_eq!(layout_ours, layout, "{name}: the layout");

    // Clusters are free as a whole.
    let ratio = u64::from(s.cluster_blocks);
    let cluster = |block: u64| (block - s.first_data_block) / ratio;
    let used: BTreeSet<u64> = ours.keys().filter(|b| **b >= s.first_data_block).map(|b| cluster(*b)).collect();
    // dumpe2fs names a range by the first blocks of its first and of its last cluster.
    let free: BTreeSet<u64> = free.into_iter().map(cluster).collect();
    let used_dumpe2fs: BTreeSet<u64> =
        (s.first_data_block..s.blocks).map(cluster).filter(|c| !free.contains(c)).collect();
    let (missing, excess): (Vec<_>, Vec<_>) =
        (used_dumpe2fs.difference(&used).collect(), used.difference(&used_dumpe2fs).collect());
    assert!(
        missing.is_empty() && excess.is_empty(),
        "{name}: used and without owner {missing:?}; owned and free {excess:?}"
    );
    for block in s.first_data_block..s.blocks {
        if let Some(is_used) = walk.is_used(&s, block) {
            assert_eq!(is_used, !free.contains(&cluster(block)), "{name}: the bitmap at block {block}");
        }
    }

    let of_inodes: Vec<u64> = ours.iter().filter(|(_, (_, inode))| *inode != 0).map(|(block, _)| *block).collect();
    let owners = owners(&image, &of_inodes);
    let shared = |block: &u64| matches!(ours[block].0, Kind::Xattr);
    for block in of_inodes.iter().filter(|b| !shared(b)) {
        assert_eq!(owners.get(block), Some(&ours[block].1), "{name}: block {block} is {:?}", ours[block]);
    }
    let is_node = |kind: Kind| matches!(kind, Kind::ExtentBlock | Kind::IndirectBlock);
    let with_nodes: BTreeSet<u32> =
        ours.values().filter(|(kind, inode)| is_node(*kind) && *inode != 7).map(|(_, inode)| *inode).collect();
    for inode in with_nodes {
        let nodes_ours: BTreeSet<u64> =
            ours.iter().filter(|(_, (kind, of))| *of == inode && is_node(*kind)).map(|(block, _)| *block).collect();
        assert_eq!(nodes_ours, nodes(&image, inode), "{name}: the tree of inode {inode}");
    }

    let usage = Usage::of(&fs, &walk, &runs);
    assert!(usage.ownership.is_whole(), "{name}: {:?}", usage.ownership);
    assert_eq!((usage.free.blocks, usage.free_blocks_recorded), (s.free_blocks, s.free_blocks), "{name}: free");
    assert_eq!(usage.inodes_used, u64::from(s.inodes - s.free_inodes), "{name}: inodes");
    let inodes: HashSet<u32> = ours.values().map(|(_, inode)| *inode).filter(|inode| *inode > 11).collect();
    assert_eq!(fs.paths(&runs, &inodes), names(&image, &inodes), "{name}: names");
    usage
}

/// Paths of the inodes, by `debugfs`.
fn names(image: &Path, inodes: &HashSet<u32>) -> HashMap<u32, String> {
    let words: Vec<String> = inodes.iter().map(u32::to_string).collect();
    let text = debugfs(image, &format!("ncheck {}", words.join(" ")));
    text.lines()
        .skip(1)
        .filter_map(|line| line.split_once('\t'))
        .map(|(inode, path)| (inode.parse().unwrap(), path.replace("//", "/")))
        .collect()
}

fn nothing(_: &Path) {}

#[test]
fn default_file_system() {
    let usage = check("plain", &["-t", "ext4"], 64, nothing);
    for kind in
        [Kind::Journal, Kind::ExtentBlock, Kind::Directory, Kind::Symlink, Kind::ReservedDescriptors, Kind::InodeTable]
    {
        assert!(usage.blocks(kind) > 0, "{kind:?}");
    }
}

#[test]
fn block_sizes() {
    for size in ["1024", "2048", "4096", "16384", "65536"] {
        check(&format!("blocks-{size}"), &["-t", "ext4", "-b", size], 200, nothing);
    }
}

#[test]
fn layouts() {
    for (name, features) in [
        ("flat", "^flex_bg"),
        ("old", "^flex_bg,^sparse_super,^resize_inode,^64bit,^metadata_csum"),
        ("meta", "meta_bg,^resize_inode"),
        ("meta-flat", "meta_bg,^resize_inode,^flex_bg,^64bit"),
        ("sparse2", "sparse_super2"),
        ("no-journal", "^has_journal"),
        ("crc16", "uninit_bg,^metadata_csum"),
        ("seed", "metadata_csum_seed"),
        ("mmp", "mmp"),
        ("quota", "quota"),
        ("orphans", "orphan_file"),
        ("large", "large_dir,casefold,encrypt,verity,project,quota"),
    ] {
        // Small blocks make many groups.
        check(name, &["-t", "ext4", "-b", "1024", "-O", features], 100, nothing);
    }
}

#[test]
fn clusters() {
    for (block, cluster) in [("1024", "8192"), ("4096", "16384"), ("4096", "65536"), ("4096", "1048576")] {
        check(
            &format!("clusters-{block}-{cluster}"),
            &["-t", "ext4", "-b", block, "-C", cluster, "-O", "bigalloc", "-N", "4096"],
            400,
            nothing,
        );
    }
}

#[test]
fn indirect_blocks() {
    let usage = check("ext2", &["-t", "ext2"], 64, nothing);
    assert!(usage.blocks(Kind::IndirectBlock) > 1 && usage.blocks(Kind::ExtentBlock) == 0);
    check("ext3", &["-t", "ext3", "-b", "1024"], 64, nothing);
    check("ext2-128", &["-t", "ext2", "-I", "128", "-r", "0"], 64, nothing);
}

#[test]
fn inline_data() {
    let usage = check("inline", &["-t", "ext4", "-O", "inline_data"], 64, nothing);
    assert!(usage.files.inline > 0 && usage.blocks(Kind::Data) > 0, "{usage:?}");
}

#[test]
fn attributes() {
    let change = |image: &Path| {
        for (file, name, bytes) in [
            ("file-1", "small", 10),
            ("file-2", "block", 2000),
            ("crowded", "block", 2000),
            ("short-link", "block", 1500),
        ] {
            let value = image.with_file_name("value");
            fs::write(&value, vec![b'v'; bytes]).unwrap();
            debugfs(image, &format!("ea_set -f {} {file} user.{name}", value.display()));
        }
    };
    // Three attribute blocks; or three inodes with a block for one value each.
    let usage = check("attributes", &["-t", "ext4", "-b", "4096"], 64, change);
    assert_eq!(usage.blocks(Kind::Xattr), 3);
    let usage = check("values", &["-t", "ext4", "-b", "4096", "-O", "ea_inode"], 64, change);
    assert_eq!(usage.blocks(Kind::Xattr), 3);
}

/// Only a kernel with keys and Unicode creates such directories, so `debugfs` marks one here. Encrypted names are not
/// shown.
#[test]
fn encrypted_and_casefolded_directories() {
    const ENCRYPTED: u32 = 0x800;
    const CASEFOLDED: u32 = 0x4000_0000;
    const EXTENTS: u32 = 0x8_0000;
    for (name, flag) in [("encrypted", ENCRYPTED), ("casefolded", CASEFOLDED)] {
        let folder = Folder::new(name);
        let image = make(&folder, &["-t", "ext4", "-O", "encrypt,casefold", "-E", "encoding=utf8"], 64);
        debugfs(&image, &format!("set_inode_field a/b flags {:#x}", flag | EXTENTS));
        let opened = File::open(&image).unwrap();
        let fs = FileSystem::open(&opened).unwrap();
        let walk = fs.walk(false, 1, Files::add).unwrap();
        let runs = walk.runs();
        assert_eq!(walk.damages().count(), 0, "{name}");
        assert!(Usage::of(&fs, &walk, &runs).ownership.is_whole(), "{name}");
        let all: HashSet<u32> = (12..fs.superblock.inodes).collect();
        let paths: HashSet<String> = fs.paths(&runs, &all).into_values().collect();
        let below = if flag == ENCRYPTED { "/a/b/<encrypted>" } else { "/a/b/c" };
        assert!(paths.contains("/a/b") && paths.contains(below), "{name}: {paths:?}");
    }
}
