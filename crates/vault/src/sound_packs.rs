//! Packs of git that were found to be what their indexes say: to look at a large one takes seconds, and whoever asks what a commit would
//! bring asks for it each time.

use offshoot_tree::BlobId;

use crate::cache_file;
use crate::vault::Vault;

/// What the file starts with, and its version.
const MAGIC: &[u8] = b"OSP\x01";
/// So many are remembered; the oldest go.
const MOST: usize = 4096;
const LENGTH: usize = 32;

impl Vault {
    /// Whether a pack was found to have what its index says.
    pub fn is_sound_pack(&self, pack: &BlobId, index: &BlobId) -> bool {
        let wanted = key(pack, index);
        self.sound_packs().chunks_exact(LENGTH).any(|known| known == wanted)
    }

    /// Remembers that.
    pub fn remember_sound_pack(&self, pack: &BlobId, index: &BlobId) {
        // Whoever may only look at the vault finds it out anew the next time.
        if self.enter().is_err() {
            return;
        }
        let mut known = self.sound_packs();
        known.extend_from_slice(&key(pack, index));
        let too_many = known.len().saturating_sub(MOST * LENGTH);
        let bytes = [MAGIC, &known[too_many..]].concat();
        cache_file::write(&self.sound_packs_file(), bytes);
    }

    /// Their keys, one after the other.
    fn sound_packs(&self) -> Vec<u8> {
        let bytes = cache_file::load(&self.sound_packs_file());
        bytes.strip_prefix(MAGIC).map(<[u8]>::to_vec).unwrap_or_default()
    }

    fn sound_packs_file(&self) -> std::path::PathBuf {
        self.dir().join("cache").join("packs")
    }
}

fn key(pack: &BlobId, index: &BlobId) -> [u8; LENGTH] {
    blake3::derive_key("offshoot v1 sound pack", &[pack.0, index.0].concat())
}
