// Assembles the forwarder into forwarder.json, or with --check says whether that is what is checked in there.

import { readFileSync, writeFileSync } from "node:fs";
import { assemble, compiler } from "./assemble.mjs";

const at = (path) => new URL(`../${path}`, import.meta.url);
const read = (path) => readFileSync(at(path), "utf8");

function must(holds, what) {
    if (!holds) {
        console.error(`contracts: ${what}`);
        process.exit(1);
    }
}

function build() {
    const constructor = assemble("constructor", read("src/constructor.asm"));
    const runtime = assemble("forwarder", read("src/forwarder.asm"));
    must(constructor.open.length === 0, "the constructor has no destination");
    must(runtime.open.length === 1 && runtime.open[0].length === 20, "the forwarder has one destination");

    const start = 2 * runtime.open[0].start;
    const init_prefix = constructor.hex + runtime.hex.slice(0, start);
    const init_suffix = runtime.hex.slice(start + 40);
    const [runtime_length, runtime_offset] = [runtime.hex.length / 2, constructor.hex.length / 2];
    const figures = [...read("src/constructor.asm").matchAll(/PUSH1 0x(..)/g)].map((match) => parseInt(match[1], 16));
    must(figures.join() === `${runtime_length},${runtime_offset}`, "the constructor's figures are not the lengths");
    return {
        about: "The forwarder's init code is init_prefix ‖ destination (20 bytes) ‖ init_suffix. Written by contracts/tools/build.mjs.",
        compiler: `solc ${compiler}`,
        init_prefix: `0x${init_prefix}`,
        init_suffix: `0x${init_suffix}`,
        init_length: runtime_offset + runtime_length,
        runtime_offset,
    };
}

const built = build();
const text = JSON.stringify(built, null, 2) + "\n";
if (process.argv.includes("--check")) {
    must(text === read("forwarder.json"), "src/ does not assemble to forwarder.json; npm run build writes it anew");
    // The addresses merchants are paid at come from these: whatever is built here, they must not move.
    const { forwarder } = JSON.parse(read("../testdata/address_vectors.json"));
    for (const field of ["init_prefix", "init_suffix", "init_length"])
        must(built[field] === forwarder[field], `${field} is not that of testdata/address_vectors.json`);
} else {
    writeFileSync(at("forwarder.json"), text);
}
