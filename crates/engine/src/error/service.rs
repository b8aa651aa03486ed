//! Errors of services as people see them.

use offshoot_protocol::{ExitCode, Hint};
use offshoot_vault::VaultError;
use offshoot_workspace::{BindingError, ServiceError};

use super::Error;

impl From<ServiceError> for Error {
    fn from(error: ServiceError) -> Self {
        let message = error.to_string();
        match error {
            ServiceError::Vault(error) => error.into(),
            ServiceError::Name(error) => error.into(),
            ServiceError::Registry(error) => error.into(),
            ServiceError::Binding(error) => binding_error(&error, message),
            ServiceError::Lost { lost, .. } => {
                Self { message, ..Self::from(VaultError::CutShort(lost)) }
            }
            ServiceError::Unknown { what, suggestions, known, .. } => {
                let error = Self::new(ExitCode::NotFound, message);
                match (suggestions.is_empty(), known.is_empty()) {
                    (true, false) => {
                        error.hint(format!("one of: {}", known.join(", "))).candidates(known)
                    }
                    (true, true) => Self { hint: listing(what), ..error },
                    (false, _) => error.suggest(suggestions),
                }
            }
            ServiceError::NoPath { suggestions, .. } => {
                Self::new(ExitCode::NotFound, message).suggest(suggestions)
            }
            ServiceError::Gone { workspace, operation } => {
                let hint = match operation.as_str() {
                    "exec" => Hint::command("offshoot exec -w")
                        .arg(workspace)
                        .words("-- CMD")
                        .text(" makes it again; --keep keeps it"),
                    "undo" => {
                        Hint::command("offshoot redo -w").arg(workspace).text(" brings it back")
                    }
                    _ => Hint::command("offshoot undo -w").arg(workspace).text(" brings it back"),
                };
                Self::new(ExitCode::NotFound, message).hint(hint)
            }
            ServiceError::Ambiguous { candidates, .. } => {
                const MOST: usize = 10;
                let mut hint = "give more of the id, or WORKSPACE@CHECKPOINT".to_owned();
                if candidates.len() > ServiceError::FEW {
                    let lines = candidates.iter().take(MOST).map(|one| format!("\n{one}"));
                    hint = format!("{hint}; the first that fit are:{}", lines.collect::<String>());
                }
                Self::new(ExitCode::Conflict, message).hint(hint).candidates(candidates)
            }
            ServiceError::SessionNames { workspaces, .. } => Self::new(ExitCode::Conflict, message)
                .hint("say which with -w WORKSPACE, or give the start of its id")
                .candidates(workspaces),
            ServiceError::OthersCheckpoint { checkpoint, owner, workspace } => {
                let full = format!("{owner}@{checkpoint}");
                Self::new(ExitCode::NotFound, message).hint(
                    Hint::command("offshoot checkpoint restore")
                        .arg(checkpoint)
                        .words("-w")
                        .arg(&owner)
                        .text(format!(" takes {owner} back to it, "))
                        .then("offshoot checkpoint restore")
                        .arg(full)
                        .words("-w")
                        .arg(&workspace)
                        .text(format!(" makes {workspace} the same as that")),
                )
            }
            ServiceError::NameTaken { what: "workspace", name } => {
                Self::new(ExitCode::Conflict, message).hint(
                    Hint::command("offshoot exec -w")
                        .arg(name)
                        .words("CMD")
                        .text(" runs in it; ")
                        .then("offshoot workspace list")
                        .text(" lists all"),
                )
            }
            ServiceError::NameTaken { .. } => Self::new(ExitCode::Conflict, message),
            ServiceError::Vanished(_) => Self::new(ExitCode::Conflict, message).hint(
                Hint::command("offshoot op log")
                    .text(" shows who deleted it, ")
                    .then("offshoot undo --vault-wide")
                    .text(" takes the last operation back"),
            ),
            ServiceError::Reserved(_) | ServiceError::Request(_) => Self::usage(message),
            ServiceError::Moved { workspace, checkpoint } => Self::new(ExitCode::Conflict, message)
                .hint(
                    Hint::command("offshoot checkpoint restore")
                        .arg(checkpoint)
                        .words("-w")
                        .arg(workspace)
                        .text(" brings it back"),
                ),
            ServiceError::Busy { .. } => Self::new(ExitCode::Busy, message).hint(
                Hint::command("offshoot ps").text(" lists what runs; try again when it has ended"),
            ),
            ServiceError::Interrupted { code, .. } => Self::new(code, message),
            ServiceError::SessionFull { .. } => Self::new(ExitCode::Busy, message).hint(
                Hint::from("end one of them, or work in another workspace: ")
                    .then("offshoot run -w NAME"),
            ),
            ServiceError::CachesInUse => Self::new(ExitCode::Busy, message)
                .hint(Hint::command("offshoot ps").text(" lists running commands")),
            ServiceError::Compacting => {
                Self::new(ExitCode::Busy, message).hint("wait until it is done and try again")
            }
            ServiceError::Mount(error) => error.into(),
            ServiceError::Git(error) => error.into(),
            ServiceError::Internal(_) => Self::new(ExitCode::Failure, message)
                .hint("nothing was changed; please report this"),
            ServiceError::Contended(_) => Self::new(ExitCode::Busy, message).hint("try again"),
            ServiceError::NoConflict(_) | ServiceError::NoSide { .. } => {
                Self::new(ExitCode::NotFound, message).hint(
                    Hint::command("offshoot conflicts").text(" lists what there is to decide"),
                )
            }
            ServiceError::StillMarked(_) => Self::new(ExitCode::Conflict, message)
                .hint("take them out, or add --force to keep them as they are"),
            ServiceError::Undecidable { path, whole: true, .. } => {
                Self::new(ExitCode::Conflict, message).hint(
                    Hint::from("finish it by hand, or take the file of a side: ")
                        .then("offshoot resolve --whole --side NAME")
                        .arg(path),
                )
            }
            ServiceError::Undecidable { path, whole: false, .. } => {
                Self::new(ExitCode::Conflict, message).hint(
                    Hint::command("offshoot conflicts --side NAME")
                        .arg(&path)
                        .text(" prints what a side has, ")
                        .then("offshoot resolve --side NAME")
                        .arg(&path)
                        .text(" takes it, ")
                        .then("offshoot resolve --from FILE")
                        .arg(&path)
                        .text(" another file, ")
                        .then("offshoot resolve --as-is")
                        .arg(&path)
                        .text(" what is there"),
                )
            }
            ServiceError::Outdated(_) => Self::new(ExitCode::Conflict, message)
                .hint(Hint::from("look at it again with ").then("offshoot review")),
            ServiceError::Occupied(_) => Self::new(ExitCode::Conflict, message)
                .hint("drop what came to that place too, or keep the move"),
            ServiceError::NoHistory(_) => Self::new(ExitCode::NotFound, message),
            ServiceError::NoFolder => Self::new(ExitCode::Conflict, message).hint(
                Hint::command("offshoot init")
                    .text(" in a folder makes a vault that is; ")
                    .then("offshoot fs export / DIR")
                    .text(" writes files anywhere"),
            ),
            ServiceError::FolderGone(_) => Self::new(ExitCode::NotFound, message).hint(
                Hint::from("put it back, or say where it is now with ")
                    .then("offshoot binding move NAME DIR"),
            ),
            ServiceError::OtherFolder(_) => Self::new(ExitCode::Conflict, message).hint(
                Hint::command("offshoot init")
                    .text(" there takes it as it is; ")
                    .then("offshoot binding move NAME DIR")
                    .text(" says where the right one is"),
            ),
            ServiceError::Apply(error) => error.into(),
            ServiceError::Unreadable { .. } => Self::new(ExitCode::Conflict, message)
                .hint("make it readable with chmod or chown, and try again"),
            ServiceError::Interfered(_) => Self::new(ExitCode::Busy, message)
                .hint("try again when nothing writes to the folder"),
            ServiceError::Unsettled { .. } => Self::new(ExitCode::Conflict, message).hint(
                Hint::from("mend what is named and try again; ")
                    .then("offshoot commit --settle back")
                    .text(" or ")
                    .then("offshoot commit --settle forward")
                    .text(" decides the way"),
            ),
            ServiceError::BadNote { .. } => Self::new(ExitCode::Damaged, message),
            ServiceError::ChangedSince { verb, workspace, before, .. } => {
                let way = match verb {
                    "redone" => Hint::command("offshoot commit -w")
                        .arg(workspace)
                        .text(" merges it with your changes"),
                    _ => Hint::command("offshoot fs export / DIR --at")
                        .arg(before.short())
                        .text(" writes the files of before the commit to DIR"),
                };
                Self::new(ExitCode::Conflict, message)
                    .hint(Hint::from("nothing was changed").and(way))
            }
            ServiceError::EarlierWorkspace { workspace, snapshot, .. } => {
                let snapshot = snapshot.short();
                Self::new(ExitCode::Conflict, message).hint(
                    Hint::command("offshoot new")
                        .arg(format!("{workspace}-2"))
                        .words("--from")
                        .arg(snapshot)
                        .text(" makes a workspace of it as it was then"),
                )
            }
            ServiceError::Undecided { workspace, .. } => Self::new(ExitCode::Conflict, message)
                .hint(
                    Hint::command("offshoot conflicts -w")
                        .arg(workspace)
                        .text(" lists them")
                        .unchanged(),
                ),
            ServiceError::Markers(_) => Self::new(ExitCode::Conflict, message)
                .hint("nothing was changed; edit the files, or add --allow markers"),
            ServiceError::MovedToTrusted(_) => Self::new(ExitCode::Conflict, message).hint(
                Hint::from("nothing was changed; ")
                    .then("offshoot pull")
                    .text(" moves it in the workspace as well, and a commit then names it"),
            ),
            ServiceError::ClosedToOwner(_) => Self::new(ExitCode::Conflict, message).hint(
                Hint::from("nothing was changed; ")
                    .then("chmod u+rX PATH")
                    .text(" in the workspace opens it, ")
                    .then("offshoot commit --exclude PATH")
                    .text(" leaves it there"),
            ),
            ServiceError::ShortId { candidates, .. } => {
                let hint = match candidates.as_slice() {
                    [] => "give more of the id".to_owned(),
                    _ => format!("give more of the id: {}", candidates.join(" or ")),
                };
                Self::usage(message).hint(hint).candidates(candidates)
            }
            ServiceError::Sandbox(error) => error.into(),
            ServiceError::NotApprover(_) => Self::new(ExitCode::Denied, message),
            ServiceError::LookAgain { id, .. } => Self::new(ExitCode::Conflict, message).hint(
                Hint::from("look again: ")
                    .then("offshoot approvals show")
                    .arg(id.short())
                    .text(" says what to approve it with")
                    .unchanged(),
            ),
            ServiceError::DeniedSince { id, .. } => Self::new(ExitCode::Conflict, message).hint(
                Hint::from("nothing was approved: change the rule, or drop the command with ")
                    .then("offshoot approvals deny")
                    .arg(id.short()),
            ),
            ServiceError::AskAgain => Self::new(ExitCode::Conflict, message)
                .hint("nothing was approved; ask for it again: run the command once more"),
            ServiceError::Unapproved { approval, .. } => {
                let error = Self::new(ExitCode::Denied, message);
                match approval {
                    Some(id) => error.hint(
                        Hint::from("a person decides: ")
                            .then("offshoot approvals show")
                            .arg(id.short())
                            .unchanged(),
                    ),
                    None => error,
                }
            }
            ServiceError::Decided { .. } => Self::new(ExitCode::Conflict, message).hint(
                Hint::command("offshoot approvals list --all")
                    .text(" lists those that were decided")
                    .unchanged(),
            ),
            ServiceError::ApprovalConflicts { workspace, trial, .. } => {
                Self::new(ExitCode::Conflict, message).hint(
                    Hint::command("offshoot merge")
                        .arg(trial.to_string())
                        .words("--into")
                        .arg(workspace)
                        .text(
                            " brings it in with the conflicts to decide; or run the command again",
                        )
                        .unchanged(),
                )
            }
            ServiceError::StaleClearance => Self::new(ExitCode::Conflict, message)
                .hint("the rules, the workspace or the folders changed meanwhile; ask again"),
            ServiceError::DiskLimit { .. } => Self::new(ExitCode::Storage, message),
            ServiceError::Cancelled => Self::new(ExitCode::Interrupted, message),
            ServiceError::NotRunning { .. } => Self::new(ExitCode::Conflict, message).hint(
                Hint::command("offshoot ps")
                    .text(" lists what runs, ")
                    .then("offshoot execs")
                    .text(" what ran"),
            ),
            ServiceError::BeingRecovered { .. } => Self::new(ExitCode::Busy, message)
                .hint(Hint::command("offshoot recover list").text(" shows what is left")),
            ServiceError::NotYours { .. } => {
                Self::new(ExitCode::Failure, message).hint("its user, or root, can end it")
            }
        }
    }
}

/// What lists things of a kind, where nothing is like what was named.
fn listing(what: &str) -> Option<Hint> {
    let hint = match what {
        "exec" => Hint::command("offshoot execs")
            .text(" lists commands that ran, ")
            .then("offshoot ps")
            .text(" those that run"),
        "approval" => Hint::command("offshoot approvals").text(" lists them"),
        "operation" => Hint::command("offshoot op log").text(" lists operations"),
        "interrupted command" => {
            Hint::command("offshoot recover list").text(" lists what commands left")
        }
        "workspace" => Hint::command("offshoot workspace list").text(" lists workspaces"),
        "checkpoint" => Hint::command("offshoot checkpoint list").text(" lists checkpoints"),
        _ => return None,
    };
    Some(hint)
}

fn binding_error(error: &BindingError, message: String) -> Error {
    match error {
        BindingError::Already { .. } => Error::new(ExitCode::Conflict, message),
        BindingError::Missing { .. } => Error::new(ExitCode::NotFound, message),
        BindingError::NotAFolder(_) | BindingError::Refused { .. } => Error::usage(message),
        BindingError::Planted { .. } => Error::new(ExitCode::Conflict, message).hint(
            Hint::command("offshoot binding add DIR --name NAME").text(" takes another name"),
        ),
        BindingError::Nested { .. } => Error::new(ExitCode::Conflict, message)
            .hint("bind the outer one alone; everything in it is taken in"),
        BindingError::OtherVault { vault, unused, .. } => {
            let work =
                Hint::from("work with that one: ").then("offshoot --vault").arg(vault).words("...");
            let hint = match unused {
                None => work,
                Some(true) => Hint::from("nothing was done in it: ")
                    .then("offshoot vault delete")
                    .arg(vault)
                    .words("--yes")
                    .text(", then try again"),
                Some(false) => work
                    .text("; or save it with ")
                    .then("offshoot vault export FILE --vault")
                    .arg(vault)
                    .text(", delete it with ")
                    .then("offshoot vault delete")
                    .arg(vault)
                    .text(", and try again"),
            };
            Error::new(ExitCode::Conflict, message).hint(hint)
        }
        BindingError::First => Error::new(ExitCode::Conflict, message).hint(
            Hint::command("offshoot binding move / DIR").text(" says that it lies elsewhere now"),
        ),
        BindingError::Overtaken => Error::new(ExitCode::Conflict, message).hint("try again"),
    }
}

#[cfg(test)]
mod tests {
    use offshoot_store::Id;

    use super::*;

    /// Errors that are rare name what they know all the same.
    #[test]
    fn commands_have_their_arguments() {
        let (workspace, checkpoint) = ("my work".to_owned(), "kept".to_owned());
        for (error, expected) in [
            (
                ServiceError::Vanished(Id::at(0)),
                &["offshoot op log", "offshoot undo --vault-wide"][..],
            ),
            (
                ServiceError::Moved { workspace, checkpoint },
                &["offshoot checkpoint restore kept -w 'my work'"],
            ),
            (ServiceError::NoFolder, &["offshoot init", "offshoot fs export / DIR"]),
            (ServiceError::FolderGone("/x".into()), &["offshoot binding move NAME DIR"]),
        ] {
            let commands = Error::from(error).hint.unwrap_or_default().commands();
            let shown: Vec<String> = commands.iter().map(ToString::to_string).collect();
            assert_eq!(shown, expected);
        }
    }
}
