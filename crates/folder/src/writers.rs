//! Who has a file open for writing.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file by device and inode.
pub(crate) type FileKey = (u64, u64);

/// Which of these files a process has open for writing, and which process that is. Only processes that this user may look
/// into are found.
pub(crate) fn writers(files: &HashMap<FileKey, usize>) -> HashMap<usize, String> {
    let mut found = HashMap::new();
    if files.is_empty() {
        return found;
    }
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        if !name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        look_into(&entry.path(), files, &mut found);
    }
    found
}

fn look_into(process: &Path, files: &HashMap<FileKey, usize>, found: &mut HashMap<usize, String>) {
    for open in fs::read_dir(process.join("fd")).into_iter().flatten().flatten() {
        let link = open.path();
        // The link says enough of what is no file at a path: most descriptors are sockets and pipes.
        if !fs::read_link(&link).is_ok_and(|target| target.is_absolute()) {
            continue;
        }
        let Ok(stat) = fs::metadata(&link) else { continue };
        let Some(file) = files.get(&(stat.dev(), stat.ino())) else { continue };
        if found.contains_key(file) {
            continue;
        }
        if is_for_writing(&process.join("fdinfo").join(open.file_name())) {
            found.insert(*file, describe(process));
        }
    }
}

fn is_for_writing(info: &Path) -> bool {
    let text = fs::read_to_string(info).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    // Neither read-only nor only a place: `O_PATH` has no access mode.
    flags.is_some_and(|flags| flags & 0o3 != 0 && flags & 0o10_000_000 == 0)
}

fn describe(process: &Path) -> String {
    let id = process.file_name().unwrap_or_default().to_string_lossy();
    let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
    format!("process {id} ({})", name.trim_end())
}
