import Testing

@testable import RelayBus

@Suite("Addresses of buses") struct BusAddressTests {
    private func address(_ bus: Bus, _ environment: [String: String] = [:], sockets: Set<String> = [])
        throws(RelayError)
        -> String
    {
        try place(bus, environment, sockets: sockets).text
    }

    private func place(_ bus: Bus, _ environment: [String: String] = [:], sockets: Set<String> = [])
        throws(RelayError)
        -> BusAddress
    {
        try bus.place(environment: { environment[$0] }, isSocket: { sockets.contains($0) })
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
        #expect(
            error
                == RelayError(
                    .unavailable,
                    "no session bus: DBUS_SESSION_BUS_ADDRESS is not set, and XDG_RUNTIME_DIR has no socket 'bus'; "
                        + "log in to a session, start a bus (dbus-run-session), or name one by its address"))
    }

    @Test("a bus that nobody answers at is named with its address, what names that, and what to do")
    func unreachable() throws {
        func text(_ bus: Bus, _ environment: [String: String] = [:]) throws -> String {
            try place(bus, environment, sockets: ["/run/user/7/bus"]).unreachable("No such file or directory\n")
        }
        #expect(
            try text(.session, ["DBUS_SESSION_BUS_ADDRESS": "garbage"])
                == "no connection to the session bus at 'garbage' (DBUS_SESSION_BUS_ADDRESS): No such file or directory; "
                + "log in to a session, start a bus (dbus-run-session), or correct DBUS_SESSION_BUS_ADDRESS")
        #expect(
            try text(.session, ["XDG_RUNTIME_DIR": "/run/user/7"])
                == "no connection to the session bus at 'unix:path=/run/user/7/bus' (XDG_RUNTIME_DIR): No such file or "
                + "directory; log in to a session, or set DBUS_SESSION_BUS_ADDRESS to the address of a bus")
        #expect(
            try text(.system)
                == "no connection to the system bus at 'unix:path=/var/run/dbus/system_bus_socket': No such file or "
                + "directory; start the system bus (systemctl start dbus.socket)")
        #expect(
            try text(.system, ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/x"])
                == "no connection to the system bus at 'unix:path=/x' (DBUS_SYSTEM_BUS_ADDRESS): No such file or "
                + "directory; start the system bus, or correct DBUS_SYSTEM_BUS_ADDRESS")
        #expect(
            try text(.address("unix:path=/x"))
                == "no connection to the bus at unix:path=/x: No such file or directory; start a bus there, or correct "
                + "the address")
    }
    @Test("a bus that refuses is named with its address, the user whom it refuses, and what to do")
    func refused() throws {
        let end = RelayError(.unavailable, "the bus closed the connection")
        let error = RelayError(.unavailable, "Hello: \(end.message)", cause: end)
        func text(_ bus: Bus, _ environment: [String: String] = [:], _ other: RelayError? = nil) throws -> String {
            try place(bus, environment, sockets: ["/run/user/7/bus"]).refused(other ?? error, userID: 7)
        }
        #expect(
            try text(.session, ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"])
                == "the session bus at 'unix:path=/x' (DBUS_SESSION_BUS_ADDRESS) does not let user 7 in: the bus closed "
                + "the connection; run as the user whose bus it is, or set DBUS_SESSION_BUS_ADDRESS to a bus of your own"
        )
        #expect(
            try text(.session, ["XDG_RUNTIME_DIR": "/run/user/7"])
                == "the session bus at 'unix:path=/run/user/7/bus' (XDG_RUNTIME_DIR) does not let user 7 in: the bus "
                + "closed the connection; run as the user whose bus it is, or set DBUS_SESSION_BUS_ADDRESS to a bus of "
                + "your own")
        #expect(
            try text(.system)
                == "the system bus at 'unix:path=/var/run/dbus/system_bus_socket' does not let user 7 in: the bus "
                + "closed the connection; its configuration says who may connect")
        #expect(
            try text(.address("unix:path=/x"))
                == "the bus at unix:path=/x does not let user 7 in: the bus closed the connection; run as the user whose "
                + "bus it is, or name a bus of your own")
        #expect(
            try text(.address("unix:path=/x"), [:], RelayError(.timedOut, "Hello: no answer within 1.0 seconds"))
                == "the bus at unix:path=/x does not answer: Hello: no answer within 1.0 seconds; see whether its process "
                + "is stopped or busy")
        #expect(
            try text(.address("unix:path=/x"), [:], RelayError(.limitsExceeded, "Hello: too many"))
                == "the bus at unix:path=/x has no room for user 7: Hello: too many; close other connections, or raise its "
                + "limits")
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
