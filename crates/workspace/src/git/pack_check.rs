//! Whether a pack has the objects that its index says.

use std::ffi::OsString;
use std::fs::File;

use offshoot_tree::{BlobId, Objects};
use offshoot_vault::Vault;
use tempfile::TempDir;

use super::error::GitError;
use super::options::GitOptions;
use super::run::Git;

/// What came of looking at a pack with its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PackCheck {
    /// Each object is what its id says, and where the index says.
    Sound,
    /// It is damaged, or has other objects than its index says.
    False,
    /// There is no git on the host, no room for a copy, or it takes too long.
    Unknown,
}

/// Looks at packs, and remembers those that are sound.
#[derive(Debug)]
pub struct PackChecker<'c> {
    /// How git is run.
    pub git: &'c GitOptions,
    /// Where it is remembered.
    pub vault: &'c Vault,
}

impl PackChecker<'_> {
    /// Looks at a pack with its index, unless somebody did.
    pub(super) fn check(
        &self,
        objects: &Objects,
        [pack, index]: [&BlobId; 2],
        format: &str,
    ) -> PackCheck {
        if self.vault.is_sound_pack(pack, index) {
            return PackCheck::Sound;
        }
        let found = check_pack(self.git, objects, [pack, index], format);
        if found == PackCheck::Sound {
            self.vault.remember_sound_pack(pack, index);
        }
        found
    }
}

/// Has git read a copy of the pack, name every object by its hash and write an index of its own, outside of all repositories. Of a version that
/// git has not written for long, an index is never the same.
fn check_pack(
    git: &GitOptions,
    objects: &Objects,
    [pack, index]: [&BlobId; 2],
    format: &str,
) -> PackCheck {
    let Some(room) = copy(objects, pack) else { return PackCheck::Unknown };
    let above = room.path().parent().map(|above| above.as_os_str().to_owned());
    let (copied, made) = (room.path().join("copy.pack"), room.path().join("made.idx"));
    let mut arguments: Vec<OsString> =
        ["-c", "pack.writeReverseIndex=false", "index-pack", "--index-version=2", "-o"]
            .map(Into::into)
            .into();
    arguments.push(made.clone().into());
    // What is the usual one, a git that knows no other does not take as an option.
    if format != "sha1" {
        arguments.push(format!("--object-format={format}").into());
    }
    arguments.push(copied.into());
    let variables = [("GIT_CEILING_DIRECTORIES", above.unwrap_or_default())];
    match Git::new(git, room.path()).output_with(&arguments, &variables, &[]) {
        Ok(_) => {}
        Err(GitError::Failed { .. }) => return PackCheck::False,
        Err(_) => return PackCheck::Unknown,
    }
    match File::open(&made).and_then(|made| BlobId::of_file(&made)) {
        Ok(made) if made == *index => PackCheck::Sound,
        Ok(_) => PackCheck::False,
        Err(_) => PackCheck::Unknown,
    }
}

/// A directory that nobody else can look into, with a copy of the pack.
fn copy(objects: &Objects, pack: &BlobId) -> Option<TempDir> {
    let room = TempDir::with_prefix("offshoot-").ok()?;
    let path = room.path().join("copy.pack");
    let mut file = File::create(&path).ok()?;
    objects.reader(pack).ok()?.copy_to(&mut file, &path).ok()?;
    Some(room)
}
