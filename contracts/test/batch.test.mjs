// Batches as `till sweep` prints them, on nodes of several hardforks: whoever else deploys a forwarder, before, between
// or in the same block, all of them are emptied.

import assert from "node:assert/strict";
import test from "node:test";
import { bare, initCode, text, vectors, withChain } from "./support/chain.mjs";

const { factory, factory_runtime, flush_selector } = vectors.forwarder;
const { program } = JSON.parse(text("deployer.json"));
const MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11";
const DESTINATIONS = ["0x52908400098527886e0f7030069857d2e4169ee7", "0x00000000000000000000000000000000000d0001"];
const PAID = 10n ** 15n;

const word = (value) => BigInt(value).toString(16).padStart(64, "0");

/** `aggregate3` of calls that may fail. */
function aggregate3(calls) {
    const tuples = calls.map(({ to, data }) => {
        const length = bare(data).length / 2;
        const padded = bare(data).padEnd(Math.ceil(length / 32) * 64, "0");
        return word(to) + word(1) + word(96) + word(length) + padded;
    });
    let place = 32 * calls.length;
    const places = tuples.map((tuple) => {
        place += tuple.length / 2;
        return word(place - tuple.length / 2);
    });
    return `0x82ad56cb${word(32)}${word(calls.length)}${places.join("")}${tuples.join("")}`;
}

/** The address of what the factory creates: keccak256(ff ‖ factory ‖ salt ‖ keccak256(init code)). */
async function created(chain, payload) {
    const [salt, init] = [payload.slice(2, 66), payload.slice(66)];
    const hash = bare(await chain.call("web3_sha3", `0x${init}`));
    const address = await chain.call("web3_sha3", `0xff${bare(factory)}${salt}${hash}`);
    return `0x${address.slice(26)}`;
}

/** So many forwarders with coins on them, and the batch that empties them. */
async function prepared(chain, count) {
    await chain.call("anvil_setCode", factory, factory_runtime);
    await chain.call("anvil_setCode", MULTICALL3, `0x${text("../testdata/multicall3.hex")}`);
    const [stranger, sender] = await chain.call("eth_accounts");
    const forwarders = [];
    for (let i = 0; i < count; i++) {
        const payload = `0x${word(i)}${bare(initCode(DESTINATIONS[i % 2]))}`;
        const address = await created(chain, payload);
        await chain.call("anvil_setBalance", address, `0x${PAID.toString(16)}`);
        forwarders.push({ address, payload });
    }
    const entries = forwarders.map(({ address, payload }) => bare(address) + bare(payload)).join("");
    const run = `0x${word(0)}${bare(program)}${entries}`;
    const flush = flush_selector + word(0);
    const calls = [{ to: factory, data: run }, ...forwarders.map(({ address }) => ({ to: address, data: flush }))];
    const batch = { from: sender, to: MULTICALL3, data: aggregate3(calls) };
    const estimate = BigInt(await chain.call("eth_estimateGas", batch));
    batch.gas = `0x${(estimate + estimate / 4n).toString(16)}`;
    const deploying = (i) => ({ from: stranger, to: factory, data: forwarders[i].payload });
    const copy = { from: stranger, to: factory, data: run, gas: batch.gas };
    return { batch, copy, deploying, forwarders, deployer: await created(chain, run) };
}

async function allIsSwept(chain, { forwarders, deployer }) {
    for (const { address } of forwarders) {
        assert.notEqual(await chain.code(address), "0x");
        assert.equal(await chain.balance(address), 0n);
    }
    const arrived = await Promise.all(DESTINATIONS.map(chain.balance));
    assert.equal(arrived[0] + arrived[1], PAID * BigInt(forwarders.length));
    assert.equal(await chain.nonce(deployer), 0, "the deployer is gone");
    assert.equal(await chain.code(deployer), "0x");
}

const succeeded = (receipts) => assert.deepEqual(receipts.map(({ status }) => status), receipts.map(() => "0x1"));

for (const hardfork of ["shanghai", "cancun", "prague", "osaka"]) {
    const onChain = (count, body) =>
        withChain(1, ["--hardfork", hardfork], async (chain) => body(chain, await prepared(chain, count)));

    test(`${hardfork}: a batch of fifty is one transaction, and costs little when it is sent again`, () =>
        onChain(50, async (chain, it) => {
            const first = await chain.send(it.batch);
            await allIsSwept(chain, it);
            const second = await chain.send(it.batch);
            succeeded([first, second]);
            await allIsSwept(chain, it);
            assert.ok(Number(second.gasUsed) < Number(first.gasUsed) / 3, `${second.gasUsed} of ${first.gasUsed}`);
        }));

    test(`${hardfork}: a stranger deploys some in the same block, before the batch and after it was printed`, () =>
        onChain(5, async (chain, it) => {
            succeeded(await chain.sendAll([it.deploying(0), it.deploying(3), it.batch]));
            await allIsSwept(chain, it);
        }));

    test(`${hardfork}: a stranger copies the deployment, and the batch comes twice, all in one block`, () =>
        onChain(5, async (chain, it) => {
            succeeded(await chain.sendAll([it.copy, it.batch, it.batch]));
            await allIsSwept(chain, it);
        }));
}
