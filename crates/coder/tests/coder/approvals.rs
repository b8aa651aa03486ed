//! Commands that need the approval of a person.

use offshoot_coder::{Coder, Rested, UserDecision};
use offshoot_engine::exec::{Command, Event};
use offshoot_engine::session::SessionState;
use offshoot_needs::needs;

use crate::support::{World, block, options};

const REMOVES: &str = r#"
[[turn]]
say = [{ call = "run_command", id = "a", arguments = { command = "rm -r old" } }]
[[turn]]
say = [{ text = "Done." }]
"#;

async fn asked() -> (World, offshoot_engine::Workspace, Coder, Vec<offshoot_coder::PendingQuestion>)
{
    let world = World::new();
    std::fs::create_dir(world.folder().join("old")).unwrap();
    std::fs::write(world.folder().join("old/file"), "old\n").unwrap();
    let (mut coder, workspace) = world.coder(REMOVES).await;
    let Rested::Waiting(questions) = coder.say("Remove what is old").await.unwrap() else {
        panic!("it has to be asked");
    };
    assert_eq!(questions.len(), 1);
    assert!(questions[0].is_approval && questions[0].text.contains("old/file"), "{questions:?}");
    assert_eq!(coder.session().head().unwrap().state, SessionState::Waiting);
    assert!(workspace.read("/old/file").is_ok());
    (world, workspace, coder, questions)
}

#[needs(UserNamespace)]
#[test]
fn what_is_approved_after_a_restart_is_done_once() {
    block(async {
        let (world, workspace, coder, questions) = asked().await;
        drop(coder);
        let session = world.again().session("work").unwrap();
        let mut coder = Coder::resume(session, options(REMOVES)).await.unwrap();
        assert_eq!(coder.run().await.unwrap(), Rested::Waiting(questions.clone()));
        let rested = coder.decide(&questions[0].key, UserDecision::Allow).await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "Done.".to_owned() });
        assert!(workspace.read("/old/file").is_err());
        assert!(world.project.pending().unwrap().is_empty());
        workspace.undo().unwrap();
        assert!(workspace.read("/old/file").is_ok());
    });
}

#[needs(UserNamespace)]
#[test]
fn what_is_denied_changes_nothing_and_is_denied_in_the_vault() {
    block(async {
        let (world, workspace, mut coder, questions) = asked().await;
        let deny = UserDecision::Deny { why: Some("still in use".to_owned()) };
        let rested = coder.decide(&questions[0].key, deny).await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "Done.".to_owned() });
        assert!(workspace.read("/old/file").is_ok());
        assert!(world.project.pending().unwrap().is_empty());
        let events = coder.session().events(1, 256).unwrap();
        assert!(events.iter().any(|event| event.body.contains("still in use")));
    });
}

/// What was allowed while the workspace was busy still waits for somebody, who is asked again.
#[needs(UserNamespace)]
#[test]
fn what_could_not_be_approved_is_asked_again() {
    block(async {
        let (world, workspace, mut coder, questions) = asked().await;
        let other = workspace.exec(Command::shell("sleep 600")).unwrap();
        assert!(other.events().any(|event| matches!(event, Event::Started { .. })));
        let key = &questions[0].key;
        let rested = coder.decide(key, UserDecision::Allow).await.unwrap();
        let Rested::Waiting(again) = rested else { panic!("{rested:?}") };
        assert!(again[0].is_approval && again[0].text.contains("busy"), "{again:?}");
        assert_eq!(world.project.pending().unwrap().len(), 1);
        other.cancel();
        other.wait();
        let rested = coder.decide(key, UserDecision::Allow).await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "Done.".to_owned() });
        assert!(workspace.read("/old/file").is_err());
        assert!(world.project.pending().unwrap().is_empty());
    });
}
