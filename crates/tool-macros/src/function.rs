//! The function that becomes a tool.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, FnArg, ItemFn, Lit, Meta, Pat, PatType, Result, Type};

/// The type of the one parameter that is no argument.
const CONTEXT: &str = "CallContext";

/// A function that can be a tool.
pub(crate) struct Function {
    /// As it was written, without what is only for the attribute.
    pub(crate) item: ItemFn,
    /// Its doc comment.
    pub(crate) description: String,
    pub(crate) parameters: Vec<Parameter>,
}

/// A parameter, in the order of the signature.
pub(crate) enum Parameter {
    Argument(Box<Argument>),
    Context,
}

/// What the model gives.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    /// Its doc comment, as attributes.
    pub(crate) docs: Vec<Attribute>,
    pub(crate) default: Option<DefaultValue>,
}

/// What an argument is that the model leaves out.
pub(crate) enum DefaultValue {
    /// What its type says.
    OfType,
    Value(Expr),
}

impl Function {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        let mut item: ItemFn = syn::parse2(tokens)?;
        let signature = &item.sig;
        if signature.asyncness.is_none() {
            return Err(Error::new(signature.fn_token.span(), "a tool is an `async fn`"));
        }
        if !signature.generics.params.is_empty() {
            let message = "a tool has no generic parameters: its schema has to be known";
            return Err(Error::new(signature.generics.span(), message));
        }
        let description = doc_text(&item.attrs);
        if description.is_empty() {
            let message = "a tool needs a doc comment: it is what the model knows of it";
            return Err(Error::new(signature.ident.span(), message));
        }
        let mut parameters = Vec::new();
        for input in &mut item.sig.inputs {
            parameters.push(match input {
                FnArg::Typed(typed) => parameter(typed)?,
                other => return Err(Error::new(other.span(), "a tool has no `self`")),
            });
        }
        let contexts = parameters.iter().filter(|it| matches!(it, Parameter::Context)).count();
        if contexts > 1 {
            let message = "a tool has one context";
            return Err(Error::new(item.sig.inputs.span(), message));
        }
        Ok(Self { item, description, parameters })
    }
}

fn parameter(typed: &mut PatType) -> Result<Parameter> {
    if is_context(&typed.ty) {
        return Ok(Parameter::Context);
    }
    if let Type::Reference(reference) = &*typed.ty {
        let message = match is_context(&reference.elem) {
            true => "take the context by value: `CallContext` is cheap to clone",
            false => {
                "arguments are owned: `String` in place of `&str`, `Vec<T>` in place of `&[T]`"
            }
        };
        return Err(Error::new(reference.span(), message));
    }
    let Pat::Ident(name) = &*typed.pat else {
        let message = "an argument needs a plain name: the model gives it by that";
        return Err(Error::new(typed.pat.span(), message));
    };
    let name = name.ident.clone();
    let (mut docs, mut default) = (Vec::new(), None);
    for attribute in std::mem::take(&mut typed.attrs) {
        if attribute.path().is_ident("doc") {
            docs.push(attribute);
        } else if attribute.path().is_ident("default") {
            default = Some(match &attribute.meta {
                Meta::Path(_) => DefaultValue::OfType,
                Meta::List(list) => DefaultValue::Value(list.parse_args()?),
                Meta::NameValue(pair) => DefaultValue::Value(pair.value.clone()),
            });
        } else {
            typed.attrs.push(attribute);
        }
    }
    if doc_text(&docs).is_empty() {
        let message =
            format!("the argument `{name}` needs a doc comment: it is what the model knows of it");
        return Err(Error::new(name.span(), message));
    }
    Ok(Parameter::Argument(Box::new(Argument { name, ty: (*typed.ty).clone(), docs, default })))
}

fn is_context(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == CONTEXT),
        _ => false,
    }
}

/// The text of doc comments: their lines, joined where no empty line stands between.
fn doc_text(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                other => Some(other.to_token_stream().to_string()),
            },
            _ => None,
        },
        _ => None,
    });
    let mut text = String::new();
    for line in lines {
        match (line.is_empty(), text.is_empty() || text.ends_with('\n')) {
            (true, true) => {}
            (true, false) => text.push_str("\n\n"),
            (false, true) => text.push_str(&line),
            (false, false) => text.push_str(&format!(" {line}")),
        }
    }
    text.trim().to_owned()
}
