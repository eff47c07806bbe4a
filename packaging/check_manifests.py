"""Checks what is written for containers: check_manifests.py PROGRAM, from the repository's root.

No image is built here. What can be said without a container engine is said: the files have the form that their tools want, name
settings that there are, and keep the promises that their comments make.
"""

import json
import re
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import jsonschema
import kubernetes_validate
import yaml

PACKAGING = Path("packaging")
KUBERNETES_VERSION = "1.34"
USER = 65532
PORT = 4242

wrong = []


def check(is_right, what):
    if not is_right:
        wrong.append(what)


def instructions(text):
    """The instructions of a Containerfile as (name, arguments), without comments and with continued lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def settings():
    """The variables that the program reads, by its own reference."""
    return set(re.findall(r"`(TILL_[A-Z0-9_]+)`", Path("docs/configuration.md").read_text()))


def check_variables(names, where):
    for name in names:
        check(name in settings(), f"{where}: {name} is no setting")


def check_configuration(program, text, where):
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        command = [program, "config", "--check", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{where}: {done.stderr.strip()}")


def version():
    return re.search(r'^version = "(.+)"$', Path("Cargo.toml").read_text(), re.MULTILINE).group(1)


def check_containerfile():
    where = "Containerfile"
    text = (PACKAGING / "Containerfile").read_text()
    steps = instructions(text)
    known = {"FROM", "COPY", "ENV", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT", "CMD"}
    check({name for name, _ in steps} <= known, f"{where}: an instruction that an image without a shell cannot have")
    bases = [arguments for name, arguments in steps if name == "FROM"]
    check(bases[-1] == "scratch", f"{where}: the last stage is from scratch")
    stages = {base.split(" AS ")[1] for base in bases if " AS " in base}
    final = steps[max(at for at, (name, _) in enumerate(steps) if name == "FROM") :]
    by_name = dict(final)
    for arguments in (arguments for name, arguments in final if name == "COPY"):
        stage = re.search(r"--from=(\S+)", arguments)
        source, to = [part for part in arguments.split() if not part.startswith("--")]
        check(to.startswith("/"), f"{where}: {to} is a path in full")
        check(stage is None or stage.group(1) in stages, f"{where}: no stage of that name: {arguments}")
        check(stage is not None or source == "till", f"{where}: {source} is not in target/dist")
    check(by_name["USER"] == f"{USER}:{USER}", f"{where}: not root, and by number, because there is no /etc/passwd")
    check(by_name["EXPOSE"] == str(PORT), f"{where}: port {PORT}")
    check(json.loads(by_name["ENTRYPOINT"]) == ["/usr/bin/till"], f"{where}: the program is the entry point")
    check(json.loads(by_name["CMD"]) == ["serve"], f"{where}: it serves")
    check(by_name["VOLUME"] == by_name["WORKDIR"] == "/var/lib/till", f"{where}: the books are in the volume")
    variables = dict(arguments.split("=", 1) for name, arguments in final if name == "ENV")
    check_variables(variables, where)
    check(f"till:{version()} " in text, f"{where}: the version is {version()}")


def check_compose(program):
    where = "compose.yaml"
    compose = yaml.safe_load((PACKAGING / "compose/compose.yaml").read_text())
    schema = json.loads(files("check_jsonschema").joinpath("builtin_schemas/vendor/compose-spec.json").read_text())
    for error in jsonschema.validators.validator_for(schema)(schema).iter_errors(compose):
        check(False, f"{where}: {error.json_path}: {error.message}")
    till = compose["services"]["till"]
    check(till["image"] == f"till:{version()}", f"{where}: the version is {version()}")
    check_variables(till["environment"], where)
    volumes = {mount.split(":")[0] for one in compose["services"].values() for mount in one.get("volumes", [])}
    named = {volume for volume in volumes if not volume.startswith(".")}
    check(named == set(compose["volumes"]), f"{where}: every volume is used, and every used one is named")
    for volume in volumes - named:
        check((PACKAGING / "compose" / volume).exists(), f"{where}: {volume} is not there")
    configuration = (PACKAGING / "compose/till.toml").read_text()
    subnet = compose["networks"]["default"]["ipam"]["config"][0]["subnet"]
    check(f'trusted_proxies = ["{subnet}"]' in configuration, f"{where}: the proxy's network is trusted")
    check_configuration(program, configuration, "compose/till.toml")


def check_kubernetes(program):
    where = "kubernetes/till.yaml"
    objects = list(yaml.safe_load_all((PACKAGING / "kubernetes/till.yaml").read_text()))
    for one in objects:
        try:
            kubernetes_validate.validate(one, KUBERNETES_VERSION, strict=True)
        except kubernetes_validate.ValidationError as error:
            check(False, f"{where}: {one['kind']}: {error.message}")
    by_kind = {one["kind"]: one for one in objects}
    pod = by_kind["Deployment"]["spec"]["template"]
    container = pod["spec"]["containers"][0]
    check(container["image"] == f"till:{version()}", f"{where}: the version is {version()}")
    check(pod["spec"]["securityContext"]["runAsUser"] == USER, f"{where}: the image's user")
    check(pod["spec"]["enableServiceLinks"] is False, f"{where}: no variables of the service")
    check_variables((variable["name"] for variable in container["env"]), where)
    labels = pod["metadata"]["labels"]
    for selector in (
        by_kind["Deployment"]["spec"]["selector"]["matchLabels"],
        by_kind["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        by_kind["Service"]["spec"]["selector"],
    ):
        check(selector == labels, f"{where}: {selector} selects the servers")
    ports = {port["name"] for port in container["ports"]}
    check(all(port["targetPort"] in ports for port in by_kind["Service"]["spec"]["ports"]), f"{where}: the service's port")
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    check(mounted == {volume["name"] for volume in pod["spec"]["volumes"]}, f"{where}: volumes and mounts")
    check_configuration(program, by_kind["ConfigMap"]["data"]["till.toml"], f"{where}: till.toml")


def main():
    program = sys.argv[1]
    check_containerfile()
    check_compose(program)
    check_kubernetes(program)
    for what in wrong:
        print(f"check-manifests: {what}", file=sys.stderr)
    if wrong:
        sys.exit(1)
    print("the Containerfile, compose.yaml and kubernetes/till.yaml are in order")


main()
