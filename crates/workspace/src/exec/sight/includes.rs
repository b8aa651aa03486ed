//! Files that the settings of git include.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::{Finder, Source};

/// So many files that include one another are copied.
const MOST_INCLUDED: usize = 32;

/// Whether a place of the table has settings of git.
pub(super) fn is_git_config(path: &Path) -> bool {
    path.ends_with(".gitconfig") || path.ends_with("git/config")
}

impl Finder<'_> {
    /// Copies what the settings of git in the home include, as far as it lies there too. Credentials are left out as of `name`.
    pub(super) fn git_includes(
        &mut self,
        name: &str,
        mut files: Vec<(PathBuf, Vec<u8>)>,
        source: &Source,
    ) {
        let Some(home) = self.viewer.home.clone() else { return };
        for _ in 0..MOST_INCLUDED {
            let Some((file, content)) = files.pop() else { return };
            for path in included(&content, &file, &home) {
                let content = self.copy_as(name, path.clone(), source.clone());
                files.extend(content.map(|content| (path, content)));
            }
        }
    }
}

/// The files of the home that a file with settings of git includes, under whatever condition.
fn included(content: &[u8], file: &Path, home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut includes = false;
    for line in content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        let line = match (line.strip_prefix(b"["), line.iter().position(|byte| *byte == b']')) {
            (Some(section), Some(end)) => {
                let name = section.to_ascii_lowercase();
                includes = name.starts_with(b"include]") || name.starts_with(b"includeif ");
                // A key may stand behind its section.
                line[end + 1..].trim_ascii()
            }
            _ => line,
        };
        let Some(at) = line.iter().position(|byte| *byte == b'=').filter(|_| includes) else {
            continue;
        };
        if line[..at].trim_ascii().eq_ignore_ascii_case(b"path") {
            let value = line[at + 1..].trim_ascii();
            let quoted = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
            found.push(Path::new(OsStr::from_bytes(quoted.unwrap_or(value))).to_owned());
        }
    }
    let beside = file.parent().unwrap_or(home);
    let absolute = found.into_iter().map(|path| match path.strip_prefix("~") {
        Ok(below) => home.join(below),
        Err(_) => beside.join(path),
    });
    let is_plain = |path: &PathBuf| {
        path.starts_with(home) && !path.components().any(|part| part == Component::ParentDir)
    };
    absolute.filter(is_plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_included_and_lies_in_the_home() {
        let text = b"[user]\n\tpath = no\n[include]\n\tpath = ~/a\n\tPath=\"b c\"\n[includeIf \"gitdir:~/w/\"] path = d/e\n\
                     [include]\npath = /etc/x\npath = ../y\n[core]\npath = f\n";
        let found = included(text, Path::new("/h/.gitconfig"), Path::new("/h"));
        let expected = ["/h/a", "/h/b c", "/h/d/e"].map(PathBuf::from);
        assert_eq!(found, expected);
    }
}
