//! What is folded in lists of changes.

use std::rc::Rc;

use clap::Args;
use offshoot_tree::RootId;
use offshoot_vault::Vault;
use offshoot_workspace::Noise;

use super::Context;
use crate::error::Result;

// Whether everything is listed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ExpandArgs {
    /// List all files, also those in build output and git directories
    #[arg(long)]
    pub(crate) expand: bool,
}

impl Context {
    /// What to fold, by the ignore rules of these states; nothing where everything is to be listed. Programs get everything.
    pub(crate) fn noise<'v>(
        &self,
        vault: &'v Vault,
        roots: &[RootId],
        args: ExpandArgs,
    ) -> Result<Option<Noise<'v>>> {
        match args.expand || self.output.is_json() {
            true => Ok(None),
            false => self.folding(vault, roots).map(Some),
        }
    }

    /// The same for whoever needs to know in any case.
    pub(crate) fn folding<'v>(&self, vault: &'v Vault, roots: &[RootId]) -> Result<Noise<'v>> {
        Ok(Noise::new(vault, roots, Rc::new(self.engine.tracked(vault)?))?)
    }
}
