//! The shell on tokio: real hooks, files and time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use offshoot_kernel::{
    AgentHooks, AgentKernel, Amount, Budget, DeathCause, DeliveryPromise, EffectError, FileJournal,
    HostLimits, JobSchedule, JournalFault, KernelError, KernelJob, KernelLimits, KernelRefusal,
    LifeState, MemoryJournal, MissedRuns, PlanCall, PlanEffects, PlanEnd, PlanSpec, PlanStep,
    Planner, RestartPolicy, StepRun, SubTask, Supervisor, TaskContext, TaskFailure, TaskMessage,
    TaskOutcome, TaskQuestion, TaskRetry, TokioClock,
};
use serde_json::{Value, json};

/// Does what the body of a message says.
#[derive(Clone, Default)]
struct Hooks {
    effects: Arc<AtomicU32>,
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    bootstrap: Option<&'static str>,
    shutdown: Option<&'static str>,
}

impl Hooks {
    async fn life(word: Option<&'static str>) -> Result<(), String> {
        match word {
            Some("panic") => panic!("as planned"),
            Some("hang") => std::future::pending().await,
            Some(why) => Err(why.to_owned()),
            None => Ok(()),
        }
    }

    async fn effect(&self, task: &TaskContext) -> Result<Value, EffectError> {
        let effects = Arc::clone(&self.effects);
        let effect = || async move { Ok(json!(effects.fetch_add(1, Ordering::SeqCst) + 1)) };
        task.effect_once("effect", effect).await
    }
}

impl AgentHooks for Hooks {
    async fn on_bootstrap(&self) -> Result<(), String> {
        Self::life(self.bootstrap).await
    }

    async fn on_message(&self, task: TaskContext) -> Result<Value, TaskFailure> {
        match task.body().as_str().unwrap_or_default() {
            "panic" => panic!("as planned"),
            "fail" => Err(TaskFailure::fatal("as planned")),
            "hang" => {
                task.cancelled().cancelled().await;
                Err(TaskFailure::Cancelled)
            }
            "deaf" => std::future::pending().await,
            "slow" => {
                let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
                self.most.fetch_max(running, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(5)).await;
                self.running.fetch_sub(1, Ordering::SeqCst);
                Ok(Value::Null)
            }
            "effect" => {
                let value = match self.effect(&task).await {
                    Err(EffectError::Unknown { key }) => {
                        let found = self.effects.load(Ordering::SeqCst);
                        if found == 0 {
                            let why = "it did not happen".to_owned();
                            task.resolve_effect(&key, Err(why)).await?;
                            self.effect(&task).await?
                        } else {
                            task.resolve_effect(&key, Ok(json!(found))).await?;
                            json!(found)
                        }
                    }
                    known => known?,
                };
                if task.last_progress().is_none() {
                    task.progress(json!("half")).await?;
                    return Err(TaskFailure::retry("the second half"));
                }
                assert_eq!(value, json!(1), "it happened once");
                Ok(value)
            }
            "ask" => {
                task.heartbeat().await?;
                let question = TaskQuestion::new("deploy", "Deploy?").fallback(30, json!("no"));
                task.ask(question).await
            }
            "parts" => {
                let budget = Budget { tokens: Some(10), ..Budget::default() };
                for part in ["a", "b"] {
                    let mut sub_task = SubTask::new(json!("spend")).budget(budget);
                    sub_task.retry = TaskRetry { attempts: 9, base_ms: 1, max_ms: 1 };
                    task.spawn(part, sub_task).await?;
                }
                let mut outcomes = Vec::new();
                for part in ["a", "b"] {
                    outcomes.push(serde_json::to_value(task.join(part).await?).unwrap());
                }
                Ok(Value::Array(outcomes))
            }
            "spend" => {
                let hold = task.reserve(Amount::tokens(10)).await?;
                assert!(task.spend(Amount::tokens(1)).await.is_err(), "all of it is reserved");
                hold.settle(Amount::tokens(4)).await?;
                Ok(json!("spent"))
            }
            "plan" => {
                let spec = PlanSpec::new("plan", "A goal")
                    .step(PlanStep::new("one", "One"))
                    .step(PlanStep::new("two", "Two").after(["one"]));
                let planner = Planner::new(NoEffects, task.plan_store("plan"));
                let end = planner.run(&spec, task.cancelled()).await.map_err(TaskFailure::retry)?;
                assert_eq!(end, PlanEnd::Done);
                Ok(Value::Null)
            }
            "draw" => {
                let mut rng = fastrand::Rng::with_seed(task.id().0);
                let mut spent = 0;
                loop {
                    let wanted = rng.u64(1..40);
                    match task.reserve(Amount::tokens(wanted)).await {
                        Ok(hold) => {
                            tokio::task::yield_now().await;
                            let actual = rng.u64(0..=wanted);
                            hold.settle(Amount::tokens(actual)).await?;
                            spent += actual;
                        }
                        Err(KernelError::Refused(KernelRefusal::Budget(_))) => {
                            return Ok(json!(spent));
                        }
                        Err(error) => return Err(error.into()),
                    }
                }
            }
            _ => Ok(task.body().clone()),
        }
    }

    async fn on_tick(&self, _: TaskContext) -> Result<Value, TaskFailure> {
        self.effects.fetch_add(1, Ordering::SeqCst);
        Ok(Value::Null)
    }

    async fn on_shutdown(&self) -> Result<(), String> {
        Self::life(self.shutdown).await
    }
}

struct NoEffects;

impl PlanEffects for NoEffects {
    async fn run(&self, _: PlanCall, _: StepRun) -> Result<Value, String> {
        Ok(Value::Null)
    }

    async fn critique(
        &self,
        _: PlanCall,
        _: StepRun,
        _: Value,
    ) -> Result<offshoot_kernel::CritiqueVerdict, String> {
        Ok(offshoot_kernel::CritiqueVerdict::Accept)
    }

    async fn checkpoint(&self, _: PlanCall, _: String) -> Result<Value, String> {
        Ok(Value::Null)
    }

    async fn rollback(&self, _: PlanCall, _: String, _: Value) -> Result<(), String> {
        Ok(())
    }

    async fn merge(&self, _: PlanCall, _: String) -> Result<(), String> {
        Ok(())
    }
}

fn quick() -> KernelLimits {
    KernelLimits { hook_ms: 100, grace_ms: 20, ..KernelLimits::default() }
}

async fn start(hooks: Hooks, journal: MemoryJournal) -> AgentKernel {
    let kernel = AgentKernel::builder(hooks, journal).limits(quick()).start().await.unwrap();
    if *kernel.life().borrow() == LifeState::Init {
        kernel.boot().await.unwrap();
        kernel.activate().await.unwrap();
    }
    kernel
}

fn message(body: &str) -> TaskMessage {
    let retry = TaskRetry { attempts: 9, base_ms: 1, max_ms: 1 };
    TaskMessage::new("tester", json!(body)).retry(retry)
}

async fn done(kernel: &AgentKernel, body: &str) -> Value {
    match kernel.send(message(body)).await.unwrap().outcome().await.unwrap() {
        TaskOutcome::Done { answer } => answer,
        other => panic!("{body}: {other:?}"),
    }
}

#[tokio::test]
async fn hooks_do_what_a_context_offers() {
    let hooks = Hooks::default();
    let kernel = start(hooks.clone(), MemoryJournal::default()).await;
    kernel.set_budget(Budget { tokens: Some(100), ..Budget::default() }).await.unwrap();
    assert_eq!(done(&kernel, "echo").await, json!("echo"));
    assert_eq!(done(&kernel, "effect").await, json!(1), "the second attempt has the result");
    assert_eq!(hooks.effects.load(Ordering::SeqCst), 1);
    assert_eq!(done(&kernel, "ask").await, json!("no"));
    let parts = done(&kernel, "parts").await;
    assert_eq!(parts[1], json!({ "is": "done", "answer": "spent" }));
    let agent = kernel
        .view(|state| state.ledger.account(offshoot_kernel::AccountId::AGENT).cloned())
        .await
        .unwrap()
        .unwrap();
    assert_eq!((agent.spent.tokens, agent.reserved), (8, Amount::default()));
    done(&kernel, "plan").await;
    let tree = kernel.plan("plan").await.unwrap().unwrap();
    assert_eq!((tree.end, tree.steps[0].steps[0].id.as_str()), (Some(PlanEnd::Done), "two"));
}

#[tokio::test]
async fn questions_are_answered_from_outside() {
    let kernel = start(Hooks::default(), MemoryJournal::default()).await;
    let receipt = kernel.send(message("ask")).await.unwrap();
    let mut questions = Vec::new();
    while questions.is_empty() {
        tokio::task::yield_now().await;
        questions = kernel.questions().await.unwrap();
    }
    assert_eq!(questions[0].1.question.text, "Deploy?");
    kernel.answer(receipt.id, "deploy", json!("yes"), "somebody").await.unwrap();
    let answer = json!("yes");
    assert_eq!(receipt.outcome().await.unwrap(), TaskOutcome::Done { answer });
}

#[tokio::test]
async fn hooks_that_panic_fail_or_hang_do_not_end_the_kernel() {
    let journal = MemoryJournal::default();
    let limits = KernelLimits { task_ms: 50, ..quick() };
    let builder = AgentKernel::builder(Hooks::default(), journal).limits(limits);
    let kernel = builder.start().await.unwrap();
    kernel.boot().await.unwrap();
    kernel.activate().await.unwrap();
    for (body, expected) in [
        ("panic", DeathCause::Interrupted),
        ("fail", DeathCause::Failed),
        ("deaf", DeathCause::Interrupted),
        ("hang", DeathCause::Interrupted),
    ] {
        let once = message(body).promise(DeliveryPromise::Once);
        let outcome = kernel.send(once).await.unwrap().outcome().await.unwrap();
        let cause = matches!(&outcome, TaskOutcome::Dead { cause, .. } if *cause == expected);
        assert!(cause, "{body}: {outcome:?}");
    }
    let letters = kernel.dead_letters().await.unwrap();
    assert_eq!(letters.len(), 4);
    assert!(letters[0].why.contains("as planned"), "{}", letters[0].why);
    let receipt = kernel.send(message("hang")).await.unwrap();
    kernel.cancel(receipt.id).await.unwrap();
    assert_eq!(receipt.outcome().await.unwrap(), TaskOutcome::Cancelled);
    assert_eq!(done(&kernel, "echo").await, json!("echo"));
}

#[tokio::test]
async fn hooks_about_the_life_that_fail_are_failures_of_them_alone() {
    for word in ["no network", "panic", "hang"] {
        let hooks = Hooks { bootstrap: Some(word), ..Hooks::default() };
        let builder = AgentKernel::builder(hooks, MemoryJournal::default()).limits(quick());
        let kernel = builder.start().await.unwrap();
        let failed = kernel.boot().await;
        assert!(matches!(failed, Err(KernelError::Bootstrap(_))), "{word}: {failed:?}");
        assert_eq!(*kernel.life().borrow(), LifeState::Init);
        kernel.abort().await.unwrap();

        let hooks = Hooks { shutdown: Some(word), ..Hooks::default() };
        let kernel = start(hooks, MemoryJournal::default()).await;
        kernel.retire().await.unwrap();
        kernel.terminated().await.unwrap();
        let refused = kernel.send(message("echo")).await;
        let terminated = KernelRefusal::NotAccepting(LifeState::Terminated);
        assert!(matches!(refused, Err(KernelError::Refused(why)) if why == terminated), "{word}");
    }
}

#[tokio::test]
async fn a_second_message_with_a_key_gets_the_first_answer() {
    let kernel = start(Hooks::default(), MemoryJournal::default()).await;
    let first = kernel.send(message("hang").key("1")).await.unwrap();
    let second = kernel.send(message("echo").key("1")).await.unwrap();
    assert!(!first.duplicate && second.duplicate && first.id == second.id);
    kernel.cancel(first.id).await.unwrap();
    assert_eq!(first.outcome().await.unwrap(), TaskOutcome::Cancelled);
    assert_eq!(second.outcome().await.unwrap(), TaskOutcome::Cancelled);
    let third = kernel.send(message("echo").key("1")).await.unwrap();
    assert_eq!(third.outcome().await.unwrap(), TaskOutcome::Cancelled);
}

#[tokio::test]
async fn a_kernel_whose_journal_fails_says_so_and_goes_on_when_it_is_opened() {
    for fault in [JournalFault::Before, JournalFault::Torn, JournalFault::After] {
        let mut journal = MemoryJournal::default();
        let kernel = start(Hooks::default(), journal.clone()).await;
        journal.fail_at(journal.appends() + 1, fault);
        let failed = kernel.send(message("echo").key("1")).await;
        assert!(matches!(failed, Err(KernelError::Journal(_))), "{failed:?}");
        assert!(matches!(kernel.suspend().await, Err(KernelError::Journal(_))));
        kernel.stop().await;
        journal = journal.reopened();
        let kernel = start(Hooks::default(), journal).await;
        assert_eq!(*kernel.life().borrow(), LifeState::Active);
        let again = kernel.send(message("echo").key("1")).await.unwrap();
        assert_eq!(again.duplicate, fault == JournalFault::After);
        assert_eq!(again.outcome().await.unwrap(), TaskOutcome::Done { answer: json!("echo") });
    }
}

#[tokio::test]
async fn a_kernel_that_is_dropped_goes_on_from_its_files() {
    let directory = tempfile::tempdir().unwrap();
    let limits = KernelLimits { compact_after: 20, ..quick() };
    let mut expected = 0;
    for round in 0..4 {
        let journal = FileJournal::open(directory.path()).unwrap();
        let builder = AgentKernel::builder(Hooks::default(), journal).limits(limits);
        let kernel = builder.start().await.unwrap();
        if round == 0 {
            kernel.boot().await.unwrap();
            kernel.activate().await.unwrap();
        }
        let open = kernel.view(|state| state.tasks.len()).await.unwrap();
        assert!(open >= usize::from(round > 0), "what hung is open");
        for number in 0..10 {
            let message = message("echo").key(format!("{round}-{number}"));
            drop(kernel.send(message).await.unwrap().outcome().await.unwrap());
            expected += 1;
        }
        drop(kernel.send(message("hang").key("hang")).await.unwrap());
        let done = kernel.view(|state| state.counts.done).await.unwrap();
        assert_eq!(done, expected);
        kernel.stop().await;
    }
    let journal = FileJournal::open(directory.path()).unwrap();
    let contents = offshoot_kernel::KernelJournal::read(&journal).await.unwrap();
    assert!(contents.snapshot.is_some(), "it was compacted");
    assert!(contents.records.len() < 100, "{}", contents.records.len());
}

#[tokio::test]
async fn a_host_bounds_all_its_agents() {
    let host = HostLimits::new(2);
    let hooks = Hooks::default();
    let mut kernels = Vec::new();
    for _ in 0..4 {
        let builder = AgentKernel::builder(hooks.clone(), MemoryJournal::default());
        let kernel = builder.host(host.clone()).start().await.unwrap();
        kernel.boot().await.unwrap();
        kernel.activate().await.unwrap();
        kernels.push(kernel);
    }
    let mut receipts = Vec::new();
    for _ in 0..5 {
        for kernel in &kernels {
            receipts.push(kernel.send(message("slow")).await.unwrap());
        }
    }
    for receipt in receipts {
        assert!(matches!(receipt.outcome().await.unwrap(), TaskOutcome::Done { .. }));
    }
    assert_eq!(hooks.most.load(Ordering::SeqCst), 2);
    // Slots come back when nothing needs them, also those of agents that end.
    for kernel in &kernels {
        kernel.abort().await.unwrap();
    }
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    while host.free() < 2 && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(host.free(), 2);
}

#[tokio::test]
async fn jobs_run_by_the_clock() {
    let clock = Arc::new(TokioClock::starting_at(1_000_000));
    let hooks = Hooks::default();
    let job = KernelJob::new("beat", JobSchedule::Every { ms: 3_600_000 });
    let kernel = AgentKernel::builder(hooks.clone(), MemoryJournal::default())
        .clock(Arc::clone(&clock))
        .job(job.missed(MissedRuns::RunAll { bound: 10 }))
        .start()
        .await
        .unwrap();
    kernel.boot().await.unwrap();
    kernel.activate().await.unwrap();
    clock.jump(3 * 3_600_000);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    while hooks.effects.load(Ordering::SeqCst) < 3 && tokio::time::Instant::now() < deadline {
        // Any input has the kernel look at the clock.
        done(&kernel, "echo").await;
    }
    assert_eq!(hooks.effects.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn states_are_announced_in_order_and_when_they_are_durable() {
    let journal = MemoryJournal::default();
    let kernel = start(Hooks::default(), journal.clone()).await;
    let life = kernel.life();
    journal.fail_at(journal.appends() + 1, JournalFault::Before);
    assert!(kernel.suspend().await.is_err());
    assert_eq!(*life.borrow(), LifeState::Active, "it was never durable");
}

#[tokio::test]
async fn a_supervisor_starts_an_agent_again() {
    let journal = Arc::new(std::sync::Mutex::new(MemoryJournal::default()));
    let policy = RestartPolicy { max: 3, base_ms: 1, max_ms: 2, ..RestartPolicy::default() };
    let starts = AtomicU32::new(0);
    let supervisor = Supervisor::new(policy);
    let run = supervisor.run(|| async {
        let start_number = starts.fetch_add(1, Ordering::SeqCst);
        let opened = journal.lock().unwrap().reopened();
        *journal.lock().unwrap() = opened.clone();
        if start_number == 1 {
            // Opening fails, and `start` panics.
            opened.fail_at(1, JournalFault::Before);
        }
        let kernel = start(Hooks::default(), opened.clone()).await;
        if start_number == 0 {
            opened.fail_at(opened.appends() + 1, JournalFault::After);
        }
        let message = message("echo").key("1");
        let outcome = kernel.send(message).await?.outcome().await?;
        kernel.retire().await?;
        kernel.terminated().await?;
        Ok::<_, KernelError>(outcome)
    });
    assert_eq!(run.await.unwrap(), TaskOutcome::Done { answer: json!("echo") });
    assert_eq!(starts.load(Ordering::SeqCst), 3);
    let never = Supervisor::new(policy).run(|| async { Err::<(), _>("no") }).await;
    assert_eq!(never.unwrap_err().failures, 4);
}

#[tokio::test]
async fn hooks_that_draw_at_once_share_one_budget() {
    let kernel = start(Hooks::default(), MemoryJournal::default()).await;
    let budget = Budget { tokens: Some(5_000), ..Budget::default() };
    kernel.set_budget(budget).await.unwrap();
    let mut receipts = Vec::new();
    for number in 0..24 {
        // Some have a part of it for themselves.
        let own = Budget { tokens: Some(100), ..Budget::default() };
        let message = message("draw");
        let message = if number % 3 == 0 { message.budget(own) } else { message };
        receipts.push(kernel.send(message).await.unwrap());
        let exceeded = kernel.view(|state| {
            state.ledger.accounts().any(|(_, account)| {
                let used = account.spent.tokens + account.reserved.tokens;
                account.budget.tokens.is_some_and(|limit| used > limit)
            })
        });
        assert!(!exceeded.await.unwrap());
    }
    let mut sum = 0;
    for receipt in receipts {
        match receipt.outcome().await.unwrap() {
            TaskOutcome::Done { answer } => sum += answer.as_u64().unwrap(),
            other => panic!("{other:?}"),
        }
    }
    let agent = kernel
        .view(|state| state.ledger.account(offshoot_kernel::AccountId::AGENT).cloned())
        .await
        .unwrap()
        .unwrap();
    assert_eq!((agent.spent.tokens, agent.reserved.tokens), (sum, 0));
    assert!(sum <= 5_000 && sum > 4_800, "{sum}");
}

/// One life after another, of which the first ends at an append; returns how many appends there were without that.
async fn lives(fault: Option<(u64, JournalFault)>) -> u64 {
    const BODIES: [&str; 4] = ["echo", "effect", "parts", "ask"];
    let hooks = Hooks::default();
    let mut journal = MemoryJournal::default();
    if let Some((append, fault)) = fault {
        journal.fail_at(append, fault);
    }
    for life in 0..3 {
        let lived: Result<(), KernelError> = async {
            let builder = AgentKernel::builder(hooks.clone(), journal.clone()).limits(quick());
            let kernel = builder.start().await?;
            for _ in 0..2 {
                let now = *kernel.life().borrow();
                match now {
                    LifeState::Init => kernel.boot().await?,
                    LifeState::Ready => kernel.activate().await?,
                    LifeState::Retiring | LifeState::Terminated => {
                        return kernel.terminated().await;
                    }
                    LifeState::Active | LifeState::Suspended => {}
                }
            }
            let mut receipts = Vec::new();
            for body in BODIES {
                receipts.push(kernel.send(message(body).key(body)).await?);
            }
            for receipt in receipts {
                let outcome = receipt.outcome().await?;
                assert!(matches!(outcome, TaskOutcome::Done { .. }), "{fault:?}: {outcome:?}");
            }
            kernel.retire().await?;
            kernel.terminated().await
        }
        .await;
        match lived {
            Ok(()) => {
                let kernel = AgentKernel::builder(hooks, journal.reopened()).start().await.unwrap();
                let (counts, open, letters) = kernel
                    .view(|state| {
                        let bodies = state.letters.values().map(|letter| &letter.task.message.body);
                        (state.counts, state.tasks.len(), bodies.cloned().collect::<Vec<_>>())
                    })
                    .await
                    .unwrap();
                // What a part had reserved when it was cut off counts as spent, so it may have no budget left.
                assert!(letters.iter().all(|body| *body == json!("spend")), "{letters:?}");
                let closed = counts.done + letters.len() as u64;
                assert_eq!((closed, open), (6, 0), "{fault:?}: two of them are parts");
                return journal.appends();
            }
            Err(error) => {
                let expected = matches!(error, KernelError::Journal(_) | KernelError::Stopped);
                assert!(expected && life == 0, "{fault:?}: {error}");
            }
        }
        journal = journal.reopened();
    }
    panic!("{fault:?}: it does not end");
}

#[tokio::test]
async fn the_shell_loses_nothing_wherever_its_journal_fails() {
    let appends = lives(None).await;
    assert!(appends > 15, "{appends}");
    for append in 1..=appends {
        for fault in [JournalFault::Before, JournalFault::Torn, JournalFault::After] {
            lives(Some((append, fault))).await;
        }
    }
}
