//! What git believes without looking at it again: objects by their names, packs by their indexes, and caches. A workspace writes all of them.

use offshoot_needs::needs;

use crate::git_scene::{HISTORY, project};
use crate::scene::{Scene, Who};

/// A clone of a repository that has one commit more by now, with a file that is known to whoever reads it there.
fn behind(who: Who, format: &str) -> Scene {
    project(
        who,
        &format!(
            "git init -q --bare --object-format={format} ../upstream.git; git clone -q ../upstream.git ../other 2> /dev/null
             git -C ../other commit -q --allow-empty -m first; git -C ../other push -q origin HEAD:main
             git -C ../upstream.git symbolic-ref HEAD refs/heads/main; rmdir ../p 2> /dev/null || :
             git clone -q ../upstream.git ../mine; mv ../mine/.git .
             cd ../other; mkdir d; echo true > d/good; git add .; git commit -qm second; git push -q origin HEAD:main"
        ),
    )
}

/// The functions that a command in the workspace uses: where an object of this id would be, and one of another content.
const FUNCTIONS: &str = r#"spot() { echo .git/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); }
    evil() { e=$(spot $(echo evil | git hash-object -w --stdin)); mkdir -p $(dirname $(spot $1)); cp $e $(spot $1); }
    "#;

/// What the folder has after it got the newest commit from where it was cloned from.
fn pulled(scene: &Scene) -> String {
    scene.host("git pull -q; git fsck --full --no-dangling; cat d/good")
}

fn objects_in_the_place_of_others(who: Who) {
    for format in ["sha1", "sha256"] {
        let scene = behind(who, format);
        let ids = scene.host("git -C ../upstream.git rev-parse main:d/good main:d 'main^{tree}'");
        let [blob, tree, top] = ids.lines().collect::<Vec<_>>()[..] else { panic!("{ids}") };
        scene.work(&format!(
            "{FUNCTIONS} evil {blob}; echo evil > good; git add good; t=$(spot $(git write-tree)); git reset -q; rm good
             for id in {tree} {top}; do mkdir -p $(dirname $(spot $id)); cp $t $(spot $id); done; echo ok > new"
        ));
        scene.work(
            "large() { at=.git/lfs/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-4); mkdir -p $at; cat > $at/$1; }
             echo x | large $(echo x | sha256sum | cut -d' ' -f1); echo evil | large $(echo true | sha256sum | cut -d' ' -f1)",
        );
        // No option brings them.
        scene.done(&["commit", "--allow", "git"]);
        scene.work("echo more > new");
        let said = scene.done(&["commit"]);
        assert_eq!(pulled(&scene), "true\n", "{format}");
        let told = "stays: 4 files (git objects that are not what their names say";
        assert!(said.contains(told), "{format}: {said}");
        assert_eq!(scene.host("cat new .git/lfs/objects/*/*/*"), "more\nx\n");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_object_takes_the_place_of_another() {
    objects_in_the_place_of_others(Who::Me);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_object_takes_the_place_of_another_for_an_ordinary_user() {
    objects_in_the_place_of_others(Who::Ordinary);
}

/// A pack with the index of another one, which says that what the pack has is the true file. Git reads no more than the end of the pack to
/// see that both belong together.
const FALSE_PACK: &str = r#"mkdir .git/p; width=$(($(echo true | git hash-object --stdin | wc -c) / 2))
    good=$(echo true | git hash-object -w --stdin | git pack-objects -q .git/p/good)
    evil=$(echo evil | git hash-object -w --stdin | git pack-objects -q .git/p/evil)
    rm -f $(spot $(echo true | git hash-object --stdin))
    p=.git/objects/pack; mkdir -p $p; mv .git/p/good-$good.idx $p/pack-$good.idx
    (head -c -$width .git/p/evil-$evil.pack; tail -c $width .git/p/good-$good.pack) > $p/pack-$good.pack
    git verify-pack $p/pack-$good.pack && exit 1; test "$(git cat-file blob $(echo true | git hash-object --stdin))" = evil
    rm -r .git/p; "#;

fn packs_in_the_place_of_others(who: Who) {
    for format in ["sha1", "sha256"] {
        let scene = behind(who, format);
        scene.work(&format!("{FUNCTIONS}{FALSE_PACK} echo ok > new"));
        let said = scene.done(&["commit"]);
        assert_eq!(pulled(&scene), "true\n", "{format}");
        let told = "stays: 2 files (git objects that are not what their names say";
        assert!(said.contains(told), "{format}: {said}");
        // Half of it comes neither first nor last: the other half would be another one.
        scene.work("cd .git/objects/pack; mv pack-*.pack ../../kept; echo > ../../../x");
        let said = scene.done(&["commit"]);
        assert!(said.contains("stays: 1 file (packs of git that could not be checked"), "{said}");
        scene.work("mv .git/kept $(ls .git/objects/pack/*.idx | sed s/idx$/pack/)");
        scene.done(&["commit"]);
        assert_eq!(scene.host("ls .git/objects/pack"), "", "{format}");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_pack_says_that_it_has_what_it_has_not() {
    packs_in_the_place_of_others(Who::Me);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_pack_says_that_it_has_what_it_has_not_for_an_ordinary_user() {
    packs_in_the_place_of_others(Who::Ordinary);
}

/// Repositories that come whole: new ones, those of submodules, and bare ones that only a look finds.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_repository_with_false_objects_comes_whole_or_not_at_all() {
    let scene = project(
        Who::Me,
        "git init -q .; echo a > a; git add .; git commit -qm a; git clone -q --bare . store; git clone -q . ../sub",
    );
    let evil = "e=$(ls $1/objects/*/* | grep -v pack | head -1); f=$(echo evil | git -C $1 hash-object -w --stdin); \
        chmod u+w $e; cp $1/objects/$(echo $f | cut -c1-2)/$(echo $f | cut -c3-) $e";
    scene.work(&format!(
        "evil() {{ {evil}; }}; git init -q new; cd new; echo b > b; git add b; git commit -qm b; cd ..; evil new/.git
         git -C store branch more; echo x > x; evil store"
    ));
    let said = scene.done(&["commit"]);
    assert!(said.contains("git objects that are not what their names say"), "{said}");
    assert_eq!(
        scene.host("test ! -e new/.git/HEAD; git -C store branch --list more; cat new/b x"),
        "b\nx\n"
    );
    scene.host("git -C store fsck --full; git fsck --full");
}

/// What leads to something that stays would be broken without it, whether that is in a pack or not.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_ref_comes_without_what_it_leads_to() {
    let commit = "git switch -qc side; mkdir e; echo s > e/s; git add e; git commit -qm side; git switch -q main; echo ok > new";
    for (name, spoil) in [
        ("blob", "evil $(git rev-parse side:e/s)"),
        ("tree", "evil $(git rev-parse side:e)"),
        ("commit", "evil $(git rev-parse side)"),
        // The rest is in a pack that is what it says.
        ("packed", "b=$(git rev-parse side:e/s); cp $(spot $b) kept; git rev-list --objects main..side | cut -d' ' -f1 | grep -v $b \
            | git pack-objects -q .git/objects/pack/pack > /dev/null; git prune-packed; mv kept $(spot $b); chmod u+w $(spot $b); evil $b"),
        // All of it is in one that is not.
        ("pack", "git rev-list --objects main..side | git pack-objects -q .git/objects/pack/pack > /dev/null; git prune-packed
            for p in .git/objects/pack/*.pack; do chmod u+w $p; printf x | dd of=$p bs=1 seek=30 conv=notrunc 2> /dev/null; done"),
    ] {
        let scene = project(Who::Me, HISTORY);
        scene.work(&format!("{FUNCTIONS}{commit}; chmod -R u+w .git/objects; {spoil}"));
        let said = scene.done(&["commit"]);
        assert_eq!(scene.host("git branch --list side; git fsck --full --no-dangling; cat new"), "ok\n", "{name}: {said}");
    }
}

/// What a branch brings is told by what the folder has, and not by what the workspace puts in its place for the look at it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_false_tree_hides_what_a_branch_brings() {
    let scene = project(Who::Me, HISTORY);
    scene.work("git switch -qc evil; echo evil > .envrc; git add -f .envrc; git commit -qm e; git switch -q main; echo 1 > new");
    scene.done(&["commit"]);
    assert_eq!(scene.host("git branch --list evil"), "");
    scene.work(&format!(
        "{FUNCTIONS} git branch other evil; t=$(spot $(git rev-parse 'evil^{{tree}}')); chmod u+w $t
         cp $(spot $(git rev-parse 'main^{{tree}}')) $t; git branch -D evil -q; echo 2 > new"
    ));
    scene.done(&["commit"]);
    assert_eq!(
        scene.host("git branch --list other evil; git fsck --full --no-dangling; cat new"),
        "2\n"
    );
}

/// Without git on the host nobody can look at a pack.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn packs_stay_where_there_is_no_git() {
    let mut scene = project(Who::Me, HISTORY);
    scene.work("git repack -adq; echo ok > new");
    let path = offshoot_machine::search_path();
    // One that cannot be started.
    scene.host("mkdir ../none; touch ../none/git");
    scene.set("PATH", scene.place.path().join("none"));
    let said = scene.done(&["commit"]);
    assert!(said.contains("stays: 2 files (packs of git that could not be checked"), "{said}");
    scene.set("PATH", path);
    scene.work("echo more > new");
    let said = scene.done(&["commit"]);
    assert!(!said.contains("stays"), "{said}");
    assert_eq!(
        scene.host("git fsck --full --no-dangling; ls .git/objects/pack | wc -l; cat new"),
        "2\nmore\n"
    );
}

/// Tidying up is nothing that anybody has to decide about, and its tables do not come along.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn tidying_a_repository_is_quiet() {
    for tidy in [
        "git gc -q",
        "git repack -adq --write-bitmap-index --write-midx; git commit-graph write --reachable",
        "git gc -q; git maintenance run --quiet --task=gc --task=commit-graph --task=loose-objects --task=incremental-repack --task=pack-refs",
        "git gc -q --cruft --prune=never; git multi-pack-index write; git commit-graph write --reachable --split",
    ] {
        let scene = project(Who::Me, HISTORY);
        scene.work(&format!(
            "echo n > n; git add n; git commit -qm theirs; git branch side; git commit -q --amend -m again; {tidy}
             git init -q new; cd new; echo b > b; git add b; git commit -qm b; {tidy}; cd ..; git clone -q --no-local . clone; git -C clone gc -q"
        ));
        scene.work("ls .git/objects/info/commit-graph* new/.git/objects/pack/*.rev > /dev/null");
        let said = scene.done(&["commit", "--allow", "git"]);
        assert!(!said.contains("stays"), "{tidy}: {said}");
        let caches = "find . -name 'commit-graph*' -o -name 'multi-pack-index*' -o -name '*.rev' -o -name '*.bitmap' -o -name '*.mtimes'";
        assert_eq!(scene.host(caches), "", "{tidy}");
        scene.host(
            "for at in . new clone; do git -C $at fsck --full --strict; git -C $at gc -q; done",
        );
        assert_eq!(
            scene.host(
                "git log -1 --format=%s; git -C new log --format=%s; git status --porcelain -uno"
            ),
            "again\nb\n"
        );
        // Nothing of it is left to be said.
        let said = scene.done(&["status"]);
        assert!(!said.contains("stays"), "{tidy}: {said}");
    }
}

/// An index whose files are those that everybody sees, and which remembers another tree for them. `git commit` believes that.
fn index_with_another_tree(who: Who) {
    for (format, width) in [("sha1", 20), ("sha256", 32)] {
        let make = format!(
            "git init -q --object-format={format} .; echo one > a; git add a; git commit -qm one"
        );
        let scene = project(who, &make);
        let (tree, sum) = (8 + 5 + width, width);
        scene.work(&format!(
            "git config index.threads 1; echo evil > a; git add a; git write-tree > /dev/null; cp .git/index .git/evil
             echo good > a; git add a; git write-tree > /dev/null; cp .git/index .git/good
             (head -c -$(({tree} + {sum})) .git/good; tail -c $(({tree} + {sum})) .git/evil | head -c {tree}) > .git/both
             for h in $({format}sum < .git/both | cut -d' ' -f1 | sed 's/../& /g'); do printf \"\\\\$(printf %o 0x$h)\"; done > .git/sum
             cat .git/both .git/sum > .git/index; rm .git/good .git/evil .git/both .git/sum
             git fsck --cache > /dev/null; test \"$(git cat-file blob $(git write-tree):a)\" = evil; git config --unset index.threads"
        ));
        let said = scene.done(&["commit"]);
        assert_eq!(
            scene.host("git diff --cached --name-only; git commit -qm mine; git show HEAD:a"),
            "a\ngood\n"
        );
        assert!(said.contains("hides changes"), "{format}: {said}");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_index_does_not_remember_another_tree() {
    index_with_another_tree(Who::Me);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_index_does_not_remember_another_tree_for_an_ordinary_user() {
    index_with_another_tree(Who::Ordinary);
}

/// What need not be looked at on the disk is found anew.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_index_does_not_say_what_need_not_be_looked_at() {
    let scene = project(Who::Me, HISTORY);
    scene.work("echo two >> a; git add a; git update-index --force-untracked-cache; git status > /dev/null; grep -q UNTR .git/index");
    let said = scene.done(&["commit"]);
    assert!(!said.contains("stays"), "{said}");
    assert_eq!(scene.host("! grep -c UNTR .git/index; git diff --cached --name-only"), "0\na\n");
}

/// Directories in a tree without end: nobody waits for a look at all of them.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_with_deep_directories_stays() {
    let scene = project(Who::Me, HISTORY);
    scene.work(
        "make() { path=$(head -c $2 /dev/zero | sed 's,.,d/,g' | tr -d '\\000')f
             printf 'commit refs/heads/%s\\ncommitter A <a@b> 0 +0000\\ndata 0\\nM 100644 inline %s\\ndata 1\\nx\\n\\n' $1 $path | git fast-import --quiet; }
         make deep 3000; make flat 300; echo ok > new",
    );
    scene.done(&["commit"]);
    assert_eq!(
        scene.host("git branch --format='%(refname:short)' --list deep flat; cat new"),
        "flat\nok\n"
    );
}

/// To look at a large pack takes long, and `status` asks for it each time: it is remembered, as long as the pack is the same.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_pack_is_looked_at_once() {
    let mut scene = project(Who::Me, HISTORY);
    scene.work("git repack -adq; echo ok > new");
    let said = scene.done(&["status"]);
    assert!(!said.contains("stays"), "{said}");
    scene.host("mkdir ../none; touch ../none/git");
    scene.set("PATH", scene.place.path().join("none"));
    let said = scene.done(&["commit"]);
    assert!(!said.contains("stays"), "{said}");
    scene.set("PATH", offshoot_machine::search_path());
    scene.work("rm .git/objects/pack/*; git init -q ../x; echo other > other; git add other; git commit -qm other; git repack -adq");
    scene.set("PATH", scene.place.path().join("none"));
    let said = scene.done(&["commit"]);
    assert!(said.contains("packs of git that could not be checked"), "{said}");
}

/// Git resolves a conflict by itself as it was resolved before.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_conflict_is_resolved_as_a_workspace_did() {
    let scene = project(Who::Me, HISTORY);
    let change = |name: &str| format!("echo {name} > f; git add f; git commit -qm {name}");
    scene.work(&format!(
        "git checkout -qb one; {}; git checkout -qb two HEAD~1; {}
         git -c rerere.enabled=true merge -q one > /dev/null || :; echo evil > f; git add f
         git -c rerere.enabled=true commit -qm merged; ls .git/rr-cache/*/postimage > /dev/null; git reset -q --hard HEAD~1",
        change("one"),
        change("two"),
    ));
    let said = scene.done(&["commit"]);
    assert!(said.contains("rr-cache"), "{said}");
    let merged = scene.host("git checkout -q two; git merge one > /dev/null 2>&1 || cat f");
    assert!(merged.contains("<<<<<<<") && !merged.contains("evil"), "{merged}");
}

/// What git records of conflicts has their markers, and is no file that somebody forgot to decide.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn conflicts_that_git_recorded_hold_nothing_up() {
    let scene = project(Who::Me, &format!("{HISTORY}; git config rerere.enabled true"));
    scene.work(
        "for side in one two; do git switch -qc $side main; echo $side > f; git add f; git commit -qm $side; done
         git merge -q one > /dev/null 2>&1 || :; echo both > f; git add f; git commit -qm merged
         grep -q '^>>>>>>>' .git/rr-cache/*/preimage",
    );
    scene.done(&["commit"]);
    assert_eq!(
        scene.host("git log -1 --format=%s; cat f; ls .git/rr-cache 2> /dev/null || :"),
        "merged\nboth\n"
    );
    scene.done(&["commit", "--allow", "git"]);
    scene.host("grep -q '^>>>>>>>' .git/rr-cache/*/preimage");
}
