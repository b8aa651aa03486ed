//! placeholder

pub mod diff;
