//! Keys of providers, and how providers are reached with them.

use std::ffi::OsString;
use std::sync::Arc;

use super::ModelCatalog;
use crate::endpoint::EndpointOptions;
use crate::error::{ErrorKind, ProviderError};
use crate::id::ProviderId;
use crate::key::{ApiKey, KeySource};

impl ModelCatalog {
    /// Where the key of a provider comes from: where a file says, or else from the variable that people keep it in by custom.
    pub fn key_source(&self, provider: &ProviderId) -> Option<KeySource> {
        let by_custom = || {
            let info = self.provider(provider).ok()?;
            info.variable.clone().map(KeySource::Variable)
        };
        self.keys.get(provider).cloned().or_else(by_custom)
    }

    /// What a provider is reached with, its key read. `base` is another address than that of the catalog; who answers there may want no key, so that
    /// one which is missing by custom is no error. `lookup` knows the variables.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use offshoot_provider::{Endpoint, ModelCatalog, ProviderId};
    ///
    /// let catalog = Arc::new(ModelCatalog::built_in());
    /// let ollama = ProviderId::new("ollama");
    /// let endpoint = Endpoint::new(catalog.endpoint(&ollama, None, |_| None)?)?;
    /// assert!(catalog.endpoint(&ProviderId::new("openai"), None, |_| None).is_err());
    /// # Ok::<(), offshoot_provider::ProviderError>(())
    /// ```
    pub fn endpoint(
        self: &Arc<Self>,
        provider: &ProviderId,
        base: Option<&str>,
        lookup: impl Fn(&str) -> Option<OsString>,
    ) -> Result<EndpointOptions, ProviderError> {
        let info = self.provider(provider)?;
        let key = match (self.keys.get(provider), &info.variable) {
            (Some(source), _) => Some(ApiKey::from_source(source, &lookup)),
            (None, Some(name)) => match lookup(name).is_some_and(|value| !value.is_empty()) {
                true => Some(ApiKey::from_source(&KeySource::Variable(name.clone()), &lookup)),
                false if base.is_some() => None,
                false => Some(Err(unset(name))),
            },
            (None, None) => None,
        };
        let key = key.transpose().map_err(|error| error.by(provider))?;
        Ok(EndpointOptions {
            catalog: Arc::clone(self),
            key,
            base: base.map(str::to_owned),
            plain_http: info.plain_http,
            ..EndpointOptions::new(provider.clone())
        })
    }
}

fn unset(variable: &str) -> ProviderError {
    let message = format!("there is no key: the variable {variable} is not set");
    ProviderError::new(ErrorKind::Auth, message)
        .with_hint(format!("set {variable}, or say in the catalog where the key comes from"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "version = 1\n[key]\nanthropic = { env = \"MINE\" }\n\
                        openai = { command = [\"echo\", \"sk-printed\"] }\ngemini = { file = \"~/key\" }\n";

    fn catalog() -> Arc<ModelCatalog> {
        Arc::new(ModelCatalog::built_in().with_file(FILE).unwrap())
    }

    fn key(
        provider: &str,
        base: Option<&str>,
        set: &[(&str, &str)],
    ) -> Result<Option<String>, String> {
        let lookup = |name: &str| {
            let found = set.iter().find(|(set, _)| *set == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let options = catalog().endpoint(&ProviderId::new(provider), base, lookup);
        let key = options.map(|options| options.key.map(|key| key.expose().to_owned()));
        key.map_err(|error| error.to_string())
    }

    #[test]
    fn keys_come_from_where_the_file_says() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("key"), "sk-file\n").unwrap();
        let home = home.path().to_str().unwrap();
        let set = [("MINE", "sk-mine"), ("ANTHROPIC_API_KEY", "sk-usual"), ("HOME", home)];
        let found = |provider| key(provider, None, &set).unwrap().unwrap();
        assert_eq!(found("anthropic"), "sk-mine");
        assert_eq!(found("openai"), "sk-printed");
        assert_eq!(found("gemini"), "sk-file");
        assert_eq!(key("ollama", None, &set), Ok(None));
        let error = key("anthropic", None, &[("ANTHROPIC_API_KEY", "sk-usual")]).unwrap_err();
        assert!(error.contains("the variable MINE is not set"), "{error}");
        // Where a file says that there is a key, another address does not do without it.
        assert!(key("anthropic", Some("http://127.0.0.1:1"), &[]).is_err());
    }

    #[test]
    fn a_key_that_is_missing_by_custom_is_missed_at_the_usual_address() {
        let (here, variable) = (Some("http://127.0.0.1:1"), "OPENROUTER_API_KEY");
        let error = key("openrouter", None, &[(variable, "")]).unwrap_err();
        assert!(error.starts_with("openrouter: ") && error.contains(variable), "{error}");
        assert_eq!(key("openrouter", here, &[]), Ok(None));
        assert_eq!(key("openrouter", here, &[(variable, "sk-1")]), Ok(Some("sk-1".to_owned())));
    }

    #[test]
    fn what_is_set_is_known_without_reading_it() {
        let source = |provider: &str| catalog().key_source(&ProviderId::new(provider)).unwrap();
        let is_set =
            |provider: &str| source(provider).is_set(|name| (name == "MINE").then(|| "x".into()));
        assert_eq!(is_set("anthropic"), Some(true));
        assert_eq!(is_set("openrouter"), Some(false));
        assert_eq!(is_set("gemini"), Some(false), "there is no home");
        assert_eq!(is_set("openai"), None);
        assert!(catalog().key_source(&ProviderId::new("ollama")).is_none());
    }
}
