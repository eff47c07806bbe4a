//! The error codes that an endpoint has by itself, beside those of all endpoints like it.

use serde_json::Value;
use till_core::error::Code;

/// What an endpoint answers with beside what all of its kind do, by the name of its operation.
pub const OWN: &[(&str, &[Code])] = {
    use Code::*;
    &[
        // The API's resources.
        (
            "createInvoice",
            &[
                CurrencyUnsupported,
                AssetUnavailable,
                PriceUnavailable,
                DepositAddressesExhausted,
            ],
        ),
        ("cancelInvoice", &[InvoiceNotCancellable]),
        (
            "resolveReview",
            &[ReviewNotOpen, ReviewRequiresDashboard, StepUpRequired],
        ),
        (
            "createRefund",
            &[
                AmountInvalid,
                AmountRequired,
                AssetNotReceived,
                NothingReceived,
                RefundExceedsReceived,
            ],
        ),
        ("cancelRefund", &[RefundAlreadySent]),
        ("markRefundSent", &[RefundNotReady]),
        ("replayWebhookDelivery", &[WebhookUrlMissing]),
        (
            "updateSettings",
            &[
                AssetUnavailable,
                DestinationImmutable,
                LiveChangeRequiresDashboard,
                WebhookUrlForbidden,
            ],
        ),
        ("rollWebhookSecret", &[LiveChangeRequiresDashboard]),
        (
            "createPaymentLink",
            &[CurrencyUnsupported, AssetUnavailable],
        ),
        (
            "updatePaymentLink",
            &[CurrencyUnsupported, AssetUnavailable],
        ),
        ("createCustomer", &[EmailInvalid]),
        (
            "topUpCustomer",
            &[
                CurrencyUnsupported,
                AssetUnavailable,
                DepositAddressesExhausted,
            ],
        ),
        ("createPlan", &[CurrencyUnsupported, AssetUnavailable]),
        (
            "createSubscription",
            &[PlanArchived, ResourceMissing, SubscriptionInvoiceFailed],
        ),
        ("cancelSubscription", &[SubscriptionState]),
        ("pauseSubscription", &[SubscriptionState]),
        (
            "resumeSubscription",
            &[SubscriptionState, SubscriptionInvoiceFailed],
        ),
        // On the demo server.
        ("simulatePayment", &[AlreadyPaid, InvoiceCancelled]),
        // Payers'.
        ("retrieveRefundClaim", &[ClaimExpired, ClaimCancelled]),
        (
            "claimRefund",
            &[
                AddressInvalid,
                NetworkUnavailable,
                ClaimExpired,
                ClaimCancelled,
                ClaimAlreadySent,
                ClaimAlreadySubmitted,
            ],
        ),
        (
            "notifyPayer",
            &[
                EmailInvalid,
                CheckoutSessionInvalid,
                NotifyLimitReached,
                NotifySessionMismatch,
                FeatureUnavailable,
            ],
        ),
        (
            "pickPaymentOption",
            &[
                AssetNotOffered,
                InvoiceNotAwaitingPayment,
                PriceUnavailable,
                DepositAddressesExhausted,
                PaymentLinkBusy,
            ],
        ),
        (
            "bindWallet",
            &[
                AssetNotOffered,
                SenderInvalid,
                WalletUnsupported,
                InvoiceNotAwaitingPayment,
                WalletBindingLimit,
                UniqueAmountUnavailable,
                FeatureUnavailable,
            ],
        ),
        (
            "createLinkInvoice",
            &[
                AmountTooSmall,
                AmountTooLarge,
                ParameterMissing,
                PaymentLinkInactive,
                PaymentLinkExpired,
                PaymentLinkSoldOut,
                PaymentLinkFullyReserved,
                PaymentLinkBusy,
                AssetUnavailable,
            ],
        ),
        // Getting into the dashboard.
        ("requestSignInLink", &[EmailInvalid, TooManyAttempts]),
        ("confirmSignInLink", &[MagicLinkInvalid, TooManyAttempts]),
        ("signUp", &[EmailInvalid, TooManySignups]),
        ("confirmSignUp", &[SignupLinkInvalid, TooManyAttempts]),
        (
            "signInWithPasskey",
            &[CeremonyExpired, PasskeyFailed, TooManyAttempts],
        ),
        ("beginSecondFactor", &[PasskeyRequired]),
        (
            "giveSecondFactor",
            &[
                CeremonyExpired,
                PasskeyFailed,
                TooManyAttempts,
                TotpNotSetUp,
            ],
        ),
        ("signInToDemo", &[RouteNotFound]),
        ("openInvite", &[InviteInvalid, TooManyAttempts]),
        (
            "acceptInvite",
            &[
                InviteInvalid,
                SessionMissing,
                CsrfFailed,
                SecondFactorRequired,
                AlreadyMember,
                TooManyAttempts,
            ],
        ),
        // The user's own.
        (
            "registerPasskey",
            &[
                CeremonyExpired,
                PasskeyFailed,
                PasskeyAlreadyRegistered,
                TooManyAttempts,
            ],
        ),
        ("setUpTotp", &[TotpAlreadyEnabled]),
        ("confirmTotp", &[TotpNotSetUp, TooManyAttempts]),
        ("disableTotp", &[TotpNotSetUp, TooManyAttempts]),
        ("createOrganization", &[PermissionDenied, TooManyAttempts]),
        (
            "beginConfirmation",
            &[NoOrganization, PasskeyRequired, ResourceMissing],
        ),
        (
            "answerConfirmation",
            &[CeremonyExpired, PasskeyFailed, TooManyAttempts],
        ),
        // The organisation's.
        (
            "changeMemberRole",
            &[CannotChangeSelf, LastOwner, NoChange, RoleNotAssignable],
        ),
        (
            "removeMember",
            &[CannotChangeSelf, LastOwner, RoleNotAssignable],
        ),
        ("leaveOrganization", &[LastOwner]),
        (
            "createInvite",
            &[
                AlreadyMember,
                EmailInvalid,
                RoleNotAssignable,
                TooManyAttempts,
            ],
        ),
        (
            "updateApplication",
            &[ApplicationApproved, ApplicationPending, EmailInvalid],
        ),
        (
            "submitApplication",
            &[ApplicationApproved, ApplicationPending],
        ),
        ("withdrawApplication", &[ApplicationNotReviewable]),
        ("createApiKey", &[DestinationsNotReady]),
        (
            "createChange",
            &[
                AddressInvalid,
                DestinationInvalid,
                NetworkInvalid,
                NetworkNotEnabled,
                NoChange,
                ChangePending,
                WebhookUrlForbidden,
            ],
        ),
        ("cancelChange", &[ChangeNotPending]),
        // The operator's.
        (
            "approveApplication",
            &[ApplicationNotReviewable, OperatorConflict],
        ),
        (
            "rejectApplication",
            &[ApplicationNotReviewable, OperatorConflict],
        ),
        (
            "createOperatedOrganization",
            &[EmailInvalid, TooManyAttempts],
        ),
        ("disableOrganization", &[NoChange, OperatorConflict]),
        ("enableOrganization", &[NoChange, OperatorConflict]),
    ]
};

/// Those that its operation declares by itself.
pub fn own(operation: &Value) -> &'static [Code] {
    let id = operation["operationId"].as_str().unwrap_or_default();
    let own = OWN.iter().find(|(of, _)| *of == id);
    own.map_or(&[], |(_, codes)| codes)
}
