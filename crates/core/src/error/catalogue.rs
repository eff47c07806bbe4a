//! The catalogue: one row per public code. Summaries and remedies are shown to callers and on the
//! documentation pages; text between backticks is set as code there.

use super::kinds::{ErrorType, Section};

struct Entry {
    wire: &'static str,
    section: Section,
    kind: ErrorType,
    status: u16,
    summary: &'static str,
    remedy: &'static str,
}

/// Turns the rows below into the enum and its lookups, so that a code is written down once.
/// A row reads: variant, wire string, kind, status, when it happens, what to do about it.
macro_rules! catalogue {
    ($($section:ident { $($code:ident $wire:literal $kind:ident $status:literal $summary:literal $remedy:literal)+ })+) => {
        /// A public error code. Clients branch on its wire string, so it never changes.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Code {
            $($(#[doc = $summary] $code,)+)+
        }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Code] = &[$($(Code::$code,)+)+];

            fn entry(self) -> &'static Entry {
                match self {
                    $($(Code::$code => &Entry {
                        wire: $wire,
                        section: Section::$section,
                        kind: ErrorType::$kind,
                        status: $status,
                        summary: $summary,
                        remedy: $remedy,
                    },)+)+
                }
            }

            pub fn parse(text: &str) -> Option<Code> {
                match text {
                    $($($wire => Some(Code::$code),)+)+
                    _ => None,
                }
            }
        }
    };
}

impl Code {
    pub fn as_str(self) -> &'static str {
        self.entry().wire
    }

    pub fn section(self) -> Section {
        self.entry().section
    }

    pub fn kind(self) -> ErrorType {
        self.entry().kind
    }

    /// The status unless the place of the answer overrides it (see `Refusal::status`).
    pub fn status(self) -> u16 {
        self.entry().status
    }

    /// One sentence: when this happens.
    pub fn summary(self) -> &'static str {
        self.entry().summary
    }

    /// What the caller should do.
    pub fn remedy(self) -> &'static str {
        self.entry().remedy
    }
}

catalogue! {
    Requests {
        BodyInvalidJson "body_invalid_json" InvalidRequest 400
            "The request body is not a valid JSON object."
            "Send one JSON object in UTF-8, without duplicate keys and with nothing after it. A body that does not arrive in time is answered with status 408."
        BodyTooLarge "body_too_large" InvalidRequest 413
            "The request body is larger than the server accepts."
            "Send a smaller body; no request of this API needs more than a few kilobytes."
        ContentTypeInvalid "content_type_invalid" InvalidRequest 415
            "A body was sent without `Content-Type: application/json`."
            "Add the header `Content-Type: application/json`, or leave the body out where none is needed."
        MethodNotAllowed "method_not_allowed" InvalidRequest 405
            "This path exists, but not with this HTTP method."
            "Use one of the methods named in the `Allow` header of the answer."
        ParameterInvalid "parameter_invalid" InvalidRequest 400
            "A parameter has a value that is not accepted."
            "Correct the parameter named in `param`; the message says what is wrong with it. Headers beyond the size limit are answered with status 431."
        ParameterMissing "parameter_missing" InvalidRequest 400
            "A required parameter is missing."
            "Send the parameter named in `param`."
        ParameterUnknown "parameter_unknown" InvalidRequest 400
            "The request has a parameter that this endpoint does not know."
            "Remove the parameter named in `param`, or check its spelling; unknown names are refused so that a typing error cannot pass unnoticed."
        ResourceMissing "resource_missing" InvalidRequest 404
            "This account has no such object in the mode of the key."
            "Check the id, and that the key is of the mode (test or live) in which the object was created. For an id sent inside a body the status is 400."
        RouteNotFound "route_not_found" InvalidRequest 404
            "No endpoint has this path."
            "Check the path; every endpoint of the API begins with `/v1/`."
    }
    Keys {
        ApiKeyMissing "api_key_missing" Authentication 401
            "The request carries no API key."
            "Send `Authorization: Bearer` followed by your key."
        ApiKeyInvalid "api_key_invalid" Authentication 401
            "The API key is not known: it is mistyped, or was rolled."
            "Check that the whole key was copied; if it was rolled, use the new one."
        AuthorizationHeaderInvalid "authorization_header_invalid" Authentication 401
            "The `Authorization` header is neither Bearer nor Basic, or cannot be read."
            "Send `Authorization: Bearer` followed by the key, or HTTP Basic with the key as the user name."
        SecretKeyInUrl "secret_key_in_url" InvalidRequest 400
            "A secret key was sent as part of a URL."
            "Treat the key as exposed and roll it, because URLs end up in logs; then send the new key in the `Authorization` header."
        PublishableKeyNotAllowed "publishable_key_not_allowed" Permission 403
            "This endpoint needs a secret key, and a publishable key was sent."
            "Call it from your server with a secret key; publishable keys work on the checkout endpoints only."
        ApiKeyPermissionDenied "api_key_permission_denied" Permission 403
            "The team member who created this key does not have the right to do this."
            "Use a key created by someone whose role allows it, or have the role changed."
        LivemodeDisabled "livemode_disabled" InvalidRequest 409
            "A live key was sent to a server that runs in test mode only."
            "Use a test key here, or have the operator switch live mode on."
        ModeNotConfigured "mode_not_configured" InvalidRequest 409
            "The account is not set up in the mode of this key."
            "Register payout destinations for this mode first, or use a key of the other mode."
        TestModeOnly "test_mode_only" Permission 403
            "Test helpers can only be called with a secret test key."
            "Call it with a secret test key; live mode has no test helpers. On the demo server the status is 409."
    }
    Idempotency {
        IdempotencyKeyRequired "idempotency_key_required" InvalidRequest 400
            "A POST request was sent without an `Idempotency-Key` header."
            "Send a fresh random key, for example a UUID, with every new POST, and the same key again when you retry it."
        IdempotencyKeyInvalid "idempotency_key_invalid" InvalidRequest 400
            "The `Idempotency-Key` is empty, longer than 255 characters, or not visible ASCII."
            "Use 1 to 255 visible ASCII characters, without spaces; a UUID will do."
        IdempotencyKeyReused "idempotency_key_reused" Idempotency 409
            "This `Idempotency-Key` was already used for another request."
            "Use a new key for a new request; a retry must repeat the method, the path and the body exactly."
        IdempotencyKeyInUse "idempotency_key_in_use" Idempotency 409
            "A request with this `Idempotency-Key` is still being processed."
            "Wait a moment and send the same request with the same key again to get the first result."
    }
    Invoices {
        CurrencyUnsupported "currency_unsupported" InvalidRequest 400
            "The currency is unknown, or the assets cannot be priced in it."
            "Price a stablecoin in its own currency only (USD for USDC and USDT, EUR for EURC), or choose other assets."
        AssetUnavailable "asset_unavailable" InvalidRequest 400
            "An asset is unknown, belongs to the other mode, is on a network for which the account has no payout address, or, in live mode, on one that this server has no endpoints of."
            "See `GET /v1/assets` for what can be offered. Remove the asset, or register a payout address for its network; without `assets` in the request, correct `default_assets` in the settings."
        PriceUnavailable "price_unavailable" InvalidRequest 409
            "There is no current price for a volatile asset."
            "Try again shortly, or offer stablecoins only."
        DepositAddressesExhausted "deposit_addresses_exhausted" InvalidRequest 409
            "No deposit address is free: all of them are leased or cooling down, or the Bitcoin wallet's gap limit is reached."
            "Cancel invoices that are no longer needed, wait for addresses to become free, or have the operator enlarge the pool."
        InvoiceNotAwaitingPayment "invoice_not_awaiting_payment" InvalidRequest 409
            "The invoice no longer awaits payment: it is paid, expired, cancelled or under review."
            "Retrieve the invoice to see its status; create a new one if there is still something to pay."
        InvoiceNotCancellable "invoice_not_cancellable" InvalidRequest 409
            "The invoice cannot be cancelled, because a payment was already seen or it is already closed."
            "Retrieve the invoice to see its status; what was received can be refunded instead."
        ReviewNotOpen "review_not_open" InvalidRequest 409
            "The invoice is not under review, so there is nothing to decide."
            "Retrieve the invoice; someone may have resolved the review already."
        ReviewRequiresDashboard "review_requires_dashboard" InvalidRequest 409
            "A risk hold on a live payment cannot be accepted with an API key."
            "Accept it in the dashboard, or have the operator accept it from the server's shell; an API key may always reject, and may accept a `manual_review` hold."
    }
    Checkout {
        AssetNotOffered "asset_not_offered" InvalidRequest 400
            "The asset is not one of the invoice's options."
            "Choose an `asset` from `payment_options` or `pending_options` of the invoice."
        WalletUnsupported "wallet_unsupported" InvalidRequest 400
            "Wallet payments do not exist on this network."
            "Pay to the deposit address, or choose an option on an EVM network or on TRON."
        SenderInvalid "sender_invalid" InvalidRequest 400
            "The sender is not a valid address on this network."
            "Send the connected wallet's address as the wallet shows it: `0x…` on EVM networks, `T…` on TRON."
        WalletBindingLimit "wallet_binding_limit" InvalidRequest 409
            "This invoice already has 5 wallets bound on this network."
            "Pay from a wallet that is already bound, or to the deposit address."
        UniqueAmountUnavailable "unique_amount_unavailable" InvalidRequest 409
            "Too many payments of this same amount to the same payout address are open."
            "Try again when some of them are paid or have expired, or pay to the deposit address."
        CheckoutSessionInvalid "checkout_session_invalid" InvalidRequest 400
            "The `session_token` is not a checkout session of this invoice."
            "Load the checkout invoice again and send the `session_token` it carries."
        EmailInvalid "email_invalid" InvalidRequest 400
            "This is not an email address."
            "Correct the address, in the form `name@example.com`."
        NotifyLimitReached "notify_limit_reached" InvalidRequest 409
            "The invoice already has as many different email addresses as are allowed."
            "Use one of the addresses given before."
        NotifySessionMismatch "notify_session_mismatch" InvalidRequest 409
            "The invoice's email address was given in another checkout session."
            "Change it in the browser session in which it was first given."
        FeatureUnavailable "feature_unavailable" InvalidRequest 409
            "This server does not offer the feature."
            "Read `capabilities` of the checkout invoice before offering a feature; the operator can configure what is missing."
    }
    Refunds {
        AmountInvalid "amount_invalid" InvalidRequest 400
            "The amount is not a positive decimal amount of the asset."
            "Send a plain decimal string above zero, in whole tokens, with no more decimals than the asset has."
        AmountRequired "amount_required" InvalidRequest 400
            "No amount was sent, and the invoice was not overpaid, so there is no default."
            "Send the `amount` to refund."
        AssetNotReceived "asset_not_received" InvalidRequest 400
            "The asset is unknown, or the invoice neither offered nor received it."
            "Refund an asset listed in the invoice's `amounts_received`, or one of its refundable payments."
        NothingReceived "nothing_received" InvalidRequest 409
            "The invoice has received nothing in this asset."
            "Wait until the payment is final, or name the asset that did arrive."
        RefundExceedsReceived "refund_exceeds_received" InvalidRequest 409
            "The amount is more than was received, less the refunds already open or sent."
            "Refund a smaller amount, or cancel an open refund of this invoice first."
        RefundNotReady "refund_not_ready" InvalidRequest 409
            "Only a refund with the status `ready_to_send` can be marked sent."
            "Retrieve the refund: the payer has to claim it first, and one that is `in_review` must not be paid. A payout that was made before that is recorded where the chain shows it."
        RefundAlreadySent "refund_already_sent" InvalidRequest 409
            "The refund was already sent and can no longer be cancelled."
            "Leave it as it is; funds that left the wallet cannot be called back."
        NetworkUnavailable "network_unavailable" InvalidRequest 400
            "The refund cannot be received on this network."
            "Choose one of the `networks` listed in the refund claim."
        ClaimExpired "claim_expired" InvalidRequest 409
            "The refund link has expired: it was open for 30 days."
            "Ask the merchant for a new refund."
        ClaimCancelled "claim_cancelled" InvalidRequest 409
            "The merchant cancelled this refund."
            "Ask the merchant whether another refund will be made."
        ClaimAlreadySent "claim_already_sent" InvalidRequest 409
            "This refund was already sent."
            "Look for the transfer at the address that was given when the refund was claimed."
        ClaimAlreadySubmitted "claim_already_submitted" InvalidRequest 409
            "A payout address was already given, and a different one cannot replace it."
            "If the address is wrong, ask the merchant to cancel the refund and create a new one."
    }
    PaymentLinks {
        AmountTooSmall "amount_too_small" InvalidRequest 400
            "The amount is below the link's `min_amount`."
            "Choose an amount between the link's `min_amount` and `max_amount`."
        AmountTooLarge "amount_too_large" InvalidRequest 400
            "The amount is above the link's `max_amount`."
            "Choose an amount between the link's `min_amount` and `max_amount`."
        PaymentLinkInactive "payment_link_inactive" InvalidRequest 409
            "The payment link is switched off."
            "The merchant can switch it on again by setting `active` to true."
        PaymentLinkExpired "payment_link_expired" InvalidRequest 409
            "The payment link's `expires_at` has passed."
            "The merchant can set a later `expires_at`, or share another link."
        PaymentLinkSoldOut "payment_link_sold_out" InvalidRequest 409
            "Every unit of the payment link has been paid for."
            "The merchant can raise `quantity_limit`."
        PaymentLinkFullyReserved "payment_link_fully_reserved" InvalidRequest 409
            "Every remaining unit of the payment link is reserved by an unpaid invoice."
            "Try again later: a unit is released when such an invoice expires or is cancelled."
        PaymentLinkBusy "payment_link_busy" InvalidRequest 409
            "Too many unpaid invoices are open: 50 for one link, 200 across all links of the account, or as many as one client may have."
            "Try again when some of them are paid or have expired."
    }
    Subscriptions {
        PlanArchived "plan_archived" InvalidRequest 409
            "The plan is archived and takes no new subscriptions."
            "Choose an active plan; subscriptions that exist on this one keep renewing."
        SubscriptionState "subscription_state" InvalidRequest 409
            "The subscription's status does not allow this action."
            "Retrieve the subscription to see its status; a cancelled one cannot be resumed, and one that was never paid can only be cancelled at once."
        SubscriptionInvoiceFailed "subscription_invoice_failed" InvalidRequest 409
            "The invoice of the subscription could not be created."
            "The message says why; correct it (often the plan's assets, or a missing payout address) and try again."
    }
    Settings {
        DestinationImmutable "destination_immutable" Permission 403
            "Payout destinations cannot be changed with an API key."
            "Leave `registered_destinations` out of the request; change destinations in the dashboard, or have the operator add one from the server's shell."
        LiveChangeRequiresDashboard "live_change_requires_dashboard" Permission 403
            "In live mode an API key cannot change the webhook URL or roll the webhook secret."
            "Make the change in the dashboard, or have the operator make it from the server's shell."
        WebhookUrlForbidden "webhook_url_forbidden" InvalidRequest 400
            "The webhook URL is not https, carries credentials, or leads to a private or local address."
            "Use an `https://` URL without user name or password whose host resolves to public addresses only."
        WebhookUrlMissing "webhook_url_missing" InvalidRequest 409
            "There is no webhook URL to deliver to."
            "Set `webhook_url` in the merchant settings, then replay the delivery."
    }
    Server {
        RateLimited "rate_limited" RateLimit 429
            "Too many requests were sent in a short time."
            "Wait the number of seconds in the `Retry-After` header, then repeat the request with the same `Idempotency-Key`."
        InternalError "internal_error" Api 500
            "Something failed on the server."
            "Repeat the request with the same `Idempotency-Key`; if it keeps failing, give the operator the `request_id`."
        ServiceUnavailable "service_unavailable" Api 503
            "The service cannot take requests for the moment."
            "Repeat the request with the same `Idempotency-Key`, waiting longer after every attempt."
    }
    Dashboard {
        AccountDisabled "account_disabled" Permission 403
            "This user account is disabled."
            "Ask an owner of the organization, or the operator of the server."
        CannotChangeSelf "cannot_change_self" Permission 403
            "Nobody can change their own role or remove themselves."
            "Ask another owner or admin to do it."
        CsrfFailed "csrf_failed" Permission 403
            "The CSRF header is missing or does not belong to the session."
            "Reload the page and try again."
        NoOrganization "no_organization" Permission 403
            "The signed-in user belongs to no organization."
            "Accept an invitation, or apply with an organization of your own."
        OperatorConflict "operator_conflict" Permission 403
            "An operator cannot decide on an organization they belong to."
            "Have another operator decide."
        OriginNotAllowed "origin_not_allowed" Permission 403
            "The request comes from a page of another origin."
            "Use the dashboard at its own address."
        PermissionDenied "permission_denied" Permission 403
            "The user's role does not allow this."
            "Ask an owner or admin to do it, or to change the role."
        RoleNotAssignable "role_not_assignable" Permission 403
            "This role cannot be given by the signed-in user."
            "Choose a role no higher than your own, or ask an owner."
        SecondFactorRequired "second_factor_required" Permission 403
            "The session has passed only the first step of signing in."
            "Finish signing in with a passkey or an authenticator code."
        StepUpRequired "step_up_required" Permission 403
            "This change has to be confirmed with a passkey first."
            "Confirm with a passkey, then repeat the request."
        AddressInvalid "address_invalid" InvalidRequest 400
            "This is not an address at which funds can be received on the network."
            "Check the address and the network; a refund or payout goes to a wallet of your own, not to a contract, a deposit address or the zero address."
        DestinationInvalid "destination_invalid" InvalidRequest 400
            "This cannot serve as a payout destination for the network."
            "Give an address of your own wallet in the network's form, or an account public key for Bitcoin."
        NetworkInvalid "network_invalid" InvalidRequest 400
            "The network is unknown, or belongs to the other mode."
            "Send the CAIP-2 identifier of a network that this server lists for the mode."
        NetworkNotEnabled "network_not_enabled" InvalidRequest 400
            "The network is known, but not enabled on this server."
            "Choose an enabled network, or ask the operator to enable it."
        NoChange "no_change" InvalidRequest 400
            "The request would change nothing."
            "Send a value that differs from the current one."
        AlreadyMember "already_member" InvalidRequest 409
            "This person is already a member of the organization."
            "Change the member's role instead of inviting them again."
        ApplicationApproved "application_approved" InvalidRequest 409
            "The application for live mode is already approved."
            "Go on with setting up live mode."
        ApplicationPending "application_pending" InvalidRequest 409
            "An application for live mode is already waiting for review."
            "Wait for the operator's decision."
        ApplicationNotApproved "application_not_approved" InvalidRequest 409
            "Live mode needs an approved application, and there is none yet."
            "Apply for live mode, or wait for the operator's decision."
        ApplicationNotReviewable "application_not_reviewable" InvalidRequest 409
            "The application is not waiting for review."
            "Reload the list; it may have been decided or withdrawn already."
        ChangePending "change_pending" InvalidRequest 409
            "A change of this setting is already waiting to take effect."
            "Wait until it takes effect, or cancel it first."
        ChangeNotPending "change_not_pending" InvalidRequest 409
            "The change is not waiting any more: it took effect or was cancelled."
            "Reload the settings to see what applies."
        DestinationsNotReady "destinations_not_ready" InvalidRequest 409
            "The payout destinations are not all in effect yet."
            "Register the missing destinations, and wait until pending changes have taken effect."
        LastOwner "last_owner" InvalidRequest 409
            "The organization would be left without an owner."
            "Make another member an owner first."
        MfaNotPending "mfa_not_pending" InvalidRequest 409
            "No sign-in of this session is waiting for a second factor."
            "Start signing in again."
        PasskeyAlreadyRegistered "passkey_already_registered" InvalidRequest 409
            "This passkey is already registered."
            "Use it to sign in, or register another device."
        PasskeyRequired "passkey_required" InvalidRequest 409
            "This needs a passkey, and the user has none."
            "Register a passkey in the security settings first."
        TotpAlreadyEnabled "totp_already_enabled" InvalidRequest 409
            "Authenticator codes are already switched on for this user."
            "Switch them off before setting them up anew."
        TotpNotSetUp "totp_not_set_up" InvalidRequest 409
            "Authenticator codes are not set up for this user."
            "Set them up first, or use a passkey."
        CeremonyExpired "ceremony_expired" Authentication 401
            "The passkey prompt took too long, or was already answered."
            "Ask for the passkey prompt again and answer it within its time."
        InviteInvalid "invite_invalid" Authentication 401
            "The invitation is unknown, used, withdrawn or expired."
            "Ask for a new invitation."
        MagicLinkInvalid "magic_link_invalid" Authentication 401
            "The sign-in link is unknown, used or expired."
            "Ask for a new sign-in link, and open the latest one."
        PasskeyFailed "passkey_failed" Authentication 401
            "The passkey could not be verified."
            "Try again with a passkey that is registered for this user."
        SessionExpired "session_expired" Authentication 401
            "The session has ended."
            "Sign in again."
        SessionMissing "session_missing" Authentication 401
            "The request carries no dashboard session."
            "Sign in first; dashboard endpoints do not take API keys."
        SignupLinkInvalid "signup_link_invalid" Authentication 401
            "The sign-up link is unknown, used or expired."
            "Sign up again to get a new link."
        TooManyAttempts "too_many_attempts" RateLimit 429
            "Too many failed or repeated attempts were made."
            "Wait the number of seconds in the `Retry-After` header before the next attempt."
        TooManySignups "too_many_signups" RateLimit 429
            "Too many sign-ups came from here in a short time."
            "Wait the number of seconds in the `Retry-After` header before signing up."
    }
    Demo {
        AlreadyPaid "already_paid" InvalidRequest 409
            "On the demo server, a payment was already simulated for this invoice."
            "Create another invoice to simulate another payment."
        InvoiceCancelled "invoice_cancelled" InvalidRequest 409
            "The invoice is cancelled, and the demo server does not simulate late payments."
            "Create another invoice; late payments can be tried with test mode on a full server."
    }
}
