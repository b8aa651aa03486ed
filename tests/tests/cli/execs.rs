//! `exec`, `execs`, `logs` and `show EXEC`.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of, with_json};
use offshoot_tests::schema;
use serde_json::{Value, json};

use crate::damage::directory;
use crate::transcript::{Transcript, demo, demo_vault};

/// Whether commands can be confined here.
/// Runs `exec --json` and gives the whole envelope, whatever became of it.
fn envelope(place: &Place, arguments: &[&str]) -> Value {
    document_of(&place.run(with_json(&[&["exec"], arguments].concat())))
}

fn shell(place: &Place, text: &str) -> Value {
    envelope(place, &["-w", "fix", "--shell", text])
}

#[needs(UserNamespace)]
#[test]
fn execs_for_people() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    transcript.run(&[
        "exec",
        "-w",
        "fix",
        "--",
        "sh",
        "-c",
        "echo hi > f; rm run.sh; echo out; echo err >&2",
    ]);
    transcript.run(&["exec", "-w", "fix", "--", "sh", "-c", "exit 3"]);
    transcript.run(&["exec", "-w", "fix", "--quiet", "--", "true"]);
    transcript.run(&["exec", "-w", "fix", "--", "no-such-command"]);
    transcript.run(&["exec", "-w", "fix", "--timeout", "100ms", "--shell", "echo begun; sleep 30"]);
    transcript.run(&["exec", "-w", "no/thing", "--", "true"]);
    transcript.run(&["proxy", "exec", "-w", "fix", "--", "cat", "f"]);
    transcript.run_with(&["exec", "-w", "fix", "-i", "--", "wc", "-c"], "four");
    transcript.run(&["execs"]);
    transcript.run(&["execs", "-w", "fix", "-n", "1"]);
    let first = place.json(&["execs"])["execs"].as_array().unwrap().last().unwrap()["exec"].clone();
    transcript.run(&["show", first.as_str().unwrap()]);
    transcript.run(&["logs", first.as_str().unwrap()]);
    transcript.run(&["logs", "01zzzz"]);
    transcript.run(&["undo", "-w", "fix"]);
    assert_snapshot!(transcript.finish());
}

#[needs(UserNamespace)]
#[test]
fn execs_for_programs() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    let done = transcript.json(&[
        "exec",
        "-w",
        "fix",
        "--diff",
        "--",
        "sh",
        "-c",
        "echo hi > f; chmod 600 README.md",
    ]);
    transcript.json(&["exec", "-w", "fix", "--", "no-such-command"]);
    transcript.json(&["exec", "-w", "no/thing", "--", "true"]);
    transcript.json(&["exec", "-w", "fix", "--read-only", "--", "touch", "f"]);
    transcript.json(&["execs"]);
    let id = done["result"]["exec"].as_str().unwrap();
    transcript.json(&["show", id]);
    transcript.json(&["logs", id]);
    assert_snapshot!(transcript.finish());
}

#[needs(UserNamespace)]
#[test]
fn the_first_use_makes_a_vault_and_the_folder_is_untouched() {
    let place = demo();
    let done = envelope(&place, &["--", "sh", "-c", "echo hi > f"]);
    assert_eq!(done["success"], true, "{done}");
    assert!(done["notes"][0].as_str().unwrap().starts_with("created vault project for "));
    let changed = done["result"]["changed_files"].as_array().unwrap();
    assert_eq!(changed.len(), 1, "{done}");
    assert_eq!((&changed[0]["path"], &changed[0]["kind"]), (&"/f".into(), &"added".into()));
    assert!(!place.project().join("f").exists());
    assert_eq!(done["result"]["forked"], true);
    // A fork starts from what is in the folder now; a workspace that is named stays as it is.
    place.write("new", "1");
    let next = envelope(&place, &["--", "cat", "new"]);
    assert_eq!(next["result"]["stdout"], "1");
    let name = done["result"]["workspace"].as_str().unwrap();
    let old = envelope(&place, &["-w", name, "--", "cat", "new"]);
    assert_eq!(old["success"], false);
    let stale = envelope(&place, &["-c", "exec.refresh=false", "--", "cat", "new"]);
    assert_eq!(stale["success"], true, "{stale}");
    place.write("newer", "2");
    let stale = envelope(&place, &["-c", "exec.refresh=false", "--", "cat", "newer"]);
    assert_eq!(stale["success"], false, "{stale}");
}

#[needs(UserNamespace)]
#[test]
fn the_folder_below_is_where_a_command_starts() {
    let place = demo_vault();
    let mut command = place.command(["exec", "-w", "fix", "--json", "--", "pwd"]);
    command.current_dir(place.project().join("src"));
    let done = document_of(&command.output().unwrap());
    let expected = place.project().canonicalize().unwrap().join("src");
    assert_eq!(done["result"]["stdout"], format!("{}\n", expected.display()));
    let src = envelope(&place, &["-w", "fix", "--cwd", "src", "--", "ls"]);
    assert_eq!(src["result"]["stdout"], "lib.rs\nmain.rs\n");
    let out = envelope(&place, &["-w", "fix", "--cwd", "../..", "--", "ls"]);
    assert_eq!(out["result"]["error"]["code"], "usage", "{out}");
    let none = envelope(&place, &["-w", "fix", "--cwd", "absent", "--", "ls"]);
    assert!(none["result"]["error"]["message"].as_str().unwrap().contains("absent"), "{none}");
}

#[needs(UserNamespace)]
#[test]
fn only_listed_variables_reach_a_command() {
    let place = demo_vault();
    let arguments = ["exec", "-w", "fix", "--json", "-e", "GIVEN=a=b", "-e", "NAMED", "--", "env"];
    let mut command = place.command(arguments);
    command.env("SECRET_TOKEN", "x").env("NAMED", "y").env("LC_ALL", "C");
    let done = document_of(&command.output().unwrap());
    let text = done["result"]["stdout"].as_str().unwrap();
    for line in ["GIVEN=a=b", "NAMED=y", "LC_ALL=C", "OFFSHOOT=1"] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert!(!text.contains("SECRET_TOKEN"), "{text}");
    assert_eq!(done["notes"], Value::Null, "{done}");
    // Whoever names one that is not set is told so.
    for name in ["UNSET", "UNSET_*"] {
        let output = place.run(["exec", "-w", "fix", "-e", name, "-e", "HO*", "--", "env"]);
        let said = String::from_utf8(output.stderr).unwrap();
        let told = format!("-e {name}: no such variable is set, so none is passed on\n");
        assert!(said.contains(&told) && !said.contains("HO*"), "{said}");
    }
}

/// No time at all is no limit, as in the settings.
#[needs(UserNamespace)]
#[test]
fn a_timeout_of_0_is_none() {
    let place = demo_vault();
    for time in ["0", "0s", "none"] {
        let words =
            ["-w", "fix", "-c", "exec.timeout=200ms", "--timeout", time, "--", "sleep", "1"];
        let done = envelope(&place, &words);
        assert_eq!(done["result"]["exit_code"], 0, "{time}: {done}");
    }
}

#[needs(UserNamespace)]
#[test]
fn a_stream_tells_things_as_they_happen() {
    let place = demo_vault();
    let output =
        place.run(["exec", "-w", "fix", "--stream", "--shell", "echo a; echo b >&2; exit 4"]);
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8(output.stdout).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in &events {
        let problems = schema::problems_of("exec.event", event);
        assert!(problems.is_empty(), "{event}: {problems:?}");
    }
    let first = &events[0];
    assert_eq!((&first["event"], &first["workspace"]), (&"started".into(), &"fix".into()));
    let last = events.last().unwrap();
    assert_eq!(last["event"], "finished");
    assert_eq!(last["envelope"]["result"]["exit_code"], 4);
    assert!(events.iter().any(|e| e["event"] == "stdout" && e["data"] == "a\n"), "{text}");
    assert!(events.iter().any(|e| e["event"] == "stderr" && e["data"] == "b\n"), "{text}");
}

#[needs(UserNamespace)]
#[test]
fn a_busy_workspace_is_told_or_waited_for() {
    let place = demo_vault();
    // It ends when it is told to, however busy the machine is.
    let mut long = place.command(["exec", "-i", "-w", "fix", "--stream", "--shell"]);
    let long = long.arg("read word; echo $word > slow").stdin(Stdio::piped());
    let mut long = long.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut reader = std::io::BufReader::new(long.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
    let busy = shell(&place, "true");
    assert_eq!(busy["result"]["error"]["code"], "busy", "{busy}");
    assert_eq!(place.run(["exec", "-w", "fix", "--", "true"]).status.code(), Some(125));
    let short = envelope(&place, &["-w", "fix", "--wait=50ms", "--", "true"]);
    assert_eq!(short["result"]["error"]["code"], "busy", "{short}");
    let mut waiting = place.command(["exec", "-w", "fix", "--wait", "--", "cat", "slow"]);
    let waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut waiting = waiting.spawn().unwrap();
    let mut said = String::new();
    let mut stderr = std::io::BufReader::new(waiting.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut stderr, &mut said).unwrap();
    assert!(said.starts_with("waiting for workspace fix, in use by process "), "{said}");
    assert!(said.contains("read word"), "{said}");
    std::io::Write::write_all(&mut long.stdin.take().unwrap(), b"x\n").unwrap();
    assert_eq!(waiting.wait_with_output().unwrap().stdout, b"x\n");
    long.wait().unwrap();
}

#[needs(UserNamespace)]
#[test]
fn a_change_beside_a_running_command_loses_nothing() {
    let place = demo_vault();
    let mut long =
        place.command(["exec", "-w", "fix", "--stream", "--shell", "echo x > slow; sleep 1"]);
    let mut long = long.stdout(Stdio::piped()).spawn().unwrap();
    let mut reader = std::io::BufReader::new(long.stdout.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
    // Others are kept out of the workspace by its lock; a program that does not ask is not.
    fs::remove_dir_all(directory(&place).join("locks")).unwrap();
    place.ok_with(["fs", "write", "/beside", "-w", "fix"], b"y");
    line.clear();
    std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
    assert_eq!(long.wait().unwrap().code(), Some(125));
    let done: Value = serde_json::from_str(&line).unwrap();
    let error = &done["envelope"]["result"]["error"];
    assert_eq!(error["code"], "conflict", "{done}");
    let checkpoint = error["message"].as_str().unwrap().rsplit(' ').next().unwrap();
    assert_eq!(place.ok(["fs", "cat", "/beside", "-w", "fix"]), "y");
    assert_eq!(place.ok(["fs", "cat", "/slow", "--at", &format!("fix@{checkpoint}")]), "x\n");
}

#[needs(UserNamespace)]
#[test]
fn an_interrupt_ends_the_command_and_keeps_its_changes() {
    let place = demo_vault();
    let mut child = place
        .command(["exec", "-w", "fix", "--stream", "--shell", "echo x > begun; echo on; sleep 60"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"stdout\"") {
        line.clear();
        std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
    }
    let started = Instant::now();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    line.clear();
    std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
    child.wait().unwrap();
    assert!(started.elapsed() < Duration::from_secs(20));
    let done: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(done["envelope"]["result"]["interrupted"], true, "{done}");
    assert_eq!(place.ok(["fs", "cat", "/begun", "-w", "fix"]), "x\n");
}

/// What the envelope says of the sandbox is what was found there, and not what holds for most commands.
#[needs(UserNamespace)]
#[test]
fn the_envelope_says_what_was_in_force() {
    let place = demo_vault();
    let sandbox = |options: &[&str]| {
        // One that policy judged read-only would have its workspace so.
        let arguments = [&["-w", "fix"], options, &["--", "sh", "-c", "\"$0\"", "true"]].concat();
        envelope(&place, &arguments)["result"]["sandbox"].clone()
    };
    let has = |sandbox: &Value, list: &str, word: &str| {
        sandbox[list].as_array().unwrap().iter().any(|one| one == word)
    };
    let usual = sandbox(&["--driver", "overlay"]);
    let limits = &usual["limits"];
    let machine = rustix::system::sysinfo();
    let three_quarters = machine.totalram as u64 * u64::from(machine.mem_unit) / 4 * 3;
    let expected = json!({
        "processes": 4096, "file_size": null, "memory": three_quarters, "cpu_ms": null, "tmpfs": null
    });
    assert_eq!(limits, &expected, "{usual}");
    assert_eq!((&usual["network"], &usual["broker"]), (&json!("none"), &json!(true)), "{usual}");
    assert!(has(&usual, "namespaces", "net"), "{usual}");
    assert_eq!(usual["writable"].as_array().unwrap().len(), 1, "{usual}");
    assert!(usual["landlock_abi"].as_u64() > Some(0), "{usual}");
    for restriction in [
        "read_only_root",
        "no_new_privs",
        "no_capabilities",
        "minimal_dev",
        "masked_sysfs",
        "landlock",
        "seccomp",
        "own_keyring",
    ] {
        assert!(has(&usual, "restrictions", restriction), "{usual}");
    }
    assert_eq!(sandbox(&["-c", "exec.broker=false"])["broker"], false);
    assert_eq!(sandbox(&["--driver", "copy"])["broker"], false);
    let host = sandbox(&["--net", "host"]);
    assert!(host["network"] == "host" && !has(&host, "namespaces", "net"), "{host}");
    assert_eq!(sandbox(&["--read-only"])["writable"], json!([]));
    let limited = sandbox(&["-c", "exec.max_memory=1GiB", "-c", "exec.max_file_size=4KiB"]);
    let limits = &limited["limits"];
    assert_eq!(
        (&limits["file_size"], &limits["memory"]),
        (&json!(4096), &json!(1 << 30)),
        "{limited}"
    );
    let flags = sandbox(&[
        "--processes",
        "500",
        "--cpu",
        "90s",
        "--memory",
        "2GiB",
        "-c",
        "exec.max_tmpfs=1MiB",
    ]);
    let expected = json!({
        "processes": 500, "file_size": null, "memory": 2_u64 << 30, "cpu_ms": 90_000, "tmpfs": 1 << 20
    });
    assert_eq!(flags["limits"], expected, "{flags}");
}

/// The envelope, the last line and the listing name the limit that a command reached.
#[needs(UserNamespace, "python3")]
#[test]
fn a_limit_that_was_reached_is_named() {
    let place = demo_vault();
    let hog = "python3 -c 'import time; block = bytearray(200 << 20); time.sleep(20)'";
    let bomb = "for i in $(seq 100); do sleep 20 & done; sleep 20";
    let busy = "while :; do :; done";
    let big = "head -c 9000 /dev/zero > big";
    for (options, text, limit, line) in [
        (&["--memory", "100MiB"][..], hog, "memory", "memory limit of 100.0 MiB; command killed"),
        (&["--processes", "30"], bomb, "processes", "reached the limit of 30 processes"),
        (&["--processes", "1"], "true | true", "processes", "reached the limit of 1 process;"),
        (&["--cpu", "1s"], busy, "cpu", "used its 1s of processor time; command killed"),
        (&["-c", "exec.max_file_size=4KiB"], big, "file_size", "file size limit of 4.0 KiB"),
    ] {
        // On a busy machine a second of processor time takes a while.
        let timeout = if limit == "cpu" { "5m" } else { "5s" };
        let arguments =
            [&["--timeout", timeout, "-w", "fix"][..], options, &["--shell", text]].concat();
        let result = envelope(&place, &arguments)["result"].clone();
        assert_eq!(result["limit_reached"], limit, "{result}");
        let arguments =
            [&["exec", "--timeout", timeout, "-w", "fix"][..], options, &["--shell", text]];
        let told = place.run(arguments.concat());
        let told = String::from_utf8_lossy(&told.stderr).into_owned();
        assert!(told.contains(line), "{told}");
    }
    let free = envelope(&place, &["-w", "fix", "--", "true"])["result"].clone();
    assert_eq!(free["limit_reached"], Value::Null, "{free}");
}

/// A private directory that is full is named; programs only say that there is no space.
#[needs(UserNamespace)]
#[test]
fn a_full_private_directory_is_named() {
    let place = demo_vault();
    for path in ["/tmp", "~"] {
        let text = format!("head -c 9000000 /dev/zero > {path}/big");
        let output =
            place.run(["exec", "-w", "fix", "-c", "exec.max_tmpfs=1MiB", "--shell", &text]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(" was full: ") && said.contains("exec.max_tmpfs"), "{said}");
    }
}

/// A limit that no program can run with is a slip.
#[test]
fn too_little_memory_is_refused() {
    let place = demo_vault();
    let output = place.run(["exec", "--memory", "100", "--", "true"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("100 bytes are too few") && said.contains("1MiB"), "{said}");
}

/// A limit that the caller has already is the one in force.
#[needs(UserNamespace)]
#[test]
fn the_lower_limit_is_the_one_in_force() {
    let place = demo_vault();
    let command = place.command(["exec", "-w", "fix", "--json", "-c", "exec.max_file_size=64GiB"]);
    let mut limited = std::process::Command::new("/bin/sh");
    limited.args(["-c", "ulimit -f 16000000 && exec \"$@\"", "sh"]).arg(command.get_program());
    limited.args(command.get_args()).args(["--", "true"]);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited.current_dir(command.get_current_dir().unwrap_or(&place.project()));
    let document = document_of(&limited.output().unwrap());
    let limits = &document["result"]["sandbox"]["limits"];
    assert_eq!(limits["file_size"], 16_000_000_u64 * 512, "{document}");
}

#[needs(UserNamespace)]
#[test]
fn settings_of_exec_are_kept_to() {
    let place = demo_vault();
    let with = |setting: &str, text: &str| {
        envelope(&place, &["-w", "fix", "-c", setting, "--shell", text])["result"].clone()
    };
    let cut = with("exec.output_limit=4", "echo 123456789");
    assert_eq!((&cut["stdout"], &cut["truncated"]["stdout_bytes"]), (&"1234".into(), &6.into()));
    assert_eq!(with("exec.timeout=100ms", "sleep 30")["timed_out"], true);
    let big =
        with("exec.max_file_size=4KiB", "trap '' XFSZ; head -c 9000 /dev/zero > big; wc -c < big");
    assert_eq!(big["stdout"], "4096\n");
    // Longer than without the setting, so that a busy machine cannot hide that it is ignored.
    let deaf = "trap '' TERM; while :; do sleep 0.1; done";
    let arguments = ["-w", "fix", "-c", "exec.grace=3s", "--timeout", "100ms", "--shell", deaf];
    let result = envelope(&place, &arguments)["result"].clone();
    assert_eq!(result["timed_out"], true);
    assert!(result["duration_ms"].as_u64().unwrap() >= 3_000, "{result}");
    fs::write(place.project().join("one"), "1").unwrap();
    fs::hard_link(place.project().join("one"), place.project().join("two")).unwrap();
    let linked = envelope(&place, &["--shell", "echo 2 >> one; cat two"]);
    assert_eq!(linked["result"]["stdout"], "12\n", "{linked}");
    let split =
        envelope(&place, &["-c", "exec.hard_link_bytes=0", "--shell", "echo 2 >> one; cat two"]);
    assert_eq!(split["result"]["stdout"], "1", "{split}");
    assert!(split["result"]["warnings"][0].as_str().unwrap().contains("hard links"), "{split}");
}

/// The patch comes behind what the command printed, and starts a line.
#[needs(UserNamespace)]
#[test]
fn a_patch_is_printed_where_it_is_asked_for() {
    let place = demo_vault();
    for print in ["echo out", "printf out"] {
        let script = format!("{print}; echo {} > n.txt", print.len());
        let output = place.run(["exec", "-w", "fix", "--diff", "--shell", &script]);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(printed.starts_with("out\ndiff --git a/n.txt b/n.txt\n"), "{output:?}");
        assert!(printed.contains(&format!("\n+{}\n", print.len())), "{output:?}");
    }
    let output = place.run(["exec", "-w", "fix", "--diff", "--", "echo", "out"]);
    assert_eq!(output.stdout, b"out\n", "{output:?}");
}

/// Keys to sign with are not there, so git signs only what it is told to sign.
#[needs(UserNamespace, "git")]
#[test]
fn git_does_not_sign_by_itself_inside() {
    let place = demo_vault();
    let settings = "[commit]\ngpgSign = true\n[tag]\ngpgSign = true\nforceSignAnnotated = true\n\
                    [gpg]\nprogram = /bin/false\n[include]\npath = ~/.config/me.inc\n";
    fs::write(place.path().join(".gitconfig"), settings).unwrap();
    fs::create_dir_all(place.path().join(".config")).unwrap();
    fs::write(place.path().join(".config/me.inc"), "[user]\nname = Me\nemail = me@x.test\n")
        .unwrap();
    let script = "git init -q r && cd r && git commit -q --allow-empty -m one && git tag -a -m t t && \
                  git log --format=%an && ! git commit -q -S --allow-empty -m two";
    let output = place.run(["exec", "-w", "fix", "--shell", script]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"Me\n", "{output:?}");
}
