//! Every document, by the files that have them.

use crate::document::ErrorDocument;
use crate::schema::{self, Schema, SchemaFile};
use crate::{
    approval, audit, binding, cache, commit, diff, exec, file, fleet, git, help, history,
    integration, mcp, merge, model, own_agent, policy, preset, recover, review, sandbox, session,
    status, tools, vault, workspace,
};

/// The schemas of all documents.
pub fn schemas() -> Vec<SchemaFile> {
    let errors: &[Schema] = &[|| schema::framed::<ErrorDocument>("error")];
    let all = [
        errors,
        approval::SCHEMAS,
        audit::SCHEMAS,
        binding::SCHEMAS,
        cache::SCHEMAS,
        commit::SCHEMAS,
        diff::SCHEMAS,
        exec::SCHEMAS,
        file::SCHEMAS,
        fleet::SCHEMAS,
        git::SCHEMAS,
        help::SCHEMAS,
        history::SCHEMAS,
        integration::SCHEMAS,
        mcp::SCHEMAS,
        merge::SCHEMAS,
        model::SCHEMAS,
        policy::SCHEMAS,
        preset::SCHEMAS,
        recover::SCHEMAS,
        review::SCHEMAS,
        sandbox::SCHEMAS,
        own_agent::SCHEMAS,
        session::SCHEMAS,
        status::SCHEMAS,
        tools::SCHEMAS,
        vault::SCHEMAS,
        workspace::SCHEMAS,
    ];
    all.concat().into_iter().map(|schema| schema()).collect()
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
