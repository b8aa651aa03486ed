//! Running several things in turns and comparing them turn by turn.

use std::time::Duration;

use crate::Result;

/// One thing to measure: told the number of the turn, it says how long it took. What it has to prepare and to clear away
/// is its own affair and does not count.
type Run<'a> = Box<dyn FnMut(usize) -> Result<Duration> + 'a>;

/// Names one of the things that are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side(usize);

/// Things to measure in turns.
#[derive(Default)]
pub(crate) struct Contest<'a> {
    sides: Vec<Run<'a>>,
}

impl<'a> Contest<'a> {
    /// Adds something to measure.
    pub(crate) fn add(&mut self, run: impl FnMut(usize) -> Result<Duration> + 'a) -> Side {
        self.sides.push(Box::new(run));
        Side(self.sides.len() - 1)
    }

    /// Lets everybody take so many turns, after one that does not count. Every other turn goes backwards, so that
    /// nobody always profits from what the one before left in caches.
    pub(crate) fn run(mut self, turns: usize) -> Result<Outcome> {
        let mut seconds = vec![Vec::with_capacity(turns); self.sides.len()];
        for turn in 0..=turns {
            let mut order: Vec<usize> = (0..self.sides.len()).collect();
            if turn % 2 == 1 {
                order.reverse();
            }
            for side in order {
                let took = self.sides[side](turn)?;
                if turn > 0 {
                    seconds[side].push(took.as_secs_f64());
                }
            }
        }
        Ok(Outcome { seconds })
    }
}

/// How long everything took, turn by turn.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    seconds: Vec<Vec<f64>>,
}

impl Outcome {
    /// Seconds of one side.
    pub(crate) fn seconds(&self, side: Side) -> Vec<f64> {
        self.seconds[side.0].clone()
    }

    /// How many times as long one side took as another, in each turn.
    pub(crate) fn ratio(&self, side: Side, other: Side) -> Vec<f64> {
        self.turns(side, other, |a, b| a / b)
    }

    /// How much longer one side took than another, in each turn.
    pub(crate) fn minus(&self, side: Side, other: Side) -> Vec<f64> {
        self.turns(side, other, |a, b| a - b)
    }

    fn turns(&self, side: Side, other: Side, compare: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let both = self.seconds[side.0].iter().zip(&self.seconds[other.0]);
        both.map(|(a, b)| compare(*a, *b)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn turns_alternate_and_the_first_does_not_count() {
        let order = RefCell::new(Vec::new());
        let mut contest = Contest::default();
        let sides = ["a", "b"].map(|name| {
            let order = &order;
            contest.add(move |turn| {
                order.borrow_mut().push(format!("{name}{turn}"));
                let slow = if name == "a" { 2 } else { 1 };
                Ok(Duration::from_secs(slow * (turn as u64 + 1)))
            })
        });
        let outcome = contest.run(2).expect("nothing fails");
        assert_eq!(order.into_inner(), ["a0", "b0", "b1", "a1", "a2", "b2"]);
        assert_eq!(outcome.seconds(sides[0]), [4.0, 6.0]);
        assert_eq!(outcome.ratio(sides[0], sides[1]), [2.0, 2.0]);
        assert_eq!(outcome.minus(sides[0], sides[1]), [2.0, 3.0]);
    }
}
