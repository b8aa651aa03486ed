//! Figures of the kernel, as ratios to a plain channel and a plain file in the same run.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use offshoot_kernel::{
    AgentHooks, AgentKernel, FileJournal, KernelJournal, MemoryJournal, TaskContext, TaskFailure,
    TaskMessage,
};
use serde_json::{Value, json};

const TASKS: usize = 5_000;
const ALONE: usize = 300;
const AGENTS: usize = 1_000;
const PENDING: usize = 10_000;

type Failure = Box<dyn std::error::Error>;

struct Nothing;

impl AgentHooks for Nothing {
    async fn on_message(&self, _: TaskContext) -> Result<Value, TaskFailure> {
        Ok(Value::Null)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let parent = std::env::args_os().nth(1).unwrap_or_else(|| std::env::temp_dir().into());
    let directory = tempfile::tempdir_in(parent)?;
    let mut report = Vec::new();
    // Memory first: later on, what was freed would be used again.
    idle(&mut report).await?;
    overhead(&mut report).await?;
    durable(directory.path(), &mut report).await?;
    restart(directory.path(), &mut report).await?;
    std::io::stdout().write_all(report.join("\n").as_bytes())?;
    std::io::stdout().write_all(b"\n")?;
    Ok(())
}

async fn active<J: KernelJournal>(journal: J) -> Result<AgentKernel, Failure> {
    let kernel = AgentKernel::builder(Nothing, journal).start().await?;
    kernel.boot().await?;
    kernel.activate().await?;
    Ok(kernel)
}

fn message(number: usize) -> TaskMessage {
    TaskMessage::new("figures", json!({ "number": number })).key(number.to_string())
}

/// What a task costs without a disk, beside a channel there and back.
async fn overhead(report: &mut Vec<String>) -> Result<(), Failure> {
    let kernel = active(MemoryJournal::default()).await?;
    let kernel_time = each(TASKS, async |number| {
        drop(kernel.send(message(number)).await?.outcome().await?);
        Ok(())
    })
    .await?;
    let (sender, mut receiver) = tokio::sync::mpsc::channel::<tokio::sync::oneshot::Sender<()>>(64);
    tokio::spawn(async move {
        while let Some(reply) = receiver.recv().await {
            tokio::spawn(async move { reply.send(()) });
        }
    });
    let plain = each(TASKS, async |_| {
        let (reply, replied) = tokio::sync::oneshot::channel();
        sender.send(reply).await?;
        Ok(replied.await?)
    })
    .await?;
    report.push(format!(
        "task, in memory:          {:8.1} us each, {:5.1} times a channel there and back ({:.1} us)",
        micros(kernel_time),
        ratio(kernel_time, plain),
        micros(plain),
    ));
    Ok(())
}

/// What a durable task costs, one after the other and many at once, beside a synced append.
async fn durable(directory: &Path, report: &mut Vec<String>) -> Result<(), Failure> {
    let kernel = active(FileJournal::open(&directory.join("durable"))?).await?;
    let alone = each(ALONE, async |number| {
        drop(kernel.send(message(number)).await?.outcome().await?);
        Ok(())
    })
    .await?;
    let began = Instant::now();
    let many = (0..TASKS).map(|number| {
        let kernel = kernel.clone();
        tokio::spawn(async move {
            let receipt = kernel.send(message(ALONE + number)).await.ok()?;
            receipt.outcome().await.ok()
        })
    });
    for task in many.collect::<Vec<_>>() {
        task.await?.ok_or("a task failed")?;
    }
    let together = began.elapsed() / TASKS as u32;
    kernel.stop().await;
    let mut file = File::create(directory.join("plain"))?;
    let line = [b'x'; 400];
    let plain = each(ALONE, async |_| {
        file.write_all(&line)?;
        Ok(file.sync_data()?)
    })
    .await?;
    report.push(format!(
        "task, on disk, alone:     {:8.1} us each, {:5.1} times a synced append ({:.1} us)",
        micros(alone),
        ratio(alone, plain),
        micros(plain),
    ));
    report.push(format!(
        "task, on disk, {TASKS}:    {:8.1} us each, {:5.2} times a synced append",
        micros(together),
        ratio(together, plain),
    ));
    Ok(())
}

/// What agents take that have nothing to do.
async fn idle(report: &mut Vec<String>) -> Result<(), Failure> {
    let before = resident()?;
    let mut kernels = Vec::new();
    for _ in 0..AGENTS {
        kernels.push(active(MemoryJournal::default()).await?);
    }
    let after = resident()?;
    let each = after.saturating_sub(before) / AGENTS;
    report.push(format!(
        "idle agent:               {:8.1} KiB each of {AGENTS}",
        each as f64 / 1_024.0
    ));
    drop(kernels);
    Ok(())
}

/// How long it takes to open a journal with tasks that are pending, beside reading its file.
async fn restart(directory: &Path, report: &mut Vec<String>) -> Result<(), Failure> {
    let directory = directory.join("restart");
    let kernel = AgentKernel::builder(Nothing, FileJournal::open(&directory)?).start().await?;
    kernel.boot().await?;
    let sends = (0..PENDING).map(|number| {
        let kernel = kernel.clone();
        tokio::spawn(async move { kernel.send(message(number)).await.map(drop) })
    });
    for send in sends.collect::<Vec<_>>() {
        send.await??;
    }
    kernel.stop().await;
    let began = Instant::now();
    let bytes = std::fs::read(directory.join("journal"))?.len();
    let plain = began.elapsed();
    let began = Instant::now();
    let kernel = AgentKernel::builder(Nothing, FileJournal::open(&directory)?).start().await?;
    let open = began.elapsed();
    let pending = kernel.view(|state| state.tasks.len()).await?;
    report.push(format!(
        "restart, {pending} pending:  {:8.1} ms, {:5.1} times reading the {} KiB of its file",
        micros(open) / 1_000.0,
        ratio(open, plain),
        bytes / 1_024,
    ));
    kernel.stop().await;
    Ok(())
}

/// The mean of many.
async fn each(
    times: usize,
    mut once: impl AsyncFnMut(usize) -> Result<(), Failure>,
) -> Result<Duration, Failure> {
    let began = Instant::now();
    for number in 0..times {
        once(number).await?;
    }
    Ok(began.elapsed() / u32::try_from(times)?)
}

/// Bytes of this process that are in memory.
fn resident() -> Result<usize, Failure> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages: usize = statm.split(' ').nth(1).ok_or("statm has no second number")?.parse()?;
    Ok(pages * 4_096)
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64().max(1e-9)
}
