//! Arguments of a tool that there is only here.

use offshoot_vocabulary::EffectCategory;

use crate::category::Categories;
use crate::knowledge::{Effect, Known, Language, Operands, Role, Style, Tool};
use crate::script::{ShellWord, WordPiece};

use super::{Reading, Strange, Value};

const NOTHING: Effect = Effect {
    value: None,
    optional: false,
    write_with: &[],
    only: &[],
    except: &[],
    adds: Categories::READ_ONLY,
    is: None,
    operands: None,
    language: Language::Other(""),
    input: None,
    why: "it matters",
};
static OUTPUT: Effect = Effect { value: Some(Role::Write), ..NOTHING };
static FORCE: Effect = Effect { adds: Categories::only(EffectCategory::Mutating), ..NOTHING };
static EXEC: Effect = Effect { value: Some(Role::CommandUntil), ..NOTHING };
const PLAIN: Tool = Tool {
    name: "tool",
    about: "is only here",
    is: Categories::READ_ONLY,
    style: Style::Gnu,
    options: &[
        ("-#", Known::Flag),
        ("--exec", Known::Matters(&EXEC)),
        ("--force", Known::Matters(&FORCE)),
        ("--key", Known::Value(Role::Text)),
        ("--output", Known::Matters(&OUTPUT)),
        ("--sort", Known::Optional),
        ("-a", Known::Flag),
        ("-b", Known::Flag),
        ("-k", Known::Value(Role::Text)),
        ("-o", Known::Matters(&OUTPUT)),
        ("-s", Known::Optional),
    ],
    prefixes: &[("-W", Known::Flag)],
    first: None,
    operands: Operands { ahead: &[], rest: Role::Read },
    language: Language::Other(""),
    input: None,
    leading: false,
    appends: false,
    versioned: false,
    whens: &[],
    subs: &[],
    patterns: &[],
    default: None,
};
static GNU: Tool = PLAIN;
static POSIX: Tool = Tool { style: Style::Posix, ..PLAIN };
static LEADING: Tool = Tool { leading: true, ..PLAIN };
static TAR: Tool = Tool { style: Style::Tar, ..PLAIN };
static LONG: Tool = Tool { style: Style::Long, ..PLAIN };
static NONE: Tool = Tool { style: Style::None, ..PLAIN };
static SUB: Tool = Tool { name: "sub", options: &[("-c", Known::Flag)], ..PLAIN };
static WITH_SUBS: Tool = Tool { subs: &[("sub", &SUB)], patterns: &[("get-*", &SUB)], ..PLAIN };
static WRAPPER: Tool = Tool {
    style: Style::Posix,
    operands: Operands { ahead: &[Role::Text, Role::Assignments], rest: Role::Command },
    ..PLAIN
};

/// What a reading found, in short: options with their values, operands, the command, and what is strange.
fn short(tool: &'static Tool, text: &str) -> String {
    let words: Vec<ShellWord> = text.split(' ').map(word).collect();
    let reading = Reading::of(tool.name, tool, &words);
    let mut parts = Vec::new();
    for given in &reading.options {
        match given.value {
            Some(Value::Words(words)) => parts.push(format!("{}:{}", given.name, words.len())),
            Some(value) => parts.push(format!("{}:{}", given.name, value.word().display())),
            None => parts.push(given.name.to_owned()),
        }
    }
    parts.extend(reading.operands.iter().map(|word| format!("[{}]", word.display())));
    parts.extend(reading.command.map(|command| format!("runs {}", command.len())));
    for strange in &reading.strange {
        parts.push(match strange {
            Strange::Option(word) => format!("option? {}", word.display()),
            Strange::Subcommand(word) => format!("sub? {}", word.display()),
            Strange::Late(word) => format!("late {}", word.display()),
            Strange::Injected(word) => format!("? {}", word.display()),
        });
    }
    format!("{}: {}", reading.name(), parts.join(" "))
}

/// `$` stands for something unknown, `"$` for something unknown that does not split.
fn word(text: &str) -> ShellWord {
    let Some((before, behind)) = text.split_once('$') else { return ShellWord::new(text) };
    let before = before.trim_end_matches('"');
    let quoted = text.contains('"');
    let known = |text: &str| (!text.is_empty()).then(|| WordPiece::Literal(text.to_owned()));
    let pieces = [known(before), Some(WordPiece::Unknown { splits: !quoted }), known(behind)];
    ShellWord { pieces: pieces.into_iter().flatten().collect() }
}

#[track_caller]
fn check(tool: &'static Tool, text: &str, expected: &str) {
    assert_eq!(short(tool, text), expected, "{text}");
}

#[test]
fn options_and_values() {
    check(&GNU, "-a -b x", "tool: -a -b [x]");
    check(&GNU, "x -ab -k2 -k 3 --key=4 --key 5", "tool: -a -b -k:2 -k:3 --key:4 --key:5 [x]");
    check(&GNU, "-abo out x", "tool: -a -b -o:out [x]");
    check(&GNU, "-aoout --output=f", "tool: -a -o:out --output:f");
    check(&GNU, "-s x -sx --sort x --sort=y", "tool: -s -s:x --sort --sort:y [x] [x]");
    check(&GNU, "-- -o x", "tool: [-o] [x]");
    check(&GNU, "- -20 -Wall", "tool: -# -W:all [-]");
    check(&GNU, "--outp=f --fo", "tool: --output:f --force");
    check(&GNU, "--frob -x", "tool: option? --frob option? -x");
    check(&GNU, "-k", "tool: -k");
}

#[test]
fn other_styles() {
    check(&POSIX, "-a x -b", "tool: -a [x] [-b]");
    check(&LEADING, "-a x -b", "tool: -a -b [x] late -b");
    check(&TAR, "ako v w x", "tool: -a -k:v -o:w [x]");
    check(&TAR, "-ab x", "tool: -a -b [x]");
    check(&LONG, "-key v --output=f x", "tool: --key:v --output:f [x]");
    check(&LONG, "--exec a {} ; -a", "tool: --exec:2 -a");
    check(&LONG, "--exec a {} + b", "tool: --exec:2 [b]");
    check(&NONE, "-o x --", "tool: [-o] [x] [--]");
}

#[test]
fn subcommands() {
    check(&WITH_SUBS, "-a sub -c -b x", "tool sub: -a -c -b [x]");
    check(&WITH_SUBS, "get-x y", "tool get-x: [y]");
    check(&WITH_SUBS, "other -o x", "tool: sub? other");
    check(&WITH_SUBS, "$ x", "tool: ? … sub? …");
}

#[test]
fn commands() {
    check(&WRAPPER, "-a 5 A=1 B=2 rm -rf", "tool: -a [5] runs 2");
    check(&WRAPPER, "5 -- rm", "tool: [5] runs 2");
    check(&WRAPPER, "$ rm", "tool: […] runs 1 ? …");
}

#[test]
fn what_is_not_known() {
    check(&GNU, "$ x", "tool: […] [x] ? …");
    check(&GNU, "\"$ x", "tool: […] [x] ? …");
    check(&GNU, "a\"$", "tool: [a…]");
    check(&GNU, "a$", "tool: [a…] ? a…");
    check(&GNU, "-k \"$ x", "tool: -k:… [x]");
    check(&GNU, "-k $ x", "tool: -k:… [x] ? …");
    check(&GNU, "--key=$", "tool: --key:… ? --key=…");
    check(&GNU, "-a\"$", "tool: -a ? -a…");
    check(&GNU, "--ke\"$", "tool: option? --ke…");
    check(&GNU, "-k -o x", "tool: -k:-o [x] ? -o");
    check(&GNU, "-- $", "tool: […]");
    check(&LONG, "--exec a \"$ -a ;", "tool: --exec:3 ? …");
}
