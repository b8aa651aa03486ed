//! `offshoot models show`: one model.

use clap::Args;
use offshoot_protocol::ModelShowDoc;

use super::{doc, facts, sheet, usual};
use crate::complete;
use crate::context::Context;
use crate::error::Result;
use crate::provider_choice::{catalog, error, key_of, key_text};

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Which model, as PROVIDER/MODEL or a name that is enough
    #[arg(value_name = "MODEL", add = complete::models())]
    model: String,
}

pub(super) fn run(args: &ShowArgs, context: &Context) -> Result<()> {
    let catalog = catalog(context)?;
    let model = catalog.find(&args.model).map_err(error)?;
    let provider = catalog.provider(&model.provider).map_err(error)?;
    let document = ModelShowDoc {
        model: doc(&model, &catalog, usual(&catalog, context).as_ref()),
        base: provider.base.clone(),
        key: key_of(&catalog, &model.provider, context),
    };
    context.output.data(document, |document| {
        let mut rows = facts(&document.model);
        rows.push(("address", document.base.clone()));
        rows.push(("key", key_text(document.key.as_ref())));
        if document.model.is_default {
            rows.push(("used", "by default".to_owned()));
        }
        sheet(&document.model.name, &rows)
    })
}
