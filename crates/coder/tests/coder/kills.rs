//! Conversations that are cut off at every event, and taken up again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use offshoot_coder::{AgentProgress, Coder, Rested};
use offshoot_needs::needs;

use crate::support::{World, block, options};

const APPENDS: &str = r#"
[[turn]]
say = [{ call = "run_command", id = "a", arguments = { command = "echo one >> log" } }]
[[turn]]
say = [{ call = "write_file", id = "b", arguments = { path = "b", content = "b\n" } }]
[[turn]]
say = [{ call = "run_command", id = "c", arguments = { command = "echo two >> log" } }]
[[turn]]
say = [{ text = "Done." }]
"#;

/// More events than there are.
const UNCUT: usize = 1000;

/// Runs until so many events were kept, and drops everything then; whether it was done before.
async fn run_until(world: &World, coder: Option<Coder>, most: usize) -> bool {
    let seen = Arc::new(AtomicUsize::new(0));
    let (told, over) = tokio::sync::oneshot::channel::<()>();
    let told = std::sync::Mutex::new(Some(told));
    let counted = Arc::clone(&seen);
    let listener = move |progress: AgentProgress| {
        if matches!(progress, AgentProgress::Event(_))
            && counted.fetch_add(1, Ordering::SeqCst) + 1 == most
            && let Some(told) = told.lock().unwrap().take()
        {
            told.send(()).unwrap_or(());
        }
    };
    drop(coder);
    let session = world.project.session("work").unwrap();
    let is_new = session.head().unwrap().events == 0;
    assert!(!is_new, "it was begun");
    let mut coder = Coder::resume(session, options(APPENDS).listener(listener)).await.unwrap();
    let work = async {
        match coder.state().entries().is_empty() {
            true => coder.say("Append").await,
            false => coder.run().await,
        }
    };
    tokio::select! {
        biased;
        _ = over => false,
        rested = work => {
            assert_eq!(rested.unwrap(), Rested::Idle { said: "Done.".to_owned() });
            true
        }
    }
}

#[needs(UserNamespace)]
#[test]
fn nothing_is_lost_or_done_twice_wherever_it_is_cut_off() {
    block(async {
        // An answer takes three: the log was opened, the model was asked, it answered.
        for step in [3, 4, 5, 6, 7, UNCUT] {
            let world = World::new();
            let (coder, workspace) = world.coder(APPENDS).await;
            let mut coder = Some(coder);
            let mut rounds = 0;
            while !run_until(&world, coder.take(), step).await {
                rounds += 1;
                assert!(rounds < 100, "it never ends");
                // What a dropped call started may still run.
                tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            }
            let log = String::from_utf8(workspace.read("/log").unwrap_or_default()).unwrap();
            let events = world.project.session("work").unwrap().events(1, 256).unwrap();
            let cut = events.iter().filter(|event| event.kind == "call_ended").filter(|event| {
                ["cut short", "interrupted"].iter().any(|word| event.body.contains(word))
            });
            let cut = cut.count();
            let lines: Vec<&str> = log.lines().collect();
            // A command that was killed with its agent is told so, and is not run once more.
            assert!(matches!(&lines[..], [] | ["one"] | ["two"] | ["one", "two"]), "{log}");
            assert!(lines.len() + cut >= 2, "{step}: {log}, {cut} were cut short");
            assert!(step < UNCUT || lines.len() == 2, "nothing was cut off");
            assert_eq!(workspace.read("/b").unwrap(), b"b\n");
        }
    });
}
