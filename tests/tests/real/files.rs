//! The tools that everybody uses on files.

use offshoot_needs::needs;

use crate::known::fails_today;
use crate::scene::{Scene, Who, envelope_of, exactly};

/// A tree with some of everything.
fn project(who: Who) -> Scene {
    let scene = Scene::new(who);
    for number in 0..200 {
        let text = format!("{number}\nneedle {}\n{}", number % 13, "hay\n".repeat(number % 50));
        scene.place.write(format!("tree/d{}/e{}/f{number}.txt", number % 5, number % 3), text);
    }
    scene.place.write("tree/.hidden/needle.txt", "needle hidden\n");
    scene.place.write("tree/binary.bin", b"needle\0\xff\xfe");
    scene.place.write(".ignore", "d4/\n");
    scene.hand_over();
    let said = scene.plainly(
        // All of one time, long ago: rsync looks at whole seconds.
        "find . -exec touch -d @1300000000 {} +
         cd tree; ln -s d0/e0/f0.txt link; ln -s nowhere dangling; ln d1/e1/f1.txt hard; mkfifo fifo
         chmod 750 d2; chmod 4755 d4/e1/f4.txt; chmod 444 d3/e0/f3.txt; mkdir empty
         touch -h -d 2001-02-03T04:05:06.789Z link; touch -d 1999-12-31T23:59:59.123456789Z d2/e1/f7.txt",
    );
    assert_eq!(said.code, Some(0), "{said:?}");
    scene.bind();
    scene
}

#[needs(Overlay, UserNamespace, "rsync")]
#[test]
fn rsync() {
    let scene = project(Who::Me);
    let scripts = [
        "rsync -aH --stats tree/ copy | grep -E '^Number of (files|created|deleted|regular)'",
        "rsync -aHni --delete tree/ copy; diff -r --no-dereference tree copy --exclude fifo",
        "rm -r tree/d1/e0; echo changed > tree/d2/e0/new; chmod 640 tree/d2/e2/f2.txt
         rsync -aHi --delete tree/ copy",
        "rsync -a --delete --exclude 'd1/' copy/ tree; rsync -aHnic tree/ copy; ls tree",
        "cd tree; find . -type f ! -newermt 2002-01-01; stat -c '%n %y' link d2/e1/f7.txt",
    ];
    scene.both(&scripts, exactly);
    scene.same_tree(|_| false);
}

#[needs(Overlay, UserNamespace)]
#[test]
fn tar() {
    let scene = project(Who::Me);
    let scripts = [
        "mkdir out; cp -a tree/d2 tree/link tree/dangling tree/fifo out; ln out/d2/e1/f7.txt out/hard
         tar --sort=name -cf out.tar out; mkdir again; tar -C again -xpf out.tar; rm out.tar out/hard
         cd again; find out ! -type d -printf '%p %y %m %s %n %l\\n' | sort",
        "tar --sort=name --mtime=@0 -czf a.tgz out tree/d0 tree/d4; tar -tvzf a.tgz | sort; rm a.tgz",
    ];
    scene.both(&scripts, exactly);
    scene.same_tree(|_| false);
}

/// tar looks at the change time of a directory before and after it reads it.
#[needs(Overlay, UserNamespace)]
#[test]
fn tar_of_a_tree_with_hard_links() {
    let scene = project(Who::Me);
    scene.both(&["tar --sort=name -cf tree.tar tree; tar -tf tree.tar; rm tree.tar"], exactly);
}

/// As root, tar gives files the owners that are in the archive.
#[needs(Root, Overlay, UserNamespace)]
#[test]
fn tar_of_somebody_else() {
    let scene = project(Who::Me);
    let said =
        scene.plainly("tar --owner=1000 --group=1000 -cf foreign.tar tree/d0; rm -r tree/d0");
    assert_eq!(said.code, Some(0), "{said:?}");
    scene.offshoot_ok(&["init"]);
    let run = || {
        let options = ["--from", "head"];
        let output = scene.exec_command(&options, &["tar", "-xf", "foreign.tar"]).output().unwrap();
        let envelope = envelope_of(&output);
        assert_eq!(envelope["success"], true, "{envelope:#}");
    };
    fails_today("root has no capability to change owners", "Cannot change ownership", run);
}

#[needs(Overlay, UserNamespace, "rg")]
#[test]
fn ripgrep_and_grep() {
    let scene = project(Who::Me);
    let scripts = [
        "rg --sort path -n 'needle 1\\b'",
        "rg --sort path -uu -c needle",
        "rg --files --sort path --hidden",
        "grep -rn 'needle 12' tree --exclude=fifo --devices=skip | sort",
    ];
    let said = scene.both(&scripts, exactly);
    assert!(said[0].out.lines().count() > 10, "{:?}", said[0]);
}

#[needs(Overlay, UserNamespace, "patch", "perl")]
#[test]
fn editing_in_place() {
    let scene = project(Who::Me);
    let scripts = [
        "sed -i 's/needle/NEEDLE/' tree/d0/e*/*.txt; sed -i.orig 2d tree/hard; ls -la tree | wc -l",
        "find tree -type f -name 'f1?.txt' -delete -print | sort; find tree -depth -type d -empty -delete -print",
        "cp tree/d1/e0/f6.txt old; sed 's/needle/pin/;$a end' old > new; ! diff -u --label a --label b old new > p
         patch tree/d1/e0/f6.txt p; patch -R tree/d1/e0/f6.txt p; cmp old tree/d1/e0/f6.txt; patch tree/d1/e0/f6.txt p",
        "find tree/d2 -name '*.txt' -print0 | xargs -0 -P 4 -n 3 sed -i 's/hay/straw/'; cat $(find tree/d2 -type f | sort) | cksum",
        "perl -pi -e 's/needle/eldeen/' tree/d3/e1/*.txt; mv tree/d3/e1 tree/d3/e1x 2> /dev/null || cp -a tree/d3/e1 tree/d3/e1x; ls tree/d3",
        ": > tree/d0/e0/f0.txt; echo tail >> tree/d0/e0/f15.txt; truncate -s 3 tree/d0/e0/f30.txt
         stat -c '%n %a %s' tree/d0/e0/*",
    ];
    scene.both(&scripts, exactly);
    // Where a directory cannot be moved, mv copies it and removes what it copied.
    scene.same_tree(|_| false);
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn copies_links_and_holes() {
    let scene = project(Who::Me);
    let scripts = [
        "cp -a --reflink=auto tree copy; diff -r --no-dereference tree copy --exclude fifo; stat -c '%a %h %s' copy/hard",
        "ln tree/d0/e1/f10.txt second; ln -s tree/d0 short; cat short/e1/f10.txt; echo more >> second
         cmp second tree/d0/e1/f10.txt; stat -c '%h %s' second",
        "dd if=/dev/zero of=sparse bs=1 count=1 seek=64M status=none
         dd if=tree/hard of=sparse bs=512 seek=4096 conv=notrunc status=none; stat -c %s sparse; cksum sparse
         test $(stat -c %b sparse) -lt 100",
        "test $(stat -c %b sparse) -lt 100; cp --sparse=always sparse again; cksum again; fallocate -d again
         test $(stat -c %b again) -lt 100; dd if=/dev/urandom of=again bs=1k count=1 conv=notrunc status=none
         stat -c %s again; rm again",
        "stat -c '%h %s' second; echo after >> second; cmp second tree/d0/e1/f10.txt; stat -c %h tree/hard",
        "mkdir -p deep/a/b/c; mv deep/a moved; mv moved/b/c moved/c; rmdir moved/b deep; find moved
         mv -T tree/link tree/other; mv --exchange a b 2> /dev/null || true; readlink tree/other",
        "umask 077; touch private; mkdir -m 1777 sticky; chmod g+s sticky; stat -c '%a' private sticky; install -D -m 711 tree/hard bin/x; stat -c %a bin/x",
    ];
    scene.both(&scripts, exactly);
    scene.same_tree(|_| false);
}

/// Root without capabilities is refused what root is not, so this compares only for others.
#[needs(Overlay, UserNamespace)]
#[test]
fn modes_that_lock_their_owner_out() {
    let scene = project(Who::Ordinary);
    let scripts = [
        "chmod 000 tree/d0/e0/f0.txt tree/d1/e1; chmod 555 tree/d2/e2; ! cat tree/d0/e0/f0.txt; ls -l tree/d0 | wc -l",
        "! cat tree/d0/e0/f0.txt; ! ls tree/d1/e1; ! touch tree/d2/e2/new; ! rm tree/d2/e2/f2.txt",
        "chmod 700 tree/d1/e1; rm -f tree/d0/e0/f0.txt; ls tree/d1/e1; mkdir locked; touch locked/file; chmod 0 locked",
        "stat -c '%a' locked; ! ls locked; ! rm -r locked; chmod 711 locked; stat -c '%a' locked/file; chmod 0 locked/file",
    ];
    scene.both(&scripts, exactly);
    let kept = scene.exported();
    let mode = |path: &str| kept.0[path.as_bytes()].mode;
    assert_eq!((mode("tree/d2/e2"), mode("locked"), mode("locked/file")), (0o555, 0o711, 0));
    scene.same_tree(|_| false);
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn directories_of_the_base_are_renamed() {
    for who in [Who::Me, Who::Ordinary] {
        let scene = project(who);
        let rename = "import os; os.rename(\"tree/d0\", \"tree/z0\")";
        scene.both(
            &[&format!("python3 -c '{rename}'; ls tree"), "mv tree leaves; ls leaves"],
            exactly,
        );
        scene.same_tree(|_| false);
    }
}
