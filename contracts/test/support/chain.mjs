// Nodes to try things on, and the bytes that are tried there.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

export const text = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8").trim();
export const vectors = JSON.parse(text("../testdata/address_vectors.json"));
export const artefact = JSON.parse(text("forwarder.json"));

export const bare = (hex) => hex.slice(2).toLowerCase();
export const initCode = (destination) => artefact.init_prefix + bare(destination) + bare(artefact.init_suffix);

/** An anvil of its own for one body, stopped afterwards. */
export async function withChain(id, options, body) {
    const own = ["--host", "127.0.0.1", "--port", "0", "--no-mining", "--order", "fifo", "--chain-id", String(id)];
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
        nonce: async (address) => Number(await call("eth_getTransactionCount", address, "latest")),
        /** A block of its own for these transactions, in their order. */
        async sendAll(transactions) {
            const hashes = [];
            for (const transaction of transactions) {
                const whole = { gas: "0x30d40", gasPrice: "0x77359400", ...transaction };
                hashes.push(await call("eth_sendTransaction", whole));
            }
            // Left to itself, anvil may answer before its block is there.
            await call("evm_mine");
            return Promise.all(hashes.map((hash) => call("eth_getTransactionReceipt", hash)));
        },
        async send(transaction) {
            return (await this.sendAll([transaction]))[0];
        },
    };
}
