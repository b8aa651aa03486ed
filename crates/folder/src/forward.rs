//! From before to after: each step is one rename, looked at before and after.

use offshoot_vault::Result;

use crate::folder::Spot;
use crate::ground::{Ground, Site};
use crate::problem::Kept;
use crate::stamp::{Look, Stamp};
use crate::step::{Action, Attributes, Step};
use crate::touch;

/// How a step went.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is done, now or since before.
    Done,
    /// Somebody changed what it was about. What they wrote is at the path, but for what is kept elsewhere.
    Interfered(Vec<Kept>),
}

impl Outcome {
    fn interfered() -> Self {
        Self::Interfered(Vec::new())
    }
}

/// Does one step, unless it is done already.
pub(crate) fn step(ground: &Ground, number: usize, step: &Step, owners: bool) -> Result<Outcome> {
    match &step.action {
        Action::Put { new } => put(&ground.site(number, step)?, new),
        Action::Replace { old, new } => replace(&ground.site(number, step)?, old, new),
        Action::Remove { old } => remove(&ground.site(number, step)?, old),
        Action::Retouch { old, before, after } => {
            retouch(ground, step, old, (before, after), owners)
        }
        Action::Settle { before, after } => {
            if let Some(after) = after {
                touch::directory(ground, step, before.as_deref(), after, owners)?;
            }
            Ok(Outcome::Done)
        }
    }
}

fn put(site: &Site<'_>, new: &Stamp) -> Result<Outcome> {
    let Some(spot) = site.spot()? else { return Ok(Outcome::interfered()) };
    if site.move_in(&spot)? {
        return Ok(Outcome::Done);
    }
    // It was there already if it is ours, whatever somebody did to it since.
    let there = site.at(&spot)?.is_some_and(|look| new.is_same_inode(&look));
    Ok(if there { Outcome::Done } else { Outcome::interfered() })
}

fn replace(site: &Site<'_>, old: &Stamp, new: &Stamp) -> Result<Outcome> {
    let Some(spot) = site.spot()? else { return Ok(Outcome::interfered()) };
    let Some(there) = site.at(&spot)? else { return Ok(Outcome::interfered()) };
    if !new.is_same_inode(&there) {
        let exchanged = site.is_as_captured(&there, old)? && site.exchange(&spot)?;
        if !exchanged {
            return Ok(Outcome::interfered());
        }
    }
    // Whoever was cut off here may not have looked at what came out.
    if holds(site, old)? { Ok(Outcome::Done) } else { give_back(site, &spot, Some(new)) }
}

fn remove(site: &Site<'_>, old: &Stamp) -> Result<Outcome> {
    if holds(site, old)? {
        return Ok(Outcome::Done);
    }
    let Some(spot) = site.spot()? else {
        return Ok(Outcome::Interfered(site.keep_aside()?.into_iter().collect()));
    };
    if site.in_slot()?.is_none() {
        let Some(there) = site.at(&spot)? else { return Ok(Outcome::interfered()) };
        if !site.is_as_captured(&there, old)? || !site.move_out(&spot)? {
            return Ok(Outcome::interfered());
        }
    }
    if holds(site, old)? { Ok(Outcome::Done) } else { give_back(site, &spot, None) }
}

/// Whether what is staged is this, unchanged; a directory must be empty.
pub(crate) fn holds(site: &Site<'_>, stamp: &Stamp) -> Result<bool> {
    Ok(held(site, stamp)?.is_some())
}

/// What is staged, if it is this.
pub(crate) fn held(site: &Site<'_>, stamp: &Stamp) -> Result<Option<Look>> {
    match site.in_slot()?.filter(|out| stamp.is(out)) {
        Some(out) if site.slot_is_empty(&out)? => Ok(Some(out)),
        _ => Ok(None),
    }
}

/// Puts back what came out, which is not what was captured. `new` is what is, or was, at the path instead.
pub(crate) fn give_back(site: &Site<'_>, spot: &Spot<'_>, new: Option<&Stamp>) -> Result<Outcome> {
    let mut kept = Vec::new();
    match new {
        Some(new) if site.exchange(spot)? => {
            // What was written to where ours was is the newest, and stays there.
            let theirs = !holds(site, new)?;
            if theirs && (site.exchange(spot)? || !site.move_in(spot)?) {
                kept.extend(site.keep_aside()?);
            }
        }
        _ if site.move_in(spot)? => {}
        _ => kept.extend(site.keep_aside()?),
    }
    Ok(Outcome::Interfered(kept))
}

fn retouch(
    ground: &Ground,
    step: &Step,
    old: &Stamp,
    (before, after): (&Attributes, &Attributes),
    owners: bool,
) -> Result<Outcome> {
    match touch::file(ground, step, old, (before, after), owners)? {
        true => Ok(Outcome::Done),
        false => Ok(Outcome::interfered()),
    }
}
