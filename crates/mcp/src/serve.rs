//! Serving, until there is nobody left to serve.

use std::net::SocketAddr;
use std::sync::Arc;

use offshoot_engine::{Error, Result};
use offshoot_protocol::ExitCode;
use rmcp::ServiceExt;
use rmcp::transport::io::stdio_pipes;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::http::{self, McpListen};
use crate::options::McpOptions;
use crate::server::Server;
use crate::shared::Shared;
use crate::stdio::StdioTransport;

/// Serves one client on standard input and output, until it goes or a signal comes.
pub fn serve_stdio(options: McpOptions) -> Result<()> {
    let shared = Shared::new(options);
    let runtime = runtime()?;
    let over = CancellationToken::new();
    let server = Server::new(Arc::clone(&shared), false);
    let served = runtime.block_on(async {
        end_on_signals(&over)?;
        match server.serve_with_ct(StdioTransport::new(stdio_pipes()), over.clone()).await {
            Ok(running) => running.waiting().await.map(drop).map_err(failed),
            // A client that goes before it has said anything.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(rmcp::service::ServerInitializeError::Cancelled) => Ok(()),
            Err(error) => Err(Error::usage(format!("the client does not speak MCP: {error}"))),
        }
    });
    shared.close();
    // A thread may still wait for a line on standard input.
    runtime.shutdown_background();
    served
}

/// Serves whoever comes over HTTP, until a signal comes. `ready` is told the address.
pub fn serve_http(
    options: McpOptions,
    listen: &McpListen,
    ready: impl FnOnce(SocketAddr),
) -> Result<()> {
    let shared = Shared::new(options);
    let runtime = runtime()?;
    let over = CancellationToken::new();
    let served = runtime.block_on(async {
        end_on_signals(&over)?;
        let unusable = |error: std::io::Error| {
            Error::usage(format!("cannot listen on {}: {error}", listen.address))
        };
        let listener = TcpListener::bind(listen.address).await.map_err(unusable)?;
        ready(listener.local_addr().map_err(unusable)?);
        http::serve(Arc::clone(&shared), listener, listen, over.clone()).await;
        Ok(())
    });
    shared.close();
    runtime.shutdown_background();
    served
}

fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(ExitCode::Failure, format!("the server failed: {error}"))
}

/// Ends everything in order when somebody wants the process to end.
fn end_on_signals(over: &CancellationToken) -> Result<()> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        let mut signal = signal(kind).map_err(failed)?;
        let over = over.clone();
        tokio::spawn(async move {
            if signal.recv().await.is_some() {
                over.cancel();
            }
        });
    }
    Ok(())
}
