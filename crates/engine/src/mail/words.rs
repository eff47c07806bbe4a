//! What mails say, in every language they are written in.

use super::locale::Locale;

/// A sentence about the merchant, and the same for a merchant without a name. `{merchant}` is the name.
#[derive(Clone, Copy, Debug)]
pub struct MerchantSentence {
    pub with: &'static str,
    pub without: &'static str,
}

impl MerchantSentence {
    pub fn say(self, merchant: Option<&str>) -> String {
        match merchant {
            Some(name) => self.with.replace("{merchant}", name),
            None => self.without.to_owned(),
        }
    }
}

#[derive(Debug)]
pub struct Words {
    pub receipt_subject: MerchantSentence,
    pub receipt_opening: MerchantSentence,
    pub refund_subject: MerchantSentence,
    pub refund_opening: MerchantSentence,
    /// How the refund is claimed, and that this mail is not the way.
    pub refund_next: &'static str,
    pub reminder_subject: MerchantSentence,
    pub reminder_opening: MerchantSentence,
    /// Where to pay, and that this mail is not the way.
    pub reminder_next: &'static str,
    pub reminder_why: &'static str,
    pub plan: &'static str,
    pub pay_by: &'static str,
    pub invoice: &'static str,
    pub invoice_amount: &'static str,
    pub paid: &'static str,
    pub refund: &'static str,
    pub network: &'static str,
    pub transaction: &'static str,
    pub date: &'static str,
    pub why: &'static str,
    /// Where a name or a plan held something like an address.
    pub left_out: &'static str,
    /// Before the subject of mails about test payments.
    pub test_mark: &'static str,
    pub test: &'static str,
}

pub fn words(locale: Locale) -> &'static Words {
    match locale {
        Locale::En => &EN,
        Locale::Es => &ES,
        Locale::De => &DE,
        Locale::Fr => &FR,
        Locale::Pt => &PT,
    }
}

static EN: Words = Words {
    receipt_subject: MerchantSentence {
        with: "Receipt for your payment to {merchant}",
        without: "Receipt for your payment",
    },
    receipt_opening: MerchantSentence {
        with: "{merchant} has received your payment. Thank you.",
        without: "Your payment has been received. Thank you.",
    },
    refund_subject: MerchantSentence {
        with: "Refund of your payment to {merchant}",
        without: "Refund of your payment",
    },
    refund_opening: MerchantSentence {
        with: "{merchant} has created a refund for your payment.",
        without: "A refund has been created for your payment.",
    },
    refund_next: "The merchant will send you a link with which you can claim it. This message contains no link \
                  on purpose: trust only the one you receive from the merchant.",
    reminder_subject: MerchantSentence {
        with: "Your renewal with {merchant} is due",
        without: "Your renewal is due",
    },
    reminder_opening: MerchantSentence {
        with: "Your subscription with {merchant} is about to renew. An invoice for the next period is \
          ready to be paid.",
        without: "Your subscription is about to renew. An invoice for the next period is ready to be paid.",
    },
    reminder_next: "Pay it where you manage your subscription. This message contains no link on purpose: \
          trust only the merchant's own pages.",
    reminder_why: "You are receiving this message because this address belongs to a subscription. Please do \
          not reply to it.",
    plan: "Subscription",
    pay_by: "Pay by",
    invoice: "Invoice",
    invoice_amount: "Invoice amount",
    paid: "Paid",
    refund: "Refund",
    network: "Network",
    transaction: "Transaction",
    date: "Date",
    why: "You are receiving this message because this address was entered on the payment page of this invoice. \
          Please do not reply to it.",
    left_out: "Something that looks like an address was left out of the merchant's text. Never send money to an address from a message.",
    test_mark: "[Test]",
    test: "This is about a test payment. No real money moves.",
};

static ES: Words = Words {
    receipt_subject: MerchantSentence {
        with: "Recibo de su pago a {merchant}",
        without: "Recibo de su pago",
    },
    receipt_opening: MerchantSentence {
        with: "{merchant} ha recibido su pago. Gracias.",
        without: "Su pago se ha recibido. Gracias.",
    },
    refund_subject: MerchantSentence {
        with: "Reembolso de su pago a {merchant}",
        without: "Reembolso de su pago",
    },
    refund_opening: MerchantSentence {
        with: "{merchant} ha creado un reembolso de su pago.",
        without: "Se ha creado un reembolso de su pago.",
    },
    refund_next: "El comercio le enviará un enlace con el que podrá solicitarlo. Este mensaje no contiene \
                  ningún enlace a propósito: confíe únicamente en el que reciba del comercio.",
    reminder_subject: MerchantSentence {
        with: "Su renovación con {merchant} está pendiente",
        without: "Su renovación está pendiente",
    },
    reminder_opening: MerchantSentence {
        with: "Su suscripción con {merchant} está a punto de renovarse. La factura del próximo periodo \
          está lista para pagarse.",
        without: "Su suscripción está a punto de renovarse. La factura del próximo periodo está lista para \
          pagarse.",
    },
    reminder_next: "Páguela donde gestiona su suscripción. Este mensaje no contiene ningún enlace a \
          propósito: confíe únicamente en las páginas del comercio.",
    reminder_why: "Recibe este mensaje porque esta dirección pertenece a una suscripción. Por favor, no \
          responda a este mensaje.",
    plan: "Suscripción",
    pay_by: "Pagar antes de",
    invoice: "Factura",
    invoice_amount: "Importe de la factura",
    paid: "Pagado",
    refund: "Reembolso",
    network: "Red",
    transaction: "Transacción",
    date: "Fecha",
    why: "Recibe este mensaje porque se introdujo esta dirección en la página de pago de esta factura. \
          Por favor, no responda a este mensaje.",
    left_out: "Se ha omitido algo que parece una dirección en el texto del comercio. No envíes nunca dinero a una dirección de un mensaje.",
    test_mark: "[Prueba]",
    test: "Se trata de un pago de prueba. No se mueve dinero real.",
};

static DE: Words = Words {
    receipt_subject: MerchantSentence {
        with: "Beleg für Ihre Zahlung an {merchant}",
        without: "Beleg für Ihre Zahlung",
    },
    receipt_opening: MerchantSentence {
        with: "{merchant} hat Ihre Zahlung erhalten. Vielen Dank.",
        without: "Ihre Zahlung ist eingegangen. Vielen Dank.",
    },
    refund_subject: MerchantSentence {
        with: "Erstattung Ihrer Zahlung an {merchant}",
        without: "Erstattung Ihrer Zahlung",
    },
    refund_opening: MerchantSentence {
        with: "{merchant} hat eine Erstattung für Ihre Zahlung veranlasst.",
        without: "Für Ihre Zahlung wurde eine Erstattung veranlasst.",
    },
    refund_next: "Der Händler sendet Ihnen einen Link, über den Sie die Erstattung abrufen können. Diese \
                  Nachricht enthält absichtlich keinen Link: Vertrauen Sie nur dem, den Sie vom Händler erhalten.",
    reminder_subject: MerchantSentence {
        with: "Ihre Verlängerung bei {merchant} steht an",
        without: "Ihre Verlängerung steht an",
    },
    reminder_opening: MerchantSentence {
        with: "Ihr Abonnement bei {merchant} verlängert sich in Kürze. Die Rechnung für den nächsten \
          Zeitraum kann bezahlt werden.",
        without: "Ihr Abonnement verlängert sich in Kürze. Die Rechnung für den nächsten Zeitraum kann \
          bezahlt werden.",
    },
    reminder_next: "Bezahlen Sie dort, wo Sie Ihr Abonnement verwalten. Diese Nachricht enthält absichtlich \
          keinen Link: Vertrauen Sie nur den Seiten des Händlers.",
    reminder_why: "Sie erhalten diese Nachricht, weil diese Adresse zu einem Abonnement gehört. Bitte \
          antworten Sie nicht darauf.",
    plan: "Abonnement",
    pay_by: "Zu zahlen bis",
    invoice: "Rechnung",
    invoice_amount: "Rechnungsbetrag",
    paid: "Bezahlt",
    refund: "Erstattung",
    network: "Netzwerk",
    transaction: "Transaktion",
    date: "Datum",
    why: "Sie erhalten diese Nachricht, weil diese Adresse auf der Zahlungsseite dieser Rechnung angegeben \
          wurde. Bitte antworten Sie nicht darauf.",
    left_out: "Etwas, das wie eine Adresse aussieht, wurde aus dem Text des Händlers weggelassen. Senden Sie nie Geld an eine Adresse aus einer Nachricht.",
    test_mark: "[Test]",
    test: "Es geht um eine Testzahlung. Es wird kein echtes Geld bewegt.",
};

static FR: Words = Words {
    receipt_subject: MerchantSentence {
        with: "Reçu de votre paiement à {merchant}",
        without: "Reçu de votre paiement",
    },
    receipt_opening: MerchantSentence {
        with: "{merchant} a reçu votre paiement. Merci.",
        without: "Votre paiement a bien été reçu. Merci.",
    },
    refund_subject: MerchantSentence {
        with: "Remboursement de votre paiement à {merchant}",
        without: "Remboursement de votre paiement",
    },
    refund_opening: MerchantSentence {
        with: "{merchant} a créé un remboursement pour votre paiement.",
        without: "Un remboursement a été créé pour votre paiement.",
    },
    refund_next: "Le commerçant vous enverra un lien qui vous permettra de le demander. Ce message ne contient \
                  volontairement aucun lien\u{a0}: ne faites confiance qu’à celui que vous recevrez du commerçant.",
    reminder_subject: MerchantSentence {
        with: "Votre renouvellement auprès de {merchant} est à régler",
        without: "Votre renouvellement est à régler",
    },
    reminder_opening: MerchantSentence {
        with: "Votre abonnement auprès de {merchant} va être renouvelé. La facture de la prochaine \
          période peut être réglée.",
        without: "Votre abonnement va être renouvelé. La facture de la prochaine période peut être réglée.",
    },
    reminder_next: "Réglez-la là où vous gérez votre abonnement. Ce message ne contient volontairement aucun \
          lien : ne vous fiez qu'aux pages du commerçant.",
    reminder_why: "Vous recevez ce message parce que cette adresse appartient à un abonnement. Merci de ne \
          pas y répondre.",
    plan: "Abonnement",
    pay_by: "À régler avant le",
    invoice: "Facture",
    invoice_amount: "Montant de la facture",
    paid: "Payé",
    refund: "Remboursement",
    network: "Réseau",
    transaction: "Transaction",
    date: "Date",
    why: "Vous recevez ce message parce que cette adresse a été saisie sur la page de paiement de cette \
          facture. Merci de ne pas y répondre.",
    left_out: "Quelque chose qui ressemble à une adresse a été retiré du texte du marchand. N'envoyez jamais d'argent à une adresse reçue dans un message.",
    test_mark: "[Test]",
    test: "Il s’agit d’un paiement de test. Aucun argent réel n’est transféré.",
};

static PT: Words = Words {
    receipt_subject: MerchantSentence {
        with: "Recibo do seu pagamento a {merchant}",
        without: "Recibo do seu pagamento",
    },
    receipt_opening: MerchantSentence {
        with: "{merchant} recebeu o seu pagamento. Obrigado.",
        without: "O seu pagamento foi recebido. Obrigado.",
    },
    refund_subject: MerchantSentence {
        with: "Reembolso do seu pagamento a {merchant}",
        without: "Reembolso do seu pagamento",
    },
    refund_opening: MerchantSentence {
        with: "{merchant} criou um reembolso do seu pagamento.",
        without: "Foi criado um reembolso do seu pagamento.",
    },
    refund_next: "O comerciante enviará um link com o qual será possível solicitá-lo. Esta mensagem não contém \
                  nenhum link de propósito: confie apenas naquele que receber do comerciante.",
    reminder_subject: MerchantSentence {
        with: "A sua renovação com {merchant} está a pagamento",
        without: "A sua renovação está a pagamento",
    },
    reminder_opening: MerchantSentence {
        with: "A sua subscrição com {merchant} está prestes a ser renovada. A fatura do próximo período \
          pode ser paga.",
        without: "A sua subscrição está prestes a ser renovada. A fatura do próximo período pode ser paga.",
    },
    reminder_next: "Pague-a onde gere a sua subscrição. Esta mensagem não contém nenhum link de propósito: \
          confie apenas nas páginas do comerciante.",
    reminder_why: "Esta mensagem foi enviada porque este endereço pertence a uma subscrição. Por favor, não \
          responda a esta mensagem.",
    plan: "Subscrição",
    pay_by: "Pagar até",
    invoice: "Fatura",
    invoice_amount: "Valor da fatura",
    paid: "Pago",
    refund: "Reembolso",
    network: "Rede",
    transaction: "Transação",
    date: "Data",
    why: "Esta mensagem foi enviada porque este endereço foi indicado na página de pagamento desta fatura. \
          Por favor, não responda a esta mensagem.",
    left_out: "Algo que parece um endereço foi retirado do texto do comerciante. Nunca envie dinheiro para um endereço vindo de uma mensagem.",
    test_mark: "[Teste]",
    test: "Trata-se de um pagamento de teste. Nenhum dinheiro real é movimentado.",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sentence_about_a_merchant_has_a_place_for_the_name() {
        for locale in Locale::ALL {
            let words = words(locale);
            for named in [
                words.receipt_subject,
                words.receipt_opening,
                words.refund_subject,
                words.refund_opening,
                words.reminder_subject,
                words.reminder_opening,
            ] {
                assert_eq!(named.with.matches("{merchant}").count(), 1, "{named:?}");
                assert!(!named.without.contains('{'), "{named:?}");
            }
        }
    }
}
