//! Which layers of a stack to merge.

/// Every layer costs something, however little is in it.
const LEAST: u64 = 64 * 1024;

/// How many layers to merge from the top of a stack, given the bytes of each, topmost first. Afterwards there are at most
/// `target` layers. The lowest always stays, and so do those that have as many bytes as all that lies above them.
///
/// A byte is thus copied only into a layer of twice the size of the one it was in, so the times that it is copied go with
/// the logarithm of all that is ever written.
pub(super) fn layers_to_merge(sizes: &[u64], target: usize) -> Option<usize> {
    let lowest = sizes.len().checked_sub(1)?;
    let fewest = (sizes.len() + 1).saturating_sub(target.max(2)).max(2);
    let mut above: u64 = 0;
    for (at, size) in sizes.iter().enumerate() {
        let stays = *size >= above || at == lowest;
        if at >= fewest && stays {
            return Some(at);
        }
        above = above.saturating_add((*size).max(LEAST));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_layers_are_merged_and_big_ones_stay() {
        let (small, big) = (10_000, 100 << 20);
        assert_eq!(layers_to_merge(&[], 8), None);
        assert_eq!(layers_to_merge(&[small], 8), None);
        assert_eq!(
            layers_to_merge(&[small, big], 2),
            None,
            "the lowest stays, and one is merged already"
        );
        assert_eq!(layers_to_merge(&[small, small, big], 2), Some(2));
        let many = [vec![small; 16], vec![big, 5 * big]].concat();
        assert_eq!(layers_to_merge(&many, 8), Some(16), "what is bigger stays");
        let alike = vec![small; 17];
        assert_eq!(layers_to_merge(&alike, 8), Some(16), "all but the lowest");
        let tiers = [vec![small; 5], vec![small * 400, small * 400, big * 9, big * 99]].concat();
        assert_eq!(layers_to_merge(&tiers, 8), Some(5), "no more than has to be");
        assert_eq!(layers_to_merge(&tiers, 3), Some(7));
    }

    #[test]
    fn the_stack_becomes_as_low_as_it_should() {
        for length in 3..60 {
            for target in 2..20 {
                let sizes: Vec<u64> =
                    (0..length).map(|at: u64| (at * 7919) % 1000 * 50_000).collect();
                if let Some(merged) = layers_to_merge(&sizes, target) {
                    assert!((2..sizes.len()).contains(&merged));
                    let left = sizes.len() - merged;
                    assert!(left < target.max(2), "with the merged one there are at most so many");
                }
            }
        }
    }

    /// Every layer of a long life has the same size: each byte is copied a few times only.
    #[test]
    fn bytes_are_copied_seldom() {
        let (depth, size) = (16, 1 << 20);
        let mut stack: Vec<u64> = vec![1 << 30];
        let mut copied = 0;
        for _ in 0..5_000 {
            stack.insert(0, size);
            if stack.len() > depth {
                let merged = layers_to_merge(&stack, depth / 2).unwrap();
                let sum: u64 = stack.drain(..merged).sum();
                copied += sum;
                stack.insert(0, sum);
            }
        }
        assert!(stack.len() <= depth);
        assert!(copied < 6 * 5_000 * size, "{copied}");
    }
}
