"""A Debian of a given release in a folder of its own, made by debootstrap and kept: for what is tried beside this machine's own.

    debian_root.own_namespaces()                                            what is mounted and started ends with the program
    root = debian_root.root("trixie", "packaging", ["dbus", "systemd"])     a folder that has these packages; needs root
    debian_root.copy(root, folder)                                          each run changes a copy
    debian_root.packages(), bridge(), renumbered(…), files(root)            what `make deb` made, and what a package leaves

The packages come from where this machine's apt has its own, also those of the other release. The roots are kept in
.build/debian-roots, as RELEASE-NAME, and made again when their list of packages changes; what was downloaded is shared between them.
In a root, /etc/apt/sources.list names the same place, so `chroot ROOT apt-get install` works where /etc/resolv.conf is copied.
"""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
ROOTS = TOP / ".build/debian-roots"
UNPACKED = TOP / ".build/debian"
DEBS = TOP / ".build/deb"
# Those that are tried, the oldest first: what is built on the first runs on all.
RELEASES = {"bookworm": "12", "trixie": "13"}
# Documentation and translations are three quarters of what debootstrap writes.
LEFT_OUT = ["var/cache/apt/archives", "usr/share/locale", "usr/share/doc"]


class Unavailable(Exception):
    """What a root needs is not here; the text says what."""


def release(name):
    """The code name of a release, given as that or as its number."""
    for code, number in RELEASES.items():
        if name in (code, number):
            return code
    raise Unavailable(f"no release '{name}'; there are {', '.join(f'{code} ({number})' for code, number in RELEASES.items())}")


def own_namespaces(*more):
    """Runs this program again in namespaces of its own: what it starts and mounts ends with it. `more`: options of unshare."""
    words = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", *more]
    # By name: a program that another one of these starts gets its own.
    this = os.path.realpath(sys.argv[0])
    if os.environ.get("RELAY_OWN_NAMESPACES") == this:
        return
    result = subprocess.run([*words, "true"], capture_output=True, text=True)
    if result.returncode:
        raise Unavailable(f"there are no namespaces of one's own here: {result.stderr.strip()}")
    os.environ["RELAY_OWN_NAMESPACES"] = this
    os.execvp(words[0], [*words, sys.executable, *sys.argv])


def own_release():
    """The code name of this machine's release."""
    lines = pathlib.Path("/etc/os-release").read_text().splitlines()
    facts = dict(line.split("=", 1) for line in lines if "=" in line)
    return facts.get("VERSION_CODENAME", "").strip('"')


def from_here():
    """The releases on which a program runs that is built on this machine: its own and the later ones."""
    codes = list(RELEASES)
    return codes[codes.index(own_release()) if own_release() in codes else 0:]


def mirror():
    """Where this machine's apt has the main component of its own release from."""
    own = own_release()
    for attempt in range(2):
        lines = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)", "Created-By: Packages"],
            capture_output=True, text=True, check=True).stdout.splitlines()
        found = [line.split(" ", 2)[2] for line in lines if line.startswith(f"{own} main ")]
        if own and found:
            return found[0]
        # A fresh container has no lists, which say which release a line of sources.list is of.
        if attempt == 0:
            subprocess.run(["apt-get", "-q", "update"], stdin=subprocess.DEVNULL, capture_output=True)
    raise Unavailable(f"apt on this machine has no main component of its release '{own}', also after apt-get update")


def root(code, name, packages):
    """The folder of a Debian of that release with these packages, and what they depend on. The first call takes some minutes."""
    ROOTS.mkdir(parents=True, exist_ok=True)
    place = ROOTS / f"{code}-{name}"
    stamp = ROOTS / f"{code}-{name}.made"
    wanted = "".join(f"{package}\n" for package in sorted(packages))
    with open(ROOTS / f"{code}-{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if place.exists() and stamp.exists() and stamp.read_text() == wanted:
            return place
        stamp.unlink(missing_ok=True)
        debootstrap(code, place, packages)
        stamp.write_text(wanted)
    return place


def debootstrap(code, place, packages):
    """Makes the release with these packages in the folder. Its log is beside the folder; its end is shown where it fails."""
    program = shutil.which("debootstrap") or str(UNPACKED / "usr/sbin/debootstrap")
    environment = dict(os.environ)
    if program.startswith(str(UNPACKED)):
        environment["DEBOOTSTRAP_DIR"] = str(UNPACKED / "usr/share/debootstrap")
    archives = ROOTS / f"archives-{code}"
    archives.mkdir(parents=True, exist_ok=True)
    new = place.with_name(place.name + ".new")
    remove(new)
    log = place.with_name(place.name + ".log")
    words = [program, "--variant=minbase", f"--cache-dir={archives}"]
    words += [f"--include={','.join(packages)}"] if packages else []
    with open(log, "wb") as output:
        status = subprocess.run(
            [*words, code, str(new), mirror()], env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        ).returncode
    if status:
        lines = log.read_text(errors="replace").splitlines()
        raise Unavailable(f"debootstrap of {code} ended with {status}:\n" + "\n".join(lines[-15:]))
    for folder in LEFT_OUT:
        for entry in (new / folder).glob("*"):
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    remove(place)
    new.rename(place)


def copy(root, folder):
    """A copy of a root, in place of what is in the folder. Nothing may be mounted there."""
    remove(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", "--reflink=auto", str(root), str(folder)], check=True)


def remove(folder):
    # Never what is mounted below it.
    subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], check=True)


def first_screen():
    """The command lines of README's first screen for where the packages are installed and the user is in the group."""
    lines = re.findall(r"^    (relay-cli .*)$", (TOP / "README.md").read_text().split("\n## ")[0], flags=re.M)
    if len(lines) < 3 or not any(" call " in line for line in lines):
        sys.exit(f"README's first screen has {lines}")
    return lines


def packages():
    """Those of `make deb` that have programs, and run on each release."""
    return [deb for name in ["relay-cli", "relay-service"] for deb in sorted(DEBS.glob(f"{name}_*.deb"))]


def bridge():
    """The package of relay-bridge, and what it needs of Debian. It is for the release that it was built on: libnats has another name
    in each."""
    [deb] = DEBS.glob("relay-bridge_*.deb")
    depends = subprocess.run(["dpkg-deb", "-f", str(deb), "Depends"], check=True, capture_output=True, text=True).stdout
    return deb, re.findall(r"\b(libnats[0-9.]+|libssl[0-9a-z]+|libprotobuf-c[0-9]+)\b", depends)


def renumbered(folder, debs, version):
    """The same packages under another version's number, in the folder; returns their paths."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for deb in debs:
        content = folder / deb.name.split("_")[0]
        subprocess.run(["dpkg-deb", "-R", str(deb), str(content)], check=True)
        control = content / "DEBIAN/control"
        control.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {version}", control.read_text()))
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", "-b", str(content), str(folder / f"{content.name}.deb")], check=True,
            capture_output=True)
        shutil.rmtree(content)
    return sorted(folder.glob("*.deb"))


def files(root):
    """All files of the Debian that packages and their services could leave, but what each run of apt, dpkg and useradd changes."""
    changing = re.compile(
        r"(proc|sys|dev|run|tmp|home|srv|opt|var/(log|cache|tmp|mail|lib/dpkg|lib/apt|lib/dbus|lib/systemd/catalog)|root|debs)(/|$)"
        r"|etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$|etc/\.pwd\.lock$")
    found = set()
    for folder, folders, names in os.walk(root):
        relative = os.path.relpath(folder, root)
        relative = "" if relative == "." else relative + "/"
        folders[:] = [name for name in folders if not changing.match(relative + name)]
        found.update(relative + name for name in [*names, *folders] if not changing.match(relative + name))
    return found
