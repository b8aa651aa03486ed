//! Models by what people type.

use super::{ModelCatalog, ModelInfo};
use crate::error::{ErrorKind, ProviderError};
use crate::id::{ModelId, ProviderId};

impl ModelCatalog {
    /// The model that somebody means who typed `PROVIDER/MODEL`, or the name of a model that one provider alone has in the catalog. Names may have
    /// slashes themselves: what comes before the first is a provider if there is one of that name.
    ///
    /// ```
    /// use offshoot_provider::ModelCatalog;
    ///
    /// let catalog = ModelCatalog::built_in();
    /// assert_eq!(catalog.find("gpt-4o")?, catalog.find("openai/gpt-4o")?);
    /// assert!(catalog.find("openai/gpt-4").is_err());
    /// # Ok::<(), offshoot_provider::ProviderError>(())
    /// ```
    pub fn find(&self, text: &str) -> Result<ModelInfo, ProviderError> {
        if let Some((before, after)) = text.split_once('/') {
            let provider = ProviderId::from(before);
            if self.provider(&provider).is_ok() {
                return self.model(&provider, &ModelId::from(after));
            }
        }
        let found: Vec<&ModelInfo> =
            self.models.iter().filter(|model| model.is_called(text)).collect();
        match found.as_slice() {
            [model] => Ok((*model).clone()),
            [] => Err(self.unknown(text)),
            several => {
                let names: Vec<String> = several.iter().map(|model| model.full_name()).collect();
                let message = format!("several providers have a model {text}");
                let error = ProviderError::new(ErrorKind::BadRequest, message);
                Err(error.with_hint(format!("name one of {}", names.join(", "))))
            }
        }
    }

    fn unknown(&self, text: &str) -> ProviderError {
        let message = format!("there is no model {text} in the catalog");
        let error = ProviderError::new(ErrorKind::NotFound, message);
        // A provider that is not there is the first thing that is wrong.
        let providers = self.providers().map(ProviderId::as_str);
        if let Some((before, after)) = text.split_once('/')
            && let Some(nearest) = nearest(before, providers).first()
        {
            return error.with_hint(format!("did you mean {nearest}/{after}?"));
        }
        let full: Vec<String> = self.models.iter().map(ModelInfo::full_name).collect();
        let names = self.models.iter().flat_map(ModelInfo::names).map(ModelId::as_str);
        error.with_hint(near(text, names.chain(full.iter().map(String::as_str))))
    }
}

impl ModelInfo {
    /// `PROVIDER/MODEL`, which names it among all.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }

    /// Its name, and the others that mean the same.
    pub fn names(&self) -> impl Iterator<Item = &ModelId> {
        std::iter::once(&self.id).chain(&self.aliases)
    }

    fn is_called(&self, text: &str) -> bool {
        self.names().any(|name| name.as_str() == text)
    }
}

/// Says which names are nearest to one that is wrong.
pub(super) fn near<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> String {
    match nearest(wrong, names).as_slice() {
        [] => "declare it in the catalog, with its limits".to_owned(),
        names => format!("did you mean {}?", names.join(" or ")),
    }
}

/// The names that are nearest to one that is wrong, three at most.
fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut rated: Vec<(f64, &str)> = names
        .map(|name| (strsim::jaro_winkler(&wrong.to_lowercase(), name), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .collect();
    rated.sort_by(|one, other| other.0.total_cmp(&one.0));
    rated.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "version = 1\n[provider.mine]\napi = \"openai_chat\"\nbase = \"http://127.0.0.1:1\"\n\
                       [[model]]\nprovider = \"mine\"\nid = \"gpt-4o\"\n\
                       [[model]]\nprovider = \"mine\"\nid = \"org/m\"\naliases = [\"m\"]\n";

    fn find(text: &str) -> Result<String, String> {
        let catalog = ModelCatalog::built_in().with_file(OWN).unwrap();
        let found = catalog.find(text);
        found.map(|model| model.full_name()).map_err(|error| error.to_string())
    }

    #[test]
    fn models_are_found_by_what_people_type() {
        for (typed, found) in [
            ("gpt-5", "openai/gpt-5"),
            ("gpt-5-2025-08-07", "openai/gpt-5"),
            ("openai/gpt-4o", "openai/gpt-4o"),
            ("mine/org/m", "mine/org/m"),
            ("org/m", "mine/org/m"),
            ("m", "mine/org/m"),
            ("openrouter/anthropic/claude", "openrouter/anthropic/claude"),
            ("ollama/qwen3:8b", "ollama/qwen3:8b"),
        ] {
            assert_eq!(find(typed).as_deref(), Ok(found), "{typed}");
        }
    }

    #[test]
    fn what_is_not_found_is_told_with_near_names() {
        for (typed, said) in [
            ("gpt-4o", "name one of openai/gpt-4o, mine/gpt-4o"),
            ("gpt-5-mimi", "did you mean gpt-5-mini"),
            ("opnai/gpt-5", "did you mean openai/gpt-5?"),
            ("openai/gpt-5-mimi", "did you mean gpt-5-mini"),
            ("zzz", "declare it in the catalog"),
        ] {
            let error = find(typed).unwrap_err();
            assert!(error.contains(said), "{typed}: {error}");
        }
    }
}
