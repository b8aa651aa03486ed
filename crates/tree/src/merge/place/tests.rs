//! Names beside.

use super::*;
use crate::path::is_name;

#[test]
fn a_name_beside_is_a_name() {
    assert_eq!(beside_name(b"a", "ours", 1), b"a~ours");
    assert_eq!(beside_name(b"a", "ours", 2), b"a~ours~2");
    assert_eq!(beside_name(b"a", "x/y\0z", 1), b"a~x-y-z");
    for label in ["", "x", &"long".repeat(100)] {
        for number in [1, 2, 1_000_000] {
            let name = beside_name(&[b'n'; 255], label, number);
            assert!(is_name(&name), "{label} {number}");
        }
    }
}
