//! `offshoot models default`: which model is used.

use offshoot_engine::settings::{format_duration, format_money};
use offshoot_protocol::{ModelDefaultDoc, Text};
use offshoot_provider::ProviderSource;

use super::{doc, facts, sheet, usual};
use crate::context::Context;
use crate::error::Result;
use crate::provider_choice::{ProviderArgs, catalog, key_of, key_text};
use crate::render;

pub(super) const EXAMPLES: &str = "\
Examples:
  offshoot models default
  offshoot models default --model ollama/qwen3 --failover openai/gpt-5-mini
  offshoot models default --provider scripted:answers.toml --json

Nothing is asked and no key is read: it says what these options and your settings mean, and fails
as whatever uses them would if a name is wrong.";

pub(super) fn run(args: &ProviderArgs, context: &Context) -> Result<()> {
    let plan = args.plan(context)?;
    let catalog = catalog(context)?;
    let own = &context.config().agent;
    let provider = &plan.model.provider;
    let is_asked = matches!(plan.source, ProviderSource::Catalog(_));
    let usual = usual(&catalog, context);
    let own_base = || catalog.provider(provider).ok().map(|info| info.base.clone());
    let some = |amount: u64| (amount != 0).then_some(amount);
    let document = ModelDefaultDoc {
        source: plan.source.to_string(),
        model: doc(&plan.model, &catalog, usual.as_ref()),
        base: plan.base.clone().or_else(own_base).filter(|_| is_asked),
        key: key_of(&catalog, provider, context).filter(|_| is_asked),
        failover: plan.failover.iter().map(|model| doc(model, &catalog, usual.as_ref())).collect(),
        attempts: plan.attempts,
        record: plan.record.as_ref().map(|path| Text::new(path.as_os_str().as_encoded_bytes())),
        max_cost: some(own.max_cost).map(format_money),
        max_turns: some(own.max_turns),
        max_time_ms: some(u64::try_from(own.max_time.as_millis()).unwrap_or(u64::MAX)),
    };
    context.output.data(document, |document| {
        let mut rows = facts(&document.model);
        if !is_asked {
            rows.push(("answered by", document.source.clone()));
        }
        rows.extend(document.base.clone().map(|base| ("address", base)));
        if is_asked {
            rows.push(("key", key_text(document.key.as_ref())));
        }
        let others: Vec<&str> = document.failover.iter().map(|model| model.name.as_str()).collect();
        rows.push(("failover", others.join(", ")));
        rows.push(("attempts", document.attempts.to_string()));
        rows.extend(document.record.as_ref().map(|path| ("record", render::text(path))));
        let limits = [
            document.max_cost.as_ref().map(|amount| format!("${amount}")),
            document.max_turns.map(|turns| format!("{turns} turns")),
            document.max_time_ms.map(|_| format_duration(own.max_time)),
        ];
        rows.push(("at most", limits.into_iter().flatten().collect::<Vec<_>>().join(", ")));
        sheet(&document.model.name, &rows)
    })
}
