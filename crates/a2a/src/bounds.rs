//! What a JSON text may be before anything is made of it.

use crate::fault::{A2aCode, A2aFault};
use crate::limits::A2aLimits;

/// Looks through a text without keeping anything of it: how deep it goes, and how many values it may have.
///
/// It is no parser: what it lets through may be no JSON.
pub(crate) fn check(text: &[u8], limits: &A2aLimits) -> Result<(), A2aFault> {
    let (mut depth, mut values) = (0_usize, 1_usize);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => drop(bytes.next()),
                        _ => {}
                    }
                }
            }
            b'{' | b'[' => {
                depth += 1;
                values += 1;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => {}
        }
        if depth > limits.depth {
            let most = limits.depth;
            return Err(refused(format!("the JSON is nested deeper than {most} levels")));
        }
        if values > limits.values {
            let most = limits.values;
            return Err(refused(format!("the JSON has more than {most} values")));
        }
    }
    Ok(())
}

fn refused(message: String) -> A2aFault {
    A2aFault::new(A2aCode::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_and_number_are_bounded() {
        let limits = A2aLimits { depth: 3, values: 6, ..A2aLimits::default() };
        let ok = |text: &str| check(text.as_bytes(), &limits).is_ok();
        assert!(ok("[[[1]]]") && !ok("[[[[1]]]]"));
        assert!(ok(r#""[[[[[[[[[\",,,,,,,,,,""#));
        assert!(ok("[1,2,3,4]") && !ok("[1,2,3,4,5,6]"));
        assert!(ok("]]]]]") && ok("\"") && ok("\"\\") && ok(""));
    }
}
