//! Why a test cannot run here.

/// Everything that was looked for when this was built, and why it is not there if it is not.
pub(crate) const FOUND: &[(&str, Option<&str>)] = include!(concat!(env!("OUT_DIR"), "/found.rs"));

/// Why a test that needs all of these must be ignored, if it must. Fails if one was never looked for.
pub(crate) fn to_ignore(
    names: &[String],
    found: &[(&str, Option<&str>)],
) -> Result<Option<String>, String> {
    let mut reasons: Vec<&str> = Vec::new();
    for name in names {
        let Some((_, lack)) = found.iter().find(|(known, _)| known == name) else {
            let known: Vec<&str> = found.iter().map(|(known, _)| *known).collect();
            return Err(format!("nobody looks for {name}; there are: {}", known.join(", ")));
        };
        reasons.extend(lack.filter(|reason| !reasons.contains(reason)));
    }
    Ok((!reasons.is_empty()).then(|| reasons.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &[(&str, Option<&str>)] = &[
        ("Root", Some("needs root")),
        ("LoopMount", Some("needs root")),
        ("Ptrace", None),
        ("\"git\"", Some("needs the program git")),
    ];

    fn asked(names: &[&str]) -> Result<Option<String>, String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        to_ignore(&names, MACHINE)
    }

    #[test]
    fn what_is_there_is_no_reason() {
        assert_eq!(asked(&["Ptrace"]), Ok(None));
    }

    #[test]
    fn each_reason_is_told_once() {
        let told = "needs root, needs the program git".to_owned();
        assert_eq!(asked(&["Root", "Ptrace", "\"git\"", "LoopMount"]), Ok(Some(told)));
    }

    #[test]
    fn what_nobody_looks_for_is_a_mistake() {
        let told = "nobody looks for \"hg\"; there are: Root, LoopMount, Ptrace, \"git\"";
        assert_eq!(asked(&["Ptrace", "\"hg\""]), Err(told.to_owned()));
    }
}
