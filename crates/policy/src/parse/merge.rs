//! Two readings of one text as one script.

use std::mem;

use crate::script::{InputSource, Script, Simple};

/// How far ahead the same command is looked for.
const WINDOW: usize = 16;

/// A script with all commands of both, in the order of the text. What both have is there once.
pub(super) fn both(one: Script, other: Script) -> Script {
    if one == other {
        return one;
    }
    let mut merged = Merged { commands: Vec::new(), places: [Vec::new(), Vec::new()] };
    let mut ones = one.commands.into_iter();
    let mut only_theirs = Vec::new();
    for theirs in other.commands {
        let ahead = ones.as_slice().iter().take(WINDOW).position(|ours| same(ours, &theirs));
        let Some(distance) = ahead else {
            only_theirs.push(theirs);
            continue;
        };
        ones.by_ref().take(distance).for_each(|ours| merged.push(ours, 0));
        only_theirs.drain(..).for_each(|theirs| merged.push(theirs, 1));
        ones.by_ref().take(1).for_each(|ours| merged.push(ours, 0));
        merged.meet(theirs.input);
    }
    ones.for_each(|ours| merged.push(ours, 0));
    only_theirs.into_iter().for_each(|theirs| merged.push(theirs, 1));
    let mut unclear = one.unclear;
    for theirs in other.unclear {
        if unclear.iter().all(|ours| ours.why != theirs.why) {
            unclear.push(theirs);
        }
    }
    Script { commands: merged.finish(), unclear }
}

struct Merged {
    /// Each with the inputs that it has in the two readings.
    commands: Vec<(Simple, [Option<InputSource>; 2])>,
    /// Where the commands of the two readings are now.
    places: [Vec<usize>; 2],
}

impl Merged {
    fn push(&mut self, mut simple: Simple, side: usize) {
        self.places[side].push(self.commands.len());
        let mut inputs = [None, None];
        inputs[side] = Some(mem::take(&mut simple.input));
        self.commands.push((simple, inputs));
    }

    /// The last command is one of the other reading too.
    fn meet(&mut self, input: InputSource) {
        self.places[1].push(self.commands.len() - 1);
        if let Some((_, inputs)) = self.commands.last_mut() {
            inputs[1] = Some(input);
        }
    }

    fn finish(self) -> Vec<Simple> {
        let places = self.places;
        let moved = |side: usize, from: Vec<usize>| -> Vec<usize> {
            from.into_iter().filter_map(|place| places[side].get(place).copied()).collect()
        };
        let settle = |(mut simple, inputs): (Simple, [Option<InputSource>; 2])| {
            let mut pipes = Vec::new();
            for (side, input) in inputs.into_iter().enumerate() {
                match input {
                    Some(InputSource::Pipe(from)) => pipes.append(&mut moved(side, from)),
                    Some(input) => simple.input = input,
                    None => {}
                }
            }
            if !pipes.is_empty() {
                pipes.sort_unstable();
                pipes.dedup();
                simple.input = InputSource::Pipe(pipes);
            }
            simple
        };
        self.commands.into_iter().map(settle).collect()
    }
}

/// Whether two readings of a command say the same; which commands write to a pipe may differ.
fn same(one: &Simple, other: &Simple) -> bool {
    let inputs = match (&one.input, &other.input) {
        (InputSource::Pipe(_), InputSource::Pipe(_)) => true,
        (one, other) => one == other,
    };
    inputs
        && one.words == other.words
        && one.assignments == other.assignments
        && one.redirects == other.redirects
        && one.calls_function == other.calls_function
        && one.apart == other.apart
}
