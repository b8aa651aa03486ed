//! The table of what there is to read.

include!(concat!(env!("OUT_DIR"), "/reads.rs"));

/// The group that stands for all of the host.
pub const ALL: &str = "everything";

/// Places that belong together. In a place `~/` is the user's home and `$NAME/` what a variable names; `*` at the end of a name stands for anything.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// What profiles call it.
    pub name: &'static str,
    /// What is in it, for people.
    pub about: &'static str,
    /// Places that are shown as they are.
    pub show: &'static [&'static str],
    /// Files that are copied without what seems to be a credential.
    pub copy: &'static [&'static str],
    /// Files among what is shown that are covered by such a copy if they hold one. A name may be `*`, or end with it.
    pub check: &'static [&'static str],
    /// A variable that names directories, each of which is shown.
    pub variable: Option<&'static str>,
    /// It is all that the host has.
    pub everything: bool,
    /// Tools with a directory of their own.
    pub tools: &'static [HostTool],
}

/// A tool that has a directory of its own.
#[derive(Clone, Copy, Debug)]
pub struct HostTool {
    /// What it is called.
    pub name: &'static str,
    /// Where it may be: the first whose variable is set, or that lies in the home.
    pub at: &'static [&'static str],
    /// What of it is shown; all where nothing is named.
    pub show: &'static [&'static str],
    /// What of it is copied without what seems to be a credential.
    pub copy: &'static [&'static str],
    /// What of it is covered: credentials that the tool keeps there.
    pub hide: &'static [&'static str],
    /// Settings among what is shown that are covered by a copy without what seems to be a credential, if they hold one. A name may be `*`, or end with it.
    pub check: &'static [&'static str],
}

/// Every group.
pub fn groups() -> &'static [Group] {
    GROUPS
}
