//! Layers are merged by hand and behind the back of commands, and nobody sees a difference or waits.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of, in_background};
use offshoot_tests::scan::{CompareOptions, compare, scan};
use offshoot_tests::tier::Tier;
use offshoot_tests::user::{User, give_away};
use serde_json::Value;

use crate::transcript::{Transcript, demo_vault};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a text in the workspace `fix` and gives the envelope's result.
fn shell(place: &Place, settings: &[&str], text: &str) -> Value {
    let mut command = place.command(["exec", "-w", "fix", "--json"]);
    for setting in settings {
        command.args(["-c", setting]);
    }
    let document = document_of(&command.args(["--shell", text]).output().unwrap());
    assert_eq!(document["success"], true, "{document}");
    assert_eq!(document["result"]["driver"], "overlay", "{document}");
    document["result"].clone()
}

/// How many layers the workspace `fix` has, found by merging them.
fn layers(place: &Place) -> u64 {
    let done = place.json(&["vault", "compact", "-w", "fix", "--all"]);
    done["stacks"]
        .as_array()
        .unwrap()
        .first()
        .map_or(2, |first| first["layers_before"].as_u64().unwrap())
}

#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what} takes too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn wait_for_background(place: &Place) {
    wait_until("merging", || in_background(&place.home()).is_empty());
}

#[needs(Overlay, UserNamespace)]
#[test]
fn compaction_for_people() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["vault", "compact"]);
    for step in ["echo one > one", "echo two > two", "rm one; echo more >> two"] {
        shell(&place, &[], step);
    }
    transcript.run(&["vault", "compact", "-w", "fix"]);
    transcript.run(&["vault", "compact", "-w", "nothing"]);
    transcript.run(&["vault", "compact", "-w", "fix", "--all"]);
    transcript.run(&["vault", "compact", "--all"]);
    transcript.run(&["vault", "compact", "nothing"]);
    transcript.run(&["vault", "compact", "--detach"]);
    wait_for_background(&place);
    transcript.run(&["vault", "check"]);
    assert_snapshot!(transcript.finish());
}

#[needs(Overlay, UserNamespace)]
#[test]
fn compaction_for_programs() {
    let place = demo_vault();
    for step in 0..3 {
        shell(&place, &[], &format!("echo {step} > new; echo {step} > src/new"));
    }
    let mut transcript = Transcript::new(&place);
    transcript.json(&["vault", "compact"]);
    transcript.json(&["vault", "compact", "--all"]);
    transcript.json(&["vault", "compact", "--detach"]);
    wait_for_background(&place);
    assert_snapshot!(transcript.finish());
}

#[needs(Overlay, UserNamespace)]
#[test]
fn commands_start_it_when_it_is_due() {
    let place = demo_vault();
    let settings = ["compact.auto=true", "compact.depth=3"];
    for step in 0..10 {
        shell(&place, &settings, &format!("echo {step} >> log; echo {step} > new-{step}"));
        if step == 2 {
            wait_for_background(&place);
            assert_eq!(fs::read_dir(layers_dir(&place)).unwrap().count(), 5, "not due before");
        }
    }
    wait_for_background(&place);
    assert!(layers(&place) <= 4);
    let result = shell(&place, &[], "cat log; ls new-* | wc -l");
    assert_eq!(result["stdout"], "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
}

fn layers_dir(place: &Place) -> PathBuf {
    let vaults = fs::read_dir(place.home().join("vaults")).unwrap();
    vaults.map(|vault| vault.unwrap().path().join("layers")).next().unwrap()
}

#[needs(Overlay, UserNamespace)]
#[test]
fn commands_do_not_start_it_where_they_should_not() {
    let place = demo_vault();
    for step in 0..6 {
        let settings = ["compact.auto=false", "compact.depth=2"];
        shell(&place, &settings, &format!("echo {step} > new-{step}"));
        assert!(in_background(&place.home()).is_empty());
    }
    assert_eq!(layers(&place), 7);
}

#[needs(Overlay, UserNamespace)]
#[test]
fn how_many_layers_there_may_be() {
    let place = demo_vault();
    for step in 0..6 {
        shell(&place, &[], &format!("echo {step} > new-{step}"));
    }
    let merged = |setting: &str| -> usize {
        let done = place.json(&["-c", setting, "vault", "compact", "-w", "fix"]);
        done["stacks"].as_array().unwrap().len()
    };
    assert_eq!(merged("compact.depth=7"), 0);
    assert_eq!(merged("compact.depth=6"), 1);
    let error = place.json_error(&["-c", "compact.depth=1", "vault", "compact"], 2);
    assert!(error["message"].as_str().unwrap().contains("compact.depth"), "{error}");
}

/// A process that merges is stopped in the middle of it: commands go on, and what they leave is merged afterwards.
#[needs(Overlay, UserNamespace)]
#[test]
fn no_command_waits_for_it() {
    let place = demo_vault();
    for step in 0..3 {
        shell(&place, &[], &format!("for n in $(seq 400); do echo {step} > f-$n; done"));
    }
    let before = fs::read_dir(layers_dir(&place)).unwrap().count();
    let mut merging = place.command(["vault", "compact", "-w", "fix", "--all", "--json"]);
    let merging = merging.stdout(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_raw(merging.id() as i32);
    // While it writes its layer it holds no lock of the catalog.
    wait_until("writing", || {
        let names = fs::read_dir(layers_dir(&place)).unwrap().map(|name| name.unwrap().path());
        names
            .into_iter()
            .any(|path| path.to_string_lossy().ends_with(".tmp") && path.join("fs/f-1").exists())
    });
    kill(pid, Signal::SIGSTOP).unwrap();
    assert_eq!(
        fs::read_dir(layers_dir(&place)).unwrap().count(),
        before + 1,
        "it is being written"
    );
    let start = Instant::now();
    shell(&place, &[], "echo meanwhile > meanwhile; rm f-7");
    assert!(start.elapsed() < PATIENCE / 4);
    let error = place.json_error(&["vault", "compact", "--all"], 8);
    assert_eq!(error["code"], "busy");
    kill(pid, Signal::SIGCONT).unwrap();
    let done = document_of(&merging.wait_with_output().unwrap());
    assert_eq!(done["result"]["stacks"][0]["layers_before"], 4, "{done}");
    let result = shell(&place, &[], "cat meanwhile f-9; ls | grep -c f-");
    assert_eq!(result["stdout"], "meanwhile\n2\n399\n");
    assert!(layers(&place) <= 3, "what was left meanwhile stands upon what was merged");
    place.ok(["vault", "check"]);
}

/// Large files stay where they are; root and an ordinary user see what a plain copy shows, and can write to it.
#[needs(Overlay, DataLayers, UserNamespace)]
#[test]
fn large_files_are_not_copied() {
    large_files(None);
}

#[needs(Overlay, DataLayers, UserNamespace)]
#[test]
fn large_files_of_an_ordinary_user_are_not_copied() {
    let user = User::new();
    large_files(Some(&user));
}

fn large_files(user: Option<&User>) {
    let place = demo_vault_of(user);
    let command = |arguments: &[&str]| -> Command {
        match user {
            Some(user) => user.command(&place, arguments),
            None => place.command(arguments),
        }
    };
    let exec = |text: &str| -> Value {
        let run = command(&["exec", "-w", "fix", "--json", "--shell", text]).output().unwrap();
        let document = document_of(&run);
        assert_eq!(document["result"]["driver"], "overlay", "{document}");
        document["result"].clone()
    };
    exec(
        "mkdir big; for n in 1 2 3 4 5 6 7 8; do yes $n | head -c 3000000 > big/$n; done; ln big/8 linked",
    );
    exec("yes changed | head -c 3000000 > big/2; chmod 0600 big/3; rm big/4; mkdir big/4");
    exec("yes again | head -c 2000000 > big/4/inner; chmod 0 big/5; echo end >> big/6");
    // Overlayfs counts one link of a directory that several layers have, whatever is in it.
    let stats = "stat -c '%n %s %a %Y %h %b' big/[1-35-8] big/4/inner linked; cksum big/[1-367] big/8 linked";
    let before = exec(&format!("{stats}; :"))["stdout"].clone();
    let merged = document_of(&command(&["vault", "compact", "--all", "--json"]).output().unwrap());
    let stack = &merged["result"]["stacks"][0];
    assert_eq!((&stack["way"], &stack["layers_after"]), (&"flatten".into(), &1.into()), "{merged}");
    assert!(stack["bytes_copied"].as_u64().unwrap() < 100_000, "{merged}");
    assert!(stack["data_layers"].as_u64().unwrap() >= 3, "{merged}");
    assert_eq!(exec(&format!("{stats}; :"))["stdout"], before);
    // Writes go to copies, through any name of a file.
    exec(
        "echo more >> linked; chmod 0640 big/1; chmod 0600 big/5; echo x > big/5; rm big/7; mv big/3 third",
    );
    let result = exec("tail -n1 big/8; stat -c '%a %s' big/1; cat big/5; ls; head -n1 third");
    let listed = "more\n640 3000000\nx\nREADME.md\nbig\nguide\nlinked\nrun.sh\nsrc\nthird\n3\n";
    assert_eq!(result["stdout"], listed);
    let checked = command(&["vault", "check"]).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

fn demo_vault_of(user: Option<&User>) -> Place {
    let Some(user) = user else { return demo_vault() };
    let place = crate::transcript::demo();
    give_away(place.path());
    user.ok(&place, &["init"]);
    user.ok(&place, &["workspace", "create", "fix"]);
    place
}

/// More commands than the kernel stacks layers: none of them works on a copy.
#[needs(Overlay, UserNamespace)]
#[test]
fn a_long_life() {
    let place = demo_vault();
    let (count, depth) = Tier::from_env().pick((30, 4), (520, 16));
    let depth = format!("compact.depth={depth}");
    for step in 0..count {
        let text = format!(
            "echo {step} >> log; echo {step} > dir-{0}-file; mkdir -p d{0}/e; \
             seq {step} > d{0}/e/{1}; rm -rf d{2}",
            step % 7,
            step % 5,
            (step + 3) % 7
        );
        shell(&place, &["compact.auto=true", &depth], &text);
    }
    wait_for_background(&place);
    let result = shell(&place, &["compact.auto=false"], "wc -l < log");
    assert_eq!(result["stdout"], format!("{count}\n"));
    let (out, seen) = (place.path().join("out"), place.path().join("seen"));
    place.ok(["fs", "export", "/", out.to_str().unwrap(), "-w", "fix"]);
    // The same files through a mounted workspace, packed there and unpacked here.
    let packed = place.run(["exec", "-w", "fix", "-q", "--", "tar", "-cf", "-", "."]);
    fs::create_dir(&seen).unwrap();
    fs::write(place.path().join("seen.tar"), packed.stdout).unwrap();
    let mut unpack = Command::new("tar");
    let unpacked = unpack.arg("-xpf").arg(place.path().join("seen.tar")).arg("-C").arg(&seen);
    assert!(unpacked.status().unwrap().success());
    let options = CompareOptions {
        mtimes: false,
        directory_mtimes: false,
        top: false,
        owners: false,
        ..CompareOptions::default()
    };
    let differences = compare(&scan(&out).unwrap(), &scan(&seen).unwrap(), &options);
    assert!(differences.is_empty(), "{differences:?}");
    place.ok(["vault", "check"]);
}

/// A kernel that cannot take the bytes of a file from another layer, as its note in the vault says, gets all of them; what
/// was noted before the machine was started anew counts for nothing.
#[needs(Overlay, DataLayers, UserNamespace)]
#[test]
fn a_kernel_that_cannot_gets_copies() {
    let place = demo_vault();
    for step in 0..3 {
        shell(&place, &[], &format!("yes {step} | head -c 9000000 > big-{step}"));
    }
    let done = place.json(&["vault", "compact", "--all"]);
    assert_eq!(done["stacks"][0]["way"], "flatten", "{done}");
    let note = layers_dir(&place).with_file_name("cache").join("data-layers");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert_eq!(fs::read_to_string(&note).unwrap(), format!("{boot}yes"));
    // Layers in which all of the last file lies.
    let whole = || {
        let files = fs::read_dir(layers_dir(&place)).unwrap().map(|dir| dir.unwrap().path());
        let files = files.filter_map(|dir| fs::metadata(dir.join("fs/big-2")).ok());
        files.filter(|file| file.blocks() * 512 >= file.len()).count()
    };
    assert_eq!(whole(), 1);
    fs::write(&note, "of another start\nno").unwrap();
    let sum = shell(&place, &[], "cksum big-*")["stdout"].clone();
    assert_eq!(fs::read_to_string(&note).unwrap(), format!("{boot}yes"), "it was tried again");
    assert_eq!(whole(), 1);
    fs::write(&note, format!("{boot}no")).unwrap();
    assert_eq!(shell(&place, &[], "cksum big-*")["stdout"], sum);
    assert_eq!(whole(), 2, "a stack without layers of bytes was built");
    shell(&place, &[], "echo more > more");
    shell(&place, &[], "echo more >> more");
    let done = place.json(&["vault", "compact", "--all"]);
    assert_eq!(done["stacks"][0]["way"], "merge", "{done}");
    place.ok(["vault", "check"]);
}
