// The factory on real nodes: each network of testdata/address_vectors.json is an anvil with that network's id, and
// every address that is pinned for it is paid, deployed and flushed there.

import assert from "node:assert/strict";
import test from "node:test";
import { artefact, bare, initCode, vectors, withChain } from "./support/chain.mjs";

const { forwarder, create2, deposits } = vectors;

const PAID = 10n ** 18n;

const runtime = (destination) => `0x${initCode(destination).slice(2 + 2 * artefact.runtime_offset)}`;
const flushCoin = forwarder.flush_selector + "0".repeat(64);

async function deployAndFlush(chain, { derivation, address }) {
    const { factory, salt, destination } = derivation;
    const [stranger, payer] = await chain.call("eth_accounts");
    await chain.send({ from: payer, to: address, value: `0x${PAID.toString(16)}` });
    assert.equal(await chain.code(address), "0x", "paid before it exists");

    const creation = { from: stranger, to: factory, data: salt + bare(initCode(destination)) };
    const deployed = await chain.send(creation);
    assert.equal(deployed.status, "0x1", "the factory deploys");
    assert.equal(await chain.code(address), runtime(destination), "at the predicted address");
    assert.equal((await chain.send(creation)).status, "0x0", "and only once");

    const received = await chain.send({ from: payer, to: address, value: "0x1" });
    assert.equal(Number(received.gasUsed), 21_018, "receiving costs 18 gas more than nothing");

    const before = await chain.balance(destination);
    const flushed = await chain.send({ from: stranger, to: address, data: flushCoin });
    assert.equal(flushed.status, "0x1", "a stranger flushes");
    assert.equal(await chain.balance(address), 0n, "nothing stays");
    assert.equal(await chain.balance(destination), before + PAID + 1n, "everything arrives");
}

async function deployAll(id, entries, options = []) {
    assert.notEqual(entries.length, 0);
    await withChain(id, options, async (chain) => {
        assert.equal(Number(await chain.call("eth_chainId")), id);
        await chain.call("anvil_setCode", forwarder.factory, forwarder.factory_runtime);
        const hash = await chain.call("web3_sha3", await chain.code(forwarder.factory));
        assert.equal(hash, forwarder.factory_runtime_keccak);
        for (const entry of entries) await deployAndFlush(chain, entry);
    });
}

const isEvm = (entry) => entry.derivation.scheme === "create2_forwarder_v1";
const networks = new Set(deposits.filter(isEvm).map((entry) => entry.network));

test("the pinned networks are several", () => assert.ok(networks.size >= 3));

for (const network of networks) {
    const id = Number(network.replace("eip155:", ""));
    test(`every address pinned for ${network} is deployed and flushed there`, () =>
        deployAll(id, deposits.filter((entry) => entry.network === network)));
}

test("the plain salts are deployed and flushed on anvil's own network", () =>
    deployAll(31_337, create2.filter(isEvm)));

test("nothing newer than Istanbul is needed", () =>
    deployAll(1, create2.filter(isEvm), ["--hardfork", "istanbul"]));
