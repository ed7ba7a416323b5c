"""Orders boxes from several clients at once. Prints 'a LABEL BOX-ID' for each that was answered, 'b LABEL …' for each that was not.

usage: load.py RUN CLI-CLIENTS BUS-CLIENTS     the first by relay-cli, a process for each order; the others on a connection each
"""
import json
import subprocess
import sys
import threading
import time

import dbus
import dbus.bus

SERVICE, INTERFACE = "org.eventrelay.Service1", "org.eventrelay.Relocation1"
lock = threading.Lock()


def say(*words):
    with lock:
        print(*words, flush=True)


def by_cli(name):
    number = 0
    while True:
        number += 1
        label = f"{name}-{number}"
        result = subprocess.run(["relay-cli", "--system", "--service", SERVICE, "--json", "call", "OrderBox",
                                 f"label={label}", "capacity=10"], capture_output=True, text=True)
        if result.returncode:
            say("b", label, result.returncode, " ".join(result.stderr.split()))
            time.sleep(0.5)
        else:
            say("a", label, json.loads(result.stdout)["boxID"])


def by_bus(name):
    bus = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SYSTEM)
    number = 0
    while True:
        number += 1
        label = f"{name}-{number}"
        try:
            say("a", label, bus.call_blocking(SERVICE, "/org/eventrelay/Relocation1", INTERFACE, "OrderBox", "si",
                                              (label, 10), timeout=60))
        except dbus.DBusException as error:
            say("b", label, error.get_dbus_name(), " ".join(error.get_dbus_message().split()))
            time.sleep(0.5)


run, clients, connections = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
threads = [threading.Thread(target=by_cli, args=(f"{run}c{index}",)) for index in range(clients)]
threads += [threading.Thread(target=by_bus, args=(f"{run}b{index}",)) for index in range(connections)]
for thread in threads:
    thread.start()
