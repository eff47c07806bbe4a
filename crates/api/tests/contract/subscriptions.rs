//! Subscriptions: every row of their table, every code, and whole years by the test clock.

use serde_json::{Value, json};

use crate::harness::{Receiver, Till, data, id, text, until};

pub const DAY_S: i64 = 86_400;

/// Far ahead of any day on which the tests run, and a 31st.
pub const START: &str = "2095-01-31T12:00:00Z";

/// A server whose time moves only when it is told to, with a customer.
pub async fn begin(world: &crate::harness::World) -> (Till, String) {
    let till = world.till().await;
    world.clock.stop();
    till.post("/v1/test_helpers/clock", json!({ "advance_to": START }))
        .await
        .ok(200);
    let customer = till
        .post("/v1/customers", json!({ "name": "Ada" }))
        .await
        .ok(201);
    (till, id(&customer))
}

pub async fn plan(till: &Till, more: Value) -> String {
    let mut body =
        json!({ "name": "Tea club", "amount": "25.00", "currency": "USD", "interval": "month" });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    id(&till.post("/v1/plans", body).await.ok(201))
}

pub async fn subscribe(till: &Till, customer: &str, plan: &str) -> Value {
    till.post(
        "/v1/subscriptions",
        json!({ "customer": customer, "plan": plan }),
    )
    .await
    .ok(201)
}

pub async fn look(till: &Till, subscription: &Value) -> Value {
    till.get(&format!("/v1/subscriptions/{}", id(subscription)))
        .await
        .ok(200)
}

pub async fn act(
    till: &Till,
    subscription: &Value,
    what: &str,
    body: Value,
) -> crate::harness::Reply {
    till.post(
        &format!("/v1/subscriptions/{}/{what}", id(subscription)),
        body,
    )
    .await
}

pub async fn to(till: &Till, at: &str) {
    till.post("/v1/test_helpers/clock", json!({ "advance_to": at }))
        .await
        .ok(200);
}

/// Pays the invoice that charges the subscription now.
pub async fn pay(till: &Till, subscription: &Value) -> Value {
    let invoice = text(&look(till, subscription).await["latest_invoice"]);
    till.simulate(&invoice, json!({})).await;
    look(till, subscription).await
}

/// Everything the account was told, in order: the day and the hour, and what.
pub async fn told(till: &Till) -> Vec<String> {
    let sql = "SELECT type, created_at FROM events WHERE account = $1 ORDER BY id";
    let mut reader = till.engine().db.read().await.unwrap();
    let account = till.scope().account.to_string();
    let rows: Vec<(String, i64)> =
        till_store::Queries::all(&mut reader, sql, &[account.as_str().into()])
            .await
            .unwrap();
    let line =
        |(event, at): &(String, i64)| format!("{} {event}", &till_core::time::show(*at)[..13]);
    rows.iter().map(line).collect()
}

pub fn assert_told(told: &[String], expected: &str) {
    let expected: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(told, expected, "\n{}", told.join("\n"));
}

on_every_engine! {
    async fn without_a_trial_it_is_incomplete_until_its_first_invoice_is_paid(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        assert_eq!(made, json!({
            "id": made["id"], "object": "subscription", "livemode": false, "status": "incomplete", "customer": customer,
            "plan": plan, "metadata": {}, "created_at": START, "current_period_start": START,
            "current_period_end": "2095-02-28T12:00:00Z", "trial_end": null, "next_invoice_at": null,
            "latest_invoice": invoice, "attempt": 1, "past_due_since": null, "paused_at": null,
            "cancel_at_period_end": false, "cancelled_at": null, "cancellation_reason": null,
        }));
        let first = till.retrieve(&invoice).await;
        assert_eq!((&first["customer"], &first["subscription"]), (&json!(customer), &made["id"]));
        assert_eq!((&first["description"], &first["expires_at"]), (&json!("Tea club"), &json!("2095-02-03T12:00:00Z")));
        assert_eq!(first["amount"], json!({ "amount": "25.00", "currency": "USD" }));
        act(&till, &made, "pause", json!({})).await.refused(409, "subscription_state", None);
        assert_eq!(act(&till, &made, "resume", json!({})).await.ok(200), made);
        act(&till, &made, "cancel", json!({ "at_period_end": true })).await.refused(409, "subscription_state", None);
        let paid = pay(&till, &made).await;
        assert_eq!((&paid["status"], &paid["attempt"]), (&json!("active"), &json!(0)));
        assert_eq!(paid["next_invoice_at"], "2095-02-27T12:00:00Z");
        assert_eq!(paid["current_period_end"], "2095-02-28T12:00:00Z");
        assert_eq!(till.event_types(&id(&made)).await, [
            "subscription.created", "subscription.invoice_created", "subscription.renewed",
        ]);
        let other = subscribe(&till, &customer, &plan).await;
        let gone = act(&till, &other, "cancel", json!({})).await.ok(200);
        assert_eq!((&gone["status"], &gone["cancellation_reason"]), (&json!("cancelled"), &json!("requested")));
        assert_eq!(till.retrieve(&text(&other["latest_invoice"])).await["status"], "cancelled");
    }

    async fn a_trial_is_active_and_invoiced_a_day_before_it_ends(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "trial_days": 14, "grace_days": 5 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        assert_eq!((&made["status"], &made["latest_invoice"]), (&json!("active"), &Value::Null));
        assert_eq!((&made["trial_end"], &made["next_invoice_at"]), (&json!("2095-02-14T12:00:00Z"), &json!("2095-02-13T12:00:00Z")));
        to(&till, "2095-02-13T11:59:59Z").await;
        assert_eq!(look(&till, &made).await, made);
        to(&till, "2095-02-13T12:00:00Z").await;
        let charged = look(&till, &made).await;
        assert_eq!((&charged["status"], &charged["attempt"]), (&json!("active"), &json!(1)));
        let invoice = till.retrieve(&text(&charged["latest_invoice"])).await;
        assert_eq!(invoice["expires_at"], "2095-02-19T12:00:00Z");
        let paid = pay(&till, &made).await;
        assert_eq!((&paid["current_period_start"], &paid["current_period_end"]), (&json!("2095-02-14T12:00:00Z"), &json!("2095-03-14T12:00:00Z")));
        let none = json!({ "customer": customer, "plan": plan, "trial_days": 0 });
        assert_eq!(till.post("/v1/subscriptions", none).await.ok(201)["status"], "incomplete");
        let longer = json!({ "customer": customer, "plan": plan, "trial_days": 30, "metadata": { "a": "b" } });
        let longer = till.post("/v1/subscriptions", longer).await.ok(201);
        assert_eq!((&longer["trial_end"], &longer["metadata"]), (&json!("2095-03-15T12:00:00Z"), &json!({ "a": "b" })));
    }

    async fn what_cannot_be_subscribed_to_says_why(world: World) {
        let (till, customer) = begin(&world).await;
        let open = plan(&till, json!({})).await;
        let check = |body: Value, status: u16, code: &'static str, param: Option<&'static str>| {
            let till = till.clone();
            async move { till.post("/v1/subscriptions", body).await.refused(status, code, param); }
        };
        check(json!({ "plan": open }), 400, "parameter_missing", Some("customer")).await;
        check(json!({ "customer": customer }), 400, "parameter_missing", Some("plan")).await;
        check(json!({ "customer": "cus_nobody", "plan": open }), 400, "resource_missing", Some("customer")).await;
        check(json!({ "customer": customer, "plan": "plan_none" }), 400, "resource_missing", Some("plan")).await;
        check(json!({ "customer": customer, "plan": open, "trial_days": -1 }), 400, "parameter_invalid", Some("trial_days")).await;
        check(json!({ "customer": customer, "plan": open, "trial_days": 366 }), 400, "parameter_invalid", Some("trial_days")).await;
        check(json!({ "customer": customer, "plan": open, "price": "1" }), 400, "parameter_unknown", Some("price")).await;
        let kept = subscribe(&till, &customer, &open).await;
        till.post(&format!("/v1/plans/{open}/archive"), json!({})).await.ok(200);
        check(json!({ "customer": customer, "plan": open }), 409, "plan_archived", None).await;
        assert_eq!(pay(&till, &kept).await["status"], "active");
        to(&till, "2095-02-27T12:00:00Z").await;
        assert_eq!(look(&till, &kept).await["attempt"], 1, "an archived plan's subscriptions keep renewing");
        let bare = plan(&till, json!({})).await;
        till.set(json!({ "default_assets": null })).await;
        check(json!({ "customer": customer, "plan": bare }), 409, "subscription_invoice_failed", None).await;
        for what in ["cancel", "pause", "resume"] {
            till.post(&format!("/v1/subscriptions/sub_none/{what}"), json!({})).await.refused(404, "resource_missing", None);
        }
        till.get("/v1/subscriptions/sub_none").await.refused(404, "resource_missing", None);
        act(&till, &kept, "cancel", json!({ "when": "now" })).await.refused(400, "parameter_unknown", "when");
        act(&till, &kept, "cancel", json!({ "at_period_end": "yes" })).await.refused(400, "parameter_invalid", "at_period_end");
        act(&till, &kept, "pause", json!({ "until": "x" })).await.refused(400, "parameter_unknown", "until");
    }

    async fn a_renewal_that_cannot_be_invoiced_is_tried_again(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "trial_days": 7 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let settings = till.get("/v1/merchant/settings").await.ok(200);
        till.set(json!({ "default_assets": null })).await;
        to(&till, "2095-02-06T18:30:00Z").await;
        assert_eq!(look(&till, &made).await["latest_invoice"], Value::Null);
        till.set(json!({ "default_assets": settings["default_assets"] })).await;
        to(&till, "2095-02-06T20:00:00Z").await;
        assert_eq!(look(&till, &made).await["attempt"], 1);
        assert_eq!(pay(&till, &made).await["current_period_end"], "2095-03-07T12:00:00Z");
        till.set(json!({ "default_assets": null })).await;
        to(&till, "2095-03-10T11:59:59Z").await;
        assert_eq!(look(&till, &made).await["status"], "active");
        to(&till, "2095-03-10T12:00:00Z").await;
        let late = look(&till, &made).await;
        assert_eq!((&late["status"], &late["past_due_since"], &late["attempt"]), (&json!("past_due"), &json!("2095-03-10T12:00:00Z"), &json!(0)));
        till.set(json!({ "default_assets": settings["default_assets"] })).await;
        to(&till, "2095-03-10T16:00:00Z").await;
        let asked = look(&till, &made).await;
        assert_eq!((&asked["status"], &asked["attempt"]), (&json!("past_due"), &json!(1)));
        assert_eq!(pay(&till, &made).await["current_period_end"], "2095-04-07T12:00:00Z");
    }

    async fn an_unpaid_renewal_runs_through_grace_past_due_and_every_attempt(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "trial_days": 1, "max_attempts": 3 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        assert_eq!((&made["status"], &made["attempt"]), (&json!("active"), &json!(1)));
        to(&till, "2095-02-04T12:00:00Z").await;
        let late = look(&till, &made).await;
        assert_eq!((&late["status"], &late["attempt"]), (&json!("past_due"), &json!(2)));
        assert_eq!(late["past_due_since"], "2095-02-04T12:00:00Z");
        till.advance(366 * DAY_S).await;
        let ended = look(&till, &made).await;
        assert_eq!((&ended["status"], &ended["cancellation_reason"]), (&json!("cancelled"), &json!("unpaid")));
        assert_eq!((&ended["past_due_since"], &ended["next_invoice_at"]), (&Value::Null, &Value::Null));
        for body in [json!({}), json!({ "at_period_end": true })] {
            act(&till, &made, "cancel", body).await.refused(409, "subscription_state", None);
        }
        assert_told(&told(&till).await, "
            2095-01-31T12 subscription.created
            2095-01-31T12 invoice.created
            2095-01-31T12 subscription.invoice_created
            2095-02-04T12 invoice.expired
            2095-02-04T12 subscription.past_due
            2095-02-04T12 invoice.created
            2095-02-04T12 subscription.invoice_created
            2095-02-07T12 invoice.expired
            2095-02-07T12 invoice.created
            2095-02-07T12 subscription.invoice_created
            2095-02-10T12 invoice.expired
            2095-02-10T12 subscription.cancelled
        ");
    }

    async fn what_was_never_paid_ends_when_its_attempts_do(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "grace_days": 0, "max_attempts": 2 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        till.advance(40 * DAY_S).await;
        assert_eq!(look(&till, &made).await["cancellation_reason"], "unpaid");
        assert_told(&told(&till).await, "
            2095-01-31T12 subscription.created
            2095-01-31T12 invoice.created
            2095-01-31T12 subscription.invoice_created
            2095-02-01T12 invoice.expired
            2095-02-01T12 invoice.created
            2095-02-01T12 subscription.invoice_created
            2095-02-04T12 invoice.expired
            2095-02-04T12 subscription.cancelled
        ");
    }

    async fn a_payment_in_a_later_attempt_makes_it_active_again(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "trial_days": 10 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        to(&till, "2095-02-14T00:00:00Z").await;
        assert_eq!(look(&till, &made).await["status"], "past_due");
        let paid = pay(&till, &made).await;
        assert_eq!((&paid["status"], &paid["past_due_since"]), (&json!("active"), &Value::Null));
        assert_eq!(paid["current_period_end"], "2095-03-10T12:00:00Z", "periods are counted from the trial's end");
    }

    async fn a_partly_paid_renewal_is_past_due_and_asked_for_once(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "trial_days": 10 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        to(&till, "2095-02-10T00:00:00Z").await;
        let invoice = text(&look(&till, &made).await["latest_invoice"]);
        till.simulate(&invoice, json!({ "amount": "10.00" })).await;
        to(&till, "2095-02-14T00:00:00Z").await;
        let late = look(&till, &made).await;
        assert_eq!((&late["status"], &late["latest_invoice"]), (&json!("past_due"), &json!(invoice)));
        till.simulate(&invoice, json!({ "amount": "15.00" })).await;
        assert_eq!(look(&till, &made).await["status"], "active");
        let again = subscribe(&till, &customer, &plan).await;
        to(&till, "2095-02-24T00:00:00Z").await;
        let invoice = text(&look(&till, &again).await["latest_invoice"]);
        till.simulate(&invoice, json!({ "amount": "10.00" })).await;
        to(&till, "2095-03-07T23:59:59Z").await;
        let late = look(&till, &again).await;
        assert_eq!((&late["status"], &late["latest_invoice"], &late["attempt"]), (&json!("past_due"), &json!(invoice), &json!(1)));
        assert_eq!(till.retrieve(&invoice).await["closed_at"], Value::Null, "it waits as long as there could be attempts");
        to(&till, "2095-03-08T00:00:00Z").await;
        assert_eq!(look(&till, &again).await["cancellation_reason"], "unpaid");
        till.advance(1).await;
        till.simulate(&invoice, json!({ "amount": "15.00" })).await;
        let left = till.retrieve(&invoice).await;
        assert_eq!((&left["status"], &left["closed_at"]), (&json!("partially_paid"), &json!("2095-03-08T00:00:00Z")));
        assert_eq!(till.payments_of(&invoice).await[0]["status"], "refundable");
        assert_eq!(till.event_types(&invoice).await.last().unwrap(), "invoice.late_payment");
    }

    async fn pausing_stops_invoices_and_resuming_inside_the_period_goes_on(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        pay(&till, &made).await;
        let paused = act(&till, &made, "pause", json!({})).await.ok(200);
        assert_eq!((&paused["status"], &paused["paused_at"], &paused["next_invoice_at"]), (&json!("paused"), &json!(START), &Value::Null));
        act(&till, &made, "pause", json!({})).await.refused(409, "subscription_state", None);
        to(&till, "2095-02-27T18:00:00Z").await;
        assert_eq!(look(&till, &made).await, paused, "nothing happens while it is paused");
        let resumed = act(&till, &made, "resume", json!({})).await.ok(200);
        assert_eq!((&resumed["status"], &resumed["attempt"]), (&json!("active"), &json!(1)), "its renewal was due already");
        assert_eq!(resumed["current_period_end"], "2095-02-28T12:00:00Z");
        assert_eq!(act(&till, &made, "resume", json!({})).await.ok(200), resumed);
        let invoice = text(&resumed["latest_invoice"]);
        act(&till, &made, "pause", json!({})).await.ok(200);
        assert_eq!(till.retrieve(&invoice).await["status"], "cancelled");
        act(&till, &made, "resume", json!({})).await.ok(200);
        let paid = pay(&till, &made).await;
        assert_eq!((&paid["current_period_end"], &paid["attempt"]), (&json!("2095-03-31T12:00:00Z"), &json!(0)));
        assert_eq!(till.event_types(&id(&made)).await, [
            "subscription.created", "subscription.invoice_created", "subscription.renewed", "subscription.paused",
            "subscription.resumed", "subscription.invoice_created", "subscription.paused", "subscription.resumed",
            "subscription.invoice_created", "subscription.renewed",
        ]);
    }

    async fn resuming_after_the_period_starts_billing_anew(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        pay(&till, &made).await;
        act(&till, &made, "pause", json!({})).await.ok(200);
        to(&till, "2095-04-10T08:00:00Z").await;
        let resumed = act(&till, &made, "resume", json!({})).await.ok(200);
        assert_eq!((&resumed["status"], &resumed["attempt"]), (&json!("active"), &json!(1)));
        assert_eq!((&resumed["current_period_start"], &resumed["current_period_end"]), (&json!("2095-04-10T08:00:00Z"), &json!("2095-05-10T08:00:00Z")));
        assert_eq!(pay(&till, &made).await["next_invoice_at"], "2095-05-09T08:00:00Z");
        till.set(json!({ "default_assets": null })).await;
        act(&till, &made, "pause", json!({})).await.ok(200);
        to(&till, "2095-07-01T00:00:00Z").await;
        act(&till, &made, "resume", json!({})).await.refused(409, "subscription_invoice_failed", None);
        assert_eq!(look(&till, &made).await["status"], "paused");
    }

    async fn cancelling_now_ends_it_and_its_open_invoice(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        pay(&till, &made).await;
        to(&till, "2095-02-27T12:00:00Z").await;
        let invoice = text(&look(&till, &made).await["latest_invoice"]);
        let ended = act(&till, &made, "cancel", json!({})).await.ok(200);
        assert_eq!((&ended["status"], &ended["cancelled_at"]), (&json!("cancelled"), &json!("2095-02-27T12:00:00Z")));
        assert_eq!((&ended["cancellation_reason"], &ended["cancel_at_period_end"]), (&json!("requested"), &json!(false)));
        assert_eq!(till.retrieve(&invoice).await["status"], "cancelled");
        for same in [json!({ "at_period_end": false }), json!({}), Value::Null] {
            assert_eq!(act(&till, &made, "cancel", same).await.ok(200), ended);
        }
        act(&till, &made, "cancel", json!([])).await.refused(400, "body_invalid_json", None);
        act(&till, &made, "cancel", json!({ "at_period_end": true })).await.refused(409, "subscription_state", None);
        act(&till, &made, "pause", json!({})).await.refused(409, "subscription_state", None);
        act(&till, &made, "resume", json!({})).await.refused(409, "subscription_state", None);
        till.advance(400 * DAY_S).await;
        assert_eq!(look(&till, &made).await, ended);
        assert_eq!(till.event_types(&id(&made)).await.last().unwrap(), "subscription.cancelled");
    }

    async fn cancelling_at_the_end_of_the_period_lets_it_run_out(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        pay(&till, &made).await;
        let set = act(&till, &made, "cancel", json!({ "at_period_end": true })).await.ok(200);
        assert_eq!((&set["status"], &set["cancel_at_period_end"], &set["next_invoice_at"]), (&json!("active"), &json!(true), &Value::Null));
        assert_eq!(act(&till, &made, "cancel", json!({ "at_period_end": true })).await.ok(200), set);
        to(&till, "2095-02-28T11:59:59Z").await;
        assert_eq!(look(&till, &made).await, set);
        to(&till, "2095-02-28T12:00:00Z").await;
        let ended = look(&till, &made).await;
        assert_eq!((&ended["status"], &ended["cancellation_reason"]), (&json!("cancelled"), &json!("requested")));
        assert_eq!(act(&till, &made, "cancel", json!({ "at_period_end": true })).await.ok(200), ended);
        act(&till, &made, "cancel", json!({})).await.refused(409, "subscription_state", None);
        assert_eq!(till.event_types(&id(&made)).await, [
            "subscription.created", "subscription.invoice_created", "subscription.renewed", "subscription.updated",
            "subscription.cancelled",
        ]);
        let sooner = subscribe(&till, &customer, &plan).await;
        pay(&till, &sooner).await;
        act(&till, &sooner, "cancel", json!({ "at_period_end": true })).await.ok(200);
        let ended = act(&till, &sooner, "cancel", json!({})).await.ok(200);
        assert_eq!((&ended["status"], &ended["cancel_at_period_end"]), (&json!("cancelled"), &json!(false)));
        let late = subscribe(&till, &customer, &plan).await;
        pay(&till, &late).await;
        till.advance(36 * DAY_S).await;
        assert_eq!(look(&till, &late).await["status"], "past_due");
        act(&till, &late, "cancel", json!({ "at_period_end": true })).await.ok(200);
        let events = till.events(&id(&late)).await;
        let updated = events.iter().find(|event| event["type"] == "subscription.updated").unwrap();
        assert_eq!(updated["data"]["object"]["status"], "past_due", "asking for the end does not make it punctual");
    }

    async fn a_year_of_monthly_billing_tells_exactly_what_happened(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "billing_timezone": "America/New_York" })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let mut now = pay(&till, &made).await;
        for _ in 0..11 {
            to(&till, &text(&now["next_invoice_at"])).await;
            now = pay(&till, &made).await;
        }
        assert_eq!(now["current_period_end"], "2096-01-31T12:00:00Z");
        // Seven in the morning in New York: an hour earlier in UTC while its clocks are ahead.
        let invoiced = [
            "01-31T12", "02-27T12", "03-30T11", "04-29T11", "05-30T11", "06-29T11", "07-30T11", "08-30T11", "09-29T11",
            "10-30T11", "11-29T12", "12-30T12",
        ];
        let mut expected = vec!["2095-01-31T12 subscription.created".to_owned()];
        for at in invoiced {
            for event in ["invoice.created", "subscription.invoice_created", "invoice.detected", "invoice.paid", "subscription.renewed"] {
                expected.push(format!("2095-{at} {event}"));
            }
        }
        assert_told(&told(&till).await, &expected.join("\n"));
    }

    async fn a_payment_that_is_undone_leaves_its_period_unpaid(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        pay(&till, &made).await;
        let undo = |invoice: String| {
            let till = till.clone();
            async move {
                let payment = id(&till.payments_of(&invoice).await[0]);
                till.post(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({})).await.ok(200);
            }
        };
        undo(text(&made["latest_invoice"])).await;
        let undone = look(&till, &made).await;
        assert_eq!((&undone["status"], &undone["attempt"]), (&json!("active"), &json!(1)));
        assert_eq!(pay(&till, &made).await["status"], "active");
        to(&till, "2095-02-27T12:00:00Z").await;
        let second = pay(&till, &made).await;
        assert_eq!(second["current_period_end"], "2095-03-31T12:00:00Z");
        to(&till, "2095-03-10T00:00:00Z").await;
        undo(text(&second["latest_invoice"])).await;
        let late = look(&till, &made).await;
        assert_eq!((&late["status"], &late["past_due_since"]), (&json!("past_due"), &json!("2095-03-10T00:00:00Z")));
        till.advance(1).await;
        let again = look(&till, &made).await;
        assert_eq!(again["attempt"], 2, "its invoice had expired, so there is a new one");
        assert_eq!(pay(&till, &made).await["current_period_end"], "2095-03-31T12:00:00Z");
    }

    async fn subscriptions_are_listed_by_status_and_customer(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let other = id(&till.post("/v1/customers", json!({})).await.ok(201));
        let first = subscribe(&till, &customer, &plan).await;
        let second = subscribe(&till, &other, &plan).await;
        pay(&till, &second).await;
        let ids = |query: &str| {
            let (till, path) = (till.clone(), format!("/v1/subscriptions{query}"));
            async move { data(&till.get(&path).await.ok(200)).iter().map(id).collect::<Vec<_>>() }
        };
        assert_eq!(ids("").await, [id(&second), id(&first)]);
        assert_eq!(ids("?status=active").await, [id(&second)]);
        assert_eq!(ids(&format!("?customer={customer}")).await, [id(&first)]);
        assert_eq!(ids(&format!("?customer={customer}&status=active")).await, [""; 0]);
        till.get("/v1/subscriptions?status=new").await.refused(400, "parameter_invalid", "status");
        till.get("/v1/subscriptions?plan=x").await.refused(400, "parameter_unknown", "plan");
        let stranger = till.another_account().await;
        stranger.get(&format!("/v1/subscriptions/{}", id(&first))).await.refused(404, "resource_missing", None);
    }

    async fn every_webhook_of_a_subscription_is_as_described(world: World) {
        let (till, customer) = begin(&world).await;
        let receiver = Receiver::start().await;
        till.set(json!({ "webhook_url": receiver.url() })).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        pay(&till, &made).await;
        act(&till, &made, "pause", json!({})).await.ok(200);
        act(&till, &made, "resume", json!({})).await.ok(200);
        act(&till, &made, "cancel", json!({ "at_period_end": true })).await.ok(200);
        act(&till, &made, "cancel", json!({})).await.ok(200);
        let path = format!("/v1/webhook_deliveries?limit=20&invoice={}", text(&made["latest_invoice"]));
        let of_invoice = data(&till.get(&path).await.ok(200));
        let told: Vec<String> = of_invoice.iter().rev().map(|one| text(&one["event_type"])).collect();
        assert_eq!(told, [
            "invoice.created", "subscription.invoice_created", "invoice.detected", "invoice.paid", "subscription.renewed",
        ], "one order for all that names the invoice");
        for event in ["created", "invoice_created", "renewed", "paused", "resumed", "updated", "cancelled"] {
            let event = receiver.wait_for_type(&format!("subscription.{event}")).await.json();
            assert_eq!(event["data"]["object"]["id"], made["id"]);
            let about_invoice = event["data"].get("invoice").is_some();
            assert_eq!(event["invoice_id"].is_string(), about_invoice, "{event}");
        }
    }
}

on_every_engine! {
    async fn whatever_is_asked_at_once_happens_one_after_the_other(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "trial_days": 1 })).await;
        for round in 0..8 {
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            let pay = format!("/v1/test_helpers/invoices/{invoice}/simulate_payment");
            let of = |what: &str| format!("/v1/subscriptions/{}/{what}", id(&made));
            let (pause, resume, cancel) = (of("pause"), of("resume"), of("cancel"));
            let asked = [&pause, &pay, &resume, &cancel, &pause, &resume];
            let replies = futures::future::join_all(asked.map(|path| till.post(path, json!({})))).await;
            for reply in replies {
                assert!(matches!(reply.status, 200 | 409), "round {round}: {} {}", reply.path, reply.json());
            }
            let ended = act(&till, &made, "cancel", json!({})).await.ok(200);
            assert_eq!(ended["status"], "cancelled");
            let status = text(&till.retrieve(&invoice).await["status"]);
            assert!(["paid", "cancelled"].contains(&status.as_str()), "{status}");
            let renewed = till.event_types(&id(&made)).await;
            let renewed = renewed.iter().filter(|event| *event == "subscription.renewed").count();
            assert!(renewed <= 1, "a period is paid for once");
        }
    }
}

on_every_engine! { postgres
    async fn two_servers_renew_each_of_many_subscriptions_once(world: World) {
        let many: usize = std::env::var("TILL_TEST_SUBSCRIPTIONS").map_or(120, |text| text.parse().unwrap());
        let till = world.till().await;
        let second = world.beside(&till, crate::harness::Setup::default()).await;
        let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
        // Whoever subscribes holds the plan for a moment: with several, many can be made at once.
        let trial = || plan(&till, json!({ "trial_days": 2 }));
        let plans = futures::future::join_all((0..8).map(|_| trial())).await;
        for some in (0..many).collect::<Vec<_>>().chunks(plans.len()) {
            let made = some.iter().zip(&plans).map(|(_, plan)| subscribe(&till, &customer, plan));
            futures::future::join_all(made).await;
        }
        world.clock.advance_s(DAY_S + 60);
        let count = |sql: &'static str| {
            let second = second.clone();
            async move {
                let mut reader = second.engine().db.read().await.unwrap();
                let rows: Vec<(i64,)> = till_store::Queries::all(&mut reader, sql, &[]).await.unwrap();
                usize::try_from(rows[0].0).unwrap()
            }
        };
        // However many there are, they may take their time, as long as it goes on.
        let mut renewed = 0;
        while renewed < many {
            let enough = many.min(renewed + many.div_ceil(20));
            renewed = until("further renewals", || async {
                let renewed = count("SELECT CAST(count(*) AS BIGINT) FROM subscriptions WHERE attempt = 1").await;
                (renewed >= enough).then_some(renewed)
            })
            .await;
        }
        assert_eq!(count("SELECT CAST(count(*) AS BIGINT) FROM subscription_charges").await, many);
        assert_eq!(count("SELECT CAST(count(*) AS BIGINT) FROM invoices").await, many);
        let told = "SELECT CAST(count(*) AS BIGINT) FROM events WHERE type = 'subscription.invoice_created'";
        assert_eq!(count(told).await, many);
    }
}
