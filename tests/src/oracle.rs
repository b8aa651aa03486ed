//! Random programs that change a tree, and what they must have changed.
//!
//! A case is a small tree ([`tree`]) and a program for it ([`generate`]), both from a seed. The binary `oracle-program`
//! runs the program in its current directory ([`interpret`]) and says how each step ended, so that the same program can
//! be run on a plain directory and inside the product, and everything about both compared. What changed is found by two
//! full scans ([`changes`]); what is seen from inside is passed out as text ([`listing`]).

pub mod changes;
pub mod generate;
pub mod interpret;
pub mod listing;
pub mod step;
pub mod tree;
