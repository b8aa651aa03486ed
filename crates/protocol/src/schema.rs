//! The JSON Schema of every document.

use schemars::schema_for;

use crate::document::{Document, ErrorDocument, Kind};
use crate::*;

/// A schema and the name of its file.
#[derive(Clone, Debug)]
pub struct SchemaFile {
    /// The name of the file, such as `workspace.list.json`.
    pub name: String,
    /// The schema, as JSON text.
    pub text: String,
}

/// The schemas of all documents.
pub fn schemas() -> Vec<SchemaFile> {
    vec![
        file::<InitDoc>(),
        file::<HelpDoc>(),
        file::<ConfigSetDoc>(),
        file::<VaultDoc>(),
        file::<VaultListDoc>(),
        file::<VaultInfoDoc>(),
        file::<VaultRenamedDoc>(),
        file::<VaultDeletedDoc>(),
        file::<CheckDoc>(),
        file::<CompactDoc>(),
        file::<GcDoc>(),
        file::<PackDoc>(),
        file::<VaultExportDoc>(),
        file::<VaultImportDoc>(),
        file::<CacheListDoc>(),
        file::<CacheClearDoc>(),
        file::<BindingListDoc>(),
        file::<BindingAddedDoc>(),
        file::<BindingRemovedDoc>(),
        file::<BindingMovedDoc>(),
        file::<WorkspaceCreatedDoc>(),
        file::<WorkspaceListDoc>(),
        file::<WorkspaceShowDoc>(),
        file::<WorkspaceTreeDoc>(),
        file::<WorkspaceRenamedDoc>(),
        file::<WorkspaceDeletedDoc>(),
        file::<DiscardDoc>(),
        file::<CommitDoc>(),
        file::<SettleDoc>(),
        file::<PullDoc>(),
        file::<CheckpointDoc>(),
        file::<CheckpointListDoc>(),
        file::<CheckpointShowDoc>(),
        file::<RestoreDoc>(),
        file::<CheckpointDeletedDoc>(),
        file::<DiffDoc>(),
        file::<StatusDoc>(),
        file::<MergeDoc>(),
        file::<ConflictListDoc>(),
        file::<ConflictVersionShowDoc>(),
        file::<ResolveDoc>(),
        file::<ReviewListDoc>(),
        file::<ReviewDoc>(),
        file::<PolicyVerdictDoc>(),
        file::<PolicyTestDoc>(),
        file::<PolicyInitDoc>(),
        file::<PolicyReplayDoc>(),
        file::<LogDoc>(),
        file::<ShowDoc>(),
        file::<OperationDoc>(),
        file::<OperationLogDoc>(),
        file::<RevertDoc>(),
        file::<OperationRestoreDoc>(),
        file::<EntryDoc>(),
        file::<ListDoc>(),
        file::<FileDoc>(),
        file::<EditDoc>(),
        file::<ExportDoc>(),
        file::<HistoryDoc>(),
        file::<GitExportDoc>(),
        file::<CompletionsDoc>(),
        file::<ManDoc>(),
        file::<ConfigDoc>(),
        file::<DoctorDoc>(),
        file::<ProgramVersionDoc>(),
        file::<ExecListDoc>(),
        file::<ExecLogsDoc>(),
        file::<RecoverListDoc>(),
        file::<RecoverShowDoc>(),
        file::<RecoverKeptDoc>(),
        file::<RecoverDroppedDoc>(),
        file::<RunningListDoc>(),
        file::<KilledDoc>(),
        SchemaFile { name: "exec.json".to_owned(), text: render(&schema_for!(ExecEnvelopeDoc)) },
        SchemaFile { name: "exec.event.json".to_owned(), text: render(&schema_for!(ExecEventDoc)) },
        SchemaFile { name: "error.json".to_owned(), text: render(&schema_for!(ErrorDocument)) },
    ]
}

fn file<T: Kind>() -> SchemaFile {
    let text = render(&schema_for!(Document<T>));
    SchemaFile { name: format!("{}.json", T::KIND), text }
}

fn render(schema: &schemars::Schema) -> String {
    let text = serde_json::to_string_pretty(schema).expect("a schema is JSON");
    format!("{text}\n")
}

#[cfg(test)]
mod tests {
    use super::schemas;

    #[test]
    fn every_kind_has_one_schema() {
        let mut names: Vec<String> = schemas().into_iter().map(|file| file.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
