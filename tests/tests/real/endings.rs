//! How commands end, and that nothing of them stays.

use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use offshoot_needs::needs;
use serde_json::json;

use crate::scene::{Scene, Who};

fn scene(who: Who) -> Scene {
    let scene = Scene::new(who);
    scene.place.write("file.txt", "file\n");
    scene.bind();
    scene
}

/// A number of seconds that no other sleep on this machine has.
fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("9{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed) + 1)
}

/// The processes that have an argument.
fn running(argument: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        path.file_name()?.as_bytes()[0].is_ascii_digit().then_some(path)
    });
    // A process that is gone by now is none.
    let lines = processes.filter_map(|path| std::fs::read(path.join("cmdline")).ok());
    let lines =
        lines.filter(|line| line.split(|byte| *byte == 0).any(|a| a == argument.as_bytes()));
    lines.map(|line| line.escape_ascii().to_string()).collect()
}

fn assert_gone(argument: &str) {
    let left = running(argument);
    assert!(left.is_empty(), "still there: {left:?}");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn exit_codes() {
    let scene = scene(Who::Me);
    for code in [0, 1, 2, 77, 124, 125, 126, 127, 200, 255] {
        let mut command = scene.offshoot(&["exec", "-w", "real", "--json", "--shell"]);
        let output = command.arg(format!("exit {code}")).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let envelope: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(envelope["result"]["exit_code"], code, "{envelope:#}");
        assert!(envelope["result"]["error"].is_null(), "{envelope:#}");
        assert_eq!(envelope["success"], code == 0, "{envelope:#}");
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn what_cannot_be_run() {
    let scene = scene(Who::Me);
    for (program, code) in
        [("no-such-program", 127), ("./file.txt", 126), ("./no-such-file", 127), ("/", 126)]
    {
        let output = scene.exec_command(&["-w", "real"], &[program]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{program}: {output:?}");
        let envelope = crate::scene::envelope_of(&output);
        assert_eq!(envelope["result"]["exit_code"], code, "{envelope:#}");
        assert!(!envelope["result"]["error"].is_null(), "{envelope:#}");
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn signals() {
    let scene = scene(Who::Me);
    for (name, number) in [("KILL", 9), ("TERM", 15), ("SEGV", 11), ("INT", 2), ("HUP", 1)] {
        let script = format!("echo before > {name}; echo said; kill -{name} $$; sleep 60");
        let output = scene.exec_command(&["-w", "real"], &["sh", "-c", &script]).output().unwrap();
        assert_eq!(output.status.code(), Some(128 + number), "{name}: {output:?}");
        let envelope = crate::scene::envelope_of(&output);
        let result = &envelope["result"];
        assert_eq!(result["signal"], number, "{envelope:#}");
        assert_eq!(result["stdout"], "said\n", "{envelope:#}");
        assert_eq!(result["changed_files"][0]["path"], format!("/{name}"), "{envelope:#}");
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn the_time_is_over() {
    over(Who::Me);
}

#[needs(Overlay, UserNamespace)]
#[test]
fn the_time_is_over_for_an_ordinary_user() {
    over(Who::Ordinary);
}

fn over(who: Who) {
    let scene = scene(who);
    let sleep = unique();
    // In the foreground, in the background, in a session of its own, and deaf to a polite request.
    let script = format!(
        "echo kept; echo file > kept; sleep {sleep} & setsid sleep {sleep} &
         (trap '' TERM; sleep {sleep}; sleep {sleep}) & sleep {sleep}"
    );
    let started = Instant::now();
    let options = ["-w", "real", "--timeout", "1s", "-c", "exec.grace=1s"];
    let output = scene.exec_command(&options, &["sh", "-c", &script]).output().unwrap();
    assert_gone(&sleep);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert_eq!(output.status.code(), Some(124), "{output:?}");
    let envelope = crate::scene::envelope_of(&output);
    assert_eq!(envelope["result"]["timed_out"], true, "{envelope:#}");
    assert_eq!(envelope["result"]["stdout"], "kept\n", "{envelope:#}");
    assert_eq!(scene.inside("cat kept").out, "file\n");
}

/// A command that ends leaves no daemon behind, and does not wait for one either.
#[needs(Overlay, UserNamespace)]
#[test]
fn daemons_end_with_the_command() {
    let scene = scene(Who::Me);
    let sleep = unique();
    // One holds on to the output, one has closed everything; both have left the session.
    let script = format!(
        "setsid sh -c 'sleep {sleep}; echo late > late' &
         (setsid sleep {sleep} > /dev/null 2>&1 < /dev/null &) ; echo started; sleep 0.2"
    );
    let started = Instant::now();
    let envelope = scene.exec(&[], &["sh", "-c", &script]);
    assert_gone(&sleep);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    let result = &envelope["result"];
    assert_eq!((&result["exit_code"], &result["stdout"]), (&json!(0), &json!("started\n")));
    assert!(result["warnings"][0].as_str().unwrap().contains("left running"), "{envelope:#}");
    assert_eq!(scene.inside("ls").out, "file.txt\n");
}

/// Whoever kills the product kills the command, and the workspace can be used again.
#[needs(Overlay, UserNamespace)]
#[test]
fn nothing_outlives_a_killed_product() {
    let scene = scene(Who::Me);
    for signal in [nix::sys::signal::SIGKILL, nix::sys::signal::SIGTERM, nix::sys::signal::SIGINT] {
        let sleep = unique();
        let script = format!("echo half > half; setsid sleep {sleep} & sleep {sleep}");
        let mut command = scene.exec_command(&["-w", "real"], &["sh", "-c", &script]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let child = command.spawn().unwrap();
        let limit = Instant::now() + Duration::from_secs(30);
        while running(&sleep).len() < 2 {
            assert!(Instant::now() < limit, "the command does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
        let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
        let output = child.wait_with_output().unwrap();
        // The kernel ends a tree of processes that lost its first one, in its own time.
        while !running(&sleep).is_empty() {
            assert!(Instant::now() < limit, "{signal}: still there: {:?}", running(&sleep));
            std::thread::sleep(Duration::from_millis(10));
        }
        if signal != nix::sys::signal::SIGKILL {
            let envelope = crate::scene::envelope_of(&output);
            assert_eq!(envelope["result"]["interrupted"], true, "{envelope:#}");
        }
        let envelope = scene.exec(&["--wait=30s"], &["cat", "file.txt"]);
        assert_eq!(envelope["result"]["stdout"], "file\n", "{envelope:#}");
    }
    scene.offshoot_ok(&["vault", "check"]);
}
