//! Whether all that a text did is in what the parser found in it.

use offshoot_policy::script::{RedirectKind, Script, ShellWord, WordPiece};

use crate::shells::Seen;

/// What a comparison says.
#[derive(Debug)]
pub(crate) enum Judgement {
    /// The parser did not understand the text, and said so.
    Unclear,
    /// All that was done was seen.
    Seen,
    /// Something was not.
    Missed(String),
}

/// Compares what a text did with what was found in it.
pub(crate) fn judge(script: &Script, seen: &Seen) -> Judgement {
    if !script.unclear.is_empty() {
        return Judgement::Unclear;
    }
    for program in &seen.programs {
        let found = script.commands.iter().any(|simple| fits(&simple.words, program));
        if !found {
            let words: Vec<_> = program.iter().map(|word| String::from_utf8_lossy(word)).collect();
            return Judgement::Missed(format!("it ran {words:?}"));
        }
    }
    for file in &seen.files {
        let named =
            |word: &ShellWord, name: String| fits(std::slice::from_ref(word), &[name.into_bytes()]);
        let makes =
            |word: &ShellWord| named(word, file.clone()) || named(word, format!("./{file}"));
        let mut redirects = script.commands.iter().flat_map(|simple| &simple.redirects);
        if !redirects.any(|redirect| redirect.kind != RedirectKind::Read && makes(&redirect.target))
        {
            return Judgement::Missed(format!("it made {file:?}"));
        }
    }
    Judgement::Seen
}

/// What was found, for people.
pub(crate) fn shown(script: &Script) -> String {
    let lines = script.commands.iter().map(|simple| {
        let words: Vec<_> = simple.words.iter().map(ShellWord::display).collect();
        let targets: Vec<_> =
            simple.redirects.iter().map(|redirect| redirect.target.display()).collect();
        format!("{words:?} > {targets:?}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether these words may have become these arguments.
fn fits(words: &[ShellWord], arguments: &[Vec<u8>]) -> bool {
    let Some((word, rest)) = words.split_first() else {
        return arguments.is_empty();
    };
    if word.splits() {
        // It may become any number of arguments; what its literal pieces ask for is not looked at.
        return (0..=arguments.len()).any(|count| fits(rest, &arguments[count..]));
    }
    match arguments.split_first() {
        Some((argument, others)) => fits_one(&word.pieces, argument) && fits(rest, others),
        None => false,
    }
}

fn fits_one(pieces: &[WordPiece], argument: &[u8]) -> bool {
    match pieces.split_first() {
        None => argument.is_empty(),
        Some((WordPiece::Literal(text), rest)) => {
            argument.strip_prefix(text.as_bytes()).is_some_and(|argument| fits_one(rest, argument))
        }
        Some((_, rest)) => (0..=argument.len()).any(|skipped| fits_one(rest, &argument[skipped..])),
    }
}
