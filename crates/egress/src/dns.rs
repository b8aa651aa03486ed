//! The made-up name server: it answers for allowed names with made-up addresses, and asks nobody.

mod message;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::host::Host;
use crate::record::{Refusal, Route};
use crate::state::State;
use message::{Answer, Code, Question};

/// How many connections of TCP ask at once.
const CLIENTS: usize = 32;
/// The longest question; longer ones hold more than a question.
const LONGEST: usize = 1232;

/// Answers questions that come in packets.
pub(crate) async fn serve_packets(socket: UdpSocket, state: Arc<State>) {
    let mut packet = [0; LONGEST + 1];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut packet).await else {
            // Such as the refusal of an earlier answer; the socket itself stays usable.
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        if let Some(answer) = packet.get(..length).and_then(|packet| answer(packet, &state)) {
            // Whoever asked in a packet asks again if no answer comes.
            drop(socket.try_send_to(&answer, from));
        }
    }
}

/// Answers questions that come over connections.
pub(crate) async fn serve_connections(listener: TcpListener, state: Arc<State>) {
    let clients = Arc::new(Semaphore::new(CLIENTS));
    loop {
        let Ok((client, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&clients).acquire_owned().await else { return };
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            // A client that sends something else than questions is simply left.
            drop(serve_connection(client, &state).await);
            drop(permit);
        });
    }
}

async fn serve_connection(mut client: TcpStream, state: &State) -> io::Result<()> {
    loop {
        let exchange = async {
            let length = usize::from(client.read_u16().await?);
            if length > LONGEST {
                return Ok(false);
            }
            let mut packet = vec![0; length];
            client.read_exact(&mut packet).await?;
            let Some(answer) = answer(&packet, state) else { return Ok(false) };
            let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
            client.write_all(&length.to_be_bytes()).await?;
            client.write_all(&answer).await?;
            io::Result::Ok(true)
        };
        match timeout(state.limits.head_time, exchange).await {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) | Err(_) => return Ok(()),
            Ok(Err(error)) => return Err(error),
        }
    }
}

/// The answer to a packet; none to what is no question, so that two servers never talk to each other.
pub(crate) fn answer(packet: &[u8], state: &State) -> Option<Vec<u8>> {
    let question = Question::parse(packet)?;
    let (answer, refusal) = decide(&question, state);
    if let Some(refusal) = refusal {
        let host = question.name().and_then(|name| Host::parse(&name).ok());
        let mut record = state.ledger.open(Route::Dns, host, 0);
        record.connection.up = packet.len() as u64;
        record.refuse(refusal);
    }
    Some(question.answer(answer))
}

fn decide(question: &Question, state: &State) -> (Answer, Option<Refusal>) {
    if !question.is_plain() {
        return (Answer::Code(Code::NotImplemented), Some(Refusal::Unsupported("such a question")));
    }
    let host = question.name().and_then(|name| Host::parse(&name).ok());
    let Some(host) = host else {
        return (Answer::Code(Code::NoSuchName), Some(Refusal::Malformed("not a name of a host")));
    };
    if !state.rules.knows_name(&host) {
        // A definite no: what is only refused is asked for again, and again, by many programs.
        return (Answer::Code(Code::NoSuchName), Some(Refusal::NotAllowed));
    }
    if question.asks_address() {
        let made_up = host.name().and_then(|name| state.made_up.address_of(name));
        return match made_up {
            Some(address) => (Answer::Address(address), None),
            None => (Answer::Code(Code::Failure), Some(Refusal::Limit("names with an address"))),
        };
    }
    if question.asks_way_to_connect() {
        return (Answer::Nothing, None);
    }
    (
        Answer::Code(Code::Refused),
        Some(Refusal::Unsupported("questions for other things than addresses")),
    )
}
