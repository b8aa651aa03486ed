//! Documents about language models and who has them.

use offshoot_vocabulary::{ExitCode, KeyOrigin, ModelInterface, ProviderState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Kind;
use crate::schema::{self, Schema};
use crate::text::Text;

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[
    schema::of::<ModelListDoc>,
    schema::of::<ModelShowDoc>,
    schema::of::<ModelDefaultDoc>,
    schema::of::<ProviderListDoc>,
    schema::of::<ProviderCheckDoc>,
];

/// Prices in US dollars for a million tokens, as decimal text. A price that is not known is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelPriceDoc {
    /// Of tokens read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Of tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Of tokens read from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<String>,
    /// Of tokens written to a cache for minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<String>,
    /// Of tokens written to a cache for an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<String>,
}

/// Other prices for long prompts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelLongPriceDoc {
    /// Prompts of more tokens than this are long.
    pub above: u64,
    /// What their tokens cost.
    pub price: ModelPriceDoc,
}

/// What is known of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelDoc {
    /// Who has it.
    pub provider: String,
    /// What its provider calls it.
    pub id: String,
    /// `PROVIDER/MODEL`: what settings and options call it.
    pub name: String,
    /// Further names of it at its provider.
    pub aliases: Vec<String>,
    /// How it is asked; missing for a script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<ModelInterface>,
    /// How many tokens it reads and writes together, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
    /// How many tokens it writes at most, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// What it costs.
    pub price: ModelPriceDoc,
    /// What long prompts cost, if that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_price: Option<ModelLongPriceDoc>,
    /// Whether it is the one that is used by default.
    pub is_default: bool,
}

/// The models that are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelListDoc {
    /// By provider.
    pub models: Vec<ModelDoc>,
    /// Providers that answer by any model that they have, in the list or not.
    pub any_model: Vec<String>,
    /// The one that is used by default, as `PROVIDER/MODEL`; missing where none is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The file in which you add and change models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Text>,
}

impl Kind for ModelListDoc {
    const KIND: &'static str = "models.list";
}

/// Where a key comes from. The key itself is never shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderKeyDoc {
    /// What has it.
    pub origin: KeyOrigin,
    /// The variable, the file or the program.
    pub name: Text,
    /// Whether something is there; missing for a command, which is not run to find out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_set: Option<bool>,
}

/// One model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelShowDoc {
    /// The model.
    pub model: ModelDoc,
    /// The base address of its provider.
    pub base: String,
    /// The key of its provider; missing where it wants none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<ProviderKeyDoc>,
}

impl Kind for ModelShowDoc {
    const KIND: &'static str = "models.show";
}

/// Which model is used, and what else is meant by settings and options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelDefaultDoc {
    /// What answers: a provider, `scripted:FILE` or `replay:FILE`.
    pub source: String,
    /// The model.
    pub model: ModelDoc,
    /// The base address; missing where nothing is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The key; missing where none is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<ProviderKeyDoc>,
    /// Who answers when it cannot, in this order.
    pub failover: Vec<ModelDoc>,
    /// How many requests are sent at most for one answer.
    pub attempts: u32,
    /// The new file that all requests and answers are written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Text>,
    /// What a run may cost, in US dollars as decimal text; missing for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<String>,
    /// How many answers a run may ask for; missing for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// How long a run may take, in milliseconds; missing for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_time_ms: Option<u64>,
}

impl Kind for ModelDefaultDoc {
    const KIND: &'static str = "models.default";
}

/// A provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderDoc {
    /// What it is called.
    pub name: String,
    /// How it is asked.
    pub api: ModelInterface,
    /// Its base address.
    pub base: String,
    /// Its key; missing where it wants none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<ProviderKeyDoc>,
    /// How many of its models are known.
    pub models: u64,
    /// Whether it answers by models that are not known, too.
    pub any_model: bool,
    /// Whether `agent.model` or `agent.failover` names it.
    pub in_use: bool,
}

/// The providers that are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderListDoc {
    /// Each of them.
    pub providers: Vec<ProviderDoc>,
    /// The file in which you add and change providers, and say where keys come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Text>,
}

impl Kind for ProviderListDoc {
    const KIND: &'static str = "providers.list";
}

/// A question that a model answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderAskedDoc {
    /// The model, as its provider calls it.
    pub model: String,
    /// How long the answer took.
    pub latency_ms: u64,
    /// What it cost, in US dollars as decimal text; missing where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
}

/// Whether one provider can be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderCheckedDoc {
    /// What it is called.
    pub name: String,
    /// The base address that was asked.
    pub base: String,
    /// Its key; missing where it wants none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<ProviderKeyDoc>,
    /// Whether it can be used.
    pub state: ProviderState,
    /// Whether it has to be ready: it was named, is in use, or has a key.
    pub is_required: bool,
    /// How long it took to list its models; missing where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
    /// How many models it lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<u64>,
    /// Models in use that it does not list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What a model answered; only with `--ask`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<ProviderAskedDoc>,
    /// Why it cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Whether providers can be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderCheckDoc {
    /// Each of them.
    pub providers: Vec<ProviderCheckedDoc>,
}

impl Kind for ProviderCheckDoc {
    const KIND: &'static str = "providers.check";

    /// A failure if one that has to be ready is not, or none is.
    fn exit_code(&self) -> ExitCode {
        let is_ready = |one: &ProviderCheckedDoc| one.state == ProviderState::Ready;
        let required = self.providers.iter().filter(|one| one.is_required);
        match required.clone().all(is_ready) && self.providers.iter().any(is_ready) {
            true => ExitCode::Success,
            false => ExitCode::Failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_decides() {
        use ProviderState::{NoKey, Ready, Unreachable};
        let of = |states: &[(ProviderState, bool)]| {
            let one = |(state, is_required): &(ProviderState, bool)| ProviderCheckedDoc {
                name: "p".to_owned(),
                base: "http://127.0.0.1".to_owned(),
                key: None,
                state: *state,
                is_required: *is_required,
                latency_ms: None,
                models: None,
                missing: Vec::new(),
                asked: None,
                problem: None,
                hint: None,
            };
            ProviderCheckDoc { providers: states.iter().map(one).collect() }.exit_code()
        };
        assert_eq!(of(&[(Ready, true), (Unreachable, false), (NoKey, false)]), ExitCode::Success);
        assert_eq!(of(&[(Ready, false)]), ExitCode::Success);
        assert_eq!(of(&[(Ready, false), (NoKey, true)]), ExitCode::Failure);
        assert_eq!(of(&[(Unreachable, false)]), ExitCode::Failure);
        assert_eq!(of(&[]), ExitCode::Failure);
    }
}
