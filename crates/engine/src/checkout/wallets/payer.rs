//! Whose wallet may be bound: a payer's own. Not one of ours, not a merchant's, not a contract that others use.

use till_core::asset::{Network, Registry};
use till_core::error::{Code, Refusal};
use till_store::Tx;

use super::new_binding::NewBinding;
use crate::base::Context;
use crate::base::fail::Fail;

fn invalid(why: impl std::fmt::Display) -> Refusal {
    Refusal::new(Code::SenderInvalid, format!("sender is refused: {why}")).param("sender")
}

/// The sender in canonical form, once nothing speaks against it.
pub(super) async fn own_wallet(
    tx: &mut Tx,
    context: &Context<'_>,
    network: &Network,
    request: &NewBinding<'_>,
) -> Result<String, Fail> {
    let sender = till_chains::parse_address(network, request.sender).map_err(invalid)?;
    let known = |message: &str| {
        let message = format!("sender is {message}: connect the wallet that will pay");
        Fail::from(Refusal::new(Code::ParameterInvalid, message).param("sender"))
    };
    if Registry::builtin().is_contract(network.family, &sender) {
        return Err(known("a token or factory contract"));
    }
    // What leaves a deposit address is a merchant emptying it; it must never look like a payment.
    if !till_store::leases::ours(tx, &[&sender]).await?.is_empty() {
        return Err(known("a deposit address"));
    }
    // In this mode alone: test accounts are free, and nobody's test account may keep a wallet from paying live.
    let mode = context.scope.mode;
    if till_store::destinations::is_registered(tx, mode, network.family, &sender).await? {
        return Err(known("a merchant's own address"));
    }
    prove(context, network, request, &sender)?;
    Ok(sender)
}

/// A proof that is there must be right; whether it must be there is the operator's choice.
fn prove(
    context: &Context<'_>,
    network: &Network,
    request: &NewBinding<'_>,
    sender: &str,
) -> Result<(), Refusal> {
    let Some(proof) = request.proof else {
        return match context.engine.config.require_wallet_proof {
            true => Err(invalid("it is not proven, and this server asks for proof")),
            false => Ok(()),
        };
    };
    let message = till_chains::binding_message(request.invoice, request.asset, request.sender);
    match till_chains::signer(network.family, &message, proof) {
        Some(signer) if signer == sender => Ok(()),
        _ => Err(invalid(
            "it is not proven, because proof is not its signature of this binding",
        )),
    }
}
