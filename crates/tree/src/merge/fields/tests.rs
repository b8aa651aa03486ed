//! Merging values.

use super::*;

#[test]
fn the_value_that_changed_is_taken() {
    assert_eq!(choose(Some(1), [1, 1]), Some(Choice::One(1)));
    assert_eq!(choose(Some(1), [1, 2]), Some(Choice::One(2)));
    assert_eq!(choose(Some(1), [2, 2]), Some(Choice::One(2)));
    assert_eq!(choose(Some(1), [3, 1, 2, 3]), Some(Choice::Many(vec![3, 2])));
    assert_eq!(choose(None, [1, 1]), Some(Choice::One(1)));
    assert_eq!(choose(None, [1, 2]), Some(Choice::Many(vec![1, 2])));
    assert_eq!(choose::<u8>(None, []), None);
}
