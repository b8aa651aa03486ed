//! Trees like those of source code, the same in every run.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use offshoot_tests::rng::Rng;

use crate::Result;

/// Files in one directory.
const PER_FOLDER: usize = 100;
/// Directories in one directory.
const PER_PART: usize = 10;
const SHORTEST: f64 = 200.0;
const LONGEST: f64 = 8192.0;
/// When the first file was last changed; long ago, so that no program takes it for one that is still being written.
const FIRST_CHANGE: Duration = Duration::from_secs(1_700_000_000);

const WORDS: [&str; 16] = [
    "let", "value", "return", "match", "error", "path", "for", "entry", "if", "count", "struct",
    "buffer", "name", "index", "result", "node",
];

/// Makes a directory with so many files. Most are short, as in real projects: half are below 1.3 KiB.
pub(crate) fn make(dir: &Path, files: usize) -> Result<()> {
    let mut rng = Rng::new(files as u64);
    fs::create_dir(dir)?;
    for number in 0..files {
        let path = dir.join(file(number));
        if number % PER_FOLDER == 0 {
            let folder = path.parent().expect("the file lies in a folder");
            fs::create_dir_all(folder)?;
        }
        let mut out = File::create_new(path)?;
        out.write_all(&text(&mut rng))?;
        out.set_modified(
            SystemTime::UNIX_EPOCH + FIRST_CHANGE + Duration::from_secs(number as u64),
        )?;
    }
    Ok(())
}

/// The path of a file of such a tree.
pub(crate) fn file(number: usize) -> PathBuf {
    let folder = number / PER_FOLDER;
    let (part, module) = (folder / PER_PART, folder % PER_PART);
    format!("part-{part:03}/module-{module}/file-{number:06}.rs").into()
}

fn text(rng: &mut Rng) -> Vec<u8> {
    let share = rng.below(1 << 20) as f64 / f64::from(1 << 20);
    let length = (SHORTEST * (LONGEST / SHORTEST).powf(share)) as usize;
    let mut text = Vec::with_capacity(length + 32);
    while text.len() < length {
        for _ in 0..4 + rng.below(8) {
            text.extend_from_slice(rng.pick(&WORDS).expect("there are words").as_bytes());
            text.push(b' ');
        }
        text.extend_from_slice(format!("{:x};\n", rng.below(1 << 32)).as_bytes());
    }
    text.truncate(length);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_the_same_each_time_and_of_the_right_sizes() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        make(&a, 250).expect("a tree");
        make(&b, 250).expect("a tree");
        for number in 0..250 {
            let read = |dir: &Path| fs::read(dir.join(file(number))).expect("the file is there");
            let bytes = read(&a);
            assert_eq!(bytes, read(&b));
            assert!((200..=8192).contains(&bytes.len()));
        }
        assert!(!a.join(file(250)).exists());
    }
}
