//! What several tests need.

use offshoot_prompt::{
    BuildError, GuardAction, Guardrails, PersonalKind, PromptEngine, PromptRequest, PromptSource,
};

/// Everything that is wrong with a file of templates.
pub(crate) fn problems(text: &str) -> String {
    let loaded = PromptEngine::load(&[file(text)]);
    loaded.map_or_else(|error| error.to_string(), |_| "nothing".to_owned())
}

pub(crate) fn file(text: &str) -> PromptSource {
    PromptSource::new("t.toml", &format!("version = 1\n{text}"))
}

pub(crate) fn engine(text: &str) -> PromptEngine {
    PromptEngine::load(&[file(text)]).unwrap()
}

/// A template of the task layer with the name `t`.
pub(crate) fn task(text: &str, variables: &str) -> String {
    template("t", "task", text, variables)
}

pub(crate) fn template(name: &str, layer: &str, text: &str, variables: &str) -> String {
    format!(
        "[[template]]\nname = \"{name}\"\nversion = 1\nlayer = \"{layer}\"\ntext = '''\n{text}'''\n[template.variables]\n{variables}\n"
    )
}

pub(crate) fn wanted() -> PromptRequest {
    PromptRequest::new("any", "t")
}

pub(crate) fn text(engine: &PromptEngine, request: &PromptRequest) -> Result<String, BuildError> {
    engine.build(request).map(|built| built.text())
}

/// Guardrails that do the same to everything.
pub(crate) fn all(action: GuardAction) -> Guardrails {
    let kinds = PersonalKind::ALL.iter();
    kinds.fold(Guardrails::default().with_secrets(action), |all, kind| all.with(*kind, action))
}
