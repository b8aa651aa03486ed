//! Support for end-to-end tests of the `offshoot` binary.
//!
//! This crate is an independent witness: it depends on no crate of the product, so that a mistake
//! there cannot hide itself here. It makes trees that are hard to keep ([`awkward`]), says what is
//! in a tree ([`scan`]), runs a program while it breaks its system calls ([`trace`]), offers small
//! file systems that lose power ([`image`]), makes programs that change a tree and says what they changed ([`oracle`]),
//! runs the real binary ([`product`], with packages from a [`registry`]) also as an ordinary user ([`user`]), kills programs that use it as a library ([`host`]), holds its documents against their schema
//! ([`schema`]) and what pages show against what is printed ([`document`], [`redact`]), measures its [`memory`], and says how much to do ([`tier`]). Tests of a crate find a place for
//! what they make ([`scratch`]) and start themselves again as another user ([`child`]).

pub mod awkward;
pub mod child;
pub mod document;
pub mod host;
pub mod image;
pub mod memory;
pub mod oracle;
pub mod product;
pub mod redact;
pub mod registry;
pub mod rng;
pub mod scan;
pub mod schema;
pub mod scratch;
pub mod stories;
pub mod tier;
pub mod trace;
pub mod user;
