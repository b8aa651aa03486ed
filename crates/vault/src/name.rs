//! Names that people give to vaults, workspaces and checkpoints.

use offshoot_store::IdPrefix;

/// The text cannot be a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{name}\" cannot be a name: {why}")]
pub struct NameError {
    /// The text.
    pub name: String,
    /// The rule it breaks.
    pub why: &'static str,
}

/// The longest name, in bytes.
const LONGEST: usize = 100;

/// Checks a name: letters and digits of any script and `. _ - +`, starting with a letter or digit.
///
/// The rule keeps names free for use in file names and in `WORKSPACE@CHECKPOINT`, and apart from options.
pub fn check_name(name: &str) -> Result<(), NameError> {
    let error = |why| Err(NameError { name: name.to_owned(), why });
    match name.chars().next() {
        None => return error("it is empty"),
        Some(first) if !first.is_alphanumeric() => {
            return error("it must start with a letter or a digit");
        }
        Some(_) => {}
    }
    if name.len() > LONGEST {
        return error("it is longer than 100 bytes");
    }
    if !name.chars().all(|c| c.is_alphanumeric() || "._-+".contains(c)) {
        return error("only letters, digits and . _ - + are allowed");
    }
    Ok(())
}

/// Checks the name of something that an id can name as well: a workspace, a checkpoint or a session. One that could be read as the start of
/// an id would stand for what has that id.
pub fn check_ref_name(name: &str) -> Result<(), NameError> {
    check_name(name)?;
    // For a thousand years from 1970 ids start so: years and numbers of issues are no ids.
    if name.starts_with('0') && IdPrefix::new(name).is_some() {
        let why = "it could be read as the start of an id; add a - or another first character";
        return Err(NameError { name: name.to_owned(), why });
    }
    Ok(())
}

/// Makes a name out of any text, such as the last part of a path.
pub fn name_from(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let kept =
        text.chars().map(|c| if c.is_alphanumeric() || "._-+".contains(c) { c } else { '-' });
    let name: String = kept.skip_while(|c| !c.is_alphanumeric()).collect();
    let end =
        name.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|&end| end <= 80).last();
    let name = name[..end.unwrap_or(0)].trim_end_matches('-');
    if name.is_empty() { "vault".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rule() {
        for good in ["a", "fix-1", "2.0_rc+1", "größe", "日本"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        let long = "x".repeat(101);
        for bad in ["", "-a", ".a", "a/b", "a@b", "a b", "a\nb", "a:b", long.as_str()] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_could_be_an_id_names_nothing_else() {
        let id = offshoot_store::Id::random();
        let (text, short) = (id.to_string(), id.short());
        for bad in [&*text, &*short, &short[..4], &short.to_uppercase(), "01k9", "0abc"] {
            assert_eq!(check_name(bad), Ok(()), "{bad}");
            assert!(check_ref_name(bad).is_err(), "{bad}");
        }
        for good in ["fix", "01k", "2026", "1234", "01k9-a", "01k9u", "feed", &format!("{text}0")] {
            assert_eq!(check_ref_name(good), Ok(()), "{good}");
        }
        assert!(check_ref_name("-a").is_err());
    }

    #[test]
    fn any_text_becomes_a_name() {
        for text in [&b"my project"[..], b"--x", b"\xff\xfe", b"", b"a\nb", &[b'y'; 300]] {
            let name = name_from(text);
            assert_eq!(check_name(&name), Ok(()), "{name}");
        }
        assert_eq!(name_from(b"my project"), "my-project");
    }
}
