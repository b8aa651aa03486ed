//! Commands that only read share a workspace with whoever else uses it.

use std::thread;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use serde_json::Value;

use crate::background::Background;
use crate::transcript::demo_vault;

/// How many read at once.
const CROWD: usize = 10;

fn place() -> Place {
    let place = demo_vault();
    place.ok_with(
        ["fs", "write", "/shared", "-q", "-w", "fix"],
        b"before
",
    );
    place
}

/// What a command that only reads prints; it must succeed.
fn read(place: &Place) -> Value {
    let arguments = ["exec", "-w", "fix", "--read-only", "--json", "--", "cat", "shared"];
    let document = document_of(&place.run(arguments));
    assert_eq!(document["success"], true, "{document:#}");
    document["result"]["stdout"].clone()
}

#[needs(Overlay, UserNamespace)]
#[test]
fn a_reader_beside_a_writer_sees_the_state_before() {
    let place = place();
    let writer = Background::start(&place, "echo after > shared; echo ready; exec sleep 300");
    assert_eq!(read(&place), "before\n");
    let crowd: Vec<Value> = thread::scope(|scope| {
        let readers: Vec<_> = (0..CROWD).map(|_| scope.spawn(|| read(&place))).collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).collect()
    });
    assert_eq!(crowd, vec![Value::from("before\n"); CROWD]);
    // Another writer is still kept out.
    let busy = document_of(&place.run(["exec", "-w", "fix", "--json", "--", "true"]));
    assert_eq!(busy["result"]["error"]["code"], "busy", "{busy:#}");
    place.ok(["kill", &writer.exec]);
    writer.wait();
    assert_eq!(read(&place), "after\n");
    place.ok(["vault", "check"]);
}

#[needs(Overlay, UserNamespace)]
#[test]
fn a_writer_does_not_wait_for_readers() {
    let place = place();
    let reads = ["exec", "-w", "fix", "--read-only", "--shell", "echo ready; sleep 3; cat shared"];
    let reader = Background::start_with(&place, &reads);
    let wrote =
        document_of(&place.run(["exec", "-w", "fix", "--json", "--shell", "echo after > shared"]));
    assert_eq!(wrote["success"], true, "{wrote:#}");
    place.ok(["gc", "--keep-operations", "0", "--keep-age", "0s"]);
    let envelope = reader.envelope();
    assert_eq!(envelope["result"]["stdout"], "ready\nbefore\n", "{envelope:#}");
    assert_eq!(envelope["success"], true, "{envelope:#}");
    assert_eq!(read(&place), "after\n");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn a_workspace_can_be_deleted_under_a_reader() {
    let place = place();
    let reads = ["exec", "-w", "fix", "--read-only", "--shell", "echo ready; sleep 3; cat shared"];
    let reader = Background::start_with(&place, &reads);
    let exec = reader.exec.clone();
    place.ok(["workspace", "delete", "fix"]);
    place.ok(["gc", "--keep-operations", "0", "--keep-age", "0s"]);
    let envelope = reader.envelope();
    assert_eq!(envelope["result"]["stdout"], "ready\nbefore\n", "{envelope:#}");
    assert_eq!(envelope["success"], true, "{envelope:#}");
    assert_eq!(place.json(&["recover", "list"])["recoverable"], serde_json::json!([]));
    assert_eq!(place.ok(["logs", &exec]), "ready\nbefore\n");
    place.ok(["vault", "check"]);
}
