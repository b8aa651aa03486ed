//! What the main line is called as a side of a merge.

/// What the main line is called where sides are named.
pub(crate) const HEAD_LABEL: &str = "head";

/// What people know the main line as: in conflict markers, and in names of refs.
pub(crate) const FOLDER_LABEL: &str = "folder";
