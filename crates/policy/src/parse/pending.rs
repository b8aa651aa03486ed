//! What a line still owes.

/// A here-document whose body was not read yet.
pub(super) struct Pending {
    pub(super) delimiter: String,
    /// The delimiter has quotes: nothing in the body is expanded.
    pub(super) literal: bool,
    /// `<<-`: tabs at the beginning of lines go.
    pub(super) strip: bool,
    /// It goes to standard input.
    pub(super) to_input: bool,
    /// The commands that read it.
    pub(super) owners: Vec<usize>,
}
