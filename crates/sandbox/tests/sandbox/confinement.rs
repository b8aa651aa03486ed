//! What the command sees and what it cannot do.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use offshoot_sandbox::{Demand, HomeView, Limits, Network, Restriction, Status, WrittenFile};

use crate::support::Scene;

#[test]
fn the_host_is_read_only_and_private_places_are_private() {
    let scene = Scene::new();
    // A name that nobody else uses on this machine.
    let name = format!("x-{}", std::process::id());
    let outcome = scene.shell(&format!(
        "for d in /usr /etc /var /; do touch $d/{name} 2>/dev/null && echo $d; done
         for d in /tmp /var/tmp /run /dev/shm; do touch $d/{name} || echo not $d; done
         ls -A /run | tr '\\n' ' '; ls /tmp | tr '\\n' ' '",
    ));
    assert_eq!(outcome.stdout, format!("{name} some {name} "));
    assert_eq!(outcome.stderr, "");
    assert!(!std::path::Path::new("/tmp").join(name).exists());
}

#[test]
fn processes_of_the_host_are_not_seen() {
    let outcome = Scene::new().shell("ls /proc | grep -c '^[0-9]'; cat /proc/1/environ | wc -c");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert!(lines[0].parse::<u32>().unwrap() <= 5, "{}", outcome.stdout);
    assert_eq!(lines[1], "0", "{}", outcome.stderr);
}

/// What is not about processes belongs to the whole machine. As root each of these was a way to change it. The mode that is set is the one that it
/// has: a test that fails leaves the machine as it was.
#[test]
fn the_kernels_files_cannot_be_changed() {
    let text = "for f in /proc/sys/kernel/core_pattern /proc/sys/vm/swappiness /proc/sysrq-trigger \
                    /proc/irq/default_smp_affinity /proc/mtrr /proc/pressure/memory; do
                    test -e $f || continue
                    if (: >> $f) 2>/dev/null; then echo $f can be written; fi
                done
                find /proc -maxdepth 1 -not -name '[0-9]*' -not -type l -not -path /proc | while read f; do
                    chmod u+r $f 2>/dev/null && echo $f can be changed
                done
                for f in keys kmsg kcore; do test ! -s /proc/$f || cat /proc/$f | head -c 1 | wc -c; done
                cat /proc/sys/kernel/ostype; head -c 9 /proc/cpuinfo; echo 5 > /proc/self/oom_score_adj";
    let outcome = Scene::new().shell(text);
    assert_eq!(outcome.stdout, "Linux\nprocessor", "{}", outcome.stderr);
}

/// Devices are the host's own, and stay as they are for all its users.
#[test]
fn devices_can_be_used_and_not_changed() {
    let text = "for d in null zero full random urandom tty; do
                    chmod 0600 /dev/$d 2>/dev/null && echo $d has another mode
                    touch -d 2001-01-01 /dev/$d 2>/dev/null && echo $d has another time
                    chown 1:1 /dev/$d 2>/dev/null && echo $d has another owner
                done
                echo x > /dev/null && head -c 3 /dev/zero | wc -c && head -c 3 /dev/urandom | wc -c";
    let outcome = Scene::new().shell(text);
    assert_eq!(outcome.stdout, "3\n3\n", "{}", outcome.stderr);
}

#[test]
fn no_capability_is_left_and_none_can_come_back() {
    let outcome = Scene::new().shell("grep -E '^(Cap|NoNewPrivs)' /proc/self/status");
    for line in outcome.stdout.lines() {
        let (name, value) = line.split_once(":\t").unwrap();
        let expected = if name == "NoNewPrivs" { "1" } else { "0000000000000000" };
        assert_eq!(value, expected, "{name}");
    }
    assert_eq!(outcome.stdout.lines().count(), 6);
}

/// The kernel was asked about each of these in the process that became the command.
#[test]
fn what_is_in_force_is_told() {
    let limits = Limits { memory: Some(1 << 30), ..Limits::default() };
    let outcome = Scene { limits, ..Scene::new() }.shell("touch /nowhere 2>/dev/null || echo no");
    assert_eq!(outcome.stdout, "no\n");
    let told = outcome.in_force;
    // An ordinary user may have groups, and keeps them.
    let mut all = Restriction::ALL.to_vec();
    all.retain(|one| *one != Restriction::NoGroups || told.restrictions.contains(one));
    assert_eq!(told.restrictions, all);
    assert!(told.landlock.is_some());
    assert_eq!((told.limits, told.network, told.writable), (limits, Network::None, true));
    let host = Scene { network: Network::Host, read_only: true, ..Scene::new() }.shell("true");
    let told = host.in_force;
    assert_eq!((told.network, told.writable), (Network::Host, false));
    assert_eq!(told.limits, Limits::default());
    assert!(!told.namespaces.contains(&"net"), "{told:?}");
}

#[test]
fn the_network_is_a_loopback_of_its_own_or_the_hosts() {
    let count = "tail -n +3 /proc/net/dev | wc -l; cat /sys/class/net/lo/operstate >/dev/null; \
                 exec 2>/dev/null; readlink /proc/self/ns/net";
    let own = Scene::new().shell(count).stdout;
    assert!(own.starts_with("1\n"), "{own}");
    let host = Scene { network: Network::Host, ..Scene::new() }.shell(count).stdout;
    let here = fs::read_link("/proc/self/ns/net").unwrap();
    assert!(host.ends_with(&format!("{}\n", here.display())), "{host}");
    assert!(!own.ends_with(&format!("{}\n", here.display())), "{own}");
    let ping = "python3 -c 'import socket; s=socket.create_server((\"127.0.0.1\",0)); \
                socket.create_connection(s.getsockname()); print(\"up\")'";
    let mut scene = Scene::new();
    scene.environment = vec![("PATH", "/usr/local/bin:/usr/bin:/bin")];
    assert_eq!(scene.shell(ping).stdout, "up\n");
}

#[test]
fn the_home_is_thrown_away() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(home.path().join("settings"), "mine\n").unwrap();
    let mut scene = Scene::new();
    scene.home = Some(home.path().to_owned());
    let text = format!(
        "cd {} && cat settings; echo theirs > settings && touch new && cat settings",
        home.path().display()
    );
    let outcome = scene.shell(&text);
    assert_eq!(outcome.stdout, "theirs\n", "{}", outcome.stderr);
    assert!(outcome.stderr.contains("No such file"), "{}", outcome.stderr);
    assert_eq!(outcome.in_force.home, HomeView::ThrowAway);
    assert_eq!(fs::read_to_string(home.path().join("settings")).unwrap(), "mine\n");
    assert!(!home.path().join("new").exists());
}

#[test]
fn what_is_shown_of_a_home_is_there_and_nothing_else() {
    for home in [tempfile::tempdir(), tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))] {
        let home = home.unwrap();
        fs::create_dir_all(home.path().join("tools/bin")).unwrap();
        fs::write(home.path().join("tools/bin/run"), "mine\n").unwrap();
        fs::write(home.path().join("secret"), "mine\n").unwrap();
        let mut scene = Scene::new();
        scene.home = Some(home.path().to_owned());
        scene.shown.push(home.path().join("tools/bin"));
        let text = format!(
            "cd {}; ls -A; ls -A tools; cat tools/bin/run; touch tools/new; touch tools/bin/new 2>&1 | grep -c Read-only",
            home.path().display()
        );
        assert_eq!(scene.shell(&text).stdout, "tools\nbin\nmine\n1\n");
        assert!(!home.path().join("tools/new").exists());
    }
}

/// A file that only root reads is not read by root's command, even where somebody shows it; with the host's own ids it is.
#[test]
fn roots_command_is_nobody_outside() {
    if !rustix::process::getuid().is_root() {
        // Whoever is not root has no more rights inside than outside.
        return;
    }
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let secret = place.path().join("secret");
    fs::write(&secret, "for root alone\n").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let text = format!(
        "cat {}; id -u; stat -c %u file; touch new; echo there > /dev/stdout",
        secret.display()
    );
    for (own_ids, told) in [(Demand::Required, ""), (Demand::Off, "for root alone\n")] {
        let mut scene = Scene::new();
        scene.walls.own_ids = own_ids;
        scene.shown.push(place.path().to_owned());
        let outcome = scene.shell(&text);
        assert_eq!(outcome.stdout, format!("{told}0\n0\nthere\n"), "{}", outcome.stderr);
        let is_told = outcome.in_force.restrictions.contains(&Restriction::OwnIds);
        assert_eq!(is_told, own_ids == Demand::Required);
        assert_eq!(fs::metadata(scene.upper().join("new")).unwrap().uid(), 0);
    }
}

/// A program of the host that listens anywhere but in a directory that is shown is not there to talk to.
#[test]
fn sockets_and_pipes_of_the_host_are_not_there() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (socket, pipe) = (place.path().join("socket"), place.path().join("pipe"));
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    listener.set_nonblocking(true).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o666)).unwrap();
    let text = format!(
        "test -e {0} && echo seen; test -e {1} && echo seen; \
         python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{0}\")' && echo reached",
        socket.display(),
        pipe.display()
    );
    let reaches = |shown: &[PathBuf]| {
        let mut scene = Scene::new();
        scene.environment = vec![("PATH", "/usr/local/bin:/usr/bin:/bin")];
        scene.walls.own_ids = Demand::Off;
        scene.shown.extend_from_slice(shown);
        scene.shell(&text).stdout
    };
    assert_eq!(reaches(&[]), "");
    // Neither is one of them that is named.
    assert_eq!(reaches(&[socket.clone(), pipe]), "");
    assert!(listener.accept().is_err());
    // The test can tell: with the directory it is reached.
    assert_eq!(reaches(&[place.path().to_owned()]), "seen\nseen\nreached\n");
}

#[test]
fn the_workspace_lies_where_it_is_wanted() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(home.path().join("project")).unwrap();
    fs::write(home.path().join("project/host"), "").unwrap();
    for target in [home.path().join("project"), "/workspace".into(), "/tmp/a/b".into()] {
        let mut scene = Scene::new();
        scene.home = Some(home.path().to_owned());
        scene.target = target.clone();
        let outcome = scene.shell("pwd; ls; touch new; touch /nowhere 2>/dev/null && echo bad");
        assert_eq!(outcome.stdout, format!("{}\nfile\n", target.display()), "{}", outcome.stderr);
        assert!(scene.upper().join("new").exists());
        assert!(!outcome.ended.busy);
    }
}

#[test]
fn what_is_hidden_is_empty() {
    let vaults = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(vaults.path().join("catalog"), "secret").unwrap();
    let mut scene = Scene::new();
    // A file of a directory that is shown.
    scene.shown.push(vaults.path().to_owned());
    scene.hidden = vec![vaults.path().join("catalog")];
    let outcome = scene.shell(&format!("ls {0}; cat {0}/catalog", vaults.path().display()));
    assert_eq!(outcome.stdout, "catalog\n", "{}", outcome.stderr);
    // A file of the command's own takes its place, and cannot be taken away.
    let mut scene = Scene::new();
    scene.shown.push(vaults.path().to_owned());
    scene.hidden = vec![vaults.path().join("catalog")];
    let content = b"harmless\n".to_vec();
    let path = vaults.path().join("catalog");
    scene.files = vec![WrittenFile { path, content, modified: None }];
    let outcome = scene.shell(&format!(
        "cat {0}/catalog; rm -f {0}/catalog; echo x >{0}/catalog; cat {0}/catalog",
        vaults.path().display()
    ));
    assert_eq!(outcome.stdout, "harmless\nharmless\n", "{}", outcome.stderr);
    let mut scene = Scene::new();
    scene.hidden = vec![vaults.path().to_owned()];
    let outcome =
        scene.shell(&format!("ls -A {0}; cat {0}/catalog; touch {0}/x", vaults.path().display()));
    assert_eq!(outcome.stdout, "");
    assert_ne!(outcome.ended.status, Status::Exited(0));
}

#[test]
fn a_read_only_workspace_cannot_be_written() {
    let outcome = Scene { read_only: true, ..Scene::new() }.shell("cat file; echo x > file");
    assert_eq!(outcome.stdout, "below\n");
    assert!(outcome.stderr.contains("Read-only file system"), "{}", outcome.stderr);
}

#[test]
fn devices_are_the_usual_ones() {
    let outcome = Scene::new().shell(
        "ls /dev | tr '\\n' ' '; head -c 4 /dev/zero | wc -c; echo x > /dev/null; echo y > /dev/stderr",
    );
    assert_eq!(
        outcome.stdout,
        "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero 4\n"
    );
    assert_eq!(outcome.stderr, "y\n");
}

#[test]
fn the_init_cannot_be_looked_into_or_killed() {
    let outcome =
        Scene::new().shell("kill -9 1; kill -TERM 1; ls /proc/1/fd 2>&1 | wc -l; echo alive");
    assert!(outcome.stdout.ends_with("alive\n"), "{}", outcome.stdout);
    assert_eq!(outcome.ended.status, Status::Exited(0));
}
