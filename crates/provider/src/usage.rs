//! What an answer took, and what that costs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Tokens of one answer. A count that the server does not report is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens read that were in no cache.
    pub input: Option<u64>,
    /// Tokens read from a cache.
    pub cache_read: Option<u64>,
    /// Tokens written to a cache for minutes.
    pub cache_write: Option<u64>,
    /// Tokens written to a cache for an hour.
    pub cache_write_1h: Option<u64>,
    /// Tokens written, with reasoning.
    pub output: Option<u64>,
    /// Tokens of these that were reasoning.
    pub reasoning: Option<u64>,
}

impl TokenUsage {
    /// Takes over what a later report says.
    pub(crate) fn update(&mut self, later: &Self) {
        let newer = |old: &mut Option<u64>, new: Option<u64>| *old = new.or(*old);
        newer(&mut self.input, later.input);
        newer(&mut self.cache_read, later.cache_read);
        newer(&mut self.cache_write, later.cache_write);
        newer(&mut self.cache_write_1h, later.cache_write_1h);
        newer(&mut self.output, later.output);
        newer(&mut self.reasoning, later.reasoning);
    }

    /// Separates what was read from a cache, for servers that count it as input, too.
    pub(crate) fn with_input(mut self, all: Option<u64>, cached: Option<u64>) -> Self {
        self.input = all.map(|all| all.saturating_sub(cached.unwrap_or(0)));
        self.cache_read = cached;
        self
    }
}

/// Money: US dollars, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cost {
    /// Millionths of a millionth of a dollar, which is the price of one token at a dollar for a million of millions.
    pub picodollars: u64,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millionths = self.picodollars.div_ceil(1_000_000);
        write!(f, "${}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
    }
}

/// Prices of a model. A price that is not known is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of tokens read.
    pub input: Option<TokenPrice>,
    /// Of tokens written.
    pub output: Option<TokenPrice>,
    /// Of tokens read from a cache.
    pub cache_read: Option<TokenPrice>,
    /// Of tokens written to a cache for minutes.
    pub cache_write: Option<TokenPrice>,
    /// Of tokens written to a cache for an hour.
    pub cache_write_1h: Option<TokenPrice>,
}

/// The price of a million tokens in millionths of a dollar: that of one token in picodollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct TokenPrice(u64);

impl TryFrom<String> for TokenPrice {
    type Error = String;

    /// Reads dollars for a million tokens, such as `0.25`.
    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no price: dollars for a million tokens, such as 0.25");
        let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || part.len() > 6 || !digits(whole) || !digits(part) {
            return Err(wrong());
        }
        let number: u64 = format!("{whole}{part:0<6}").parse().map_err(|_| wrong())?;
        Ok(Self(number))
    }
}

impl fmt::Display for TokenPrice {
    /// Dollars for a million tokens, as they are written in catalogs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / 1_000_000, self.0 % 1_000_000);
        match format!("{part:06}").trim_end_matches('0') {
            "" => write!(f, "{whole}"),
            part => write!(f, "{whole}.{part:0<2}"),
        }
    }
}

impl Price {
    /// What an answer costs; nothing if a count or price that is needed is not known.
    pub fn cost(&self, usage: &TokenUsage) -> Option<Cost> {
        // Input and output are always there; the others only where a server has them.
        let parts = [
            (Some(usage.input?), self.input),
            (Some(usage.output?), self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
            (usage.cache_write_1h, self.cache_write_1h),
        ];
        let mut picodollars = 0_u64;
        for (tokens, price) in parts {
            let tokens = tokens.unwrap_or(0);
            if tokens > 0 {
                picodollars = picodollars.checked_add(tokens.checked_mul(price?.0)?)?;
            }
        }
        Some(Cost { picodollars })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(text: &str) -> Option<TokenPrice> {
        TokenPrice::try_from(text.to_owned()).ok()
    }

    #[test]
    fn prices_are_read_exactly() {
        assert_eq!(price("0.25"), Some(TokenPrice(250_000)));
        assert_eq!(price("15"), Some(TokenPrice(15_000_000)));
        for wrong in ["", ".5", "-1", "1e3", "0.0000001", "1.2.3", "99999999999999999999", "$1"] {
            assert_eq!(price(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn prices_are_shown_as_they_are_written() {
        for (written, shown) in
            [("0.25", "0.25"), ("15", "15"), ("0.5", "0.50"), ("0.075", "0.075"), ("1.10", "1.10")]
        {
            assert_eq!(price(written).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn a_cost_is_known_or_absent() {
        let prices = Price { input: price("3"), output: price("15"), ..Price::default() };
        let usage = TokenUsage { input: Some(1000), output: Some(100), ..TokenUsage::default() };
        assert_eq!(prices.cost(&usage).map(|cost| cost.to_string()).unwrap(), "$0.004500");
        let none_cached = TokenUsage { cache_read: Some(0), ..usage };
        assert!(prices.cost(&none_cached).is_some());
        let cached = TokenUsage { cache_read: Some(1), ..usage };
        assert_eq!(prices.cost(&cached), None, "the price of a cache is not known");
        assert_eq!(prices.cost(&TokenUsage { output: None, ..usage }), None);
        assert_eq!(Price::default().cost(&usage), None);
        let huge = TokenUsage { input: Some(u64::MAX), ..usage };
        assert_eq!(prices.cost(&huge), None);
    }
}
