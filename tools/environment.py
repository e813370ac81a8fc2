"""Makes the virtual environment of the book: ``python3 tools/environment.py FOLDER FILE...``.

FOLDER is made if it is missing, of another Python or broken, and filled with what the requirement
FILEs pin.  uv does the work, in seconds; where it cannot be installed, pip does it in minutes.

This script runs on the reader's own Python, before anything is installed, so it keeps to the
standard library and to a syntax that Pythons too old for the book still read.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

OLDEST, NEWEST = (3, 11), (3, 13)


def refuse_other_pythons(version):
    """Exit with a message unless ``version`` (major, minor) is one that the requirements pin."""
    if OLDEST <= version <= NEWEST:
        return
    sys.exit(
        "The book needs Python {}.{} to {}.{}; {} is {}.{}.\n"
        "Name another one: make PYTHON=python3.11 …".format(
            *(OLDEST + NEWEST + (sys.executable or "this one",) + version)
        )
    )


def interpreter(folder):
    """The Python inside the environment."""
    windows = sys.platform == "win32"
    return str(Path(folder, *(("Scripts", "python.exe") if windows else ("bin", "python"))))


def works(python, version):
    """Whether ``python`` starts, is of that ``version`` and has pip."""
    code = "import pip, sys; print(sys.version_info[0], sys.version_info[1])"
    try:
        found = subprocess.check_output([python, "-c", code], stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return False
    return tuple(map(int, found.split())) == version


def pinned(package):
    """The line of requirements.txt that pins ``package``."""
    text = Path("requirements.txt").read_text(encoding="utf-8")
    found = re.search("^" + package + r"==[\w.]+", text, re.MULTILINE)
    if not found:
        sys.exit(f"requirements.txt does not pin {package}; make lock")
    return found.group()


def create(folder, version):
    """Make the environment unless a working one of this Python is there."""
    if works(interpreter(folder), version):
        return
    if subprocess.call([sys.executable, "-m", "venv", "--clear", folder]) != 0:
        sys.exit(
            "This Python cannot make a virtual environment. Debian and Ubuntu keep that part in\n"
            "a package of its own: apt-get install python3-venv"
        )


def install(folder, files):
    """Install the files' packages with uv, or with pip where uv cannot be had."""
    python = interpreter(folder)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    uv = [python, "-m", "uv", "pip", "install", "--quiet", "--python", python]
    if subprocess.call([*pip, pinned("uv")]) == 0:
        command = [*uv, "--compile-bytecode"]
    else:
        print("uv cannot be installed here; pip does the same, more slowly.", flush=True)
        command, files = pip, [without_uv(folder, name) for name in files]
    for name in files:
        command += ["-r", name]
    if subprocess.call(command) != 0:
        sys.exit("The packages could not be installed; the message above says why.")


def without_uv(folder, name):
    """A copy of a requirement file, kept in the environment, that does not ask for uv."""
    lines = Path(name).read_text(encoding="utf-8").splitlines()
    copy = Path(folder, name)
    copy.write_text("\n".join(line for line in lines if not line.startswith("uv==")))
    return str(copy)


def main():
    """Read the command line and make the environment."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    version = tuple(sys.version_info[:2])
    refuse_other_pythons(version)
    create(arguments.folder, version)
    install(arguments.folder, arguments.files)


if __name__ == "__main__":
    main()
