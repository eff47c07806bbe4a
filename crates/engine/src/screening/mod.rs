//! Screening: an address held against every list there is. A list that says nothing clears nobody.

use futures::future::join_all;
use till_chains::registers;
use till_core::asset::{Asset, Mode, Network};
use till_core::payment::Hold;
use till_core::refund::ReviewReason;
use till_core::screening::{Checked, Finding, Screening};
use till_store::screenings::ScreeningRow;

use crate::base::{Context, Engine};
use crate::lists::Moment;

/// An address on a network, in canonical form.
#[derive(Clone, Copy, Debug)]
pub struct Screened<'a> {
    pub network: &'a Network,
    pub address: &'a str,
}

/// What was answered on the chain: a register's name and its finding.
pub type Answers = Vec<(&'static str, Finding)>;

/// Whether anybody is asked on chains.
pub fn is_asked_on_chains(engine: &Engine) -> bool {
    let lists = engine.lists.as_ref();
    lists.is_some_and(|lists| lists.config.on_chain)
}

/// Answers as they are kept with a transfer: names and findings. None where nobody was asked.
pub fn written(answers: &Answers) -> Option<String> {
    let each = answers.iter();
    let each = each.map(|(name, finding)| format!("{name}={}", finding.as_str()));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join(" "))
}

/// And back.
pub fn read(text: &str) -> Answers {
    let each = text.split(' ').filter_map(|it| {
        let (name, finding) = it.split_once('=')?;
        let names = [registers::ISSUER, registers::ORACLE];
        let name = names.into_iter().find(|known| *known == name)?;
        Some((name, Finding::parse(finding)?))
    });
    each.collect()
}

/// Whether what is kept says nothing yet: nobody was asked, or not enough answered.
pub fn is_open(kept: Option<&str>) -> bool {
    let says_nothing = |(_, finding): &(&'static str, Finding)| *finding == Finding::Unavailable;
    kept.is_none_or(|kept| read(kept).iter().any(says_nothing))
}

/// Whether one of the registers names the address.
pub fn names(kept: &str) -> bool {
    let names = |(_, finding): &(&'static str, Finding)| *finding == Finding::Match;
    read(kept).iter().any(names)
}

/// Whether somebody was asked and did not answer.
pub fn is_unanswered(kept: Option<&str>) -> bool {
    kept.is_some() && is_open(kept)
}

/// New answers over what is kept: who has answered has answered, and who named somebody is not outdone by who did not.
pub fn over(kept: Option<&str>, new: &Answers) -> Answers {
    let mut answers = kept.map(read).unwrap_or_default();
    for (name, finding) in new {
        match answers.iter_mut().find(|(known, _)| known == name) {
            None => answers.push((*name, *finding)),
            Some((_, known)) if *known == Finding::Unavailable => *known = *finding,
            Some(_) => {}
        }
    }
    answers
}

/// What was said at one time and at another: who was ever named is, and who was ever cleared is cleared unless named.
pub fn gravest(mut answers: Answers, new: Answers) -> Answers {
    let grave = |finding: Finding| match finding {
        Finding::Unavailable => 0,
        Finding::Clear => 1,
        Finding::Match => 2,
    };
    for (name, finding) in new {
        match answers.iter_mut().find(|(known, _)| *known == name) {
            None => answers.push((name, finding)),
            Some((_, known)) if grave(*known) < grave(finding) => *known = finding,
            Some(_) => {}
        }
    }
    answers
}

/// What registers say of all senders of a transfer: one that is named is enough, and all are cleared only where each is.
pub fn of_senders<'a>(each: impl Iterator<Item = &'a Answers>) -> Answers {
    let grave = |finding: Finding| match finding {
        Finding::Clear => 0,
        Finding::Unavailable => 1,
        Finding::Match => 2,
    };
    let mut all = Answers::new();
    for (name, finding) in each.flatten() {
        match all.iter_mut().find(|(known, _)| known == name) {
            None => all.push((*name, *finding)),
            Some((_, known)) if grave(*known) < grave(*finding) => *known = *finding,
            Some(_) => {}
        }
    }
    all
}

/// Asks the issuer of an asset and the network's oracle about an address, where the network has an endpoint. Waits
/// for nodes, so never inside a unit of work.
pub async fn ask(engine: &Engine, screened: Screened<'_>, asset: &Asset) -> Answers {
    let is_on = is_asked_on_chains(engine);
    let nodes = engine.nodes.as_ref().filter(|_| is_on);
    let Some(nodes) = nodes.filter(|nodes| nodes.know(screened.network)) else {
        return Answers::new();
    };
    let registers = registers::of(screened.network, asset);
    let asked = registers.iter().map(|register| async {
        let named = nodes.names(screened.network, register, screened.address);
        let finding = match named.await {
            Some(true) => Finding::Match,
            Some(false) => Finding::Clear,
            None => Finding::Unavailable,
        };
        (register.name, finding)
    });
    join_all(asked).await
}

/// What all lists say of an address, and what was answered on the chain. Test mode has the documented lists besides;
/// where money is real and no list is configured, nobody is cleared.
pub fn screen(context: &Context<'_>, screened: Screened<'_>, answers: &Answers) -> Screening {
    let mut lists = match context.scope.mode {
        Mode::Test => documented(context, screened),
        Mode::Live => Vec::new(),
    };
    lists.extend(configured(context, screened));
    if lists.is_empty() {
        // What is asked on the chain is asked besides the lists, and does not stand for them.
        lists.push(Checked {
            list: Hold::Sanctions.as_str().to_owned(),
            version: None,
            finding: Finding::Unavailable,
            checked_at: context.now,
        });
    }
    lists.extend(answers.iter().map(|(list, finding)| Checked {
        list: (*list).to_owned(),
        version: None,
        finding: *finding,
        checked_at: context.now,
    }));
    Screening { lists }
}

/// The operator's lists.
fn configured(context: &Context<'_>, screened: Screened<'_>) -> Vec<Checked> {
    let Some(lists) = &context.engine.lists else {
        return Vec::new();
    };
    let (config, loaded) = (&lists.config, lists.loaded());
    let now = Moment {
        business: context.now,
        real: context.real_now,
    };
    let check = |list| loaded.check(list, screened.address, config.max_age_ms, now);
    config.lists.iter().map(check).collect()
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
    Some(match is_blacklist(&matched.list) {
        true => Hold::Blacklist,
        false => Hold::Sanctions,
    })
}

/// A list of an operator's own is a list of sanctions.
fn is_blacklist(list: &str) -> bool {
    list == registers::ISSUER || Hold::parse(list) == Some(Hold::Blacklist)
}

/// What stands against paying to an address; nothing where every list cleared it.
pub fn doubt_of(screening: &Screening) -> Option<ReviewReason> {
    let matched = screening.lists.iter();
    let mut matched = matched.filter(|list| list.finding == Finding::Match);
    match screening.result() {
        Finding::Clear => None,
        Finding::Unavailable => Some(ReviewReason::ScreeningUnavailable),
        Finding::Match if matched.all(|list| is_blacklist(&list.list)) => {
            Some(ReviewReason::Blacklist)
        }
        Finding::Match => Some(ReviewReason::Sanctions),
    }
}

/// The row that keeps a screening, to be written with what came of it.
pub fn kept(
    context: &Context<'_>,
    subject: &str,
    screened: Screened<'_>,
    screening: &Screening,
) -> ScreeningRow {
    ScreeningRow {
        scope: context.scope.clone(),
        subject: subject.to_owned(),
        network: screened.network.id.clone(),
        address: screened.address.to_owned(),
        result: screening.result(),
        screening: screening.clone(),
        at: context.now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_named_sender_is_enough_and_all_are_cleared_only_where_each_is() {
        use Finding::{Clear, Match, Unavailable};
        for (each, all) in [
            (vec![Clear, Clear], Clear),
            (vec![Clear, Unavailable], Unavailable),
            (vec![Unavailable, Match, Clear], Match),
            (vec![Clear, Match], Match),
        ] {
            let answers: Vec<Answers> = each
                .iter()
                .map(|it| vec![(registers::ISSUER, *it)])
                .collect();
            assert_eq!(
                of_senders(answers.iter()),
                [(registers::ISSUER, all)],
                "{each:?}"
            );
        }
        assert!(of_senders(std::iter::empty()).is_empty());
    }

    #[test]
    fn what_registers_said_is_read_as_it_was_written() {
        let answers: Answers = vec![
            (registers::ISSUER, Finding::Clear),
            (registers::ORACLE, Finding::Match),
        ];
        let text = written(&answers).expect("two answers");
        assert_eq!(text, "issuer_blacklist=clear sanctions_oracle=match");
        assert_eq!(read(&text), answers);
        assert_eq!(written(&Answers::new()), None);
        assert!(!is_open(Some(&text)) && is_open(None));
        assert!(is_open(Some("issuer_blacklist=unavailable")));
        assert!(is_unanswered(Some("issuer_blacklist=unavailable")) && !is_unanswered(None));
        // What one register said stays, whoever does not answer the next time.
        let kept = "issuer_blacklist=match sanctions_oracle=unavailable";
        let new: Answers = vec![
            (registers::ISSUER, Finding::Unavailable),
            (registers::ORACLE, Finding::Clear),
        ];
        let all = written(&over(Some(kept), &new));
        assert_eq!(
            all.as_deref(),
            Some("issuer_blacklist=match sanctions_oracle=clear")
        );
        assert_eq!(over(None, &new), new);
        assert_eq!(
            read("sanctions_oracle=unavailable another=match nonsense").len(),
            1
        );
    }
}
