//! A judge that knows a handful of programs and no shell.

use offshoot_vocabulary::{CommandPart, EffectCategory, PathAccess};

use crate::category::Categories;
use crate::context::Context;
use crate::judged::{Judged, Reason, TouchedPath};
use crate::script::{ShellWord, WordPiece};

use EffectCategory::{Destructive, HostEscapeRisk, Interactive, Mutating, Networked};

/// Judges commands that are separated by `;`, with `>` before a file as the last word but one, and `$` for what is unknown.
pub(super) fn judge(text: &str, context: &Context) -> Vec<Judged> {
    text.split(';').flat_map(|command| simple(command.trim(), context)).collect()
}

fn simple(text: &str, context: &Context) -> Vec<Judged> {
    if text.starts_with('(') {
        return vec![part(CommandPart::Unclear, text, &[Mutating])];
    }
    let (command, target) = text.split_once(" > ").unzip();
    let mut parts = Vec::new();
    let mut words: Vec<&str> = command.unwrap_or(text).split_whitespace().collect();
    while let Some(assignment) = words.first().filter(|word| word.contains('=')) {
        parts.push(part(CommandPart::Assignment, assignment, &[HostEscapeRisk]));
        words.remove(0);
    }
    let mut wrappers = Vec::new();
    while let Some(wrapper) = words.first().filter(|word| ["sudo", "env"].contains(word)) {
        wrappers.push((*wrapper).to_owned());
        words.remove(0);
    }
    let words: Vec<ShellWord> = words.into_iter().map(word).collect();
    if !words.is_empty() {
        parts.push(program(&words, &wrappers, context));
    }
    parts.extend(target.map(|target| redirection(target, context)));
    parts
}

fn word(text: &str) -> ShellWord {
    if let Some(rest) = text.strip_prefix('~') {
        return ShellWord {
            pieces: vec![WordPiece::Tilde("~".into()), WordPiece::Literal(rest.into())],
        };
    }
    match text.split_once('$') {
        None => ShellWord::new(text),
        Some((before, _)) => ShellWord {
            pieces: vec![WordPiece::Literal(before.into()), WordPiece::Unknown { splits: true }],
        },
    }
}

fn program(words: &[ShellWord], wrappers: &[String], context: &Context) -> Judged {
    let shown: Vec<String> = words.iter().map(ShellWord::display).collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    let name = shown[0].rsplit('/').next().unwrap_or_default();
    let (access, categories): (_, &[EffectCategory]) = match (name, shown.get(1).copied()) {
        ("rm", _) => (PathAccess::Delete, &[Mutating, Destructive]),
        ("touch", _) => (PathAccess::Write, &[Mutating]),
        ("vim", _) => (PathAccess::Read, &[Interactive]),
        ("curl", _) | ("git", Some("fetch")) => (PathAccess::Read, &[Networked]),
        ("git", Some("push")) => (PathAccess::Read, &[Mutating, Networked]),
        ("kubectl", Some("delete")) => (PathAccess::Read, &[Mutating, Networked, Destructive]),
        ("docker", Some("run")) => (PathAccess::Read, &[Mutating, HostEscapeRisk]),
        _ => (PathAccess::Read, &[]),
    };
    let arguments = shown.get(1..).unwrap_or_default();
    let is_path = |word: &&&str| word.contains(['/', '.']) && !word.contains('…');
    let paths: Vec<TouchedPath> = arguments
        .iter()
        .filter(is_path)
        .map(|path| TouchedPath { access, path: absolute(path, context) })
        .collect();
    let mut categories: Categories = categories.iter().copied().collect();
    if paths.iter().any(|touched| is_far(touched, context)) {
        categories = categories.with(HostEscapeRisk);
    }
    let rights = wrappers.iter().any(|wrapper| wrapper == "sudo");
    let wrapped = if rights { Categories::only(HostEscapeRisk) } else { Categories::READ_ONLY };
    let categories = categories.union(wrapped);
    Judged {
        words: words.to_vec(),
        wrappers: wrappers.to_vec(),
        categories,
        wrapped,
        reasons: reasons(categories),
        paths,
        ..Judged::default()
    }
}

fn redirection(target: &str, context: &Context) -> Judged {
    let touched = TouchedPath { access: PathAccess::Write, path: absolute(target, context) };
    let far = is_far(&touched, context);
    let categories: &[EffectCategory] = if far { &[Mutating, HostEscapeRisk] } else { &[Mutating] };
    Judged { paths: vec![touched], ..part(CommandPart::Redirection, target, categories) }
}

fn part(part: CommandPart, text: &str, categories: &[EffectCategory]) -> Judged {
    let categories = categories.iter().copied().collect();
    let words = text.split_whitespace().map(word).collect();
    Judged { part, words, categories, reasons: reasons(categories), ..Judged::default() }
}

fn reasons(categories: Categories) -> Vec<Reason> {
    let why =
        |category: EffectCategory| Reason { category, why: format!("it is {category}").into() };
    categories.iter().filter(|category| *category != EffectCategory::ReadOnly).map(why).collect()
}

fn absolute(path: &str, context: &Context) -> String {
    let home = context.home.as_deref().unwrap_or(&context.workspace);
    let path = match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => context.cwd.join(path),
    };
    path.to_string_lossy().into_owned()
}

fn is_far(touched: &TouchedPath, context: &Context) -> bool {
    let outside = !touched.path.starts_with(&*context.workspace.to_string_lossy());
    touched.path.contains("/.ssh/") || (outside && touched.access != PathAccess::Read)
}
