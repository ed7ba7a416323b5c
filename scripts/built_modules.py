#!/usr/bin/python3
"""What the compiler's tools need to import the modules of a build: these, the C modules that they use, and libdbus's headers.

usage: scripts/built_modules.py [MODULES]     prints the flags, one a line; by default for .build/debug/Modules
"""
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEBUG = ROOT / ".build/debug/Modules"


def output(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def flags(modules=DEBUG):
    """Those of `swiftc`, and of swift-symbolgraph-extract."""
    modules = pathlib.Path(modules)
    folders = [modules, *(ROOT / "Sources" / name for name in ("CDBus", "CGLib", "CSQLite", "CSystemd"))]
    # As the build makes them, and as a folder of modules alone may have them.
    maps = sorted(modules.glob("../C*.build/module.modulemap")) + sorted(modules.glob("C*.modulemap"))
    result = [part for folder in folders for part in ("-I", str(folder))]
    for flag in [f"-fmodule-map-file={path}" for path in maps] + shlex.split(output("pkg-config", "--cflags-only-I", "dbus-1", "glib-2.0")):
        result += ["-Xcc", flag]
    return result


def extract_symbols(library, directory, *options, modules=DEBUG):
    """Writes the graphs of a library's public symbols into the directory; returns what went wrong, or nothing."""
    triple = json.loads(output("swiftc", "-print-target-info"))["target"]["triple"]
    run = subprocess.run(
        ["swift-symbolgraph-extract", "-module-name", library, "-target", triple, "-minimum-access-level", "public",
         "-skip-synthesized-members", *options, "-output-dir", str(directory), *flags(modules)], cwd=ROOT, capture_output=True, text=True)
    return (run.stderr.strip() or run.stdout.strip() or f"exit code {run.returncode}") if run.returncode else ""


if __name__ == "__main__":
    print("\n".join(flags(*sys.argv[1:])))
