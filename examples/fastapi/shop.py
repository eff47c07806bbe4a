"""A shop with one product: an order, its invoice, and the webhook that says it was paid."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from till_sdk import SIGNATURE_HEADER, AsyncTill, SignatureError, verify_webhook

PORT = int(os.environ.get("PORT", "3000"))
SHOP_URL = os.environ.get("SHOP_URL", f"http://127.0.0.1:{PORT}")
till = AsyncTill(url=os.environ["TILL_URL"], key=os.environ["TILL_SECRET_KEY"])


@dataclass
class Order:
    id: str
    invoice: str | None = None
    parcels: int = 0


# In a shop of yours these are tables, and marking an event as seen is part of the transaction that acts on it.
orders: dict[str, Order] = {}
seen_events: set[str] = set()


def page(title: str, body: str, head: str = "", status_code: int = 200) -> HTMLResponse:
    return HTMLResponse(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">{head}'
        f"<title>{title}</title><main><h1>{title}</h1>{body}</main></html>",
        status_code=status_code,
    )


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    # For trying it out. In live mode the address is set on the dashboard, by a person.
    await till.merchant.update_settings(webhook_url=f"{SHOP_URL}/webhooks")
    print(f"the shop is at {SHOP_URL}", flush=True)
    yield
    await till.close()


app = FastAPI(lifespan=lifespan)


@app.get("/")
async def shelf() -> HTMLResponse:
    return page("Tea", '<p>A tin of tea for $25.</p><form method="post" action="/orders"><button>Buy</button></form>')


@app.post("/orders")
async def buy() -> RedirectResponse:
    order = Order(str(uuid.uuid4()))
    orders[order.id] = order
    invoice = await till.invoices.create(
        amount="25.00",
        currency="USD",
        description="A tin of tea",
        customer_ref=order.id,
        return_url=f"{SHOP_URL}/orders/{order.id}",
        # One order has one invoice, however often this is tried.
        idempotency_key=f"order-{order.id}",
    )
    order.invoice = invoice.id
    return RedirectResponse(invoice.checkout_url, status_code=303)


@app.get("/orders/{order_id}")
async def show(order_id: str) -> HTMLResponse:
    order = orders.get(order_id)
    if order is None:
        return page("No such order", "", status_code=404)
    if order.parcels > 0:
        return page("Thank you", f"<p>Paid. {order.parcels} parcel is on its way.</p>")
    return page("Your order", "<p>Waiting for the payment.</p>", '<meta http-equiv="refresh" content="1">')


@app.post("/webhooks")
async def webhook(request: Request) -> Response:
    # The body as it came: the signature is over its bytes.
    body, signature = await request.body(), request.headers.get(SIGNATURE_HEADER)
    try:
        event = verify_webhook(body, signature, os.environ["TILL_WEBHOOK_SECRET"])
    except SignatureError:
        return Response(status_code=400)
    # Deliveries repeat.
    if event.id not in seen_events:
        seen_events.add(event.id)
        if event.type == "invoice.paid" or event.type == "invoice.overpaid" or event.type == "invoice.paid_late":
            invoice = event.data.object
            order = orders.get(invoice.customer_ref or "")
            # An invoice may say more than once that it is paid: a parcel is sent once.
            if order is not None and order.invoice == invoice.id and order.parcels == 0:
                order.parcels = 1
    return Response(status_code=204)


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
