//! Sections made to fit into a number of tokens.

mod cut;

use crate::error::BuildError;
use crate::estimate::TokenEstimator;
use crate::request::BETWEEN;
use crate::section::{Section, TrimRule};
use crate::template::render::fenced;
use cut::cut;

/// How often the whole is measured and made smaller again, where an estimator does not add up.
const ROUNDS: usize = 16;

/// A section with the fence around it.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) section: Section,
    /// The label of the fence.
    pub(crate) fence: Option<String>,
}

impl Piece {
    /// The text as it is sent, if the body is this.
    fn with(&self, body: &str) -> String {
        match &self.fence {
            Some(label) => fenced(label, body),
            None => body.to_owned(),
        }
    }
}

/// What is left of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fitted {
    /// The text as it is sent; empty where the section is dropped.
    pub(crate) text: String,
    pub(crate) tokens_before: usize,
    pub(crate) tokens: usize,
    pub(crate) cut: Option<TrimRule>,
}

/// All sections that fit together, and how many tokens they have.
pub(crate) fn fit(
    pieces: &[Piece],
    budget: Option<usize>,
    estimator: &dyn TokenEstimator,
) -> Result<(Vec<Fitted>, usize), BuildError> {
    let Some(budget) = budget else {
        let mut fitting = Fitting::new(pieces, estimator)?;
        let tokens = fitting.measure();
        return Ok((std::mem::take(&mut fitting.fitted), tokens));
    };
    let mut available = budget;
    let mut needed = 0;
    for _ in 0..ROUNDS {
        let mut fitting = Fitting::new(pieces, estimator)?;
        fitting.shrink(available, budget)?;
        let tokens = fitting.measure();
        if tokens <= budget {
            return Ok((fitting.fitted, tokens));
        }
        needed = tokens;
        // What the sections together have beyond what each has is taken away as well.
        match available.checked_sub(tokens - budget) {
            Some(less) => available = less,
            None => break,
        }
    }
    let largest = largest(pieces, estimator);
    Err(BuildError::TooLarge { needed, budget, largest })
}

fn largest(pieces: &[Piece], estimator: &dyn TokenEstimator) -> String {
    let size = |piece: &&Piece| estimator.estimate(&piece.with(&piece.section.text));
    let largest = pieces.iter().max_by_key(size);
    largest.map(|piece| piece.section.name.clone()).unwrap_or_default()
}

struct Fitting<'a> {
    pieces: &'a [Piece],
    estimator: &'a dyn TokenEstimator,
    fitted: Vec<Fitted>,
}

impl<'a> Fitting<'a> {
    /// All sections, none above its own maximum.
    fn new(pieces: &'a [Piece], estimator: &'a dyn TokenEstimator) -> Result<Self, BuildError> {
        let whole = pieces.iter().map(|piece| {
            let text = piece.with(&piece.section.text);
            let tokens = estimator.estimate(&text);
            Fitted { text, tokens_before: tokens, tokens, cut: None }
        });
        let mut fitting = Self { pieces, estimator, fitted: whole.collect() };
        for (at, piece) in pieces.iter().enumerate() {
            let tokens = fitting.fitted[at].tokens;
            let Some(most) = piece.section.rule.max_tokens.filter(|most| tokens > *most) else {
                continue;
            };
            fitting.reduce(at, most);
            if fitting.fitted[at].tokens > most {
                if piece.section.rule.required || piece.section.rule.trim == TrimRule::Keep {
                    let section = piece.section.name.clone();
                    return Err(BuildError::SectionTooLarge { section, tokens, most });
                }
                fitting.drop_section(at);
            }
        }
        Ok(fitting)
    }

    /// How many tokens there are: the larger of all sections together and the whole text.
    fn measure(&self) -> usize {
        let texts: Vec<&str> = self.fitted.iter().map(|fitted| fitted.text.as_str()).collect();
        let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        self.total().max(self.estimator.estimate(&texts.join(BETWEEN)))
    }

    fn total(&self) -> usize {
        self.fitted.iter().map(|fitted| fitted.tokens).sum()
    }

    /// Sections in the order in which they give way.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.pieces.len()).rev().collect();
        order.sort_by_key(|at| self.pieces[*at].section.rule.priority);
        order
    }

    fn shrink(&mut self, available: usize, budget: usize) -> Result<(), BuildError> {
        let order = self.order();
        for at in &order {
            let total = self.total();
            let Some(excess) = total.checked_sub(available).filter(|excess| *excess > 0) else {
                return Ok(());
            };
            let rule = &self.pieces[*at].section.rule;
            let target = self.fitted[*at].tokens.saturating_sub(excess).max(rule.min_tokens);
            if target < self.fitted[*at].tokens {
                self.reduce(*at, target);
            }
        }
        for at in order {
            if self.total() <= available {
                return Ok(());
            }
            if !self.pieces[at].section.rule.required {
                self.drop_section(at);
            }
        }
        if self.total() <= available {
            return Ok(());
        }
        let left = self.fitted.iter().enumerate().max_by_key(|(_, fitted)| fitted.tokens);
        let largest = left.map(|(at, _)| self.pieces[at].section.name.clone()).unwrap_or_default();
        let needed = self.total().saturating_add(budget - available);
        Err(BuildError::TooLarge { needed, budget, largest })
    }

    /// Cuts a section by its rule, to a size if that can be had. What would be left below its minimum goes as a whole, or stays if it has to.
    fn reduce(&mut self, at: usize, target: usize) {
        let piece = &self.pieces[at];
        let rule = &piece.section.rule;
        let text = match rule.trim {
            TrimRule::Keep => return,
            TrimRule::Drop => None,
            TrimRule::Head | TrimRule::Tail => {
                let fits = |body: &str| self.estimator.estimate(&piece.with(body)) <= target;
                cut(&piece.section.text, rule.trim == TrimRule::Head, fits)
                    .map(|body| piece.with(&body))
            }
            TrimRule::Summarise => {
                let (name, tokens) = (&piece.section.name, self.fitted[at].tokens_before);
                Some(format!("[{name}: {tokens} tokens left out, to be summarised]"))
            }
        };
        let is_enough =
            |tokens: usize| tokens >= rule.min_tokens || rule.trim == TrimRule::Summarise;
        match text.map(|text| (self.estimator.estimate(&text), text)) {
            Some((tokens, text)) if is_enough(tokens) && tokens < self.fitted[at].tokens => {
                let fitted = &mut self.fitted[at];
                (fitted.text, fitted.tokens, fitted.cut) = (text, tokens, Some(rule.trim));
            }
            _ if rule.required || rule.trim == TrimRule::Summarise => {}
            _ => self.drop_section(at),
        }
    }

    fn drop_section(&mut self, at: usize) {
        let fitted = &mut self.fitted[at];
        (fitted.text, fitted.tokens, fitted.cut) = (String::new(), 0, Some(TrimRule::Drop));
    }
}
