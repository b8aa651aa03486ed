//! What sessions keep stays as long as they do.

use offshoot_store::Id;
use offshoot_tree::BlobId;

use super::mark::Marks;
use crate::error::Result;
use crate::session::content::each_content;
use crate::vault::Vault;

/// Contents are read in pages of this many.
const PAGE: u32 = 256;

/// Marks what a session keeps.
pub(super) fn mark(vault: &Vault, session: &Id, marks: &mut Marks) -> Result<()> {
    vault.read(|reader| {
        each_content(reader, session, |row| {
            marks.content(BlobId(row.content), row.bytes);
            Ok(())
        })
    })
}

/// Marks what sessions keep since a place in the table of that; gives the place of the last.
pub(super) fn mark_since(vault: &Vault, after: i64, marks: &mut Marks) -> Result<i64> {
    let mut last = after;
    loop {
        let page = vault.read(|reader| Ok(reader.session_contents_after(last, PAGE)?))?;
        let Some((seq, _)) = page.last() else { return Ok(last) };
        last = *seq;
        page.iter().for_each(|(_, row)| marks.content(BlobId(row.content), row.bytes));
    }
}
