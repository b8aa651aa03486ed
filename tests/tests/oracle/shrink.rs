//! Making a failing case small enough to read.

use std::time::{Duration, Instant};

use offshoot_tests::oracle::step::Step;

use crate::case::Failure;

/// A person who waits for a test to fail does not wait for long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The smallest failure that is found by leaving out steps, as long as `replay` still fails.
pub(crate) fn shrink(
    failure: Failure,
    replay: impl Fn(&[Vec<Step>]) -> Result<(), Failure>,
) -> Failure {
    let start = Instant::now();
    let mut smallest = failure;
    let mut length = smallest.programs.iter().map(Vec::len).max().unwrap_or(0);
    while length > 0 {
        let mut shrunk = false;
        for candidate in candidates(&smallest.programs, length) {
            if start.elapsed() > PATIENCE {
                return smallest;
            }
            if let Err(failure) = replay(&candidate) {
                smallest = failure;
                shrunk = true;
                break;
            }
        }
        if !shrunk {
            length /= 2;
        }
    }
    smallest
}

/// The programs with one run of steps left out, each possible one.
fn candidates(programs: &[Vec<Step>], length: usize) -> Vec<Vec<Vec<Step>>> {
    let places = programs.iter().enumerate().flat_map(|(number, steps)| {
        (0..steps.len()).step_by(length).map(move |start| (number, start))
    });
    let without = |(number, start): (usize, usize)| {
        let mut programs = programs.to_vec();
        let end = (start + length).min(programs[number].len());
        programs[number].drain(start..end);
        programs.retain(|steps| !steps.is_empty());
        programs
    };
    places.map(without).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(words: &str) -> Vec<Step> {
        words.split(' ').map(|word| Step::new([word])).collect()
    }

    #[test]
    fn only_what_is_needed_is_left() {
        let replay = |programs: &[Vec<Step>]| {
            let steps: Vec<&[u8]> = programs.iter().flatten().map(Step::verb).collect();
            if steps.contains(&&b"c"[..]) && steps.contains(&&b"x"[..]) {
                Err(Failure { problems: Vec::new(), programs: programs.to_vec() })
            } else {
                Ok(())
            }
        };
        let programs = vec![program("a b c d e f g"), program("h i"), program("v w x y z")];
        let small = shrink(Failure { problems: Vec::new(), programs }, replay);
        assert_eq!(small.programs, [program("c"), program("x")]);
    }
}
