//! Machines on which no further file can be opened, or no further thread started.

use std::fs;
use std::process::{Command, Output, Stdio};

use offshoot_needs::needs;
use offshoot_tests::product::{Place, binary, document_of, with_json};
use offshoot_tests::user::{User, give_away};

/// A vault with a pack and layers, and more changes in a workspace than are read without worker threads.
fn many(place: &Place, run: impl Fn(&[&str]) -> Output) {
    let ok = |arguments: &[&str]| {
        let output = run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    };
    for number in 0..80 {
        place.write(format!("d/{number}"), format!("{number}\n").repeat(20_000));
    }
    give_away(place.path());
    ok(&["init"]);
    let change = "for i in d/*; do echo w >> $i; done; mkdir deep; mv d/1* deep; cp deep/1 big";
    ok(&["exec", "-w", "fix", "--", "sh", "-c", change]);
    ok(&["vault", "pack"]);
    ok(&["exec", "-w", "fix", "--", "sh", "-c", "cat d/* > all; mkdir -p q/w/e; cp all q/w/e"]);
}

/// That too many files are open says nothing about the vault, whoever tries to read it.
#[test]
fn too_many_open_files_are_no_damage() {
    let place = Place::new();
    let user = User::new();
    many(&place, |arguments| user.run(&place, arguments));
    let with = |limit: usize, arguments: &[&str]| {
        let mut command = user.program(&place, "sh");
        let script = format!("ulimit -n {limit}; exec \"$@\"");
        command.args(["-c", &script, "sh"]).arg(user.binary()).args(arguments);
        command.output().unwrap()
    };
    let mut named = 0;
    for arguments in [
        &["vault", "check", "--json"][..],
        &["vault", "check", "--repair", "--json"],
        &["commit", "-w", "fix", "--dry-run", "--json"],
        &["fs", "cat", "/all", "-w", "fix"],
    ] {
        for limit in 8..24 {
            let output = with(limit, arguments);
            let told = [output.stdout.as_slice(), &output.stderr].concat();
            let told = String::from_utf8_lossy(&told);
            assert_ne!(output.status.code(), Some(5), "{limit} {arguments:?}: {told}");
            assert!(!told.contains("is damaged"), "{limit} {arguments:?}: {told}");
            let is_named = told.contains("Too many open files");
            named += usize::from(is_named && output.status.code() == Some(6));
        }
    }
    assert!(named >= 8, "few of the commands ran into it: {named}");
    assert!(user.run(&place, &["vault", "check"]).status.success());
}

/// Work that worker threads would share is done without them.
#[needs("bash")]
#[test]
fn without_threads_work_is_done_alone() {
    let place = Place::new();
    let user = User::new();
    many(&place, |arguments| user.run(&place, arguments));
    fs::write(place.project().join("mine"), "mine\n").unwrap();
    give_away(&place.project());
    let alone = |arguments: &[&str]| {
        let mut command = user.program(&place, "bash");
        command.args(["-c", "ulimit -u 1; exec \"$@\"", "bash"]).arg(user.binary());
        command.args(with_json(arguments)).output().unwrap()
    };
    for arguments in [
        &["status", "-w", "fix"][..],
        &["diff", "fix", "--stat"],
        &["review", "-w", "fix", "--list"],
        &["commit", "-w", "fix", "--dry-run"],
        &["pull", "-w", "fix"],
        &["commit", "-w", "fix"],
        &["undo", "-w", "fix"],
        &["gc"],
        &["vault", "check"],
        &["fs", "export", "/", "../exported"],
        &["init"],
    ] {
        let output = alone(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        assert_eq!(document_of(&output)["success"], true, "{arguments:?}: {output:?}");
    }
    // What cannot be done alone says so.
    let output = alone(&["exec", "-w", "fix", "--", "true"]);
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert_eq!(document_of(&output)["success"], false, "{output:?}");
}

/// Runs a script in a namespace where disks can be mounted; `$1` is the binary.
fn with_disks(place: &Place, script: &str) -> Output {
    let unshare = ["--user", "--map-root-user", "--mount", "sh", "-euc", script, "sh"];
    if rustix::process::geteuid().is_root() {
        let user = User::new();
        give_away(place.path());
        let mut command = user.program(place, "unshare");
        return command.args(unshare).arg(user.binary()).output().unwrap();
    }
    let mut command = Command::new("unshare");
    command.env_clear().envs(place.environment()).current_dir(place.path()).stdin(Stdio::null());
    command.args(unshare).arg(binary()).output().unwrap()
}

/// The top of every file system of a kind has the same inode number: that alone does not make another disk the bound one.
#[needs(UserNamespace, "unshare")]
#[test]
fn another_disk_at_the_path_is_another_folder() {
    let place = Place::new();
    let script = r#"
        mkdir "$HOME/disk"
        cd "$HOME"
        mount -t tmpfs one disk
        cd disk
        echo one > one
        "$1" init -q
        "$1" workspace create -q work
        echo agent | "$1" fs write -q /agent -w work
        ! "$1" status -w work | grep -q refused
        cd ..
        umount disk
        mount -t tmpfs two disk
        cd disk
        echo two > two
        "$1" status -w work | grep -q 'is another folder'
        for command in "commit -w work" "commit -w work --dry-run" "pull -w work"; do
            code=0
            "$1" $command || code=$?
            test $code = 4
        done
        test "$(ls)" = two
        "$1" init -q
        "$1" commit -q -w work
        test -e agent
        echo done
    "#;
    let output = with_disks(&place, script);
    assert!(output.status.success() && output.stdout.ends_with(b"done\n"), "{output:?}");
}

/// An overlay, as containers have, gives a folder another birth when it is first written to. It is the same folder.
#[needs(Overlay, "unshare")]
#[test]
fn a_folder_of_an_overlay_stays_the_same() {
    let place = Place::new();
    let script = r#"
        mkdir "$HOME/disk"
        cd "$HOME/disk"
        mkdir -p lower/p upper work merged
        echo one > lower/p/one
        mount -t overlay o merged -o userxattr,lowerdir=lower,upperdir=upper,workdir=work
        cd merged/p
        born=$(stat -c %.9W .)
        "$1" init -q
        "$1" workspace create -q work
        echo agent | "$1" fs write -q /agent -w work
        echo two > two
        test "$born" != "$(stat -c %.9W .)"
        "$1" commit -q -w work
        test -e agent
        echo done
    "#;
    let output = with_disks(&place, script);
    assert!(output.status.success() && output.stdout.ends_with(b"done\n"), "{output:?}");
}

/// What is mounted in the folder is not taken away with what it is mounted on, and `status` says so before a commit does.
#[needs(UserNamespace, "unshare")]
#[test]
fn a_mount_point_that_would_go_is_told() {
    let place = Place::new();
    let script = r#"
        cd "$HOME"
        mkdir -p disk/sub/deep disk/other
        mount -t tmpfs one disk/sub
        mkdir disk/sub/deep
        echo one > disk/sub/deep/one
        cd disk
        "$1" init -q
        "$1" workspace create -q edits
        echo two | "$1" fs write -q /sub/deep/one -w edits
        ! "$1" status -w edits | grep -q refused
        "$1" workspace create -q moves
        "$1" fs rm -q /sub/deep/one -w moves
        ! "$1" status -w moves | grep -q refused
        "$1" fs rm -q -r /sub -w moves
        "$1" status -w moves | grep -q 'refused.*mount point'
        code=0
        "$1" commit -w moves --dry-run || code=$?
        test $code = 4
        echo done
    "#;
    let output = with_disks(&place, script);
    assert!(output.status.success() && output.stdout.ends_with(b"done\n"), "{output:?}");
}
