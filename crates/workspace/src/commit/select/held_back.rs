//! What would stay of a workspace's changes, without storing anything.

use offshoot_tree::diff::Change;
use offshoot_vault::Vault;

use super::decide::{Decider, Decision};
use super::held::Held;
use super::selection::Selection;
use super::states::SelectionStates;
use crate::error::Result;

/// What would be held back of a workspace's changes since its base. Nothing is stored.
pub(crate) fn held_back(
    vault: &Vault,
    states: &SelectionStates,
    selection: &Selection<'_>,
    changes: &[Change],
) -> Result<Vec<Held>> {
    let mut decider = Decider::new(vault, states, selection, changes)?;
    let mut held = Vec::new();
    for change in changes {
        if let Decision::Hold(reason) | Decision::Instead(_, reason) = decider.decide(change)? {
            held.push(Held { change: change.clone(), reason });
        }
    }
    Ok(held)
}
