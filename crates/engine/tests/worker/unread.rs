//! Events that nobody reads: the command waits, and can be ended all the same.

use std::time::Duration;

use offshoot_engine::exec::{Command, Event, Events};
use offshoot_needs::needs;

use crate::support::{both, changed, place, wait_for_output};

/// How much was printed of what is there to read; the rest must be whole.
fn printed(events: Events) -> usize {
    let events: Vec<Event> = events.collect();
    assert_eq!(events.last(), Some(&Event::Finished));
    let sizes = events.iter().map(|event| match event {
        Event::Output { bytes, .. } => bytes.len(),
        Event::Skipped { .. } => panic!("something is missing"),
        _ => 0,
    });
    sizes.sum()
}

#[needs(UserNamespace)]
#[test]
fn the_time_of_a_command_is_over_all_the_same() {
    let place = place();
    for (project, name) in both(&place).iter().zip(["threads", "workers"]) {
        let workspace = project.fork(name).unwrap();
        let command = Command::shell("touch one; yes").timeout(Duration::from_millis(500));
        let exec = workspace.exec(command).unwrap();
        let events = exec.events();
        assert!(exec.wait().result.timed_out, "{name}");
        assert_eq!(changed(&workspace), ["/one"], "{name}");
        assert!(printed(events) > 1 << 20, "{name}");
    }
}

#[needs(UserNamespace)]
#[test]
fn it_can_be_cancelled_and_killed() {
    let place = place();
    for (project, name) in both(&place).iter().zip(["threads", "workers"]) {
        let workspace = project.fork(name).unwrap();
        for way in ["cancel", "kill"] {
            let exec = workspace.exec(Command::shell("touch one; yes")).unwrap();
            let events = exec.events();
            wait_for_output(&exec);
            std::thread::sleep(Duration::from_millis(200));
            match way {
                "cancel" => exec.cancel(),
                _ => drop(place.ok(["kill", &exec.id().to_string()])),
            }
            assert!(exec.wait().result.interrupted, "{name} {way}");
            drop(events);
        }
    }
}

/// The command waits for its reader, and goes on when there is room.
#[needs(UserNamespace)]
#[test]
fn a_reader_who_takes_his_time_gets_all_of_it() {
    const SIZE: usize = 10_000_000;
    let place = place();
    for (project, name) in both(&place).iter().zip(["threads", "workers"]) {
        let workspace = project.fork(name).unwrap();
        let exec = workspace.exec(["head", "-c", &SIZE.to_string(), "/dev/zero"]).unwrap();
        let events = exec.events();
        std::thread::sleep(Duration::from_millis(500));
        assert!(exec.outcome().is_none(), "{name}: it waits");
        assert_eq!(printed(events), SIZE, "{name}");
        // Nobody reads, and nobody waits for that.
        let exec = workspace.exec(["head", "-c", &SIZE.to_string(), "/dev/zero"]).unwrap();
        assert!(exec.wait().is_success(), "{name}");
        // One who leaves is not waited for.
        let exec = workspace.exec(["head", "-c", &SIZE.to_string(), "/dev/zero"]).unwrap();
        drop(exec.events());
        assert!(exec.wait().is_success(), "{name}");
    }
}
