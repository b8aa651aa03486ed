//! Statistics that a few slow runs do not move: medians and percentiles.

/// The middle of some values and how far they spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// Half of the values are below.
    pub(crate) median: f64,
    /// A tenth of the values is below.
    pub(crate) p10: f64,
    /// A tenth of the values is above.
    pub(crate) p90: f64,
}

impl Spread {
    /// The spread of some values; zeros where there are none.
    pub(crate) fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share| percentile(&sorted, share);
        Self { median: at(0.5), p10: at(0.1), p90: at(0.9) }
    }
}

/// The value below which a share of the values is.
pub(crate) fn percentile_of(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    percentile(&sorted, share)
}

/// The value below which a share of the sorted values is, interpolated between its two neighbours.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let position = share * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_run_does_not_move_the_median() {
        let spread = Spread::of(&[3.0, 1.0, 2.0, 1000.0, 2.0]);
        assert_eq!(spread.median, 2.0);
        assert!(spread.p10 < spread.median && spread.p90 > spread.median);
    }

    #[test]
    fn percentiles_are_interpolated() {
        let values: Vec<f64> = (0..=10).map(f64::from).collect();
        assert_eq!(Spread::of(&values), Spread { median: 5.0, p10: 1.0, p90: 9.0 });
        assert_eq!(Spread::of(&[4.0, 6.0]).median, 5.0);
    }

    #[test]
    fn few_values_are_fine() {
        assert_eq!(Spread::of(&[]), Spread { median: 0.0, p10: 0.0, p90: 0.0 });
        assert_eq!(Spread::of(&[7.0]), Spread { median: 7.0, p10: 7.0, p90: 7.0 });
    }
}
