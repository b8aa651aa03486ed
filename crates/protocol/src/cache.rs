//! Documents about package caches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Kind;
use crate::schema::{self, Schema};

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[schema::of::<CacheListDoc>, schema::of::<CacheClearDoc>];

/// A package cache of a vault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheDoc {
    /// Its name.
    pub name: String,
    /// The bytes that it takes on disk.
    pub bytes: u64,
    /// When a command last added something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<String>,
}

/// The package caches of a vault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheListDoc {
    /// The vault.
    pub vault: String,
    /// Those that have something in them, by name.
    pub caches: Vec<CacheDoc>,
    /// The bytes that all take on disk.
    pub total_bytes: u64,
    /// How many they may take.
    pub max_bytes: u64,
}

impl Kind for CacheListDoc {
    const KIND: &'static str = "cache.list";
}

/// Package caches that were cleared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheClearDoc {
    /// The vault.
    pub vault: String,
    /// What was removed.
    pub cleared: Vec<CacheDoc>,
    /// The bytes that it took on disk.
    pub freed_bytes: u64,
}

impl Kind for CacheClearDoc {
    const KIND: &'static str = "cache.clear";
}
