-- Which client's invoices hold units of a payment link, so that one client cannot hold them all. A client is a keyed tag
-- of its address. What is no longer held is forgotten when the client comes again, or by the sweeper.
CREATE TABLE link_openings (
    account TEXT NOT NULL,
    mode TEXT NOT NULL,
    link TEXT NOT NULL,
    client TEXT NOT NULL,
    invoice TEXT NOT NULL,
    PRIMARY KEY (account, mode, link, client, invoice),
    FOREIGN KEY (account, mode, invoice) REFERENCES invoices (account, mode, id)
);
