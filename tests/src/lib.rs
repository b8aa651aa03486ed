//! Support for end-to-end tests of the `offshoot` binary.

pub mod awkward;
pub mod image;
pub mod rng;
pub mod scan;
pub mod trace;
