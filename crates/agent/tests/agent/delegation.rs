//! Sub-agents.

use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use offshoot_agent::{
    Agent, AgentCallKey, AgentParts, ConversationId, Delegation, DelegationParts, ForkedWorkspace,
    Grant, MemoryLog, MemoryLogs, MergedWork, Rested, TurnLimits, UserDecision, WorkspaceForks,
};
use offshoot_provider::Request;

use crate::models::{Model, calls, events, text};
use crate::support::{CutLog, World, block_on, parts, settings};

/// For which call, which world, and whether it was merged.
type MadeFork = (AgentCallKey, Arc<World>, bool);

/// Forks of one world: each is a world of its own, and merging adds its file.
#[derive(Clone)]
struct Forks {
    parent: Arc<World>,
    made: Arc<Mutex<Vec<MadeFork>>>,
}

impl Forks {
    fn of(parent: &Arc<World>) -> Self {
        Self { parent: parent.clone(), made: Arc::default() }
    }

    fn world(&self, key: &AgentCallKey) -> Option<Arc<World>> {
        let made = self.made.lock().unwrap();
        made.iter().find(|(of, ..)| of == key).map(|(_, world, _)| world.clone())
    }
}

impl WorkspaceForks for Forks {
    fn fork(&self, key: &AgentCallKey) -> BoxFuture<'static, Result<ForkedWorkspace, String>> {
        let world = self.world(key).unwrap_or_else(|| {
            let world = World::new();
            self.made.lock().unwrap().push((key.clone(), world.clone(), false));
            world
        });
        let forks = Arc::new(Self::of(&world));
        ready(Ok(ForkedWorkspace { tools: Arc::new(world.tools()), forks })).boxed()
    }

    fn merge(&self, key: &AgentCallKey) -> BoxFuture<'static, Result<MergedWork, String>> {
        let mut made = self.made.lock().unwrap();
        let Some((_, world, merged)) = made.iter_mut().find(|(of, ..)| of == key) else {
            return ready(Err("there is no such fork".to_owned())).boxed();
        };
        if !std::mem::replace(merged, true) {
            let text =
                std::fs::read_to_string(world.directory.path().join("file")).unwrap_or_default();
            let path = self.parent.directory.path().join("file");
            let before = std::fs::read_to_string(&path).unwrap_or_default();
            std::fs::write(path, before + &text).unwrap();
        }
        ready(Ok(MergedWork { is_clean: true, summary: "1 file merged".to_owned() })).boxed()
    }
}

struct Scene {
    world: Arc<World>,
    forks: Forks,
    logs: MemoryLogs,
    model: Model,
}

impl Scene {
    /// The parent delegates a task; the sub-agent is who got it.
    fn new(delegated: &'static str, sub_agent: Vec<offshoot_provider::Message>) -> Self {
        let model = Model::new(move |request, _| {
            let answers = request.messages.len() / 2;
            if first(request).starts_with("Sub") {
                return events(sub_agent[answers.min(sub_agent.len() - 1)].clone());
            }
            match answers {
                0 => events(calls(&[("delegate", delegated)])),
                _ => events(text("All done.")),
            }
        });
        let world = World::new();
        Self { forks: Forks::of(&world), world, logs: MemoryLogs::default(), model }
    }

    fn parts(&self, log: impl offshoot_agent::EventLog + 'static, grant: Grant) -> AgentParts {
        let mut parts = parts(self.model.clone(), &self.world, log);
        let delegation = DelegationParts {
            provider: parts.provider.clone(),
            logs: Arc::new(self.logs.clone()),
            settings: settings(),
            layers: Vec::new(),
            listener: parts.listener.clone(),
            clock: parts.clock.clone(),
            redactor: parts.redactor.clone(),
        };
        let tools = Arc::new(self.world.tools());
        parts.tools =
            Arc::new(Delegation::new(tools, Arc::new(self.forks.clone()), grant, delegation));
        parts
    }

    async fn run(&self, log: &MemoryLog, grant: Grant) -> (Agent, Rested) {
        let id = ConversationId::new("p");
        let parts = self.parts(log.clone(), grant);
        let mut agent = Agent::begin(parts, id, settings(), Vec::new()).await.unwrap();
        let rested = agent.say("Parent").await.unwrap();
        (agent, rested)
    }

    fn file(&self) -> String {
        std::fs::read_to_string(self.world.directory.path().join("file")).unwrap_or_default()
    }

    /// The result that the parent's model got.
    fn result(&self) -> String {
        let parents =
            self.model.requests().into_iter().filter(|it| first(it).starts_with("Parent"));
        format!("{:?}", parents.last().unwrap().messages.last().unwrap())
    }
}

fn first(request: &Request) -> String {
    request.messages[0].text()
}

fn root() -> Grant {
    Grant::root(TurnLimits::default(), 1)
}

#[test]
fn a_sub_agent_works_in_a_fork_that_is_merged() {
    let sub_agent = vec![calls(&[("write", r#"{"text":"1"}"#)]), text("I wrote it.")];
    let scene = Scene::new(r#"{"task":"Sub: write"}"#, sub_agent);
    block_on(async {
        let (agent, rested) = scene.run(&MemoryLog::default(), root()).await;
        assert_eq!(rested, Rested::Idle { said: "All done.".to_owned() });
        // Two answers of the parent, two of the sub-agent.
        assert_eq!(agent.state().spent().tokens, 4 * 60);
    });
    assert_eq!(scene.file(), "1");
    assert!(scene.world.writes.lock().unwrap().is_empty(), "the parent wrote nothing itself");
    let result = scene.result();
    assert!(result.contains("I wrote it.") && result.contains("1 file merged"), "{result}");
    let sub_requests: Vec<Request> =
        scene.model.requests().into_iter().filter(|it| first(it).starts_with("Sub")).collect();
    let tools: Vec<&str> = sub_requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(tools.contains(&"write") && !tools.contains(&"delegate"), "one level only");
}

#[test]
fn rights_and_budgets_only_narrow() {
    let write = || calls(&[("write", r#"{"text":"1"}"#)]);
    let read_only = Scene::new(r#"{"task":"Sub","read_only":true}"#, vec![write(), text("No.")]);
    let others =
        Scene::new(r#"{"task":"Sub","tools":["read","nothing"]}"#, vec![write(), text("No.")]);
    let few = Scene::new(r#"{"task":"Sub","steps":1}"#, vec![write(), text("No.")]);
    for scene in [&read_only, &others] {
        block_on(scene.run(&MemoryLog::default(), root()));
        assert_eq!(scene.file(), "");
        let fork = scene.forks.made.lock().unwrap()[0].1.clone();
        assert!(fork.writes.lock().unwrap().is_empty());
    }
    let requests = others.model.requests();
    let sub = requests.iter().find(|it| first(it).starts_with("Sub")).unwrap();
    assert_eq!(sub.tools.len(), 1);
    block_on(few.run(&MemoryLog::default(), root()));
    assert!(few.result().contains("the model answered 1 times"), "{}", few.result());
    assert_eq!(few.file(), "", "what was not finished is not merged");

    // What is left of the parent's tokens is all that a sub-agent has, whatever it is given.
    let greedy = Scene::new(r#"{"task":"Sub","tokens":100000}"#, vec![write()]);
    block_on(async {
        let mut limited = settings();
        limited.limits.tokens = Some(200);
        let parts = greedy.parts(MemoryLog::default(), root());
        let id = ConversationId::new("p");
        let mut agent = Agent::begin(parts, id, limited, Vec::new()).await.unwrap();
        agent.say("Parent").await.unwrap();
        assert!(agent.state().spent().tokens <= 60 + 140 + 60, "{:?}", agent.state().spent());
    });
}

#[test]
fn what_a_sub_agent_may_not_do_alone_the_user_is_asked() {
    let sub_agent = vec![
        calls(&[("danger", r#"{"text":"1"}"#)]),
        calls(&[("danger", r#"{"text":"2"}"#)]),
        text("Done."),
    ];
    let scene = Scene::new(r#"{"task":"Sub"}"#, sub_agent);
    block_on(async {
        let (mut agent, rested) = scene.run(&MemoryLog::default(), root()).await;
        let Rested::Waiting(questions) = rested else { panic!("{rested:?}") };
        assert!(questions[0].text.contains("dangerous"), "{questions:?}");
        let key = questions[0].key.clone();
        // One yes is for one call.
        let rested = agent.decide(&key, UserDecision::Allow, None).await.unwrap();
        assert!(matches!(rested, Rested::Waiting(_)), "{rested:?}");
        assert_eq!(scene.file(), "");
        let rested = agent.decide(&key, UserDecision::Allow, None).await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "All done.".to_owned() });
    });
    assert_eq!(scene.file(), "12");
}

#[test]
fn a_sub_agent_that_is_killed_goes_on() {
    let sub_agent = || vec![calls(&[("write", r#"{"text":"1"}"#)]), text("I wrote it.")];
    for most in 2..14 {
        let scene = Scene::new(r#"{"task":"Sub: write"}"#, sub_agent());
        let log = MemoryLog::default();
        block_on(async {
            let cut = CutLog { log: log.clone(), most, at_once: false };
            let parts = scene.parts(cut, root());
            let id = ConversationId::new("p");
            let mut agent = Agent::begin(parts, id, settings(), Vec::new()).await.unwrap();
            let killed = agent.say("Parent").await.is_err();
            drop(agent);
            assert!(killed || most >= 10);
            // The sub-agent is cut off as well.
            let sub_log = scene.logs.log(&ConversationId::new("p/1/0"));
            assert!(most < 7 || !sub_log.records().is_empty());
            let mut agent = Agent::open(scene.parts(log, root()), None, Vec::new()).await.unwrap();
            let rested = match agent.state().entries().is_empty() {
                true => agent.say("Parent").await.unwrap(),
                false => agent.run().await.unwrap(),
            };
            assert_eq!(rested, Rested::Idle { said: "All done.".to_owned() }, "{most}");
        });
        assert_eq!(scene.file(), "1", "{most}");
    }
}
