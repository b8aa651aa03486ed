//! Merging states of files into this vault.

use std::path::Path;

use offshoot_tree::merge::{self, MergeInputs, MergeOptions, MergeSink, Merged};
use offshoot_tree::{Batch, BlobId};

use crate::error::{Result, VaultError};
use crate::vault::Vault;

impl Vault {
    /// Merges states and stores the result; a transaction that follows makes it durable with itself.
    pub fn merge(&self, inputs: &MergeInputs<'_>, options: &MergeOptions) -> Result<Merged> {
        merge::merge(self.objects()?, self, inputs, options)
    }
}

impl MergeSink for Vault {
    type Error = VaultError;

    fn keep(&self, bytes: &[u8]) -> Result<BlobId> {
        Ok(self.add_content(&mut &*bytes, Path::new("the merged file"))?.blob)
    }

    fn store(&self, batch: &Batch) -> Result<()> {
        Self::store(self, batch)
    }
}
