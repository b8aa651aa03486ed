//! A provider as it was planned.

use std::ffi::OsString;
use std::sync::Arc;

use super::{ProviderPlan, ProviderSource};
use crate::catalog::ModelInfo;
use crate::endpoint::{Endpoint, EndpointOptions};
use crate::error::ProviderError;
use crate::failover::{Failover, Member};
use crate::id::{ModelId, ProviderId};
use crate::key::ApiKey;
use crate::provider::Provider;
use crate::recorder::Recorder;
use crate::replayer::Replayer;
use crate::resilient::{Resilient, ResilientOptions};
use crate::scripted::Scripted;
use crate::transport::Transport;
use crate::wait::RetryPolicy;

/// A provider that is ready to be asked, and what is known of its models.
#[derive(Clone)]
pub struct ChosenProvider {
    /// Whom to ask: it tries again, and has others answer where that was wanted.
    pub provider: Arc<dyn Provider>,
    /// The model to ask for, with its limits and prices.
    pub model: ModelInfo,
    /// Those that may answer in its place.
    pub failover: Vec<ModelInfo>,
    /// The keys that they are asked with.
    pub keys: Vec<ApiKey>,
}

impl ChosenProvider {
    /// What is known of the model that answered, which the first event of an answer names. Servers may name a snapshot that nobody asked for: then it is
    /// the one model of that provider.
    pub fn info(&self, provider: &ProviderId, model: &ModelId) -> Option<&ModelInfo> {
        let all = std::iter::once(&self.model).chain(&self.failover);
        let of_provider: Vec<&ModelInfo> = all.filter(|info| info.provider == *provider).collect();
        let is_named = |info: &&ModelInfo| info.names().any(|name| name == model);
        match (of_provider.iter().copied().find(is_named), of_provider.as_slice()) {
            (None, [only]) => Some(*only),
            (found, _) => found,
        }
    }
}

impl ProviderPlan {
    /// Reads keys and files, and makes the provider. Nothing is sent. `lookup` knows the variables.
    pub fn build(
        &self,
        lookup: impl Fn(&str) -> Option<OsString>,
    ) -> Result<ChosenProvider, ProviderError> {
        let recorder = self.record.as_deref().map(Recorder::create).transpose()?;
        let replayed = match &self.source {
            ProviderSource::Record(path) => Some(Arc::new(Replayer::open(path)?)),
            _ => None,
        };
        let mut keys = Vec::new();
        let mut endpoint = |model: &ModelInfo, base: Option<&str>| {
            let options = match &replayed {
                // Nothing is sent, so that no key is needed.
                Some(replayer) => EndpointOptions {
                    catalog: Arc::clone(&self.catalog),
                    transport: Some(Arc::clone(replayer) as Arc<dyn Transport>),
                    ..EndpointOptions::new(model.provider.clone())
                },
                None => self.catalog.endpoint(&model.provider, base, &lookup)?,
            };
            keys.extend(options.key.clone());
            Endpoint::new(EndpointOptions { recorder: recorder.clone(), ..options })
        };
        let first = match &self.source {
            ProviderSource::Script(path) => {
                self.resilient(Scripted::open(path)?.model(self.model.clone()))
            }
            _ => self.resilient(endpoint(&self.model, self.base.as_deref())?),
        };
        let mut members = vec![Member { provider: first, model: None }];
        for model in &self.failover {
            let provider = self.resilient(endpoint(model, None)?);
            members.push(Member { provider, model: Some(model.id.clone()) });
        }
        let provider = match members.as_slice() {
            [only] => Arc::clone(&only.provider),
            _ => Arc::new(Failover::new(self.model.provider.clone(), members)),
        };
        let (model, failover) = (self.model.clone(), self.failover.clone());
        Ok(ChosenProvider { provider, model, failover, keys })
    }

    fn resilient(&self, inner: impl Provider + 'static) -> Arc<dyn Provider> {
        let retry = RetryPolicy { attempts: self.attempts, ..RetryPolicy::default() };
        Arc::new(Resilient::new(inner, ResilientOptions { retry, ..ResilientOptions::default() }))
    }
}
