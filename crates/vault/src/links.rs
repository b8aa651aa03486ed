//! Which paths of a root are hard links, as the vault remembers it.

use offshoot_tree::links::{LinkRecord, Links, walk};
use offshoot_tree::{RootId, diff};

use crate::error::{Result, VaultError};
use crate::vault::Vault;

/// A list that is no longer than this is written down again rather than referred to.
const REFERENCE: usize = 256;

impl Vault {
    /// The paths of a root, below its top, that carry a link group. Where they are not known yet they are found by the
    /// difference to the first of `near` whose are, or by a walk through the whole tree, and remembered.
    pub fn links(&self, root: &RootId, near: &[RootId]) -> Result<Vec<Vec<u8>>> {
        Ok(self.linked_paths(root, near)?.into_paths())
    }

    pub(crate) fn linked_paths(&self, root: &RootId, near: &[RootId]) -> Result<Links> {
        if let Some(links) = self.recorded_links(root)? {
            return Ok(links);
        }
        let links = self.find_links(root, near)?;
        // What cannot be remembered is found again the next time.
        if !self.is_read_only() {
            self.enter()?;
            let encoded = links.encode();
            self.catalog()
                .write(|writer| Ok::<(), VaultError>(writer.set_links(&root.0, &encoded)?))?;
        }
        Ok(links)
    }

    /// Finds them without looking for the root itself in what is remembered.
    pub(crate) fn find_links(&self, root: &RootId, near: &[RootId]) -> Result<Links> {
        for near in near {
            // What is remembered may outlive the root, as a list that others refer to.
            if let Some(mut links) = self.recorded_links(near)?
                && self.objects()?.has_root(near)?
            {
                for change in diff::compare(self.objects()?, near, root)? {
                    let carries = change.after.is_some_and(|entry| entry.group.is_some());
                    links.set(change.path.names().join(&b'/'), carries);
                }
                return Ok(links);
            }
        }
        Ok(walk(self.objects()?, root)?)
    }

    /// What to remember of a root that came from `base`: where it has the same links, only that.
    pub(crate) fn links_record(
        &self,
        base: &RootId,
        before: &Links,
        now: &Links,
    ) -> Result<Vec<u8>> {
        let list = now.encode();
        if before != now || list.len() <= REFERENCE {
            return Ok(list);
        }
        let recorded = self.read(|reader| Ok(reader.links(&base.0)?))?;
        Ok(match recorded.as_deref().map(LinkRecord::decode) {
            Some(Some(LinkRecord::SameAs(other))) => LinkRecord::same_as(&other),
            Some(Some(LinkRecord::List(_))) => LinkRecord::same_as(base),
            _ => list,
        })
    }

    fn recorded_links(&self, root: &RootId) -> Result<Option<Links>> {
        let record = |root: &RootId| -> Result<Option<LinkRecord>> {
            let bytes = self.read(|reader| Ok(reader.links(&root.0)?))?;
            Ok(bytes.as_deref().and_then(LinkRecord::decode))
        };
        let found = match record(root)? {
            Some(LinkRecord::SameAs(other)) => record(&other)?,
            found => found,
        };
        Ok(match found {
            Some(LinkRecord::List(links)) => Some(links),
            _ => None,
        })
    }
}
