//! `offshoot version`: which version this is.

use clap::Args;
use offshoot_protocol::ProgramVersionDoc;

use crate::context::Context;
use crate::error::Result;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  offshoot version\n  offshoot version --json")]
pub(crate) struct VersionArgs {}

pub(crate) fn run(_args: &VersionArgs, context: &Context) -> Result<()> {
    let document = ProgramVersionDoc { version: env!("CARGO_PKG_VERSION").to_owned() };
    context.output.data(document, |document| format!("offshoot {}\n", document.version))
}
