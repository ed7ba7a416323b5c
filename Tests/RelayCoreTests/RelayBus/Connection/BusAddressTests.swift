import Testing

@testable import RelayBus

@Suite("Addresses of buses") struct BusAddressTests {
    private func address(_ bus: Bus, _ environment: [String: String] = [:], sockets: Set<String> = [])
        throws(RelayError)
        -> String
    {
        try bus.address(environment: { environment[$0] }, isSocket: { sockets.contains($0) })
    }

    @Test("the session bus is DBUS_SESSION_BUS_ADDRESS, before all else") func session() throws {
        let environment = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/x;tcp:host=y", "XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(try address(.session, environment, sockets: ["/run/user/7/bus"]) == "unix:path=/x;tcp:host=y")
    }
    @Test("else the socket in XDG_RUNTIME_DIR, escaped, if it is one") func runtimeDirectory() throws {
        #expect(
            try address(.session, ["XDG_RUNTIME_DIR": "/run/user/7"], sockets: ["/run/user/7/bus"])
                == "unix:path=/run/user/7/bus")
        #expect(
            try address(
                .session, ["XDG_RUNTIME_DIR": "/a b,c", "DBUS_SESSION_BUS_ADDRESS": ""], sockets: ["/a b,c/bus"])
                == "unix:path=/a%20b%2cc/bus")
    }
    @Test(
        "else there is none, and the error says what to do",
        arguments: [[:], ["XDG_RUNTIME_DIR": "/run/user/7"], ["XDG_RUNTIME_DIR": ""], ["XDG_RUNTIME_DIR": "relative"]])
    func none(environment: [String: String]) {
        let error = #expect(throws: RelayError.self) {
            try address(.session, environment, sockets: ["relative/bus", "/bus"])
        }
        #expect(error?.code == .unavailable && error?.message.contains("DBUS_SESSION_BUS_ADDRESS") == true)
    }
    @Test("the system bus is DBUS_SYSTEM_BUS_ADDRESS, else the well-known socket") func system() throws {
        #expect(try address(.system, ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/x"]) == "unix:path=/x")
        #expect(
            try address(.system, ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/y"])
                == "unix:path=/var/run/dbus/system_bus_socket")
        #expect(try address(.system, ["DBUS_SYSTEM_BUS_ADDRESS": ""]) == "unix:path=/var/run/dbus/system_bus_socket")
    }
    @Test("an address is taken as it is, and only the system bus has strangers") func explicit() throws {
        let bus = Bus.address("unix:abstract=z")
        #expect(try address(bus, ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"]) == "unix:abstract=z")
    }
    @Test("escapes all that D-Bus does not allow in a value") func escaping() {
        #expect(Bus.escaped(#"/a-Z_0.9\b"#) == #"/a-Z_0.9\b"#)
        #expect(Bus.escaped("% ,;='\"<&*ü\n") == "%25%20%2c%3b%3d%27%22%3c%26%2a%c3%bc%0a")
    }
}
