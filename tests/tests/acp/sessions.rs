//! Sessions from their beginning to what became of them.

use std::fs;

use agent_client_protocol::v1::schema::{
    CloseSessionRequest, ForkSessionRequest, LoadSessionRequest, SessionUpdate, StopReason,
    ToolCallContent,
};
use offshoot_needs::needs;

use crate::editor::{acp, initialize, open, place, prompt, run};

#[needs(UserNamespace, "python3")]
#[test]
fn an_agent_works_in_a_workspace() {
    let place = place();
    let project = place.project();
    let (_, status, _) = run(
        &place,
        &acp(&["-e", "COLOUR=red"], &[]),
        "yes",
        async move |agent, seen| {
            let hello = initialize(&agent).await.unwrap();
            let abilities = hello.agent_capabilities;
            assert!(abilities.load_session);
            let sessions = abilities.session_capabilities;
            assert!(sessions.fork.is_some() && sessions.close.is_some() && sessions.list.is_some());
            let told = abilities.meta.unwrap()["told"].as_str().unwrap().to_owned();
            let fs = r#""fs": {"readTextFile": true, "writeTextFile": true}, "terminal": false}"#;
            assert!(told.ends_with(fs), "{told}");
            let session = open(&agent, &project).await;
            assert_eq!(
                prompt(&agent, &session, "env COLOUR\nfs-read old.txt").await.unwrap(),
                StopReason::EndTurn
            );
            assert_eq!(seen.said(), "red\n{\"content\": \"old\\n\"}");
            let script = "write own.txt mine\nfs-write deep/asked.txt asked\nfs-write old.txt new\ncat old.txt\nfs-read own.txt\nterminal";
            prompt(&agent, &session, script).await.unwrap();
            let updates: Vec<_> =
                seen.updates.lock().unwrap().iter().map(|seen| seen.update.clone()).collect();
            let Some(SessionUpdate::ToolCall(shown)) = updates.last() else {
                panic!("{updates:?}")
            };
            assert_eq!(shown.title, "3 files changed in workspace agent-1");
            let lines: Vec<_> = shown
                .content
                .iter()
                .filter_map(|content| match content {
                    ToolCallContent::Diff(diff) => {
                        let path = diff.path.strip_prefix(&project).unwrap().display().to_string();
                        Some((path, diff.old_text.clone(), diff.new_text.clone()))
                    }
                    _ => None,
                })
                .collect();
            let text = |text: &str| text.to_owned();
            assert_eq!(
                lines,
                [
                    (text("deep/asked.txt"), None, text("asked\n")),
                    (text("old.txt"), Some(text("old\n")), text("new\n")),
                    (text("own.txt"), None, text("mine\n")),
                ]
            );
            let said = seen.said();
            assert!(
                said.contains(
                    "{}\n{}\nnew\n\n{\"content\": \"mine\\n\"}\nerror: there are no terminals"
                ),
                "{said}"
            );
            // Nothing new, nothing shown.
            prompt(&agent, &session, "cat old.txt").await.unwrap();
            assert_eq!(seen.updates.lock().unwrap().len(), 1);
            seen.said();
            agent.send_request(CloseSessionRequest::new(session)).block_task().await.unwrap();
        },
    );
    assert!(status.success());
    assert_eq!(fs::read_to_string(place.project().join("old.txt")).unwrap(), "old\n");
    assert!(!place.project().join("own.txt").exists());
    place.ok(["commit", "-w", "agent-1", "-m", "By the agent"]);
    assert_eq!(fs::read_to_string(place.project().join("old.txt")).unwrap(), "new\n");
    assert_eq!(fs::read_to_string(place.project().join("deep/asked.txt")).unwrap(), "asked\n");
}

#[needs(UserNamespace, "python3")]
#[test]
fn files_beyond_the_workspace_are_out_of_reach() {
    let place = place();
    fs::write(place.path().join("secret"), "secret\n").unwrap();
    let project = place.project();
    run(&place, &acp(&[], &[]), "yes", async move |agent, seen| {
        initialize(&agent).await.unwrap();
        let session = open(&agent, &project).await;
        let script = "link out ../secret\nfs-read out\nfs-write out gone\nfs-read ../secret\nlink etc /etc\nfs-read etc/passwd\nfs-write /etc/offshoot-test x\nwrite d/x y\nfs-read d";
        prompt(&agent, &session, script).await.unwrap();
        let said = seen.said();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 6, "{said}");
        for (line, words) in lines.iter().zip([
            "out leads out of the workspace",
            "out leads out of the workspace",
            "leads out of the workspace",
            "etc/passwd leads out of the workspace",
            "/etc/offshoot-test is not in the project",
            "project/d is no file",
        ]) {
            assert!(line.starts_with("error: ") && line.contains(words), "{said}");
        }
    });
    assert_eq!(fs::read_to_string(place.path().join("secret")).unwrap(), "secret\n");
}

#[needs(UserNamespace, "python3")]
#[test]
fn sessions_do_not_see_each_other() {
    let place = place();
    let project = place.project();
    run(&place, &acp(&[], &[]), "yes", async move |agent, seen| {
        initialize(&agent).await.unwrap();
        let first = open(&agent, &project).await;
        let second = open(&agent, &project).await;
        assert_ne!(first, second);
        prompt(&agent, &first, "write a.txt first").await.unwrap();
        prompt(&agent, &second, "write a.txt second").await.unwrap();
        let ids = |seen: &crate::editor::Seen| {
            let updates = seen.updates.lock().unwrap();
            let calls = updates.iter().filter(|it| matches!(it.update, SessionUpdate::ToolCall(_)));
            calls.map(|update| update.session_id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&seen), [first.clone(), second.clone()]);
        seen.said();
        prompt(&agent, &first, "cat a.txt").await.unwrap();
        assert_eq!(seen.said(), "first\n");
    });
    let shown = |name: &str| place.ok(["fs", "cat", "a.txt", "-w", name]);
    assert_eq!((shown("agent-1"), shown("agent-2")), ("first\n".to_owned(), "second\n".to_owned()));
}

#[needs(UserNamespace, "python3")]
#[test]
fn a_session_is_taken_up_again_where_it_was() {
    let place = place();
    let project = place.project();
    let (session, _, _) = run(&place, &acp(&[], &[]), "yes", async move |agent, _| {
        initialize(&agent).await.unwrap();
        let session = open(&agent, &project).await;
        prompt(&agent, &session, "write kept.txt kept").await.unwrap();
        session
    });
    let project = place.project();
    run(&place, &acp(&[], &[]), "yes", async move |agent, seen| {
        initialize(&agent).await.unwrap();
        let load = LoadSessionRequest::new(session.clone(), &project);
        agent.send_request(load).block_task().await.unwrap();
        prompt(&agent, &session, "cat kept.txt").await.unwrap();
        assert_eq!(seen.said(), "as before\nkept\n");
    });
    // The process that only answered `initialize` has left nothing.
    let list = place.json(&["workspace", "list"]);
    assert_eq!(list["workspaces"].as_array().unwrap().len(), 1, "{list:#}");
}

#[needs(UserNamespace, "python3")]
#[test]
fn a_workspace_can_be_named() {
    let place = place();
    let project = place.project();
    run(&place, &acp(&["-w", "fix"], &[]), "yes", async move |agent, _| {
        initialize(&agent).await.unwrap();
        let session = open(&agent, &project).await;
        prompt(&agent, &session, "write a.txt a").await.unwrap();
        let second = agent_client_protocol::v1::schema::NewSessionRequest::new(&project);
        let busy = agent.send_request(second).block_task().await.unwrap_err();
        assert!(busy.message.contains("fix"), "{}", busy.message);
    });
    assert_eq!(place.ok(["fs", "cat", "a.txt", "-w", "fix"]), "a\n");
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn what_was_written_so_far_can_be_saved_and_committed() {
    let place = place();
    let project = place.project();
    let folder = project.clone();
    let (_, _, errors) = run(&place, &acp(&[], &[]), "yes", async move |agent, seen| {
        initialize(&agent).await.unwrap();
        let session = open(&agent, &project).await;
        prompt(&agent, &session, "write a.txt one\nwrite old.txt new").await.unwrap();
        let offered = seen.updates.lock().unwrap().iter().any(|seen| {
            matches!(&seen.update, SessionUpdate::AvailableCommandsUpdate(update) if update.available_commands[0].name == "offshoot-save")
        });
        assert!(offered);
        seen.said();
        prompt(&agent, &session, "/offshoot-save").await.unwrap();
        let said = seen.said();
        assert!(
            said.starts_with("Workspace agent-1-saved-1 has what the agent has written so far"),
            "{said}"
        );
        prompt(&agent, &session, "write a.txt two").await.unwrap();
    });
    assert!(!errors.contains("offshoot: "), "{errors}");
    place.ok(["commit", "-w", "agent-1-saved-1", "-m", "So far"]);
    assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(folder.join("old.txt")).unwrap(), "new\n");
    assert_eq!(place.ok(["fs", "cat", "a.txt", "-w", "agent-1"]), "two\n");
    place.ok(["vault", "check"]);
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn a_session_is_forked_with_its_files() {
    let place = place();
    let project = place.project();
    run(&place, &acp(&[], &[]), "yes", async move |agent, seen| {
        initialize(&agent).await.unwrap();
        let first = open(&agent, &project).await;
        prompt(&agent, &first, "write a.txt first").await.unwrap();
        let fork = ForkSessionRequest::new(first.clone(), &project);
        let second = agent.send_request(fork).block_task().await.unwrap().session_id;
        prompt(&agent, &second, "cat a.txt\nwrite a.txt second").await.unwrap();
        assert_eq!(seen.said(), "first\n");
        prompt(&agent, &first, "cat a.txt").await.unwrap();
        assert_eq!(seen.said(), "first\n");
    });
    assert_eq!(place.ok(["fs", "cat", "a.txt", "-w", "agent-2"]), "second\n");
    place.ok(["vault", "check"]);
}

#[needs(UserNamespace, "python3")]
#[test]
fn an_agent_that_forks_no_sessions_is_not_asked_to() {
    let place = place();
    let project = place.project();
    run(&place, &acp(&[], &["no-fork"]), "yes", async move |agent, _| {
        let hello = initialize(&agent).await.unwrap();
        assert!(hello.agent_capabilities.session_capabilities.fork.is_none());
        let session = open(&agent, &project).await;
        let fork = ForkSessionRequest::new(session, &project);
        let refused = agent.send_request(fork).block_task().await.unwrap_err();
        assert!(refused.message.contains("forks no sessions"), "{}", refused.message);
    });
    assert_eq!(place.json(&["workspace", "list"])["workspaces"].as_array().unwrap().len(), 1);
}

/// What an agent does not get of the user's settings is said where editors keep what agents print.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn settings_that_an_agent_does_not_get_are_named() {
    let place = place();
    let folder = place.path().join(".config/opencode");
    fs::create_dir_all(&folder).unwrap();
    let settings = "{\"provider\": {\"own\": {\"options\": {\"apiKey\": \"sk-0123456789abcdef0123456789abcdef\"}}}}\n";
    fs::write(folder.join("opencode.json"), settings).unwrap();
    let project = place.project();
    let arguments = ["acp", "--preset", "opencode", "--", "python3", "agent.py"];
    let ((), _, errors) = run(&place, &arguments, "yes", async move |agent, _seen| {
        initialize(&agent).await.unwrap();
        let session = open(&agent, &project).await;
        prompt(&agent, &session, "env HOME").await.unwrap();
    });
    let told = errors.lines().find(|line| line.contains("opencode.json"));
    assert!(told.is_some_and(|line| line.contains("credential")), "{errors}");
}

/// The preset of an agent says how it speaks to editors, and what it gets.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn an_agent_runs_by_its_preset() {
    let place = place();
    let presets = place.path().join(".config/offshoot/presets");
    fs::create_dir_all(&presets).unwrap();
    let preset = r#"
summary = "Mine"
programs = ["my-agent"]
[acp]
command = ["python3", "agent.py"]
set = { MINE_EDITOR = "yes" }
[env]
set = { MINE = "given" }
[[home]]
paths = [".mine"]
keep = "state"
"#;
    fs::write(presets.join("mine.toml"), preset).unwrap();
    fs::write(presets.join("silent.toml"), "summary = \"Silent\"\n").unwrap();
    let memory = place.path().join(".mine/memory");
    let memory = memory.display().to_string();
    let said = |arguments: &[&str], script: String| {
        let project = place.project();
        let (said, _, errors) = run(&place, arguments, "yes", async move |agent, seen| {
            initialize(&agent).await.unwrap();
            let session = open(&agent, &project).await;
            prompt(&agent, &session, &script).await.unwrap();
            seen.said()
        });
        (said, errors)
    };
    let script = format!("env MINE\nenv MINE_EDITOR\nwrite {memory} before");
    let (told, errors) = said(&["acp", "mine"], script);
    assert_eq!(told, "given\nyes");
    assert!(errors.contains("offshoot: preset mine"), "{errors}");
    // What it remembers is there the next time, and never in the user's home.
    let (told, _) = said(&["acp", "mine"], format!("cat {memory}"));
    assert_eq!(told.trim_end(), "before");
    assert!(!place.path().join(".mine").exists());
    // With a command of one's own, by name.
    let own = ["acp", "--preset", "mine", "--", "python3", "agent.py"];
    assert_eq!(said(&own, "env MINE".to_owned()).0, "given");
    let own = ["acp", "--preset", "none", "--", "python3", "agent.py"];
    assert_eq!(said(&own, "env MINE".to_owned()).0, "not set");
    let list = place.json(&["workspace", "list"])["workspaces"].clone();
    let names: Vec<&str> =
        list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["mine-1", "mine-2", "mine-3", "agent-1"]);
    // Presets that do not say how are named with the way out.
    let refused = place.run(["acp", "silent"]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(told.contains("does not say how") && told.contains("--preset silent -- CMD"), "{told}");
    let mut missing = place.command(["acp", "claude"]);
    let missing = missing.env("PATH", "/nowhere").output().unwrap();
    let told = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(told.contains("npm install -g @agentclientprotocol/claude-agent-acp"), "{told}");
}
