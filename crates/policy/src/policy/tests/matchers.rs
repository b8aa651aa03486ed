//! What rules fit.

use super::*;
use PolicyDecision::{Allow, AllowWithCheckpoint, Deny};

/// Checks for a project's rule that denies whether it fits.
#[track_caller]
fn fits(matcher: &str, text: &str, wanted: bool) {
    fits_in(matcher, text, &context(), wanted);
}

#[track_caller]
fn fits_in(matcher: &str, text: &str, context: &Context, wanted: bool) {
    let verdict = decide_in(&[project(&rule("deny", matcher))], text, context);
    assert_eq!(verdict.decision == Deny, wanted, "{matcher} and {text}");
}

#[test]
fn a_prefix_is_the_program_and_its_first_words() {
    let matcher = r#"prefix = ["git", ["push", "send-pack"], "--force"]"#;
    fits(matcher, "git push --force", true);
    fits(matcher, "git send-pack --force origin main", true);
    fits(matcher, "git push --force-with-lease", false);
    fits(matcher, "git push origin --force", false);
    fits(matcher, "git push", false);
    fits(matcher, "git fetch --force", false);
    fits(matcher, "/usr/lib/git push --force", true);
    fits(matcher, "gitx push --force", false);
    fits(matcher, "git $x --force", false);
    fits(r#"prefix = [["cat", "ls"]]"#, "ls", true);
    fits(r#"prefix = ["/opt/ls"]"#, "/opt/ls x", true);
    fits(r#"prefix = ["/opt/ls"]"#, "ls x", false);
    fits(r#"prefix = ["cat", "~/x"]"#, "cat ~/x", true);
}

#[test]
fn wrappers_are_looked_through_and_may_be_named() {
    fits(r#"prefix = ["git", "push"]"#, "env git push", true);
    fits(r#"prefix = ["git", "push"]"#, "sudo env git push", true);
    fits(r#"prefix = ["env", "git"]"#, "sudo env git push", true);
    fits(r#"prefix = ["sudo"]"#, "sudo env git push", true);
    fits(r#"prefix = ["sudo"]"#, "git push", false);
    fits(r#"prefix = ["sudo", "git"]"#, "sudo env git push", false);
    fits(r#"glob = "sudo *""#, "sudo env git push", true);
}

#[test]
fn an_exact_prefix_has_nothing_behind_it() {
    let matcher = "prefix = [\"git\", \"push\"]\nexact = true";
    fits(matcher, "git push", true);
    fits(matcher, "env git push", true);
    fits(matcher, "git push origin", false);
    fits("prefix = [\"git\", \"push\"]\nexact = false", "git push origin", true);
}

#[test]
fn a_glob_is_over_all_words() {
    fits(r#"glob = "git push *""#, "git push origin a/b", true);
    fits(r#"glob = "git push *""#, "git push", false);
    fits(r#"glob = "*--force*""#, "git push --force", true);
    fits(r#"glob = "git push *""#, "/usr/bin/git push x", true);
    fits(r#"glob = "/usr/*/git push *""#, "/usr/bin/git push x", true);
    fits(r#"glob = ["a *", "git f*"]"#, "git fetch", true);
    fits(r#"glob = "git push *""#, "env git push x", true);
    fits(r#"glob = "git push $*""#, "git push", false);
}

#[test]
fn a_path_is_absolute_or_below_the_workspace_or_at_home() {
    fits(r#"path = "/etc/*""#, "cat /etc/passwd", true);
    fits(r#"path = "/etc/*""#, "cat /etc/a/b", false);
    fits(r#"path = "/etc/**""#, "cat /etc/a/b", true);
    fits(r#"path = "src/**""#, "cat src/a/b", true);
    fits(r#"path = "./src/**""#, "cat src/a/b", true);
    fits(r#"path = "src/**""#, "cat /src/a", false);
    fits(r#"path = "src/**""#, "cat /users/me/work/src/a", true);
    fits(r#"path = "src/**""#, "rm ./src", true);
    fits(r#"path = "/users/me/work/src/*""#, "cat src/a", true);
    fits(r#"path = "~/.aws/*""#, "cat ~/.aws/credentials", true);
    fits(r#"path = "~/.aws/*""#, "cat /users/me/.aws/credentials", true);
    fits(r#"path = "~/.aws/*""#, "cat .aws/credentials", false);
    fits(r#"path = ["a.txt", "b.txt"]"#, "cat b.txt", true);
    fits(r#"path = "out/*""#, "ls > out/a", true);
}

#[test]
fn a_path_may_be_about_one_access() {
    fits("path = \"a.txt\"\naccess = \"delete\"", "rm a.txt", true);
    fits("path = \"a.txt\"\naccess = \"delete\"", "cat a.txt", false);
    fits("path = \"a.txt\"\naccess = \"read\"", "cat a.txt", true);
    fits("path = \"a.txt\"\naccess = \"write\"", "touch a.txt", true);
    fits("path = \"a.txt\"\naccess = \"write\"", "rm a.txt", false);
    fits("path = \"a.txt\"\naccess = \"any\"", "rm a.txt", true);
}

#[test]
fn a_category_is_any_of_those_named() {
    fits(r#"category = ["networked", "destructive"]"#, "rm a", true);
    fits(r#"category = ["networked", "destructive"]"#, "curl x", true);
    fits(r#"category = ["networked", "destructive"]"#, "touch a", false);
    fits(r#"category = "read_only""#, "ls", true);
    fits(r#"category = "read_only""#, "rm a", false);
    fits(r#"category = "mutating""#, "ls > a", true);
}

#[test]
fn the_network_is_what_the_command_may_reach() {
    fits_in(r#"network = "host""#, "ls", &online(), true);
    fits_in(r#"network = "host""#, "ls", &context(), false);
    fits_in(r#"network = "none""#, "ls", &context(), true);
}

#[test]
fn all_matchers_fit_the_same_command() {
    let matcher = "prefix = [\"git\"]\ncategory = \"networked\"";
    fits(matcher, "git fetch", true);
    fits(matcher, "git log; curl x", false);
    let matcher = "prefix = [\"cat\"]\npath = \"a.txt\"";
    fits(matcher, "cat b.txt; ls a.txt", false);
    fits(matcher, "cat a.txt", true);
    let matcher = "prefix = [\"git\"]\nglob = \"* origin\"\nnetwork = \"host\"";
    fits_in(matcher, "git push origin", &online(), true);
    fits_in(matcher, "git push other", &online(), false);
    fits_in(matcher, "git push origin", &context(), false);
}

#[test]
fn words_of_redirections_and_assignments_are_no_program() {
    fits(r#"prefix = ["a"]"#, "ls > a", false);
    fits(r#"glob = "a*""#, "ls > a", false);
    fits(r#"glob = "A*""#, "A=1 ls", false);
    check(&[project(&rule("deny", r#"path = "a""#))], "ls > a", Deny);
}

#[test]
fn among_a_thousand_rules_the_right_ones_are_found() {
    let mut rules = String::new();
    for number in 0..250 {
        rules += &rule("deny", &format!("prefix = [\"tool{number}\"]"));
        rules += &rule("deny", &format!("prefix = [\"git\", \"sub{number}\"]"));
        rules += &rule("deny", &format!("glob = \"make *{number}x\""));
        rules += &rule("deny", &format!("path = \"dir{number}/**\""));
    }
    let policy = policy(&[user(&rules)]);
    assert_eq!(policy.rule_count(), 1000);
    let decide = |text: &str| policy.decide_judged(toy::judge(text, &context()), &context());
    for (text, wanted) in [
        ("tool17 x", Deny),
        ("tool300 x", Allow),
        ("git sub249", Deny),
        ("git sub250", Allow),
        ("make a 31x", Deny),
        ("make a 31y", Allow),
        ("cat dir7/a.txt", Deny),
        ("touch dirs/a.txt", AllowWithCheckpoint),
    ] {
        assert_eq!(decide(text).decision, wanted, "{text}");
    }
}
