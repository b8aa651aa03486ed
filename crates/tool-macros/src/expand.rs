//! What the attribute writes.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Expr, ExprLit, Lit, Result};

use crate::attribute::Attribute;
use crate::function::{Argument, DefaultValue, Function, Parameter};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let attribute = Attribute::parse(attribute)?;
    let function = Function::parse(item)?;
    let krate = &attribute.krate;
    let (item, visibility) = (&function.item, &function.item.vis);
    let function_name = &item.sig.ident;
    let name = attribute.name.clone().unwrap_or_else(|| plain(function_name));
    let tool = format_ident!("{}", camel_case(&plain(function_name)), span = function_name.span());
    let doc = format!("The tool `{name}`.");
    let all: Vec<&Argument> = function
        .parameters
        .iter()
        .filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(&**argument),
            Parameter::Context => None,
        })
        .collect();
    let names: Vec<&Ident> = all.iter().map(|argument| &argument.name).collect();
    let fields = all.iter().map(|argument| field(argument));
    let defaults = all.iter().filter_map(|argument| default_function(argument));
    let given = function.parameters.iter().map(|parameter| match parameter {
        Parameter::Argument(argument) => argument.name.to_token_stream(),
        Parameter::Context => quote!(context),
    });
    let takes_context = function.parameters.iter().any(|it| matches!(it, Parameter::Context));
    let unused = (!takes_context).then(|| quote!(::core::mem::drop(context);));
    let path = krate.to_token_stream().to_string().replace(' ', "");
    let (serde, schemars) = (format!("{path}::macros::serde"), format!("{path}::macros::schemars"));
    let contract = contract(&attribute, &name, &function.description);
    Ok(quote! {
        #item

        #[doc = #doc]
        #[derive(Clone, Copy, Debug, Default)]
        #visibility struct #tool;

        const _: () = {
            #[derive(#krate::macros::serde::Deserialize, #krate::macros::schemars::JsonSchema)]
            #[serde(crate = #serde, deny_unknown_fields)]
            #[schemars(crate = #schemars)]
            struct Arguments {
                #(#fields)*
            }

            #(#defaults)*

            impl #krate::Tool for #tool {
                fn contract(&self) -> &#krate::ToolContract {
                    static CONTRACT: ::std::sync::LazyLock<#krate::ToolContract> =
                        ::std::sync::LazyLock::new(|| #contract);
                    &CONTRACT
                }

                fn call(
                    &self,
                    arguments: #krate::macros::serde_json::Value,
                    context: #krate::CallContext,
                ) -> #krate::macros::BoxFuture<
                    'static,
                    ::core::result::Result<#krate::ToolOutput, #krate::ToolError>,
                > {
                    ::std::boxed::Box::pin(async move {
                        let Arguments { #(#names),* } = #krate::macros::arguments(arguments)?;
                        #unused
                        #krate::ToolReturn::into_result(#function_name(#(#given),*).await)
                    })
                }
            }
        };
    })
}

/// The value of the tool's contract.
fn contract(attribute: &Attribute, name: &str, description: &str) -> TokenStream {
    let Attribute { effects, capabilities, version, krate, .. } = attribute;
    let time = match attribute.timeout_seconds {
        None => quote!(#krate::CallLimits::default().time),
        Some(0) => quote!(::core::option::Option::None),
        Some(seconds) => {
            quote!(::core::option::Option::Some(::core::time::Duration::from_secs(#seconds)))
        }
    };
    let output = match attribute.output_bytes {
        None => quote!(#krate::CallLimits::default().output),
        Some(bytes) => quote!(#bytes),
    };
    quote! {
        #krate::ToolContract {
            name: ::std::string::String::from(#name),
            version: #version,
            description: ::std::string::String::from(#description),
            schema: #krate::macros::schema::<Arguments>(),
            effects: #krate::Effects::#effects,
            capabilities: ::std::vec![#(#krate::Capability::new(#capabilities)),*],
            limits: #krate::CallLimits { time: #time, output: #output },
        }
    }
}

fn field(argument: &Argument) -> TokenStream {
    let Argument { name, ty, docs, default } = argument;
    let default = default.as_ref().map(|default| match default {
        DefaultValue::OfType => quote!(#[serde(default)]),
        DefaultValue::Value(_) => {
            let function = default_name(name).to_string();
            quote!(#[serde(default = #function)])
        }
    });
    quote!(#(#docs)* #default #name: #ty,)
}

fn default_function(argument: &Argument) -> Option<TokenStream> {
    let Some(DefaultValue::Value(value)) = &argument.default else { return None };
    let (name, ty) = (default_name(&argument.name), &argument.ty);
    let value = match value {
        // A text in quotes is none that is owned.
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            quote!(::core::convert::From::from(#text))
        }
        other => other.to_token_stream(),
    };
    Some(quote! {
        fn #name() -> #ty {
            #value
        }
    })
}

fn default_name(argument: &Ident) -> Ident {
    format_ident!("default_{}", plain(argument))
}

/// A name without `r#`.
fn plain(name: &Ident) -> String {
    let text = name.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

fn camel_case(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
            format!("{}{rest}", first.to_uppercase())
        })
        .collect()
}
