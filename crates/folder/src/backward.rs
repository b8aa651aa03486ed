//! From after to before, as far as a folder came. What somebody did since stays.

use offshoot_vault::Result;

use crate::folder::Spot;
use crate::forward::holds;
use crate::ground::{Ground, Site};
use crate::problem::Kept;
use crate::rewritten::Rewritten;
use crate::stamp::Stamp;
use crate::step::{Action, Step};
use crate::touch;

/// How a step was taken back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Back {
    /// Somebody changed it since, and it stays as they left it.
    pub(crate) changed: bool,
    /// What of theirs is elsewhere now.
    pub(crate) kept: Vec<Kept>,
}

impl Back {
    fn changed() -> Self {
        Self { changed: true, kept: Vec::new() }
    }
}

/// Takes one step back, unless it never was done.
pub(crate) fn step(
    ground: &Ground,
    number: usize,
    step: &Step,
    owners: bool,
    rewritten: &Rewritten<'_>,
) -> Result<Back> {
    match &step.action {
        // Where it was not put yet, it is cleared away with the staging.
        Action::Put { .. } if step.stays => Ok(Back::default()),
        Action::Put { new } => put(&ground.site(number, step)?, new, rewritten),
        Action::Replace { old, new } => replace(&ground.site(number, step)?, old, new, rewritten),
        Action::Remove { old } => remove(&ground.site(number, step)?, old),
        Action::Retouch { old, before, after } => {
            let done = touch::file(ground, step, old, (after, before), owners)?;
            Ok(if done { Back::default() } else { Back::changed() })
        }
        Action::Settle { before, after } => {
            if let Some(before) = before {
                touch::directory(ground, step, after.as_deref(), before, owners)?;
            }
            Ok(Back::default())
        }
    }
}

fn put(site: &Site<'_>, new: &Stamp, rewritten: &Rewritten<'_>) -> Result<Back> {
    if site.in_slot()?.is_some_and(|look| new.is_same_inode(&look)) {
        return Ok(Back::default());
    }
    let Some(spot) = site.spot()? else { return Ok(Back::changed()) };
    let Some(ours) = ours(site, &spot, new, rewritten)? else { return Ok(Back::changed()) };
    if !site.move_out(&spot)? {
        return Ok(Back::changed());
    }
    if holds(site, &ours)? {
        return Ok(Back::default());
    }
    // Written to in this very moment.
    let mut back = Back::changed();
    if !site.move_in(&spot)? {
        back.kept.extend(site.keep_aside()?);
    }
    Ok(back)
}

fn replace(site: &Site<'_>, old: &Stamp, new: &Stamp, rewritten: &Rewritten<'_>) -> Result<Back> {
    match site.in_slot()? {
        Some(look) if !new.is_same_inode(&look) => {}
        // It never was done, or all of it is cleaned up.
        _ => return Ok(Back::default()),
    }
    let Some(spot) = site.spot()? else { return leave(site, old) };
    let Some(ours) = ours(site, &spot, new, rewritten)? else { return leave(site, old) };
    if !site.exchange(&spot)? {
        return leave(site, old);
    }
    if holds(site, &ours)? {
        return Ok(Back::default());
    }
    // What came out is somebody's, newer than what went in.
    if site.exchange(&spot)? {
        return leave(site, old);
    }
    let mut back = Back::changed();
    if !site.move_in(&spot)? {
        back.kept.extend(site.keep_aside()?);
    }
    Ok(back)
}

fn remove(site: &Site<'_>, old: &Stamp) -> Result<Back> {
    if site.in_slot()?.is_none() {
        return Ok(Back::default());
    }
    let Some(spot) = site.spot()? else { return leave(site, old) };
    if site.move_in(&spot)? { Ok(Back::default()) } else { leave(site, old) }
}

/// What is at the path, if it is what was put there, or means the same.
fn ours(
    site: &Site<'_>,
    spot: &Spot<'_>,
    new: &Stamp,
    rewritten: &Rewritten<'_>,
) -> Result<Option<Stamp>> {
    let Some(there) = site.at(spot)? else { return Ok(None) };
    if new.is(&there) {
        return Ok(site.is_empty(&there)?.then_some(*new));
    }
    let known = rewritten.0.as_ref().filter(|_| new.is_file());
    let means_the_same =
        known.is_some_and(|known| known(&site.host(), &|| site.bytes(&there).ok().flatten()));
    Ok(means_the_same.then(|| Stamp::of_new(&there)))
}

/// The path is somebody's now. What was there before is in the vault, unless it is not what was captured.
fn leave(site: &Site<'_>, old: &Stamp) -> Result<Back> {
    let mut back = Back::changed();
    if !holds(site, old)? {
        back.kept.extend(site.keep_aside()?);
    }
    Ok(back)
}
