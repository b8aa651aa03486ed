//! What all connections of a server share.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::access::{A2aAccess, Names};
use super::cards::Card;
use crate::service::Service;

/// Where the card is.
pub const CARD_PATH: &str = "/.well-known/agent-card.json";
/// Where JSON-RPC is.
pub(super) const RPC_PATH: &str = "/a2a/rpc";
/// Below what the paths of REST are.
pub(super) const REST_PATH: &str = "/a2a/rest";

/// What all connections share.
pub(super) struct Shared {
    pub(super) service: Service,
    pub(super) access: A2aAccess,
    pub(super) names: Names,
    pub(super) card: Card,
    pub(super) streams: Arc<Semaphore>,
    pub(super) over: CancellationToken,
}
