//! How an agent decides what a merge left to it.

use super::Case;
use crate::merge::{Clash, Merged, changed, merge_bodies};
use crate::tree::{Body, File, Tree, by_id, text_of};

impl Case {
    /// Decides every conflict: of texts by keeping all lines, of anything else for the folder.
    pub(super) fn decide(
        &mut self,
        agent: &str,
        tree: &Tree,
        merged: Merged,
    ) -> Result<Tree, String> {
        let (ours, theirs) = (by_id(tree), by_id(&self.folder));
        let base = self.workspaces[agent].base.clone();
        let (bases, mut decided) = (by_id(&base), merged.tree);
        for (path, clash) in &merged.conflicts {
            self.story.push(format!("{agent} decides {path}"));
            match clash {
                Clash::Lines => {
                    let id = merged.unclear.iter().copied().find(|id| {
                        [&ours, &theirs]
                            .iter()
                            .any(|side| side.get(id).is_some_and(|it| it.0 == path))
                    });
                    let id = id.ok_or("no file is in conflict there")?;
                    let (mine, other) = (ours[&id].1, theirs[&id].1);
                    let was = bases[&id].1;
                    let lines = self.keep_all_lines(agent, path, [was, mine, other])?;
                    let was = was.executable;
                    let now = [&mine.executable, &other.executable];
                    let executable = *changed(&was, now).expect("a bit has two values");
                    let body = Body::Text(lines);
                    decided.insert(path.clone(), File { id, body, executable });
                }
                Clash::Other => {}
            }
        }
        if merged.conflicts.values().any(|clash| *clash == Clash::Other) {
            self.world.resolve_all(agent)?;
        }
        for (id, (path, file)) in &theirs {
            let by_lines = decided.values().any(|file| file.id == *id);
            let is_parted = merged.parted.contains(id);
            let is_deleted = is_parted && !merged.conflicts.contains_key(*path);
            if !merged.unclear.contains(id) || by_lines || is_deleted {
                continue;
            }
            let (path, file) = match (bases.get(id), ours.get(id)) {
                (Some(base), Some(mine)) if !is_parted => {
                    let is_disputed = merged.disputed.contains(mine.0);
                    for_theirs(*base, *mine, (path, file), is_disputed)
                }
                _ => ((*path).clone(), (*file).clone()),
            };
            decided.insert(path, file);
        }
        Ok(decided)
    }

    /// Everybody's lines are shown, with or without markers; all of them are kept.
    fn keep_all_lines(
        &self,
        agent: &str,
        path: &str,
        [base, mine, other]: [&File; 3],
    ) -> Result<Vec<String>, String> {
        let shown = String::from_utf8(self.world.read(agent, path)?).map_err(|e| e.to_string())?;
        let has = |file: &File, line: &String| file.body.lines().contains(line);
        let is_shown = |line: &&String| shown.lines().any(|other| other == *line);
        let all = mine.body.lines().iter().chain(other.body.lines());
        let mut must_be =
            all.filter(|line| !has(base, line) || (has(mine, line) && has(other, line)));
        if let Some(lost) = must_be.find(|line| !is_shown(line)) {
            return Err(format!("{path} lacks {lost:?}: {shown}"));
        }
        let [mine, other] =
            [mine, other].map(|file| file.body.lines().iter().filter(is_shown).cloned());
        let lines = with_lines_of(other.collect(), mine);
        self.world.write(agent, path, text_of(&lines).as_bytes())?;
        Ok(lines)
    }
}

/// A file that both sides have, decided for the last of them: only what is in conflict is decided, all else stays merged. It is
/// not where the first side moved it if the last one has something else there.
fn for_theirs(
    base: (&String, &File),
    mine: (&String, &File),
    theirs: (&String, &File),
    is_disputed: bool,
) -> (String, File) {
    let body = merge_bodies(&base.1.body, [&mine.1.body, &theirs.1.body]);
    let bits = [&mine.1.executable, &theirs.1.executable];
    let file = File {
        id: base.1.id,
        body: body.unwrap_or_else(|_| theirs.1.body.clone()),
        executable: *changed(&base.1.executable, bits).expect("a bit has two values"),
    };
    let path = if theirs.0 == base.0 && !is_disputed { mine.0 } else { theirs.0 };
    (path.clone(), file)
}

/// Lines with those of another text that they lack, each behind the one that it is behind there. None is moved: to a merge that would be
/// one more line, and one less.
fn with_lines_of(mut lines: Vec<String>, others: impl Iterator<Item = String>) -> Vec<String> {
    let mut at = 0;
    for line in others {
        if let Some(found) = lines.iter().position(|known| *known == line) {
            at = found + 1;
        } else {
            lines.insert(at, line);
            at += 1;
        }
    }
    lines
}
