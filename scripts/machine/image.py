"""A Debian with systemd, a system bus, polkit and sessions of users, as a folder, and as a disk with a kernel.

It has the users alice and bob, and the agent by which machine.py runs commands in it.
"""
import os
import pathlib
import shutil
import subprocess

import debian_root

HERE = pathlib.Path(__file__).resolve().parent
CACHE = debian_root.TOP / ".build/machine"
PACKAGES = [
    "systemd", "systemd-sysv", "udev", "dbus", "dbus-bin", "dbus-broker", "dbus-user-session", "libpam-systemd", "polkitd", "adduser",
    "passwd", "login", "libglib2.0-bin", "python3", "python3-dbus", "python3-gi", "sqlite3", "libsqlite3-0", "libexpat1", "libstdc++6",
    "procps", "psmisc", "kmod", "e2fsprogs", "initramfs-tools", "zstd",
    "linux-image-cloud-" + subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True).stdout.strip(),
]
MODULES = ["virtio_pci", "virtio_blk", "virtio_console", "ext4", "crc32c_generic"]


def inside(root, script):
    """Runs a script in the folder, without a systemd there. Only what fails is shown."""
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["mount", "-t", "proc", "proc", str(root / "proc")], check=True)
    try:
        result = subprocess.run(["chroot", str(root), "sh", "-euc", script], env=environment, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(f"{script}: {result.stdout}{result.stderr}")
    finally:
        subprocess.run(["umount", str(root / "proc")], check=True)


def new(release, place):
    """A machine of its own in that folder; only the first of a release takes minutes."""
    debian_root.copy(debian_root.root(release, "machine", PACKAGES), place)
    (place / "etc/fstab").write_text("/dev/vda / ext4 errors=remount-ro 0 1\n")
    (place / "etc/hostname").write_text("relay\n")
    (place / "etc/hosts").write_text("127.0.0.1 localhost relay\n")
    # Nothing is fetched in there: what it installs lies on its disk.
    (place / "etc/apt/sources.list").unlink(missing_ok=True)
    # The log survives a reboot, as on a Debian that the installer made.
    (place / "var/log/journal").mkdir(exist_ok=True)
    agent = place / "usr/local/lib/relay-agent.py"
    agent.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(HERE / "guest/agent.py", agent)
    shutil.copy2(HERE / "guest/relay-agent.service", place / "etc/systemd/system/relay-agent.service")
    inside(place, """
        for user in alice bob; do useradd --create-home --shell /bin/bash $user; done
        systemctl --quiet enable relay-agent.service
        # The package makes itself the bus of system and users. Here the first bus is dbus-daemon.
        systemctl --quiet disable dbus-broker.service
        systemctl --quiet --global disable dbus-broker.service
    """)
    return place


def disk(root, place, size=3 << 30):
    """The same as a disk, with its kernel and initrd, in the folder `place`."""
    modules = "\n".join(MODULES)
    # A small initrd starts faster.
    inside(root, f"""
        echo '{modules}' >>/etc/initramfs-tools/modules
        sed -i 's/^MODULES=.*/MODULES=list/' /etc/initramfs-tools/initramfs.conf
        update-initramfs -u
    """)
    for name, found in [("vmlinuz", root.glob("boot/vmlinuz-*")), ("initrd", root.glob("boot/initrd.img-*"))]:
        shutil.copyfile(sorted(found)[-1], place / name)
    image = place / "disk.ext4"
    image.unlink(missing_ok=True)
    with open(image, "wb") as file:
        os.truncate(file.fileno(), size)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-d", str(root), str(image)], check=True)
    return image
