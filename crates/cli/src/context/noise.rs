//! What is folded in lists of changes.

use clap::Args;
use offshoot_engine::change::Noise;
use offshoot_engine::file::RootId;
use offshoot_engine::vault::Vault;

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
            false => self.engine.folding(vault, roots).map(Some),
        }
    }
}
