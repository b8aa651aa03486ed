//! Providers over HTTP, asked of a server on loopback that answers as the vendors do, or breaks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "provider/answers.rs"]
mod answers;
#[path = "provider/bounds.rs"]
mod bounds;
#[path = "provider/choices.rs"]
mod choices;
#[path = "provider/keys.rs"]
mod keys;
#[path = "provider/listing.rs"]
mod listing;
#[path = "provider/noise.rs"]
mod noise;
#[path = "provider/records.rs"]
mod records;
#[path = "provider/refusals.rs"]
mod refusals;
#[path = "provider/requests.rs"]
mod requests;
#[path = "provider/retries.rs"]
mod retries;
#[path = "provider/round_trip.rs"]
mod round_trip;
#[path = "provider/server.rs"]
mod server;
#[path = "provider/support.rs"]
mod support;
#[path = "provider/vendors.rs"]
mod vendors;
