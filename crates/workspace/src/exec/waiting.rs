//! What is kept of a request that waits, so that it can run when a person has approved of it.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use offshoot_protocol::{ApprovalVariableDoc, Text};
use offshoot_sandbox::Stdin;
use offshoot_scrub::{Scrubbed, scrub};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::options::RuntimeOptions;
use super::request::ExecutionRequest;
use super::stored::StoredRequest;

/// A request that waits, with what it reads and the limits that it was asked with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingRequest {
    exec: StoredRequest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stdin: Option<Text>,
    /// Files of rules that hold for this command alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rules: Vec<Text>,
    /// Whether it gets the package caches of the vault.
    caches: bool,
    limits: WaitingLimits,
}

/// What it may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct WaitingLimits {
    processes: Option<u64>,
    file_size: Option<u64>,
    memory: Option<u64>,
    cpu: Option<Duration>,
    tmpfs: Option<u64>,
    disk: Option<u64>,
}

impl WaitingRequest {
    /// Of a request; none where what it reads cannot be kept.
    pub(super) fn of(request: &ExecutionRequest, options: &RuntimeOptions) -> Option<Value> {
        let stdin = match (&request.stdin, &request.terminal) {
            (Stdin::From(_), _) | (_, Some(_)) => return None,
            (Stdin::Empty, None) => None,
            (Stdin::Bytes(bytes), None) => Some(Text::new(bytes)),
        };
        let rules = options.request_rules.iter();
        let waiting = Self {
            exec: StoredRequest::of(request),
            stdin,
            rules: rules.map(|path| Text::new(path.as_os_str().as_bytes())).collect(),
            caches: options.caches.is_some(),
            limits: WaitingLimits {
                processes: options.limits.processes,
                file_size: options.limits.file_size,
                memory: options.limits.memory,
                cpu: options.limits.cpu,
                tmpfs: options.limits.tmpfs,
                disk: options.max_disk,
            },
        };
        serde_json::to_value(waiting).ok()
    }

    /// What was kept; none where it is nothing that this program wrote.
    pub fn parse(value: &Value) -> Option<Self> {
        serde_json::from_value(value.clone()).ok()
    }

    /// The files of rules that hold for it alone.
    pub fn rules(&self) -> Option<Vec<PathBuf>> {
        let path =
            |text: &Text| Some(PathBuf::from(std::ffi::OsString::from_vec(text.to_bytes()?)));
        self.rules.iter().map(path).collect()
    }

    /// The variables that the caller set, without the values of those that seem to be secrets.
    pub fn variables(&self) -> Vec<ApprovalVariableDoc> {
        let set = self.exec.variables();
        set.map(|(name, value)| {
            let line = [&name.to_bytes().unwrap_or_default()[..], b"="].concat();
            let line = [line, value.to_bytes().unwrap_or_default()].concat();
            let is_plain = matches!(scrub("environment", &line), Scrubbed::Whole);
            ApprovalVariableDoc { name: name.clone(), value: is_plain.then(|| value.clone()) }
        })
        .collect()
    }

    /// Whether it gets the package caches of the vault.
    pub fn caches(&self) -> bool {
        self.caches
    }

    /// Has the limits hold that it was asked with.
    pub fn limit(&self, options: &mut RuntimeOptions) {
        let WaitingLimits { processes, file_size, memory, cpu, tmpfs, disk } = self.limits.clone();
        let limits = &mut options.limits;
        (limits.processes, limits.file_size, limits.memory) = (processes, file_size, memory);
        (limits.cpu, limits.tmpfs, options.max_disk) = (cpu, tmpfs, disk);
    }

    /// The request again; none where a text in it is none.
    pub fn into_request(self) -> Option<ExecutionRequest> {
        let mut request = self.exec.into_request()?;
        if let Some(stdin) = &self.stdin {
            (request.stdin, request.has_stdin) = (Stdin::Bytes(stdin.to_bytes()?), true);
        }
        Some(request)
    }
}
