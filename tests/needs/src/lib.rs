//! Has tests ignored, with the reason, that whoever builds them cannot run on this machine.

use proc_macro::{Delimiter, TokenStream, TokenTree};

mod reason;

/// Above `#[test]`: what the test needs beside an ordinary user on Linux. Words are variants of `Feature` in
/// `offshoot_machine`, strings are programs.
///
/// ```text
/// #[needs(UserNamespace, "git")]
/// #[test]
/// fn a_test() {}
/// ```
///
/// Below `#[test]` it would come too late, when no test is left to see:
///
/// ```compile_fail
/// use offshoot_needs::needs;
///
/// #[needs(Root)]
/// fn a_test() {}
/// ```
///
/// A word that nobody ever looks for is a mistake as well:
///
/// ```compile_fail
/// use offshoot_needs::needs;
///
/// #[needs(Luck)]
/// #[test]
/// fn a_test() {}
/// ```
#[proc_macro_attribute]
pub fn needs(names: TokenStream, test: TokenStream) -> TokenStream {
    let names: Vec<String> = names
        .into_iter()
        .filter(|token| !matches!(token, TokenTree::Punct(_)))
        .map(|token| token.to_string())
        .collect();
    let attribute = if is_test(&test) {
        match reason::to_ignore(&names, reason::FOUND) {
            Ok(None) => return test,
            Ok(Some(reason)) => format!("#[ignore = {reason:?}]"),
            Err(mistake) => format!("compile_error!({mistake:?});"),
        }
    } else {
        "compile_error!(\"#[needs(..)] must stand above #[test]\");".to_owned()
    };
    let mut tokens: TokenStream = attribute.parse().expect("it is written above");
    tokens.extend(test);
    tokens
}

/// Whether the compiler has yet to make a test of it.
fn is_test(item: &TokenStream) -> bool {
    item.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            group.stream().to_string() == "test"
        }
        _ => false,
    })
}
