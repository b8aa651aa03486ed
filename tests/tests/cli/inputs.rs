//! Standard input of commands: it comes as it is written, ends when it ends, and nobody waits for it in vain.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Child, Stdio};

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use serde_json::Value;

use crate::transcript::demo_vault;

const MANY: usize = 100 << 20;

fn spawn(place: &Place, arguments: &[&str]) -> Child {
    let mut command = place.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Every line is answered before the next is written.
#[needs(UserNamespace)]
#[test]
fn input_comes_while_its_producer_goes_on() {
    let place = demo_vault();
    let answer = "while read line; do echo \"<$line>\"; done; echo end";
    for start in [&["exec", "-i"][..], &["exec", "-i", "--stream"], &["run"]] {
        let words = [start, &["-w", "fix", "--", "sh", "-c", answer]].concat();
        let mut child = spawn(&place, &words);
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        for word in ["one", "two", "three"] {
            writeln!(input, "{word}").unwrap();
            while !line.contains(&format!("<{word}>")) {
                line.clear();
                assert_ne!(output.read_line(&mut line).unwrap(), 0, "{words:?}: {word}");
            }
        }
        drop(input);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("end"), "{words:?}: {rest}");
        assert!(child.wait().unwrap().success(), "{words:?}");
    }
}

#[needs(UserNamespace)]
#[test]
fn an_envelope_has_what_was_read() {
    let place = demo_vault();
    for word in ["exec", "run"] {
        let options = if word == "exec" { &["-i"][..] } else { &[] };
        let words = [&[word][..], options, &["-w", "fix", "--json", "--", "cat"]].concat();
        let mut child = spawn(&place, &words);
        let mut input = child.stdin.take().unwrap();
        for part in ["one\n", "two\n"] {
            input.write_all(part.as_bytes()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        drop(input);
        let document = document_of(&child.wait_with_output().unwrap());
        assert_eq!(document["result"]["stdout"], "one\ntwo\n", "{document}");
        assert_eq!(document["request"]["stdin"], true, "{document}");
    }
}

#[needs(UserNamespace)]
#[test]
fn much_input_arrives_whole() {
    let place = demo_vault();
    let input = vec![b'x'; MANY];
    for start in [&["exec", "-i"][..], &["run"]] {
        let words = [start, &["-w", "fix", "--", "wc", "-c"]].concat();
        let text = place.ok_with(&words, &input);
        assert_eq!(text.trim(), MANY.to_string(), "{words:?}");
    }
    // Through the command and out again, with everything in between waiting for everything else.
    let passed = place.run_with(["run", "-w", "fix", "--", "cat"], &input);
    assert!(passed.status.success(), "{:?}", passed.status);
    assert!(passed.stdout == input, "{} bytes came back", passed.stdout.len());
}

#[needs(UserNamespace)]
#[test]
fn a_reader_that_has_enough_stops_nobody() {
    let place = demo_vault();
    let input = vec![b'x'; MANY];
    for start in [&["exec", "-i"][..], &["run"]] {
        let words = [start, &["-w", "fix", "--", "head", "-c", "3"]].concat();
        assert_eq!(place.ok_with(&words, &input), "xxx", "{words:?}");
        let words = [start, &["-w", "fix", "--", "true"]].concat();
        assert_eq!(place.ok_with(&words, &input), "", "{words:?}");
    }
}

/// Whoever writes finds out that nobody reads any more while the command still runs, as with a pipe of their own.
#[needs(UserNamespace)]
#[test]
fn a_producer_hears_that_nobody_reads() {
    let place = demo_vault();
    let script = "head -c 3; exec <&-; sleep 3; echo later";
    let mut child = spawn(&place, &["exec", "-i", "-w", "fix", "--", "sh", "-c", script]);
    let mut input = child.stdin.take().unwrap();
    let error = loop {
        if let Err(error) = input.write_all(&[b'x'; 4096]) {
            break error;
        }
    };
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    assert!(child.try_wait().unwrap().is_none(), "the command is over");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"xxxlater\n");
}

/// A command that never reads ends although its input does not.
#[needs(UserNamespace)]
#[test]
fn input_that_never_ends_is_not_waited_for() {
    let place = demo_vault();
    for start in [&["exec", "-i"][..], &["run"]] {
        let words = [start, &["-w", "fix", "--", "echo", "done"]].concat();
        let mut child = spawn(&place, &words);
        let input = child.stdin.take().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.stdout, b"done\n", "{words:?}");
        drop(input);
    }
}

#[needs(UserNamespace)]
#[test]
fn without_the_option_there_is_no_input() {
    let place = demo_vault();
    let output = place.run_with(["exec", "-w", "fix", "--json", "--", "wc", "-c"], b"four");
    let document: Value = document_of(&output);
    assert_eq!(document["result"]["stdout"], "0\n", "{document}");
    assert_eq!(document["request"]["stdin"], false, "{document}");
}

/// Who gives a command something to read that it does not get is told, from a pipe as from a file.
#[needs(UserNamespace)]
#[test]
fn input_that_nobody_reads_is_told() {
    let place = demo_vault();
    place.write("script", "echo ran\n");
    let told = |file: &str| {
        let mut command = place.command(["exec", "-w", "fix", "--", "sh", "-s"]);
        let file = std::fs::File::open(file).unwrap();
        let output = command.stdin(Stdio::from(file)).output().unwrap();
        assert_eq!(output.stdout, b"", "{output:?}");
        String::from_utf8_lossy(&output.stderr).contains("add -i to pass it on")
    };
    assert!(told(place.project().join("script").to_str().unwrap()));
    assert!(!told("/dev/null"));
}
