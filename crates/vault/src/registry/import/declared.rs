//! What a file says that it holds, before anything of it is expanded.

use std::collections::HashMap;

use offshoot_store::{Archive, ObjectKind};
use offshoot_tree::{BlobId, ObjectLocation};

use super::refused::{Refused, Vetted};

/// The contents of a file, by what it says of them.
pub(super) struct Declared {
    /// How long each content is.
    pub(super) lengths: HashMap<BlobId, u64>,
}

impl Declared {
    /// Looks at every object. A content is in the file itself, as it is or in chunks: no layer and no pack comes with it, so nothing may
    /// name a place in one.
    pub(super) fn of(archive: &Archive, limit: u64) -> Vetted<Self> {
        let (mut lengths, mut total) = (HashMap::new(), 0u64);
        archive.objects(|kind, id, value| -> Vetted {
            if [ObjectKind::Node, ObjectKind::Root].iter().any(|known| *known as i64 == kind) {
                return Ok(());
            }
            if kind != ObjectKind::Blob as i64 {
                return Err(format!("it has objects of the unknown kind {kind}").into());
            }
            let length = match ObjectLocation::decode(value) {
                Some(ObjectLocation::Inline(bytes)) => bytes.len() as u64,
                Some(ObjectLocation::Chunks(chunks)) => {
                    chunks.iter().fold(0u64, |sum, chunk| sum.saturating_add(chunk.length))
                }
                _ => {
                    let blob = BlobId(id);
                    return Err(format!("content {blob} is not in the file itself").into());
                }
            };
            total = total.saturating_add(length);
            lengths.insert(BlobId(id), length);
            Ok(())
        })?;
        match total > limit {
            true => Err(Refused::TooLarge(total)),
            false => Ok(Self { lengths }),
        }
    }
}
