//! Pages of a list, newest first.

/// What is asked for: at most `limit` items, all of them older than the one whose id is `before`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub limit: u32,
    pub before: Option<String>,
}

/// What is shown of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paged<T> {
    pub items: Vec<T>,
    /// The id of the last item, when older ones follow.
    pub next: Option<String>,
}

impl Page {
    /// The page and one item more, which is not shown: it tells whether older ones follow.
    #[must_use]
    pub fn and_one(&self) -> Page {
        Page {
            limit: self.limit.saturating_add(1),
            before: self.before.clone(),
        }
    }

    /// The page out of what [`Page::and_one`] found.
    pub fn cut<T>(&self, mut items: Vec<T>, id: impl Fn(&T) -> &str) -> Paged<T> {
        let shown = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let more = items.len() > shown;
        items.truncate(shown);
        let last = items.last().filter(|_| more);
        Paged {
            next: last.map(|item| id(item).to_owned()),
            items,
        }
    }

    /// The page out of a list that is there as a whole.
    pub fn of_all<T>(&self, mut all: Vec<T>, id: impl Fn(&T) -> &str) -> Paged<T> {
        if let Some(last) = &self.before
            && let Some(at) = all.iter().position(|item| id(item) == last)
        {
            all.drain(..=at);
        }
        self.cut(all, id)
    }
}

impl<T> Paged<T> {
    pub fn map<U>(self, show: impl FnMut(T) -> U) -> Paged<U> {
        Paged {
            items: self.items.into_iter().map(show).collect(),
            next: self.next,
        }
    }

    pub fn try_map<U, E>(self, show: impl FnMut(T) -> Result<U, E>) -> Result<Paged<U>, E> {
        Ok(Paged {
            items: self.items.into_iter().map(show).collect::<Result<_, E>>()?,
            next: self.next,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extra_item_is_cut_off_and_says_that_older_ones_follow() {
        let page = Page {
            limit: 2,
            before: Some("d".to_owned()),
        };
        assert_eq!(page.and_one().limit, 3);
        assert_eq!(page.and_one().before, page.before);
        let id = |item: &&'static str| -> &'static str { item };
        let cut = page.cut(vec!["c", "b", "a"], |item| id(item));
        assert_eq!(cut.items, ["c", "b"]);
        assert_eq!(cut.next.as_deref(), Some("b"));
        let last = page.cut(vec!["b", "a"], |item| id(item));
        assert_eq!((last.items.len(), last.next), (2, None));
        assert_eq!(page.cut(Vec::<&str>::new(), |item| item).next, None);
    }

    #[test]
    fn a_list_that_is_there_is_paged_from_behind_the_last_item_shown() {
        let pages = |before: Option<&str>| {
            let page = Page {
                limit: 2,
                before: before.map(str::to_owned),
            };
            let paged = page.of_all(vec!["a", "b", "c"], |item| item);
            (paged.items, paged.next)
        };
        assert_eq!(pages(None), (vec!["a", "b"], Some("b".to_owned())));
        assert_eq!(pages(Some("b")), (vec!["c"], None));
    }
}
