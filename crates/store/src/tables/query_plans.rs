//! Every list and filter of the contract is answered through an index, on both engines: their plans say so.

#[cfg(test)]
use till_core::asset::{Family, Mode};
use till_core::invoice::Status;
use till_core::payment::PaymentStatus;
use till_core::refund::RefundStatus;
use till_core::scope::Scope;
use till_core::subscription;
use till_core::webhook::DeliveryStatus;

use crate::deliveries::DeliveryFilter;
use crate::invoices::InvoiceFilter;
use crate::leases::{Cooling, FreeAddress};
use crate::payments::PaymentFilter;
use crate::refunds::RefundFilter;
use crate::sql::{LookUp, chunks};
use crate::subscriptions::SubscriptionFilter;
use crate::testing::migrated;
use crate::{
    Dialect, Page, Queries, Reader, Row, StoreError, Val, bindings, books, credits, customers,
    deliveries, digests, invoices, leases, links, notices, payments, plans, refunds, subscriptions,
    transfers,
};

/// Asks how each statement would be answered instead of asking it.
struct Explainer {
    reader: Reader,
    dialect: Dialect,
    plans: Vec<String>,
}

impl Explainer {
    async fn explain(&mut self, sql: &str, args: &[Val]) -> Result<(), StoreError> {
        let lines: Vec<String> = match self.dialect {
            Dialect::Postgres => {
                let rows: Vec<(String,)> = self.reader.all(&format!("EXPLAIN {sql}"), args).await?;
                rows.into_iter().map(|(line,)| line).collect()
            }
            Dialect::Sqlite | Dialect::SqliteMemory => {
                let sql = format!("EXPLAIN QUERY PLAN {sql}");
                let rows: Vec<(i64, i64, i64, String)> = self.reader.all(&sql, args).await?;
                rows.into_iter().map(|(_, _, _, line)| line).collect()
            }
        };
        self.plans.push(lines.join("\n"));
        Ok(())
    }

    /// The plan of the one statement since the last time.
    fn plan(&mut self) -> String {
        assert_eq!(self.plans.len(), 1, "one statement: {:?}", self.plans);
        self.plans.remove(0)
    }
}

impl Queries for Explainer {
    async fn all<T: Row>(&mut self, sql: &str, args: &[Val]) -> Result<Vec<T>, StoreError> {
        self.explain(sql, args).await?;
        Ok(Vec::new())
    }

    async fn one<T: Row>(&mut self, sql: &str, args: &[Val]) -> Result<Option<T>, StoreError> {
        self.explain(sql, args).await?;
        Ok(None)
    }

    async fn look_up<T: Row>(&mut self, _: &LookUp, _: &[Vec<Val>]) -> Result<Vec<T>, StoreError> {
        Err(StoreError::Other("no list looks rows up".to_owned()))
    }

    async fn run(&mut self, _: &str, _: &[Val]) -> Result<u64, StoreError> {
        Err(StoreError::Other("no list writes".to_owned()))
    }
}

/// What an index must be asked for: the account, and what was filtered by. Then the rows are there in order.
fn check(plan: &str, what: &str, columns: &[&str]) {
    let sorted = plan.contains("Sort") || plan.contains("TEMP B-TREE");
    let scanned = plan.contains("Seq Scan") || plan.contains("SCAN ");
    assert!(!sorted && !scanned, "{what}: {plan}");
    let asked = plan
        .lines()
        .find(|line| line.contains("Index Cond") || line.contains("SEARCH"))
        .unwrap_or_else(|| panic!("{what}: {plan}"));
    for column in [&["account", "mode"], columns].concat() {
        let is_asked = asked.contains(&format!("{column}=?"))
            || asked.contains(&format!("{column} = "))
            || asked.contains(&format!("{column})::text = "));
        assert!(is_asked, "{what}: {column} is not looked up in {plan}");
    }
}

fn pages() -> [Page; 2] {
    let page = |before: Option<&str>| Page {
        before: before.map(str::to_owned),
        limit: 10,
    };
    [page(None), page(Some("x"))]
}

async fn every_list_has_its_index(dialect: Dialect) {
    let Some(test) = migrated(dialect).await else {
        return;
    };
    let reader = test.db.read().await.unwrap();
    let mut explainer = Explainer {
        reader,
        dialect,
        plans: Vec::new(),
    };
    let q = &mut explainer;
    let scope = &Scope::new("acct_1", Mode::Test);
    let some = || Some("x".to_owned());
    for page in &pages() {
        for (filter, columns) in [
            (InvoiceFilter::default(), &[][..]),
            (
                InvoiceFilter {
                    status: Some(Status::Paid),
                    ..Default::default()
                },
                &["status"][..],
            ),
            (
                InvoiceFilter {
                    customer_ref: some(),
                    ..Default::default()
                },
                &["customer_ref"][..],
            ),
            (
                InvoiceFilter {
                    from: Some(1),
                    to: Some(2),
                    ..Default::default()
                },
                &[][..],
            ),
        ] {
            invoices::list(q, scope, filter, page).await.unwrap();
            check(&q.plan(), "invoices", columns);
        }
        for (filter, columns) in [
            (PaymentFilter::default(), &[][..]),
            (
                PaymentFilter {
                    invoice: some(),
                    ..Default::default()
                },
                &["invoice"][..],
            ),
            (
                PaymentFilter {
                    status: Some(PaymentStatus::Held),
                    ..Default::default()
                },
                &["status"][..],
            ),
            (
                PaymentFilter {
                    asset: some(),
                    ..Default::default()
                },
                &["asset"][..],
            ),
            (
                PaymentFilter {
                    tx_hash: some(),
                    ..Default::default()
                },
                &["tx_hash"][..],
            ),
        ] {
            payments::list(q, scope, filter, page).await.unwrap();
            check(&q.plan(), "payments", columns);
        }
        for (filter, columns) in [
            (DeliveryFilter::default(), &[][..]),
            (
                DeliveryFilter {
                    status: Some(DeliveryStatus::Failed),
                    ..Default::default()
                },
                &["status"][..],
            ),
            (
                DeliveryFilter {
                    event_type: some(),
                    ..Default::default()
                },
                &["event_type"][..],
            ),
            (
                DeliveryFilter {
                    event: some(),
                    ..Default::default()
                },
                &["event"][..],
            ),
            (
                DeliveryFilter {
                    subject: some(),
                    ..Default::default()
                },
                &["subject"][..],
            ),
        ] {
            deliveries::list(q, scope, filter, page).await.unwrap();
            check(&q.plan(), "deliveries", columns);
        }
        for (filter, columns) in [
            (RefundFilter::default(), &[][..]),
            (
                RefundFilter {
                    invoice: some(),
                    ..Default::default()
                },
                &["invoice"][..],
            ),
            (
                RefundFilter {
                    status: Some(RefundStatus::Sent),
                    ..Default::default()
                },
                &["status"][..],
            ),
        ] {
            refunds::list(q, scope, filter, page).await.unwrap();
            check(&q.plan(), "refunds", columns);
        }
        for (filter, columns) in [
            (SubscriptionFilter::default(), &[][..]),
            (
                SubscriptionFilter {
                    status: Some(subscription::Status::PastDue),
                    ..Default::default()
                },
                &["status"][..],
            ),
            (
                SubscriptionFilter {
                    customer: some(),
                    ..Default::default()
                },
                &["customer"][..],
            ),
        ] {
            subscriptions::list(q, scope, filter, page).await.unwrap();
            check(&q.plan(), "subscriptions", columns);
        }
        for (active, columns) in [(None, &[][..]), (Some(true), &["active"][..])] {
            links::list(q, scope, active, page).await.unwrap();
            check(&q.plan(), "payment links", columns);
        }
        customers::list(q, scope, page).await.unwrap();
        check(&q.plan(), "customers", &[]);
        plans::list(q, scope, page).await.unwrap();
        check(&q.plan(), "plans", &[]);
        digests::list(q, scope, page).await.unwrap();
        check(&q.plan(), "digests", &[]);
    }
    // Whose turn it is: what was told of its subject before, and never the whole queue.
    deliveries::candidates(q, scope, 2, 64, "").await.unwrap();
    let plan = q.plan();
    let (turn, due) = ("deliveries_by_subject", "deliveries_due");
    assert!(plan.contains(turn) && plan.contains(due), "{plan}");
    assert!(!plan.contains("deliveries_by_status"), "{plan}");
    payments::of_top_ups(q, scope, "cus_1").await.unwrap();
    let plan = q.plan();
    let by_customer = plan.contains("payments_by_invoice") && plan.contains("invoices_top_ups");
    assert!(by_customer, "{plan}");
    // PostgreSQL plans by its statistics, and has none here.
    if !matches!(q.dialect, Dialect::Postgres) {
        years_do_not_slow_a_subscription(q, scope).await;
    }
    the_books_are_read_by_index(q, scope).await;
    changes_find_their_rows_by_index(q, scope).await;
    // Its connection is waited for.
    drop(explainer);
    test.remove().await;
}

/// A report goes through a year some invoices at a time: each part must cost what is in it, not what is in the year.
async fn the_books_are_read_by_index(q: &mut Explainer, scope: &Scope) {
    let period = (1, 2);
    books::last_of_next(q, scope, "", 10).await.unwrap();
    let plan = q.plan();
    let ids = ["sqlite_autoindex_invoices_1", "invoices_pkey"];
    assert!(ids.iter().any(|index| plan.contains(index)), "{plan}");
    books::of_period(q, scope, period, ("a", "b"))
        .await
        .unwrap();
    let plan = q.plan();
    assert!(ids.iter().any(|index| plan.contains(index)), "{plan}");
    for index in [
        "payments_in_order",
        "journal_in_order",
        "refunds_by_invoice",
    ] {
        assert!(plan.contains(index), "{plan}");
    }
    assert!(!plan.contains("journal_by_account"), "{plan}");
    books::orphans(q, scope, period, 10).await.unwrap();
    let plan = q.plan();
    assert!(plan.contains("journal_by_account"), "{plan}");
    transfers::unattributed(q, scope, &["eip155:84532"], period, None, 10)
        .await
        .unwrap();
    let plan = q.plan();
    assert!(plan.contains("transfers_unattributed"), "{plan}");
    transfers::waiting(q, "eip155:84532").await.unwrap();
    let plan = q.plan();
    assert!(plan.contains("transfers_waiting"), "{plan}");
}

/// What happens to every invoice must not cost more the more there were.
async fn changes_find_their_rows_by_index(q: &mut Explainer, scope: &Scope) {
    let (family, invoices) = (Family::Evm, [(scope, "inv_1", 1)]);
    let cooling = Cooling {
        scope: scope.clone(),
        family,
        number: 1,
        invoice: "inv_1".to_owned(),
        free_at: Some(1),
    };
    let free = FreeAddress {
        number: 1,
        address: String::new(),
        free_at: 1,
    };
    for (write, table, indexes) in [
        (
            leases::coolings(&[cooling]),
            "leases",
            ["leases_exclusive", "leases_exclusive"],
        ),
        (
            leases::ends(scope, family, &[free]),
            "leases",
            ["leases_exclusive", "leases_cooled"],
        ),
        (
            bindings::closing(&invoices),
            "wallet_bindings",
            ["sqlite_autoindex_wallet_bindings_1", "wallet_bindings_pkey"],
        ),
        (
            notices::falling_due(&invoices),
            "notices",
            ["notices_by_invoice", "notices_one_receipt"],
        ),
    ] {
        let (sql, rows) = chunks(&write, "").unwrap().remove(0);
        let args: Vec<Val> = rows.iter().flatten().cloned().collect();
        let sql = match q.dialect {
            Dialect::Postgres => (1..=args.len()).fold(sql.clone(), |sql, at| {
                sql.replacen('?', &format!("${at}"), 1)
            }),
            Dialect::Sqlite | Dialect::SqliteMemory => sql.clone(),
        };
        q.explain(&sql, &args).await.unwrap();
        let plan = q.plan();
        let scanned = [format!("SCAN {table}"), format!("Seq Scan on {table}")];
        assert!(!scanned.iter().any(|it| plan.contains(it)), "{plan}");
        assert!(indexes.iter().any(|it| plan.contains(it)), "{plan}");
    }
}

/// What each step of a subscription asks for is found without reading what lies behind it.
async fn years_do_not_slow_a_subscription(q: &mut Explainer, scope: &Scope) {
    subscriptions::charges_of_period(q, scope, "sub_1", 7)
        .await
        .unwrap();
    check(&q.plan(), "attempts", &["subscription", "period"]);
    credits::of_charge(q, scope, "sub_1", 7).await.unwrap();
    check(
        &q.plan(),
        "credit of an attempt",
        &["subscription", "charge"],
    );
}

#[tokio::test]
async fn every_list_has_its_index_on_sqlite() {
    every_list_has_its_index(Dialect::Sqlite).await;
}

#[tokio::test]
async fn every_list_has_its_index_on_postgres() {
    every_list_has_its_index(Dialect::Postgres).await;
}
