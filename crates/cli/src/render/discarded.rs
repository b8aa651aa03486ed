//! What is said about files that a command wrote outside the project.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use offshoot_engine::exec::DiscardedFiles;
use offshoot_protocol::Hint;

use crate::invocation::next;
use crate::render::{BAD, count, host_path, paint};

/// At most so many are named.
const MOST_NAMED: usize = 3;
/// A path with more steps up than this is shown from the root.
const MOST_STEPS_UP: usize = 3;

/// One line about what is gone, and how such files are kept.
pub(crate) fn line(discarded: &DiscardedFiles) -> Option<String> {
    let DiscardedFiles { count: files, paths, folder, .. } = discarded;
    if *files == 0 {
        return None;
    }
    let here = std::env::current_dir().ok();
    let shown = |path: &Path| host_path(&seen_from(here.as_deref(), path));
    let mut named: Vec<String> = paths.iter().take(MOST_NAMED).map(|path| shown(path)).collect();
    if paths.len() > MOST_NAMED {
        named.push("...".to_owned());
    }
    let keep = match folder {
        Some(folder) => {
            let add = next(Hint::command("offshoot binding add").arg(shown(folder)));
            let made = match folder.is_dir() {
                true => String::new(),
                false => format!("{} && ", next(Hint::command("mkdir").arg(shown(folder)))),
            };
            format!("to keep such files: {made}{add}")
        }
        None => "only files in the project are kept".to_owned(),
    };
    let were = if *files == 1 { "was" } else { "were" };
    let text = format!(
        "{} outside the project {were} not kept: {}; {keep}",
        count(*files, "change"),
        named.join(", ")
    );
    Some(format!("{}\n", paint(BAD, &text)))
}

/// A path as somebody would type it who is in a directory.
fn seen_from(here: Option<&Path>, path: &Path) -> PathBuf {
    let Some(here) = here else { return path.to_owned() };
    let (mut from, mut to) = (here.components().peekable(), path.components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let up = from.count();
    if up == 0 || up > MOST_STEPS_UP || to.peek() == Some(&Component::RootDir) {
        return path.to_owned();
    }
    let up = std::iter::repeat_n(OsStr::new(".."), up);
    up.chain(to.map(Component::as_os_str)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_as_they_would_be_typed() {
        let seen = |path| seen_from(Some(Path::new("/srv/ada/demo")), Path::new(path));
        assert_eq!(seen("/srv/ada/side/x"), Path::new("../side/x"));
        assert_eq!(seen("/srv/x"), Path::new("../../x"));
        assert_eq!(seen("/tmp/x"), Path::new("../../../tmp/x"));
        let deep = seen_from(Some(Path::new("/srv/ada/demo/src")), Path::new("/tmp/x"));
        assert_eq!(deep, Path::new("/tmp/x"));
    }
}
