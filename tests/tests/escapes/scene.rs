//! The host that attempts are made against: secrets, somebody's process, servers, two vaults and a project.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use nix::libc;
use offshoot_tests::product::{Place, binary, document_of};
use offshoot_tests::scan::scan;
use offshoot_tests::user::{User, give_away};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::attempt::{Attempt, repository};

/// Who makes the attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Root,
    Ordinary,
}

/// Files of the home that hold the secret.
const SECRETS: &[&str] = &[
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".config/gh/hosts.yml",
    ".netrc",
    ".git-credentials",
    ".cargo/credentials.toml",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gnupg/private-keys-v1.d/key",
    ".kube/config",
    ".docker/config.json",
    ".mozilla/firefox/profile/logins.json",
    ".bash_history",
    ".pgpass",
    "letters/private.txt",
    "elsewhere/.env",
];

/// Settings of tools, which are copied without what looks like a credential. Each `NAME` is a secret of that name.
const SETTINGS: &[(&str, &str)] = &[
    (
        ".npmrc",
        "save=true\n//registry.test/:_authToken=canary-npm-login\nkey=\"-----BEGIN PRIVATE KEY-----\\ncanary-npm-key\"\n",
    ),
    (".curlrc", "silent\nuser = \"me:canary-curl-login\"\n"),
    (
        ".gitconfig",
        "[user]\nname = A\nemail = a@b.test\n[init]\ndefaultBranch = main\n[sendemail]\nsmtpUser = me\nsmtpPass = canary-git-mail-login\n\
         [url \"https://me:canary-git-address-login@host.test/\"]\ninsteadOf = host:\n[http]\nextraHeader = \"X-Key: canary-git-header\"\n",
    ),
    (
        ".rye/config.toml",
        "[[sources]]\nname = \"mine\"\nusername = \"me\"\npassword = \"canary-rye-login\"\n",
    ),
    (".bashrc", "export EDITOR=vi\nexport GH_PAT=canary-shell-variable\n"),
    (
        ".config/pip/pip.conf",
        "[global]\nindex-url = https://me:canary-pip-login@host.test/simple\n",
    ),
    (".condarc", "channels:\n  - https://conda.test/t/canary-conda-channel/mine\n"),
    (
        ".bundle/config",
        "---\nBUNDLE_JOBS: \"4\"\nBUNDLE_GEMS__HOST__TEST: \"me:canary-bundler-login\"\n",
    ),
    (".yarnrc.yml", "npmAuthIdent: \"me:canary-yarn-login\"\n"),
    (
        ".m2/settings.xml",
        "<settings><servers><server><passphrase>canary-maven-login</passphrase></server></servers></settings>\n",
    ),
    (".gradle/gradle.properties", "org.gradle.caching=true\nnexusPwd=canary-gradle-login\n"),
    (
        ".config/composer/composer.json",
        "{\"config\": {\"github-oauth\": {\"github.com\": \"canary-composer-login\"}}}\n",
    ),
    (
        ".cargo/config.toml",
        "[net]\nretry = 1\n[http]\nproxy = \"me:canary-cargo-proxy@proxy.test:3128\"\n",
    ),
    (
        ".nvm/versions/node/v22/etc/npmrc",
        "save=true\n//registry.test/:_authToken=canary-nvm-login\n",
    ),
    (
        ".pyenv/versions/3.12/pip.conf",
        "[global]\nindex-url = https://me:canary-pyenv-login@host.test/simple\n",
    ),
    (".oh-my-zsh/custom/work.zsh", "alias g=git\nexport GH_PAT=canary-zsh-variable\n"),
    (".config/mise/config.toml", "[env]\nSTRIPE_KEY = \"canary-mise-variable\"\n"),
];

/// Credentials that toolchains keep among what commands see of them.
const COVERED: &[&str] = &[
    ".pub-cache/credentials.json",
    ".dotnet/corefx/cryptography/x509stores/my/key.pfx",
    ".opam/plugins/opam-publish/me.token",
];

/// What the machine itself looks like, and must go on to.
const MACHINE: &[&str] = &[
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/domainname",
    "/proc/sys/vm/swappiness",
];

/// Devices that everybody shares.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/urandom"];

/// Walls of the user's own making, each with one thing left out.
const PROFILES: &str = r#"
[profile.unfiltered]
about = "without the filter of system calls"
walls = { seccomp = "off" }

[profile.unlocked]
about = "without Landlock"
walls = { landlock = "off" }

[profile.keys]
about = "with the keys of the session"
walls = { seccomp = "off", keyring = "off" }

[profile.rings]
about = "with io_uring"
io_uring = true

[profile.unmasked]
about = "sees all of /sys"
walls = { sysfs = "off" }
"#;

/// What the project forbids.
const RULES: &str = r#"version = 1
[[rule]]
name = "forbidden"
decision = "deny"
prefix = ["forbidden-program"]
matches = ["forbidden-program now"]
"#;

/// All of it. Gone when dropped.
pub(crate) struct Scene {
    who: Who,
    user: User,
    pub(crate) place: Place,
    /// Somebody else's directory, which everybody may read.
    neighbour: TempDir,
    /// The process with the secret; it ends with its input.
    victim: Child,
    /// What scripts are told about all this.
    variables: BTreeMap<String, String>,
    pub(crate) secret: String,
}

impl Drop for Scene {
    fn drop(&mut self) {
        drop(self.victim.stdin.take());
        drop(self.victim.wait());
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ended {
    /// Whether its script ended with 0.
    pub(crate) succeeded: bool,
    /// What it said, and what was said about the command that it was part of.
    pub(crate) said: String,
}

impl Scene {
    pub(crate) fn new(who: Who) -> Self {
        let folder = reachable_folder();
        let place = Place::below(&folder);
        let neighbour = TempDir::with_prefix_in("offshoot-test-", &folder).unwrap();
        fs::set_permissions(neighbour.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let token = place.path().file_name().unwrap().to_str().unwrap().to_owned();
        let secret = format!("canary-{token}");
        for name in SECRETS.iter().chain(COVERED) {
            write(&place.path().join(name), &secret);
        }
        write(&place.path().join(".config/offshoot/sandbox.toml"), &profiles(neighbour.path()));
        for (name, text) in SETTINGS {
            write(&place.path().join(name), text);
        }
        for (name, text) in
            [("secret", &secret), ("project/.env", &secret), ("shared/file", &"mine".to_owned())]
        {
            write(&neighbour.path().join(name), text);
        }
        for name in ["launch.py", "host.py"] {
            write(&place.path().join("scene").join(name), &program(name));
        }
        place.write("driver.py", program("driver.py"));
        place.write("src/main.c", "int main(void) { return 0; }\n");
        place.write("notes.txt", "one\ntwo\nthree\n");
        place.write("offshoot-policy.toml", RULES);
        write(&place.path().join("other/private.txt"), &secret);
        write(&place.path().join(".cargo/bin/tool"), "a tool");
        write(&place.path().join(".claude/projects/p/session.jsonl"), "a session\n");
        if who == Who::Ordinary {
            give_away(place.path());
            give_away(neighbour.path());
        }
        let user = User::new();
        let variables = variables(&place, neighbour.path(), &user, who);
        let (victim, found) = victim(who, &user, &place, neighbour.path(), &secret, &token);
        let variables = variables.into_iter().chain(found).collect();
        let scene = Self { who, user, place, neighbour, victim, variables, secret };
        let begin = "git init -q && git add -A && git commit -qm first && \"$OFFSHOOT\" init -q && cd ../other && \"$OFFSHOOT\" init -q";
        let begun = scene.host_script(begin, "");
        assert!(begun.succeeded, "{}", begun.said);
        scene
    }

    /// What an attempt could have changed, or whom it could have reached.
    pub(crate) fn state(&self) -> BTreeMap<String, String> {
        let mut state = BTreeMap::new();
        for name in SECRETS {
            let text = fs::read_to_string(self.place.path().join(name)).unwrap_or_default();
            state.insert((*name).to_owned(), text);
        }
        for (path, node) in scan(self.neighbour.path()).unwrap().0 {
            let seen = format!(
                "{:?} {:o} {} {:?} {:?}",
                node.kind, node.mode, node.uid, node.hash, node.links
            );
            state.insert(format!("neighbour/{}", String::from_utf8_lossy(&path)), seen);
        }
        let log = fs::read_to_string(self.neighbour.path().join("log")).unwrap_or_default();
        state.insert("reached".to_owned(), log);
        for name in MACHINE {
            state.insert((*name).to_owned(), fs::read_to_string(name).unwrap_or_default());
        }
        for name in DEVICES {
            let found = fs::metadata(name).unwrap();
            state.insert(
                (*name).to_owned(),
                format!("{:o} {} {}", found.mode(), found.uid(), found.mtime()),
            );
        }
        let alive = Path::new("/proc").join(self.victim.id().to_string()).join("fd").exists();
        state.insert("victim".to_owned(), format!("alive: {alive}"));
        let settings = self.place.path().join(".config/offshoot/sandbox.toml");
        state.insert("settings".to_owned(), fs::read_to_string(settings).unwrap_or_default());
        state
    }

    /// Makes attempts in a workspace, in one command.
    pub(crate) fn inside(
        &self,
        workspace: &str,
        options: &[String],
        attempts: &[&Attempt],
    ) -> Vec<Ended> {
        let mut words: Vec<String> =
            ["exec", "--json", "-i", "-w", workspace].map(str::to_owned).to_vec();
        words.extend(options.iter().map(|option| self.filled(option)));
        words.extend(["--", "python3", "driver.py"].map(str::to_owned));
        let mut command = self.careless(&self.binary());
        command.args(words);
        let output = fed(command, &self.batch(attempts));
        let result = document_of(&output)["result"].clone();
        let about = format!(
            "\n[exit {}, state {}, limit {}, timed out {}, error {}, killed by {}, stderr {}]",
            result["exit_code"],
            result["state"],
            result["limit_reached"],
            result["timed_out"],
            result["error"],
            result["signal"],
            result["stderr"]
        );
        ended(result["stdout"].as_str().unwrap_or_default(), &about, attempts)
    }

    /// Makes attempts where no wall is, behind these words.
    pub(crate) fn outside(&self, before: &[&str], attempts: &[&Attempt]) -> Vec<Ended> {
        let mut command = self.careless(Path::new("env"));
        command.args(before).args(["python3", "driver.py"]);
        let output = fed(command, &self.batch(attempts));
        let about = format!("\n[{} {}]", output.status, String::from_utf8_lossy(&output.stderr));
        ended(&String::from_utf8_lossy(&output.stdout), &about, attempts)
    }

    /// Runs a script on the host, in the project, that may ask for a workspace.
    pub(crate) fn host_script(&self, script: &str, workspace: &str) -> Ended {
        let mut command = self.command(Path::new("sh"));
        let output = command.args(["-c", script]).env("WORKSPACE", workspace).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        Ended {
            succeeded: output.status.success(),
            said: String::from_utf8_lossy(&text).into_owned(),
        }
    }

    fn binary(&self) -> PathBuf {
        match self.who {
            Who::Root => binary().to_owned(),
            Who::Ordinary => self.user.binary(),
        }
    }

    fn command(&self, program: &Path) -> Command {
        command(self.who, &self.user, &self.place, &self.variables, program)
    }

    /// A program that is started with descriptors, a variable and a key that hold the secret.
    fn careless(&self, program: &Path) -> Command {
        let mut command = self.command(Path::new("python3"));
        let calls = format!("{},{}", libc::SYS_keyctl, libc::SYS_add_key);
        command
            .arg(self.place.path().join("scene/launch.py"))
            .arg(self.neighbour.path())
            .arg(calls);
        command.arg(program).env("AWS_SECRET_ACCESS_KEY", &self.secret);
        command
    }

    fn batch(&self, attempts: &[&Attempt]) -> String {
        let attempts: Vec<Value> = attempts
            .iter()
            .map(|attempt| match (&attempt.sh, &attempt.python) {
                (Some(script), _) => json!({ "name": attempt.name, "sh": script }),
                (None, script) => json!({ "name": attempt.name, "python": script }),
            })
            .collect();
        json!({ "environment": self.variables, "attempts": attempts }).to_string()
    }

    /// An option with what it names of the scene.
    fn filled(&self, option: &str) -> String {
        let fill = |text: String, (name, value): (&String, &String)| {
            text.replace(&format!("${name}"), value)
        };
        self.variables.iter().fold(option.to_owned(), fill)
    }
}

/// Reads what the driver said about each attempt. One that it says nothing about ended everything.
fn ended(lines: &str, about: &str, attempts: &[&Attempt]) -> Vec<Ended> {
    let lines: Vec<Value> =
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let one = |attempt: &&Attempt| match lines
        .iter()
        .find(|line| line["name"] == attempt.name.as_str())
    {
        Some(line) => Ended {
            succeeded: line["code"] == 0,
            said: format!(
                "{}[code {}]{about}",
                line["output"].as_str().unwrap_or_default(),
                line["code"]
            ),
        },
        None => Ended { succeeded: false, said: format!("said nothing{about}") },
    };
    attempts.iter().map(one).collect()
}

fn fed(mut command: Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Whoever failed before it read everything says so by itself.
    drop(stdin.write_all(input.as_bytes()));
    drop(stdin);
    child.wait_with_output().unwrap()
}

/// Those that are always the same, and one that shows the secrets.
fn profiles(neighbour: &Path) -> String {
    let home = SECRETS.iter().map(|name| format!("~/{name}"));
    let shown: Vec<String> = home.chain([neighbour.display().to_string()]).collect();
    format!("[profile.readable]\nabout = \"sees the secrets\"\nshow = {shown:?}\n{PROFILES}")
}

/// A program that lies beside this file.
fn program(name: &str) -> String {
    fs::read_to_string(repository().join("tests/tests/escapes").join(name)).unwrap()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn command(
    who: Who,
    user: &User,
    place: &Place,
    variables: &BTreeMap<String, String>,
    program: &Path,
) -> Command {
    let mut command = Command::new("env");
    if who == Who::Ordinary {
        command.args(user.becoming());
    }
    command.arg(program).env_clear().envs(place.environment());
    command.envs(variables).env("PATH", offshoot_machine::search_path()).env("LC_ALL", "C");
    command.current_dir(place.project()).stdin(Stdio::null());
    command
}

fn victim(
    who: Who,
    user: &User,
    place: &Place,
    neighbour: &Path,
    secret: &str,
    token: &str,
) -> (Child, BTreeMap<String, String>) {
    let mut victim = command(who, user, place, &BTreeMap::new(), Path::new("python3"));
    victim.arg(place.path().join("scene/host.py")).arg(neighbour).arg(token).env("SECRET", secret);
    let mut victim = victim.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(victim.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let found = serde_json::from_str(&line).unwrap_or_else(|error| panic!("no victim: {error}"));
    (victim, found)
}

fn variables(place: &Place, neighbour: &Path, user: &User, who: Who) -> BTreeMap<String, String> {
    let program = if who == Who::Root { binary().to_owned() } else { user.binary() };
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    [
        ("OFFSHOOT", text(&program)),
        ("PROJECT", text(&place.project())),
        ("NEIGHBOUR", text(neighbour)),
        ("STORE", text(&place.home())),
        ("THEIRS", text(place.path())),
        ("CALLS", calls().to_string()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

/// Numbers of system calls, which differ from machine to machine.
fn calls() -> Value {
    macro_rules! numbers {
        ($($name:ident)*) => {{
            let mut numbers = serde_json::Map::new();
            $(numbers.insert(stringify!($name)[4..].to_owned(), libc::$name.into());)*
            Value::Object(numbers)
        }};
    }
    numbers!(
        SYS_mount SYS_umount2 SYS_move_mount SYS_open_tree SYS_fsopen SYS_mount_setattr SYS_pivot_root SYS_chroot SYS_setns
        SYS_unshare SYS_clone SYS_clone3 SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_pidfd_open SYS_pidfd_getfd
        SYS_pidfd_send_signal SYS_kcmp SYS_prlimit64 SYS_keyctl SYS_add_key SYS_request_key SYS_bpf SYS_perf_event_open
        SYS_userfaultfd SYS_io_uring_setup SYS_swapon SYS_swapoff SYS_quotactl SYS_reboot SYS_kexec_load SYS_init_module
        SYS_finit_module SYS_delete_module SYS_settimeofday SYS_clock_settime SYS_clock_adjtime SYS_sethostname
        SYS_setdomainname SYS_acct SYS_syslog SYS_open_by_handle_at SYS_name_to_handle_at SYS_fanotify_init SYS_personality
        SYS_mq_open SYS_shmget SYS_shmat SYS_msgget SYS_msgrcv SYS_ioctl SYS_process_madvise SYS_mknodat SYS_vhangup
        SYS_openat2 SYS_fchmodat2 SYS_renameat2 SYS_sched_setscheduler SYS_setpriority SYS_inotify_init1 SYS_memfd_create SYS_capset SYS_prctl SYS_seccomp
    )
}

/// A directory that all users can enter and that no workspace has one of its own in place of, so that what is in it can only be hidden on purpose.
fn reachable_folder() -> PathBuf {
    let own = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let open = |path: &Path| fs::metadata(path).is_ok_and(|found| found.mode() & 0o001 != 0);
    let replaced = ["/tmp", "/var/tmp", "/run", "/dev"].iter().any(|path| own.starts_with(path));
    let can_write = rustix::fs::access(own, rustix::fs::Access::WRITE_OK).is_ok();
    match own.ancestors().all(open) && !replaced && can_write {
        true => own.to_owned(),
        false => std::env::temp_dir(),
    }
}
