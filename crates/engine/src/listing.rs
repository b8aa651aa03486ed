//! Files of a state, listed to a depth or by a pattern.

use offshoot_protocol::ExitCode;
use offshoot_tree::{Entry, EntryKind, RootId, VaultPath};
use offshoot_vault::Vault;
use offshoot_workspace::ServiceError;

use crate::error::{Error, Result};
use crate::offshoot::Offshoot;
use crate::path_glob::PathGlob;
use crate::text::{head, line};

/// What is listed of a directory.
///
/// ```
/// use offshoot_engine::listing::ListingOptions;
///
/// let two_levels = ListingOptions { depth: 2, ..ListingOptions::default() };
/// assert_eq!(two_levels.limit, 1_000);
/// ```
#[derive(Clone, Debug)]
pub struct ListingOptions {
    /// How many levels.
    pub depth: usize,
    /// How many entries; more are counted.
    pub limit: usize,
    /// Only files whose paths fit, and nothing in git directories.
    pub glob: Option<PathGlob>,
}

impl Default for ListingOptions {
    fn default() -> Self {
        Self { depth: 1, limit: 1_000, glob: None }
    }
}

/// What a directory holds.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use offshoot_engine::{Offshoot, Options};
/// # let scratch = tempfile::tempdir()?;
/// # let (vaults, folder) = (scratch.path().join("vaults"), scratch.path().join("project"));
/// # std::fs::create_dir_all(folder.join("src"))?;
/// # std::fs::write(folder.join("src/main.rs"), "fn main() {}\n")?;
/// # let offshoot = Offshoot::open(Options::new(Vec::new()).registry(vaults))?;
/// # let project = offshoot.project(&folder)?;
/// use offshoot_engine::file::VaultPath;
/// use offshoot_engine::listing::ListingOptions;
///
/// let (root, top) = (project.vault().head()?.root, VaultPath::parse(b"/")?);
/// let all = ListingOptions { depth: usize::MAX, ..ListingOptions::default() };
/// let listing = project.engine().listing(project.vault(), &root, &top, &all)?;
/// assert_eq!(listing.text(1_000), "/src/\n/src/main.rs\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Listing {
    /// The directory, symbolic links followed.
    pub path: VaultPath,
    /// What is in it.
    pub entries: Vec<(VaultPath, Entry)>,
    /// How much more there is.
    pub left_out: usize,
}

impl Listing {
    /// The paths, a line each; directories end with a slash.
    ///
    /// ```
    /// # fn example(listing: &offshoot_engine::listing::Listing) {
    /// print!("{}", listing.text(10_000));
    /// # }
    /// ```
    pub fn text(&self, most: usize) -> String {
        let paths = self.entries.iter().map(|(at, entry)| match entry.kind() {
            EntryKind::Directory => format!("{}/\n", line(&at.to_string())),
            _ => format!("{}\n", line(&at.to_string())),
        });
        match paths.collect::<String>() {
            text if text.is_empty() => format!("{} is empty", self.path),
            text => head(&text, most),
        }
    }

    /// What a reader has to know who did not get all.
    ///
    /// ```
    /// # fn example(listing: &offshoot_engine::listing::Listing) {
    /// if let Some(note) = listing.note() {
    ///     println!("{note}");
    /// }
    /// # }
    /// ```
    pub fn note(&self) -> Option<String> {
        let more = self.left_out;
        (more > 0).then(|| format!("{more} more entries: raise `limit`, or list a directory below"))
    }
}

impl Offshoot {
    /// Lists a directory of a state.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> Result<(), Box<dyn std::error::Error>> {
    /// use offshoot_engine::file::VaultPath;
    /// use offshoot_engine::listing::ListingOptions;
    ///
    /// let (root, top) = (project.vault().head()?.root, VaultPath::parse(b"/")?);
    /// let listing = project.engine().listing(project.vault(), &root, &top, &ListingOptions::default())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn listing(
        &self,
        vault: &Vault,
        root: &RootId,
        path: &VaultPath,
        options: &ListingOptions,
    ) -> Result<Listing> {
        let files = self.files(vault);
        // Says what may have been meant where there is no such path.
        let (path, _) = files.list(root, path)?;
        let tree = files.tree(root)?;
        let (path, top) = tree.resolve(&path).map_err(ServiceError::from)?;
        let Some(directory) = top.directory() else {
            return Err(Error::new(ExitCode::Usage, format!("{path} is no directory")));
        };
        let deepest = path.names().len().saturating_add(options.depth.max(1));
        let (mut entries, mut left_out) = (Vec::new(), 0_usize);
        let fits = |at: &VaultPath, entry: &Entry| match &options.glob {
            None => true,
            Some(glob) => {
                entry.kind() != EntryKind::Directory
                    && !at.names().iter().any(|name| *name == b".git")
                    && glob.fits(at)
            }
        };
        tree.walk(&path, directory, &mut |at, entry| {
            if at.names().len() <= deepest && fits(at, entry) {
                match entries.len() < options.limit {
                    true => entries.push((at.clone(), entry.clone())),
                    false => left_out += 1,
                }
            }
            Ok(())
        })
        .map_err(ServiceError::from)?;
        Ok(Listing { path, entries, left_out })
    }
}
