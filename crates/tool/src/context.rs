//! What one call is given.

use std::fmt;
use std::sync::Arc;

use offshoot_engine::Workspace;
use offshoot_engine::id::Id;
use offshoot_engine::session::CallKey;
use tokio_util::sync::CancellationToken;

use crate::capability::Capabilities;
use crate::host::ToolHost;

type Listener = Arc<dyn Fn(CallProgress) + Send + Sync>;

/// What one call is given. Cheap to clone.
#[derive(Clone)]
pub struct CallContext {
    host: Arc<ToolHost>,
    call: Arc<str>,
    cancel: CancellationToken,
    capabilities: Arc<Capabilities>,
    progress: Option<Listener>,
    approved: bool,
}

/// What happens while a call is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallProgress {
    /// A command printed something.
    Output(String),
    /// The workspace is in use; the call waits.
    Waiting {
        /// Who uses it.
        holder: String,
    },
    /// A person has to decide about a command.
    Pending {
        /// The approval.
        approval: Id,
    },
}

impl CallContext {
    /// For a call of this name, which its maker keeps: in a [session](ToolHost::session), nothing is done twice under one name. It has no
    /// capabilities yet.
    pub fn new(host: Arc<ToolHost>, call: impl Into<Arc<str>>) -> Self {
        let (cancel, capabilities) = (CancellationToken::new(), Arc::default());
        Self { host, call: call.into(), cancel, capabilities, progress: None, approved: false }
    }

    /// With what the call may use.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = Arc::new(capabilities);
        self
    }

    /// Ends the call when this is cancelled.
    #[must_use]
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }

    /// Tells what happens meanwhile. The listener must not wait for anything.
    #[must_use]
    pub fn progress(mut self, listener: impl Fn(CallProgress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(listener));
        self
    }

    /// A person agreed to what the policy of calls asks about.
    #[must_use]
    pub fn approved(mut self, approved: bool) -> Self {
        self.approved = approved;
        self
    }

    /// What the calls of the session share.
    pub fn host(&self) -> &Arc<ToolHost> {
        &self.host
    }

    /// The name of the call.
    pub fn call(&self) -> &str {
        &self.call
    }

    /// What the vault knows the call by, in a session.
    pub fn key(&self) -> Option<CallKey> {
        Some(self.host.own_session()?.call_key(&self.call))
    }

    /// The workspace, for what the call changes there.
    pub fn workspace(&self) -> Workspace {
        let workspace = self.host.workspace();
        match self.key() {
            Some(key) => workspace.under_call(key),
            None => workspace.clone(),
        }
    }

    /// Cancelled when the call should end.
    pub fn token(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Whether the call may use something.
    pub fn has(&self, capability: &crate::capability::Capability) -> bool {
        self.capabilities.has(capability)
    }

    /// Whether a person agreed to what the policy of calls asks about.
    pub fn is_approved(&self) -> bool {
        self.approved
    }

    /// Tells that something happened.
    pub fn tell(&self, progress: CallProgress) {
        if let Some(listener) = &self.progress {
            listener(progress);
        }
    }
}

impl CallContext {
    /// The listener alone, which keeps nothing of the session alive.
    pub(crate) fn listener(&self) -> impl Fn(CallProgress) + Send + Sync + 'static {
        let listener = self.progress.clone();
        move |progress| {
            if let Some(listener) = &listener {
                listener(progress);
            }
        }
    }

    /// The same context with a token of its own, which is cancelled with this one.
    pub(crate) fn child(&self) -> Self {
        Self { cancel: self.cancel.child_token(), ..self.clone() }
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext").field("call", &self.call).finish_non_exhaustive()
    }
}
