//! Agents that serve other agents: a registry, a worker with a model that answers from a script, and a governor that decides by rules.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::transcript::Transcript;

const PATIENCE: Duration = Duration::from_secs(90);

/// Looks, repairs, and tries it. Each try is counted outside of all workspaces by what the test finds in the vault.
const FIX: &str = r#"version = 1
[[turn]]
say = [{ call = "read_file", id = "a", arguments = { path = "sum.sh" } }]
usage = { input = 100, output = 20 }
[[turn]]
say = [{ call = "edit_file", id = "b", arguments = { path = "sum.sh", old_text = "$1 - $2", new_text = "$1 + $2" } }]
usage = { input = 120, output = 20 }
[[turn]]
say = [{ call = "run_command", id = "c", arguments = { command = "sh test.sh && echo passed" } }]
usage = { input = 140, output = 20 }
[[turn]]
say = [{ text = "It is as good as it gets." }]
usage = { input = 160, output = 20 }
"#;

const ASKS_GOVERNOR: &str = r#"version = 1
[defaults]
use_tool = "allow"
ask_model = "allow"
[[rule]]
name = "commands-are-asked-about"
decision = "escalate"
reason = "commands are looked at first"
action = "use_tool"
target = "run_command:*"
ask = "WHOM"
within_s = WITHIN
matches = [{ action = "use_tool", target = "run_command:make" }]
"#;

/// A process that serves until it is dropped.
struct Serving {
    child: Child,
    /// What it printed so far.
    said: Arc<Mutex<String>>,
}

impl Serving {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let said = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&said);
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                *heard.lock().unwrap() += &format!("{line}\n");
            }
        });
        let serving = Self { child, said };
        serving.wait_for("listening on ");
        serving
    }

    fn text(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    fn wait_for(&self, words: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.text().contains(words) {
            assert!(Instant::now() < end, "no {words:?} in {}", self.text());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn address(&self) -> String {
        let text = self.text();
        let line = text.lines().find_map(|line| line.split_once("listening on "));
        line.unwrap().1.trim().to_owned()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Ends it in this way, and waits for that.
    fn end(mut self, signal: Signal) -> Option<i32> {
        self.signal(signal);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.signal(Signal::KILL);
            drop(self.child.wait());
        }
    }
}

/// A user with a project and a registry.
struct Fleet {
    place: Place,
    registry: Serving,
}

impl Fleet {
    fn new(script: &str) -> Self {
        let place = Place::new();
        place.write("sum.sh", "echo $(($1 - $2))\n");
        place.write("test.sh", "test \"$(sh sum.sh 2 3)\" = 5\n");
        std::fs::write(place.path().join("script.toml"), script).unwrap();
        let serve = ["registry", "serve", "--listen", "tcp://127.0.0.1:0"];
        let registry = Serving::start(place.command(serve));
        Self { place, registry }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let folder = self.place.path().join("agents");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The file of the worker, with further lines.
    fn worker(&self, more: &str) -> PathBuf {
        let text = format!(
            "version = 1\nname = \"worker\"\ntitle = \"Repairs\"\ncapabilities = [\"shell\"]\n{more}\n\
             [[registry]]\naddress = \"{}\"\n[work]\nkind = \"coder\"\nproject = \"{}\"\nprovider = \"scripted:../script.toml\"\n",
            self.registry.address(),
            self.place.project().display(),
        );
        self.file("worker.toml", &text)
    }

    fn governor(&self, rules: &str) -> Serving {
        self.file("governor-rules.toml", rules);
        let text = format!(
            "version = 1\nname = \"governor\"\ncapabilities = [\"governance\"]\nwork = {{ kind = \"rules\" }}\n\
             governance = {{ rules = [\"governor-rules.toml\"] }}\n[[registry]]\naddress = \"{}\"\n",
            self.registry.address()
        );
        let file = self.file("governor.toml", &text);
        self.serve(&file)
    }

    fn serve(&self, file: &std::path::Path) -> Serving {
        Serving::start(self.place.command(["agent".as_ref(), "serve".as_ref(), file.as_os_str()]))
    }

    /// A command about agents, by this registry.
    fn agents(&self, arguments: &[&str]) -> Output {
        let address = self.registry.address();
        let (verb, rest) = arguments.split_first().unwrap();
        let all = [&["agents", verb, "--registry", &address, "--json"], rest].concat();
        self.place.run(all)
    }

    fn call(&self, key: &str) -> Value {
        let output =
            self.agents(&["call", "worker", "--key", key, "--wait", "90s", "fix the test"]);
        assert!(output.status.success(), "{output:?}");
        document_of(&output)["result"].clone()
    }

    /// Waits until agents are registered.
    fn wait_for(&self, count: usize) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let list = document_of(&self.agents(&["list"]))["result"].clone();
            if list["agents"].as_array().is_some_and(|agents| agents.len() == count) {
                return list;
            }
            assert!(Instant::now() < end, "{list:#}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The open question of the worker.
    fn question(&self) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let shown = document_of(&self.agents(&["show", "worker"]))["result"].clone();
            if shown["questions"].as_array().is_some_and(|asked| !asked.is_empty()) {
                return shown["questions"][0].clone();
            }
            assert!(Instant::now() < end, "{shown:#}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// How often the test was run in workspaces.
    fn tries(&self) -> usize {
        let execs = self.place.json(&["execs"]);
        let is_try = |exec: &&Value| exec["command"].to_string().contains("test.sh");
        execs["execs"].as_array().unwrap().iter().filter(is_try).count()
    }

    fn decisions(&self) -> Vec<String> {
        let log = self.place.run(["audit", "log", "--kind", "governance", "--json"]);
        let lines = String::from_utf8(log.stdout).unwrap();
        let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.map(|event| event["result"]["summary"].as_str().unwrap().to_owned()).collect()
    }
}

/// A worker registers, does a call with a model and tools, asks a governance agent before it runs a command, and answers.
#[needs(UserNamespace)]
#[test]
fn a_governed_task_from_call_to_answer() {
    let fleet = Fleet::new(FIX);
    let governor = fleet.governor(
        "version = 1\n[[rule]]\nname = \"tests\"\ndecision = \"allow\"\naction = \"use_tool\"\ntarget = \"run_command:sh test.sh*\"\n\
         matches = [{ action = \"use_tool\", target = \"run_command:sh test.sh\" }]\n",
    );
    fleet.file(
        "worker-rules.toml",
        &ASKS_GOVERNOR.replace("WHOM", "agent:governor").replace("WITHIN", "60"),
    );
    let worker =
        fleet.worker("governance = { rules = [\"worker-rules.toml\"], tell = [\"governor\"] }");
    let serving = fleet.serve(&worker);
    let list = fleet.wait_for(2);
    assert_eq!(list["agents"][1]["name"], "worker");
    assert_eq!(list["agents"][1]["capabilities"][0], "shell");
    let answer = fleet.call("one");
    assert_eq!(answer["answer"], "It is as good as it gets.", "{answer:#}");
    assert_eq!((&answer["workspace"], &answer["changed"]), (&"worker-1".into(), &1.into()));
    // The folder is as it was; the workspace has the change, and the command ran once.
    let sum = |place: &Place| std::fs::read_to_string(place.project().join("sum.sh")).unwrap();
    assert!(sum(&fleet.place).contains("$1 - $2"));
    let diff = fleet.place.ok(["diff", "-w", "worker-1"]);
    assert!(diff.contains("+echo $(($1 + $2))"), "{diff}");
    assert_eq!(fleet.tries(), 1);
    // The same call again is the same task.
    assert_eq!(fleet.call("one"), answer);
    assert_eq!(fleet.tries(), 1);
    // What governance said is in the log of the vault, and the governor heard of it.
    let decisions = fleet.decisions().join("\n");
    assert!(decisions.contains("escalated use_tool run_command:sh test.sh"), "{decisions}");
    assert!(
        decisions.contains("granted use_tool") && decisions.contains("by governor"),
        "{decisions}"
    );
    governor.wait_for("heard");
    fleet.place.ok(["audit", "verify"]);
    assert_eq!(serving.end(Signal::TERM), Some(0));
    fleet.wait_for(1);
}

/// What a governance agent denies is told to the model, and does not run.
#[needs(UserNamespace)]
#[test]
fn what_is_denied_does_not_run() {
    let fleet = Fleet::new(FIX);
    let _governor = fleet.governor(
        "version = 1\n[[rule]]\nname = \"nothing\"\ndecision = \"deny\"\nreason = \"no commands today\"\naction = \"use_tool\"\n\
         matches = [{ action = \"use_tool\", target = \"run_command:make\" }]\n",
    );
    fleet.file(
        "worker-rules.toml",
        &ASKS_GOVERNOR.replace("WHOM", "agent:governor").replace("WITHIN", "60"),
    );
    let _worker = fleet.serve(&fleet.worker("governance = { rules = [\"worker-rules.toml\"] }"));
    fleet.wait_for(2);
    let answer = fleet.call("one");
    assert_eq!(fleet.tries(), 0, "{answer:#}");
    let session = answer["session"].as_str().unwrap();
    let shown = fleet.place.ok(["sessions", "show", session]);
    assert!(shown.contains("no commands today"), "{shown}");
    assert!(fleet.decisions().iter().any(|it| it.starts_with("refused use_tool")));
}

/// A page is fetched from elsewhere, so governance has a say, though no file changes.
#[needs(UserNamespace)]
#[test]
fn pages_are_governed_too() {
    let fleet = Fleet::new(
        "version = 1\n[[turn]]\nsay = [{ call = \"fetch_url\", id = \"a\", arguments = { url = \"http://a.invalid/?q=x\" } }]\n\
         [[turn]]\nsay = [{ text = \"Done.\" }]\n",
    );
    fleet.file(
        "worker-rules.toml",
        "version = 1\n[defaults]\nuse_tool = \"allow\"\nask_model = \"allow\"\n[[rule]]\nname = \"no-pages\"\ndecision = \"deny\"\n\
         action = \"use_tool\"\ntarget = \"fetch_url:*\"\nmatches = [{ action = \"use_tool\", target = \"fetch_url:http://a.invalid\" }]\n",
    );
    let _worker = fleet.serve(&fleet.worker("governance = { rules = [\"worker-rules.toml\"] }"));
    fleet.wait_for(1);
    fleet.call("one");
    let decisions = fleet.decisions().join("\n");
    assert!(decisions.contains("denied use_tool fetch_url:http://a.invalid/?q=x"), "{decisions}");
}

/// A question for a person waits across a kill, and one answer counts. Nobody else may give it.
#[needs(UserNamespace)]
#[test]
fn a_person_answers_across_a_kill() {
    let fleet = Fleet::new(FIX);
    fleet.file(
        "worker-rules.toml",
        &ASKS_GOVERNOR.replace("WHOM", "person:me").replace("WITHIN", "3600"),
    );
    let file = fleet.worker("governance = { rules = [\"worker-rules.toml\"] }");
    let first = fleet.serve(&file);
    fleet.wait_for(1);
    let late = fleet.agents(&["call", "worker", "--key", "k", "--wait", "1s", "fix the test"]);
    assert_eq!(late.status.code(), Some(124), "{late:?}");
    let asked = fleet.question();
    assert_eq!(asked["ask"], "person:me");
    first.end(Signal::KILL);
    let second = fleet.serve(&file);
    assert_eq!(fleet.question(), asked);
    assert_eq!(fleet.tries(), 0);
    let twice = Command::new(offshoot_tests::product::binary())
        .args(["agent", "serve"])
        .arg(&file)
        .envs(fleet.place.environment())
        .current_dir(fleet.place.project())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&twice.stderr).contains("served already"), "{twice:?}");
    // An agent is no operator, whatever it calls itself.
    let address = fleet.registry.address();
    for verb in
        [&["answer", "worker", "1", "grant"][..], &["show", "worker"], &["cancel", "worker", "1"]]
    {
        let all = [&["agents", verb[0], "--registry", &address], &verb[1..]].concat();
        let refused = fleet.place.command(all).env("OFFSHOOT_AGENT", "Operator").output().unwrap();
        assert!(!refused.status.success(), "{verb:?}: {refused:?}");
    }
    let grant = fleet.agents(&["answer", "worker", "1", "grant", "-m", "go on"]);
    assert!(grant.status.success(), "{grant:?}");
    let again = fleet.agents(&["answer", "worker", "1", "deny"]);
    assert_eq!(again.status.code(), Some(3), "{again:?}");
    assert_eq!(fleet.call("k")["answer"], "It is as good as it gets.");
    assert_eq!(fleet.tries(), 1);
    assert_eq!(second.end(Signal::INT), Some(0));
}

/// Nobody answers: the fallback counts after its time.
#[needs(UserNamespace)]
#[test]
fn a_question_falls_back() {
    let fleet = Fleet::new(FIX);
    fleet.file(
        "worker-rules.toml",
        &ASKS_GOVERNOR.replace("WHOM", "agent:nobody").replace("WITHIN", "2"),
    );
    let worker = fleet.serve(&fleet.worker("governance = { rules = [\"worker-rules.toml\"] }"));
    fleet.wait_for(1);
    let answer = fleet.call("one");
    assert_eq!(answer["answer"], "It is as good as it gets.");
    assert_eq!(fleet.tries(), 0);
    worker.wait_for("cannot ask nobody");
}

/// Killed again and again, the task is done once, and each of its effects too.
#[needs(UserNamespace)]
#[test]
fn a_worker_that_is_killed_does_nothing_twice() {
    let fleet = Fleet::new(FIX);
    let file = fleet.worker("");
    for delay in [150, 300, 500, 800] {
        let serving = fleet.serve(&file);
        // The first call makes the task, and the others find it.
        let address = fleet.registry.address();
        let call =
            ["agents", "call", "worker", "--registry", &address, "--key", "k", "fix the test"];
        let mut calling = fleet.place.command(call);
        let mut calling = calling.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(delay));
        serving.end(Signal::KILL);
        calling.kill().unwrap();
        calling.wait().unwrap();
    }
    let _serving = fleet.serve(&file);
    let answer = fleet.call("k");
    assert_eq!((&answer["task"], &answer["workspace"]), (&1.into(), &"worker-1".into()));
    assert_eq!(fleet.tries(), 1);
    let sessions = fleet.place.json(&["sessions", "list"]);
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1, "{sessions:#}");
    fleet.place.ok(["vault", "check"]);
}

/// The budget of each task bounds its model, and that of the agent what it takes at all.
#[needs(UserNamespace)]
#[test]
fn budgets_hold() {
    let fleet = Fleet::new(FIX);
    let _worker =
        fleet.serve(&fleet.worker("task_budget = { tokens = 200 }\nbudget = { tokens = 300 }"));
    fleet.wait_for(1);
    let output = fleet.agents(&["call", "worker", "fix the test"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("tokens"), "{output:?}");
    let shown = document_of(&fleet.agents(&["show", "worker"]))["result"].clone();
    assert!(shown["dead"][0]["state"].to_string().contains("tokens"), "{shown:#}");
    // What the first one spent is gone: there is not enough left for another.
    let output = fleet.agents(&["call", "worker", "fix the test"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

/// What operators see and do, for people and for programs.
#[needs(UserNamespace)]
#[test]
fn operators_look_after_agents() {
    let fleet = Fleet::new(FIX);
    fleet.file(
        "worker-rules.toml",
        &ASKS_GOVERNOR.replace("WHOM", "person:me").replace("WITHIN", "3600"),
    );
    let file = fleet.worker("governance = { rules = [\"worker-rules.toml\"] }");
    let serving = fleet.serve(&file);
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replace("governance = { rules = [\"worker-rules.toml\"] }\n", "");
    let text = text.replace("\"worker\"", "\"short\"").replace("kind =", "max_turns = 1\nkind =");
    let short = fleet.file("short.toml", &text);
    let shortly = fleet.serve(&short);
    fleet.wait_for(2);
    let (address, at) = (fleet.registry.address(), |it: &Serving| it.address());
    let mut transcript = Transcript::new(&fleet.place);
    transcript.hide(&address, "[registry]");
    transcript.hide(&at(&serving), "[worker]");
    transcript.hide(&at(&shortly), "[short]");
    let agents = |words: &[&str]| -> Vec<String> {
        let (verb, rest) = words.split_first().unwrap();
        let all = [&["agents", verb, "--registry", &address], rest].concat();
        all.into_iter().map(str::to_owned).collect()
    };
    let run = |transcript: &mut Transcript<'_>, words: &[&str]| {
        let words = agents(words);
        transcript.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
    };
    let json = |transcript: &mut Transcript<'_>, words: &[&str]| {
        let words = agents(words);
        transcript.json(&words.iter().map(String::as_str).collect::<Vec<_>>());
    };
    let file = file.display().to_string();
    transcript.run(&["agent", "serve", &file, "--check"]);
    transcript.json(&["agent", "serve", &file, "--check"]);
    run(&mut transcript, &["list"]);
    json(&mut transcript, &["list", "--capability", "shell"]);
    // It waits for a person; nobody waits for it meanwhile.
    let begin = |key: &str| {
        let call = agents(&["call", "worker", "--key", key, "fix the test"]);
        let mut calling = fleet.place.command(call);
        let mut calling = calling.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        fleet.question();
        calling.kill().unwrap();
        calling.wait().unwrap();
    };
    begin("one");
    run(&mut transcript, &["show", "worker"]);
    json(&mut transcript, &["show", "worker"]);
    run(&mut transcript, &["answer", "worker", "1", "grant"]);
    fleet.call("one");
    run(&mut transcript, &["call", "worker", "--key", "one", "fix the test"]);
    json(&mut transcript, &["call", "worker", "--key", "one", "fix the test"]);
    begin("two");
    json(&mut transcript, &["answer", "worker", "2", "deny", "-m", "not today"]);
    fleet.call("two");
    begin("three");
    run(&mut transcript, &["cancel", "worker", "3"]);
    begin("four");
    json(&mut transcript, &["cancel", "worker", "4"]);
    run(&mut transcript, &["suspend", "worker"]);
    run(&mut transcript, &["resume", "worker"]);
    json(&mut transcript, &["suspend", "worker"]);
    json(&mut transcript, &["resume", "worker"]);
    // One that cannot end is a dead letter.
    let dies = |words: &[&str]| {
        let output = fleet.agents(words);
        let end = Instant::now() + PATIENCE;
        loop {
            let shown = document_of(&fleet.agents(&["show", "short"]))["result"].clone();
            if shown["dead"].as_array().is_some_and(|dead| dead.len() == 1) {
                return output;
            }
            assert!(Instant::now() < end, "{shown:#}");
            thread::sleep(Duration::from_millis(50));
        }
    };
    dies(&["call", "short", "--key", "one", "fix the test"]);
    run(&mut transcript, &["call", "short", "--key", "one", "fix the test"]);
    run(&mut transcript, &["show", "short"]);
    run(&mut transcript, &["resend", "short", "1"]);
    dies(&["show", "short"]);
    json(&mut transcript, &["resend", "short", "1"]);
    dies(&["show", "short"]);
    run(&mut transcript, &["drop", "short", "1"]);
    dies(&["call", "short", "--key", "two", "fix the test"]);
    json(&mut transcript, &["drop", "short", "2"]);
    run(&mut transcript, &["show", "short"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn mistakes_are_told() {
    let fleet = Fleet::new(FIX);
    let unknown = fleet.agents(&["call", "nobody", "task"]);
    assert_eq!(unknown.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&unknown.stdout).contains("no registry knows an agent nobody"));
    let silent = fleet.place.run(["agents", "list", "--registry", "tcp://127.0.0.1:1"]);
    assert!(!silent.status.success());
    assert!(
        String::from_utf8_lossy(&silent.stderr).contains("offshoot registry serve"),
        "{silent:?}"
    );
    for (text, words) in [
        ("version = 2\nname = \"a\"\nwork = { kind = \"rules\" }", "only 1 is known"),
        ("version = 1\nname = \"A b\"\nwork = { kind = \"rules\" }", "A b"),
        ("version = 1\nname = \"a\"\nwork = { kind = \"rules\" }", "needs governance.rules"),
        ("version = 1\nname = \"a\"\nwork = { kind = \"coder\" }\nwhat = 1", "what"),
        (
            "version = 1\nname = \"a\"\nwork = { kind = \"coder\" }\nlisten = { address = \"tls://0.0.0.0:1\" }",
            "certificate",
        ),
        (
            "version = 1\nname = \"a\"\nwork = { kind = \"coder\" }\nlisten = { operators = [\"a\"] }",
            "operator of itself",
        ),
        (
            "version = 1\nname = \"a\"\nwork = { kind = \"coder\" }\njob = [{ name = \"j\", task = \"t\", cron = \"61 * * * *\" }]",
            "61",
        ),
        (
            "version = 1\nname = \"a\"\nwork = { kind = \"coder\" }\ntask_budget = { time = \"soon\" }",
            "soon",
        ),
    ] {
        let file = fleet.file("wrong.toml", text);
        let arguments = ["agent".as_ref(), "serve".as_ref(), "--check".as_ref(), file.as_os_str()];
        let output = fleet.place.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(words), "{text}: {said}");
    }
}
