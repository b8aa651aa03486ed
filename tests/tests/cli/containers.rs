//! Systems that refuse a part of what confines commands: containers that hide parts of `/proc`, and those without namespaces.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Output;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use offshoot_tests::user::{User, give_away};
use serde_json::Value;

use crate::transcript::demo_vault;

/// As Docker does it: something lies over a part of `/proc`, and nobody inside can take it away.
const MASKED: &str = "mount --bind /dev/null /proc/timer_list 2>/dev/null || mount --bind /dev/null /proc/kmsg; exec \"$@\"";
/// As filters of containers and settings of distributions have it.
const NO_NAMESPACES: &str = "echo 0 > /proc/sys/user/max_user_namespaces; exec \"$@\"";

/// Runs the binary in a system that a script made poorer.
fn run(user: &User, place: &Place, poorer: &str, arguments: &[&str]) -> Output {
    let mut command = user.program(place, "unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", poorer, "sh"]);
    command.arg(user.binary()).args(arguments);
    command.output().expect("unshare can be run")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn project() -> (Place, User) {
    let place = demo_vault();
    place.write("kept.txt", "kept\n");
    fs::create_dir_all(place.path().join(".ssh")).unwrap();
    fs::write(place.path().join(".ssh/id_ed25519"), "the-key\n").unwrap();
    give_away(place.path());
    (place, User::new())
}

fn result(output: &Output) -> Value {
    document_of(output)["result"].clone()
}

fn gaps(result: &Value) -> Vec<&str> {
    result["sandbox"]["gaps"].as_array().unwrap().iter().map(|gap| gap.as_str().unwrap()).collect()
}

#[needs(UserNamespace, "unshare")]
#[test]
fn a_hidden_part_of_proc_is_an_error_unless_the_profile_says_otherwise() {
    let (place, user) = project();
    let refused = printed(&run(&user, &place, MASKED, &["exec", "--", "true"]));
    assert!(refused.contains("cannot mount a fresh /proc"), "{refused}");
    assert!(refused.contains("--sandbox container"), "{refused}");
    place.write(
        "look.sh",
        "for process in /proc/[0-9]*; do tr '\\0' '\\n' < $process/environ; done 2>/dev/null | grep -c OUTSIDE_ONLY\n\
         kill -9 1; echo changed > new; echo x > /proc/sys/kernel/hostname; true\n",
    );
    // Nobody can do without Landlock there, whatever the profile says.
    let settings = place.path().join(".config/offshoot");
    fs::create_dir_all(&settings).unwrap();
    let profile = "[profile.lax]\nfrom = \"container\"\nwalls = { landlock = \"off\" }\n";
    fs::write(settings.join("sandbox.toml"), profile).unwrap();
    give_away(place.path());
    let look = |profile: &str| {
        let mut command = user.program(&place, "unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c"]);
        // Others with the same user hold a secret in their variables; the command must not have it.
        let masked = MASKED.replace("exec \"$@\"", "\"$@\"; kill $!");
        command.arg(format!("OUTSIDE_ONLY=the-key sleep 60 & {masked}")).arg("sh");
        command.arg(user.binary()).args(["exec", "--json", "-w", "look", "--sandbox", profile]);
        command.args(["--", "sh", "look.sh"]).output().unwrap()
    };
    let lax = result(&look("lax"));
    assert_eq!(lax["stdout"], "0\n", "{lax}");
    assert!(lax["sandbox"]["landlock_abi"].is_u64(), "{lax}");
    assert!(user.run(&place, &["workspace", "delete", "look"]).status.success());
    let output = look("container");
    let result = result(&output);
    assert_eq!(result["exit_code"], 0, "{}", printed(&output));
    assert_eq!(result["stdout"], "0\n", "{result}");
    assert!(result["stderr"].as_str().unwrap().contains("Read-only file system"), "{result}");
    assert_eq!(result["changed_files"][0]["path"], "/new");
    assert_eq!(gaps(&result), ["names and arguments of all processes can be seen"]);
    assert!(result["warnings"][0].as_str().unwrap().contains("not protected in this container"));
    // What is there to be had is had: in a system that refuses nothing the same profile leaves no gap.
    let whole = user.run(&place, &["exec", "--json", "--sandbox", "container", "--", "true"]);
    assert_eq!(document_of(&whole)["result"]["sandbox"]["gaps"], Value::Null);
}

#[needs(UserNamespace, "unshare", "python3")]
#[test]
fn a_command_is_held_to_its_memory_where_all_processes_are_in_proc() {
    let (place, user) = project();
    place.write("eat.sh", "python3 -c 'import time; x = b\"x\" * (400 << 20); time.sleep(20)'\n");
    let arguments = ["exec", "--json", "--sandbox", "container", "--memory", "200MiB"];
    let output = run(&user, &place, MASKED, &[&arguments[..], &["--", "sh", "eat.sh"]].concat());
    assert_eq!(result(&output)["limit_reached"], "memory", "{}", printed(&output));
}

#[needs(UserNamespace, "unshare", "python3")]
#[test]
fn without_namespaces_rules_alone_keep_a_command_in() {
    let (place, user) = project();
    let refused = printed(&run(&user, &place, NO_NAMESPACES, &["exec", "--", "true"]));
    assert!(refused.contains("does not let you make user namespaces"), "{refused}");
    assert!(refused.contains("--sandbox container"), "{refused}");
    let socket = place.path().join("socket");
    let _host = UnixListener::bind(&socket).unwrap();
    give_away(place.path());
    place.write(
        "try.sh",
        format!(
            "home={}; cat $home/.ssh/id_ed25519; ls $home; echo x > $home/project/kept.txt; echo x > $home/new; echo x > /tmp/offshoot-new\n\
             python3 -c 'import socket; socket.socket().connect((\"127.0.0.1\", 9))'\n\
             python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{}\")'\n\
             kill $PPID && echo killed\n\
             cat /proc/$PPID/environ > /dev/null && echo read\n\
             echo changed > new; echo x > $TMPDIR/x && echo x > ~/x && echo private\n\
             (setsid sleep 300 & echo $! > left)\n",
            place.path().display(),
            socket.display(),
        ),
    );
    let arguments = ["exec", "--json", "-w", "try", "--sandbox", "container", "--", "sh", "try.sh"];
    let output = run(&user, &place, NO_NAMESPACES, &arguments);
    let result = result(&output);
    assert_eq!(result["exit_code"], 0, "{}", printed(&output));
    assert_eq!(result["stdout"], "private\n", "{result}");
    let errors = result["stderr"].as_str().unwrap();
    assert_eq!(errors.matches("ermission denied").count(), 8, "{errors}");
    assert_eq!(fs::read_to_string(place.project().join("kept.txt")).unwrap(), "kept\n");
    assert!(!place.path().join("new").exists());
    let sandbox = &result["sandbox"];
    assert_eq!((&sandbox["mode"], &sandbox["network"]), (&"rules".into(), &"none".into()));
    assert_eq!(sandbox["namespaces"], Value::Array(Vec::new()));
    assert!(gaps(&result).len() >= 4, "{sandbox}");
    assert!(result["warnings"][0].as_str().unwrap().contains("not protected in this container"));
    // What it wrote is the workspace's, and what it left running is gone.
    let changed: Vec<&str> = result["changed_files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["path"].as_str().unwrap())
        .collect();
    assert_eq!(changed, ["/left", "/new"]);
    let left = user.run(&place, &["fs", "cat", "-w", "try", "left"]);
    let left = String::from_utf8_lossy(&left.stdout).trim().to_owned();
    assert!(!left.is_empty() && !Path::new("/proc").join(&left).exists(), "{left}");
    let undone = user.run(&place, &["undo", "-w", "try"]);
    assert!(undone.status.success(), "{}", printed(&undone));
    // Hosts cannot be allowed one by one.
    let arguments = ["exec", "--sandbox", "container", "--net", "allow=example.com", "--", "true"];
    let refused = printed(&run(&user, &place, NO_NAMESPACES, &arguments));
    assert!(refused.contains("hosts cannot be allowed one by one here"), "{refused}");
}

/// The control: what the rules refuse, a command with namespaces of the host's would do.
#[needs(UserNamespace, "unshare")]
#[test]
fn what_the_rules_refuse_can_be_done_without_them() {
    let (place, user) = project();
    let script = format!("cat {}/.ssh/id_ed25519", place.path().display());
    let mut command = user.program(&place, "unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", NO_NAMESPACES, "sh", "sh", "-c"]);
    let read = command.arg(script).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&read.stdout), "the-key\n");
}
