//! From requests to prompts.

use std::collections::{BTreeMap, BTreeSet};

use crate::budget::{Piece, fit};
use crate::error::{BuildError, TemplateError};
use crate::estimate::{CharacterEstimator, TokenEstimator};
use crate::guard::{Guardrails, Placeholders};
use crate::record::{
    PromptRecord, SectionRecord, TemplateUse, digest_of_messages, digest_of_variables,
};
use crate::request::{BETWEEN, BuiltPrompt, PromptMessage, PromptRequest};
use crate::section::{MessageLayer, Section, TrimRule};
use crate::source::{PromptSource, did_you_mean};
use crate::template::digest::TemplateDigest;
use crate::template::library::Library;
use crate::template::load::load;
use crate::template::render::render;
use crate::template::variable::VariableRule;
use crate::template::{Place, Template};

/// The label of the fence around a piece of context.
const CONTEXT: &str = "context";

/// All templates with guardrails: it builds prompts. It never changes once it is made, and may be shared between threads.
///
/// ```
/// use offshoot_prompt::{CharacterEstimator, ContextSection, PromptEngine, PromptRequest, PromptSource};
///
/// let templates = r#"
/// version = 1
/// [[template]]
/// name = "house"
/// version = 1
/// layer = "system"
/// text = "Answer briefly."
/// [[template]]
/// name = "sum-up"
/// version = 1
/// layer = "task"
/// text = "Sum up what follows in {{sentences}} sentences."
/// variables = { sentences = { type = "integer", min = 1, max = 9, default = 3 } }
/// "#;
/// let engine = PromptEngine::load(&[PromptSource::new("templates.toml", templates)])?;
/// let history = ContextSection::new("history", &"Something was said.\n".repeat(100));
/// let request = PromptRequest::new("summary", "sum-up").with_context(history).with_budget(60);
/// let built = engine.build_with(&request, &CharacterEstimator::new(4))?;
/// assert!(built.record.tokens <= 60);
/// assert_eq!(built.record.result, engine.build_with(&request, &CharacterEstimator::new(4))?.record.result);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PromptEngine {
    library: Library,
    guardrails: Guardrails,
}

impl PromptEngine {
    /// An engine with these templates and the usual guardrails; or all that is wrong with them.
    pub fn load(sources: &[PromptSource]) -> Result<Self, TemplateError> {
        Ok(Self { library: load(sources)?, guardrails: Guardrails::default() })
    }

    /// With other guardrails.
    pub fn with_guardrails(mut self, guardrails: Guardrails) -> Self {
        self.guardrails = guardrails;
        self
    }

    /// The digest of a template: `name` or `name@version`.
    pub fn digest(&self, reference: &str) -> Option<TemplateDigest> {
        self.library.find(reference).ok().map(|template| template.digest)
    }

    /// The names and versions of all templates.
    pub fn templates(&self) -> Vec<(String, u32)> {
        self.library.keys()
    }

    /// What templates know of a variable: of the template itself, then of what it includes.
    pub fn variable(&self, reference: &str, name: &str) -> Option<&VariableRule> {
        let template = self.library.find(reference).ok()?;
        self.library.with_parts(template).into_iter().find_map(|part| part.variables.get(name))
    }

    /// Builds a prompt, with the usual estimator.
    pub fn build(&self, request: &PromptRequest) -> Result<BuiltPrompt, BuildError> {
        self.build_with(request, &CharacterEstimator::default())
    }

    /// Builds a prompt.
    pub fn build_with(
        &self,
        request: &PromptRequest,
        estimator: &dyn TokenEstimator,
    ) -> Result<BuiltPrompt, BuildError> {
        let templates = self.choose(request)?;
        self.check_variables(&templates, request)?;
        let mut pieces = Vec::new();
        for template in &templates {
            let Place::Message(layer) = template.place else { continue };
            if layer == MessageLayer::System && !self.guardrails.allows_system(template.digest) {
                let (name, digest) = (template.name.clone(), template.digest);
                return Err(BuildError::NotAllowed { name, digest });
            }
            let text = render(template, &self.library, &request.variables)?;
            let section = Section { name: template.name.clone(), layer, text, rule: template.rule };
            pieces.push(Piece { section, fence: None });
        }
        for context in &request.context {
            let section = Section {
                name: context.name.clone(),
                layer: MessageLayer::Context,
                text: context.text.clone(),
                rule: context.rule,
            };
            pieces.push(Piece { section, fence: context.fenced.then(|| CONTEXT.to_owned()) });
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = pieces.iter().find(|piece| !names.insert(&piece.section.name)) {
            return Err(BuildError::DuplicateSection { name: twice.section.name.clone() });
        }
        let mut findings = Vec::new();
        let mut placeholders = Placeholders::default();
        for piece in &mut pieces {
            self.guardrails.guard(&mut piece.section, &mut placeholders, &mut findings)?;
        }
        let (fitted, tokens) = fit(&pieces, request.budget, estimator)?;
        let mut messages: Vec<PromptMessage> = Vec::new();
        let mut sections = Vec::new();
        for (piece, fitted) in pieces.iter().zip(fitted) {
            let Section { name, layer, .. } = &piece.section;
            sections.push(SectionRecord {
                name: name.clone(),
                layer: *layer,
                tokens_before: fitted.tokens_before,
                tokens: fitted.tokens,
                cut: fitted.cut,
            });
            match messages.last_mut() {
                _ if fitted.text.is_empty() => {}
                Some(message) if message.layer == *layer => {
                    message.text.push_str(BETWEEN);
                    message.text.push_str(&fitted.text);
                }
                _ => messages.push(PromptMessage { layer: *layer, text: fitted.text }),
            }
        }
        let to_summarise = sections
            .iter()
            .filter(|section| section.cut == Some(TrimRule::Summarise))
            .map(|section| section.name.clone())
            .collect();
        let variables = digest_of_variables(&request.variables)
            .map_err(|error| BuildError::Record(error.to_string()))?;
        let record = PromptRecord {
            version: 1,
            templates: templates.iter().map(|template| used(template)).collect(),
            variables,
            sections,
            findings,
            budget: request.budget,
            tokens,
            to_summarise,
            result: digest_of_messages(&messages),
        };
        let built = BuiltPrompt { messages, record };
        self.guardrails.last_look(&built.text())?;
        Ok(built)
    }

    /// The variables of all templates of a prompt, each with what every template says of it.
    pub(crate) fn variables_of(
        &self,
        task_type: &str,
        role: Option<&str>,
        task: &str,
    ) -> Result<BTreeMap<String, Vec<&VariableRule>>, BuildError> {
        let mut request = PromptRequest::new(task_type, task);
        request.role = role.map(str::to_owned);
        let mut variables: BTreeMap<String, Vec<&VariableRule>> = BTreeMap::new();
        for template in self.choose(&request)? {
            for part in self.library.with_parts(template) {
                for (name, rule) in &part.variables {
                    variables.entry(name.clone()).or_default().push(rule);
                }
            }
        }
        Ok(variables)
    }

    /// The templates of a prompt, in their order.
    fn choose(&self, request: &PromptRequest) -> Result<Vec<&Template>, BuildError> {
        let task_type = &request.task_type;
        let is_system = |template: &&Template| {
            template.place == Place::Message(MessageLayer::System) && template.is_for(task_type)
        };
        let mut templates: Vec<&Template> = self.library.newest().filter(is_system).collect();
        templates.sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
        if let Some(role) = &request.role {
            templates.push(self.named(role, MessageLayer::Role, task_type)?);
        }
        templates.push(self.named(&request.task, MessageLayer::Task, task_type)?);
        Ok(templates)
    }

    /// The template that a request names.
    fn named(
        &self,
        reference: &str,
        layer: MessageLayer,
        task_type: &str,
    ) -> Result<&Template, BuildError> {
        let template = self.library.find(reference).map_err(|hint| {
            let name = reference.to_owned();
            BuildError::UnknownTemplate { name, hint }
        })?;
        let name = template.name.clone();
        if template.place != Place::Message(layer) {
            let (layer, wanted) = (template.place.as_str(), layer.as_str());
            return Err(BuildError::Layer { name, layer, wanted });
        }
        if !template.is_for(task_type) {
            return Err(BuildError::NotForTask { name, task_type: task_type.to_owned() });
        }
        Ok(template)
    }

    /// Every value belongs to a variable.
    fn check_variables(
        &self,
        templates: &[&Template],
        request: &PromptRequest,
    ) -> Result<(), BuildError> {
        let parts = || templates.iter().flat_map(|template| self.library.with_parts(template));
        let known: BTreeSet<&str> =
            parts().flat_map(|part| part.variables.keys()).map(String::as_str).collect();
        match request.variables.keys().find(|name| !known.contains(name.as_str())) {
            Some(variable) => Err(BuildError::UnknownVariable {
                variable: variable.clone(),
                hint: did_you_mean(variable, known),
            }),
            None => Ok(()),
        }
    }
}

fn used(template: &Template) -> TemplateUse {
    let Template { name, version, digest, .. } = template;
    TemplateUse { name: name.clone(), version: *version, digest: *digest }
}
