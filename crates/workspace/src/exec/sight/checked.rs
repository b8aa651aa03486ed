//! Settings that tools keep in directories which are shown as they are.

use std::path::{Path, PathBuf};

use offshoot_host::{RegularFileError, read_regular};

use super::{Copied, Finder, LARGEST_COPY, Source};

impl Finder<'_> {
    /// Covers the files of a directory that fit a path with stars and hold what seems to be a credential: by copies without it, or by nothing where it cannot be left out.
    pub(super) fn check(&mut self, directory: &Path, below: &str, source: &Source) {
        let mut found = vec![directory.to_owned()];
        for name in below.split('/') {
            found = found.into_iter().flat_map(|above| self.fitting(&above, name)).collect();
        }
        for path in found {
            self.check_file(path, source);
        }
    }

    fn check_file(&mut self, path: PathBuf, source: &Source) {
        let copy = match read_regular(&path, LARGEST_COPY) {
            Ok(content) => Copied::of(&path.to_string_lossy(), &path, content),
            // Nobody knows what is in it.
            Err(RegularFileError::TooLarge { .. }) => Copied::none(),
            Err(_) => return,
        };
        if copy.left_out.as_ref().is_none_or(|lines| lines.count() > 0) {
            self.sight.hidden.push(path.clone());
            self.add(path, source.clone(), Some(copy));
        }
    }

    /// What a name in a directory stands for.
    fn fitting(&mut self, directory: &Path, name: &str) -> Vec<PathBuf> {
        let Some(start) = name.strip_suffix('*') else { return vec![directory.join(name)] };
        let names = self.listing(directory).into_iter().flatten();
        let fits = names.filter(|found| found.as_encoded_bytes().starts_with(start.as_bytes()));
        fits.map(|found| directory.join(found)).collect()
    }
}
