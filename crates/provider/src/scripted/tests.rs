use super::*;
use crate::message::Message;

const SCRIPT: &str = r#"
version = 1
chunk = 4

[[turn]]
expect = { last_contains = "list", tools = ["shell"] }
delay = "1ms"
say = [
  { reasoning = "I should look." },
  { text = "Let me sée." },
  { call = "shell", id = "c1", arguments = { command = "ls" } },
  { call = "shell", id = "c2", arguments = "{broken" },
]
usage = { input = 10, output = 5 }
fail = { kind = "network", after = 3, times = 1, message = "cut" }

[[turn]]
when = { tool_failed = true }
say = [{ text = "That failed." }]

[[turn]]
say = [{ text = "Done." }]
stop = "length"
"#;

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn request(text: &str) -> Request {
    let request = Request::new("m").message(Message::user([Block::text(text)]));
    request.tool("shell", "Runs", serde_json::json!({"type": "object"}))
}

#[test]
fn turns_answer_by_position_and_by_condition() {
    run(async {
        let scripted = Scripted::parse(SCRIPT).unwrap();
        let first = request("list it");
        let error = scripted.complete(&first).await.unwrap_err();
        assert_eq!((error.kind(), error.details().message.as_str()), (ErrorKind::Network, "cut"));
        let answer = scripted.complete(&first).await.unwrap();
        assert_eq!(answer.message.text(), "Let me sée.");
        assert_eq!(answer.stop, StopReason::ToolCalls);
        assert_eq!(answer.usage.input, Some(10));
        let calls: Vec<&CallBlock> = answer.message.calls().collect();
        assert_eq!(calls[0].arguments, r#"{"command":"ls"}"#);
        assert_eq!(calls[1].arguments, "{broken");
        let call = calls[0].clone();
        let failed = first.clone().message(answer.message.clone());
        let good = failed.clone().message(Message::user([Block::result(&call, [])]));
        let failed = failed.message(Message::user([Block::failure(&call, "no")]));
        assert_eq!(scripted.complete(&failed).await.unwrap().message.text(), "That failed.");
        let last = scripted.complete(&good).await.unwrap();
        assert_eq!((last.message.text().as_str(), last.stop), ("Done.", StopReason::Length));
        let beyond = good.message(Message::assistant([Block::text("x")]));
        let error = scripted.complete(&beyond).await.unwrap_err();
        assert!(error.to_string().contains("no turn 3"), "{error}");
    });
}

#[test]
fn what_is_not_expected_is_told() {
    run(async {
        let scripted = Scripted::parse(SCRIPT).unwrap();
        let error = scripted.complete(&request("other")).await.unwrap_err();
        assert!(error.to_string().contains("is \"other\", without \"list\""), "{error}");
        let mut without = request("list");
        without.tools.clear();
        let error = scripted.complete(&without).await.unwrap_err();
        assert!(error.to_string().contains("there is no tool shell"), "{error}");
    });
}

#[test]
fn wrong_scripts_are_told() {
    for (script, what) in [
        ("version = 2", "version 2 is not known"),
        ("version = 1\nx = 1", "unknown field"),
        ("version = 1\n[[turn]]\nsay = [{ txt = \"\" }]", "did not match"),
        ("version = 1\n[[turn]]\ndelay = \"soon\"", "is no time"),
        ("version = 1\n[[turn]]\nfail = { kind = \"other\" }", "unknown variant"),
    ] {
        let error = Scripted::parse(script).err().unwrap();
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn deltas_are_of_the_size_that_is_said() {
    assert_eq!(pieces("aäbc", 3), ["aäb", "c"]);
    assert_eq!(pieces("abc", 0), ["abc"]);
    assert_eq!(pieces("", 3), [""; 0]);
}
