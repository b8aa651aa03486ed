//! Checking the logs of sessions, and that what they keep is there.

use offshoot_tree::BlobId;

use super::Checker;
use crate::error::Result;
use crate::session::chain::signer;
use crate::session::content::{each_content, is_body};
use crate::session::verify::flaw;
use crate::session::{SESSION, SessionRecord};

impl Checker<'_> {
    pub(super) fn sessions(&mut self) -> Result<()> {
        let (rows, refs) =
            self.vault.read(|reader| Ok((reader.sessions()?, reader.refs(SESSION)?)))?;
        for (key, row) in refs {
            let record = self.note(SessionRecord::from_row(&key, row));
            if record.is_some_and(|record| rows.iter().all(|row| row.id != record.id)) {
                self.problem(format!("how session {} stands is not recorded", key.id));
            }
        }
        for row in rows {
            let (mut long, mut contents) = (0u64, Vec::new());
            let found = self.vault.read(|reader| {
                each_content(reader, &row.id, |content| {
                    contents.push((content.name, BlobId(content.content), content.bytes));
                    Ok(())
                })?;
                flaw(reader, &row, |_, _, is_long| long += u64::from(is_long))
            });
            let flaw = self.note(found).flatten();
            if let Some(flaw) = &flaw {
                self.problem(format!("session {}: {flaw}", row.id));
            }
            if signer(&row, &self.vault.id()).is_none() {
                self.problem(format!("session {}: how it stands is not signed", row.id));
            }
            let bodies = contents.iter().filter(|(name, ..)| is_body(name)).count() as u64;
            if flaw.is_none() && bodies != long {
                let missing = "the bodies of some events are not recorded";
                self.problem(format!("session {}: {missing}", row.id));
            }
            contents.iter().for_each(|(_, blob, bytes)| self.blob(blob, *bytes));
        }
        Ok(())
    }
}
