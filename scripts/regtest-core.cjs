// A regtest node for tests: Bitcoin Core, with the wallet and the manners that scripts/regtest-node.cjs gives to bcoin.
//
//   node scripts/regtest-core.cjs BITCOIND    # the program, built by scripts/with-bitcoin-core
//
// Prints the two addresses that it listens on, and ends with its standard input. What a test asks for is answered here; every other question
// goes to the node as it is. A test may have the second address lie or be silent.
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const net = require('net');
const os = require('os');
const path = require('path');
const { spawn } = require('child_process');

// The key of 32 sevens, and what pays to the hash of its public key.
const ADDRESS = 'mvSvTtvD9H9fkgi8MGDyLALgRaR2LhnWFM';
const SCRIPT = '76a914a3c6b1ee4a49d9f2af3b3802974744fba924164a88ac';
const SECRET = Buffer.alloc(32, 7);
const PASSWORD = crypto.randomBytes(16).toString('hex');

const sha256 = (bytes) => crypto.createHash('sha256').update(bytes).digest();

function base58check(bytes) {
  const letters = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  const whole = Buffer.concat([bytes, sha256(sha256(bytes)).subarray(0, 4)]);
  let number = BigInt(`0x${whole.toString('hex')}`);
  let text = '';
  for (; number > 0n; number /= 58n) text = letters[Number(number % 58n)] + text;
  return text;
}

const KEY = base58check(Buffer.concat([Buffer.from([0xef]), SECRET, Buffer.from([1])]));

class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

let port = 0;
function core(method, ...params) {
  const body = JSON.stringify({ jsonrpc: '1.0', id: 1, method, params });
  const headers = { authorization: `Basic ${Buffer.from(`till:${PASSWORD}`).toString('base64')}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, method: 'POST', headers }, (response) => {
      const pieces = [];
      response.on('data', (piece) => pieces.push(piece));
      response.on('end', () => {
        try {
          const { error, result } = JSON.parse(Buffer.concat(pieces).toString());
          return error ? reject(new Refusal(error.code, error.message)) : resolve(result);
        } catch {
          return reject(new Refusal(-1, `the node answered with status ${response.statusCode}`));
        }
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

// Below this height nothing is given away, as by a node that prunes.
let prunedBelow = null;
// What a transaction should pay, in BTC per 1,000 virtual bytes, where a test says so.
let feeRate = null;

const littleEnd = (number, bytes) => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(number));
  return buffer.subarray(0, bytes).toString('hex');
};
const counted = (number) => (number < 0xfd ? littleEnd(number, 1) : `fd${littleEnd(number, 2)}`);
const reversed = (hex) => Buffer.from(hex, 'hex').reverse().toString('hex');

async function kept(name) {
  if (prunedBelow === null) return;
  const { height } = await core('getblockheader', name, true);
  if (height < prunedBelow) throw new Refusal(-1, 'Block not available (pruned data)');
}

const methods = {
  async getblockchaininfo() {
    const info = await core('getblockchaininfo');
    return prunedBelow === null ? info : { ...info, pruned: true, pruneheight: prunedBelow };
  },
  async getblock(name, verbosity) {
    await kept(name);
    return core('getblock', name, verbosity);
  },
  async getrawtransaction(hash, verbosity, name) {
    if (name === undefined) return core('getrawtransaction', hash, verbosity);
    await kept(name);
    return core('getrawtransaction', hash, verbosity, name);
  },
  async estimatesmartfee(blocks) {
    return feeRate === null ? core('estimatesmartfee', blocks) : { feerate: feeRate, blocks };
  },
  // Blocks with what waits, or with these transactions and nothing else.
  async mine(count, only, script) {
    const output = script ? `raw(${script})` : ADDRESS;
    if (only) await core('generateblock', output, only);
    else if (script) await core('generatetodescriptor', count, output);
    else await core('generatetoaddress', count, output);
    return core('getblockcount');
  },
  // A signed transaction that spends the coinbases of these blocks. What is left goes back to the wallet.
  async make(heights, outputs, fee) {
    const coins = [];
    for (const height of heights) {
      const { tx } = await core('getblock', await core('getblockhash', height), 2);
      coins.push({ txid: tx[0].txid, vout: 0, scriptPubKey: SCRIPT, amount: tx[0].vout[0].value });
    }
    const had = coins.reduce((sum, { amount }) => sum + Math.round(amount * 1e8), 0);
    const left = had - fee - outputs.reduce((sum, [, value]) => sum + value, 0);
    const paid = left > 0 ? [...outputs, [SCRIPT, left]] : outputs;
    const inputs = coins.map(({ txid, vout }) => `${reversed(txid)}${littleEnd(vout, 4)}00ffffffff`);
    const paying = paid.map(([hex, value]) => `${littleEnd(value, 8)}${counted(hex.length / 2)}${hex}`);
    const raw = `01000000${counted(inputs.length)}${inputs.join('')}${counted(paying.length)}${paying.join('')}00000000`;
    const { hex, complete } = await core('signrawtransactionwithkey', raw, [KEY], coins);
    if (!complete) throw new Refusal(-1, 'it could not be signed');
    return { txid: (await core('decoderawtransaction', hex)).txid, hex };
  },
  async fee(rate) {
    feeRate = rate;
    return null;
  },
  async prune(height) {
    prunedBelow = height;
    return null;
  },
  async lie(name) {
    lie = name;
    return null;
  },
};

const lies = {
  // Blocks without their last transaction.
  async leaves_out(method, params, result) {
    if (method !== 'getblock' || params[1] !== 0) return result;
    const { tx } = await core('getblock', params[0], 2);
    const some = tx.length > 1 ? tx.slice(0, -1) : tx;
    return result.slice(0, 160) + counted(some.length) + some.map((it) => it.hex).join('');
  },
  // Somebody else's outputs as those that are spent.
  async names_others(method, params, result) {
    const all = result && result.tx ? result.tx : [result];
    const inputs = all.flatMap((tx) => (tx && tx.vin) || []);
    for (const { prevout } of inputs) if (prevout) prevout.scriptPubKey.hex = `0014${'cc'.repeat(20)}`;
    return result;
  },
  // A mempool with nothing in it.
  async hides(method, params, result) {
    return method === 'getrawmempool' ? [] : result;
  },
};
let lie = null;

async function answer(body, isSecond) {
  const { id, method, params = [] } = JSON.parse(body);
  try {
    const result = await (methods[method] ? methods[method](...params) : core(method, ...params));
    if (!isSecond || !lies[lie]) return { jsonrpc: '2.0', id, result };
    return { jsonrpc: '2.0', id, result: await lies[lie](method, params, result) };
  } catch (error) {
    return { jsonrpc: '2.0', id, result: null, error: { code: error.code || -1, message: error.message } };
  }
}

const listen = (isSecond) =>
  new Promise((resolve) => {
    const server = http.createServer((request, response) => {
      const pieces = [];
      request.on('data', (piece) => pieces.push(piece));
      request.on('end', async () => {
        if (isSecond && lie === 'silent') return request.socket.destroy();
        const text = JSON.stringify(await answer(Buffer.concat(pieces).toString(), isSecond));
        response.writeHead(200, { 'content-type': 'application/json' });
        return response.end(text);
      });
    });
    server.listen(0, '127.0.0.1', () => resolve(`127.0.0.1:${server.address().port}`));
  });

const free_port = () =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port: found } = server.address();
      server.close(() => resolve(found));
    });
  });

(async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'till-regtest-'));
  port = await free_port();
  const settings = ['-regtest', `-datadir=${folder}`, '-server', '-listen=0', '-acceptnonstdtxn=1', `-rpcport=${port}`, '-rpcuser=till', `-rpcpassword=${PASSWORD}`];
  const node = spawn(process.argv[2], settings, { stdio: 'ignore' });
  const end = () => {
    node.kill('SIGKILL');
    fs.rmSync(folder, { recursive: true, force: true });
    process.exit(0);
  };
  process.stdin.on('end', end).resume();
  for (let tries = 0; ; tries += 1) {
    const told = await core('getblockcount').catch(() => null);
    if (told !== null) break;
    if (tries > 300) throw new Error('bitcoind does not answer');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await methods.mine(130);
  console.log(`Listening on ${await listen(false)} and ${await listen(true)}`);
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
