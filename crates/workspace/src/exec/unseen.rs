//! What a command looked for in vain, because it has temporary directories of its own.

use std::path::{Path, PathBuf};

use super::discarded::folder_beside;
use super::envelope::ExecutionResult;
use crate::standing::resolved;

/// Directories that each command has for itself.
const PRIVATE: [&str; 2] = ["/tmp", "/var/tmp"];
/// What programs print where a file is not there.
const MISSING: &str = "No such file";
/// At most so many paths are looked at.
const MOST_LOOKED_AT: usize = 64;

/// What to say to somebody whose command failed and named something that only the machine has. `folders` are those that it saw.
pub(super) fn warning(result: &ExecutionResult, folders: &[PathBuf]) -> Option<String> {
    let project = result.mountpoint.as_deref()?;
    if result.exit_code.is_none_or(|code| code == 0) {
        return None;
    }
    let printed = if result.terminal { &result.stdout } else { &result.stderr };
    let printed = String::from_utf8_lossy(&printed.bytes);
    if !printed.contains(MISSING) {
        return None;
    }
    let is_seen = |path: &Path| {
        project.starts_with(path) || folders.iter().any(|folder| path.starts_with(folder))
    };
    let cwd = result.cwd.as_deref().unwrap_or(project);
    let path = named(&printed, cwd).find(|path| {
        !path.starts_with(project) && !is_seen(path) && path.symlink_metadata().is_ok()
    })?;
    let shown = path.display();
    let private = PRIVATE.into_iter().find(|private| path.starts_with(private))?;
    let folder = folder_beside(project, &path, std::slice::from_ref(&path));
    let advice = match folder.filter(|folder| folder.is_dir()) {
        Some(folder) => {
            format!("`offshoot binding add {}` shows them that folder", folder.display())
        }
        None => "copy it into the project".to_owned(),
    };
    Some(format!("{shown} is there, but commands have a {private} of their own: {advice}"))
}

/// The paths in temporary directories that a text names, from the root or from above where the command started.
fn named(text: &str, cwd: &Path) -> impl Iterator<Item = PathBuf> {
    let ends = |c: char| c.is_whitespace() || "'\"`:;,|&<>()".contains(c);
    let is_private = |path: &PathBuf| {
        PRIVATE.iter().any(|private| path.starts_with(private) && path != Path::new(private))
    };
    let leads_out = |word: &&str| word.starts_with('/') || word.starts_with("../");
    let words = text.split(ends).filter(leads_out);
    words.map(|word| resolved(cwd, Path::new(word))).filter(is_private).take(MOST_LOOKED_AT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each path is looked up on the machine, and a program may print any number of them.
    #[test]
    fn no_more_paths_are_looked_up_than_a_person_reads() {
        let text: String =
            (0..1000).map(|number| format!("/tmp/{number}: No such file\n")).collect();
        let found: Vec<PathBuf> = named(&text, Path::new("/")).collect();
        assert_eq!(found.len(), MOST_LOOKED_AT);
        assert_eq!(found.first().map(PathBuf::as_path), Some(Path::new("/tmp/0")));
    }

    #[test]
    fn paths_are_found_between_words() {
        let text = "error: `/tmp/a/x.toml`: No such file\ncat: /tmp: /etc/x (/var/tmp/b) /tmpfile";
        let found = |text, cwd| named(text, Path::new(cwd)).collect::<Vec<_>>();
        assert_eq!(found(text, "/"), [Path::new("/tmp/a/x.toml"), Path::new("/var/tmp/b")]);
        assert_eq!(found("cat: ../b/c: No such file", "/tmp/a"), [Path::new("/tmp/b/c")]);
        assert!(found("cat: ../b: No such file", "/srv/a").is_empty());
    }
}
