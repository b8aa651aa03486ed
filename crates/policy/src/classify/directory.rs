//! Where commands run, as far as that can be followed.

use crate::context::Context;

/// A directory, where it is known.
pub(super) type Directory = Option<String>;

/// Where the shell is.
#[derive(Clone, Debug)]
pub(super) struct Directories {
    now: Directory,
    before: Directory,
    /// Where commands may be that run apart from the shell: `(cd x && …)`.
    apart: Vec<Directory>,
}

impl Directories {
    pub(super) fn new(context: &Context) -> Self {
        let cwd = context.cwd.to_string_lossy().into_owned();
        Self { now: Some(cwd), before: None, apart: Vec::new() }
    }

    /// All places where a command may be.
    pub(super) fn candidates(&self, apart: bool) -> impl Iterator<Item = Option<&str>> {
        let elsewhere = if apart { self.apart.as_slice() } else { &[] };
        std::iter::once(&self.now).chain(elsewhere).map(Option::as_deref)
    }

    /// Where a command is, where that is one known place.
    pub(super) fn only(&self, apart: bool) -> Directory {
        let mut places = self.candidates(apart);
        let first = places.next().flatten();
        first.filter(|_| places.next().is_none()).map(str::to_owned)
    }

    /// Where the shell is.
    pub(super) fn now(&self) -> Option<&str> {
        self.now.as_deref()
    }

    /// Where the shell was.
    pub(super) fn before(&self) -> Directory {
        self.before.clone()
    }

    /// The shell, or a part of it, goes there.
    pub(super) fn go(&mut self, to: Directory, apart: bool) {
        if !apart {
            self.before = std::mem::replace(&mut self.now, to);
        } else if !self.apart.contains(&to) {
            self.apart.push(to);
        }
    }
}
