//! What is on the wire: the messages of the protocol in their JSON form.
//!
//! Names of fields are those of the specification in lowerCamelCase. Unknown fields are ignored, `null` is the same as an absent field.

mod card;
mod field;
mod message;
mod part;
mod push;
mod request;
mod task;

pub use card::{
    A2aCapabilities, A2aCard, A2aCardSignature, A2aExtension, A2aInterface, A2aProvider, A2aScopes,
    A2aSecurityRequirement, A2aSecurityScheme, A2aSkill, BINDING_JSONRPC, BINDING_REST,
};
pub use field::A2aMetadata;
pub use message::{A2aArtifact, A2aMessage, A2aRole};
pub use part::{A2aContent, A2aPart};
pub use push::{A2aPushAuthentication, A2aPushConfig, A2aPushList};
pub use request::{A2aSend, A2aSendSettings, A2aTaskFilter, A2aTaskPage};
pub(crate) use request::{CancelTask, GetTask, PushConfigs, PushKey, SubscribeTask};
pub use task::{
    A2aArtifactUpdate, A2aEvent, A2aReply, A2aState, A2aStatus, A2aStatusUpdate, A2aTask,
};

/// The revision of the protocol, as headers and cards name it.
pub const A2A_VERSION: &str = "1.0";
