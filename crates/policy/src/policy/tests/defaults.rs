//! Decisions by category.

use super::*;
use PolicyDecision::{Allow, AllowWithCheckpoint, Deny, RequireApproval};

fn defaults(pairs: &str) -> String {
    format!("[defaults]\n{pairs}\n")
}

#[test]
fn a_default_is_for_commands_that_no_rule_of_its_layer_names() {
    let rules = defaults("destructive = \"deny\"") + &rule("allow", r#"prefix = ["rm", "a"]"#);
    check(&[user(&rules)], "rm b", Deny);
    check(&[user(&rules)], "rm a", Allow);
    let rules = [
        user(&rule("allow", r#"prefix = ["rm", "a"]"#)),
        project(&defaults("destructive = \"deny\"")),
    ];
    check(&rules, "rm a", Deny);
}

#[test]
fn the_users_defaults_take_the_place_of_what_is_built_in_category_by_category() {
    let layers = [user(&defaults("mutating = \"allow\""))];
    check(&layers, "touch a", Allow);
    check(&layers, "ls > a", Allow);
    check(&layers, "rm a", AllowWithCheckpoint);
    check(&layers, "git push", AllowWithCheckpoint);
    check(&layers, "docker run x", RequireApproval);
    let layers = [user(&defaults("destructive = \"allow\""))];
    check(&layers, "rm a", Allow);
    check(&layers, "touch a", AllowWithCheckpoint);
    let layers = [user(&defaults("host_escape_risk = \"deny\"\nread_only = \"require_approval\""))];
    check(&layers, "docker run x", Deny);
    check(&layers, "ls", RequireApproval);
    check(&layers, "touch a", AllowWithCheckpoint);
}

#[test]
fn what_is_destroyed_over_the_network_needs_both_defaults() {
    let one = [user(&defaults("destructive = \"allow\""))];
    check_in(&one, "kubectl delete p", &online(), RequireApproval);
    let both = [user(&defaults("destructive = \"allow\"\nnetworked = \"allow\""))];
    check_in(&both, "kubectl delete p", &online(), Allow);
}

#[test]
fn defaults_of_project_and_request_only_narrow() {
    for layer in [project, request] {
        check(&[layer(&defaults("mutating = \"allow\""))], "touch a", AllowWithCheckpoint);
        check(&[layer(&defaults("networked = \"deny\""))], "curl x", Deny);
        check(&[layer(&defaults("networked = \"deny\""))], "git push", Deny);
        check(&[layer(&defaults("networked = \"deny\""))], "touch a", AllowWithCheckpoint);
    }
}

#[test]
fn a_default_is_named_as_the_rule() {
    let verdict = decide(&[project(&defaults("networked = \"deny\""))], "curl x");
    assert_eq!(verdict.rule.name, "defaults.networked");
    assert_eq!(verdict.rule.file.as_deref(), Some("project.toml"));
    assert_eq!(verdict.reason, "it is networked");
}

#[test]
fn where_two_files_of_a_layer_differ_the_stricter_default_holds() {
    let strict = user(&defaults("networked = \"deny\""));
    let lenient = user(&defaults("networked = \"allow\""));
    check(&[strict.clone(), lenient.clone()], "curl x", Deny);
    check(&[lenient, strict], "curl x", Deny);
}
