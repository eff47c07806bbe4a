// A regtest node for tests: bcoin's chain, mempool and miner, asked in the words of Bitcoin Core. What bcoin lacks and Core
// has is added here: replacement by fee, previous outputs in what it tells, and transactions that return to the mempool
// when their block is invalidated. Besides it has a wallet, and does what a test asks for.
//
//   node scripts/regtest-node.cjs FOLDER    # where `npm install bcoin` was run
//
// Prints the two addresses that it listens on, and ends with its standard input. Behind both is the same chain; a test may have
// the second one lie, be silent, or want to be asked less. Below /api both have the pages of Esplora.
'use strict';

const http = require('http');
const path = require('path');

const bcoin = require(path.join(process.argv[2], 'node_modules', 'bcoin'));
bcoin.set('regtest');
const { bech32 } = require(path.join(process.argv[2], 'node_modules', 'bstring'));
const { FullNode, KeyRing, MTX, TX, Script, Coin } = bcoin;

const node = new FullNode({ network: 'regtest', memory: true, listen: false, only: '127.0.0.1:1', indexTX: true, httpPort: 0, logConsole: false, workers: false });
const { chain, mempool, miner } = node;
const ring = KeyRing.fromPrivate(Buffer.alloc(32, 7), true);
const reversed = (hex) => Buffer.from(hex, 'hex').reverse().toString('hex');
// Below this height nothing is given away, as by a node that prunes.
let prunedBelow = null;
// What a transaction should pay, in BTC per 1,000 virtual bytes; unknown at first.
let feeRate = null;

class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

async function entryOf(name) {
  const entry = await chain.getEntry(reversed(name));
  if (!entry) throw new Refusal(-5, 'Block not found');
  return entry;
}

async function confirmations(entry) {
  return (await chain.isMainChain(entry)) ? chain.height - entry.height + 1 : -1;
}

async function blockOf(entry) {
  if (prunedBelow !== null && entry.height < prunedBelow) throw new Refusal(-1, 'Block not available (pruned data)');
  return chain.getBlock(entry.hash);
}

/// A transaction as Core tells it with previous outputs.
async function told(tx) {
  const vin = [];
  for (const { prevout, script } of tx.inputs) {
    if (tx.isCoinbase()) {
      vin.push({ coinbase: script.toRaw().toString('hex') });
      continue;
    }
    const spent = (await chain.db.getTX(prevout.hash)) || mempool.getTX(prevout.hash);
    const output = spent.outputs[prevout.index];
    const hex = output.script.toRaw().toString('hex');
    vin.push({ txid: reversed(prevout.hash), vout: prevout.index, prevout: { generated: spent.isCoinbase(), value: output.value / 1e8, scriptPubKey: { hex } } });
  }
  return { txid: tx.txid(), hex: tx.toRaw().toString('hex'), vin };
}

/// Outputs of blocks that nobody has spent, by their scripts.
async function unspent(isWanted) {
  const found = [];
  for (let height = 0; height <= chain.height; height += 1) {
    for (const tx of (await chain.getBlock(height)).txs) {
      for (const [vout, { script }] of tx.outputs.entries()) {
        const hex = script.toRaw().toString('hex');
        if (isWanted(hex) && (await chain.getCoin(tx.hash('hex'), vout))) found.push({ tx, vout, hex, height });
      }
    }
  }
  return found;
}

const coreMethods = {
  async getblockchaininfo() {
    const info = { chain: 'regtest', blocks: chain.height, bestblockhash: reversed(chain.tip.hash), pruned: prunedBelow !== null };
    return prunedBelow === null ? info : { ...info, pruneheight: prunedBelow };
  },
  async getblockhash(height) {
    const entry = await chain.getEntry(height);
    if (!entry || height > chain.height) throw new Refusal(-8, 'Block height out of range');
    return reversed(entry.hash);
  },
  async getblockheader(name, isVerbose) {
    const entry = await entryOf(name);
    if (!isVerbose) return entry.toRaw().slice(0, 80).toString('hex');
    return { hash: name, height: entry.height, confirmations: await confirmations(entry) };
  },
  async getblock(name, verbosity) {
    const entry = await entryOf(name);
    const block = await blockOf(entry);
    if (verbosity === 0) return block.toRaw().toString('hex');
    const all = [];
    for (const tx of block.txs) all.push(verbosity === 1 ? tx.txid() : await told(tx));
    return { hash: name, height: entry.height, confirmations: await confirmations(entry), tx: all };
  },
  async getrawtransaction(hash, verbosity, name) {
    if (name === undefined) {
      const waiting = mempool.getTX(reversed(hash));
      if (!waiting) throw new Refusal(-5, 'No such mempool transaction. Use -txindex');
      return waiting.toRaw().toString('hex');
    }
    const entry = await entryOf(name);
    const tx = (await blockOf(entry)).txs.find((it) => it.txid() === hash);
    if (!tx) throw new Refusal(-5, 'No such transaction found in the provided block');
    if (!verbosity) return tx.toRaw().toString('hex');
    return { ...(await told(tx)), blockhash: name, in_active_chain: await chain.isMainChain(entry) };
  },
  async gettxout(hash, output, _withMempool) {
    const coin = await chain.getCoin(reversed(hash), output);
    return coin && { scriptPubKey: { hex: coin.script.toRaw().toString('hex') } };
  },
  async scantxoutset(_action, descriptors) {
    const scripts = new Set(descriptors.map((it) => /^raw\((\w+)\)$/.exec(it)[1]));
    const unspents = (await unspent((hex) => scripts.has(hex))).map(({ tx, vout, hex, height }) => {
      return { txid: tx.txid(), vout, scriptPubKey: hex, amount: tx.outputs[vout].value / 1e8, height, coinbase: tx.isCoinbase() };
    });
    return { success: true, height: chain.height, bestblock: reversed(chain.tip.hash), unspents };
  },
  async estimatesmartfee(blocks) {
    return feeRate === null ? { errors: ['Insufficient data or no feerate found'], blocks } : { feerate: feeRate, blocks };
  },
  async getrawmempool() {
    return mempool.getSnapshot().map(reversed);
  },
  async sendrawtransaction(hex) {
    const tx = TX.fromRaw(hex, 'hex');
    // Replacement by fee, whatever the replaced one says of it.
    for (const { prevout } of tx.inputs) {
      const rival = mempool.getSpent(prevout.hash, prevout.index);
      if (!rival) continue;
      const spent = await mempool.getCoinView(tx);
      if (tx.getFee(spent) <= rival.fee) throw new Refusal(-26, 'insufficient fee');
      mempool.evictEntry(rival);
    }
    await mempool.addTX(tx);
    if (!mempool.has(tx.hash('hex'))) throw new Refusal(-26, 'not accepted');
    return tx.txid();
  },
  async invalidateblock(name) {
    const from = await entryOf(name);
    const back = [];
    for (let height = from.height; height <= chain.height; height += 1) {
      back.push(...(await chain.getBlock(height)).txs.slice(1));
    }
    back.push(...mempool.getHistory());
    await chain.invalidate(from.hash);
    await mempool.reset();
    for (const tx of back) await mempool.addTX(tx).catch(() => {});
    return null;
  },
};

const testMethods = {
  // Blocks with what waits, or with these transactions and nothing else.
  async mine(count, only, script) {
    for (let done = 0; done < count; done += 1) {
      const address = ring.getAddress();
      const job = await miner.createJob(chain.tip, address);
      if (only) {
        job.attempt.items.length = 0;
        job.attempt.fees = 0;
        for (const hex of only) {
          const tx = TX.fromRaw(hex, 'hex');
          job.pushTX(tx, await mempool.getCoinView(tx));
        }
      }
      if (script) job.attempt.address = bcoin.Address.fromScript(Script.fromRaw(script, 'hex'));
      job.refresh();
      const block = await job.mineAsync();
      if (!(await chain.add(block))) throw new Refusal(-1, 'the block was not taken');
    }
    return chain.height;
  },
  // A signed transaction that spends the coinbases of these blocks. What is left goes back to the wallet.
  async make(heights, outputs, fee) {
    const mtx = new MTX();
    for (const [hex, value] of outputs) mtx.addOutput({ script: Script.fromRaw(hex, 'hex'), value });
    let left = -fee - outputs.reduce((sum, [, value]) => sum + value, 0);
    for (const height of heights) {
      const coin = Coin.fromTX((await chain.getBlock(height)).txs[0], 0, height);
      mtx.addCoin(coin);
      left += coin.value;
    }
    if (left > 0) mtx.addOutput({ script: Script.fromAddress(ring.getAddress()), value: left });
    mtx.sign(ring);
    const tx = mtx.toTX();
    return { txid: tx.txid(), hex: tx.toRaw().toString('hex') };
  },
  async evict(hash) {
    const entry = mempool.getEntry(reversed(hash));
    if (entry) mempool.evictEntry(entry);
    return Boolean(entry);
  },
  async fee(rate) {
    feeRate = rate;
    return null;
  },
  async prune(height) {
    prunedBelow = height;
    return null;
  },
};

const bytesOf = (script) => script.toRaw().toString('hex');
const told_output = ({ script, value }) => ({ scriptpubkey: bytesOf(script), value });

/// A transaction as Esplora tells it.
async function page_of(tx, entry) {
  const vin = [];
  for (const { prevout, script, sequence } of tx.inputs) {
    const is_coinbase = tx.isCoinbase();
    const spent = is_coinbase ? null : (await chain.db.getTX(prevout.hash)) || mempool.getTX(prevout.hash);
    const output = spent && told_output(spent.outputs[prevout.index]);
    vin.push({ txid: reversed(prevout.hash), vout: prevout.index, prevout: output, scriptsig: bytesOf(script), is_coinbase, sequence });
  }
  const status = entry ? { confirmed: true, block_height: entry.height, block_hash: reversed(entry.hash) } : { confirmed: false };
  return { txid: tx.txid(), version: tx.version, locktime: tx.locktime, vin, vout: tx.outputs.map(told_output), status };
}

/// A transaction, and the block that it is in.
async function found(hash) {
  const waiting = mempool.getTX(reversed(hash));
  if (waiting) return [waiting, null];
  const meta = await chain.db.getMeta(reversed(hash));
  return meta && [meta.tx, await chain.getEntry(meta.block)];
}

const is_of = (script, address) => script.isWitnessPubkeyhash() && bech32.encode('bcrt', 0, script.getWitnessPubkeyhash()) === address;
const pays = (tx, address) => tx.outputs.some(({ script }) => is_of(script, address));

// What a path names, as text, bytes or JSON; nothing where there is no such page.
const pages = [
  [/^blocks\/tip\/hash$/, async () => reversed(chain.tip.hash)],
  [/^block-height\/(\d+)$/, async (height) => (Number(height) > chain.height ? null : coreMethods.getblockhash(Number(height)))],
  [/^blocks(?:\/(\d+))?$/, async (from) => {
    const top = from === undefined ? chain.height : Number(from);
    if (top > chain.height) return null;
    const blocks = [];
    for (let height = top; height >= 0 && height > top - 10; height -= 1) {
      const it = await chain.getEntry(height);
      const previousblockhash = height === 0 ? null : reversed(it.prevBlock);
      blocks.push({ id: reversed(it.hash), height, version: it.version, timestamp: it.time, merkle_root: reversed(it.merkleRoot), previousblockhash, nonce: it.nonce, bits: it.bits });
    }
    return blocks;
  }],
  [/^block\/(\w{64})\/status$/, async (name) => {
    const entry = await chain.getEntry(reversed(name));
    const in_best_chain = Boolean(entry) && (await chain.isMainChain(entry));
    return in_best_chain ? { in_best_chain, height: entry.height } : { in_best_chain };
  }],
  [/^block\/(\w{64})\/raw$/, async (name) => Buffer.from(await coreMethods.getblock(name, 0), 'hex')],
  [/^block\/(\w{64})\/txid\/(\d+)$/, async (name, at) => (await blockOf(await entryOf(name))).txs[Number(at)].txid()],
  [/^address\/(\w+)\/txs\/mempool$/, async (address) => {
    const all = mempool.getHistory().filter((tx) => pays(tx, address));
    return Promise.all(all.slice(0, 50).map((tx) => page_of(tx, null)));
  }],
  [/^address\/(\w+)\/utxo$/, async (address) => {
    const all = await unspent((hex) => is_of(Script.fromRaw(hex, 'hex'), address));
    return all.map(({ tx, vout, height }) => ({ txid: tx.txid(), vout, value: tx.outputs[vout].value, status: { confirmed: true, block_height: height } }));
  }],
  [/^fee-estimates$/, async () => (feeRate === null ? {} : { 1: feeRate * 4e5, 6: feeRate * 1e5 })],
  [/^tx\/(\w{64})\/raw$/, async (hash) => {
    const it = await found(hash);
    return it && it[0].toRaw();
  }],
  [/^tx\/(\w{64})$/, async (hash) => {
    const it = await found(hash);
    return it && page_of(...it);
  }],
  [/^tx\/(\w{64})\/status$/, async (hash) => {
    const it = await found(hash);
    return it && (await page_of(...it)).status;
  }],
];

async function page(path) {
  for (const [form, answer] of pages) {
    const parts = form.exec(path);
    if (parts) return answer(...parts.slice(1));
  }
  return null;
}

const lies = {
  // Blocks without their last transaction.
  async leaves_out(method, params, result) {
    if (Buffer.isBuffer(result)) return Buffer.from(await lies.leaves_out('getblock', [null, 0], result.toString('hex')), 'hex');
    if (method !== 'getblock' || params[1] !== 0) return result;
    const block = bcoin.Block.fromRaw(result, 'hex');
    const txs = block.txs.length > 1 ? block.txs.slice(0, -1) : block.txs;
    const head = Buffer.from(result.slice(0, 160), 'hex');
    return Buffer.concat([head, Buffer.from([txs.length]), ...txs.map((tx) => tx.toRaw())]).toString('hex');
  },
  // Somebody else's outputs as those that are spent.
  async names_others(method, params, result) {
    const all = result && result.tx ? result.tx : [result];
    const inputs = all.flatMap((tx) => (tx && tx.vin) || []);
    for (const { prevout } of inputs) {
      if (prevout && prevout.scriptPubKey) prevout.scriptPubKey.hex = `0014${'cc'.repeat(20)}`;
      if (prevout && prevout.scriptpubkey) prevout.scriptpubkey = `0014${'cc'.repeat(20)}`;
    }
    return result;
  },
  // A mempool with nothing in it.
  async hides(method, params, result) {
    return method === 'getrawmempool' || method.endsWith('/txs/mempool') ? [] : result;
  },
  // Another output than the one that is there, in what is told of a transaction.
  async pays_more(method, params, result) {
    if (result && result.vout) result.vout[0].value += 1;
    return result;
  },
};
let lie = null;
testMethods.lie = async (name) => {
  lie = name;
  return null;
};

const methods = { ...coreMethods, ...testMethods };

async function answer(body, isSecond) {
  const { id, method, params = [] } = JSON.parse(body);
  try {
    if (!methods[method]) throw new Refusal(-32601, 'Method not found');
    const result = await methods[method](...params);
    if (!isSecond || !lies[lie]) return { jsonrpc: '2.0', id, result };
    return { jsonrpc: '2.0', id, result: await lies[lie](method, params, result) };
  } catch (error) {
    return { jsonrpc: '2.0', id, result: null, error: { code: error.code || -1, message: error.message } };
  }
}

async function serve_page(path, isSecond, response) {
  if (isSecond && lie === 'busy') return response.writeHead(429, { 'retry-after': '2' }).end('Too many requests');
  let told = await page(path).catch(() => null);
  if (isSecond && lies[lie]) told = await lies[lie](path, [], told);
  if (told === null || told === undefined) return response.writeHead(404).end('not found');
  const is_text = typeof told === 'string' || Buffer.isBuffer(told);
  return response.writeHead(200).end(is_text ? told : JSON.stringify(told));
}

const listen = (isSecond) =>
  new Promise((resolve) => {
    const server = http.createServer((request, response) => {
      const pieces = [];
      request.on('data', (piece) => pieces.push(piece));
      request.on('end', async () => {
        if (isSecond && lie === 'silent') return request.socket.destroy();
        if (request.method === 'GET') return serve_page(request.url.replace(/^\/api\//, ''), isSecond, response);
        const text = JSON.stringify(await answer(Buffer.concat(pieces).toString(), isSecond));
        response.writeHead(200, { 'content-type': 'application/json' });
        return response.end(text);
      });
    });
    server.listen(0, '127.0.0.1', () => resolve(`127.0.0.1:${server.address().port}`));
  });

(async () => {
  await node.open();
  await testMethods.mine(130);
  console.log(`Listening on ${await listen(false)} and ${await listen(true)}`);
  process.stdin.on('end', () => process.exit(0)).resume();
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
