//! Merchant settings: read, and changed field by field.

use serde_json::json;
use till_core::actor::Action;
use till_core::error::{Code, Refusal};
use till_core::limits::{DISPLAY_NAME_CHARS_MAX, UNDERPAY_TOLERANCE_BPS_MAX, chars};
use till_core::money;
use till_core::page_link::{self, Loopback};
use till_core::role::Permission;
use till_core::scope::Scope;
use till_core::webhook::{UrlPolicy, vet_url};
use till_store::Tx;

use crate::audit;
use crate::base::fail::Fail;
use crate::base::{Change, Context, Engine, Merchant};
use crate::merchants::names;
use crate::offers;
use crate::view::SettingsView;

#[derive(Clone, Debug, Default)]
pub struct SettingsChange {
    pub display_name: Change<String>,
    pub webhook_url: Change<String>,
    pub default_assets: Change<Vec<String>>,
    pub underpay_tolerance_bps: Change<i64>,
    pub manual_review_amount: Change<String>,
    pub support_url: Change<String>,
    pub return_url: Change<String>,
    pub accent: Change<String>,
}

impl SettingsChange {
    /// The names of the settings that it changes.
    fn names(&self) -> Vec<&'static str> {
        let all = [
            ("display_name", self.display_name != Change::Keep),
            ("webhook_url", self.webhook_url != Change::Keep),
            ("default_assets", self.default_assets != Change::Keep),
            (
                "underpay_tolerance_bps",
                self.underpay_tolerance_bps != Change::Keep,
            ),
            (
                "manual_review_amount",
                self.manual_review_amount != Change::Keep,
            ),
            ("support_url", self.support_url != Change::Keep),
            ("return_url", self.return_url != Change::Keep),
            ("accent", self.accent != Change::Keep),
        ];
        all.into_iter()
            .filter(|(_, is_changed)| *is_changed)
            .map(|(name, _)| name)
            .collect()
    }
}

fn invalid(param: &str, message: String) -> Refusal {
    Refusal::new(Code::ParameterInvalid, message).param(param)
}

pub fn url_policy(allow_private: bool) -> UrlPolicy {
    if allow_private {
        UrlPolicy::PrivateAllowed
    } else {
        UrlPolicy::Public
    }
}

pub fn url_forbidden(why: impl std::fmt::Display) -> Refusal {
    Refusal::new(
        Code::WebhookUrlForbidden,
        format!("webhook_url is refused: {why}"),
    )
    .param("webhook_url")
}

/// The values that can be judged without the database.
pub fn check(change: &SettingsChange, policy: UrlPolicy) -> Result<(), Refusal> {
    if let Change::Set(name) = &change.display_name {
        if name.trim().is_empty() || chars(name) > DISPLAY_NAME_CHARS_MAX {
            let message =
                format!("display_name must have 1 to {DISPLAY_NAME_CHARS_MAX} characters");
            return Err(invalid("display_name", message));
        }
        names::check(name)
            .map_err(|error| invalid("display_name", format!("display_name {error}")))?;
    }
    if let Change::Set(url) = &change.webhook_url {
        vet_url(url, policy).map_err(url_forbidden)?;
    }
    if let Change::Set(bps) = change.underpay_tolerance_bps
        && !(0..=i64::from(UNDERPAY_TOLERANCE_BPS_MAX)).contains(&bps)
    {
        let message = format!("underpay_tolerance_bps must be 0 to {UNDERPAY_TOLERANCE_BPS_MAX}");
        return Err(invalid("underpay_tolerance_bps", message));
    }
    if let Change::Set(amount) = &change.manual_review_amount {
        let units = money::parse(amount, 2).map_err(|error| {
            invalid(
                "manual_review_amount",
                format!("manual_review_amount {error}"),
            )
        })?;
        if units.is_zero() {
            let message = "manual_review_amount must be greater than zero".to_owned();
            return Err(invalid("manual_review_amount", message));
        }
    }
    check_page(change)
}

/// What payers' pages show of the merchant besides its name.
fn check_page(change: &SettingsChange) -> Result<(), Refusal> {
    if let Change::Set(url) = &change.support_url {
        let refused = |why| invalid("support_url", format!("support_url is refused: {why}"));
        page_link::check_support_url(url).map_err(refused)?;
    }
    if let Change::Set(url) = &change.return_url {
        let refused = |why| invalid("return_url", format!("return_url is refused: {why}"));
        page_link::check_return_url(url, Loopback::Refused).map_err(refused)?;
    }
    if let Change::Set(accent) = &change.accent
        && !page_link::is_accent(accent)
    {
        let message = "accent must be a colour such as \"#0a7d5a\"".to_owned();
        return Err(invalid("accent", message));
    }
    Ok(())
}

pub async fn retrieve(engine: &Engine, scope: &Scope) -> Result<SettingsView, Fail> {
    let mut reader = engine.db.read().await?;
    let merchant = Merchant::load(&mut reader, scope).await?;
    Ok(SettingsView::of(&merchant))
}

pub async fn update(
    tx: &mut Tx,
    context: &Context<'_>,
    change: &SettingsChange,
) -> Result<SettingsView, Fail> {
    if context.is_live() && change.webhook_url != Change::Keep {
        let refusal = Refusal::of(Code::LiveChangeRequiresDashboard).param("webhook_url");
        return Err(refusal.into());
    }
    if change.webhook_url != Change::Keep {
        context.require(Permission::WebhooksWrite)?;
    }
    check(
        change,
        url_policy(context.engine.config.allow_private_webhooks),
    )?;
    let default_assets = match &change.default_assets {
        Change::Set(assets) => {
            let available = offers::available(context, assets, "default_assets")?;
            Change::Set(offers::codes(&available))
        }
        other => other.clone(),
    };
    let mut row = till_store::accounts::merchant_for_update(tx, &context.scope)
        .await?
        .ok_or_else(crate::base::not_configured)?;
    change.display_name.apply(&mut row.display_name);
    change.webhook_url.apply(&mut row.webhook_url);
    change
        .manual_review_amount
        .apply(&mut row.manual_review_amount);
    default_assets.apply(&mut row.default_assets);
    change.support_url.apply(&mut row.support_url);
    change.return_url.apply(&mut row.return_url);
    change.accent.apply(&mut row.accent);
    match change.underpay_tolerance_bps {
        Change::Keep => {}
        Change::Clear => row.underpay_tolerance_bps = 0,
        Change::Set(bps) => row.underpay_tolerance_bps = bps.try_into().map_err(Fail::broken)?,
    }
    till_store::accounts::update_settings(tx, &row).await?;
    let details = json!({"settings": change.names()});
    let target = &context.scope.account;
    audit::record(tx, context, Action::SettingsUpdated, target, details).await?;
    Ok(SettingsView::of(&Merchant { row }))
}
