//! The build refuses knowledge that contradicts itself, and says where.

#[path = "../build/check.rs"]
mod check;
#[path = "../build/emit.rs"]
mod emit;
#[path = "../build/format.rs"]
mod format;

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

#[test]
fn tables_are_sorted() {
    let text = format!("{PLAIN}flags = \"-z -b --all -W*\"\n{}", PLAIN.replace("\"x\"", "\"a\""));
    let tables = emit::tables(&[source("x.toml", &text).expect("knowledge")]);
    let at = |part: &str| tables.find(part).unwrap_or_else(|| panic!("{part} is not in {tables}"));
    assert!(at("\"--all\"") < at("\"-b\"") && at("\"-b\"") < at("\"-z\""));
    assert!(at("prefixes: &[(\"-W\", Known::Flag)]") > 0);
    assert!(at("(\"a\", &TOOL") < at("(\"x\", &TOOL"));
}
