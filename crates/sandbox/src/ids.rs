//! Which ids a user namespace knows, and why one may be refused.

use std::fmt::Write;
use std::fs;

use rustix::io::Errno;

use crate::error::{Result, SandboxError};

/// The first id outside of those that root's commands have, and how many there are. Nobody else has them.
pub(crate) const FIRST: u32 = 0x7000_0000;
const COUNT: u32 = 0x7000_0000;

/// Whose ids those inside are, outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    /// The same as inside.
    Same,
    /// Nobody's.
    Own,
}

/// Maps ids of the new namespace: to those that nobody has, or to the same ids outside, all of them for who may, else the caller's own.
pub(crate) fn map(pid: i32, ids: Ids) -> Result<()> {
    if ids == Ids::Own {
        let text = format!("0 {FIRST} {COUNT}\n");
        let written = fs::write(format!("/proc/{pid}/gid_map"), &text)
            .and_then(|()| fs::write(format!("/proc/{pid}/uid_map"), &text));
        return written
            .map_err(|error| refused(Errno::from_io_error(&error).unwrap_or(Errno::PERM)));
    }
    let all = may_map_all() && map_all(pid).is_ok();
    if !all {
        map_own(pid)?;
    }
    Ok(())
}

fn may_map_all() -> bool {
    use rustix::thread::CapabilitySet;
    let needed = CapabilitySet::SETUID | CapabilitySet::SETGID;
    rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(needed))
}

fn map_all(pid: i32) -> std::io::Result<()> {
    let (uids, gids) = (all_ids("uid_map")?, all_ids("gid_map")?);
    fs::write(format!("/proc/{pid}/gid_map"), gids)?;
    fs::write(format!("/proc/{pid}/uid_map"), uids)
}

/// Every id that this process's own namespace knows, mapped to itself.
fn all_ids(file: &str) -> std::io::Result<String> {
    let mut map = String::new();
    for line in fs::read_to_string(format!("/proc/self/{file}"))?.lines() {
        let mut fields = line.split_ascii_whitespace();
        if let (Some(first), Some(_), Some(count)) = (fields.next(), fields.next(), fields.next()) {
            // Writing to a string cannot fail.
            let _ok = writeln!(map, "{first} {first} {count}").is_ok();
        }
    }
    Ok(map)
}

/// Whether commands can have ids of their own: for who may give them any.
pub(crate) fn can_be_own() -> bool {
    use rustix::thread::CapabilitySet;
    let may = || {
        rustix::thread::capabilities(None)
            .is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
    };
    is_host_root() && may_map_all() && may()
}

/// Whether this is the root of the host itself, and not of a container with users of its own.
pub(crate) fn is_host_root() -> bool {
    let own = || fs::read_to_string("/proc/self/uid_map").ok();
    let same = |map: String| map.split_ascii_whitespace().eq(["0", "0", "4294967295"]);
    rustix::process::getuid().is_root() && own().is_some_and(same)
}

fn map_own(pid: i32) -> Result<()> {
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let write = |file: &str, text: String| fs::write(format!("/proc/{pid}/{file}"), text);
    let written = write("uid_map", format!("{uid} {uid} 1\n"))
        .and_then(|()| write("setgroups", "deny".to_owned()))
        .and_then(|()| write("gid_map", format!("{gid} {gid} 1\n")));
    written.map_err(|error| refused(Errno::from_io_error(&error).unwrap_or(Errno::PERM)))
}

/// The error for namespaces that the kernel refuses, with the setting that is to blame.
pub(crate) fn refused(errno: Errno) -> SandboxError {
    SandboxError::Namespaces { errno, setting: blame(errno, &read_setting) }
}

fn read_setting(name: &str) -> Option<String> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// The settings that forbid user namespaces, and their values when they do.
fn blame(errno: Errno, read: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    const FORBIDDING: [(&str, &str); 3] = [
        ("kernel.apparmor_restrict_unprivileged_userns", "1"),
        ("kernel.unprivileged_userns_clone", "0"),
        ("user.max_user_namespaces", "0"),
    ];
    for (setting, forbids) in FORBIDDING {
        if read(setting).as_deref() == Some(forbids) {
            return Some(match setting {
                "kernel.apparmor_restrict_unprivileged_userns" => format!(
                    "AppArmor restricts them: {setting} = 1; set it to 0 with sysctl, or give offshoot an AppArmor profile with `userns,`"
                ),
                _ => format!("{setting} = {forbids}; raise it with sysctl"),
            });
        }
    }
    match errno {
        Errno::NOSPC | Errno::USERS => {
            Some("too many namespaces: raise user.max_user_namespaces with sysctl".to_owned())
        }
        Errno::PERM => Some(
            "a container's seccomp profile or a chroot may forbid them; allow `clone3` and `unshare` with CLONE_NEWUSER"
                .to_owned(),
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_to_blame_is_named() {
        let none = |_: &str| None;
        let only = |name: &'static str, value: &'static str| {
            move |asked: &str| (asked == name).then(|| value.to_owned())
        };
        let apparmor = only("kernel.apparmor_restrict_unprivileged_userns", "1");
        assert!(blame(Errno::PERM, &apparmor).unwrap().contains("AppArmor"));
        let debian = only("kernel.unprivileged_userns_clone", "0");
        assert!(blame(Errno::PERM, &debian).unwrap().contains("unprivileged_userns_clone = 0"));
        let most = only("user.max_user_namespaces", "0");
        assert!(blame(Errno::NOSPC, &most).unwrap().contains("max_user_namespaces = 0"));
        assert!(blame(Errno::NOSPC, &none).unwrap().contains("too many"));
        assert!(blame(Errno::PERM, &none).unwrap().contains("seccomp"));
        assert_eq!(blame(Errno::NOMEM, &none), None);
    }
}
