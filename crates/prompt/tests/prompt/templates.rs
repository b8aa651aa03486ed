//! What is wrong with templates is told when they are loaded.

use offshoot_prompt::{BuildError, PromptEngine, PromptSource};

use crate::support::{engine, file, problems, task, template, text, wanted};

#[test]
fn every_mistake_has_its_place() {
    let long = "x".repeat(129);
    for (wrong, place, message) in [
        (task("a {{nmae}} {{name}}", "name = { type = \"name\" }"), "7:3", "did you mean `name`?"),
        (task("\n\nx {{a}}", ""), "9:3", "the variable `a` is not declared; declare it"),
        (task("x", "a = { type = \"name\" }"), "7:1", "declares `a` and does not use it"),
        (task("{{#if a is x}}{{/if}}", "a = { type = \"boolean\" }"), "7:1", "only an enum"),
        (
            task(
                "{{#if a is hihg}}{{/if}}",
                "a = { type = \"enum\", values = [\"high\", \"low\"] }",
            ),
            "7:1",
            "did you mean `high`?",
        ),
        (task("{{#each a}}{{/each}}", "a = { type = \"text\" }"), "7:1", "a loop goes over a list"),
        (task("{{a", ""), "7:1", "a tag has no end"),
        (
            task("{{> prat}}", "") + &template("part", "part", "x", ""),
            "7:1",
            "there is no template `prat`; did you mean `part`?",
        ),
        (
            task("{{> part@3}}", "") + &template("part", "part", "x", ""),
            "7:1",
            "there are the versions 1",
        ),
        (
            task("{{> part@x}}", "") + &template("part", "part", "x", ""),
            "7:1",
            "with a whole number",
        ),
        (
            task("{{> role}}", "") + &template("role", "role", "x", ""),
            "7:1",
            "`role` is of the layer `role`",
        ),
        (template("p", "part", "{{> p}}", ""), "7:1", "these include one another: p > p"),
        (
            template("p", "part", "{{> q}}", "") + &template("q", "part", "{{> p}}", ""),
            "7:1",
            "p > q > p",
        ),
        (task("x", "") + &task("x", ""), "11:8", "two templates `t` of the version 1"),
        (template("a b", "task", "x", ""), "3:8", "`a b` is no name"),
        (template(&long, "task", "x", ""), "3:8", "is no name"),
        (template("t", "top", "x", ""), "5:9", "`top` is no layer"),
        (
            template("s", "system", "{{a}}", "a = { type = \"text\" }"),
            "7:1",
            "`a` of `s` could speak",
        ),
        (
            template("s", "system", "{{a}}", "a = { type = \"list\" }"),
            "7:1",
            "`a` of `s` could speak",
        ),
        (
            template("s", "system", "{{> p}}", "")
                + &template("p", "part", "{{a}}", "a = { type = \"text\" }"),
            "7:1",
            "`a` of `p` could speak",
        ),
        (
            task("{{> p}}{{a}}", "a = { type = \"integer\" }")
                + &template("p", "part", "{{a}}", "a = { type = \"number\" }"),
            "7:1",
            "is something else in `t` and `p`",
        ),
    ] {
        let found = problems(&wrong);
        assert!(found.contains(&format!("t.toml:{place}: ")), "{wrong}\n{found}");
        assert!(found.contains(message), "{wrong}\n{found}");
    }
}

#[test]
fn declarations_are_checked() {
    for (declaration, message) in [
        ("type = \"string\"", "`string` is none of"),
        ("type = \"enum\"", "an enum has `values`"),
        ("type = \"enum\", values = []", "an enum has `values`"),
        ("type = \"enum\", values = [\"a b\"]", "an enum has `values`"),
        ("type = \"text\", values = [\"a\"]", "only an enum"),
        ("type = \"name\", max = 3", "`name` has no `max`"),
        ("type = \"text\", min = 3", "`text` has no `min`"),
        ("type = \"text\", max = 0", "from 1"),
        ("type = \"integer\", min = 1.5", "whole numbers"),
        ("type = \"integer\", min = 2, max = 1", "`min` is above `max`"),
        ("type = \"number\", max = \"x\"", "are numbers"),
        ("type = \"number\", max = inf", "are numbers"),
        (
            "type = \"integer\", default = 1.5",
            "the default has to be a whole number; it is a number",
        ),
        ("type = \"integer\", max = 3, default = 4", "from -9223372036854775808 to 3"),
        ("type = \"enum\", values = [\"a\"], default = \"b\"", "one of a; it is another text"),
        ("type = \"text\", default = \"a\", optional = true", "not `optional`"),
        ("type = \"text\", default = { a = 1 }", "a default is"),
        ("type = \"name\", fence = \"x\"", "only a text or a list"),
        ("type = \"text\", fence = \"a\\\">\"", "a label has"),
        ("type = \"text\", fence = \"\"", "a label has"),
        ("type = \"text\", colour = 1", "unknown field `colour`"),
    ] {
        let found = problems(&task("{{a}}", &format!("a = {{ {declaration} }}")));
        assert!(found.contains(message), "{declaration}: {found}");
        assert!(found.starts_with("t.toml:9:"), "{found}");
    }
    assert!(problems(&task("{{a}}", "\"a-b\" = { type = \"name\" }")).contains("`a-b` is no name"));
}

#[test]
fn rules_of_sections_are_checked() {
    let with = |layer: &str, more: &str| {
        problems(&format!(
            "[[template]]\nname = \"t\"\nversion = 1\nlayer = \"{layer}\"\n{more}\ntext = \"x\"\n"
        ))
    };
    for (layer, more, message) in [
        ("task", "trim = \"half\"", "`half` is no way to cut"),
        ("task", "min_tokens = 2\nmax_tokens = 1", "`min_tokens` is above"),
        ("task", "order = 1", "only system templates"),
        ("task", "text_file = \"x.md\"", "has no text, or two"),
        ("task", "priority = 256", "256"),
        ("part", "priority = 1", "a part is no section"),
        ("part", "min_tokens = 1", "a part is no section"),
        ("part", "max_tokens = 1", "a part is no section"),
        ("part", "trim = \"drop\"", "a part is no section"),
        ("part", "required = false", "a part is no section"),
        ("part", "for_tasks = [\"a\"]", "a part is no section"),
        ("part", "not_for_tasks = [\"a\"]", "a part is no section"),
    ] {
        assert!(with(layer, more).contains(message), "{more}: {}", with(layer, more));
    }
    assert_eq!(with("system", "order = 1"), "nothing");
    let cut = |trim: &str| {
        problems(&format!(
            "[[template]]\nname = \"t\"\nversion = 1\nlayer = \"task\"\ntrim = \"{trim}\"\ntext = \"{{{{a}}}}\"\nvariables = {{ a = {{ type = \"text\", fence = \"x\" }} }}\n"
        ))
    };
    for trim in ["head", "tail"] {
        assert!(cut(trim).contains("has a fence that could be cut"));
    }
    for trim in ["keep", "drop", "summarise"] {
        assert_eq!(cut(trim), "nothing");
    }
}

/// Whatever is in a template, it is read or refused; and what is read is built to the same bytes again.
#[test]
fn any_template_may_come() {
    let seed = fastrand::u64(..);
    let mut rng = fastrand::Rng::with_seed(seed);
    let pieces = [
        "{{a}}",
        "{{#if a}}",
        "{{else}}",
        "{{/if}}",
        "{{#each l}}",
        "{{/each}}",
        "{{item}}",
        "{{> p}}",
        "{{",
        "}}",
        "\\{{",
        "\n",
        " ",
        "é",
        "{{#if e is x}}",
    ];
    let variables = "a = { type = \"text\", default = \"{{a}}\" }\nl = { type = \"list\", default = [\"1\", \"{{/each}}\"] }\ne = { type = \"enum\", values = [\"x\"], default = \"x\" }";
    let part = template("p", "part", "part", "");
    let mut read = 0;
    for _ in 0..3_000 {
        let mut text = String::new();
        for _ in 0..rng.usize(..8) {
            text += pieces[rng.usize(..pieces.len())];
        }
        // All variables are used, so that nothing else is wrong with it.
        text += "{{a}}{{l}}{{#if e}}{{/if}}";
        let source = file(&(task(&text, variables) + &part));
        let Ok(engine) = PromptEngine::load(&[source]) else { continue };
        read += 1;
        let one = engine.build(&wanted()).unwrap();
        assert_eq!(engine.build(&wanted()).unwrap(), one, "seed {seed}: {text}");
    }
    assert!(read > 100, "seed {seed}: only {read} were read");
}

#[test]
fn files_are_checked() {
    let load = |sources: &[PromptSource]| {
        PromptEngine::load(sources).map(|_| ()).map_err(|error| error.to_string())
    };
    let of = |text: &str| load(&[PromptSource::new("t.toml", text)]);
    assert!(of("").unwrap_err().contains("missing field `version`"));
    assert!(of("version = 2").unwrap_err().contains("version 2 is not known"));
    assert!(
        of("version = 1\n[[template]]\nname = \"x\"\nversion = 0\nlayer = \"task\"\ntext = \"\"")
            .unwrap_err()
            .contains("`0` is no version")
    );
    let padded = |length: usize| format!("version = 1\n#{}", "x".repeat(length - 13));
    assert!(of(&padded(1024 * 1024)).is_ok());
    assert!(of(&padded(1024 * 1024 + 1)).unwrap_err().contains("divide it"));
    let text = PromptSource::new("text.md", &"x".repeat(1024 * 1024 + 1));
    assert!(load(&[text]).unwrap_err().contains("divide it"));
    // All mistakes are told at once.
    assert_eq!(
        problems(&(task("{{a}}", "") + &template("u", "task", "{{b}}", ""))).lines().count(),
        2
    );
}

#[test]
fn texts_may_be_files() {
    let template =
        file("[[template]]\nname = \"t\"\nversion = 1\nlayer = \"task\"\ntext_file = \"t.md\"\n");
    let with =
        |text: &str| PromptEngine::load(&[template.clone(), PromptSource::new("t.md", text)]);
    assert_eq!(text(&with("Do it.").unwrap(), &wanted()).unwrap(), "Do it.");
    let error = with("Do\n  {{it}}.").unwrap_err().to_string();
    assert!(error.starts_with("t.md:2:3: the variable `it` is not declared"), "{error}");
    let missing = PromptEngine::load(&[template, PromptSource::new("tt.md", "")]);
    assert!(missing.unwrap_err().to_string().contains("did you mean `tt.md`?"));
}

#[test]
fn includes_may_be_eight_deep() {
    let chain = |depth: usize| {
        let parts = (0..depth).map(|at| match at + 1 == depth {
            true => template(&format!("p{at}"), "part", "end", ""),
            false => template(&format!("p{at}"), "part", &format!("{{{{> p{}}}}}", at + 1), ""),
        });
        task("{{> p0}}", "") + &parts.collect::<String>()
    };
    assert_eq!(text(&engine(&chain(8)), &wanted()).unwrap(), "end");
    assert!(problems(&chain(9)).contains("deeper than 8"), "{}", problems(&chain(9)));
}

#[test]
fn the_newest_version_is_meant_unless_one_is_named() {
    let version = |version: u32, text: &str| {
        template("p", "part", text, "").replace("version = 1", &format!("version = {version}"))
    };
    let parts = version(2, "new") + &version(1, "old") + &version(10, "newest");
    assert_eq!(
        text(&engine(&(task("{{> p}} {{> p@2}} {{> p@1}}", "") + &parts)), &wanted()).unwrap(),
        "newest new old"
    );
    let tasks = task("one", "") + &task("two", "").replace("version = 1", "version = 2");
    let engine = engine(&tasks);
    assert_eq!(text(&engine, &wanted()).unwrap(), "two");
    let mut first = wanted();
    first.task = "t@1".to_owned();
    assert_eq!(text(&engine, &first).unwrap(), "one");
}

/// Parts that include parts many times become more than there is room for.
#[test]
fn what_becomes_of_a_template_is_bounded() {
    let of = |text: &str, times: usize| {
        let include = |part: usize| format!("{{{{> p{part}}}}}").repeat(times);
        let parts = (0..4).map(|at| template(&format!("p{at}"), "part", &include(at + 1), ""));
        let texts =
            task(&include(0), "") + &parts.collect::<String>() + &template("p4", "part", text, "");
        engine(&texts).build(&wanted())
    };
    assert!(of("x", 10).is_ok());
    for (text, times) in [("", 30), (&*"x".repeat(100), 10)] {
        assert!(matches!(of(text, times), Err(BuildError::TooLong { .. })), "{times}");
    }
}

#[test]
fn the_number_of_templates_is_limited() {
    let many = |from: usize, to: usize| {
        let templates = (from..to).map(|at| {
            format!("[[template]]\nname = \"{at}\"\nversion = 1\nlayer = \"part\"\ntext = \"\"\n")
        });
        file(&templates.collect::<String>())
    };
    assert!(PromptEngine::load(&[many(0, 5_000), many(5_000, 10_000)]).is_ok());
    let error = PromptEngine::load(&[many(0, 5_000), many(5_000, 10_001)]).unwrap_err();
    assert!(error.to_string().contains("more than 10000 templates"));
}

#[test]
fn digests_cover_everything_that_speaks() {
    let digest = |text: &str| engine(text).digest("t").unwrap();
    let base = task("{{> p}}{{a}}", "a = { type = \"name\" }") + &template("p", "part", "x", "");
    for (from, to) in [
        ("{{> p}}{{a}}", "{{> p}} {{a}}"),
        ("'''\nx'''", "'''\ny'''"),
        ("version = 1\nlayer = \"task\"", "version = 2\nlayer = \"task\""),
        ("layer = \"task\"", "layer = \"role\""),
        ("type = \"name\"", "type = \"boolean\""),
        ("type = \"name\"", "type = \"name\", optional = true"),
    ] {
        assert!(base.contains(from));
        assert_ne!(digest(&base), digest(&base.replace(from, to)), "{to}");
    }
    assert_eq!(digest(&base), digest(&format!("{base}{}", template("q", "task", "other", ""))));
}
