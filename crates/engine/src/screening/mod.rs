//! Screening: an address held against every list there is. A list that says nothing clears nobody.

use till_core::asset::{Mode, Network};
use till_core::payment::Hold;
use till_core::screening::{Checked, Finding, Screening};
use till_store::Write;
use till_store::screenings::ScreeningRow;

use crate::base::Context;

/// An address on a network, in canonical form.
#[derive(Clone, Copy, Debug)]
pub struct Screened<'a> {
    pub network: &'a Network,
    pub address: &'a str,
}

/// What all lists say of an address. Test mode has the documented ones; where money is real and no list is
/// configured, nobody is cleared.
pub fn screen(context: &Context<'_>, screened: Screened<'_>) -> Screening {
    let lists = match context.scope.mode {
        Mode::Test => documented(context, screened),
        Mode::Live => Vec::new(),
    };
    Screening { lists }
}

/// The lists of test mode, each with its documented addresses.
fn documented(context: &Context<'_>, screened: Screened<'_>) -> Vec<Checked> {
    let checked = |list: &str| Checked {
        list: list.to_owned(),
        version: Some("test".to_owned()),
        finding: match is_documented(list, screened) {
            true => Finding::Match,
            false => Finding::Clear,
        },
        checked_at: context.now,
    };
    [Hold::Sanctions, Hold::Blacklist]
        .map(|hold| checked(hold.as_str()))
        .into()
}

fn is_documented(list: &str, screened: Screened<'_>) -> bool {
    let family = screened.network.family;
    let documented = till_chains::test_screening().iter();
    documented
        .into_iter()
        .any(|(of, name, address)| (*of, *name, *address) == (family, list, screened.address))
}

/// The hold that a sender's screening calls for.
pub fn hold_of(screening: &Screening) -> Option<Hold> {
    let matched = screening
        .lists
        .iter()
        .find(|list| list.finding == Finding::Match)?;
    // A list of an operator's own is a list of sanctions.
    Some(match Hold::parse(&matched.list) {
        Some(Hold::Blacklist) => Hold::Blacklist,
        _ => Hold::Sanctions,
    })
}

/// The rows that keep a screening, to be written with what came of it.
pub fn kept(
    context: &Context<'_>,
    subject: &str,
    screened: Screened<'_>,
    screening: &Screening,
) -> Write {
    let row = |checked: &Checked| ScreeningRow {
        scope: context.scope.clone(),
        subject: subject.to_owned(),
        network: screened.network.id.clone(),
        address: screened.address.to_owned(),
        list: checked.list.clone(),
        version: checked.version.clone(),
        result: checked.finding,
        at: checked.checked_at,
    };
    let rows: Vec<ScreeningRow> = screening.lists.iter().map(row).collect();
    till_store::screenings::rows(&rows)
}
