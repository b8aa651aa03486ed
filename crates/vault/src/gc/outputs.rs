//! What commands printed, once their operations are no longer kept.

use offshoot_store::Id;

use super::Collector;
use crate::error::{Result, VaultError};

/// So many are taken at a time.
const SLICE: usize = 256;

impl Collector<'_> {
    pub(super) fn outputs(&mut self) -> Result<()> {
        let (mut kept, execs) =
            self.vault.read(|reader| Ok((reader.kept_outputs()?, reader.exec_ends()?)))?;
        let gone = execs.into_iter().filter(|exec| {
            // One without an operation was never recorded whole; nothing says how old it is but its id.
            exec.operation.is_some_and(|operation| !self.window.operations.contains(&operation))
        });
        let gone: Vec<(Id, u64)> =
            gone.filter_map(|exec| Some((exec.id, kept.remove(&exec.id)?))).collect();
        for slice in gone.chunks(SLICE) {
            if !self.options.dry_run {
                let now_ms = self.now_ms;
                self.vault.catalog().write(|writer| {
                    for (exec, _) in slice {
                        writer.remove_outputs(exec)?;
                        writer.add_collected(exec.as_bytes(), now_ms)?;
                    }
                    Ok::<(), VaultError>(())
                })?;
            }
            slice.iter().for_each(|(_, bytes)| self.report.outputs.add(*bytes));
        }
        Ok(())
    }
}
