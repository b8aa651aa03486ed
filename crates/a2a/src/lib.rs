//! Agents for other programs by the A2A protocol, revision 1.0: server and client.
//!
//! Who does the work is an [`A2aAgent`], who keeps tasks an [`A2aTaskStore`]; [`A2aServer`] joins them and answers JSON-RPC and
//! HTTP+JSON. [`A2aClient`] asks agents of others. `docs/design/a2a.md` says what is where and why.
//!
//! The crate knows no other crate of the house: what an agent is made of is above.

mod agent;
mod bounds;
mod check;
mod client;
mod fault;
mod hub;
mod id;
mod limits;
mod push;
mod reach;
mod record;
mod server;
mod service;
mod store;
mod web;
mod wire;
mod work;

pub use agent::{A2aAfterRestart, A2aAgent, A2aTaskFailure};
pub use client::{A2aClient, A2aClientError, A2aClientOptions, A2aStream};
pub use fault::{A2aCode, A2aFault};
pub use limits::{A2aLimits, A2aPushLimits, A2aTaskLimits};
pub use reach::{A2aAddress, A2aAddressPolicy, A2aReach};
pub use record::{A2aRefusal, A2aTaskChange, A2aTaskRecord, A2aTaskStep};
pub use server::{A2aAccess, A2aServer, A2aServerError, A2aServerOptions, CARD_PATH};
pub use store::{
    A2aChanged, A2aFileOptions, A2aFileTasks, A2aMemoryTasks, A2aStoreError, A2aTaskQuery,
    A2aTaskSlice, A2aTaskStore,
};
pub use wire::{
    A2A_VERSION, A2aArtifact, A2aArtifactUpdate, A2aCapabilities, A2aCard, A2aCardSignature,
    A2aContent, A2aEvent, A2aExtension, A2aInterface, A2aMessage, A2aMetadata, A2aPart,
    A2aProvider, A2aPushAuthentication, A2aPushConfig, A2aPushList, A2aReply, A2aRole, A2aScopes,
    A2aSecurityRequirement, A2aSecurityScheme, A2aSend, A2aSendSettings, A2aSkill, A2aState,
    A2aStatus, A2aStatusUpdate, A2aTask, A2aTaskFilter, A2aTaskPage, BINDING_JSONRPC, BINDING_REST,
};
pub use work::{A2aPause, A2aWork, A2aWorkError};
