//! `offshoot providers`: who has language models, and whether they answer.

mod check;

use clap::Subcommand;
use offshoot_protocol::{ProviderDoc, ProviderListDoc, Text};
use offshoot_provider::{ModelCatalog, ProviderId};

use crate::context::Context;
use crate::error::Result;
use crate::provider_choice::{catalog, defaults, interface, key_of, key_text};
use crate::render::{GOOD, NAME, line, paint, table};

use self::check::CheckArgs;

const LIST_EXAMPLES: &str = "\
Examples:
  offshoot providers list
  offshoot providers list --json

Nothing is asked, and no key is read. Your own providers, and where keys come from, belong in
models.toml beside your settings:

  [key]
  anthropic = { command = [\"secret-tool\", \"lookup\", \"service\", \"anthropic\"] }";

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ProvidersCommand {
    /// List providers of language models
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Check whether providers answer: the key, the address, the time
    #[command(after_help = check::EXAMPLES)]
    Check(CheckArgs),
}

pub(crate) fn run(command: &ProvidersCommand, context: &Context) -> Result<()> {
    match command {
        ProvidersCommand::List => list(context),
        ProvidersCommand::Check(args) => check::run(args, context),
    }
}

fn list(context: &Context) -> Result<()> {
    let catalog = catalog(context)?;
    let in_use = in_use(&catalog, context);
    let of = |id: &ProviderId| {
        let info = catalog.provider(id).ok()?;
        Some(ProviderDoc {
            name: id.to_string(),
            api: interface(info.api),
            base: info.base.clone(),
            key: key_of(&catalog, id, context),
            models: catalog.models(id).count() as u64,
            any_model: info.any_model,
            in_use: in_use.iter().any(|(provider, _)| provider == id),
        })
    };
    let file = context.engine.model_file();
    let document = ProviderListDoc {
        providers: catalog.providers().filter_map(of).collect(),
        file: file.map(|path| Text::new(path.as_os_str().as_encoded_bytes())),
    };
    context.output.data(document, |document| {
        let rows = document.providers.iter().map(|one| {
            let models = match (one.models, one.any_model) {
                (0, _) => "any".to_owned(),
                (count, false) => count.to_string(),
                (count, true) => format!("{count} and any"),
            };
            let used = if one.in_use { paint(GOOD, "in use") } else { String::new() };
            let name = paint(NAME, &line(&one.name));
            vec![name, line(&one.base), models, key_text(one.key.as_ref()), used]
        });
        table(&["PROVIDER", "ADDRESS", "MODELS", "KEY", ""], rows.collect())
    })
}

/// The models that settings name, by provider. What they name and nobody has is told by who uses it.
fn in_use(catalog: &ModelCatalog, context: &Context) -> Vec<(ProviderId, String)> {
    let settings = defaults(context);
    let names = settings.model.iter().chain(&settings.failover);
    let found = names.filter_map(|name| catalog.find(name).ok());
    found.map(|model| (model.provider, model.id.to_string())).collect()
}
