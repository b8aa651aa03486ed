//! What people and agents do to files.

use offshoot_tests::rng::Rng;

use crate::merge::likeness;
use crate::tree::{Body, File, Tree};

/// The folders that files are in. Each has a file that nobody touches, so that none comes or goes.
pub(crate) const FOLDERS: [&str; 4] = ["", "src/", "src/deep/", "docs/"];
/// The name of that file.
pub(crate) const KEEPER: &str = "keeper";
/// Texts stay longer than this, so that a moved one is known by what is left.
const SHORTEST: usize = 6;
/// A moved file keeps at least this share of its lines.
const STAYS_ALIKE: f64 = 0.8;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    /// The file has this body now, and may be new.
    Write {
        path: String,
        body: Body,
    },
    Remove {
        path: String,
    },
    Move {
        from: String,
        to: String,
    },
    Mode {
        path: String,
        executable: bool,
    },
}

/// Gives out numbers and lines, each once.
#[derive(Debug, Default)]
pub(crate) struct Source {
    given: u64,
    /// Paths that somebody made lately, for others to make as well.
    popular: Vec<String>,
}

impl Source {
    pub(crate) fn number(&mut self) -> u64 {
        self.given += 1;
        self.given
    }

    /// A line that says who wrote it.
    pub(crate) fn line(&mut self, who: &str) -> String {
        format!("line {} is by {who}", self.number())
    }

    pub(crate) fn text(&mut self, who: &str, length: usize) -> Body {
        Body::Text((0..length).map(|_| self.line(who)).collect())
    }

    fn body(&mut self, who: &str, rng: &mut Rng) -> Body {
        match rng.below(6) {
            0 => Body::Opaque(self.line(who)),
            1 => Body::Link(format!("to-{}", self.number())),
            _ => self.text(who, SHORTEST + 1 + rng.below(8) as usize),
        }
    }

    /// A path for something new: one that another made a while ago, or one that nobody ever had.
    fn path(&mut self, rng: &mut Rng) -> String {
        if rng.one_in(3)
            && let Some(path) = rng.pick(&self.popular)
        {
            return path.clone();
        }
        let folder = rng.pick(&FOLDERS).expect("there are folders");
        let path = format!("{folder}new-{}", self.number());
        self.popular.push(path.clone());
        path
    }
}

/// Somebody about to change something.
pub(crate) struct Editor<'a> {
    pub(crate) who: &'a str,
    pub(crate) rng: &'a mut Rng,
    pub(crate) source: &'a mut Source,
    /// The states that what comes of it will be compared with.
    pub(crate) bases: Vec<&'a Tree>,
}

impl Editor<'_> {
    /// Changes the tree, and says how; nothing where the dice made no sense.
    pub(crate) fn edit(&mut self, tree: &mut Tree) -> Option<Edit> {
        let edit = match self.rng.below(14) {
            0 | 1 => self.add(tree)?,
            2 => Edit::Remove { path: self.pick(tree)? },
            3 | 4 => self.relocate(tree)?,
            5 => {
                let path = self.pick(tree)?;
                let file = &tree[&path];
                let executable = !file.executable;
                if matches!(file.body, Body::Link(_)) {
                    return None;
                }
                Edit::Mode { path, executable }
            }
            _ => self.rewrite(tree)?,
        };
        apply(&edit, tree, self.source);
        Some(edit)
    }

    /// A file to do something to: often one of the first, so that several choose the same.
    fn pick(&mut self, tree: &Tree) -> Option<String> {
        let paths: Vec<&String> = tree.keys().filter(|path| !path.ends_with(KEEPER)).collect();
        let few = if self.rng.one_in(2) { paths.len().min(3) } else { paths.len() };
        self.rng.pick(&paths[..few]).map(|path| (*path).clone())
    }

    /// Whether something new may have a path. One that was something else before would be that for a merge.
    fn is_free(&self, tree: &Tree, path: &str) -> bool {
        !tree.contains_key(path) && self.bases.iter().all(|base| !base.contains_key(path))
    }

    fn add(&mut self, tree: &Tree) -> Option<Edit> {
        let path = self.source.path(self.rng);
        if !self.is_free(tree, &path) {
            return None;
        }
        let body = self.source.body(self.who, self.rng);
        Some(Edit::Write { path, body })
    }

    fn relocate(&mut self, tree: &Tree) -> Option<Edit> {
        let from = self.pick(tree)?;
        let to = self.source.path(self.rng);
        // Links are not followed when they are moved.
        let is_link = matches!(tree[&from].body, Body::Link(_));
        if is_link || !self.is_free(tree, &to) || !self.stays_known(&to, &tree[&from]) {
            return None;
        }
        Some(Edit::Move { from, to })
    }

    fn rewrite(&mut self, tree: &Tree) -> Option<Edit> {
        let path = self.pick(tree)?;
        let file = &tree[&path];
        let body = match &file.body {
            Body::Text(lines) => Body::Text(self.change_lines(lines)),
            Body::Opaque(_) => Body::Opaque(self.source.line(self.who)),
            Body::Link(_) => Body::Link(format!("to-{}", self.source.number())),
        };
        let changed = File { body: body.clone(), ..file.clone() };
        // Written again as it was, a file has another time and nothing else: for a merge somebody had it in hand, for the model nobody had.
        let is_changed = changed.body != file.body;
        (is_changed && self.stays_known(&path, &changed)).then_some(Edit::Write { path, body })
    }

    /// Whether a file is still like what it was where it has been moved since.
    fn stays_known(&self, path: &str, file: &File) -> bool {
        self.bases.iter().all(|base| {
            let old = base.iter().find(|(_, old)| old.id == file.id);
            old.is_none_or(|(old_path, old)| {
                old_path == path
                    || old.body == file.body
                    || likeness(&old.body, &file.body) >= STAYS_ALIKE
            })
        })
    }

    fn change_lines(&mut self, lines: &[String]) -> Vec<String> {
        let mut lines = lines.to_vec();
        let at = self.rng.below(lines.len() as u64 + 1) as usize;
        let count = 1 + self.rng.below(2) as usize;
        let room = lines.len().saturating_sub(SHORTEST).min(lines.len() - at);
        let taken = self.rng.below(3) as usize;
        lines.drain(at..at + taken.min(room));
        if taken == 0 || self.rng.one_in(2) {
            let new: Vec<String> = (0..count).map(|_| self.source.line(self.who)).collect();
            lines.splice(at..at, new);
        }
        lines
    }
}

/// Makes a change to a tree.
pub(crate) fn apply(edit: &Edit, tree: &mut Tree, source: &mut Source) {
    match edit {
        Edit::Write { path, body } => match tree.get_mut(path) {
            Some(file) => file.body = body.clone(),
            None => {
                let file = File { id: source.number(), body: body.clone(), executable: false };
                tree.insert(path.clone(), file);
            }
        },
        Edit::Remove { path } => drop(tree.remove(path)),
        Edit::Move { from, to } => {
            let file = tree.remove(from).expect("what is moved is there");
            tree.insert(to.clone(), file);
        }
        Edit::Mode { path, executable } => {
            tree.get_mut(path).expect("it is there").executable = *executable;
        }
    }
}
