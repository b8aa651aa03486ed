//! How many commands were judged as people do.

use std::collections::BTreeMap;
use std::fmt;

use offshoot_policy::Categories;

use crate::entry::Entry;

/// A command with what people and the crate say of it.
pub(crate) struct Found {
    entry: Entry,
    expected: Categories,
    judged: Categories,
}

impl Found {
    pub(crate) fn new(entry: Entry) -> Self {
        let (expected, judged) = (entry.expected(), entry.judged());
        Self { entry, expected, judged }
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.judged == self.expected
    }

    /// The one error that counts: it would run without a way back.
    pub(crate) fn is_unsafe(&self) -> bool {
        self.judged.is_read_only() && !self.expected.is_read_only()
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_unsafe() { "UNSAFE" } else { "miss" };
        let Self { entry, expected, judged } = self;
        write!(f, "{mark} {}: {} is {expected}, not {judged}", entry.group, entry.shown())
    }
}

/// Counts of commands.
#[derive(Default)]
pub(crate) struct Tally {
    all: usize,
    exact: usize,
    worst: usize,
    pub(crate) unsafe_errors: usize,
}

impl Tally {
    pub(crate) fn of<'a>(found: impl IntoIterator<Item = &'a Found>) -> Self {
        let mut tally = Self::default();
        for one in found {
            tally.all += 1;
            tally.exact += usize::from(one.is_exact());
            tally.worst += usize::from(one.judged.worst() == one.expected.worst());
            tally.unsafe_errors += usize::from(one.is_unsafe());
        }
        tally
    }

    pub(crate) fn exact_of_thousand(&self) -> usize {
        self.exact * 1000 / self.all
    }

    pub(crate) fn worst_of_thousand(&self) -> usize {
        self.worst * 1000 / self.all
    }

    /// One sentence, which documents may quote.
    pub(crate) fn summary(&self, name: &str) -> String {
        let percent = |thousandth: usize| format!("{}.{} %", thousandth / 10, thousandth % 10);
        format!(
            "{name}: of {} commands {} have exactly the right set ({}), {} the right worst category ({}), {} unsafe errors",
            self.all,
            self.exact,
            percent(self.exact_of_thousand()),
            self.worst,
            percent(self.worst_of_thousand()),
            self.unsafe_errors,
        )
    }

    /// A line for each group.
    pub(crate) fn by_group(found: &[Found]) -> String {
        let mut groups: BTreeMap<&str, Vec<&Found>> = BTreeMap::new();
        for one in found {
            groups.entry(&one.entry.group).or_default().push(one);
        }
        let line = |(group, found): (&str, Vec<&Found>)| {
            let Self { all, exact, worst, unsafe_errors } = Self::of(found);
            format!(
                "  {group:16} {all:4} commands, {exact:4} exact, {worst:4} worst, {unsafe_errors} unsafe"
            )
        };
        groups.into_iter().map(line).collect::<Vec<_>>().join("\n")
    }
}
