//! Taking what changed in the folder into a workspace.

pub use offshoot_workspace::{PullService, Pulled};
