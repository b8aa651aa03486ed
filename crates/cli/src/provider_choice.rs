//! Which language model is asked: what options and settings say about it, as the provider's crate takes it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueHint};
use offshoot_protocol::{ExitCode, Hint, KeyOrigin, ModelInterface, ProviderKeyDoc, Text};
use offshoot_provider::{
    ChoiceDefaults, ErrorKind, KeySource, ModelApi, ModelCatalog, ProviderChoice, ProviderError,
    ProviderId, ProviderPlan, ProviderSource,
};

use crate::complete;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::render;

// Not a doc comment: clap would say it of the command. Options of every command that asks a model.
#[derive(Debug, Args)]
pub(crate) struct ProviderArgs {
    /// Ask this provider, or a file in its place [default: that of the model]
    #[arg(long, value_name = "NAME|scripted:FILE|replay:FILE", add = complete::providers())]
    pub(crate) provider: Option<String>,
    /// Ask for this model, as PROVIDER/MODEL or a name that is enough [default: agent.model]
    #[arg(long, value_name = "MODEL", add = complete::models())]
    pub(crate) model: Option<String>,
    /// Ask at this address in place of the provider's own
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) base_url: Option<String>,
    /// Have these models answer when it cannot; '' for none [default: agent.failover]
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    pub(crate) failover: Option<Vec<String>>,
    /// Send at most so many requests for one answer [default: agent.attempts]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=20))]
    pub(crate) attempts: Option<u32>,
    /// Write all requests and answers to a new file, for replay:FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) record: Option<PathBuf>,
}

impl ProviderArgs {
    /// What a file says in place of options.
    pub(crate) fn of(provider: Option<String>, model: Option<String>) -> Self {
        Self { provider, model, base_url: None, failover: None, attempts: None, record: None }
    }

    /// What is used by these options and the settings, where every name is known. No key was read yet: `build` of the plan does that with [`lookup`], and
    /// gives the provider.
    pub(crate) fn plan(&self, context: &Context) -> Result<ProviderPlan> {
        self.plan_with(context, defaults(context))
    }

    /// The same with other defaults than those of the settings.
    pub(crate) fn plan_with(
        &self,
        context: &Context,
        defaults: ChoiceDefaults,
    ) -> Result<ProviderPlan> {
        let provider = self.provider.as_deref().map(str::parse::<ProviderSource>).transpose();
        let failover = self.failover.as_ref().map(|names| {
            let names = names.iter().map(|name| name.trim().to_owned());
            names.filter(|name| !name.is_empty()).collect()
        });
        let choice = ProviderChoice {
            provider: provider.map_err(error)?,
            model: self.model.clone(),
            base: self.base_url.clone(),
            failover,
            attempts: self.attempts,
            record: self.record.clone(),
            defaults,
        };
        if choice.provider.is_none() && choice.model.is_none() && choice.defaults.model.is_none() {
            return Err(unset());
        }
        choice.plan(&catalog(context)?).map_err(error)
    }
}

/// What the settings say.
pub(crate) fn defaults(context: &Context) -> ChoiceDefaults {
    let own = &context.config().agent;
    ChoiceDefaults {
        model: own.model().map(str::to_owned),
        failover: own.failover(),
        attempts: Some(own.attempts),
    }
}

fn unset() -> CliError {
    let hint = Hint::command("offshoot models")
        .text(" lists models, and ")
        .then("offshoot config set agent.model PROVIDER/MODEL")
        .text(" sets one");
    CliError::usage("no model is named: agent.model is not set").hint(hint)
}

/// The catalog of the program, with the user's file laid over it.
pub(crate) fn catalog(context: &Context) -> Result<Arc<ModelCatalog>> {
    let catalog = ModelCatalog::built_in();
    let Some(text) = context.engine.model_file_text()? else { return Ok(Arc::new(catalog)) };
    let laid = catalog.with_file(&text).map_err(|error| {
        let file = context.engine.model_file().unwrap_or_default();
        let file = offshoot_engine::text::host_path(&file);
        CliError::usage(format!("{file}: {}", error.details().message.trim_end()))
    })?;
    Ok(Arc::new(laid))
}

/// The variables of the caller.
pub(crate) fn lookup(context: &Context) -> impl Fn(&str) -> Option<OsString> {
    let variables = context.engine.viewer().variables;
    move |name| {
        let mut found = variables.iter().rev().filter(|(set, _)| set == name);
        found.next().map(|(_, value)| value.clone())
    }
}

/// An error of a provider as people see it here.
pub(crate) fn error(error: ProviderError) -> CliError {
    let code = match error.kind() {
        ErrorKind::NotFound => ExitCode::NotFound,
        ErrorKind::BadRequest | ErrorKind::Auth => ExitCode::Usage,
        _ => ExitCode::Failure,
    };
    let (message, hint) = words(&error);
    let told = CliError::new(code, message);
    match hint {
        Some(hint) => told.hint(hint),
        None => told,
    }
}

/// What is wrong, and what to do about it.
pub(crate) fn words(error: &ProviderError) -> (String, Option<String>) {
    let details = error.details();
    let mut bare = details.clone();
    let hint = bare.hint.take();
    (bare.to_string(), hint)
}

/// Where the key of a provider comes from; none where it wants none.
pub(crate) fn key_of(
    catalog: &ModelCatalog,
    provider: &ProviderId,
    context: &Context,
) -> Option<ProviderKeyDoc> {
    let source = catalog.key_source(provider)?;
    let (origin, name) = match &source {
        KeySource::Variable(name) => (KeyOrigin::Variable, name.clone().into()),
        KeySource::File(path) => (KeyOrigin::File, path.clone().into_os_string()),
        // Arguments may say more than people want to show.
        KeySource::Command(words) => {
            (KeyOrigin::Command, words.first().cloned().unwrap_or_default().into())
        }
        KeySource::Value(_) => return None,
    };
    let name = Text::new(OsString::as_os_str(&name).as_encoded_bytes());
    Some(ProviderKeyDoc { origin, name, is_set: source.is_set(lookup(context)) })
}

/// Where a key comes from, in a few words.
pub(crate) fn key_text(key: Option<&ProviderKeyDoc>) -> String {
    let Some(key) = key else { return "not needed".to_owned() };
    let name = render::text(&key.name);
    let what = match key.origin {
        KeyOrigin::Variable => format!("${name}"),
        KeyOrigin::File => name,
        KeyOrigin::Command => format!("what {name} prints"),
    };
    match key.is_set {
        Some(false) => format!("{what} (not set)"),
        _ => what,
    }
}

/// An interface by its word.
pub(crate) fn interface(api: ModelApi) -> ModelInterface {
    match api {
        ModelApi::OpenaiChat => ModelInterface::OpenaiChat,
        ModelApi::OpenaiResponses => ModelInterface::OpenaiResponses,
        ModelApi::Anthropic => ModelInterface::Anthropic,
        ModelApi::Gemini => ModelInterface::Gemini,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_called_the_same_in_catalogs_and_documents() {
        for api in
            [ModelApi::OpenaiChat, ModelApi::OpenaiResponses, ModelApi::Anthropic, ModelApi::Gemini]
        {
            assert_eq!(interface(api).as_str(), api.as_str());
        }
    }
}
