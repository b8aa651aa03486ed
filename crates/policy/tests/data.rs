//! The build refuses knowledge that contradicts itself, and says where; what it writes is read as it was meant.

#[path = "../build/check.rs"]
mod check;
#[path = "../src/knowledge/codes.rs"]
mod codes;
#[path = "../src/knowledge/decode.rs"]
mod decode;
#[path = "../build/emit.rs"]
mod emit;
#[path = "../build/format.rs"]
mod format;
#[path = "../src/knowledge/index.rs"]
mod index;
#[path = "../src/knowledge/reader.rs"]
mod reader;
#[path = "../src/knowledge/table.rs"]
#[expect(dead_code, reason = "the crate has more use for them")]
mod table;
#[path = "../build/verify.rs"]
mod verify;
#[path = "../build/writer.rs"]
mod writer;

use offshoot_policy as category;

use category::{Categories, EffectCategory};
use index::Index;
use table::{Known, Language, Role, Style, Tool};

/// A file with its name, as the build has it.
struct Source {
    name: String,
    file: format::File,
}

const PLAIN: &str = "[[tool]]\nnames = \"x\"\nabout = \"does x\"\nis = \"read_only\"\n";

fn source(name: &str, text: &str) -> Result<Source, String> {
    let file = toml::from_str(text).map_err(|error| error.to_string())?;
    Ok(Source { name: name.to_owned(), file })
}

/// What the build says of a tool with these lines added to it.
fn faults(lines: &str) -> String {
    match source("x.toml", &format!("{PLAIN}{lines}")) {
        Ok(source) => check::check(&[source]).err().unwrap_or_default(),
        Err(fault) => fault,
    }
}

#[track_caller]
fn refuses(lines: &str, fault: &str) {
    let found = faults(lines);
    assert!(found.contains(fault), "{lines}\nfaults: {found:?}");
}

#[test]
fn plain_knowledge_is_taken() {
    assert_eq!(faults("flags = \"-a --all\"\nvalues = \"-n\""), "");
}

#[test]
fn keys_and_words_are_known() {
    refuses("colour = \"red\"", "unknown field `colour`");
    refuses("style = \"dos\"", "x.toml: x: dos is no style");
    refuses("operands = \"eat\"", "eat is no role");
    refuses("operands = \"command read\"", "nothing follows command");
    refuses("operands = \"skip\"", "skip needs a number");
    refuses("[[tool.sub]]\nnames = \"s\"\nis = \"evil\"", "x.toml: x s: evil is no category");
    refuses("[[tool.sub]]\nnames = \"s\"\nis = \"destructive\"", "destructive is mutating too");
    refuses("[[tool.sub]]\nnames = \"s\"\nis = \"read_only mutating\"", "read_only stands alone");
}

#[test]
fn options_are_there_once() {
    refuses("flags = \"-a\"\nvalues = \"-a\"", "x.toml: x: -a is in flags and in values");
    refuses("flags = \"all\"", "all is no name of an option");
    let option = "[[tool.option]]\nnames = \"-a\"\nwhy = \"w\"\n";
    refuses(option, "-a changes nothing");
    refuses(&format!("flags = \"-a\"\n{option}adds = \"mutating\""), "in flags and in option");
    refuses(&format!("{option}value = \"eat\""), "eat is no role of a value");
    refuses(&format!("{option}adds = \"mutating\"\nonly = \"x\""), "takes no value");
    refuses("first = \"code\"\nunless = \"-e\"", "-e is not among the options");
    refuses("[[tool.when]]\nadds = \"mutating\"\nwhy = \"w\"", "a when has no condition");
}

#[test]
fn names_are_there_once() {
    let sub = "[[tool.sub]]\nnames = \"s\"\nis = \"read_only\"\n";
    refuses(&format!("{sub}{sub}"), "s is there twice");
    refuses("default = true", "default is for subcommands");
    let sources: Vec<Source> =
        ["a.toml", "b.toml"].iter().map(|name| source(name, PLAIN).expect("knowledge")).collect();
    let fault = check::check(&sources).expect_err("the same tool twice");
    assert_eq!(fault, "b.toml: x: is in a.toml as well");
}

/// The tables that the build makes of a text.
fn index(text: &str) -> Index {
    let sources = [source("x.toml", text).expect("knowledge")];
    check::check(&sources).expect("knowledge without faults");
    let tables = emit::tables(&sources).leak();
    verify::verify(&sources, tables).expect("tables that can be read");
    Index::open(tables).expect("tables that can be opened")
}

fn tool(index: &Index, name: &str) -> Tool {
    let (_, number) = index.find(name).unwrap_or_else(|| panic!("{name} is not there"));
    index.tool(number).unwrap_or_else(|| panic!("{name} cannot be read"))
}

fn names<T>(list: &[(&'static str, T)]) -> Vec<&'static str> {
    list.iter().map(|(name, _)| *name).collect()
}

#[test]
fn tables_are_sorted() {
    let text = format!("{PLAIN}flags = \"-z -b --all -W* -Wl*\"\n");
    let sub = |names| format!("[[tool.sub]]\nnames = \"{names}\"\nis = \"read_only\"\n");
    let index = index(&format!("{text}{}{}", sub("z b get-*"), sub("get-x-* a")));
    let tool = tool(&index, "x");
    assert_eq!(names(tool.options), ["--all", "-b", "-z"]);
    assert_eq!(names(tool.prefixes), ["-Wl", "-W"]);
    assert_eq!(names(tool.subs), ["a", "b", "z"]);
    assert_eq!(names(tool.patterns), ["get-x-*", "get-*"]);
}

#[test]
fn all_names_lead_to_their_tools() {
    let text = PLAIN.replace("\"x\"", "\"m z a\"");
    let index = index(&format!("{PLAIN}{text}"));
    assert_eq!(["a", "m", "x", "z"].map(|name| tool(&index, name).name), ["m", "m", "x", "m"]);
    assert!(["", "b", "xx"].iter().all(|name| index.find(name).is_none()));
}

#[test]
fn options_are_read_as_they_were_meant() {
    let lines = r#"
        style = "posix"
        flags = "-f"
        values = "-v"
        reads = "-r"
        optional = "-o"
        [[tool.option]]
        names = "-d --delete"
        value = "delete"
        optional = true
        write_with = "-f -v"
        only = "a b*"
        except = "c"
        adds = "mutating destructive"
        is = "networked"
        operands = "skip 2 read last_write"
        language = "awk"
        input = "script"
        why = "goes"
    "#;
    let tool = tool(&index(&format!("{PLAIN}{lines}")), "x");
    assert_eq!(tool.style, Style::Posix);
    assert_eq!(names(tool.options), ["--delete", "-d", "-f", "-o", "-r", "-v"]);
    let [(_, Known::Matters(effect)), (_, Known::Matters(same)), others @ ..] = tool.options else {
        panic!("{:?}", tool.options);
    };
    assert!(std::ptr::eq(*effect, *same));
    assert_eq!(
        format!("{:?}", others.iter().map(|(_, known)| known).collect::<Vec<_>>()),
        "[Flag, Optional, Value(Read), Value(Text)]"
    );
    assert_eq!((effect.value, effect.optional), (Some(Role::Delete), true));
    assert_eq!(
        (effect.write_with, effect.only, effect.except),
        (&["-f", "-v"][..], &["a", "b*"][..], &["c"][..])
    );
    assert_eq!(
        effect.adds,
        Categories::only(EffectCategory::Mutating).with(EffectCategory::Destructive)
    );
    assert_eq!(effect.is, Some(Categories::only(EffectCategory::Networked)));
    let operands = effect.operands.expect("operands");
    assert_eq!(operands.ahead, [Role::Text, Role::Text, Role::Read]);
    assert_eq!(operands.rest, Role::LastWrite);
    assert_eq!(effect.language, Language::Awk);
    assert_eq!((effect.input, effect.why), (Some(Role::Script), "goes"));
}

#[test]
fn tools_are_read_as_they_were_meant() {
    let lines = r#"
        style = "long"
        language = "lua"
        first = "code"
        unless = "-f"
        flags = "-f"
        operands = "host text"
        input = "shell"
        leading = true
        versioned = true
        [[tool.when]]
        operands_at_most = 300
        words = "+*"
        with = "-f"
        is = "mutating"
        why = "does more"
        [[tool.sub]]
        names = "s"
        is = "host_escape_risk"
        default = true
        [[tool.sub.sub]]
        names = "t"
        is = "interactive"
        style = "keys"
        language = "sed"
        appends = true
    "#;
    let tool = tool(&index(&format!("{PLAIN}{lines}")), "x");
    assert_eq!((tool.name, tool.about, tool.is), ("x", "does x", Categories::READ_ONLY));
    assert_eq!((tool.style, tool.language), (Style::Long, Language::Other("lua")));
    let first = tool.first.expect("a first operand");
    assert_eq!((first.role, first.unless), (Role::Code, &["-f"][..]));
    assert_eq!((tool.operands.ahead, tool.operands.rest), (&[Role::Host][..], Role::Text));
    assert_eq!(tool.input, Some(Role::Shell));
    assert_eq!((tool.leading, tool.appends, tool.versioned), (true, false, true));
    let [when] = tool.whens else { panic!("{:?}", tool.whens) };
    assert_eq!((when.at_least, when.at_most), (0, 300));
    assert_eq!((when.words, when.with, when.without), (&["+*"][..], &["-f"][..], &[][..]));
    assert_eq!((when.adds, when.why), (Categories::READ_ONLY, "does more"));
    assert_eq!(when.is, Some(Categories::only(EffectCategory::Mutating)));
    let [("s", sub)] = tool.subs else { panic!("{:?}", tool.subs) };
    assert!(tool.default.is_some_and(|default| std::ptr::eq(default, *sub)));
    assert_eq!(sub.is, Categories::only(EffectCategory::HostEscapeRisk));
    assert_eq!((sub.style, sub.language), (Style::Long, Language::Other("lua")));
    let [("t", inner)] = sub.subs else { panic!("{:?}", sub.subs) };
    assert_eq!((inner.style, inner.language, inner.appends), (Style::Keys, Language::Sed, true));
    assert!(sub.default.is_none() && inner.whens.is_empty());
}

#[test]
fn variables_and_places_are_read_as_they_were_meant() {
    let index = index(
        r#"
        [[variable]]
        names = "A B_*"
        adds = "mutating"
        harmless = "0 no"
        lasting = true
        why = "runs it"
        [[place]]
        home = ".a/ .b"
        absolute = "/etc/c"
        why = "keys"
        "#,
    );
    let variables = index.variables().expect("variables");
    assert_eq!(variables.iter().map(|variable| variable.name).collect::<Vec<_>>(), ["A", "B_*"]);
    let last = &variables[1];
    assert_eq!((last.harmless, last.lasting, last.why), (&["0", "no"][..], true, "runs it"));
    assert_eq!(last.adds, Categories::only(EffectCategory::Mutating));
    let places: Vec<_> =
        index.places().expect("places").iter().map(|p| (p.home, p.path, p.why)).collect();
    assert_eq!(places, [(true, ".a", "keys"), (true, ".b", "keys"), (false, "etc/c", "keys")]);
}
