//! What is wrong with files is told with its place and what to write instead.

use super::*;

#[track_caller]
fn problems(text: &str) -> Vec<String> {
    let source =
        LayerSource { layer: PolicyLayer::User, toml: Some(named("my.toml", text)), rego: None };
    match try_policy(&[source]) {
        Ok(_) => panic!("no problem was found in {text}"),
        Err(error) => error.problems.iter().map(ToString::to_string).collect(),
    }
}

#[track_caller]
fn check_problem(text: &str, wanted: &str) {
    assert_eq!(problems(text), [wanted]);
}

/// A file with one rule that has these lines besides its name.
fn with(lines: &str) -> String {
    format!("version = 1\n[[rule]]\nname = \"r\"\n{lines}\n")
}

#[test]
fn a_file_says_its_version() {
    check_problem(
        "[defaults]\nmutating = \"deny\"\n",
        "my.toml:1:1: missing field `version`; begin the file with `version = 1`",
    );
    check_problem(
        "version = 1\n[[rule]]\ndecision = \"deny\"\nprefix = [\"a\"]\n",
        "my.toml:2:1: missing field `name`; write `name = \"what-it-is-for\"`",
    );
    check_problem(
        &with("prefix = [\"a\"]"),
        "my.toml:2:1: missing field `decision`; write `decision = \"require_approval\"`, or another of allow, allow_with_checkpoint and deny",
    );
    check_problem("version = 2\n", "my.toml:1:11: version 2 is not known; write `version = 1`");
}

#[test]
fn what_is_no_toml_is_told_with_its_place() {
    let problems = problems("version = 1\n[[rule]\n");
    assert!(problems[0].starts_with("my.toml:2:"), "{problems:?}");
}

#[test]
fn unknown_keys_are_refused() {
    let [problem] = &problems(&with("decision = \"deny\"\nprefxi = [\"a\"]"))[..] else { panic!() };
    assert!(
        problem.starts_with("my.toml:5:1: unknown field `prefxi`, expected one of `name`"),
        "{problem}"
    );
    let [problem] = &problems("version = 1\ndefault = 1\n")[..] else { panic!() };
    assert!(problem.starts_with("my.toml:2:1: unknown field `default`"), "{problem}");
    let [problem] = &problems("version = 1\n[defaults]\nharmless = \"deny\"\n")[..] else {
        panic!()
    };
    assert!(
        problem.starts_with("my.toml:3:1: unknown field `harmless`, expected one of `read_only`"),
        "{problem}"
    );
}

#[test]
fn unknown_words_are_refused_with_those_that_are_known() {
    check_problem(
        &with("decision = \"refuse\"\nprefix = [\"a\"]"),
        "my.toml:4:12: `refuse` is no decision; write one of allow, allow_with_checkpoint, require_approval, deny",
    );
    check_problem(
        &with("decision = \"deny\"\ncategory = [\"evil\"]"),
        "my.toml:5:12: `evil` is no category; write one of read_only, interactive, mutating, networked, destructive, host_escape_risk",
    );
    check_problem(
        &with("decision = \"deny\"\nnetwork = \"all\""),
        "my.toml:5:11: `all` is no network; write one of none, proxy, host",
    );
    check_problem(
        &with("decision = \"deny\"\npath = \"a\"\naccess = \"exec\""),
        "my.toml:6:10: `exec` is no access; write one of read, write, delete, any",
    );
    check_problem(
        "version = 1\n[defaults]\nmutating = \"yes\"\n",
        "my.toml:3:12: `yes` is no decision; write one of allow, allow_with_checkpoint, require_approval, deny",
    );
}

#[test]
fn a_rule_has_a_matcher_that_can_fit() {
    check_problem(
        &with("decision = \"deny\""),
        "my.toml:2:1: the rule `r` fits nothing: it has no matcher; write `prefix`, `glob`, `path`, `category`, `network`, `unconfined` or `cwd`",
    );
    for empty in
        ["prefix = []", "prefix = [[]]", "glob = \"\"", "glob = []", "path = \"\"", "category = []"]
    {
        let problems = problems(&with(&format!("decision = \"deny\"\n{empty}")));
        assert!(problems[0].contains("empty"), "{empty}: {problems:?}");
    }
    let problems = problems(&with("decision = \"deny\"\nprefix = [\"\"]"));
    assert!(problems[0].contains("a prefix begins with a program"), "{problems:?}");
}

#[test]
fn keys_that_mean_nothing_alone_are_refused() {
    check_problem(
        &with("decision = \"deny\"\ncategory = \"mutating\"\nexact = true"),
        "my.toml:6:9: `exact` is about a prefix; write `prefix` as well",
    );
    check_problem(
        &with("decision = \"deny\"\ncategory = \"mutating\"\naccess = \"read\""),
        "my.toml:6:10: `access` is about a path; write `path` as well",
    );
}

#[test]
fn bad_globs_are_refused() {
    for key in ["glob", "path"] {
        let problems = problems(&with(&format!("decision = \"deny\"\n{key} = \"a[\"")));
        assert!(problems[0].starts_with("my.toml:5:"), "{problems:?}");
        assert!(problems[0].contains("not a glob"), "{problems:?}");
    }
    for path in ["../a", "~you/a", "a/../b"] {
        let problems = problems(&with(&format!("decision = \"deny\"\npath = \"{path}\"")));
        assert!(problems[0].contains("fits no path"), "{problems:?}");
    }
}

#[test]
fn names_are_given_once_in_a_file() {
    let rule = rule("deny", r#"prefix = ["a"]"#);
    // Two projects may have thought of the same name.
    assert!(try_policy(&[project(&rule), project(&rule)]).is_ok());
    let error = try_policy(&[user(&format!("{rule}{rule}"))]).unwrap_err().to_string();
    assert_eq!(
        error,
        "user.toml:7:8: there are two rules with the name `deny-prefixa`; give one of them another name"
    );
    assert!(try_policy(&[user(&rule), project(&rule)]).is_ok());
    check_problem(
        "version = 1\n[[rule]]\nname = \" \"\ndecision = \"deny\"\nprefix = [\"a\"]\n",
        "my.toml:3:8: a rule needs a name; write what it is for",
    );
}

#[test]
fn examples_are_checked_when_a_file_is_loaded() {
    let lines = "decision = \"deny\"\nprefix = [\"git\", \"push\"]\n";
    check_problem(
        &with(&format!("{lines}matches = [\"git push x\", \"git log\"]")),
        "my.toml:6:26: the rule `r` does not fit `git log`; mend the rule, or move the example to `not_matches`",
    );
    check_problem(
        &with(&format!("{lines}not_matches = [\"ls; git push\"]")),
        "my.toml:6:16: the rule `r` fits `ls; git push`; mend the rule, or move the example to `matches`",
    );
    let good =
        with(&format!("{lines}matches = [\"ls; env git push\"]\nnot_matches = [\"git log\"]"));
    let source =
        LayerSource { layer: PolicyLayer::User, toml: Some(named("my.toml", &good)), rego: None };
    let policy = policy(&[source]);
    assert_eq!((policy.rule_count(), policy.example_count()), (1, 2));
}

#[test]
fn examples_run_with_the_network_of_their_rule() {
    let lines = "decision = \"deny\"\nnetwork = \"host\"\nmatches = [\"ls\"]";
    let source = LayerSource {
        layer: PolicyLayer::User,
        toml: Some(named("my.toml", &with(lines))),
        rego: None,
    };
    assert!(try_policy(&[source]).is_ok());
}

#[test]
fn all_problems_of_all_files_are_told() {
    let text = with("decision = \"no\"\nprefix = [\"a\"]")
        + "[[rule]]\nname = \"s\"\ndecision = \"deny\"\n[[rule]]\nname = \"t\"\ndecision = \"deny\"\nprefix = []\n";
    assert_eq!(problems(&text).len(), 3);
    let layers = [user("x = 1\n"), project("y = 1\n")];
    assert_eq!(try_policy(&layers).unwrap_err().problems.len(), 2);
}

#[test]
fn what_is_built_in_cannot_be_given() {
    let error = try_policy(&[layer(PolicyLayer::BuiltIn, "")]).unwrap_err().to_string();
    assert_eq!(error, "built_in.toml: what is built in has no file");
}

#[cfg(not(feature = "rego"))]
#[test]
fn rego_is_refused_where_it_was_left_out() {
    let rego = Some(named("my.rego", "package offshoot"));
    let error =
        try_policy(&[LayerSource { layer: PolicyLayer::User, toml: None, rego }]).unwrap_err();
    assert!(error.to_string().starts_with("my.rego: Rego was left out"), "{error}");
}
