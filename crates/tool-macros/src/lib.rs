//! The attribute `#[tool]`, which makes a tool of an async function. `offshoot-tool` exports it, and `docs/design/tools.md` describes it.

mod attribute;
mod expand;
mod function;

use proc_macro::TokenStream;

/// Makes a tool of an async function: its signature and its doc comments become the JSON Schema of the tool's arguments.
///
/// The function stays as it is. Beside it there is a unit type with its name in camel case, which is the tool.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
