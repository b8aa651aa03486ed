//! Who keeps tasks.

mod file;
mod keep;
mod log;
mod memory;
mod table;

pub use file::{A2aFileOptions, A2aFileTasks};
pub use keep::{A2aChanged, A2aStoreError, A2aTaskQuery, A2aTaskSlice, A2aTaskStore};
pub use memory::A2aMemoryTasks;
