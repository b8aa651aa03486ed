//! Rules by the words that their prefixes begin with.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::rules::facts::name;

/// A prefix whose lists stand for more beginnings than this is filed under shorter ones.
const MOST_BEGINNINGS: usize = 64;

/// A tree of words; at each node the rules whose prefixes lead there.
#[derive(Debug, Default)]
pub(crate) struct Prefixes {
    rules: Vec<usize>,
    next: HashMap<String, Prefixes>,
}

impl Prefixes {
    pub(crate) fn is_empty(&self) -> bool {
        self.next.is_empty()
    }

    /// Files a rule.
    pub(crate) fn add(&mut self, prefix: &[Vec<String>], rule: usize) {
        self.add_below(prefix, rule, MOST_BEGINNINGS);
    }

    fn add_below(&mut self, prefix: &[Vec<String>], rule: usize, most: usize) {
        match prefix.split_first() {
            Some((words, rest)) if words.len() <= most => {
                for word in words {
                    let next = self.next.entry(word.clone()).or_default();
                    next.add_below(rest, rule, most / words.len());
                }
            }
            _ => self.rules.push(rule),
        }
    }

    /// Calls with rules whose prefixes may fit words, the first of which is a program.
    pub(crate) fn find<'w>(
        &self,
        mut words: impl Iterator<Item = Option<Cow<'w, str>>> + Clone,
        call: &mut impl FnMut(usize),
    ) {
        let Some(Some(program)) = words.next() else { return };
        self.rules.iter().for_each(|rule| call(*rule));
        let mut find = |program: &str| {
            if let Some(next) = self.next.get(program) {
                next.find_below(words.clone(), call);
            }
        };
        find(name(&program));
        if program.contains('/') {
            find(&program);
        }
    }

    fn find_below<'w>(
        &self,
        mut words: impl Iterator<Item = Option<Cow<'w, str>>>,
        call: &mut impl FnMut(usize),
    ) {
        self.rules.iter().for_each(|rule| call(*rule));
        if self.next.is_empty() {
            return;
        }
        let Some(Some(word)) = words.next() else { return };
        if let Some(next) = self.next.get(word.as_ref()) {
            next.find_below(words, call);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(prefixes: &Prefixes, text: &str) -> Vec<usize> {
        let words = text.split(' ').map(|word| Some(Cow::Borrowed(word)));
        let mut found = Vec::new();
        prefixes.find(words, &mut |rule| found.push(rule));
        found.sort_unstable();
        found
    }

    fn words(prefix: &[&[&str]]) -> Vec<Vec<String>> {
        prefix.iter().map(|any| any.iter().map(|word| (*word).to_owned()).collect()).collect()
    }

    #[test]
    fn rules_are_found_along_the_words() {
        let mut prefixes = Prefixes::default();
        prefixes.add(&words(&[&["git"]]), 0);
        prefixes.add(&words(&[&["git"], &["push", "fetch"]]), 1);
        prefixes.add(&words(&[&["git"], &["push"], &["origin"]]), 2);
        prefixes.add(&words(&[&["/opt/git"]]), 3);
        assert_eq!(found(&prefixes, "git push origin main"), [0, 1, 2]);
        assert_eq!(found(&prefixes, "git fetch origin"), [0, 1]);
        assert_eq!(found(&prefixes, "/opt/git log"), [0, 3]);
        assert_eq!(found(&prefixes, "hg push"), <[usize; 0]>::default());
    }

    #[test]
    fn lists_do_not_multiply_without_end() {
        let list: Vec<String> = (0..20).map(|number| format!("w{number}")).collect();
        let mut prefixes = Prefixes::default();
        prefixes.add(&vec![list; 30], 0);
        assert_eq!(found(&prefixes, "w1 w2"), [0]);
        assert_eq!(prefixes.next.len(), 20);
        assert!(prefixes.next["w1"].is_empty());
    }
}
