//! What a workspace plants in a repository is never run on the host, by nothing that Offshoot does and by no git that follows.

use offshoot_needs::needs;

use crate::git_scene::{HISTORY, project};
use crate::scene::{Scene, Who};

/// Everything that git runs by itself, told to leave a mark.
const PLANT: &str = r#"mark="$1"
    script() { printf '#!/bin/sh\necho %s >> "%s"\ncat\n' "$2" "$mark" > "$1"; chmod +x "$1"; }
    mkdir -p .git/hooks
    for hook in pre-commit post-commit commit-msg prepare-commit-msg post-checkout post-index-change \
        reference-transaction post-merge pre-auto-gc fsmonitor-watchman applypatch-msg; do
        script .git/hooks/$hook hook-$hook
    done
    script evil.sh config
    here="$(pwd)/evil.sh"
    for key in core.fsmonitor core.pager core.editor diff.external filter.evil.clean filter.evil.smudge \
        core.sshCommand gpg.program core.alternateRefsCommand credential.helper pager.status pager.diff; do
        git config $key "$here"
    done
    git config diff.evil.textconv "$here"; git config commit.gpgSign true; git config log.showSignature true
    git config alias.status "!$here"; git config core.hooksPath "$(pwd)/hooks2"
    mkdir hooks2; script hooks2/post-index-change hooks2; script hooks2/pre-commit hooks2
    printf '* filter=evil diff=evil\n' > .gitattributes
    mkdir -p .git/info; printf '* filter=evil diff=evil\n' > .git/info/attributes
    mkdir -p bare/objects bare/refs; echo 'ref: refs/heads/main' > bare/HEAD
    printf '[core]\nrepositoryformatversion = 0\nbare = true\nfsmonitor = %s\n' "$here" > bare/config
    echo changed >> a"#;

fn plant(scene: &Scene, mark: &str) {
    let envelope = scene.exec(&[], &["sh", "-euc", PLANT, "sh", mark]);
    assert_eq!(envelope["result"]["exit_code"], 0, "{envelope:#}");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn nothing_planted_runs() {
    let scene = project(Who::Me, HISTORY);
    let mark = scene.place.path().join("mark");
    let config = scene.host("cat .git/config");
    plant(&scene, mark.to_str().unwrap());
    for arguments in [
        &["status"][..],
        &["diff"],
        &["export", "--git", "agent"],
        &["commit", "--dry-run"],
        &["commit", "--git", "-m", "fix"],
    ] {
        scene.done(arguments);
        assert!(!mark.exists(), "{arguments:?} ran {:?}", std::fs::read_to_string(&mark));
    }
    assert_eq!(scene.host("cat .git/config"), config);
    scene.host("test ! -e bare; test ! -e .git/info/attributes; test -z \"$(ls .git/hooks | grep -v sample)\"");
    scene.host("git status; git diff HEAD~1; echo x >> a; git add a; git commit -qm mine; git checkout -q HEAD~1");
    assert!(!mark.exists(), "git ran {:?}", std::fs::read_to_string(&mark));
}

/// Hooks and programs of the person are not run either: what Offshoot does in a repository is not what they are for.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn the_persons_own_hooks_do_not_run() {
    let scene = project(Who::Me, HISTORY);
    let mark = scene.place.path().join("mark");
    scene.host(
        "for hook in pre-commit post-commit post-index-change reference-transaction commit-msg fsmonitor; do
             printf '#!/bin/sh\\necho %s >> ../mark\\n' $hook > .git/hooks/$hook; chmod +x .git/hooks/$hook
         done; git config core.fsmonitor .git/hooks/fsmonitor; rm -f ../mark",
    );
    scene.work("echo two >> a");
    scene.done(&["export", "--git", "agent"]);
    scene.done(&["commit", "--git", "-m", "fix"]);
    assert!(!mark.exists(), "{:?}", std::fs::read_to_string(&mark));
    scene.host("echo x >> a; git commit -qam mine");
    assert!(mark.exists(), "the hooks work");
}
