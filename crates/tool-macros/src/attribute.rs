//! What stands in the attribute.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Lit, LitInt, LitStr, MetaNameValue, Path, Result, Token};

/// What may stand there.
const KEYS: &str =
    "`effects`, `capability`, `name`, `version`, `timeout_seconds`, `output_bytes` or `crate`";
/// What a tool may do.
const EFFECTS: [(&str, &str); 4] =
    [("read", "Reads"), ("change", "Changes"), ("run", "Runs"), ("ask", "Asks")];

/// What stands in the attribute.
pub(crate) struct Attribute {
    /// The variant of `Effects`.
    pub(crate) effects: Ident,
    pub(crate) capabilities: Vec<String>,
    pub(crate) name: Option<String>,
    pub(crate) version: u32,
    pub(crate) timeout_seconds: Option<u64>,
    pub(crate) output_bytes: Option<usize>,
    /// Where the crate of tools is.
    pub(crate) krate: Path,
}

impl Attribute {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        let pairs = Punctuated::<MetaNameValue, Token![,]>::parse_terminated.parse2(tokens)?;
        let mut effects = None;
        let mut parsed = Self {
            effects: Ident::new("Reads", Span::call_site()),
            capabilities: Vec::new(),
            name: None,
            version: 1,
            timeout_seconds: None,
            output_bytes: None,
            krate: syn::parse2(quote!(::offshoot_tool))?,
        };
        for pair in pairs {
            let key = pair.path.get_ident().map(ToString::to_string).unwrap_or_default();
            let value = &pair.value;
            match key.as_str() {
                "effects" => effects = Some(effects_of(&text(value)?)?),
                "capability" => parsed.capabilities = capabilities(&text(value)?)?,
                "name" => parsed.name = Some(name(&text(value)?)?),
                "version" => parsed.version = number(value)?.base10_parse()?,
                "timeout_seconds" => parsed.timeout_seconds = Some(number(value)?.base10_parse()?),
                "output_bytes" => parsed.output_bytes = Some(number(value)?.base10_parse()?),
                "crate" => parsed.krate = text(value)?.parse()?,
                _ => {
                    let message = format!("the attribute of a tool knows {KEYS}, not this");
                    return Err(Error::new(pair.path.span(), message));
                }
            }
        }
        let missing = || {
            let message = "say what the tool does to the world: effects = \"read\", \"change\", \"run\" or \"ask\"";
            Error::new(Span::call_site(), message)
        };
        parsed.effects = effects.ok_or_else(missing)?;
        Ok(parsed)
    }
}

fn effects_of(text: &LitStr) -> Result<Ident> {
    let value = text.value();
    match EFFECTS.iter().find(|(word, _)| *word == value) {
        Some((_, variant)) => Ok(Ident::new(variant, text.span())),
        None => {
            let message = "effects are \"read\", \"change\", \"run\" or \"ask\"";
            Err(Error::new(text.span(), message))
        }
    }
}

fn capabilities(text: &LitStr) -> Result<Vec<String>> {
    let value = text.value();
    let words = value.split(',').map(|word| word.trim().to_owned());
    words
        .map(|word| match is_word(&word, "._-") {
            true => Ok(word),
            false => Err(Error::new(
                text.span(),
                "a capability is a word of small letters, as in \"files\" or \"files, network\"",
            )),
        })
        .collect()
}

fn name(text: &LitStr) -> Result<String> {
    let value = text.value();
    match is_word(&value, "_-") && value.len() <= 64 {
        true => Ok(value),
        false => {
            let message = "the name of a tool has small letters, digits, `_` and `-`, at most 64";
            Err(Error::new(text.span(), message))
        }
    }
}

fn is_word(text: &str, besides: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(|letter| {
            letter.is_ascii_lowercase() || letter.is_ascii_digit() || besides.contains(letter)
        })
}

fn text(value: &Expr) -> Result<LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text.clone()),
        other => Err(Error::new(other.span(), "write a text in quotes here")),
    }
}

fn number(value: &Expr) -> Result<LitInt> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => Ok(number.clone()),
        other => Err(Error::new(other.span(), "write a whole number here")),
    }
}
