//! Files that a program wrote anew with other bytes of the same meaning.

use std::path::Path;

/// Tells whether the bytes of a file of the host mean what was put there: a program may have written them anew. The bytes are read only
/// where they are asked for.
pub type IsRewritten<'v> = Box<dyn Fn(&Path, &dyn Fn() -> Option<Vec<u8>>) -> bool + 'v>;

/// The answer of whoever knows what files mean; no without one.
#[derive(Default)]
pub(crate) struct Rewritten<'v>(pub(crate) Option<IsRewritten<'v>>);

impl std::fmt::Debug for Rewritten<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Rewritten").field("known", &self.0.is_some()).finish()
    }
}
