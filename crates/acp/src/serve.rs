//! An editor is served.

use std::io::{Read, Write};
use std::sync::Arc;

use offshoot_engine::{Error, Offshoot, Result};
use offshoot_protocol::ExitCode;

use crate::hub::Hub;
use crate::settings::{AcpSettings, Log};
use crate::{editor, fault};

/// Serves an editor until it closes its end, and ends all agents then.
pub fn serve(
    engine: Offshoot,
    settings: AcpSettings,
    (input, output): (impl Read + Send + 'static, impl Write + Send + 'static),
    log: Log,
) -> Result<()> {
    let failed = |error: std::io::Error| Error::new(ExitCode::Failure, error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(failed)?;
    let hub = Arc::new(Hub::new(engine, settings, log));
    let served = tokio::task::LocalSet::new().block_on(&runtime, async {
        let served = editor::serve(&hub, input, output).await;
        hub.end_all().await;
        served
    });
    // A thread that waits for the editor to say more waits for nothing.
    runtime.shutdown_background();
    served.map_err(|error| Error::new(ExitCode::Failure, fault::text(&error)))
}
