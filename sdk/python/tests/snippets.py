"""Makes a program of each piece of code in README.md, in a folder: the first by itself, each later one after the first."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def write(folder: Path) -> list[Path]:
    readme = Path(__file__).parent.parent / "README.md"
    first, *later = re.findall(r"```python\n(.*?)```", readme.read_text(), re.DOTALL)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for at, text in enumerate([first, *(f"{first}\n{one}" for one in later)], 1):
        files.append(folder / f"snippet_{at}.py")
        files[-1].write_text(text)
    return files


if __name__ == "__main__":
    write(Path(sys.argv[1]))
