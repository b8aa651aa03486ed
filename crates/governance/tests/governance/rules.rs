//! What rules fit, and which of them decides.

use offshoot_governance::{
    DataSensitivity, EscalationFallback, EscalationTarget, GovernanceDecision, GovernanceEngine,
    GovernanceLayer, GovernanceRemedy, GovernanceRequest, GovernedAction, MAX_FIELD, MAX_LABELS,
};

use crate::support::{engine, project, rule, rule_named, source, tool, try_engine, user, word};

/// One rule that denies, where everything else is allowed.
fn denies(conditions: &str, example: &str, request: &GovernanceRequest) -> bool {
    let everything = rule_named(
        "all",
        "allow",
        "target = \"*\"\nmax_sensitivity = \"secret\"",
        "{ action = \"spend\" }",
    );
    let engine = engine(vec![user(&format!("{everything}{}", rule("deny", conditions, example)))]);
    word(&engine, request) == "deny"
}

#[test]
fn every_condition_counts() {
    let base = tool("read.file").with_intent("look").with_label("a").with_cost(10);
    let like = |change: &str| {
        format!(
            "{{ action = \"use_tool\", agent = \"helper\", intent = \"look\", target = \"read.file\", labels = [\"a\"], cost = 10, sensitivity = \"internal\" {change} }}"
        )
    };
    for (condition, other) in [
        (
            "action = \"use_tool\"",
            GovernanceRequest { action: GovernedAction::RunStep, ..base.clone() },
        ),
        (
            "action = [\"spend\", \"use_tool\"]",
            GovernanceRequest { action: GovernedAction::AskModel, ..base.clone() },
        ),
        ("agent = \"help*\"", GovernanceRequest { agent: "other".to_owned(), ..base.clone() }),
        ("intent = [\"x\", \"l??k\"]", base.clone().with_intent("lok")),
        (
            "target = \"read.*\"",
            GovernanceRequest { target: "write.file".to_owned(), ..base.clone() },
        ),
        ("labels = \"a\"", GovernanceRequest { labels: ["b".to_owned()].into(), ..base.clone() }),
        ("without_labels = [\"b\", \"c\"]", base.clone().with_label("b")),
        ("min_sensitivity = \"internal\"", base.clone().with_sensitivity(DataSensitivity::Public)),
        (
            "max_sensitivity = \"internal\"",
            base.clone().with_sensitivity(DataSensitivity::Confidential),
        ),
        ("min_cost = 10", base.clone().with_cost(9)),
        ("max_cost = 10", base.clone().with_cost(11)),
    ] {
        assert!(denies(condition, &like(""), &base), "{condition}");
        assert!(!denies(condition, &like(""), &other), "{condition}");
    }
    // All labels of a rule have to be there, and all conditions have to hold.
    let both = "labels = [\"a\", \"b\"]\nmax_cost = 10";
    let example = "{ action = \"use_tool\", labels = [\"a\", \"b\"], cost = 10 }";
    assert!(!denies(both, example, &base));
    assert!(denies(both, example, &base.clone().with_label("b")));
    assert!(!denies(both, example, &base.with_label("b").with_cost(11)));
}

#[test]
fn the_worst_wins_whatever_the_order() {
    let rules = [
        rule_named("a", "allow", "target = \"*\"", "{ action = \"use_tool\" }"),
        rule_named("e", "escalate", "target = \"m*\"", "{ action = \"use_tool\", target = \"m\" }"),
        rule_named("d", "deny", "target = \"mx\"", "{ action = \"use_tool\", target = \"mx\" }"),
    ];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
        let text: String = order.map(|at| rules[at].as_str()).concat();
        let engine = engine(vec![user(&text)]);
        for (target, decision, name) in
            [("a", "allow", "a"), ("m", "escalate", "e"), ("mx", "deny", "d")]
        {
            let verdict = engine.decide(&tool(target));
            assert_eq!(verdict.decision.as_str(), decision);
            assert_eq!(verdict.rule.name, name);
            assert_eq!(verdict.rule.file.as_deref(), Some("user.toml"));
            assert_eq!(verdict.remedy.is_none(), decision == "allow");
        }
    }
}

#[test]
fn nothing_is_allowed_by_itself() {
    let nothing = engine(Vec::new());
    for action in GovernedAction::ALL {
        let verdict = nothing.decide(&GovernanceRequest::new("a", *action, "x"));
        assert_eq!(verdict.decision, GovernanceDecision::Deny, "{action}");
        assert_eq!(verdict.rule.name, "default");
        let allowed = engine(vec![user(&format!("[defaults]\n{action} = \"allow\"\n"))]);
        for other in GovernedAction::ALL {
            let decided = word(&allowed, &GovernanceRequest::new("a", *other, "x"));
            assert_eq!(decided == "allow", other == action, "{action} {other}");
        }
    }
    // A rule takes the place of the default of its layer.
    let text = format!(
        "[defaults]\nuse_tool = \"deny\"\n{}",
        rule("allow", "target = \"a\"", "{ action = \"use_tool\", target = \"a\" }")
    );
    let engine = engine(vec![user(&text)]);
    assert_eq!((word(&engine, &tool("a")), word(&engine, &tool("b"))), ("allow", "deny"));
}

#[test]
fn who_allows_says_how_sensitive_data_may_be() {
    let open = rule("allow", "target = \"*\"", "{ action = \"use_tool\" }");
    let secret = rule(
        "allow",
        "target = \"*\"\nmax_sensitivity = \"confidential\"",
        "{ action = \"use_tool\", sensitivity = \"confidential\" }",
    );
    for (rules, covered) in [
        (open, DataSensitivity::Internal),
        ("[defaults]\nuse_tool = \"allow\"\n".to_owned(), DataSensitivity::Internal),
        (secret, DataSensitivity::Confidential),
    ] {
        let engine = engine(vec![user(&rules)]);
        for sensitivity in DataSensitivity::ALL {
            let decided = word(&engine, &tool("x").with_sensitivity(*sensitivity));
            assert_eq!(decided == "allow", *sensitivity <= covered, "{rules} {sensitivity}");
        }
    }
}

#[test]
fn a_cost_that_nobody_knows_is_no_reason_to_allow() {
    for (decision, limit, fits) in [
        ("allow", "max_cost = 10", false),
        ("allow", "min_cost = 0", false),
        ("allow", "target = \"*\"", true),
        ("escalate", "min_cost = 10", true),
        ("deny", "max_cost = 10", true),
    ] {
        let text = rule(decision, limit, "{ action = \"spend\", cost = 10 }");
        let engine = engine(vec![user(&text)]);
        let verdict = engine.decide(&GovernanceRequest::new("a", GovernedAction::Spend, "x"));
        assert_eq!(verdict.rule.name == "r", fits, "{decision} {limit}");
    }
}

#[test]
fn terms_come_from_the_rule_then_its_file_then_the_options() {
    let file = "[escalation]\nask = \"agent:governor\"\nwithin_s = 60\nfallback = \"allow\"\n";
    let terms = |text: &str| {
        let engine = engine(vec![user(text)]);
        match engine.decide(&tool("x")).decision {
            GovernanceDecision::Escalate(terms) => {
                (terms.ask.to_string(), terms.within_s, terms.fallback)
            }
            other => panic!("{other:?}"),
        }
    };
    let own = "target = \"*\"\nask = \"person:desk\"\nwithin_s = 5\nfallback = \"deny\"";
    let example = "{ action = \"use_tool\" }";
    let (allow, deny) = (EscalationFallback::Allow, EscalationFallback::Deny);
    let plain = rule("escalate", "target = \"*\"", example);
    assert_eq!(terms(&plain), ("person:owner".to_owned(), 3600, deny));
    assert_eq!(terms(&format!("{file}{plain}")), ("agent:governor".to_owned(), 60, allow));
    let own = rule("escalate", own, example);
    assert_eq!(terms(&format!("{file}{own}")), ("person:desk".to_owned(), 5, deny));
    let default = format!("[defaults]\nuse_tool = \"escalate\"\n{file}");
    assert_eq!(terms(&default), ("agent:governor".to_owned(), 60, allow));
    // Of several the strictest is asked, with the strictest fallback and the shortest time of all.
    let several = [
        rule_named(
            "a",
            "escalate",
            "target = \"*\"\nask = \"agent:g\"\nfallback = \"deny\"\nwithin_s = 50",
            example,
        ),
        rule_named(
            "b",
            "escalate",
            "target = \"*\"\nask = \"person:p\"\nfallback = \"deny\"\nwithin_s = 90",
            example,
        ),
        rule_named(
            "c",
            "escalate",
            "target = \"*\"\nask = \"person:q\"\nfallback = \"allow\"\nwithin_s = 7",
            example,
        ),
    ];
    assert_eq!(terms(&several.concat()), ("person:p".to_owned(), 7, deny));
}

#[test]
fn what_would_have_allowed_it_does() {
    let requests = [
        tool("x"),
        tool("a*b?c\\d\n\"quoted\"")
            .with_intent("a ' \"\"\" b")
            .with_label("l\"1")
            .with_label("l2"),
        tool("x").with_cost(77).with_sensitivity(DataSensitivity::Secret),
        GovernanceRequest::new("", GovernedAction::SendMessage, ""),
    ];
    for request in requests {
        let all =
            rule("escalate", "target = \"none\"", "{ action = \"spend\", target = \"none\" }");
        let other = format!("[defaults]\n{} = \"escalate\"\n", request.action);
        let denied = engine(vec![user(&all), project(&other)]).decide(&request);
        let Some(GovernanceRemedy::Add { layers, rule }) = denied.remedy else {
            panic!("{denied:?}");
        };
        assert_eq!(layers, [GovernanceLayer::User, GovernanceLayer::Project]);
        let mended =
            engine(vec![user(&format!("{all}{rule}")), project(&format!("{other}{rule}"))]);
        assert_eq!(word(&mended, &request), "allow", "{rule}");
        // It is the smallest: it allows nothing that differs in what it names.
        let dearer =
            GovernanceRequest { cost: request.cost.map(|cost| cost + 1), ..request.clone() };
        assert_eq!(word(&mended, &dearer) == "allow", request.cost.is_none(), "{rule}");
        if !request.target.is_empty() {
            let target = format!("{}x", request.target);
            assert_ne!(word(&mended, &GovernanceRequest { target, ..request }), "allow", "{rule}");
        }
    }
}

#[test]
fn rules_that_stop_are_named() {
    let example = "{ action = \"use_tool\" }";
    let text = rule_named("no", "deny", "target = \"*\"", example);
    let narrow = rule_named("ask", "escalate", "target = \"*\"", example);
    let verdict = engine(vec![user(&text), project(&narrow)]).decide(&tool("x"));
    let Some(GovernanceRemedy::Stopped { by }) = verdict.remedy else { panic!("{verdict:?}") };
    let names: Vec<&str> = by.iter().map(|rule| rule.name.as_str()).collect();
    assert_eq!(names, ["no", "ask"]);
}

#[test]
fn a_request_cannot_get_by_a_rule_by_being_long() {
    let all = rule("allow", "target = \"*\"", "{ action = \"use_tool\" }");
    let engine = engine(vec![user(&all)]);
    let long = "x".repeat(MAX_FIELD);
    let longer = format!("{long}x");
    let labels = |count: usize| {
        (0..count).fold(tool("x"), |request, at| request.with_label(&at.to_string()))
    };
    for (request, decision) in [
        (tool(&long), "allow"),
        (tool(&longer), "deny"),
        (tool("x").with_intent(&longer), "deny"),
        (tool("x").with_label(&longer), "deny"),
        (GovernanceRequest { agent: longer.clone(), ..tool("x") }, "deny"),
        (labels(MAX_LABELS), "allow"),
        (labels(MAX_LABELS + 1), "deny"),
    ] {
        assert_eq!(word(&engine, &request), decision);
        assert_eq!(engine.decide(&request).rule.name == "limits", decision == "deny");
    }
}

#[test]
fn bad_rules_let_nothing_run() {
    let error = try_engine(vec![user("[defaults]\nuse_tool = \"alow\"\n")]).unwrap_err();
    let closed = GovernanceEngine::closed(&error);
    let verdict = closed.decide(&tool("x"));
    assert_eq!(verdict.decision, GovernanceDecision::Deny);
    assert!(verdict.reason.contains("user.toml:3:12"), "{}", verdict.reason);
    // One bad file is enough.
    let good = user("[defaults]\nuse_tool = \"allow\"\n");
    let bad = source(GovernanceLayer::Agent, "nonsense");
    assert!(try_engine(vec![good.clone()]).is_ok());
    assert!(try_engine(vec![good, bad]).is_err());
    assert!(try_engine(vec![source(GovernanceLayer::BuiltIn, "")]).is_err());
    assert_eq!(EscalationTarget::parse("person: "), None);
    assert_eq!(EscalationTarget::parse(&format!("agent:{}", "x".repeat(257))), None);
}
