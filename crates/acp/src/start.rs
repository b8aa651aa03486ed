//! Starting a process of the agent, and listening to it.

use std::io;
use std::sync::{Arc, OnceLock, PoisonError};

use agent_client_protocol::v1::{ConnectionTo, Dispatch};
use agent_client_protocol::{Agent, Client, Error, Lines};
use offshoot_engine::exec::{Event, Exec, Stream};
use offshoot_protocol::ExecEnvelopeDoc;
use tokio::sync::mpsc::Sender;
use tokio::sync::{Notify, oneshot};

use crate::fault::{fault, of_engine};
use crate::hub::Hub;
use crate::lines::{self, Pieces};
use crate::link::{Ending, Link};
use crate::place::{self, Place, Started};
use crate::receive::receive;

/// Starts a process, and connects to it.
pub(crate) async fn start(hub: &Arc<Hub>, place: Place) -> Result<Arc<Link>, Error> {
    let of = Arc::clone(hub);
    let started =
        tokio::task::spawn_blocking(move || place::run(&of.engine, &of.settings, &place)).await;
    let started = started.map_err(|error| fault(error.to_string()))?;
    let started = started.map_err(|error| of_engine(&error))?;
    connect(hub, started).await
}

/// Speaks to a process that was started.
async fn connect(hub: &Arc<Hub>, started: Started) -> Result<Arc<Link>, Error> {
    let failed = |error: io::Error| fault(error.to_string());
    let Started { workspace, name, made_at, exec, input, below } = started;
    let (said, heard) = lines::row();
    let (input, _thread) = lines::writing(input).map_err(failed)?;
    let (stop, ending) = (Arc::new(Notify::new()), Arc::new(Ending::default()));
    listen(hub, &exec, said, &ending).map_err(failed)?;
    let transport = Lines::new(lines::outgoing(input), lines::incoming(heard));
    let (ready, connection) = oneshot::channel();
    let link: Arc<OnceLock<Arc<Link>>> = Arc::default();
    let (known, of, stopped) = (Arc::clone(hub), Arc::clone(&link), Arc::clone(&stop));
    let driver = Client
        .v1()
        .name("offshoot")
        .on_receive_dispatch(
            async move |dispatch: Dispatch, _agent: ConnectionTo<Agent>| {
                receive(&known, of.get(), dispatch)
            },
            agent_client_protocol::on_receive_dispatch!(),
        )
        .connect_with(transport, async move |agent: ConnectionTo<Agent>| {
            let _nobody_waits = ready.send(agent).is_err();
            // Not before: whoever waits for an answer is told how the process ended.
            stopped.notified().await;
            Ok(())
        });
    let (log, driven) = (Arc::clone(&hub.log), exec.clone());
    tokio::task::spawn_local(async move {
        if let Err(error) = driver.await {
            log(&format!("offshoot: the agent: {}", crate::fault::text(&error)));
            // Nobody can speak to it any more.
            driven.cancel();
        }
    });
    let connection = connection.await.map_err(|_| fault("the agent cannot be spoken to"))?;
    let made = Link::new((workspace, name, made_at, below), exec, connection, (stop, ending));
    Ok(Arc::clone(link.get_or_init(|| Arc::new(made))))
}

/// Passes on what a process prints, on a thread of its own, until it has ended.
fn listen(
    hub: &Hub,
    exec: &Exec,
    said: Sender<io::Result<String>>,
    ending: &Arc<Ending>,
) -> io::Result<()> {
    let (exec, log, ending) = (exec.clone(), Arc::clone(&hub.log), Arc::clone(ending));
    std::thread::Builder::new().name("acp-agent".to_owned()).spawn(move || {
        let (mut out, mut errors) = (Pieces::default(), Pieces::default());
        for event in exec.events() {
            let (stream, bytes) = match event {
                Event::Output { stream, bytes } => (stream, bytes),
                Event::Started { warnings, .. } => {
                    warnings.iter().for_each(|warning| log(&format!("offshoot: {warning}")));
                    continue;
                }
                _ => continue,
            };
            let pieces = match stream {
                Stream::Stdout => &mut out,
                Stream::Stderr => &mut errors,
            };
            let lines = match pieces.push(&bytes) {
                Ok(lines) => lines,
                Err(error) => {
                    log(&format!("offshoot: the agent: {error}"));
                    exec.cancel();
                    break;
                }
            };
            for line in lines {
                if stream == Stream::Stdout && lines::is_message(&line) {
                    // Nobody listens any more; what it prints is read all the same, so that it can end.
                    let _gone = said.blocking_send(lines::text(line)).is_err();
                    continue;
                }
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                log(&text);
                if stream == Stream::Stderr && !text.is_empty() {
                    *ending.last_words.lock().unwrap_or_else(PoisonError::into_inner) = text;
                }
            }
        }
        let rest = String::from_utf8_lossy(&errors.rest()).trim_end().to_owned();
        if !rest.is_empty() {
            log(&rest);
            *ending.last_words.lock().unwrap_or_else(PoisonError::into_inner) = rest;
        }
        let _first = ending.why.set(why(&exec.wait())).is_ok();
        ending.over.notify_waiters();
        // Only now: who waits for an answer asks why there is none.
        drop(said);
    })?;
    Ok(())
}

/// How a process ended.
fn why(envelope: &ExecEnvelopeDoc) -> String {
    let result = &envelope.result;
    match (&result.error, result.exit_code, result.signal) {
        (Some(error), _, _) => match &error.hint {
            Some(hint) => format!("{}; {hint}", error.message),
            None => error.message.clone(),
        },
        (None, _, Some(signal)) => format!("signal {signal}"),
        (None, Some(code), None) => format!("exit code {code}"),
        (None, None, None) => result.state.to_string(),
    }
}
