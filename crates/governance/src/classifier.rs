//! How sensitive data is.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use offshoot_scrub::Redactor;

use crate::request::DataSensitivity;

/// Looks into texts for what makes them sensitive.
pub trait ContentInspector: Send + Sync {
    /// How sensitive a text is at least; none where nothing is found.
    fn inspect(&self, text: &str) -> Option<DataSensitivity>;
}

/// Takes a text with a credential for a secret. What a credential is, the crate `scrub` knows.
#[derive(Clone, Debug, Default)]
pub struct CredentialInspector {
    redactor: Redactor,
}

impl CredentialInspector {
    /// One that also knows these values.
    pub fn new(redactor: Redactor) -> Self {
        Self { redactor }
    }
}

impl ContentInspector for CredentialInspector {
    fn inspect(&self, text: &str) -> Option<DataSensitivity> {
        (!self.redactor.is_clean(text)).then_some(DataSensitivity::Secret)
    }
}

/// Says how sensitive data is, by its labels and by what is in it. The highest level counts.
///
/// ```
/// use offshoot_governance::{DataSensitivity, SensitivityClassifier};
///
/// let classifier = SensitivityClassifier::new().with_label("customer", DataSensitivity::Confidential);
/// let labels = ["customer".to_owned()].into();
/// assert_eq!(classifier.classify("an order", &labels), DataSensitivity::Confidential);
/// assert_eq!(classifier.classify("TOKEN=ghp_abcdefghijklmnopqrst0123456789", &labels), DataSensitivity::Secret);
/// ```
pub struct SensitivityClassifier {
    least: DataSensitivity,
    labels: BTreeMap<String, DataSensitivity>,
    inspectors: Vec<Box<dyn ContentInspector>>,
}

impl fmt::Debug for SensitivityClassifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SensitivityClassifier")
            .field("least", &self.least)
            .field("labels", &self.labels)
            .field("inspectors", &self.inspectors.len())
            .finish()
    }
}

impl Default for SensitivityClassifier {
    fn default() -> Self {
        Self::new()
    }
}

impl SensitivityClassifier {
    /// A classifier that takes everything for internal, and texts with credentials for secret.
    pub fn new() -> Self {
        Self {
            least: DataSensitivity::Internal,
            labels: BTreeMap::new(),
            inspectors: vec![Box::new(CredentialInspector::default())],
        }
    }

    /// Takes everything for at least this.
    pub fn with_least(mut self, least: DataSensitivity) -> Self {
        self.least = least;
        self
    }

    /// Takes data with this label for at least this.
    pub fn with_label(mut self, label: &str, sensitivity: DataSensitivity) -> Self {
        self.labels.insert(label.to_owned(), sensitivity);
        self
    }

    /// Also looks for what this one finds.
    pub fn with_inspector(mut self, inspector: Box<dyn ContentInspector>) -> Self {
        self.inspectors.push(inspector);
        self
    }

    /// How sensitive a text with these labels is.
    pub fn classify(&self, text: &str, labels: &BTreeSet<String>) -> DataSensitivity {
        let by_label = labels.iter().filter_map(|label| self.labels.get(label).copied());
        let found = self.inspectors.iter().filter_map(|inspector| inspector.inspect(text));
        by_label.chain(found).fold(self.least, DataSensitivity::max)
    }
}
