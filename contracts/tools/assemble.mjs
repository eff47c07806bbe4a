// From assembly as people read it to bytes, which are solc's work: it gives the labels their places and leaves
// the destination open as it does with the address of a library.

import solc from "solc";

export const compiler = solc.version();

// solc picks the shortest push by itself. For zero that is PUSH0, which not every network has; solc ignores
// the EVM version for this input (argotorg/solidity#16759), so a zero in two bytes is spelled out.
const ZERO = { name: "VERBATIM", value: "6000" };

function push(width, operand, tags) {
    if (operand === "destination") return { name: "PUSHLIB", value: operand };
    if (operand.startsWith("@")) return { name: "PUSH [tag]", value: tags.get(operand.slice(1)) };
    const digits = /^0x([0-9a-f]+)$/.exec(operand)?.[1];
    if (digits?.length !== 2 * width) throw new Error(`PUSH${width} ${operand}: ${width} bytes are wanted`);
    return digits === "00" ? ZERO : { name: "PUSH", value: digits };
}

function items(source) {
    const lines = source.split("\n").map((line) => line.split(";")[0].trim());
    const code = lines.filter((line) => line !== "");
    const labels = code.filter((line) => line.endsWith(":")).map((line) => line.slice(0, -1));
    const tags = new Map(labels.map((label, at) => [label, String(at + 1)]));
    return code.flatMap((line) => {
        if (line.endsWith(":")) return [{ name: "tag", value: tags.get(line.slice(0, -1)) }, { name: "JUMPDEST" }];
        const [name, operand] = line.split(/\s+/);
        return operand === undefined ? [{ name }] : [push(Number(name.replace("PUSH", "")), operand, tags)];
    });
}

/** The bytes of a source as hex, with where its destination belongs, if it has one. */
export function assemble(name, source) {
    const input = {
        language: "EVMAssembly",
        sources: { [name]: { assemblyJson: { ".code": items(source) } } },
        settings: { experimental: true, outputSelection: { "*": { "": ["evm.bytecode"] } } },
    };
    const output = JSON.parse(solc.compile(JSON.stringify(input)));
    const wrong = (output.errors ?? []).map((error) => error.formattedMessage);
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
    const { object, linkReferences } = output.contracts[name][""].evm.bytecode;
    return { hex: object, open: linkReferences[""]?.destination ?? [] };
}
