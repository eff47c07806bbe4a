//! Test helpers: simulated payments through the same door as real ones, and a reorganisation.

use till_core::asset::{Asset, Family, Registry};
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::invoice::{PayOption, Status};
use till_core::money::{self, Units};
use till_core::payment::Level;
use till_core::time::SECOND_MS;
use till_store::Tx;
use till_store::bindings::BindingRow;
use till_store::invoices::InvoiceRow;
use till_store::payments::PaymentRow;
use till_store::{credits, subscriptions};

use crate::base::Context;
use crate::base::fail::{Fail, missing, missing_or_in_mode};
use crate::intake::{Door, IntakeOutcome, Observation, Sighting, TransferOrigin, take_in};
use crate::invoices::find_locked;

#[derive(Clone, Debug, Default)]
pub struct Simulation {
    pub asset: Option<String>,
    pub network: Option<String>,
    pub amount: Option<String>,
    pub finality_steps: Option<Vec<String>>,
    /// An extension of ours: who sends it, for screening and wallet payments.
    pub sender: Option<String>,
}

pub async fn simulate_payment(
    tx: &mut Tx,
    context: &Context<'_>,
    invoice: &str,
    simulation: &Simulation,
) -> Result<InvoiceRow, Fail> {
    look_first(tx, context, invoice).await?;
    let held = find_locked(tx, context, invoice).await?;
    let options = held.invoice.is.options.clone();
    let (option, asset) = takeable(context, &options, simulation)?;
    let sent = match &simulation.amount {
        None => None,
        Some(text) => Some(amount(text, asset)?),
    };
    let steps = steps(simulation.finality_steps.as_deref())?;
    let sender = sender(context, asset, simulation)?;
    let bound = binding_of(
        tx,
        context,
        invoice,
        &asset.code,
        simulation,
        sender.as_deref(),
        sent,
    )
    .await?;
    let (units, recipient) = match (&bound, &option.deposit) {
        (Some(binding), _) => (binding.units, binding.destination.clone()),
        (None, Some(deposit)) => {
            let asked = held.invoice.is.summary.asked_by(option);
            (sent.unwrap_or(asked), deposit.address.clone())
        }
        (None, None) => return Err(not_takeable("asset", &option.asset).into()),
    };
    if context.engine.config.demo {
        demo_refusals(held.invoice.is.status)?;
    }
    let block_ms = Registry::builtin()
        .network(&asset.network)
        .map_or(1, |network| network.block_time_ms.max(1));
    let number = context.now / i64::try_from(block_ms).map_err(Fail::broken)?;
    let hash = random_hash(context, asset.family);
    let observe = |level: Level| Observation {
        network: asset.network.clone(),
        tx_hash: hash.clone(),
        place: 0,
        asset: asset.code.clone(),
        units,
        arrived: None,
        registers: None,
        senders: sender.iter().cloned().collect(),
        recipient: recipient.clone(),
        sighting: match level {
            Level::Pending => Sighting::Pending,
            level => Sighting::InBlock {
                level,
                number,
                hash: format!("{hash}b"),
                time: context.now,
            },
        },
        source: TransferOrigin::Simulation,
    };
    let mut observations: Vec<Observation> = steps.into_iter().map(observe).collect();
    let block_hash = random_hash(context, asset.family);
    for observation in &mut observations {
        if let Sighting::InBlock { hash, .. } = &mut observation.sighting {
            hash.clone_from(&block_hash);
        }
    }
    let taken = take_in(tx, door(context), &observations).await?;
    if taken.iter().any(|taken| taken.payment().is_none()) {
        let message = "a transfer from this sender would be nobody's payment";
        return Err(invalid("sender", message).into());
    }
    let payment = taken
        .last()
        .and_then(IntakeOutcome::payment)
        .unwrap_or_default();
    let paid = till_store::payments::find(tx, &context.scope, payment).await?;
    if paid.is_some_and(|paid| paid.invoice != invoice) {
        return Err(match bound {
            Some(_) => invalid("sender", "another invoice has this wallet's binding by now"),
            None => invalid(
                "asset",
                "the invoice's address has gone to another since it ended",
            ),
        }
        .into());
    }
    let row = till_store::invoices::find(tx, &context.scope, invoice).await?;
    row.ok_or_else(|| Fail::broken("an invoice vanished while it was paid"))
}

/// Credit that has left the chain lowers no invoice: where some of it did, its customer is looked at before anything is paid.
async fn look_first(tx: &mut Tx, context: &Context<'_>, invoice: &str) -> Result<(), Fail> {
    let scope = &context.scope;
    let Some(charge) = subscriptions::charge_by_invoice(tx, scope, invoice).await? else {
        return Ok(());
    };
    let (subscription, number) = (&charge.subscription, charge.number);
    for entry in credits::of_charge(tx, scope, subscription, number).await? {
        let payment = till_store::payments::find(tx, scope, &entry.payment).await?;
        if payment.is_some_and(|payment| payment.gone_at.is_some()) {
            return crate::subscriptions::look_first(tx, context, subscription).await;
        }
    }
    Ok(())
}

/// A sender that was bound pays as its binding says: to the merchant's destination, exactly. Another amount
/// from the same wallet is an ordinary transfer to the deposit address.
async fn binding_of(
    tx: &mut Tx,
    context: &Context<'_>,
    invoice: &str,
    asset: &str,
    simulation: &Simulation,
    sender: Option<&str>,
    sent: Option<Units>,
) -> Result<Option<BindingRow>, Fail> {
    if simulation.sender.is_none() {
        return Ok(None);
    }
    let bindings = till_store::bindings::of_invoice(tx, &context.scope, invoice).await?;
    // The last first: what the wallet was told last is what it sends.
    for binding in bindings.into_iter().rev() {
        let same = Some(binding.sender.as_str()) == sender && binding.asset == asset;
        let units = binding.units;
        if same && sent.is_none_or(|sent| sent == units) {
            return Ok(Some(binding));
        }
    }
    Ok(None)
}

/// The demo server keeps its story simple: one payment per invoice, none after it was cancelled.
fn demo_refusals(status: Status) -> Result<(), Refusal> {
    match status {
        Status::Cancelled => Err(Refusal::of(Code::InvoiceCancelled)),
        status if status.is_paid() || status == Status::UnderReview => {
            Err(Refusal::of(Code::AlreadyPaid))
        }
        _ => Ok(()),
    }
}

/// The option the payment is for, from a full code, a symbol with a network, a network, or nothing.
fn takeable<'o>(
    context: &Context<'_>,
    options: &'o [PayOption],
    simulation: &Simulation,
) -> Result<(&'o PayOption, &'static Asset), Refusal> {
    let registry = Registry::builtin();
    let network = match &simulation.network {
        None => None,
        Some(id) => {
            let network = registry
                .network(id)
                .filter(|network| network.mode == context.scope.mode);
            Some(network.ok_or_else(|| {
                invalid(
                    "network",
                    "network must be a test network, by its CAIP-2 id",
                )
            })?)
        }
    };
    let asset = match (&simulation.asset, network) {
        (None, None) => None,
        (None, Some(network)) => {
            let of_network = |option: &&PayOption| {
                registry
                    .asset(&option.asset)
                    .is_some_and(|asset| asset.network == network.id)
            };
            let option = options
                .iter()
                .find(of_network)
                .ok_or_else(|| not_takeable("network", &network.id))?;
            registry.asset(&option.asset)
        }
        (Some(code), network) if code.contains('@') => {
            let asset = registry
                .asset(code)
                .ok_or_else(|| not_takeable("asset", code))?;
            if network.is_some_and(|network| network.id != asset.network) {
                return Err(invalid("network", "network does not agree with asset"));
            }
            Some(asset)
        }
        (Some(symbol), Some(network)) => Some(
            registry
                .asset_on(symbol, &network.id)
                .ok_or_else(|| not_takeable("asset", symbol))?,
        ),
        (Some(_), None) => {
            return Err(invalid(
                "asset",
                "asset must be a full code, or a symbol together with network",
            ));
        }
    };
    let option = match asset {
        None => options.first(),
        Some(asset) => options.iter().find(|option| option.asset == asset.code),
    };
    let option =
        option.ok_or_else(|| not_takeable("asset", simulation.asset.as_deref().unwrap_or("it")))?;
    let asset = registry
        .asset(&option.asset)
        .ok_or_else(|| not_takeable("asset", &option.asset))?;
    Ok((option, asset))
}

fn amount(text: &str, asset: &Asset) -> Result<Units, Refusal> {
    let units = money::parse(text, asset.decimals)
        .map_err(|error| invalid("amount", &format!("amount {error}")))?;
    if units.is_zero() {
        return Err(invalid("amount", "amount must be greater than zero"));
    }
    if units >= Units::END {
        let message = "amount is more than there can be of a token";
        return Err(invalid("amount", message));
    }
    Ok(units)
}

fn steps(names: Option<&[String]>) -> Result<Vec<Level>, Refusal> {
    let Some(names) = names else {
        return Ok(vec![Level::Included, Level::Final]);
    };
    let mut steps: Vec<Level> = Vec::with_capacity(names.len());
    for name in names {
        let level = Level::parse(name).ok_or_else(|| {
            invalid(
                "finality_steps",
                "a step is pending, included, safe or final",
            )
        })?;
        if steps.last().is_some_and(|last| *last >= level) {
            return Err(invalid(
                "finality_steps",
                "finality_steps must rise: pending, included, safe, final",
            ));
        }
        steps.push(level);
    }
    if steps.is_empty() {
        return Err(invalid(
            "finality_steps",
            "finality_steps must name at least one step",
        ));
    }
    Ok(steps)
}

fn sender(
    context: &Context<'_>,
    asset: &Asset,
    simulation: &Simulation,
) -> Result<Option<String>, Refusal> {
    let network = Registry::builtin().network(&asset.network);
    match (&simulation.sender, network) {
        (Some(text), Some(network)) => till_chains::parse_address(network, text)
            .map(Some)
            .map_err(|error| invalid("sender", &format!("sender is refused: {error}"))),
        _ => Ok(match asset.family {
            family @ (Family::Evm | Family::Tron) => {
                till_chains::wallet_address(family, &context.engine.ids.random())
            }
            Family::Bitcoin | Family::Solana => None,
        }),
    }
}

fn random_hash(context: &Context<'_>, family: Family) -> String {
    let bytes: [u8; 32] = context.engine.ids.random();
    match family {
        Family::Evm => format!("0x{}", hex::encode(bytes)),
        _ => hex::encode(bytes),
    }
}

fn invalid(param: &str, message: &str) -> Refusal {
    Refusal::new(Code::ParameterInvalid, message.to_owned()).param(param)
}

fn not_takeable(param: &str, what: &str) -> Refusal {
    let what: String = what.chars().take(80).collect();
    invalid(param, &format!("the invoice does not take {what}"))
}

/// The door for this account's transfers alone.
fn door<'c>(context: &'c Context<'_>) -> Door<'c> {
    Door {
        engine: context.engine,
        effects: context.effects,
        only: Some(&context.scope),
    }
}

/// The next level of a payment that was simulated: the network goes on building on it.
pub async fn raise_payment(
    tx: &mut Tx,
    context: &Context<'_>,
    invoice: &str,
    tx_hash: &str,
    level: &str,
) -> Result<InvoiceRow, Fail> {
    let held = find_locked(tx, context, invoice).await?;
    let level = Level::parse(level)
        .filter(|level| *level > Level::Pending)
        .ok_or_else(|| invalid("finality", "finality is included, safe or final"))?;
    let payments =
        till_store::payments::of_invoice(tx, &context.scope, &held.invoice.is.id).await?;
    let is_it = |payment: &&PaymentRow| payment.tx_hash == tx_hash && payment.simulated;
    let payment = payments
        .iter()
        .find(is_it)
        .ok_or_else(|| invalid("tx_hash", "no simulated payment has this tx_hash"))?;
    let family = Registry::builtin()
        .asset(&payment.asset)
        .map_or(Family::Evm, |asset| asset.family);
    let in_block = Sighting::InBlock {
        level,
        number: payment.block_number.unwrap_or(context.now / SECOND_MS),
        hash: match &payment.block_hash {
            Some(hash) => hash.clone(),
            None => random_hash(context, family),
        },
        time: payment.block_time.unwrap_or(context.now),
    };
    take_in(tx, door(context), &[seen_again(payment, in_block)]).await?;
    let row = till_store::invoices::find(tx, &context.scope, invoice).await?;
    row.ok_or_else(|| Fail::broken("an invoice vanished while its payment rose"))
}

fn seen_again(payment: &PaymentRow, sighting: Sighting) -> Observation {
    Observation {
        network: payment.network.clone(),
        tx_hash: payment.tx_hash.clone(),
        place: payment.place,
        asset: payment.asset.clone(),
        units: payment.units,
        arrived: payment.short.then_some(payment.units),
        registers: payment.registers.clone(),
        senders: payment.senders.clone(),
        recipient: payment.recipient.clone(),
        sighting,
        source: TransferOrigin::Simulation,
    }
}

/// A reorganisation undoes a simulated payment. Doing so again changes nothing.
pub async fn reverse_payment(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
) -> Result<PaymentRow, Fail> {
    if !till_core::id::is(IdKind::Payment, id) {
        return Err(missing("payment", id).into());
    }
    let Some(payment) = till_store::payments::find(tx, &context.scope, id).await? else {
        let elsewhere = context.scope.in_other_mode();
        let found = till_store::payments::find(tx, &elsewhere, id).await?;
        return Err(missing_or_in_mode("payment", id, &context.scope, found).into());
    };
    if !payment.simulated {
        return Err(invalid("id", "only a simulated payment can be reversed").into());
    }
    if payment.gone_at.is_none() {
        let gone = seen_again(&payment, Sighting::Removed);
        take_in(tx, door(context), &[gone]).await?;
    }
    let row = till_store::payments::find(tx, &context.scope, id).await?;
    row.ok_or_else(|| Fail::broken("a payment vanished while it was reversed"))
}
