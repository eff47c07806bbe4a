#!/usr/bin/env node
// The pinned compiler as forge expects one: a program that knows --version and --standard-json. Forge sends
// every source with the request, so nothing is looked up.

import { readFileSync } from "node:fs";
import solc from "solc";

if (process.argv.includes("--version")) {
    console.log(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}`);
} else if (process.argv.includes("--standard-json")) {
    process.stdout.write(solc.compile(readFileSync(0, "utf8")));
} else {
    console.error("usage: solc --version | --standard-json");
    process.exit(2);
}
