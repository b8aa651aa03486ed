//! Who may connect, as whom, and by which way.

use offshoot_transport::{
    CertificateFingerprint, IdentityError, MessageKind, NoHandler, PeerClient, PeerClientOptions,
    PeerConnectError, PeerListener, PeerListenerOptions, PeerServer, PeerToken, PeerTrust,
};

use crate::fixture::{Authority, Bench, SOON, TOKEN, alone, certified, name, plain, tokens};

#[cfg(feature = "quic")]
const WAYS: [&str; 2] = ["tls", "quic"];
#[cfg(not(feature = "quic"))]
const WAYS: [&str; 1] = ["tls"];

/// The name that the server has for the client, or why there is none.
async fn meet(
    listener: PeerListenerOptions,
    mut client: PeerClientOptions,
) -> Result<String, PeerConnectError> {
    let bench = Bench::default();
    let listener = PeerListener::bind(listener).await?;
    client.address = listener.address();
    let server: PeerServer = listener.serve(bench.clone());
    let met = PeerClient::connect(client, NoHandler).await;
    let client = match met {
        Ok(client) => client,
        Err(error) => {
            assert_eq!((bench.calls(), server.peers().len()), (0, 0));
            return Err(error);
        }
    };
    let answer = client.call(MessageKind::Call, "who", SOON).await.unwrap();
    Ok(String::from_utf8(answer.payload.to_vec()).unwrap())
}

fn is_tls(met: &Result<String, PeerConnectError>) -> bool {
    matches!(met, Err(error @ PeerConnectError::Tls { .. }) if error.is_final())
}

fn is_refused(met: &Result<String, PeerConnectError>) -> bool {
    matches!(met, Err(error @ PeerConnectError::Refused { .. }) if error.is_final())
}

#[tokio::test]
async fn a_certificate_gives_the_name() {
    for way in WAYS {
        let (listener, client) = certified(way);
        assert_eq!(meet(listener.clone(), client.clone()).await.unwrap(), "alpha");
        // Nobody is called otherwise than the certificate says.
        let mut liar = client;
        liar.token = Some((name("beta"), PeerToken::new(TOKEN).unwrap()));
        let mut both = listener;
        both.tokens = tokens(&["beta", "alpha"]);
        assert!(is_refused(&meet(both.clone(), liar.clone()).await), "{way}");
        liar.token = Some((name("alpha"), PeerToken::new(TOKEN).unwrap()));
        assert_eq!(meet(both, liar).await.unwrap(), "alpha");
    }
}

#[tokio::test]
async fn wrong_certificates_are_refused() {
    for way in WAYS {
        let authority = Authority::new();
        let (mut listener, mut client) = certified(way);
        listener.identity = Some(authority.sign(&["localhost"]));
        listener.trust.authorities = vec![authority.certificate.clone()];
        client.trust.authorities = vec![authority.certificate.clone()];
        let mut of_other = client.clone();
        of_other.identity = Some(Authority::new().sign(&["alpha"]));
        assert!(is_tls(&meet(listener.clone(), of_other).await), "{way}: another authority");
        for (names, year) in
            [(&["alpha"][..], 2001), (&["alpha", "beta"][..], 2100), (&[][..], 2100)]
        {
            let mut wrong = client.clone();
            wrong.identity = Some(authority.sign_until(names, year));
            assert!(is_tls(&meet(listener.clone(), wrong).await), "{way}: {names:?} {year}");
        }
        client.identity = Some(authority.sign(&["alpha"]));
        for (names, year) in [(&["localhost"][..], 2001), (&["other.example"][..], 2100)] {
            let mut wrong = listener.clone();
            wrong.identity = Some(authority.sign_until(names, year));
            let met = meet(wrong, client.clone()).await;
            assert!(is_tls(&met), "{way}: server {names:?} {year}: {met:?}");
        }
        let mut distrusts = client.clone();
        distrusts.trust.authorities = vec![Authority::new().certificate];
        assert!(is_tls(&meet(listener.clone(), distrusts).await), "{way}: server of another");
        assert_eq!(meet(listener, client).await.unwrap(), "alpha");
    }
}

#[tokio::test]
async fn a_pinned_certificate_gives_the_name_beside_it() {
    for way in WAYS {
        let (server, client) = (alone(&["x.example"], 2100), alone(&["y.example"], 2100));
        let (mut listener, mut asks) = certified(way);
        let pin = |identity: &offshoot_transport::PeerIdentity, who: &str| {
            let fingerprint = CertificateFingerprint::of(&identity.chain[0]);
            let again = CertificateFingerprint::parse(&fingerprint.to_string()).unwrap();
            let pins = [(again, name(who))].into_iter().collect();
            PeerTrust { authorities: Vec::new(), pins }
        };
        (listener.identity, listener.trust) = (Some(server.clone()), pin(&client, "agent-7"));
        (asks.identity, asks.trust) = (Some(client), pin(&server, "hub"));
        assert_eq!(meet(listener.clone(), asks.clone()).await.unwrap(), "agent-7");
        let mut stranger = asks.clone();
        stranger.identity = Some(alone(&["y.example"], 2100));
        assert!(is_tls(&meet(listener.clone(), stranger).await), "{way}: not pinned");
        let mut other = listener.clone();
        other.identity = Some(alone(&["x.example"], 2100));
        assert!(is_tls(&meet(other, asks.clone()).await), "{way}: another server");
        let late = alone(&["y.example"], 2001);
        listener.trust = pin(&late, "agent-7");
        asks.identity = Some(late);
        assert!(is_tls(&meet(listener, asks).await), "{way}: expired");
    }
}

#[tokio::test]
async fn a_token_gives_the_name_beside_it() {
    let mut ways: Vec<_> = WAYS.map(certified).into();
    ways.push(plain());
    for (mut listener, mut client) in ways {
        let way = listener.address.to_string();
        listener.trust = PeerTrust::default();
        listener.tokens = tokens(&["alpha", "beta"]);
        client.identity = None;
        for who in ["alpha", "beta"] {
            client.token = Some((name(who), PeerToken::new(TOKEN).unwrap()));
            assert_eq!(meet(listener.clone(), client.clone()).await.unwrap(), who);
        }
        client.token = Some((name("gamma"), PeerToken::new(TOKEN).unwrap()));
        assert!(is_refused(&meet(listener.clone(), client.clone()).await), "{way}: unknown");
        client.token = Some((name("alpha"), PeerToken::new(b"another token, wrong").unwrap()));
        assert!(is_refused(&meet(listener, client).await), "{way}: wrong token");
    }
}

#[tokio::test]
async fn plain_tcp_is_for_loopback_and_only_when_asked_for() {
    let (mut listener, mut client) = plain();
    listener.allow_plain = false;
    let refused = PeerListener::bind(listener.clone()).await.err();
    let not_allowed = PeerConnectError::Identity(IdentityError::PlainNotAllowed);
    assert_eq!(refused.unwrap().to_string(), not_allowed.to_string());
    listener.allow_plain = true;
    listener.address = "tcp://0.0.0.0:0".parse().unwrap();
    let refused = PeerListener::bind(listener.clone()).await.err().unwrap();
    let off = |error: &PeerConnectError| {
        matches!(error, PeerConnectError::Identity(IdentityError::PlainOffLoopback(_)))
    };
    assert!(off(&refused));
    // A documentation address: nothing is sent there, since it is refused before.
    client.address = "tcp://192.0.2.1:9".parse().unwrap();
    let refused = PeerClient::connect(client.clone(), NoHandler).await.err().unwrap();
    assert!(off(&refused));
    client.allow_plain = false;
    let refused = PeerClient::start(client.clone(), NoHandler).err().unwrap();
    assert_eq!(refused.to_string(), not_allowed.to_string());
    (client.allow_plain, client.token) = (true, None);
    assert!(PeerClient::start(client, NoHandler).is_err());
    listener.tokens = offshoot_transport::TokenTable::default();
    listener.address = "tcp://127.0.0.1:0".parse().unwrap();
    assert!(PeerListener::bind(listener).await.is_err());
}

#[tokio::test]
async fn nobody_listens_or_connects_without_trust() {
    let (listener, client) = certified("tls");
    let mut open = listener.clone();
    open.trust = PeerTrust::default();
    assert!(PeerListener::bind(open).await.is_err());
    let mut nameless = listener;
    nameless.identity = None;
    assert!(PeerListener::bind(nameless).await.is_err());
    let mut trusting = client.clone();
    trusting.trust = PeerTrust::default();
    assert!(PeerClient::start(trusting, NoHandler).is_err());
    let mut nobody = client;
    nobody.identity = None;
    assert!(PeerClient::start(nobody, NoHandler).is_err());
    assert!(PeerToken::new(b"short").is_err());
}
