//! What the command sees and what it cannot do.

use std::fs;

use offshoot_sandbox::{HomeView, Limits, Network, Restriction, Status};

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

/// What is not about processes belongs to the whole machine. As root each of these was a way to change it.
#[test]
fn the_kernels_files_cannot_be_changed() {
    let text = "for f in /proc/sys/kernel/core_pattern /proc/sys/vm/swappiness /proc/sysrq-trigger \
                    /proc/irq/default_smp_affinity /proc/mtrr /proc/pressure/memory; do
                    test -e $f || continue
                    if (: >> $f) 2>/dev/null; then echo $f can be written; fi
                done
                find /proc -maxdepth 1 -not -name '[0-9]*' -not -type l -not -path /proc | while read f; do
                    chmod $(stat -c %a $f) $f 2>/dev/null && echo $f can be changed
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
    let outcome = Scene { limits, ..Scene::new() }.shell("touch /nowhere 2>/dev/null || ulimit -v");
    assert_eq!(outcome.stdout, "1048576\n");
    let told = outcome.in_force;
    assert_eq!(told.restrictions, Restriction::ALL);
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
        "cd {} && cat settings && echo theirs > settings && touch new",
        home.path().display()
    );
    let outcome = scene.shell(&text);
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("mine\n", ""));
    assert_eq!(outcome.in_force.home, HomeView::ThrowAway);
    assert_eq!(fs::read_to_string(home.path().join("settings")).unwrap(), "mine\n");
    assert!(!home.path().join("new").exists());
}

#[test]
fn a_home_below_a_private_directory_is_still_there() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("settings"), "mine\n").unwrap();
    let mut scene = Scene::new();
    scene.home = Some(home.path().to_owned());
    let outcome = scene.shell(&format!("cat {}/settings", home.path().display()));
    assert_eq!(outcome.stdout, "mine\n");
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
fn hidden_directories_are_empty() {
    let vaults = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(vaults.path().join("catalog"), "secret").unwrap();
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
fn limits_hold() {
    let limits = Limits {
        file_size: Some(4096),
        memory: Some(1 << 30),
        open_files: Some(64),
        processes: None,
    };
    let outcome = Scene { limits, ..Scene::new() }.shell(
        "ulimit -n; ulimit -v; ulimit -c; trap '' XFSZ; head -c 10000 /dev/zero > big; wc -c < big",
    );
    assert_eq!(outcome.stdout, "64\n1048576\n0\n4096\n", "{}", outcome.stderr);
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
