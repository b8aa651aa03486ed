//! Amounts of money: US dollars as decimal text, exact to a millionth.

/// The millionths of a dollar in a text such as `2.50`.
///
/// ```
/// use offshoot_engine::settings::parse_money;
///
/// assert_eq!(parse_money("2.50"), Some(2_500_000));
/// assert_eq!(parse_money("2,50"), None);
/// ```
pub fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let text = text.strip_prefix('$').unwrap_or(text);
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    format!("{whole}{part:0<6}").parse().ok()
}

/// An amount as it is written, without the sign of the dollar.
///
/// ```
/// use offshoot_engine::settings::format_money;
///
/// assert_eq!(format_money(2_500_000), "2.50");
/// ```
pub fn format(millionths: u64) -> String {
    let (whole, part) = (millionths / 1_000_000, millionths % 1_000_000);
    let part = format!("{part:06}");
    format!("{whole}.{:0<2}", part.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact() {
        for (text, millionths, shown) in [
            ("0", 0, "0.00"),
            ("2", 2_000_000, "2.00"),
            ("$2.5", 2_500_000, "2.50"),
            ("0.000001", 1, "0.000001"),
            (" 10.05 ", 10_050_000, "10.05"),
        ] {
            assert_eq!(parse(text), Some(millionths), "{text}");
            assert_eq!(format(millionths), shown);
            assert_eq!(parse(shown), Some(millionths));
        }
        for wrong in ["", ".", "1.", ".5", "-1", "1e3", "0.0000001", "1,5", "99999999999999999999"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
