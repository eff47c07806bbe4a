# Written by sdk/scripts/generate.mjs from openapi.json. Do not edit.
"""The calls, by resource."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime

from ._decode import event, model
from ._pages import AsyncPages
from ._requests import AsyncRequests, segment
from ._values import NOT_GIVEN, NotGiven
from .models import (
    AmountType,
    Asset,
    CheckoutInvoice,
    CheckoutPaymentLink,
    Customer,
    Decision,
    DeliveryStatus,
    Event,
    EventType,
    ExchangeList,
    Finality,
    IntervalUnit,
    Invoice,
    InvoiceEvent,
    InvoiceStatus,
    LedgerBalances,
    MerchantSettings,
    PayerNotice,
    Payment,
    PaymentLink,
    PaymentStatus,
    Plan,
    Reconciliation,
    Refund,
    RefundClaim,
    RefundReason,
    RefundStatus,
    Subscription,
    SubscriptionStatus,
    TestClock,
    TxLookup,
    WalletBinding,
    WebhookDelivery,
    WebhookSecret,
)


class AsyncInvoicesResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: InvoiceStatus | None = None,
        customer_ref: str | None = None,
        from_: str | None = None,
        to: str | None = None,
    ) -> AsyncPages[Invoice]:
        """List invoices, newest first"""
        return self._client.pages(
            model(Invoice),
            "/v1/invoices",
            query={
                "limit": limit,
                "cursor": cursor,
                "status": status,
                "customer_ref": customer_ref,
                "from": from_,
                "to": to,
            },
        )

    async def create(
        self,
        *,
        amount: str,
        currency: str,
        assets: Sequence[str] | None | NotGiven = NOT_GIVEN,
        description: str | None | NotGiven = NOT_GIVEN,
        customer_ref: str | None | NotGiven = NOT_GIVEN,
        return_url: str | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, str] | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> Invoice:
        """Create an invoice.
        Priced in fiat; each asset gets its exact amount due and an address of this invoice's own.
        """
        return await self._client.request(
            model(Invoice),
            "POST",
            "/v1/invoices",
            body={
                "amount": amount,
                "currency": currency,
                "assets": assets,
                "description": description,
                "customer_ref": customer_ref,
                "return_url": return_url,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
        )

    async def retrieve(self, id: str, /) -> Invoice:
        """Retrieve an invoice"""
        return await self._client.request(model(Invoice), "GET", f"/v1/invoices/{segment(id)}")

    async def cancel(self, id: str, /, *, idempotency_key: str | None = None) -> Invoice:
        """Cancel an invoice nothing was paid to"""
        return await self._client.request(
            model(Invoice),
            "POST",
            f"/v1/invoices/{segment(id)}/cancel",
            idempotency_key=idempotency_key,
        )

    async def resolve_review(
        self,
        id: str,
        /,
        *,
        decision: Decision,
        reason: str,
        idempotency_key: str | None = None,
    ) -> Invoice:
        """Decide about a held payment"""
        return await self._client.request(
            model(Invoice),
            "POST",
            f"/v1/invoices/{segment(id)}/resolve_review",
            body={"decision": decision, "reason": reason},
            idempotency_key=idempotency_key,
        )

    def events(self, id: str, /, *, after: int = 0) -> AsyncIterator[InvoiceEvent]:
        """Follow an invoice live.
        Server-sent events: `id` is the number of the event in this invoice's stream, `event` its type, `data` a
        complete InvoiceEvent. Resume with `Last-Event-ID` or `last_event_id`.
        """
        return self._client.stream(model(InvoiceEvent), f"/v1/invoices/{segment(id)}/events", after=after)


class AsyncRefundsResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    async def create(
        self,
        id: str,
        /,
        *,
        amount: str | None | NotGiven = NOT_GIVEN,
        asset: str | None | NotGiven = NOT_GIVEN,
        reason: RefundReason | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> Refund:
        """Refund what an invoice received.
        Makes a link for the payer, who says where the money is to be sent. Without an amount: what was paid too much.
        """
        return await self._client.request(
            model(Refund),
            "POST",
            f"/v1/invoices/{segment(id)}/refunds",
            body={"amount": amount, "asset": asset, "reason": reason},
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        invoice: str | None = None,
        status: RefundStatus | None = None,
    ) -> AsyncPages[Refund]:
        """List refunds, newest first"""
        return self._client.pages(
            model(Refund),
            "/v1/refunds",
            query={
                "limit": limit,
                "cursor": cursor,
                "invoice": invoice,
                "status": status,
            },
        )

    async def retrieve(self, id: str, /) -> Refund:
        """Retrieve a refund"""
        return await self._client.request(model(Refund), "GET", f"/v1/refunds/{segment(id)}")

    async def cancel(self, id: str, /, *, idempotency_key: str | None = None) -> Refund:
        """Cancel a refund that was not sent"""
        return await self._client.request(
            model(Refund),
            "POST",
            f"/v1/refunds/{segment(id)}/cancel",
            idempotency_key=idempotency_key,
        )

    async def mark_sent(self, id: str, /, *, tx_hash: str, idempotency_key: str | None = None) -> Refund:
        """Say that a refund was sent, and by which transaction.
        Send it from your own wallet first, to `payout.address` on `payout.network`. The address is held against the
        lists once more: should one name it now, the refund is `in_review`. A payout that was made while the refund was
        `ready_to_send` can be recorded after it became `in_review` where the chain shows it or cannot be asked, and after it
        was cancelled where the chain shows it; reconciliation flags it.
        """
        return await self._client.request(
            model(Refund),
            "POST",
            f"/v1/refunds/{segment(id)}/mark_sent",
            body={"tx_hash": tx_hash},
            idempotency_key=idempotency_key,
        )


class AsyncReconciliationResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    async def retrieve(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        asset: str | None = None,
    ) -> Reconciliation:
        """Compare ledger, chain and invoices of a period"""
        return await self._client.request(
            model(Reconciliation),
            "GET",
            "/v1/reconciliation",
            query={"from": from_, "to": to, "asset": asset},
        )

    async def balances(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        asset: str | None = None,
    ) -> LedgerBalances:
        """The ledger's balances over a period"""
        return await self._client.request(
            model(LedgerBalances),
            "GET",
            "/v1/reconciliation/balances",
            query={"from": from_, "to": to, "asset": asset},
        )

    async def export(self, *, from_: str | None = None, to: str | None = None, asset: str | None = None) -> str:
        """The report as CSV"""
        return await self._client.request_text(
            "/v1/reconciliation/export",
            query={"from": from_, "to": to, "asset": asset},
        )


class AsyncPaymentsResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        invoice: str | None = None,
        status: PaymentStatus | None = None,
        asset: str | None = None,
        tx_hash: str | None = None,
    ) -> AsyncPages[Payment]:
        """List payments, newest first"""
        return self._client.pages(
            model(Payment),
            "/v1/payments",
            query={
                "limit": limit,
                "cursor": cursor,
                "invoice": invoice,
                "status": status,
                "asset": asset,
                "tx_hash": tx_hash,
            },
        )


class AsyncEventsResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        type: EventType | None = None,
        from_: str | None = None,
        to: str | None = None,
    ) -> AsyncPages[Event]:
        """List events, newest first.
        What webhooks deliver, whether or not a webhook URL was set when it happened: for a server that missed some. An event is kept
        for 400 days unless the server's operator says otherwise. A deposit address that its invoice has lost since is null.
        Events of one moment may appear a little later than newer ones: who follows the log reads its last minute again, and tells
        what it knows already by `id`.
        """
        return self._client.pages(
            event,
            "/v1/events",
            query={
                "limit": limit,
                "cursor": cursor,
                "type": type,
                "from": from_,
                "to": to,
            },
        )

    async def retrieve(self, id: str, /) -> Event:
        """Retrieve an event.
        As the list of events shows it.
        """
        return await self._client.request(event, "GET", f"/v1/events/{segment(id)}")


class AsyncWebhookDeliveriesResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: DeliveryStatus | None = None,
        event_type: str | None = None,
        event: str | None = None,
        invoice: str | None = None,
    ) -> AsyncPages[WebhookDelivery]:
        """List webhook deliveries, newest first.
        One object per attempt.
        """
        return self._client.pages(
            model(WebhookDelivery),
            "/v1/webhook_deliveries",
            query={
                "limit": limit,
                "cursor": cursor,
                "status": status,
                "event_type": event_type,
                "event": event,
                "invoice": invoice,
            },
        )

    async def replay(self, id: str, /, *, idempotency_key: str | None = None) -> WebhookDelivery:
        """Deliver an event again.
        The same event under the same id, as a new delivery, to the current webhook URL.
        """
        return await self._client.request(
            model(WebhookDelivery),
            "POST",
            f"/v1/webhook_deliveries/{segment(id)}/replay",
            idempotency_key=idempotency_key,
        )


class AsyncMerchantResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    async def retrieve_settings(self) -> MerchantSettings:
        """Retrieve the merchant's settings in this mode"""
        return await self._client.request(model(MerchantSettings), "GET", "/v1/merchant/settings")

    async def update_settings(
        self,
        *,
        display_name: str | None | NotGiven = NOT_GIVEN,
        webhook_url: str | None | NotGiven = NOT_GIVEN,
        default_assets: Sequence[str] | None | NotGiven = NOT_GIVEN,
        underpay_tolerance_bps: int | None | NotGiven = NOT_GIVEN,
        manual_review_amount: str | None | NotGiven = NOT_GIVEN,
        support_url: str | None | NotGiven = NOT_GIVEN,
        return_url: str | None | NotGiven = NOT_GIVEN,
        accent: str | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> MerchantSettings:
        """Change the merchant's settings in this mode.
        Omitted fields stay as they are; null clears.
        """
        return await self._client.request(
            model(MerchantSettings),
            "POST",
            "/v1/merchant/settings",
            body={
                "display_name": display_name,
                "webhook_url": webhook_url,
                "default_assets": default_assets,
                "underpay_tolerance_bps": underpay_tolerance_bps,
                "manual_review_amount": manual_review_amount,
                "support_url": support_url,
                "return_url": return_url,
                "accent": accent,
            },
            idempotency_key=idempotency_key,
        )

    async def roll_webhook_secret(self, *, idempotency_key: str | None = None) -> WebhookSecret:
        """Replace the webhook secret.
        Both secrets sign for 24 hours, the new one first. The new one is readable only here.
        """
        return await self._client.request(
            model(WebhookSecret),
            "POST",
            "/v1/merchant/webhook_secret/roll",
            idempotency_key=idempotency_key,
        )


class AsyncPaymentLinksResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        active: bool | None = None,
    ) -> AsyncPages[PaymentLink]:
        """List payment links, newest first"""
        return self._client.pages(
            model(PaymentLink),
            "/v1/payment_links",
            query={"limit": limit, "cursor": cursor, "active": active},
        )

    async def create(
        self,
        *,
        amount_type: AmountType,
        currency: str,
        amount: str | None | NotGiven = NOT_GIVEN,
        min_amount: str | None | NotGiven = NOT_GIVEN,
        max_amount: str | None | NotGiven = NOT_GIVEN,
        description: str | None | NotGiven = NOT_GIVEN,
        assets: Sequence[str] | None | NotGiven = NOT_GIVEN,
        quantity_limit: int | None | NotGiven = NOT_GIVEN,
        expires_at: datetime | None | NotGiven = NOT_GIVEN,
        return_url: str | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, str] | None | NotGiven = NOT_GIVEN,
        active: bool | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> PaymentLink:
        """Create a payment link"""
        return await self._client.request(
            model(PaymentLink),
            "POST",
            "/v1/payment_links",
            body={
                "amount_type": amount_type,
                "currency": currency,
                "amount": amount,
                "min_amount": min_amount,
                "max_amount": max_amount,
                "description": description,
                "assets": assets,
                "quantity_limit": quantity_limit,
                "expires_at": expires_at,
                "return_url": return_url,
                "metadata": metadata,
                "active": active,
            },
            idempotency_key=idempotency_key,
        )

    async def retrieve(self, id: str, /) -> PaymentLink:
        """Retrieve a payment link"""
        return await self._client.request(model(PaymentLink), "GET", f"/v1/payment_links/{segment(id)}")

    async def update(
        self,
        id: str,
        /,
        *,
        amount_type: AmountType | None | NotGiven = NOT_GIVEN,
        currency: str | None | NotGiven = NOT_GIVEN,
        amount: str | None | NotGiven = NOT_GIVEN,
        min_amount: str | None | NotGiven = NOT_GIVEN,
        max_amount: str | None | NotGiven = NOT_GIVEN,
        description: str | None | NotGiven = NOT_GIVEN,
        assets: Sequence[str] | None | NotGiven = NOT_GIVEN,
        quantity_limit: int | None | NotGiven = NOT_GIVEN,
        expires_at: datetime | None | NotGiven = NOT_GIVEN,
        return_url: str | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, str] | None | NotGiven = NOT_GIVEN,
        active: bool | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> PaymentLink:
        """Change a payment link.
        Omitted fields stay as they are, null clears an optional one, `metadata` is replaced as a whole. Changes
        apply to invoices made afterwards.
        """
        return await self._client.request(
            model(PaymentLink),
            "POST",
            f"/v1/payment_links/{segment(id)}",
            body={
                "amount_type": amount_type,
                "currency": currency,
                "amount": amount,
                "min_amount": min_amount,
                "max_amount": max_amount,
                "description": description,
                "assets": assets,
                "quantity_limit": quantity_limit,
                "expires_at": expires_at,
                "return_url": return_url,
                "metadata": metadata,
                "active": active,
            },
            idempotency_key=idempotency_key,
        )


class AsyncCustomersResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncPages[Customer]:
        """List customers, newest first"""
        return self._client.pages(model(Customer), "/v1/customers", query={"limit": limit, "cursor": cursor})

    async def create(
        self,
        *,
        name: str | None | NotGiven = NOT_GIVEN,
        email: str | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, str] | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> Customer:
        """Create a customer"""
        return await self._client.request(
            model(Customer),
            "POST",
            "/v1/customers",
            body={"name": name, "email": email, "metadata": metadata},
            idempotency_key=idempotency_key,
        )

    async def retrieve(self, id: str, /) -> Customer:
        """Retrieve a customer, with its prepaid credit"""
        return await self._client.request(model(Customer), "GET", f"/v1/customers/{segment(id)}")

    async def top_up(
        self,
        id: str,
        /,
        *,
        amount: str,
        currency: str,
        assets: Sequence[str] | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> Invoice:
        """Invoice a top-up of prepaid credit.
        An ordinary invoice. Once its payment is final, everything received becomes the customer's credit, in the tokens that
        arrived, and the next renewals take it before anything is invoiced. A reversal takes it back.
        """
        return await self._client.request(
            model(Invoice),
            "POST",
            f"/v1/customers/{segment(id)}/top_up",
            body={"amount": amount, "currency": currency, "assets": assets},
            idempotency_key=idempotency_key,
        )


class AsyncPlansResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncPages[Plan]:
        """List plans, newest first"""
        return self._client.pages(model(Plan), "/v1/plans", query={"limit": limit, "cursor": cursor})

    async def create(
        self,
        *,
        name: str,
        amount: str,
        currency: str,
        interval: IntervalUnit,
        interval_count: int | None | NotGiven = NOT_GIVEN,
        trial_days: int | None | NotGiven = NOT_GIVEN,
        grace_days: int | None | NotGiven = NOT_GIVEN,
        max_attempts: int | None | NotGiven = NOT_GIVEN,
        assets: Sequence[str] | None | NotGiven = NOT_GIVEN,
        billing_timezone: str | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> Plan:
        """Create a plan"""
        return await self._client.request(
            model(Plan),
            "POST",
            "/v1/plans",
            body={
                "name": name,
                "amount": amount,
                "currency": currency,
                "interval": interval,
                "interval_count": interval_count,
                "trial_days": trial_days,
                "grace_days": grace_days,
                "max_attempts": max_attempts,
                "assets": assets,
                "billing_timezone": billing_timezone,
            },
            idempotency_key=idempotency_key,
        )

    async def retrieve(self, id: str, /) -> Plan:
        """Retrieve a plan"""
        return await self._client.request(model(Plan), "GET", f"/v1/plans/{segment(id)}")

    async def archive(self, id: str, /, *, idempotency_key: str | None = None) -> Plan:
        """Archive a plan.
        It takes no new subscriptions; those it has keep renewing.
        """
        return await self._client.request(
            model(Plan),
            "POST",
            f"/v1/plans/{segment(id)}/archive",
            idempotency_key=idempotency_key,
        )


class AsyncSubscriptionsResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: SubscriptionStatus | None = None,
        customer: str | None = None,
    ) -> AsyncPages[Subscription]:
        """List subscriptions, newest first"""
        return self._client.pages(
            model(Subscription),
            "/v1/subscriptions",
            query={
                "limit": limit,
                "cursor": cursor,
                "status": status,
                "customer": customer,
            },
        )

    async def create(
        self,
        *,
        customer: str,
        plan: str,
        trial_days: int | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, str] | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> Subscription:
        """Create a subscription.
        With a trial it is active at once; without, it is incomplete until its first invoice, made now, is paid.
        """
        return await self._client.request(
            model(Subscription),
            "POST",
            "/v1/subscriptions",
            body={
                "customer": customer,
                "plan": plan,
                "trial_days": trial_days,
                "metadata": metadata,
            },
            idempotency_key=idempotency_key,
        )

    async def retrieve(self, id: str, /) -> Subscription:
        """Retrieve a subscription"""
        return await self._client.request(model(Subscription), "GET", f"/v1/subscriptions/{segment(id)}")

    async def cancel(
        self,
        id: str,
        /,
        *,
        at_period_end: bool | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> Subscription:
        """Cancel a subscription, now or at the end of the period that is paid for"""
        return await self._client.request(
            model(Subscription),
            "POST",
            f"/v1/subscriptions/{segment(id)}/cancel",
            body={"at_period_end": at_period_end},
            idempotency_key=idempotency_key,
        )

    async def pause(self, id: str, /, *, idempotency_key: str | None = None) -> Subscription:
        """Pause a subscription.
        No invoices and no reminders until it is resumed. An open renewal invoice nothing was paid to is cancelled.
        """
        return await self._client.request(
            model(Subscription),
            "POST",
            f"/v1/subscriptions/{segment(id)}/pause",
            idempotency_key=idempotency_key,
        )

    async def resume(self, id: str, /, *, idempotency_key: str | None = None) -> Subscription:
        """Resume a paused subscription.
        Inside the period that is paid for it goes on; after it, billing starts anew now, with a new invoice.
        """
        return await self._client.request(
            model(Subscription),
            "POST",
            f"/v1/subscriptions/{segment(id)}/resume",
            idempotency_key=idempotency_key,
        )


class AsyncAssetsResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncPages[Asset]:
        """List the assets of this mode.
        A stablecoin is priced in its own currency only; a volatile asset in any currency that there is a price in.
        """
        return self._client.pages(model(Asset), "/v1/assets", query={"limit": limit, "cursor": cursor})


class AsyncRefundClaimsResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    async def retrieve(self, token: str, /) -> RefundClaim:
        """Retrieve a refund as its payer"""
        return await self._client.request(model(RefundClaim), "GET", f"/v1/refund_claims/{segment(token)}")

    async def claim(
        self,
        token: str,
        /,
        *,
        network: str,
        address: str,
        idempotency_key: str | None = None,
    ) -> RefundClaim:
        """Say where a refund is to be sent.
        The first claim is kept: a different address cannot replace it.
        """
        return await self._client.request(
            model(RefundClaim),
            "POST",
            f"/v1/refund_claims/{segment(token)}",
            body={"network": network, "address": address},
            idempotency_key=idempotency_key,
        )


class AsyncCheckoutResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    async def list_exchanges(self) -> ExchangeList:
        """How networks are called on exchanges' withdrawal screens"""
        return await self._client.request(model(ExchangeList), "GET", "/v1/checkout/exchanges")

    async def retrieve_invoice(self, id: str, /) -> CheckoutInvoice:
        """Retrieve an invoice as its payer"""
        return await self._client.request(model(CheckoutInvoice), "GET", f"/v1/checkout/invoices/{segment(id)}")

    async def lookup_transaction(self, id: str, /, *, tx_hash: str) -> TxLookup:
        """Look a transaction up.
        Says where its transfers went and whether one is attributed to this invoice. For information only.
        """
        return await self._client.request(
            model(TxLookup),
            "GET",
            f"/v1/checkout/invoices/{segment(id)}/lookup",
            query={"tx_hash": tx_hash},
        )

    async def notify_payer(
        self,
        id: str,
        /,
        *,
        email: str,
        session_token: str,
        locale: str | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> PayerNotice:
        """Leave an address for the receipt.
        Nothing is sent before a payment arrived. At most 3 different addresses per invoice, from one session.
        """
        return await self._client.request(
            model(PayerNotice),
            "POST",
            f"/v1/checkout/invoices/{segment(id)}/notify",
            body={
                "email": email,
                "locale": locale,
                "session_token": session_token,
            },
            idempotency_key=idempotency_key,
        )

    async def pick_payment_option(
        self,
        id: str,
        /,
        *,
        asset: str,
        idempotency_key: str | None = None,
    ) -> CheckoutInvoice:
        """Pick how to pay.
        Leases the network's address; one address covers every EVM network the invoice offers.
        """
        return await self._client.request(
            model(CheckoutInvoice),
            "POST",
            f"/v1/checkout/invoices/{segment(id)}/payment_option",
            body={"asset": asset},
            idempotency_key=idempotency_key,
        )

    async def bind_wallet(
        self,
        id: str,
        /,
        *,
        asset: str,
        sender: str,
        proof: str | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> WalletBinding:
        """Bind the payer's wallet.
        Says exactly what the wallet must send, straight to the merchant's destination.
        """
        return await self._client.request(
            model(WalletBinding),
            "POST",
            f"/v1/checkout/invoices/{segment(id)}/wallet_binding",
            body={"asset": asset, "sender": sender, "proof": proof},
            idempotency_key=idempotency_key,
        )

    async def retrieve_link(self, slug: str, /) -> CheckoutPaymentLink:
        """Retrieve a payment link as its payer"""
        return await self._client.request(model(CheckoutPaymentLink), "GET", f"/v1/checkout/links/{segment(slug)}")

    async def create_link_invoice(
        self,
        slug: str,
        /,
        *,
        amount: str | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> CheckoutInvoice:
        """Create an invoice from a payment link"""
        return await self._client.request(
            model(CheckoutInvoice),
            "POST",
            f"/v1/checkout/links/{segment(slug)}/invoices",
            body={"amount": amount},
            idempotency_key=idempotency_key,
        )


class AsyncTestHelpersResource:
    def __init__(self, client: AsyncRequests) -> None:
        self._client = client

    async def simulate_payment(
        self,
        id: str,
        /,
        *,
        asset: str | None | NotGiven = NOT_GIVEN,
        network: str | None | NotGiven = NOT_GIVEN,
        amount: str | None | NotGiven = NOT_GIVEN,
        finality_steps: Sequence[Finality] | None | NotGiven = NOT_GIVEN,
        sender: str | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> Invoice:
        """Simulate a payment.
        A synthetic transfer to the invoice's deposit address, through the same door as real ones.
        """
        return await self._client.request(
            model(Invoice),
            "POST",
            f"/v1/test_helpers/invoices/{segment(id)}/simulate_payment",
            body={
                "asset": asset,
                "network": network,
                "amount": amount,
                "finality_steps": finality_steps,
                "sender": sender,
            },
            idempotency_key=idempotency_key,
        )

    async def reverse_payment(self, id: str, /, *, idempotency_key: str | None = None) -> Payment:
        """Undo a simulated payment, as a chain reorganisation would"""
        return await self._client.request(
            model(Payment),
            "POST",
            f"/v1/test_helpers/payments/{segment(id)}/reverse",
            idempotency_key=idempotency_key,
        )

    async def retrieve_clock(self) -> TestClock:
        """Read the test clock"""
        return await self._client.request(model(TestClock), "GET", "/v1/test_helpers/clock")

    async def advance_clock(
        self,
        *,
        advance_seconds: int | None | NotGiven = NOT_GIVEN,
        advance_to: datetime | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> TestClock:
        """Move the test clock forward.
        When it answers, everything that fell due has happened, in order.
        """
        return await self._client.request(
            model(TestClock),
            "POST",
            "/v1/test_helpers/clock",
            body={
                "advance_seconds": advance_seconds,
                "advance_to": advance_to,
            },
            idempotency_key=idempotency_key,
        )


class AsyncResources:
    """All resources of one client."""

    def __init__(self, client: AsyncRequests) -> None:
        self.invoices = AsyncInvoicesResource(client)
        self.refunds = AsyncRefundsResource(client)
        self.reconciliation = AsyncReconciliationResource(client)
        self.payments = AsyncPaymentsResource(client)
        self.events = AsyncEventsResource(client)
        self.webhook_deliveries = AsyncWebhookDeliveriesResource(client)
        self.merchant = AsyncMerchantResource(client)
        self.payment_links = AsyncPaymentLinksResource(client)
        self.customers = AsyncCustomersResource(client)
        self.plans = AsyncPlansResource(client)
        self.subscriptions = AsyncSubscriptionsResource(client)
        self.assets = AsyncAssetsResource(client)
        self.refund_claims = AsyncRefundClaimsResource(client)
        self.checkout = AsyncCheckoutResource(client)
        self.test_helpers = AsyncTestHelpersResource(client)
