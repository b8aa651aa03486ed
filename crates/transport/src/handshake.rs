//! Who the other side is, without I/O.

use std::fmt;
use std::sync::Arc;

use offshoot_mxp::{FailureBody, MAX_PAYLOAD, MessageKind};

use crate::control::{
    ControlBody, GreetingBody, HelloBody, PROTOCOL, WelcomeBody, document, failure_of,
};
use crate::error::{PeerConnectError, failure};
use crate::hex;
use crate::limits::{LEAST_WINDOW, OfferedLimits};
use crate::message::PeerMessage;
use crate::name::PeerName;
use crate::token::{PeerToken, TokenTable, Transcript};

/// The number of a session, which its client chose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerSessionId(pub [u8; 16]);

impl fmt::Debug for PeerSessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(&self.0))
    }
}

/// What the channel proved, before any message.
#[derive(Clone, Debug, Default)]
pub struct ChannelProof {
    /// Keying material of TLS; none without it.
    pub binding: Option<[u8; 32]>,
    /// The name of the other side by its certificate, or by whoever made the channel.
    pub name: Option<PeerName>,
}

impl ChannelProof {
    fn binding(&self) -> &[u8] {
        self.binding.as_ref().map_or(&[], |it| it)
    }
}

/// The server's half of a handshake.
#[derive(Debug)]
pub struct ServerHandshake {
    nonce: [u8; 32],
    tokens: Arc<TokenTable>,
    proof: ChannelProof,
}

/// A client that proved who it is.
#[derive(Debug)]
pub struct AdmittedPeer {
    /// Its proven name.
    pub name: PeerName,
    /// Its session.
    pub session: PeerSessionId,
    /// The last event of the server that it received.
    pub received: u64,
    /// What it accepts.
    pub limits: OfferedLimits,
    /// The server's own proof.
    proof: Option<[u8; 32]>,
}

impl ServerHandshake {
    /// For one connection, with a number that is used once.
    pub fn new(nonce: [u8; 32], tokens: Arc<TokenTable>, proof: ChannelProof) -> Self {
        Self { nonce, tokens, proof }
    }

    /// The first message.
    pub fn greeting(&self) -> PeerMessage {
        let nonce = hex::encode(&self.nonce);
        let greeting = Some(GreetingBody { protocol: PROTOCOL.to_owned(), nonce });
        document(MessageKind::Event, 0, &ControlBody { greeting, ..ControlBody::default() })
    }

    /// Reads the client's answer. What is refused is said to the client as it stands here, so it tells nothing about tokens.
    pub fn hello(&self, message: &PeerMessage) -> Result<AdmittedPeer, FailureBody> {
        if (message.kind, message.id) != (MessageKind::Call, 0) {
            return Err(failure("protocol", "the first message has to be a Call with the id 0"));
        }
        let hello: HelloBody =
            message.json().map_err(|error| failure("protocol", error.to_string()))?;
        if hello.protocol != PROTOCOL {
            return Err(failure("version", format!("this side speaks {PROTOCOL}")));
        }
        let session = hex::decode(&hello.session)
            .ok_or_else(|| failure("protocol", "`session` is not 32 hexadecimal digits"))?;
        let nonce = hex::decode(&hello.nonce)
            .ok_or_else(|| failure("protocol", "`nonce` is not 64 hexadecimal digits"))?;
        let limits = sane(hello.limits).map_err(|error| failure("protocol", error))?;
        let said = match hello.name.as_deref().map(PeerName::parse).transpose() {
            Ok(said) => said,
            Err(error) => return Err(failure("refused", error.to_string())),
        };
        let (name, proof) = self.prove(said, &nonce, hello.proof.as_deref())?;
        let received = hello.received;
        Ok(AdmittedPeer { name, session: PeerSessionId(session), received, limits, proof })
    }

    /// Which name is proven, and the proof of this side if there is a token.
    fn prove(
        &self,
        said: Option<PeerName>,
        nonce: &[u8; 32],
        proof: Option<&str>,
    ) -> Result<(PeerName, Option<[u8; 32]>), FailureBody> {
        let refused = || failure("refused", "the name was not proven");
        let name = match (&self.proof.name, said) {
            (Some(proven), Some(said)) if *proven != said => return Err(refused()),
            (Some(proven), _) => proven.clone(),
            (None, Some(said)) => said,
            (None, None) => return Err(refused()),
        };
        let Some(proof) = proof else {
            return if self.proof.name.is_some() { Ok((name, None)) } else { Err(refused()) };
        };
        let proof: [u8; 32] = hex::decode(proof).ok_or_else(refused)?;
        let mut transcript = Transcript {
            side: "client",
            binding: self.proof.binding(),
            server: &self.nonce,
            client: nonce,
            name: &name,
        };
        let token = self.tokens.verify(&transcript, &proof).ok_or_else(refused)?;
        transcript.side = "server";
        let own = token.prove(&transcript);
        Ok((name, Some(own)))
    }
}

impl AdmittedPeer {
    /// The last message of the handshake.
    pub fn welcome(&self, resumed: bool, received: u64, limits: OfferedLimits) -> PeerMessage {
        let proof = self.proof.map(|proof| hex::encode(&proof));
        let name = self.name.to_string();
        document(MessageKind::Response, 0, &WelcomeBody { name, resumed, proof, received, limits })
    }
}

/// The client's half of a handshake.
#[derive(Debug)]
pub struct ClientHandshake {
    /// A number that is used once.
    pub nonce: [u8; 32],
    /// The session.
    pub session: PeerSessionId,
    /// The name that belongs to the token.
    pub name: Option<PeerName>,
    /// The token, if that is the proof.
    pub token: Option<PeerToken>,
    /// What the channel proved of the server.
    pub proof: ChannelProof,
    /// The last event of the server that was received.
    pub received: u64,
    /// What this side accepts.
    pub limits: OfferedLimits,
    server: Option<[u8; 32]>,
}

/// What the server said last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WelcomedPeer {
    /// The name that this side has for the server.
    pub name: PeerName,
    /// Whether the server still has the session.
    pub resumed: bool,
    /// The last event of this side that it received.
    pub received: u64,
    /// What it accepts.
    pub limits: OfferedLimits,
}

impl ClientHandshake {
    /// For one connection. Who proves itself by a token has to give its name, too.
    pub fn new(
        nonce: [u8; 32],
        session: PeerSessionId,
        proof: ChannelProof,
        received: u64,
        limits: OfferedLimits,
    ) -> Self {
        Self { nonce, session, name: None, token: None, proof, received, limits, server: None }
    }

    /// The answer to the greeting.
    pub fn hello(&mut self, greeting: &PeerMessage) -> Result<PeerMessage, PeerConnectError> {
        self.refusal(greeting)?;
        let control: ControlBody = greeting.json().map_err(broken)?;
        let said = control.greeting.ok_or_else(|| broken("there is no greeting"))?;
        if said.protocol != PROTOCOL {
            return Err(broken(format!(
                "it speaks {:?}, and not {PROTOCOL}",
                short(&said.protocol)
            )));
        }
        let server = hex::decode(&said.nonce).ok_or_else(|| broken("its nonce is no nonce"))?;
        self.server = Some(server);
        let proof = match (&self.token, &self.name) {
            (Some(token), Some(name)) => {
                Some(token.prove(&self.transcript("client", &server, name)))
            }
            _ => None,
        };
        let hello = HelloBody {
            protocol: PROTOCOL.to_owned(),
            session: hex::encode(&self.session.0),
            name: self.name.as_ref().map(PeerName::to_string),
            nonce: hex::encode(&self.nonce),
            proof: proof.map(|proof| hex::encode(&proof)),
            received: self.received,
            limits: self.limits.clone(),
        };
        Ok(document(MessageKind::Call, 0, &hello))
    }

    /// Reads the server's last message.
    pub fn welcome(&self, message: &PeerMessage) -> Result<WelcomedPeer, PeerConnectError> {
        self.refusal(message)?;
        if (message.kind, message.id) != (MessageKind::Response, 0) {
            return Err(broken("a welcome was expected"));
        }
        let welcome: WelcomeBody = message.json().map_err(broken)?;
        if let (Some(token), Some(name), Some(server)) = (&self.token, &self.name, &self.server) {
            let proof = welcome.proof.as_deref().and_then(hex::decode::<32>);
            let transcript = self.transcript("server", server, name);
            if !proof.is_some_and(|proof| token.verify(&transcript, &proof)) {
                return Err(broken("it did not prove that it has the token"));
            }
        }
        let name = self.proof.name.clone().ok_or_else(|| broken("nobody knows its name"))?;
        let limits = sane(welcome.limits).map_err(broken)?;
        Ok(WelcomedPeer { name, resumed: welcome.resumed, received: welcome.received, limits })
    }

    fn transcript<'a>(
        &'a self,
        side: &'static str,
        server: &'a [u8; 32],
        name: &'a PeerName,
    ) -> Transcript<'a> {
        Transcript { side, binding: self.proof.binding(), server, client: &self.nonce, name }
    }

    fn refusal(&self, message: &PeerMessage) -> Result<(), PeerConnectError> {
        if message.kind != MessageKind::Error {
            return Ok(());
        }
        let FailureBody { error, code } = failure_of(message);
        Err(PeerConnectError::Refused { code: short(&code), error: short(&error) })
    }
}

/// What a peer says is shown to people no longer than this.
fn short(text: &str) -> String {
    text.chars().filter(|it| !it.is_control()).take(200).collect()
}

fn broken(error: impl fmt::Display) -> PeerConnectError {
    PeerConnectError::Protocol(error.to_string())
}

/// Limits that can be worked with.
fn sane(offered: OfferedLimits) -> Result<OfferedLimits, String> {
    if offered.window < LEAST_WINDOW {
        return Err(format!("a window of {} bytes is less than {LEAST_WINDOW}", offered.window));
    }
    Ok(OfferedLimits { message: offered.message.min(MAX_PAYLOAD), ..offered })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::PeerLimits;

    fn name(text: &str) -> PeerName {
        PeerName::parse(text).unwrap()
    }

    fn table(rows: &[(&str, &[u8])]) -> Arc<TokenTable> {
        let mut tokens = TokenTable::default();
        for (who, token) in rows {
            tokens.insert(name(who), PeerToken::new(token).unwrap());
        }
        Arc::new(tokens)
    }

    fn client(who: Option<&str>, token: Option<&[u8]>, binding: u8) -> ClientHandshake {
        let proof = ChannelProof { binding: Some([binding; 32]), name: Some(name("hub")) };
        let limits = PeerLimits::default().offered();
        let mut client = ClientHandshake::new([1; 32], PeerSessionId([2; 16]), proof, 0, limits);
        client.name = who.map(name);
        client.token = token.map(|token| PeerToken::new(token).unwrap());
        client
    }

    fn server(certificate: Option<&str>, binding: u8) -> ServerHandshake {
        let tokens = table(&[("alpha", b"alpha alpha alpha"), ("beta", b"beta beta beta beta")]);
        let proof = ChannelProof { binding: Some([binding; 32]), name: certificate.map(name) };
        ServerHandshake::new([3; 32], tokens, proof)
    }

    #[test]
    fn a_name_is_what_was_proven() {
        let alpha: &[u8] = b"alpha alpha alpha";
        // Certificate, said name, token, what comes of it.
        type Case<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a [u8]>, Option<&'a str>);
        let cases: [Case<'_>; 9] = [
            (None, Some("alpha"), Some(alpha), Some("alpha")),
            (None, Some("beta"), Some(alpha), None),
            (None, Some("gamma"), Some(alpha), None),
            (None, Some("alpha"), None, None),
            (None, None, None, None),
            (Some("gamma"), None, None, Some("gamma")),
            (Some("gamma"), Some("gamma"), None, Some("gamma")),
            (Some("gamma"), Some("alpha"), None, None),
            (Some("gamma"), Some("alpha"), Some(alpha), None),
        ];
        for (certificate, said, token, expected) in cases {
            let (server, mut client) = (server(certificate, 7), client(said, token, 7));
            let hello = client.hello(&server.greeting()).unwrap();
            let admitted = server.hello(&hello);
            let found = admitted.as_ref().ok().map(|it| it.name.as_str());
            assert_eq!(found, expected, "{certificate:?} {said:?} {}", token.is_some());
            let limits = PeerLimits::default().offered();
            if let Ok(admitted) = admitted {
                let welcome = admitted.welcome(false, 0, limits);
                assert_eq!(client.welcome(&welcome).unwrap().name.as_str(), "hub");
            }
        }
    }

    #[test]
    fn a_proof_is_worth_nothing_on_another_connection() {
        let mut client = client(Some("alpha"), Some(b"alpha alpha alpha"), 7);
        let hello = client.hello(&server(None, 7).greeting()).unwrap();
        assert!(server(None, 7).hello(&hello).is_ok());
        assert_eq!(server(None, 8).hello(&hello).unwrap_err().code, "refused");
        let mut other = server(None, 7);
        other.nonce = [4; 32];
        assert!(other.hello(&hello).is_err());
    }

    #[test]
    fn a_server_without_the_token_is_found_out() {
        let mut client = client(Some("alpha"), Some(b"alpha alpha alpha"), 7);
        let server = server(Some("alpha"), 7);
        let hello = client.hello(&server.greeting()).unwrap();
        let mut admitted = server.hello(&hello).unwrap();
        admitted.proof = None;
        let limits = PeerLimits::default().offered();
        let welcome = admitted.welcome(false, 0, limits);
        assert!(matches!(client.welcome(&welcome), Err(PeerConnectError::Protocol(_))));
    }

    #[test]
    fn the_token_is_in_nothing_that_is_sent_or_shown() {
        let secret = "alpha alpha alpha";
        let mut client = client(Some("alpha"), Some(secret.as_bytes()), 7);
        let hello = client.hello(&server(None, 7).greeting()).unwrap();
        let sent = String::from_utf8_lossy(&hello.payload).into_owned();
        assert!(!sent.contains(secret) && !sent.contains(&hex::encode(secret.as_bytes())));
        assert!(!format!("{client:?}{:?}", server(None, 7)).contains("alpha alpha"));
    }

    #[test]
    fn no_payload_makes_it_panic() {
        let (server, mut client) = (server(None, 7), client(None, None, 7));
        let payloads = ["", "{}", "null", "[1]", r#"{"greeting":{"protocol":"x","nonce":"y"}}"#];
        for payload in payloads {
            for kind in MessageKind::ALL {
                let message = PeerMessage::new(kind, 0, payload.into());
                assert!(server.hello(&message).is_err());
                assert!(client.hello(&message).is_err());
                assert!(client.welcome(&message).is_err());
            }
        }
    }
}
