// Publishes over ZeroMQ what a test says:
//
//   node scripts/publisher.cjs FOLDER    # where scripts/with-zeromq has installed the library
//
// Prints the address that it listens on. Each line of its standard input is a topic and, after a space, the content as digits; it ends with
// its standard input. Like Bitcoin Core it numbers what it publishes.
'use strict';

const path = require('path');
const readline = require('readline');

const { Publisher } = require(path.join(process.argv[2], 'node_modules/zeromq'));

(async () => {
  const publisher = new Publisher();
  await publisher.bind('tcp://127.0.0.1:*');
  console.log(`Publishing at ${publisher.lastEndpoint}`);
  let count = 0;
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [topic, digits = ''] = line.split(' ');
    const number = Buffer.alloc(4);
    number.writeUInt32LE(count);
    count += 1;
    await publisher.send([topic, Buffer.from(digits, 'hex'), number]);
  }
  process.exit(0);
})();
