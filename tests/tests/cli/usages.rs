//! What a command used, as the envelope tells it.

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use serde_json::Value;

use crate::transcript::demo_vault;

fn usage(place: &Place, options: &[&str], script: &str) -> Value {
    let words = [&["exec", "-w", "fix", "--json"][..], options, &["--shell", script]].concat();
    let document = document_of(&place.run(words));
    assert_eq!(document["success"], true, "{document}");
    document["result"]["usage"].clone()
}

fn number(usage: &Value, name: &str) -> u64 {
    usage[name].as_u64().unwrap_or_else(|| panic!("{name}: {usage}"))
}

const FIVE: u64 = 5 << 20;

#[needs(UserNamespace)]
#[test]
fn what_is_written_is_counted() {
    let place = demo_vault();
    let nothing = usage(&place, &[], "cat README.md");
    assert_eq!(number(&nothing, "kept_bytes"), 0, "{nothing}");
    assert!(number(&nothing, "written_bytes") < 100_000, "{nothing}");
    for options in [&[][..], &["--driver", "copy"]] {
        let written = usage(&place, options, "head -c 5242880 /dev/urandom > big");
        assert_eq!(number(&written, "kept_bytes"), FIVE, "{options:?}: {written}");
        let bytes = number(&written, "written_bytes");
        assert!((FIVE..FIVE + 1_000_000).contains(&bytes), "{options:?}: {written}");
    }
    // What was taken away again was written all the same.
    let gone = usage(&place, &[], "head -c 5242880 /dev/urandom > gone; sync gone; rm gone");
    assert_eq!(number(&gone, "kept_bytes"), 0, "{gone}");
    assert!(number(&gone, "written_bytes") >= FIVE, "{gone}");
    // Memory is no disk.
    let memory = usage(&place, &[], "head -c 5242880 /dev/urandom > /tmp/big");
    assert!(number(&memory, "written_bytes") < 100_000, "{memory}");
    // A byte more in a large file keeps all of it, and a new mode nothing.
    let one = usage(&place, &[], "echo x >> big");
    assert_eq!(number(&one, "kept_bytes"), FIVE + 2, "{one}");
    let mode = usage(&place, &[], "chmod 600 big");
    assert_eq!(number(&mode, "kept_bytes"), 0, "{mode}");
    let moved = usage(&place, &[], "mv big large");
    assert_eq!(number(&moved, "kept_bytes"), FIVE + 2, "{moved}");
}

#[needs(UserNamespace)]
#[test]
fn time_and_memory_are_counted() {
    let place = demo_vault();
    let idle = usage(&place, &[], "sleep 0.3");
    assert!(number(&idle, "user_ms") + number(&idle, "system_ms") < 250, "{idle}");
    // Children of children count, also those that nobody waited for but the init.
    let loops = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let busy = usage(&place, &[], &format!("(sh -c '{loops}' & wait)"));
    assert!(number(&busy, "user_ms") >= 50, "{busy}");
    assert!(number(&busy, "user_ms") > 2 * number(&idle, "user_ms"), "{busy}");
    let memory = usage(&place, &[], "head -c 50000000 /dev/zero | tail -n 1 | wc -c");
    assert!(number(&memory, "max_resident_bytes") > 50_000_000, "{memory}");
}

#[needs(UserNamespace)]
#[test]
fn processes_are_counted() {
    let place = demo_vault();
    let one = number(&usage(&place, &[], "true"), "processes");
    let eleven = "for i in 0 1 2 3 4 5 6 7 8 9; do /bin/true; done";
    assert_eq!(number(&usage(&place, &[], eleven), "processes"), one + 10);
    let nested = "sh -c 'sh -c \"/bin/true; /bin/true\"; exit 0'; exit 0";
    assert!(number(&usage(&place, &[], nested), "processes") > one + 2);
}
