//! All templates, by name and version.

use std::collections::BTreeMap;

use crate::source::did_you_mean;
use crate::template::{Template, TemplateKey};

/// All templates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Library {
    templates: BTreeMap<String, BTreeMap<u32, Template>>,
}

impl Library {
    /// Adds a template; says no where it is there already.
    pub(crate) fn add(&mut self, template: Template) -> bool {
        let versions = self.templates.entry(template.name.clone()).or_default();
        if versions.contains_key(&template.version) {
            return false;
        }
        versions.insert(template.version, template);
        true
    }

    /// The template that `name` or `name@version` means; or the name that may be meant.
    pub(crate) fn find(&self, reference: &str) -> Result<&Template, Option<String>> {
        let (name, version) = match reference.rsplit_once('@') {
            None => (reference, None),
            Some((name, version)) => match version.parse::<u32>() {
                Ok(version) => (name, Some(version)),
                Err(_) => return Err(Some("write `name@version` with a whole number".to_owned())),
            },
        };
        let hint = || did_you_mean(name, self.templates.keys().map(String::as_str));
        let versions = self.templates.get(name).ok_or_else(hint)?;
        let found = match version {
            None => versions.last_key_value().map(|(_, template)| template),
            Some(version) => versions.get(&version),
        };
        found.ok_or_else(|| {
            let known: Vec<String> = versions.keys().map(u32::to_string).collect();
            Some(format!("there are the versions {}", known.join(", ")))
        })
    }

    pub(crate) fn get(&self, (name, version): &TemplateKey) -> Option<&Template> {
        self.templates.get(name)?.get(version)
    }

    pub(crate) fn get_mut(&mut self, (name, version): &TemplateKey) -> Option<&mut Template> {
        self.templates.get_mut(name)?.get_mut(version)
    }

    /// The names and versions of all.
    pub(crate) fn keys(&self) -> Vec<TemplateKey> {
        let all = self.templates.values().flat_map(BTreeMap::values);
        all.map(|template| (template.name.clone(), template.version)).collect()
    }

    /// The highest version of each.
    pub(crate) fn newest(&self) -> impl Iterator<Item = &Template> {
        self.templates.values().filter_map(|versions| Some(versions.last_key_value()?.1))
    }

    /// A template and all that it includes, each once, itself first.
    pub(crate) fn with_parts<'a>(&'a self, template: &'a Template) -> Vec<&'a Template> {
        let mut all = vec![template];
        let mut at = 0;
        while let Some(next) = all.get(at) {
            for part in next.includes.iter().filter_map(|key| self.get(key)) {
                if !all.iter().any(|known| std::ptr::eq(*known, part)) {
                    all.push(part);
                }
            }
            at += 1;
        }
        all
    }
}
