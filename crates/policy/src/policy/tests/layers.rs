//! What is built in, and how layers are laid over each other.

use offshoot_vocabulary::EffectCategory;

use super::*;
use PolicyDecision::{Allow, AllowWithCheckpoint, Deny, RequireApproval};

#[test]
fn what_is_built_in_goes_by_category() {
    check(&[], "ls src", Allow);
    check(&[], "vim a.txt", AllowWithCheckpoint);
    check(&[], "touch a.txt", AllowWithCheckpoint);
    check(&[], "curl https://example.org", AllowWithCheckpoint);
    check(&[], "rm a.txt", AllowWithCheckpoint);
    check(&[], "docker run x", RequireApproval);
    check(&[], "cat ~/.ssh/id_rsa", RequireApproval);
    check(&[], "", Allow);
}

#[test]
fn undo_does_not_reach_what_is_destroyed_over_the_network() {
    check_in(&[], "kubectl delete p", &online(), RequireApproval);
    check_in(&[], "kubectl delete p", &context(), AllowWithCheckpoint);
    check_in(&[], "git push", &online(), AllowWithCheckpoint);
    check_in(&[], "rm a.txt", &online(), AllowWithCheckpoint);
}

#[test]
fn built_in_rules_have_names() {
    let verdict = decide(&[], "ls; touch a; cat ~/.ssh/id_rsa");
    assert_eq!(verdict.rule.layer, PolicyLayer::BuiltIn);
    assert_eq!(verdict.rule.name, "beyond-the-workspace");
    assert_eq!(verdict.part, Some(2));
    assert_eq!(verdict.reason, "it is host_escape_risk");
    let names: Vec<_> = verdict.parts.iter().map(|part| part.rule.name.as_str()).collect();
    assert_eq!(names, ["read-only", "undoable", "beyond-the-workspace"]);
}

#[test]
fn the_strictest_part_counts_and_all_categories_are_told() {
    let verdict = decide(&[], "ls; docker run x; rm a.txt");
    assert_eq!(verdict.decision, RequireApproval);
    assert_eq!(verdict.categories.to_string(), "mutating destructive host_escape_risk");
    assert_eq!(verdict.category(), EffectCategory::HostEscapeRisk);
    let decisions: Vec<_> = verdict.parts.iter().map(|part| part.decision).collect();
    assert_eq!(decisions, [Allow, RequireApproval, AllowWithCheckpoint]);
}

#[test]
fn changes_in_a_read_only_workspace_count_for_nothing() {
    let read_only = Context { read_only: true, ..context() };
    check_in(&[], "rm a.txt; touch b.txt; ls > c.txt", &read_only, Allow);
    check_in(&[], "rm /etc/passwd", &read_only, RequireApproval);
    check_in(&[], "vim a.txt", &read_only, AllowWithCheckpoint);
    let online = Context { read_only: true, ..online() };
    check_in(&[], "kubectl delete p", &online, RequireApproval);
    let deny = user(&rule("deny", r#"category = "destructive""#));
    check_in(&[deny], "rm a.txt", &read_only, Allow);
    let verdict = decide_in(&[], "rm a.txt", &read_only);
    assert_eq!(verdict.categories.to_string(), "mutating destructive", "what it is stays told");
}

#[test]
fn the_user_widens_and_narrows() {
    let widens = user(&rule("allow", r#"prefix = ["docker", "run"]"#));
    check(std::slice::from_ref(&widens), "docker run x", Allow);
    check(&[widens], "docker ps; cat ~/.ssh/id_rsa", RequireApproval);
    let narrows = user(&rule("deny", r#"prefix = ["ls"]"#));
    check(&[narrows], "ls src", Deny);
}

#[test]
fn a_rule_of_the_user_decides_where_it_fits_even_if_it_changes_nothing() {
    let same = user(&rule("allow_with_checkpoint", r#"prefix = ["touch"]"#));
    let verdict = decide(&[same], "touch a");
    assert_eq!(verdict.rule.layer, PolicyLayer::User);
    assert_eq!(verdict.rule.file.as_deref(), Some("user.toml"));
    assert_eq!(verdict.rule.name, "allow_with_checkpoint-prefixtouch");
}

#[test]
fn project_and_request_only_narrow() {
    for layer in [project, request] {
        let widens = layer(&rule("allow", r#"prefix = ["docker", "run"]"#));
        let verdict = decide(&[widens], "docker run x");
        assert_eq!(verdict.decision, RequireApproval);
        assert_eq!(verdict.parts[0].decision, RequireApproval);
        assert_eq!(verdict.parts[0].rule.layer, PolicyLayer::BuiltIn);
        let narrows = layer(&rule("deny", r#"prefix = ["docker", "run"]"#));
        check(&[narrows], "docker run x", Deny);
        let between = layer(&rule("require_approval", r#"prefix = ["touch"]"#));
        check(&[between], "touch a", RequireApproval);
    }
}

#[test]
fn a_project_narrows_what_the_user_widened() {
    let widens = user(&rule("allow", r#"prefix = ["docker"]"#));
    let narrows = project(&rule("require_approval", r#"prefix = ["docker"]"#));
    let denies = request(&rule("deny", r#"prefix = ["docker", "run"]"#));
    let layers = [denies, narrows, widens];
    check(&layers, "docker ps", RequireApproval);
    check(&layers, "docker run x", Deny);
}

#[test]
fn within_a_layer_the_strictest_rule_counts() {
    let both =
        rule("allow", r#"prefix = ["docker", "run"]"#) + &rule("deny", r#"prefix = ["docker"]"#);
    check(&[user(&both)], "docker run x", Deny);
    let allowed = rule("allow", r#"prefix = ["docker", "run"]"#)
        + &rule("allow_with_checkpoint", r#"prefix = ["docker"]"#);
    check(&[user(&allowed)], "docker run x", AllowWithCheckpoint);
    let in_two_files = [
        user(&rule("allow", r#"prefix = ["docker", "run"]"#)),
        user(&rule("deny", r#"prefix = ["docker"]"#)),
    ];
    check(&in_two_files, "docker run x", Deny);
}

#[test]
fn a_rule_that_widens_does_not_cover_what_stands_around_the_program() {
    let widens = user(&rule("allow", r#"prefix = ["docker"]"#));
    let layers = [widens];
    check(&layers, "docker run x > out", AllowWithCheckpoint);
    check(&layers, "docker run x > /etc/passwd", RequireApproval);
    check(&layers, "LD_PRELOAD=x docker run x", RequireApproval);
    let any = user(&rule("allow", r#"glob = "*""#));
    check(&[any], "docker run x > /etc/passwd", RequireApproval);
}

#[test]
fn a_rule_that_widens_does_not_cover_rights_that_a_wrapper_brings() {
    let layers = [user(&rule("allow", r#"prefix = ["rm"]"#))];
    check(&layers, "rm a", Allow);
    check(&layers, "env rm a", Allow);
    check(&layers, "sudo rm a", RequireApproval);
    let verdict = decide(&layers, "sudo rm a");
    assert_eq!(verdict.rule.name, "beyond-the-workspace");
    let layers = [user(&rule("allow", r#"prefix = ["sudo", "rm"]"#))];
    check(&layers, "sudo rm a", Allow);
    check(&layers, "rm a", AllowWithCheckpoint);
    check(&layers, "sudo touch a", RequireApproval);
    let layers = [user(&rule("allow", r#"prefix = ["sudo"]"#))];
    check(&layers, "sudo rm a", RequireApproval);
    let layers = [user(&rule("allow", r#"prefix = ["env"]"#))];
    check(&layers, "env docker run x", RequireApproval);
    let layers = [user(&rule("allow", r#"glob = "rm *""#))];
    check(&layers, "sudo rm a", RequireApproval);
    let layers = [user(&rule("allow", r#"glob = "sudo rm *""#))];
    check(&layers, "sudo rm a", Allow);
}

#[test]
fn a_rule_that_widens_means_the_program_of_the_system() {
    let layers = [user(&rule("allow", r#"prefix = ["docker"]"#))];
    check(&layers, "/usr/bin/docker run x", Allow);
    check(&layers, "./docker run x", RequireApproval);
    check(&layers, "/tmp/bin/docker run x", RequireApproval);
    let layers = [user(&rule("allow", r#"prefix = ["./docker"]"#))];
    check(&layers, "./docker run x", Allow);
    check(&layers, "docker run x", RequireApproval);
    let layers = [user(&rule("allow", r#"glob = "docker *""#))];
    check(&layers, "./docker run x", RequireApproval);
    let layers = [user(&rule("allow", r#"glob = "./dock* *""#))];
    check(&layers, "./docker run x", Allow);
    let layers = [project(&rule("deny", r#"prefix = ["docker"]"#))];
    check(&layers, "/tmp/bin/docker run x", Deny);
}

#[test]
fn a_rule_that_widens_by_category_names_all_of_them() {
    let mutating = [user(&rule("allow", r#"category = "mutating""#))];
    check(&mutating, "touch a", Allow);
    check(&mutating, "ls > a", Allow);
    check(&mutating, "rm a", AllowWithCheckpoint);
    check(&mutating, "docker run x", RequireApproval);
    let destructive = [user(&rule("allow", r#"category = "destructive""#))];
    check(&destructive, "rm a", Allow);
    check_in(&destructive, "kubectl delete p", &online(), RequireApproval);
    let both = [user(&rule("allow", r#"category = ["destructive", "networked"]"#))];
    check_in(&both, "kubectl delete p", &online(), Allow);
}

#[test]
fn a_rule_that_widens_by_path_covers_all_paths() {
    let rules = rule("allow", "prefix = [\"rm\"]\npath = \"/tmp/**\"\naccess = \"delete\"");
    let layers = [user(&rules)];
    check(&layers, "rm /tmp/a /tmp/b/c", Allow);
    check(&layers, "rm /tmp/a /etc/passwd", RequireApproval);
    check(&layers, "rm /tmp/a $f", RequireApproval);
    let redirections = [user(&rule("allow", "path = \"/var/log/**\"\naccess = \"write\""))];
    check(&redirections, "ls > /var/log/a", Allow);
    check(&redirections, "ls > /etc/passwd", RequireApproval);
    check(&redirections, "touch /var/log/a", RequireApproval);
}

#[test]
fn nothing_widens_what_is_not_understood() {
    let rules = "[defaults]\nmutating = \"allow\"\n";
    check(&[user(rules)], "touch a", Allow);
    check(&[user(rules)], "(((", AllowWithCheckpoint);
    check(&[user(&rule("allow", r#"category = "mutating""#))], "(((", AllowWithCheckpoint);
    check(&[user("[defaults]\nmutating = \"deny\"\n")], "(((", Deny);
}

#[test]
fn rules_give_their_reason() {
    let rules = r#"
        [[rule]]
        name = "no-docker"
        decision = "deny"
        reason = "containers are built elsewhere"
        prefix = ["docker"]
    "#;
    let verdict = decide(&[project(rules)], "ls; docker run x");
    assert_eq!(verdict.reason, "containers are built elsewhere");
    assert_eq!((verdict.rule.layer, verdict.part), (PolicyLayer::Project, Some(1)));
    let verdict = decide(&[project(&rule("deny", r#"prefix = ["ls"]"#))], "ls");
    assert_eq!(verdict.reason, "the rule `deny-prefixls` says so");
}

#[test]
fn rules_that_can_have_no_effect_are_told() {
    let never = rule("allow", r#"prefix = ["docker"]"#) + "[defaults]\nmutating = \"allow\"\n";
    let warnings = policy(&[project(&never)]).warnings().to_vec();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[1].contains("the project rule `allow-prefixdocker` can have no effect"));
    let weaker =
        rule("allow_with_checkpoint", "prefix = [\"docker\"]\nmatches = [\"docker run x\"]");
    assert_eq!(policy(&[request(&weaker)]).warnings().len(), 1);
    let layers = [user(&rule("allow", r#"prefix = ["docker"]"#)), request(&weaker)];
    assert_eq!(policy(&layers).warnings(), <[String; 0]>::default());
    let uncovered = rule("allow", "path = \"~/.ssh/*\"\nmatches = [\"cat ~/.ssh/id_rsa\"]");
    assert_eq!(policy(&[user(&uncovered)]).warnings().len(), 1);
    assert_eq!(policy(&[user(&rule("allow", "network = \"none\""))]).warnings().len(), 1);
    let fine = rule("deny", "prefix = [\"docker\"]\nmatches = [\"docker run x\"]");
    assert_eq!(policy(&[project(&fine)]).warnings(), <[String; 0]>::default());
}

/// Without walls a command reaches anything, and nothing allows that but a rule of the user that says so.
#[test]
fn only_a_rule_that_means_it_allows_what_has_no_walls() {
    let open = Context { unconfined: true, network: Network::Host, ..context() };
    let named = rule("allow", r#"prefix = ["ls"]"#);
    let meant = rule("allow", "prefix = [\"ls\"]\nunconfined = true");
    for layers in [
        &[][..],
        &[user(&named)],
        &[user("[defaults]\nhost_escape_risk = \"allow\"\nread_only = \"allow\"")],
        &[user(&rule("allow", "unconfined = true"))],
        &[project(&meant), request(&meant)],
        &[user(&rule("allow", "prefix = [\"ls\"]\nunconfined = false"))],
    ] {
        check_in(layers, "ls src", &open, RequireApproval);
    }
    let meant = user(&meant);
    check_in(std::slice::from_ref(&meant), "ls src", &open, Allow);
    check_in(std::slice::from_ref(&meant), "ls src; touch a", &open, RequireApproval);
    check_in(std::slice::from_ref(&meant), "ls > a", &open, RequireApproval);
    check_in(&[meant.clone(), project(&rule("deny", "unconfined = true"))], "ls", &open, Deny);
    // It says nothing about commands that have walls.
    check_in(&[user(&rule("deny", "unconfined = true"))], "ls", &context(), Allow);
    let all = user(&rule("allow", "category = \"host_escape_risk\"\nunconfined = true"));
    check_in(&[all], "ls src", &open, Allow);
}

#[test]
fn what_has_no_walls_is_told_which_rule_would_allow_it() {
    let open = Context { unconfined: true, ..context() };
    let verdict = decide_in(&[], "ls src", &open);
    assert_eq!(verdict.rule.name, "without-walls");
    let rule = verdict.remedy().unwrap().rule.unwrap();
    assert!(
        rule.ends_with("prefix = [\"ls\", \"src\"]\nexact = true\nunconfined = true\n"),
        "{rule}"
    );
    check_in(&[user(&rule)], "ls src", &open, AllowWithCheckpoint);
    check_in(&[user(&rule)], "ls", &open, RequireApproval);
    // A rule about a file would not say which command it is about.
    let remedy = decide_in(&[], "ls src > a", &open).remedy().unwrap();
    assert_eq!(remedy.rule, None, "{remedy:?}");
    assert!(remedy.advice.contains("a redirection of a command without walls"), "{remedy:?}");
}
