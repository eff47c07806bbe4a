// Assembles the forwarder into forwarder.json and the deployer into deployer.json, or with --check says whether that is
// what is checked in there.

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

/** The figures that a source says in so many words, in their order. */
const figures = (source) => [...source.matchAll(/PUSH1 0x(..)/g)].map((match) => parseInt(match[1], 16));

function forwarder() {
    const constructor = assemble("constructor", read("src/constructor.asm"));
    const runtime = assemble("forwarder", read("src/forwarder.asm"));
    must(constructor.open.length === 0, "the constructor has no destination");
    must(runtime.open.length === 1 && runtime.open[0].length === 20, "the forwarder has one destination");

    const start = 2 * runtime.open[0].start;
    const init_prefix = constructor.hex + runtime.hex.slice(0, start);
    const init_suffix = runtime.hex.slice(start + 40);
    const [runtime_length, runtime_offset] = [runtime.hex.length / 2, constructor.hex.length / 2];
    const said = figures(read("src/constructor.asm"));
    must(said.join() === `${runtime_length},${runtime_offset}`, "the constructor's figures are not the lengths");
    return {
        about: "The forwarder's init code is init_prefix ‖ destination (20 bytes) ‖ init_suffix. Written by contracts/tools/build.mjs.",
        compiler: `solc ${compiler}`,
        init_prefix: `0x${init_prefix}`,
        init_suffix: `0x${init_suffix}`,
        init_length: runtime_offset + runtime_length,
        runtime_offset,
    };
}

function deployer({ init_length }) {
    const source = read("src/deployer.asm");
    const program = assemble("deployer", source);
    must(program.open.length === 0, "the deployer has no destination");
    const payload_length = 32 + init_length;
    const entry_length = 20 + payload_length;
    const right = [program.hex.length / 2, entry_length, 12, 0, 0, payload_length, 32];
    must(figures(source).join() === right.join(), "the deployer's figures are not the lengths");
    return {
        about: "The deployer's init code is program ‖ entries, each of them address (20 bytes) ‖ salt (32 bytes) ‖ the forwarder's init code. Written by contracts/tools/build.mjs.",
        compiler: `solc ${compiler}`,
        program: `0x${program.hex}`,
        entry_length,
    };
}

const built = forwarder();
const files = { "forwarder.json": built, "deployer.json": deployer(built) };
const text = (file) => JSON.stringify(files[file], null, 2) + "\n";
if (process.argv.includes("--check")) {
    for (const file of Object.keys(files))
        must(text(file) === read(file), `src/ does not assemble to ${file}; npm run build writes it anew`);
    // The addresses merchants are paid at come from these: whatever is built here, they must not move.
    const { forwarder } = JSON.parse(read("../testdata/address_vectors.json"));
    for (const field of ["init_prefix", "init_suffix", "init_length"])
        must(built[field] === forwarder[field], `${field} is not that of testdata/address_vectors.json`);
} else {
    for (const file of Object.keys(files)) writeFileSync(at(file), text(file));
}
