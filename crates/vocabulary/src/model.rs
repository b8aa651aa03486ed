//! Language models and who has them.

use crate::word::words;

words! {
    /// The interface by which a provider is asked.
    pub enum ModelInterface {
        /// OpenAI Chat Completions, and what is compatible with it.
        OpenaiChat = "openai_chat",
        /// OpenAI Responses.
        OpenaiResponses = "openai_responses",
        /// Anthropic Messages.
        Anthropic = "anthropic",
        /// Gemini.
        Gemini = "gemini",
    }
}

words! {
    /// Where the key of a provider comes from.
    pub enum KeyOrigin {
        /// A variable of the environment.
        Variable = "variable",
        /// A file.
        File = "file",
        /// What a program prints, such as that of a keyring.
        Command = "command",
    }
}

words! {
    /// Whether a provider can be used.
    pub enum ProviderState {
        /// It answers.
        Ready = "ready",
        /// Its key is not there, or cannot be read.
        NoKey = "no_key",
        /// Its address, or what else is said about it, cannot be used.
        Unusable = "unusable",
        /// There is no connection, or no answer in time.
        Unreachable = "unreachable",
        /// It answers with an error, such as that the key is wrong.
        Refused = "refused",
    }
}
