//! Writes the tables as Rust. Everything is a constant expression, so that nothing is built when a program starts.

use std::fmt::Write as _;

use crate::Source;
use crate::format::{Effect, Tool, When};

/// The text of the generated file.
pub(crate) fn tables(sources: &[Source]) -> String {
    let mut emitter = Emitter::default();
    let mut names: Vec<(&str, String)> = Vec::new();
    for tool in sources.iter().flat_map(|source| &source.file.tool) {
        let place = emitter.tool(tool, &Inherited::default());
        names.extend(tool.names.split_whitespace().map(|name| (name, place.clone())));
    }
    names.sort_unstable();
    let mut out = emitter.out;
    let slice = slice(names.iter().map(|(name, place)| format!("({name:?}, &{place})")));
    out.push_str("/// Every program, sorted by name.\n");
    out.push_str(&format!("pub(crate) static TOOLS: &[(&str, &Tool)] = {slice};\n"));
    out.push_str(&variables(sources));
    out.push_str(&places(sources));
    out
}

fn variables(sources: &[Source]) -> String {
    let mut entries = Vec::new();
    for variable in sources.iter().flat_map(|source| &source.file.variable) {
        let adds = categories(&variable.adds);
        for name in variable.names.split_whitespace() {
            let why = &variable.why;
            let harmless = strings(&variable.harmless);
            let lasting = variable.lasting;
            entries.push(format!(
                "Variable {{ name: {name:?}, adds: {adds}, harmless: {harmless}, lasting: {lasting}, why: {why:?} }}"
            ));
        }
    }
    let slice = slice(entries);
    format!(
        "/// Variables that change what programs do.\npub(crate) static VARIABLES: &[Variable] = {slice};\n"
    )
}

fn places(sources: &[Source]) -> String {
    let mut entries = Vec::new();
    for place in sources.iter().flat_map(|source| &source.file.place) {
        for (home, paths) in [(true, &place.home), (false, &place.absolute)] {
            for path in paths.split_whitespace() {
                let why = &place.why;
                let path = path.trim_matches('/');
                entries.push(format!("Place {{ home: {home}, path: {path:?}, why: {why:?} }}"));
            }
        }
    }
    let slice = slice(entries);
    format!("/// Where credentials lie.\npub(crate) static PLACES: &[Place] = {slice};\n")
}

fn slice(entries: impl IntoIterator<Item = String>) -> String {
    let entries: Vec<String> = entries.into_iter().collect();
    format!("&[{}]", entries.join(", "))
}

fn strings(words: &str) -> String {
    slice(words.split_whitespace().map(|word| format!("{word:?}")))
}

fn option(text: Option<String>) -> String {
    text.map_or_else(|| "None".to_owned(), |text| format!("Some({text})"))
}

fn categories(words: &str) -> String {
    let mut text = "Categories::READ_ONLY".to_owned();
    for word in words.split_whitespace().filter(|word| *word != "read_only") {
        write!(text, ".with(Category::{})", camel(word)).expect("a string takes all");
    }
    text
}

fn camel(word: &str) -> String {
    let mut text = String::new();
    for part in word.split('_') {
        let (first, rest) = part.split_at(part.len().min(1));
        text.push_str(&first.to_uppercase());
        text.push_str(rest);
    }
    text
}

fn role(word: &str) -> String {
    format!("Role::{}", camel(word))
}

fn language(word: &str) -> String {
    match word {
        "sh" => "Language::Shell".to_owned(),
        "sed" => "Language::Sed".to_owned(),
        "awk" => "Language::Awk".to_owned(),
        other => format!("Language::Other({other:?})"),
    }
}

/// The roles of the first operands and that of all others.
fn operands(words: &str) -> String {
    let mut roles = Vec::new();
    let mut words = words.split_whitespace();
    while let Some(word) = words.next() {
        if word == "skip" {
            let count = words.next().and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
            roles.extend(std::iter::repeat_n("Role::Text".to_owned(), count));
        } else {
            roles.push(role(word));
        }
    }
    let rest = roles.pop().unwrap_or_else(|| "Role::Text".to_owned());
    format!("Operands {{ ahead: {}, rest: {rest} }}", slice(roles))
}

/// What a subcommand has from the tools around it where it says nothing itself.
#[derive(Clone, Default)]
struct Inherited {
    style: Option<String>,
    language: Option<String>,
}

/// Writes tools, subcommands and options one by one, each with a name of its own, since several names may lead to it.
#[derive(Default)]
struct Emitter {
    out: String,
    count: usize,
}

impl Emitter {
    /// Writes one thing and says what it is called.
    fn item(&mut self, kind: &str, text: &str) -> String {
        let name = format!("{}_{}", kind.to_uppercase(), self.count);
        self.count += 1;
        self.out.push_str(&format!("static {name}: {kind} = {text};\n"));
        name
    }

    fn tool(&mut self, tool: &Tool, outer: &Inherited) -> String {
        let style = tool.style.clone().or_else(|| outer.style.clone());
        let spoken = tool.language.clone().or_else(|| outer.language.clone());
        let inner = Inherited { style: style.clone(), language: spoken.clone() };
        let (options, prefixes) = self.options(tool, spoken.as_deref());
        let first = tool.first.as_ref().map(|words| {
            format!("First {{ role: {}, unless: {} }}", role(words), strings(&tool.unless))
        });
        let (subs, patterns, default) = self.subcommands(tool, &inner);
        let text = format!(
            "Tool {{ name: {:?}, about: {:?}, is: {}, style: Style::{}, options: {}, prefixes: {}, first: {}, \
             operands: {}, language: {}, input: {}, leading: {}, appends: {}, versioned: {}, whens: {}, subs: {}, patterns: {}, default: {} }}",
            tool.names.split_whitespace().next().unwrap_or_default(),
            tool.about,
            categories(&tool.is),
            camel(style.as_deref().unwrap_or("gnu")),
            slice(options),
            slice(prefixes),
            option(first),
            operands(tool.operands.as_deref().unwrap_or("text")),
            language(spoken.as_deref().unwrap_or("")),
            option(tool.input.as_deref().map(role)),
            tool.leading,
            tool.appends,
            tool.versioned,
            slice(tool.when.iter().map(when)),
            slice(subs),
            slice(patterns),
            option(default),
        );
        self.item("Tool", &text)
    }

    /// The subcommands sorted by name, those whose names have a `*`, and the one that is the default.
    fn subcommands(
        &mut self,
        tool: &Tool,
        inner: &Inherited,
    ) -> (Vec<String>, Vec<String>, Option<String>) {
        let (mut subs, mut patterns, mut default) = (Vec::new(), Vec::new(), None);
        for sub in &tool.sub {
            let place = self.tool(sub, inner);
            for name in sub.names.split_whitespace() {
                let entry = (name, format!("({name:?}, &{place})"));
                if name.contains('*') { patterns.push(entry) } else { subs.push(entry) }
            }
            if sub.default {
                default = Some(format!("&{place}"));
            }
        }
        subs.sort();
        patterns.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let text =
            |entries: Vec<(&str, String)>| entries.into_iter().map(|(_, text)| text).collect();
        (text(subs), text(patterns), default)
    }

    /// The options sorted by name, and those that end with `*`, the longest first.
    fn options(&mut self, tool: &Tool, spoken: Option<&str>) -> (Vec<String>, Vec<String>) {
        let mut all: Vec<(&str, String)> = Vec::new();
        let harmless = [
            ("Known::Flag", &tool.flags),
            ("Known::Value(Role::Text)", &tool.values),
            ("Known::Value(Role::Read)", &tool.reads),
            ("Known::Optional", &tool.optional),
        ];
        for (kind, names) in harmless {
            all.extend(names.split_whitespace().map(|name| (name, kind.to_owned())));
        }
        for item in &tool.option {
            let place = self.item("Effect", &effect(item, spoken));
            let names = item.names.split_whitespace();
            all.extend(names.map(|name| (name, format!("Known::Matters(&{place})"))));
        }
        let (mut prefixes, mut options): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(name, _)| name.ends_with('*'));
        options.sort();
        prefixes.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let pair = |(name, kind): (&str, String)| format!("({name:?}, {kind})");
        let shortened = |(name, kind)| pair((str::trim_end_matches(name, '*'), kind));
        (options.into_iter().map(pair).collect(), prefixes.into_iter().map(shortened).collect())
    }
}

fn effect(effect: &Effect, spoken: Option<&str>) -> String {
    format!(
        "Effect {{ value: {}, optional: {}, write_with: {}, only: {}, except: {}, adds: {}, is: {}, operands: {}, language: {}, input: {}, \
         why: {:?} }}",
        option(effect.value.as_deref().map(role)),
        effect.optional,
        strings(&effect.write_with),
        strings(&effect.only),
        strings(&effect.except),
        categories(effect.adds.as_deref().unwrap_or_default()),
        option(effect.is.as_deref().map(categories)),
        option(effect.operands.as_deref().map(|words| format!("&{}", operands(words)))),
        language(effect.language.as_deref().or(spoken).unwrap_or("")),
        option(effect.input.as_deref().map(role)),
        effect.why,
    )
}

fn when(when: &When) -> String {
    format!(
        "When {{ at_least: {}, at_most: {}, words: {}, with: {}, without: {}, adds: {}, is: {}, why: {:?} }}",
        when.operands_at_least.unwrap_or(0),
        when.operands_at_most.unwrap_or(u16::MAX),
        strings(&when.words),
        strings(&when.with),
        strings(&when.without),
        categories(when.adds.as_deref().unwrap_or_default()),
        option(when.is.as_deref().map(categories)),
        when.why,
    )
}
