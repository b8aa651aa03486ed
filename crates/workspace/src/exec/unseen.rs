//! What a command looked for in vain, because it does not see all of the host.

use std::path::{Path, PathBuf};

use offshoot_protocol::Visibility;

use super::discarded::folder_beside;
use super::envelope::ExecutionResult;
use super::sight::Sight;
use crate::standing::resolved;

/// What programs print where a file is not there.
const MISSING: [&str; 2] = ["no such file", "does not exist"];
/// At most so many paths are looked at.
const MOST_LOOKED_AT: usize = 64;

/// What to say to somebody whose command failed and named something that only the machine has. `folders` are those that it saw.
pub(super) fn warning(
    result: &ExecutionResult,
    folders: &[PathBuf],
    (sight, home): (&Sight, Option<&Path>),
) -> Option<String> {
    let project = result.mountpoint.as_deref()?;
    if result.exit_code.is_none_or(|code| code == 0) {
        return None;
    }
    let printed = if result.terminal { &result.stdout } else { &result.stderr };
    let printed = String::from_utf8_lossy(&printed.bytes);
    let said = printed.to_ascii_lowercase();
    if !MISSING.iter().any(|missing| said.contains(missing)) {
        return None;
    }
    let is_seen = |path: &Path| {
        project.starts_with(path) || folders.iter().any(|folder| path.starts_with(folder))
    };
    let cwd = result.cwd.as_deref().unwrap_or(project);
    let found = named(&printed, cwd).find_map(|path| {
        if path.starts_with(project) || is_seen(&path) || path.symlink_metadata().is_err() {
            return None;
        }
        let seen = sight.explain(&path, home, folders).visibility;
        Some((path, seen))
    });
    let (path, seen) = found?;
    let shown = path.display();
    Some(match seen {
        Visibility::Private => {
            let private = path.components().take(2).collect::<PathBuf>();
            let private = private.display();
            let folder = folder_beside(project, &path, std::slice::from_ref(&path));
            let advice = match folder.filter(|folder| folder.is_dir()) {
                Some(folder) => {
                    format!("`offshoot binding add {}` shows them that folder", folder.display())
                }
                None => "copy it into the project".to_owned(),
            };
            format!("{shown} is there, but commands have a {private} of their own: {advice}")
        }
        Visibility::Withheld => format!(
            "{shown} is there, but commands do not see it, since it seems to hold a credential: `offshoot doctor --explain {shown}` names the line"
        ),
        Visibility::Hidden | Visibility::Absent => format!(
            "{shown} is there, but commands do not see it: `offshoot doctor --explain {shown}` says why, and `exec --show {shown}` shows it to a command"
        ),
        Visibility::Workspace | Visibility::Shown | Visibility::Copied => return None,
    })
}

/// The paths that a text names, from the root or from above where the command started.
fn named(text: &str, cwd: &Path) -> impl Iterator<Item = PathBuf> {
    let ends = |c: char| c.is_whitespace() || "'\"`:;,|&<>()".contains(c);
    let is_somewhere = |path: &PathBuf| path.components().count() > 2;
    let leads_out = |word: &&str| word.starts_with('/') || word.starts_with("../");
    let words = text.split(ends).filter(leads_out);
    words.map(|word| resolved(cwd, Path::new(word))).filter(is_somewhere).take(MOST_LOOKED_AT)
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
        let all = ["/tmp/a/x.toml", "/etc/x", "/var/tmp/b"].map(Path::new);
        assert_eq!(found(text, "/"), all);
        assert_eq!(found("cat: ../b/c: No such file", "/tmp/a"), [Path::new("/tmp/b/c")]);
        assert_eq!(found("cat: ../b: No such file", "/srv/a"), [Path::new("/srv/b")]);
    }
}
