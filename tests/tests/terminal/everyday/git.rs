//! Days with git.

use offshoot_needs::needs;

use super::Session;

const GREETING: (&str, &str) = ("greet.sh", "#!/bin/sh\necho helo, $1\n");
const LIST: (&str, &str) = ("list.txt", "one\ntwo\nthree\nfour\nfive\n");

#[needs(Overlay, UserNamespace, "bash", "git")]
#[test]
fn a_typo_is_mended_reviewed_committed_and_taken_back() {
    let mut session = Session::with_git(&[GREETING, LIST]);
    session.types(&[
        "offshoot exec -w fix -- sed -i s/helo/hello/ greet.sh",
        "offshoot exec -w fix -- sh greet.sh Ada",
        "offshoot diff",
        "offshoot review --list",
        "offshoot commit --git -m 'Mend the greeting'",
        "git log --oneline && git status --short",
        "offshoot undo",
        "git log --oneline && cat greet.sh",
    ]);
    insta::assert_snapshot!(session.text());
}

#[needs(Overlay, UserNamespace, "bash", "git")]
#[test]
fn a_branch_of_a_workspace_meets_a_commit_of_ones_own() {
    let mut session = Session::with_git(&[LIST]);
    session.types(&[
        "offshoot exec -w loud -- sh -c \"sed -i s/two/TWO/ list.txt && git commit -qam 'Louder'\"",
        "sed -i s/two/deux/ list.txt && git commit -qam 'In French'",
        "offshoot commit",
        "offshoot pull",
        "offshoot conflicts",
        "offshoot exec -w loud -- sh -c \"sed -i '/^[<=>|]/d; /^two$/d; /^deux$/d' list.txt; cat list.txt\"",
        "offshoot commit",
        "git branch && git log --oneline && git status --short && sed -n 2p list.txt",
    ]);
    insta::assert_snapshot!(session.text());
}

#[needs(Overlay, UserNamespace, "bash", "git")]
#[test]
fn a_linked_worktree() {
    let mut session = Session::with_git(&[LIST]);
    session.types(&[
        "offshoot exec git worktree add -q ../inside",
        "ls ..",
        "git worktree add -q ../side && cd ../side",
        "offshoot exec -w fix -- sh -c \"echo six >> list.txt && git commit -qam 'Six'\"",
        "offshoot commit",
        "git log --oneline && git status --short && git -C ../project log --oneline -1",
    ]);
    insta::assert_snapshot!(session.text());
}
