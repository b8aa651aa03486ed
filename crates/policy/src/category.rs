//! What kind of thing a command does.

use std::fmt;

/// A kind of effect, from the most harmless to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Category {
    /// It changes nothing and stays inside.
    ReadOnly,
    /// It wants a person at a terminal.
    Interactive,
    /// It changes files, or nobody can say that it does not.
    Mutating,
    /// It reaches for the network.
    Networked,
    /// It deletes or overwrites what it did not make.
    Destructive,
    /// It reaches beyond the workspace: more rights, the host, credentials, or code that nobody can see beforehand.
    HostEscapeRisk,
}

impl Category {
    /// All of them, from the most harmless to the worst.
    pub const ALL: [Self; 6] = [
        Self::ReadOnly,
        Self::Interactive,
        Self::Mutating,
        Self::Networked,
        Self::Destructive,
        Self::HostEscapeRisk,
    ];

    /// Its name in documents and rules.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Interactive => "interactive",
            Self::Mutating => "mutating",
            Self::Networked => "networked",
            Self::Destructive => "destructive",
            Self::HostEscapeRisk => "host_escape_risk",
        }
    }

    /// The category that a word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.as_str() == word)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of categories. The empty set is read-only; [`Category::ReadOnly`] itself is never a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Categories(u8);

impl Categories {
    /// Nothing but reading.
    pub const READ_ONLY: Self = Self(0);

    /// One category alone.
    pub const fn only(category: Category) -> Self {
        match category {
            Category::ReadOnly => Self::READ_ONLY,
            other => Self(1 << other as u8),
        }
    }

    /// This one as well.
    #[must_use]
    pub const fn with(self, category: Category) -> Self {
        Self(self.0 | Self::only(category).0)
    }

    /// Those of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it is a member; read-only is where nothing else is.
    pub const fn contains(self, category: Category) -> bool {
        match category {
            Category::ReadOnly => self.0 == 0,
            other => self.0 & (1 << other as u8) != 0,
        }
    }

    /// Whether nothing changes.
    pub const fn is_read_only(self) -> bool {
        self.0 == 0
    }

    /// The worst of them.
    pub fn worst(self) -> Category {
        self.iter().last().unwrap_or(Category::ReadOnly)
    }

    /// The members, the worst last; read-only alone where there is no other.
    pub fn iter(self) -> impl Iterator<Item = Category> {
        Category::ALL.into_iter().filter(move |category| self.contains(*category))
    }
}

impl FromIterator<Category> for Categories {
    fn from_iter<I: IntoIterator<Item = Category>>(categories: I) -> Self {
        categories.into_iter().fold(Self::READ_ONLY, Self::with)
    }
}

impl fmt::Display for Categories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, category) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            category.fmt(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_member_counts() {
        let both: Categories = [Category::Networked, Category::Mutating].into_iter().collect();
        assert_eq!(both.worst(), Category::Networked);
        assert_eq!(both.to_string(), "mutating networked");
        assert!(!both.contains(Category::ReadOnly));
        assert_eq!(Categories::only(Category::ReadOnly), Categories::READ_ONLY);
        assert_eq!(Categories::READ_ONLY.worst(), Category::ReadOnly);
        assert_eq!(Categories::READ_ONLY.to_string(), "read_only");
    }

    #[test]
    fn words_lead_back() {
        for category in Category::ALL {
            assert_eq!(Category::from_word(category.as_str()), Some(category));
        }
        assert_eq!(Category::from_word("harmless"), None);
    }
}
