//! Rego speaks about the whole request.

use std::time::Instant;

use super::*;
use PolicyDecision::{Allow, AllowWithCheckpoint, Deny, RequireApproval};

fn rego(layer: PolicyLayer, text: &str) -> LayerSource {
    let rego = named(&format!("{layer}.rego"), &format!("package offshoot\n{text}"));
    LayerSource { layer, toml: None, rego: Some(rego) }
}

fn users(text: &str) -> LayerSource {
    rego(PolicyLayer::User, text)
}

fn projects(text: &str) -> LayerSource {
    rego(PolicyLayer::Project, text)
}

#[test]
fn undefined_is_no_opinion() {
    for text in ["", "x := 1", "decision := \"deny\" if false", "deny contains \"x\" if false"] {
        check(&[users(text), projects(text)], "touch a", AllowWithCheckpoint);
    }
}

#[test]
fn what_nobody_asks_for_is_warned_about() {
    let warnings = |text: &str| policy(&[users(text)]).warnings().to_vec();
    let nothing =
        "user.rego: it decides nothing: it defines none of `decision`, `deny`, `require_approval`";
    let slip = |name: &str, meant: &str| {
        format!("user.rego: nobody asks for the rule `{name}`: is `{meant}` meant?")
    };
    assert_eq!(warnings("dney contains \"x\" if true"), [nothing, &slip("dney", "deny")]);
    assert_eq!(warnings("reason := \"x\""), [nothing]);
    let both = "deny contains \"x\" if false\nrequire_aproval contains \"x\" if false";
    assert_eq!(warnings(both), [slip("require_aproval", "require_approval")]);
    assert_eq!(warnings("default decison := \"allow\"").len(), 2);
    // What the policy uses itself is no slip, however it is called.
    for fine in [
        "deny contains \"x\" if false",
        "default decision := \"allow\"",
        "require_approval contains reasons if false\nreasons := \"x\"",
        "decision := \"deny\" if helper(1)\nhelper(x) if x > 2",
    ] {
        assert!(warnings(fine).is_empty(), "{fine}: {:?}", warnings(fine));
    }
}

#[test]
fn the_users_decision_widens_and_narrows() {
    check(&[users(r#"decision := "allow""#)], "docker run x", Allow);
    check(&[users(r#"decision := "deny""#)], "ls", Deny);
}

#[test]
fn the_users_decision_does_not_widen_the_users_own_rules() {
    let layers = [users(r#"decision := "allow""#), user(&rule("deny", r#"prefix = ["docker"]"#))];
    check(&layers, "docker run x", Deny);
    check(&layers, "sudo ls", Allow);
}

#[test]
fn the_decision_of_others_only_narrows() {
    for layer in [PolicyLayer::Project, PolicyLayer::Request] {
        check(&[rego(layer, r#"decision := "allow""#)], "docker run x", RequireApproval);
        check(&[rego(layer, r#"decision := "deny""#)], "ls", Deny);
        let layers =
            [users(r#"decision := "allow""#), rego(layer, r#"decision := "require_approval""#)];
        check(&layers, "docker run x", RequireApproval);
    }
}

#[test]
fn the_users_decision_does_not_widen_rules_of_others() {
    let layers =
        [users(r#"decision := "allow""#), project(&rule("deny", r#"prefix = ["docker"]"#))];
    check(&layers, "docker run x", Deny);
}

#[test]
fn sets_of_messages_narrow_in_every_layer() {
    for layer in [PolicyLayer::User, PolicyLayer::Project, PolicyLayer::Request] {
        let denies = rego(layer, "deny contains \"no\"\ndeny contains \"never\"");
        let verdict = decide(&[denies], "ls");
        assert_eq!(verdict.decision, Deny);
        assert_eq!(verdict.reason, "never; no");
        assert_eq!((verdict.rule.layer, verdict.part), (layer, None));
        assert_eq!(verdict.rule.name, "data.offshoot.deny");
        let asks = rego(layer, "require_approval contains \"ask\"\ndecision := \"allow\"");
        check(&[asks], "ls", RequireApproval);
    }
}

#[test]
fn a_decision_has_its_reason() {
    let verdict = decide(&[projects("decision := \"deny\"\nreason := \"because\"")], "ls");
    assert_eq!(verdict.reason, "because");
    assert_eq!(verdict.rule.file.as_deref(), Some("project.rego"));
    let advice = verdict.remedy().expect("it does not run").advice;
    assert!(advice.contains("`data.offshoot.decision` in project.rego"), "{advice}");
}

#[test]
fn a_remedy_is_not_offered_where_rego_stops_as_well() {
    let verdict = decide(&[projects("require_approval contains \"ask\"")], "docker run x");
    let remedy = verdict.remedy().expect("it does not run");
    assert_eq!(remedy.rule, None);
    assert!(remedy.advice.contains("project.rego"));
}

#[test]
fn the_document_has_the_request_and_all_commands() {
    let context = Context {
        environment: vec![("CI".to_owned(), "1".to_owned())],
        terminal: true,
        ..online()
    };
    let judged = toy::judge("sudo rm ~/.ssh/a $x > b.txt", &context);
    let layers = [user(&rule("deny", r#"prefix = ["rm"]"#))];
    let verdict = policy(&layers).decide_judged(judged, &context);
    let document = crate::input_document(&verdict.parts, verdict.decision, &context);
    let wanted = serde_json::json!({
        "version": 1,
        "decision": "deny",
        "category": "host_escape_risk",
        "categories": ["mutating", "destructive", "host_escape_risk"],
        "commands": [
            {
                "part": "program",
                "program": "rm",
                "words": ["rm", "~/.ssh/a", "…"],
                "known": false,
                "wrappers": ["sudo"],
                "category": "host_escape_risk",
                "categories": ["mutating", "destructive", "host_escape_risk"],
                "reasons": [
                    { "category": "mutating", "why": "it is mutating" },
                    { "category": "destructive", "why": "it is destructive" },
                    { "category": "host_escape_risk", "why": "it is host_escape_risk" },
                ],
                "paths": [{ "access": "delete", "path": "/users/me/.ssh/a" }],
                "decision": "deny",
                "rule": { "layer": "user", "name": "deny-prefixrm", "file": "user.toml" },
            },
            {
                "part": "redirection",
                "program": null,
                "words": ["b.txt"],
                "known": true,
                "wrappers": [],
                "category": "mutating",
                "categories": ["mutating"],
                "reasons": [{ "category": "mutating", "why": "it is mutating" }],
                "paths": [{ "access": "write", "path": "/users/me/work/b.txt" }],
                "decision": "allow_with_checkpoint",
                "rule": { "layer": "built_in", "name": "undoable", "file": null },
            },
        ],
        "context": {
            "workspace": "/users/me/work",
            "folders": [],
            "cwd": "/users/me/work",
            "home": "/users/me",
            "network": "host",
            "read_only": false,
            "unconfined": false,
            "terminal": true,
            "stdin": false,
            "environment": { "CI": "1" },
        },
    });
    assert_eq!(document, wanted);
}

#[test]
fn a_policy_decides_by_the_document() {
    let text = r#"
        deny contains sprintf("%s is not for %s", [command.program, input.context.network]) if {
            some command in input.commands
            "networked" in command.categories
            regex.match(`^ku`, command.program)
            glob.match("kube*", [], command.program)
        }
    "#;
    let verdict = decide_in(&[projects(text)], "ls; kubectl delete p", &online());
    assert_eq!((verdict.decision, &*verdict.reason), (Deny, "kubectl is not for host"));
    check_in(&[projects(text)], "ls; rm a", &online(), AllowWithCheckpoint);
}

/// What people write in patterns.
#[test]
fn patterns_know_classes() {
    for (pattern, command) in [
        (r"^\w+\s\d{2}$", "echo 12"),
        (r"\bmain\b", "git push origin main"),
        (r"^\S+ [^\W\d]+$", "echo ab"),
        (r"^echo \w+$", "echo ß"),
    ] {
        let text = format!(
            "deny contains \"found\" if {{ some c in input.commands\nregex.match(`{pattern}`, concat(\" \", c.words)) }}"
        );
        let verdict = decide(&[projects(&text)], command);
        assert_eq!((verdict.decision, &*verdict.reason), (Deny, "found"), "{pattern}");
        assert_ne!(decide(&[projects(&text)], "pwd -").decision, Deny, "{pattern}");
    }
    let unknown = "deny contains \"found\" if regex.match(`(?i)LS`, \"ls\")";
    let verdict = decide(&[projects(unknown)], "ls");
    assert!(verdict.reason.contains("invalid regex"), "{}", verdict.reason);
    check(&[projects("deny contains \"found\" if regex.match(`ls`, lower(\"LS\"))")], "ls", Deny);
}

#[test]
fn what_stands_is_told_before_rego_is_asked() {
    let text = r#"deny contains input.decision"#;
    assert_eq!(decide(&[projects(text)], "docker run x").reason, "require_approval");
    assert_eq!(
        decide(&[users(r#"decision := "allow""#), projects(text)], "docker run x").reason,
        "allow"
    );
}

#[test]
fn a_wrong_type_is_a_denial() {
    for text in [
        "decision := 1",
        "decision := \"yes\"",
        "decision := \"allow\"\nreason := 1",
        "deny := true",
        "deny := [\"a\"]",
        "deny contains 1",
        "require_approval := \"x\"",
    ] {
        check(&[users(text)], "ls", Deny);
    }
    let verdict = decide(&[users("decision := \"yes\"")], "ls");
    assert!(verdict.reason.contains("`decision` is `yes`"), "{}", verdict.reason);
}

#[test]
fn an_error_is_a_denial() {
    for text in [
        "decision := \"allow\"\ndecision := \"deny\"",
        "decision := unknown_function(1)",
        "decision := to_number(\"x\")",
        "decision := \"allow\" if numbers.range(1, 10000000000)",
        "decision := \"allow\" if bits.lsh(1, 4000000000)",
    ] {
        match try_policy(&[users(text)]) {
            Ok(policy) => {
                let verdict = policy.decide_judged(toy::judge("ls", &context()), &context());
                assert_eq!(verdict.decision, Deny, "{text}");
                assert!(!verdict.reason.is_empty());
            }
            Err(error) => assert!(error.to_string().contains("user.rego"), "{error}"),
        }
    }
}

#[test]
fn a_text_cannot_be_made_to_grow_without_end() {
    let text = r#"
        long := concat("", [x | some _ in numbers.range(1, 5000); x := "0123456789"])
        deny contains replace(long, "0", long)
    "#;
    let verdict = decide(&[users(text)], "ls");
    assert_eq!(verdict.decision, Deny);
    assert!(verdict.reason.contains("16777216"), "{}", verdict.reason);
}

#[test]
fn limited_functions_do_what_they_are_for() {
    let text = r#"
        right if {
            numbers.range(1, 3) == [1, 2, 3]
            numbers.range(3, 1) == [3, 2, 1]
            numbers.range_step(1, 6, 2) == [1, 3, 5]
            numbers.range_step(6, 1, 2) == [6, 4, 2]
            bits.lsh(3, 2) == 12
            concat("-", ["a", "b"]) == "a-b"
            concat("-", {"a", "b"}) == "a-b"
            replace("aba", "a", "x") == "xbx"
            strings.replace_n({"a": "b", "c": "d"}, "abc") == "bbd"
        }
        decision := "deny" if not right
        decision := "allow" if right
    "#;
    let verdict = decide(&[users(text)], "docker run x");
    assert_eq!(verdict.decision, Allow, "{}", verdict.reason);
}

#[test]
fn the_end_of_the_time_is_a_denial() {
    let text = r#"
        decision := "allow" if {
            count([1 |
                some a in numbers.range(1, 20000)
                some b in numbers.range(1, 20000)
                a * b == 7
            ]) >= 0
        }
    "#;
    let options =
        PolicyOptions { layers: vec![users(text)], rego_timeout: Duration::from_millis(50) };
    let policy = Policy::with_judging(&options, toy::judge).unwrap();
    let started = Instant::now();
    let verdict = policy.decide_judged(toy::judge("ls", &context()), &context());
    assert_eq!(verdict.decision, Deny);
    // Either the interpreter noticed, or, on a machine that is busy, whoever waited for it.
    let noticed =
        ["time limit", "took longer than"].iter().any(|text| verdict.reason.contains(text));
    assert!(noticed, "{}", verdict.reason);
    // Far more than the limit, for machines that are busy, and far less than the hours that it would take.
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_step_without_an_end_is_a_denial() {
    // Each rule squares the number before it; the last takes longer than anybody lives.
    let squares: String = (1..60).map(|n| format!("n{n} := n{} * n{}\n", n - 1, n - 1)).collect();
    let text = format!("n0 := 12345678901234567890\n{squares}decision := \"allow\" if n59 > 0");
    let options =
        PolicyOptions { layers: vec![users(&text)], rego_timeout: Duration::from_millis(20) };
    let policy = Policy::with_judging(&options, toy::judge).unwrap();
    let verdict = policy.decide_judged(toy::judge("ls", &context()), &context());
    assert_eq!(verdict.decision, Deny);
}

#[test]
fn rules_may_need_rules_as_deep_as_a_file_is_long() {
    let chain: String = (0..1900).map(|n| format!("a{n} := a{}\n", n + 1)).collect();
    let text = format!("{chain}a1900 := \"deny\"\ndecision := a0\n");
    let verdict = decide(&[users(&text)], "ls");
    assert_eq!((verdict.decision, &*verdict.rule.name), (Deny, "data.offshoot.decision"));
    let sum = "1 + ".repeat(250);
    let sums: String = (0..30).map(|_| format!("{sum}\n")).collect();
    check(&[users(&format!("decision := \"deny\" if {sums} 1 > 0\n"))], "ls", Deny);
}

#[test]
fn a_file_that_is_too_long_or_nested_too_deep_is_refused() {
    let long = "# a comment that is repeated\n".repeat(3000);
    assert!(try_policy(&[users(&long)]).is_err());
    let deep = format!("x := {}{}", "[".repeat(40), "]".repeat(40));
    let error = try_policy(&[users(&deep)]).unwrap_err().to_string();
    assert_eq!(
        error,
        "user.rego:2:1: brackets are nested deeper than 10; give a name to what is inside"
    );
}

#[test]
fn nothing_of_the_outside_is_reachable() {
    for call in [
        "http.send({})",
        "opa.runtime()",
        "rand.intn(\"a\", 5)",
        "time.now_ns()",
        "net.lookup_ip_addr(\"a\")",
    ] {
        check(&[users(&format!("x := {call}\ndecision := \"allow\" if x"))], "ls", Deny);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_refused() {
    let broken = LayerSource {
        layer: PolicyLayer::User,
        toml: None,
        rego: Some(named("a.rego", "package offshoot\nx := ")),
    };
    let error = try_policy(&[broken]).unwrap_err().to_string();
    assert!(error.starts_with("a.rego"), "{error}");
    let elsewhere = LayerSource {
        layer: PolicyLayer::User,
        toml: None,
        rego: Some(named("b.rego", "package other\nx := 1")),
    };
    let error = try_policy(&[elsewhere]).unwrap_err().to_string();
    assert_eq!(
        error,
        "b.rego: the package is `data.other`, which is never asked; write `package offshoot`"
    );
}

#[test]
fn old_rego_is_refused() {
    assert!(try_policy(&[users("deny[x] { x := \"no\" }")]).is_err());
}

#[test]
fn an_engine_is_shared_between_threads() {
    let policy = policy(&[users("deny contains \"no\" if input.category == \"destructive\"")]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for (text, wanted) in [("rm a", Deny), ("ls", Allow)] {
                    let verdict = policy.decide_judged(toy::judge(text, &context()), &context());
                    assert_eq!(verdict.decision, wanted);
                }
            });
        }
    });
}

/// A module that was written before anybody ran without walls says nothing about that.
#[test]
fn no_module_allows_what_has_no_walls() {
    let open = Context { unconfined: true, ..context() };
    check_in(&[users("decision := \"allow\"")], "ls", &open, RequireApproval);
    check_in(&[users("decision := \"deny\"")], "ls", &open, Deny);
}
