//! Access lists, of which the mode alone is kept.

use std::os::fd::BorrowedFd;

use rustix::fs;
use rustix::io::Errno;

/// The attribute that holds an access list.
pub const ACL: &str = "system.posix_acl_access";

/// The bits of a mode that say what the owning group may do, or, beside an access list, what anybody may do at most whom that names.
const GROUP: u16 = 0o070;

/// What comes before the entries: the version.
const HEAD: usize = 4;
/// A kind, rights and an id.
const ENTRY: usize = 8;
/// The kind of the owning group's entry.
const OWNING_GROUP: [u8; 2] = 4u16.to_le_bytes();

/// Makes the mode of an open file one that does for it without its access list, which is not kept.
pub fn narrow(fd: BorrowedFd<'_>, stat: &mut fs::Stat) {
    let mode = (stat.st_mode & 0o7777) as u16;
    stat.st_mode = stat.st_mode & !0o7777 | u32::from(mode_without_acl(fd, mode));
}

/// The mode of an open file that gives its group no more than its access list does, should the list be lost.
pub fn mode_without_acl(fd: BorrowedFd<'_>, mode: u16) -> u16 {
    mode_without(|acl| fs::fgetxattr(fd, ACL, acl), mode)
}

/// The same with another way to read the list.
pub fn mode_without(read: impl FnOnce(&mut [u8]) -> Result<usize, Errno>, mode: u16) -> u16 {
    let mut acl = [0; 4096];
    match read(&mut acl) {
        Ok(length) => narrowed(&acl[..length], mode),
        Err(Errno::NODATA | Errno::OPNOTSUPP) => mode,
        // What cannot be read may give the group nothing.
        Err(_) => mode & !GROUP,
    }
}

/// The mode that belongs to `mode` where this access list is kept: with the group bits as they are beside it.
pub fn mode_beside(acl_mode: u16, without: u16, mode: u16) -> u16 {
    match mode & GROUP == without & GROUP {
        true => mode & !GROUP | acl_mode & GROUP,
        false => mode,
    }
}

fn narrowed(acl: &[u8], mode: u16) -> u16 {
    let entries = acl.get(HEAD..).unwrap_or_default().chunks_exact(ENTRY);
    let mut own = entries.filter(|entry| entry[..2] == OWNING_GROUP);
    let rights = own.next().map_or(0, |entry| u16::from(entry[2] & 7));
    mode & (!GROUP | rights << 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(group: u16, mask: u16) -> Vec<u8> {
        let entries: [(u16, u16, u32); 5] = [
            (1, 6, u32::MAX),
            (2, 6, 1000),
            (4, group, u32::MAX),
            (16, mask, u32::MAX),
            (32, 0, 0),
        ];
        let entries = entries.iter().flat_map(|(kind, rights, id)| {
            [&kind.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
        });
        2u32.to_le_bytes().into_iter().chain(entries).collect()
    }

    #[test]
    fn the_group_gets_what_its_entry_and_the_mask_give() {
        for (group, mask, expected) in
            [(0, 6, 0o600), (4, 6, 0o640), (6, 4, 0o640), (7, 7, 0o670), (6, 6, 0o660)]
        {
            assert_eq!(narrowed(&list(group, mask), 0o600 | mask << 3), expected);
        }
        // Without an entry nobody knows, and it gets nothing.
        assert_eq!(narrowed(&[2, 0, 0, 0], 0o4664), 0o4604);
        assert_eq!(mode_without(|_| Err(Errno::NODATA), 0o660), 0o660);
        assert_eq!(mode_without(|_| Err(Errno::RANGE), 0o660), 0o600);
    }

    #[test]
    fn beside_a_list_the_mask_stays_unless_the_group_is_to_get_something_else() {
        assert_eq!(mode_beside(0o660, 0o600, 0o700), 0o760);
        assert_eq!(mode_beside(0o660, 0o600, 0o640), 0o640);
    }
}
