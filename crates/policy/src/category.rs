//! What kinds of thing a command does.

use std::fmt;

use offshoot_vocabulary::EffectCategory;

/// A set of categories. The empty set is read-only; [`EffectCategory::ReadOnly`] itself is never a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Categories(u8);

impl Categories {
    /// Nothing but reading.
    pub const READ_ONLY: Self = Self(0);

    /// One category alone.
    pub const fn only(category: EffectCategory) -> Self {
        match category {
            EffectCategory::ReadOnly => Self::READ_ONLY,
            other => Self(1 << other as u8),
        }
    }

    /// This one as well.
    #[must_use]
    pub const fn with(self, category: EffectCategory) -> Self {
        Self(self.0 | Self::only(category).0)
    }

    /// Those of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it is a member; read-only is where nothing else is.
    pub const fn contains(self, category: EffectCategory) -> bool {
        match category {
            EffectCategory::ReadOnly => self.0 == 0,
            other => self.0 & (1 << other as u8) != 0,
        }
    }

    /// Whether nothing changes.
    pub const fn is_read_only(self) -> bool {
        self.0 == 0
    }

    /// The worst of them.
    pub fn worst(self) -> EffectCategory {
        self.iter().last().unwrap_or(EffectCategory::ReadOnly)
    }

    /// The members, the worst last; read-only alone where there is no other.
    pub fn iter(self) -> impl Iterator<Item = EffectCategory> {
        EffectCategory::ALL.iter().copied().filter(move |category| self.contains(*category))
    }
}

impl FromIterator<EffectCategory> for Categories {
    fn from_iter<I: IntoIterator<Item = EffectCategory>>(categories: I) -> Self {
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
        let both: Categories =
            [EffectCategory::Networked, EffectCategory::Mutating].into_iter().collect();
        assert_eq!(both.worst(), EffectCategory::Networked);
        assert_eq!(both.to_string(), "mutating networked");
        assert!(!both.contains(EffectCategory::ReadOnly));
        assert_eq!(Categories::only(EffectCategory::ReadOnly), Categories::READ_ONLY);
        assert_eq!(Categories::READ_ONLY.worst(), EffectCategory::ReadOnly);
        assert_eq!(Categories::READ_ONLY.to_string(), "read_only");
    }
}
