//! What Offshoot knows about git: which changes would make it run something, and how repositories come home.

mod names;
mod planted;

pub use planted::{Planted, Planting, planted};
