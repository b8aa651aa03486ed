//! `offshoot providers check`: whether providers answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use futures::future::join_all;
use offshoot_protocol::{
    ExitCode, ProviderAskedDoc, ProviderCheckDoc, ProviderCheckedDoc, ProviderState,
};
use offshoot_provider::{
    Block, Endpoint, EndpointOptions, ErrorKind, Message, ModelCatalog, ModelId, ModelInfo,
    Provider, ProviderError, ProviderId, Request, TimeLimits,
};

use super::in_use;
use crate::complete;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::provider_choice::{self, catalog, key_of, key_text, lookup, words};
use crate::render::{BAD, DIM, GOOD, NAME, line, paint, table};

pub(super) const EXAMPLES: &str = "\
Examples:
  offshoot providers check
  offshoot providers check anthropic ollama --json
  offshoot providers check llama-cpp --base-url http://127.0.0.1:9090/v1
  offshoot providers check openai --ask        ask a model, which costs a little

It asks each provider which models it has, which costs nothing. Exit codes: 0 all that have to be
ready are, 1 one of them is not or none is ready, 2 models.toml is wrong, 3 there is no such
provider. Those that you name, that agent.model or agent.failover names, and that have a key have
to be ready.";

/// How long is waited for a list, and for an answer.
const PATIENCE: TimeLimits = TimeLimits {
    connect: Duration::from_secs(5),
    first_event: Duration::from_secs(30),
    idle: Duration::from_secs(30),
    total: Some(Duration::from_secs(30)),
};

/// The least that all interfaces take as the limit of an answer.
const FEWEST_TOKENS: u64 = 16;

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Which providers [default: all]
    #[arg(value_name = "PROVIDER", add = complete::providers())]
    providers: Vec<String>,
    /// Ask a model of each for a few tokens, too, which costs a little
    #[arg(long)]
    ask: bool,
    /// Ask for this model [default: the one in use, or the cheapest known]
    #[arg(long, value_name = "MODEL", requires = "ask", add = complete::models())]
    model: Option<String>,
    /// Ask the one provider at this address in place of its own
    #[arg(long, value_name = "URL", requires = "providers", value_hint = clap::ValueHint::Url)]
    base_url: Option<String>,
}

pub(super) fn run(args: &CheckArgs, context: &Context) -> Result<()> {
    let catalog = catalog(context)?;
    let named: Vec<ProviderId> = args.providers.iter().map(|name| name.as_str().into()).collect();
    for name in &named {
        catalog.provider(name).map_err(provider_choice::error)?;
    }
    if args.base_url.is_some() && named.len() > 1 {
        return Err(CliError::usage("--base-url is the address of one provider: name that alone"));
    }
    let asked =
        args.model.as_deref().map(|name| named_model(name, &named, &catalog)).transpose()?;
    let all = if named.is_empty() { catalog.providers().cloned().collect() } else { named.clone() };
    let check =
        Check { catalog: &catalog, context, args, in_use: in_use(&catalog, context), asked };
    let begun: Vec<Begun> = all.iter().map(|id| check.begin(id, !named.is_empty())).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        CliError::new(ExitCode::Failure, format!("cannot wait for answers: {error}"))
    })?;
    let providers = runtime.block_on(join_all(begun.into_iter().map(|one| check.finish(one))));
    // Names that are still looked up are not waited for.
    runtime.shutdown_background();
    context.output.data(ProviderCheckDoc { providers }, text)
}

/// The model that was named, which is of a provider that is checked.
fn named_model(name: &str, named: &[ProviderId], catalog: &ModelCatalog) -> Result<ModelInfo> {
    let found = match named {
        [only] => {
            let own = name.strip_prefix(only.as_str()).and_then(|rest| rest.strip_prefix('/'));
            catalog.model(only, &ModelId::from(own.unwrap_or(name)))
        }
        _ => catalog.find(name),
    };
    found.map_err(provider_choice::error)
}

struct Check<'a> {
    catalog: &'a Arc<ModelCatalog>,
    context: &'a Context,
    args: &'a CheckArgs,
    /// The models that settings name, by provider.
    in_use: Vec<(ProviderId, String)>,
    /// The model that was named.
    asked: Option<ModelInfo>,
}

/// What is known of a provider before it is asked.
struct Begun {
    id: ProviderId,
    document: ProviderCheckedDoc,
    endpoint: Option<Endpoint>,
}

impl Check<'_> {
    /// Reads the key, which a program may have to be run for.
    fn begin(&self, id: &ProviderId, is_named: bool) -> Begun {
        let key = key_of(self.catalog, id, self.context);
        let has_key = key.as_ref().is_some_and(|key| key.is_set != Some(false));
        let usual = self.catalog.provider(id).map(|info| info.base.clone()).unwrap_or_default();
        let mut document = ProviderCheckedDoc {
            name: id.to_string(),
            base: self.args.base_url.clone().unwrap_or(usual),
            key,
            state: ProviderState::Ready,
            is_required: is_named || has_key || self.in_use.iter().any(|(used, _)| used == id),
            latency_ms: None,
            models: None,
            missing: Vec::new(),
            asked: None,
            problem: None,
            hint: None,
        };
        let options =
            self.catalog.endpoint(id, self.args.base_url.as_deref(), lookup(self.context));
        let made = options
            .and_then(|options| Endpoint::new(EndpointOptions { times: PATIENCE, ..options }));
        let endpoint = match made {
            Ok(endpoint) => Some(endpoint),
            Err(error) => {
                let is_key = error.kind() == ErrorKind::Auth;
                let state = if is_key { ProviderState::NoKey } else { ProviderState::Unusable };
                failed(&mut document, state, &error);
                None
            }
        };
        Begun { id: id.clone(), document, endpoint }
    }

    /// Asks it which models it has, and one of them where that is wanted.
    async fn finish(&self, begun: Begun) -> ProviderCheckedDoc {
        let Begun { id, mut document, endpoint } = begun;
        let Some(endpoint) = endpoint else { return document };
        let started = Instant::now();
        let listed = match endpoint.models().await {
            Ok(listed) => listed,
            Err(error) => {
                failed(&mut document, state_of(&error), &error);
                if !self.args.ask && error.kind() == ErrorKind::NotFound {
                    document.hint = Some("with --ask, a model is asked instead".to_owned());
                }
                // Servers that list nothing may answer all the same.
                if !(self.args.ask && error.kind() == ErrorKind::NotFound) {
                    return document;
                }
                Vec::new()
            }
        };
        if document.problem.is_none() {
            document.latency_ms = Some(millis(started));
            document.models = Some(listed.len() as u64);
            let used = self.in_use.iter().filter(|(provider, _)| *provider == id);
            let missing =
                used.filter(|(_, model)| !listed.iter().any(|name| name.as_str() == model));
            document.missing = missing.map(|(_, model)| model.clone()).collect();
        }
        if self.args.ask
            && let Some(model) = self.model_to_ask(&id, &listed)
        {
            self.ask(&endpoint, &model, &mut document).await;
        }
        document
    }

    /// The model that was named, or the one in use, or the cheapest, or the first that the server has.
    fn model_to_ask(&self, id: &ProviderId, listed: &[ModelId]) -> Option<ModelId> {
        if let Some(asked) = self.asked.as_ref().filter(|asked| asked.provider == *id) {
            return Some(asked.id.clone());
        }
        if let Some((_, model)) = self.in_use.iter().find(|(provider, _)| provider == id) {
            return Some(ModelId::from(model.as_str()));
        }
        let priced = self.catalog.models(id).filter_map(|model| Some((model.price.output?, model)));
        let cheapest = priced.min_by_key(|(price, _)| *price).map(|(_, model)| model);
        let known = cheapest.or_else(|| self.catalog.models(id).last());
        known.map(|model| model.id.clone()).or_else(|| listed.first().cloned())
    }

    async fn ask(&self, endpoint: &Endpoint, model: &ModelId, document: &mut ProviderCheckedDoc) {
        let name = &document.name;
        self.context.output.at_once(&format!(
            "asking {name}/{model} for at most {FEWEST_TOKENS} tokens, which its provider may charge for"
        ));
        let mut request = Request::new(model.clone())
            .message(Message::user([Block::text("Answer with the word yes.")]));
        request.max_output = Some(FEWEST_TOKENS);
        let started = Instant::now();
        match endpoint.complete(&request).await {
            Ok(answer) => {
                document.asked = Some(ProviderAskedDoc {
                    model: model.to_string(),
                    latency_ms: millis(started),
                    cost: answer
                        .cost
                        .map(|cost| cost.to_string().trim_start_matches('$').to_owned()),
                });
                (document.state, document.problem, document.hint) =
                    (ProviderState::Ready, None, None);
            }
            Err(error) => failed(document, state_of(&error), &error),
        }
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn state_of(error: &ProviderError) -> ProviderState {
    match error.kind() {
        ErrorKind::Network | ErrorKind::Timeout => ProviderState::Unreachable,
        _ => ProviderState::Refused,
    }
}

fn failed(document: &mut ProviderCheckedDoc, state: ProviderState, error: &ProviderError) {
    let (problem, hint) = words(error);
    let own = problem.strip_prefix(&document.name).and_then(|rest| rest.strip_prefix(": "));
    document.problem = Some(own.map_or_else(|| problem.clone(), str::to_owned));
    let is_here =
        ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| document.base.contains(host));
    let usual = match state {
        ProviderState::Unreachable if is_here => Some("start the server, or name its address"),
        ProviderState::Unreachable => Some("check the address and the network"),
        _ => None,
    };
    document.hint = hint.or_else(|| usual.map(str::to_owned));
    document.state = state;
}

fn text(document: &ProviderCheckDoc) -> String {
    let rows = document.providers.iter().map(|one| {
        let style = match (one.state, one.is_required) {
            (ProviderState::Ready, _) => GOOD,
            (_, true) => BAD,
            (_, false) => DIM,
        };
        let time = one.latency_ms.map(|ms| format!("{ms} ms")).unwrap_or_default();
        let models = one.models.map(|count| count.to_string()).unwrap_or_default();
        let state = paint(style, &one.state.to_string().replace('_', " "));
        let name = paint(NAME, &line(&one.name));
        vec![name, state, time, models, key_text(one.key.as_ref()), line(&one.base)]
    });
    let header = ["PROVIDER", "STATE", "TIME", "MODELS", "KEY", "ADDRESS"];
    let mut text = table(&header, rows.collect());
    let is_ready = |one: &ProviderCheckedDoc| one.state == ProviderState::Ready;
    if !document.providers.iter().any(|one| one.is_required || is_ready(one)) {
        text.push_str("none is ready: set the variable of a key, or start a server\n");
    }
    for one in &document.providers {
        let name = paint(NAME, &line(&one.name));
        if let Some(asked) = &one.asked {
            let cost = asked.cost.as_ref().map(|cost| format!(", for ${cost}")).unwrap_or_default();
            let model = line(&asked.model);
            text.push_str(&format!("{name}: {model} answered in {} ms{cost}\n", asked.latency_ms));
        }
        for model in &one.missing {
            text.push_str(&format!(
                "{name}: the server does not list {}, which is in use\n",
                line(model)
            ));
        }
        if let Some(problem) = one.problem.as_ref().filter(|_| one.is_required) {
            let hint =
                one.hint.as_ref().map(|hint| format!("; {}", line(hint))).unwrap_or_default();
            text.push_str(&format!("{name}: {}{}\n", line(problem), paint(DIM, &hint)));
        }
    }
    text
}
