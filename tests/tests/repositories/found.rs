//! What random stories found.
