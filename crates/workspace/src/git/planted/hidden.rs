//! What keeps git from showing people that a file changed.

use offshoot_tree::diff::Change;

use super::by_name::Planted;
use crate::error::Result;
use crate::git::index::{self, Index};
use crate::git::names::{is_name, within_repository};
use crate::git::repository::{State, is_repository};

/// Whether a change to a list of ignored files makes git overlook more of them. It is no file of the project that a review shows.
pub(super) fn hides_files(change: &Change, main: State<'_>, after: State<'_>) -> Result<bool> {
    let Some([.., info, exclude]) = within_repository(&change.path) else { return Ok(false) };
    let repository = change.path.parent().and_then(|info| info.parent()).unwrap_or_default();
    if !is_name(info, "info") || !is_name(exclude, "exclude") || change.after.is_none() {
        return Ok(false);
    }
    // A repository that is new is looked at as a whole.
    if !is_repository(main.tree, &repository)? {
        return Ok(false);
    }
    let (known, new) = (main.file(&change.path)?, after.file(&change.path)?);
    // A link, or what is too long to be read, may say anything.
    let (known, Some(new)) = (known.unwrap_or_default(), new) else { return Ok(true) };
    let is_rule = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"#");
    let is_known = |line: &[u8]| known.split(|byte| *byte == b'\n').any(|other| other == line);
    Ok(new.split(|byte| *byte == b'\n').filter(is_rule).any(|line| !is_known(line)))
}

/// An index without what keeps git from noticing changes, and what that was: marks by which it takes files for unchanged, where the folder's has
/// none on them, and caches that say other things than the files. Nothing where there are no such. Marks of a sparse checkout belong to that.
pub(super) fn plain_index(
    change: &Change,
    main: State<'_>,
    after: State<'_>,
) -> Result<Option<(Vec<u8>, Planted)>> {
    let is_index = within_repository(&change.path)
        .and_then(<[_]>::last)
        .is_some_and(|name| is_name(name, "index"));
    let at = change.path.parent().filter(|_| is_index && change.after.is_some());
    let Some(at) = at else { return Ok(None) };
    let read = |state: State<'_>| -> Result<Option<Vec<u8>>> { state.file(&change.path) };
    let (Some(bytes), own) = (read(after)?, read(main)?) else { return Ok(None) };
    let known: Index = own.as_ref().and_then(|bytes| index::parse(bytes)).unwrap_or_default();
    // A repository that is new is looked at as a whole.
    let is_new = !is_repository(main.tree, &at)?;
    let is_sparse = after.file(&at.join(b"info").join(b"sparse-checkout"))?.is_some();
    let plain = index::plain(&bytes, own.as_deref(), &|path, (assumed, skipped)| {
        let (was_assumed, was_skipped) =
            known.get(path).map_or((is_new, is_new), |entry| entry.overlooked);
        (assumed && !was_assumed, skipped && !was_skipped && !is_sparse)
    });
    let why = |hid: bool| if hid { Planted::Hidden } else { Planted::Cache };
    Ok(plain.map(|plain| (plain.bytes, why(plain.hid))))
}
