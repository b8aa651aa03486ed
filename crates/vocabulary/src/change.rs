//! Words about files and changes to them.

use crate::word::words;

words! {
    /// What an entry is.
    pub enum EntryKindDoc {
        /// A regular file.
        File = "file",
        /// A directory.
        Directory = "directory",
        /// A symbolic link.
        Symlink = "symlink",
        /// A named pipe.
        Fifo = "fifo",
    }
}

words! {
    /// What happened to a path.
    pub enum ChangeKindDoc {
        /// It is new.
        Added = "added",
        /// Its bytes, its target or its kind changed.
        Modified = "modified",
        /// It is gone.
        Deleted = "deleted",
        /// It was moved, perhaps with changes.
        Renamed = "renamed",
        /// Its permission bits changed and its content did not.
        Mode = "mode",
        /// Only its times, owners, attributes or links changed.
        Metadata = "metadata",
    }
}

words! {
    /// A part of the metadata of an entry.
    pub enum MetadataFieldDoc {
        /// When its content was changed.
        Time = "time",
        /// The user that owns it.
        Owner = "owner",
        /// The group that owns it.
        Group = "group",
        /// Its extended attributes.
        Attributes = "attributes",
        /// Which other names it has.
        Links = "links",
    }
}

words! {
    /// On which side of a comparison a line is.
    pub enum LineSign {
        /// On both sides.
        Context = " ",
        /// Only on the old side.
        Removed = "-",
        /// Only on the new side.
        Added = "+",
    }
}

words! {
    /// What a piece of a change is.
    pub enum PieceKindDoc {
        /// All of the change.
        File = "file",
        /// That the file was moved.
        Rename = "rename",
        /// Its permission bits.
        Mode = "mode",
        /// Some of its lines.
        Hunk = "hunk",
    }
}

words! {
    /// Why something did not come in, or not whole.
    pub enum SkipCode {
        /// It could not be read.
        Unreadable = "unreadable",
        /// It is a socket.
        Socket = "socket",
        /// It is a device.
        Device = "device",
        /// Vaults are kept here.
        Home = "home",
        /// The kernel shows itself here; there are no files.
        Pseudo = "pseudo",
        /// The path is that of further folders.
        Reserved = "reserved",
        /// Some of its attributes did not come in.
        Attributes = "attributes",
        /// It kept changing while it was read.
        Unstable = "unstable",
    }
}
