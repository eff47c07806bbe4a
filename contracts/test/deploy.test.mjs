// The factory on real nodes: each network of testdata/address_vectors.json is an anvil with that network's id, and
// every address that is pinned for it is paid, deployed and flushed there.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const { forwarder, create2, deposits } = read("../../testdata/address_vectors.json");
const artefact = read("../forwarder.json");

const PAID = 10n ** 18n;

/** An anvil of its own for one body, stopped afterwards. */
async function withChain(id, options, body) {
    const own = ["--host", "127.0.0.1", "--port", "0", "--no-mining", "--chain-id", String(id)];
    const anvil = spawn("anvil", [...own, ...options], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => anvil.once("close", resolve));
    try {
        await body(chainAt(`http://${await place(anvil)}`));
    } finally {
        anvil.kill();
        await ended;
    }
}

function place(anvil) {
    return new Promise((resolve, reject) => {
        let said = "";
        anvil.once("error", reject);
        anvil.once("close", (code) => reject(new Error(`anvil ended with ${code}: ${said}`)));
        anvil.stdout.on("data", (text) => {
            said += text;
            const listening = /^Listening on (\S+)$/m.exec(said);
            if (listening) resolve(listening[1]);
        });
    });
}

function chainAt(url) {
    async function call(method, ...params) {
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
        const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
        const { result, error } = await response.json();
        if (error) throw new Error(`${method}: ${error.message}`);
        return result;
    }
    return {
        call,
        balance: async (address) => BigInt(await call("eth_getBalance", address, "latest")),
        code: (address) => call("eth_getCode", address, "latest"),
        async send(transaction) {
            const hash = await call("eth_sendTransaction", { gas: "0x30d40", gasPrice: "0x77359400", ...transaction });
            // Left to itself, anvil may answer before its block is there.
            await call("evm_mine");
            return call("eth_getTransactionReceipt", hash);
        },
    };
}

const bare = (hex) => hex.slice(2).toLowerCase();
const initCode = (destination) => artefact.init_prefix + bare(destination) + bare(artefact.init_suffix);
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
