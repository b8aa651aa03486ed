//! Which paths of a root are symbolic links, as a cache file remembers it.
//!
//! The file speaks of one root, the one that was asked for last: who asks wants to know about the main line, and the next one
//! is near the last.

use std::collections::BTreeMap;

use offshoot_tree::codec::{Decoder, put_bytes, put_varint};
use offshoot_tree::{Body, Entry, RootId, VaultPath, diff};

use crate::cache_file::{self, CacheKind};
use crate::error::Result;
use crate::vault::Vault;

/// Symbolic links by their paths, with what each leads to.
pub type Symlinks = BTreeMap<VaultPath, Vec<u8>>;

impl Vault {
    /// The symbolic links of a root. They are found by the difference to the root whose links are remembered, or by a walk
    /// through the whole tree, and remembered in turn.
    pub fn symlinks(&self, root: &RootId) -> Result<Symlinks> {
        let file = self.dir().join("cache").join("symlinks");
        let remembered = decode(&cache_file::load(&file));
        let links = match remembered {
            Some((near, links)) if near == *root => return Ok(links),
            // What the other root needs may be collected at any time.
            Some((near, links)) => self.symlinks_from(&near, links, root).ok(),
            None => None,
        };
        let links = match links {
            Some(links) => links,
            None => self.walk_to_symlinks(root)?,
        };
        // Whoever may only look at the vault, for whatever reason, finds them anew the next time.
        if self.enter().is_ok() {
            cache_file::save(&file, CacheKind::Symlinks, root, &encode(&links));
        }
        Ok(links)
    }

    fn symlinks_from(&self, near: &RootId, links: Symlinks, root: &RootId) -> Result<Symlinks> {
        let mut links = links;
        for change in diff::compare(self.objects()?, near, root)? {
            match change.after.as_deref().and_then(target) {
                Some(target) => links.insert(change.path, target.to_vec()),
                None => links.remove(&change.path),
            };
        }
        Ok(links)
    }

    fn walk_to_symlinks(&self, root: &RootId) -> Result<Symlinks> {
        let (tree, mut links) = (self.tree(root)?, Symlinks::new());
        if let Some(dir) = tree.top().directory() {
            tree.walk(&VaultPath::top(), dir, &mut |path, entry| {
                links.extend(target(entry).map(|target| (path.clone(), target.to_vec())));
                Ok(())
            })?;
        }
        Ok(links)
    }
}

fn target(entry: &Entry) -> Option<&[u8]> {
    match &entry.body {
        Body::Symlink { target } => Some(target),
        _ => None,
    }
}

fn encode(links: &Symlinks) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, links.len() as u64);
    for (path, target) in links {
        put_bytes(&mut out, &path.to_bytes());
        put_bytes(&mut out, target);
    }
    out
}

/// The links of a root; nothing where the bytes are those of no such file.
fn decode(bytes: &[u8]) -> Option<(RootId, Symlinks)> {
    let (root, body) = cache_file::split(bytes, CacheKind::Symlinks)?;
    let mut input = Decoder::new(body);
    let mut links = Symlinks::new();
    for _ in 0..input.varint().ok()? {
        let path = VaultPath::parse(input.bytes().ok()?).ok()?;
        links.insert(path, input.bytes().ok()?.to_vec());
    }
    input.end().ok()?;
    Some((root, links))
}
