//! Merging states of files: by hand, against a model, and against git.

#[path = "merge/cases.rs"]
mod cases;
#[path = "merge/criss_cross.rs"]
mod criss_cross;
#[path = "merge/directories.rs"]
mod directories;
#[path = "merge/equal_files.rs"]
mod equal_files;
#[path = "merge/git.rs"]
mod git;
#[path = "merge/git_repo.rs"]
mod git_repo;
#[path = "merge/kept.rs"]
mod kept;
#[path = "merge/metadata.rs"]
mod metadata;
#[path = "merge/model.rs"]
mod model;
#[path = "merge/support.rs"]
mod support;
#[path = "merge/undone.rs"]
mod undone;
#[path = "merge/wild_forks.rs"]
mod wild_forks;
