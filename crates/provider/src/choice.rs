//! A provider by what somebody asks for: from words to a plan, and from that to a provider.

mod build;
mod source;

use std::path::PathBuf;
use std::sync::Arc;

pub use self::build::ChosenProvider;
pub use self::source::ProviderSource;
use crate::catalog::{ModelCatalog, ModelInfo};
use crate::error::{ErrorKind, ProviderError};
use crate::id::{ModelId, ProviderId};
use crate::replayer::Replayer;
use crate::wait::RetryPolicy;

/// What a script is asked for, where nobody names a model.
const SCRIPTED: &str = "scripted";

/// What somebody asks for, and what is meant where they do not say.
///
/// ```
/// use std::sync::Arc;
/// use offshoot_provider::{ModelCatalog, ProviderChoice};
///
/// let choice = ProviderChoice { model: Some("ollama/qwen3:8b".to_owned()), ..ProviderChoice::default() };
/// let plan = choice.plan(&Arc::new(ModelCatalog::built_in()))?;
/// let chosen = plan.build(|name| std::env::var_os(name))?;
/// assert_eq!(chosen.model.id.as_str(), "qwen3:8b");
/// # Ok::<(), offshoot_provider::ProviderError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ProviderChoice {
    /// The provider, a script or a record; by default that of the model.
    pub provider: Option<ProviderSource>,
    /// The model: `PROVIDER/MODEL`, or a name that says enough. Together with a provider it is the provider's own name.
    pub model: Option<String>,
    /// Another base address than that of the catalog.
    pub base: Option<String>,
    /// Who answers when it cannot, in this order, as `PROVIDER/MODEL`. An empty list is nobody.
    pub failover: Option<Vec<String>>,
    /// How many requests are sent at most for one answer, with the first.
    pub attempts: Option<u32>,
    /// A new file that all exchanges are written to.
    pub record: Option<PathBuf>,
    /// What is meant by default.
    pub defaults: ChoiceDefaults,
}

/// What is meant where nobody asks for something else.
#[derive(Clone, Debug, Default)]
pub struct ChoiceDefaults {
    /// The model.
    pub model: Option<String>,
    /// Who answers when it cannot. Not for scripts and records: those are to answer the same each time.
    pub failover: Vec<String>,
    /// How many requests are sent at most for one answer.
    pub attempts: Option<u32>,
}

/// Which providers and models are used. All names are known; no key was looked at, and no file but a record whose models count.
#[derive(Clone, Debug)]
pub struct ProviderPlan {
    /// What answers.
    pub source: ProviderSource,
    /// The model, with its limits and prices.
    pub model: ModelInfo,
    /// Who answers when it cannot, in this order.
    pub failover: Vec<ModelInfo>,
    /// How many requests are sent at most for one answer.
    pub attempts: u32,
    /// Another base address of the first provider.
    pub base: Option<String>,
    /// A new file that all exchanges are written to.
    pub record: Option<PathBuf>,
    catalog: Arc<ModelCatalog>,
}

impl ProviderChoice {
    /// Finds the models that are meant. An unknown one is an error with near names. A record knows by itself which models it has, where none is named.
    pub fn plan(&self, catalog: &Arc<ModelCatalog>) -> Result<ProviderPlan, ProviderError> {
        match self.as_recorded()? {
            Some(recorded) => recorded.plan_named(catalog),
            None => self.plan_named(catalog),
        }
    }

    /// The same choice with the models and attempts of a record.
    fn as_recorded(&self) -> Result<Option<Self>, ProviderError> {
        let (Some(ProviderSource::Record(path)), None) = (&self.provider, &self.model) else {
            return Ok(None);
        };
        let record = Replayer::open(path)?;
        let mut models = record.models().into_iter();
        let Some(first) = models.next() else { return Ok(None) };
        Ok(Some(Self {
            model: Some(first),
            failover: Some(self.failover.clone().unwrap_or_else(|| models.collect())),
            attempts: Some(self.attempts.unwrap_or_else(|| record.attempts())),
            ..self.clone()
        }))
    }

    fn plan_named(&self, catalog: &Arc<ModelCatalog>) -> Result<ProviderPlan, ProviderError> {
        let source = self.provider.clone();
        let model = match &source {
            Some(ProviderSource::Catalog(provider)) => self.model_of(provider, catalog)?,
            Some(ProviderSource::Script(_)) => self.model_of_script(catalog)?,
            Some(ProviderSource::Record(_)) | None => {
                let named = self.model.as_ref().or(self.defaults.model.as_ref());
                catalog.find(named.ok_or_else(|| unnamed("no model is named", &[]))?)?
            }
        };
        let source = source.unwrap_or_else(|| ProviderSource::Catalog(model.provider.clone()));
        self.check(&source)?;
        let attempts = self.attempts.or(self.defaults.attempts);
        Ok(ProviderPlan {
            failover: self.failover(&source, &model, catalog)?,
            attempts: attempts.unwrap_or(RetryPolicy::default().attempts).max(1),
            base: self.base.clone(),
            record: self.record.clone(),
            catalog: Arc::clone(catalog),
            source,
            model,
        })
    }

    /// The model of a provider that was named.
    fn model_of(
        &self,
        provider: &ProviderId,
        catalog: &ModelCatalog,
    ) -> Result<ModelInfo, ProviderError> {
        catalog.provider(provider)?;
        if let Some(named) = &self.model {
            let own = named.strip_prefix(provider.as_str()).and_then(|rest| rest.strip_prefix('/'));
            return catalog.model(provider, &ModelId::from(own.unwrap_or(named)));
        }
        if let Some(named) = &self.defaults.model {
            let usual = catalog.find(named)?;
            if usual.provider == *provider {
                return Ok(usual);
            }
        }
        let all: Vec<&ModelInfo> = catalog.models(provider).collect();
        match all.as_slice() {
            [only] => Ok((*only).clone()),
            all => Err(unnamed(&format!("no model of {provider} is named"), all)),
        }
    }

    /// A script answers for any model: a known one has its limits and prices.
    fn model_of_script(&self, catalog: &ModelCatalog) -> Result<ModelInfo, ProviderError> {
        let Some(named) = &self.model else { return Ok(ModelInfo::new(SCRIPTED, SCRIPTED)) };
        match catalog.find(named) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(ModelInfo::new(SCRIPTED, named.as_str()))
            }
            found => found,
        }
    }

    fn failover(
        &self,
        source: &ProviderSource,
        first: &ModelInfo,
        catalog: &ModelCatalog,
    ) -> Result<Vec<ModelInfo>, ProviderError> {
        let named = match (&self.failover, source) {
            (Some(named), _) => named,
            (None, ProviderSource::Catalog(_)) => &self.defaults.failover,
            (None, _) => return Ok(Vec::new()),
        };
        let mut found: Vec<ModelInfo> = Vec::new();
        for name in named {
            let model = catalog.find(name)?;
            let is_there = |other: &ModelInfo| other.full_name() == model.full_name();
            // Who could not answer is not asked once more.
            if !is_there(first) && !found.iter().any(is_there) {
                found.push(model);
            }
        }
        Ok(found)
    }

    /// What goes with no server.
    fn check(&self, source: &ProviderSource) -> Result<(), ProviderError> {
        let what = match source {
            ProviderSource::Catalog(_) => return Ok(()),
            ProviderSource::Script(_) => "a script",
            ProviderSource::Record(_) => "a record",
        };
        let wrong = |said: String| Err(ProviderError::new(ErrorKind::BadRequest, said));
        match (&self.base, &self.record) {
            (Some(_), _) => wrong(format!("{what} has no base address")),
            (_, Some(_)) => wrong(format!("{what} asks nobody whose answers could be recorded")),
            (None, None) => Ok(()),
        }
    }
}

fn unnamed(what: &str, some: &[&ModelInfo]) -> ProviderError {
    let names: Vec<String> = some.iter().take(3).map(|model| model.full_name()).collect();
    let hint = match names.as_slice() {
        [] => "name one as PROVIDER/MODEL".to_owned(),
        names => format!("name one, such as {}", names.join(" or ")),
    };
    ProviderError::new(ErrorKind::BadRequest, what).with_hint(hint)
}

#[cfg(test)]
mod tests;
