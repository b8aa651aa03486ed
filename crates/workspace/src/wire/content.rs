//! The bytes of a file on their way into a document.

use std::io::{self, Read};

use offshoot_protocol::TextStream;
use offshoot_tree::{BlobId, BlobReader, TreeError};
use offshoot_vault::Vault;

use crate::error::{Result, ServiceError};

/// The bytes of a file, read when they are written. All of them were verified before.
pub fn content<'v>(
    vault: &'v Vault,
    blob: BlobId,
) -> Result<TextStream<impl Fn() -> io::Result<BlobReader> + 'v>> {
    let objects = vault.objects()?;
    let open = move || objects.reader(&blob).map_err(io::Error::other);
    TextStream::new(open).map_err(failed)
}

/// Whether all bytes were written.
pub fn written<R: Read, F: Fn() -> io::Result<R>>(content: TextStream<F>) -> Result<()> {
    content.finish().map_err(failed)
}

fn failed(error: io::Error) -> ServiceError {
    match error.downcast::<TreeError>() {
        Ok(error) => error.into(),
        Err(error) => ServiceError::Internal(format!("content could not be written: {error}")),
    }
}
