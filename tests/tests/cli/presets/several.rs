//! Several agents at once: what each has changed so far, and where two changed the same lines.

use offshoot_needs::needs;

use super::*;

/// What the project has where two agents change it.
const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

impl Agent {
    fn document(&self, arguments: &[&str]) -> Value {
        let output = self.command(&[arguments, &["--json"]].concat()).output().unwrap();
        document_of(&output)["result"].clone()
    }

    fn text(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        said + &String::from_utf8(output.stderr).unwrap()
    }

    fn so_far(&self, workspace: &str) -> Value {
        let all = self.document(&["status", "--all"]);
        let all = all["workspaces"].as_array().unwrap().clone();
        all.into_iter().find(|work| work["workspace"] == workspace).unwrap()
    }

    /// With a file that two change.
    fn with_lines(self) -> Self {
        fs::write(self.place.project().join("lines"), LINES).unwrap();
        self.install("codex");
        self
    }
}

fn counts(work: &Value) -> [u64; 3] {
    ["added", "modified", "deleted"].map(|word| work[word].as_u64().unwrap())
}

#[needs(Overlay, UserNamespace)]
#[test]
fn what_several_agents_change_is_seen_while_they_run() {
    for agent in everybody().into_iter().map(Agent::with_lines) {
        let script = "echo new > new; echo more >> lines; mkdir -p target; echo x > target/x";
        let one = agent.starts("one", script);
        let two = agent.starts_as("codex", "two", "rm README.md; sed -i s/2/two/ lines");
        let listed = agent.document(&["ps"]);
        let presets: Vec<[&str; 2]> = listed["running"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| ["workspace", "preset"].map(|word| it[word].as_str().unwrap()))
            .collect();
        assert_eq!(presets, [["one", "claude"], ["two", "codex"]]);
        let work = agent.so_far("one");
        assert_eq!(counts(&work), [1, 1, 0], "{work:#}");
        let paths: Vec<&str> = work["changes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|change| change["path"].as_str().unwrap())
            .collect();
        assert_eq!(paths, ["/lines", "/new"]);
        assert_eq!(work["running"][0]["preset"], "claude");
        assert_eq!(counts(&agent.so_far("two")), [0, 1, 1]);
        // Other lines of the same file fit together.
        assert_eq!(agent.document(&["status", "--all"])["overlaps"], json!([]));
        // What is seen is what is there now, and the commands do not notice.
        assert!(one.ends("cat new; rm new").contains("new"));
        assert_eq!(counts(&agent.so_far("one")), [0, 1, 0]);
        two.ends("cat lines");
        let work = agent.so_far("two");
        assert_eq!((counts(&work), &work["running"]), ([0, 1, 1], &json!([])));
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn the_same_lines_are_told_while_agents_run_and_after() {
    for agent in everybody().into_iter().map(Agent::with_lines) {
        let one = agent.starts("one", "sed -i '4,6s/^/one /' lines");
        let two = agent.starts_as("codex", "two", "sed -i '5s/^/two /' lines; rm -f new");
        let found = agent.document(&["status", "--all"])["overlaps"].clone();
        let sides = json!([
            { "workspace": "one", "lines": [{ "first": 4, "last": 6 }] },
            { "workspace": "two", "lines": [{ "first": 4, "last": 6 }] },
        ]);
        assert_eq!(found, json!([{ "path": "/lines", "conflict": "content", "sides": sides }]));
        let said = agent.text(&["status", "--all"]);
        assert!(said.contains("one and two changed the same in different ways:"), "{said}");
        assert!(said.contains("/lines  lines 4-6 (one), lines 4-6 (two)"), "{said}");
        assert!(said.contains("then `offshoot pull -w two`"), "{said}");
        // Another command that ends hears of the one that still runs, and of what is over.
        let arguments = ["exec", "-w", "three", "--", "sh", "-c", "sed -i '5s/^/three /' lines"];
        let said = agent.text(&arguments);
        assert!(said.contains("two also changed lines line 5"), "{said}");
        assert!(said.contains("`offshoot pull -w two`"), "{said}");
        one.ends("true");
        two.ends("true");
        // What is committed is no longer in question between two workspaces.
        assert!(agent.text(&["commit", "-w", "one"]).contains("lines"));
        let found = agent.document(&["status", "--all"])["overlaps"].clone();
        let names = [&found[0]["sides"][0], &found[0]["sides"][1]].map(|side| &side["workspace"]);
        assert_eq!((names, found.as_array().unwrap().len()), ([&json!("two"), &json!("three")], 1));
    }
}

#[needs(Overlay, UserNamespace)]
#[test]
fn programs_hear_of_the_same_lines_in_notes() {
    let agent = Agent::new(None).with_lines();
    let change = |workspace: &str, text: &str| {
        let arguments = ["exec", "-w", workspace, "--json", "--", "sh", "-c", text];
        document_of(&agent.command(&arguments).output().unwrap())
    };
    change("one", "rm lines; echo a > both; cp both same");
    let notes = &change("two", "echo x >> lines; echo b > both; echo a > same")["notes"];
    let said = notes[0].as_str().unwrap();
    assert!(
        said.starts_with("one also changed both line 1 and 1 more file; commit two"),
        "{notes}"
    );
    assert_eq!(notes.as_array().unwrap().len(), 1, "{notes}");
    let found = agent.document(&["status", "--all"])["overlaps"].clone();
    let kinds: Vec<[&str; 2]> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|it| ["path", "conflict"].map(|word| it[word].as_str().unwrap()))
        .collect();
    assert_eq!(kinds, [["/both", "add-add"], ["/lines", "delete-modify"]]);
}

/// Three others are named and the rest is counted, after what names the workspace.
#[needs(Overlay, UserNamespace)]
#[test]
fn of_many_others_three_are_named_at_the_very_end() {
    let agent = Agent::new(None).with_lines();
    let change = |workspace: &str| {
        let text = format!("sed -i '5s/^/{workspace} /' lines");
        agent.text(&["exec", "-w", workspace, "--", "sh", "-c", &text])
    };
    for workspace in ["one", "two", "three", "four", "five"] {
        change(workspace);
    }
    let said = change("six");
    let lines: Vec<&str> = said.lines().collect();
    let last = &lines[lines.len() - 4..];
    for (line, other) in last.iter().zip(["one", "two", "three"]) {
        assert!(line.starts_with(&format!("{other} also changed lines line 5; ")), "{said}");
    }
    assert_eq!(last[3], "2 more workspaces changed the same; `offshoot status --all` lists them");
    assert!(lines[..lines.len() - 4].iter().any(|line| line.contains("six")), "{said}");
}

/// Of a command that changed very much the first thousand files are compared.
#[needs(Overlay, UserNamespace)]
#[test]
fn the_first_thousand_files_are_compared() {
    let agent = Agent::new(None);
    let run = |workspace: &str, text: &str| {
        agent.text(&["exec", "-w", workspace, "--", "sh", "-c", text])
    };
    run("in", "mkdir many && echo in > many/0999");
    run("out", "mkdir many && echo out > many/1000");
    let said = run("all", "mkdir many && for n in $(seq -w 0 1000); do echo $n > many/$n; done");
    assert!(said.contains("in also changed many/0999"), "{said}");
    assert!(!said.contains("out also changed"), "{said}");
}
