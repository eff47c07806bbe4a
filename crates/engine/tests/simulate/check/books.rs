//! The journal: balanced, append-only, and each transfer posted as the model says. (I01, I02, I03, I05)

use std::collections::{BTreeMap, BTreeSet};

use till_store::Queries as _;

use super::{and, same};
use crate::model::Merchant;
use crate::world::{Check, World};

#[derive(Debug, Default)]
struct Books {
    groups: BTreeMap<String, i128>,
    steps: i64,
    last_entry: String,
    reversed: BTreeSet<String>,
}

impl Books {
    fn group(&self, name: &str) -> i128 {
        self.groups.get(name).copied().unwrap_or(0)
    }

    fn posted(&self) -> i128 {
        ["held", "settled", "overpaid", "refundable"]
            .iter()
            .map(|name| self.group(name))
            .sum()
    }
}

type Line = (
    String,
    String,
    String,
    i64,
    Option<String>,
    String,
    String,
    String,
    String,
);

pub async fn of_invoice(world: &World, merchant: &Merchant, id: &str) -> Check {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT subject, entry, kind, step, reverses, asset, debit, credit, amount FROM journal \
         WHERE account = $1 AND mode = $2 AND invoice = $3 ORDER BY subject, step, line";
    let lines: Vec<Line> = reader.all(sql, &and(&merchant.scope, id)).await.unwrap();
    let mut books: BTreeMap<String, Books> = BTreeMap::new();
    for entry in lines.chunk_by(|a, b| a.1 == b.1) {
        let (payment, entry_id, kind, step, reverses, asset, ..) = &entry[0];
        let of_payment = books.entry(payment.clone()).or_default();
        let before = of_payment.posted();
        same("journal step", *step, of_payment.steps + 1)?;
        of_payment.steps += 1;
        let paid = merchant.seen.values().find(|seen| seen.payment == *payment);
        same("journal asset", Some(asset), paid.map(|seen| &seen.asset))?;
        for (.., debit, credit, amount) in entry {
            let amount: i128 = amount.parse().map_err(|_| "an amount that is no number")?;
            if amount <= 0 {
                return Err("a line that moves nothing".into());
            }
            *of_payment.groups.entry(debit.clone()).or_default() -= amount;
            *of_payment.groups.entry(credit.clone()).or_default() += amount;
        }
        same(
            "the sum of the books",
            of_payment.groups.values().sum::<i128>(),
            0,
        )?;
        let after = of_payment.posted();
        let expected = match (before, after) {
            (0, _) => "receipt",
            (_, 0) => "reversal",
            _ => "reclassification",
        };
        same("journal kind", kind.as_str(), expected)?;
        let undone = (expected == "reversal").then(|| of_payment.last_entry.clone());
        same("what is reversed", reverses, &undone)?;
        if let Some(undone) = undone
            && !of_payment.reversed.insert(undone)
        {
            return Err("an entry was reversed twice".into());
        }
        of_payment.last_entry.clone_from(entry_id);
    }
    for seen in merchant.seen.values().filter(|seen| seen.invoice == id) {
        let found = books.remove(&seen.payment).unwrap_or_default();
        let what = |group: &str| format!("{group} of {} in the journal", seen.payment);
        let groups = ["held", "settled", "overpaid", "refundable"];
        for (group, stands) in groups.iter().zip(seen.part.stands()) {
            same(
                &what(group),
                found.group(group),
                i128::try_from(stands).unwrap(),
            )?;
        }
        let total = i128::try_from(seen.part.posted()).unwrap();
        same(&what("received"), found.group("received"), -total)?;
        same(&what("entries"), found.steps, seen.entries)?;
        if total != 0 {
            same("what is posted", total, i128::try_from(seen.units).unwrap())?;
        }
    }
    same("payments only the journal knows", books.len(), 0)
}

/// What was once written is still there, as it was.
pub async fn only_grew(world: &mut World) -> Check {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT entry || line || account || mode || kind || subject || step || asset || debit || credit || amount \
         FROM journal ORDER BY rowid";
    let lines: Vec<(String,)> = reader.all(sql, &[]).await.unwrap();
    let lines: Vec<String> = lines.into_iter().map(|(line,)| line).collect();
    if !lines.starts_with(&world.journal) {
        return Err("the journal was rewritten".into());
    }
    world.journal = lines;
    Ok(())
}
