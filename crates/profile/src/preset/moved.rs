//! Variables by which a user moves the directories of an agent.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::{HomePath, Preset};

/// What each variable moves: paths of the home, and what they are called below the variable's directory. An empty name is that directory itself.
pub(super) type Moves = BTreeMap<String, BTreeMap<String, String>>;

/// What is wrong with one, as far as that can be told here.
pub(super) fn check(moves: &Moves) -> Result<(), String> {
    for (from, to) in moves.values().flatten() {
        HomePath::parse(from)?;
        if !to.is_empty() {
            HomePath::parse(to)?;
        }
    }
    Ok(())
}

impl Preset {
    /// The preset for somebody with these variables, whose home has these names: rows and logins are about where the directories of the agent are, and it
    /// gets the variables that say so. Where one cannot be followed, the agent has its usual places, and that is told.
    #[must_use]
    pub fn moved(
        mut self,
        homes: &[PathBuf],
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> (Self, Vec<String>) {
        let mut places: Vec<(HomePath, HomePath)> = Vec::new();
        let mut told = Vec::new();
        for (name, paths) in std::mem::take(&mut self.moves) {
            let Some(value) = variable(&name).filter(|value| !value.is_empty()) else { continue };
            let Some(directory) = below_home(Path::new(&value), homes) else {
                let usual: Vec<String> = paths.keys().map(|path| format!("~/{path}")).collect();
                told.push(format!(
                    "{name} is {}, which is no directory below your home: {} uses {} here",
                    Path::new(&value).display(),
                    self.summary,
                    usual.join(" and ")
                ));
                continue;
            };
            let to = |below: &str| match below {
                "" => Some(directory.clone()),
                below => HomePath::parse(&format!("{directory}/{below}")).ok(),
            };
            let moved = paths
                .iter()
                .filter_map(|(from, below)| Some((HomePath::parse(from).ok()?, to(below)?)));
            places.extend(moved);
            self.env.pass.push(name);
        }
        // What names more of a path counts more.
        places.sort_by_key(|(from, _)| std::cmp::Reverse(from.names().len()));
        let place = |path: &HomePath| path.moved(&places);
        for row in &mut self.home {
            row.paths.iter_mut().for_each(|path| *path = place(path));
            row.lock = row.lock.as_ref().map(place);
        }
        for file in self.login.iter_mut().flat_map(|login| &mut login.files) {
            if let Ok(path) = HomePath::parse(file) {
                *file = place(&path).to_string();
            }
        }
        (self, told)
    }
}

impl HomePath {
    /// The same path where the first of these fits: what lies in the one lies in the other.
    fn moved(&self, places: &[(Self, Self)]) -> Self {
        let found = places.iter().find_map(|(from, to)| {
            let rest = self.names().strip_prefix(from.names())?;
            Some(Self([to.names(), rest].concat()))
        });
        found.unwrap_or_else(|| self.clone())
    }
}

/// A directory below the home, as a path from there. A home itself is none: all of it would be the agent's.
fn below_home(path: &Path, homes: &[PathBuf]) -> Option<HomePath> {
    let is_plain =
        path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let below = homes.iter().find_map(|home| path.strip_prefix(home).ok())?;
    let parts: Option<Vec<&str>> =
        below.components().map(|part| part.as_os_str().to_str()).collect();
    let found = HomePath::parse(&parts?.join("/")).ok()?;
    (is_plain && path.is_absolute() && !found.is_pattern()).then_some(found)
}
