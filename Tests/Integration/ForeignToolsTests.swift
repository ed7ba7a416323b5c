import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// What the programs see that everybody has: busctl, gdbus, dbus-monitor, dbus-python.
@Suite("Plain D-Bus tools", .heavy, .tags(.g7)) struct ForeignToolsTests {
    private static let events: [(name: String, signature: String)] = [
        ("BoxProvisioned", "xisttt"), ("BoxRemoved", "xttt"), ("BoxRemovalFailed", "xsttt"),
        ("BoxItemsRedistributionFailed", "xttt"), ("ItemProvisioned", "xxsttt"), ("ItemMoved", "xxxttt"),
        ("ItemDistributionFailed", "sttt"), ("ItemRemoved", "xttt"), ("ItemRemovalFailed", "xxttt"),
    ]
    private static let commands: [(name: String, input: String, output: String)] = [
        ("OrderBox", "si", "x"), ("DistributeItem", "s", "xx"), ("RemoveBox", "x", "-"), ("RemoveItem", "xx", "-"),
        ("Contents", "a(xx)au", "tta(xis)a(xxs)a(xx)"),
    ]

    @Test("busctl introspect shows every event, command and property with its types")
    func busctlIntrospects() async throws {
        let service = try await LiveService.start()
        let outcome = try await service.run(
            "busctl", ["--address=\(service.address)", "introspect", LiveService.name, LiveService.object])
        #expect(outcome.code == 0, "\(outcome)")
        let rows = outcome.output.map { $0.split(separator: " ").map(String.init) }
        for event in Self.events {
            #expect(rows.contains { $0.prefix(3) == [".\(event.name)", "signal", event.signature] }, "\(event)")
        }
        for command in Self.commands {
            let row = [".\(command.name)", "method", command.input, command.output]
            #expect(rows.contains { $0.prefix(4) == row[...] }, "\(command)")
        }
        for (name, type) in [("Epoch", "t"), ("Durability", "s"), ("Sequence", "t")] {
            #expect(rows.contains { $0.prefix(3) == [".\(name)", "property", type] }, "\(name)")
        }
        #expect(rows.contains { $0.prefix(4) == [".Durability", "property", "s", "\"durable\""] }, "\(outcome)")
    }

    @Test("introspection names every argument of every event and command")
    func argumentsHaveNames() async throws {
        let service = try await LiveService.start()
        let outcome = try await service.run(
            "gdbus",
            ["introspect", "--address", service.address, "--dest", LiveService.name, "--object-path"]
                + [LiveService.object])
        #expect(outcome.code == 0, "\(outcome)")
        let text = outcome.output.joined(separator: "\n")
        // Each annotation ends its line.
        let bare = outcome.output.map { $0.replacing(/@org\.eventrelay\..*$/, with: "") }
        let words = bare.joined(separator: " ").split(separator: " ").joined(separator: " ")
            .replacing("( ", with: "(")
        for part in [
            "BoxProvisioned(x boxID, i capacity, s title, t sequence, t previous, t publishedAt);",
            "ItemMoved(x itemID, x fromBoxID, x toBoxID, t sequence, t previous, t publishedAt);",
            "OrderBox(in s label, in i capacity, out x boxID);",
            "DistributeItem(in s title, out x itemID, out x boxID);",
            "readonly s Durability = 'durable';",
        ] {
            #expect(words.contains(part), "\(part) is not in:\n\(text)")
        }
        // gdbus calls an argument without a name arg_0, arg_1, …
        #expect(!text.contains("arg_"), "\(text)")
    }

    @Test("the tree leads from / to the interface's object")
    func treeIsWalkable() async throws {
        let service = try await LiveService.start()
        let outcome = try await service.run(
            "busctl", ["--address=\(service.address)", "tree", "--list", LiveService.name])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.output == ["/", "/org", "/org/eventrelay", LiveService.object])
    }

    @Test("dbus-monitor prints an event's fields and stamp as native types")
    func monitorShowsTypes() async throws {
        let service = try await LiveService.start()
        let monitor = try RunningProgram(
            "dbus-monitor", ["--address", service.address, "type='signal',interface='\(LiveService.interface)'"])
        // A monitor is one when the bus has said so; until then it may miss what is sent.
        try await monitor.line(containing: "NameLost")
        #expect(try await service.orderBox("Küche", 20).code == 0)
        try await monitor.line(containing: "string \"Küche\"")
        let isWhole = await eventually {
            guard let start = monitor.output.firstIndex(where: { $0.contains("member=BoxProvisioned") }) else {
                return false
            }
            return monitor.output.count >= start + 7
        }
        #expect(isWhole)
        let lines = monitor.output
        let start = try #require(lines.firstIndex { $0.contains("member=BoxProvisioned") })
        #expect(lines[start].contains("path=\(LiveService.object); interface=\(LiveService.interface)"))
        let arguments = lines[(start + 1)...].prefix(6).map { $0.split(separator: " ").map(String.init) }
        #expect(
            arguments.prefix(5) == [
                ["int64", "1"], ["int32", "20"], ["string", "\"Küche\""], ["uint64", "1"], ["uint64", "0"],
            ])
        #expect(arguments.last?.first == "uint64")
        _ = await monitor.terminate()
    }

    @Test("gdbus and busctl get the same replies and the same error names")
    func toolsAgree() async throws {
        let service = try await LiveService.start()
        func gdbus(_ method: String, _ arguments: String...) async throws -> RunningProgram.Outcome {
            try await service.run(
                "gdbus",
                [
                    "call", "--address", service.address, "--dest", LiveService.name, "--object-path",
                    LiveService.object, "--method", "\(LiveService.interface).\(method)",
                ] + arguments)
        }
        func busctl(_ method: String, _ arguments: String...) async throws -> RunningProgram.Outcome {
            try await service.run(
                "busctl",
                [
                    "--address=\(service.address)", "call", LiveService.name, LiveService.object,
                    LiveService.interface, method,
                ] + arguments)
        }
        #expect(try await gdbus("OrderBox", "Kitchen", "10").output == ["(int64 1,)"])
        #expect(try await busctl("OrderBox", "si", "Hall", "5").output == ["x 2"])
        #expect(try await gdbus("DistributeItem", "Kettle").output == ["(int64 1, int64 1)"])
        #expect(try await busctl("DistributeItem", "s", "Umbrella").output == ["xx 2 2"])
        #expect(
            try await gdbus("Contents", "[]", "[]").output.joined().hasSuffix(
                ", uint64 4, [(int64 1, 10, 'Kitchen'), (2, 5, 'Hall')], "
                    + "[(int64 1, int64 1, 'Kettle'), (2, 2, 'Umbrella')], @a(xx) [])"))
        // The second page of two.
        #expect(
            try await busctl("Contents", "a(xx)au", "1", "2", "1", "1", "5").output.joined().hasSuffix(
                " 4 0 1 2 2 \"Umbrella\" 0"))

        let refused = try await gdbus("OrderBox", "Attic", "7")
        #expect(refused.code == 1)
        let message = "a box has a capacity of 5, 10 or 20, not 7"
        #expect(refused.errors.joined().contains("\(LiveService.interface).Error.InvalidCapacity: \(message)"))
        let refusedToo = try await busctl("OrderBox", "si", "Attic", "7")
        #expect(refusedToo.code == 1)
        #expect(refusedToo.errors.joined().contains(message), "\(refusedToo)")
        // busctl shows the error's text, dbus-send its name.
        let named = try await service.run(
            "dbus-send",
            [
                "--bus=\(service.address)", "--print-reply", "--dest=\(LiveService.name)", LiveService.object,
                "\(LiveService.interface).OrderBox", "string:Attic", "int32:7",
            ])
        #expect(named.errors.joined().contains("Error \(LiveService.interface).Error.InvalidCapacity: \(message)"))
    }

    @Test("an unknown method, object and interface, and wrong arguments, have the bus's own error names")
    func standardErrors() async throws {
        let service = try await LiveService.start()
        func error(_ object: String, _ method: String, _ arguments: String...) async throws -> String {
            let outcome = try await service.run(
                "dbus-send",
                ["--bus=\(service.address)", "--print-reply", "--dest=\(LiveService.name)", object, method]
                    + arguments)
            return outcome.errors.joined().split(separator: ":").first.map(String.init) ?? "\(outcome)"
        }
        let standard = "Error org.freedesktop.DBus.Error."
        #expect(try await error(LiveService.object, "\(LiveService.interface).OrderBx") == standard + "UnknownMethod")
        #expect(try await error("/elsewhere", "\(LiveService.interface).OrderBox") == standard + "UnknownObject")
        #expect(try await error(LiveService.object, "org.example.No.OrderBox") == standard + "UnknownInterface")
        let wrong = try await error(LiveService.object, "\(LiveService.interface).OrderBox", "int32:7")
        #expect(wrong == standard + "InvalidArgs")
    }

    @Test("a client in Python calls commands and gets typed events, with nothing of ours")
    func pythonClient() async throws {
        let service = try await LiveService.start()
        let outcome = try await service.run(
            "/usr/bin/python3", [Programs.sources + "/dbus_python_client.py", service.address])
        #expect(outcome.code == 0, "\(outcome)")
        let lines = outcome.output
        #expect(lines.contains(#"{"boxID": ["Int64", 1]}"#), "\(outcome)")
        let refusal = "{\"error\": \"\(LiveService.interface).Error.InvalidCapacity\", "
        #expect(lines.contains { $0.hasPrefix(refusal) }, "\(outcome)")
        #expect(lines.contains(#"{"reply": [["Int64", 1], ["Int64", 1]]}"#), "\(outcome)")
        let box =
            #"{"event": "BoxProvisioned", "arguments": [["Int64", 1], ["Int32", 10], ["String", "K\u00fcche"], "#
            + #"["UInt64", 1], ["UInt64", 0], ["UInt64", "#
        #expect(lines.contains { $0.hasPrefix(box) }, "\(outcome)")
        let item =
            #"{"event": "ItemProvisioned", "arguments": [["Int64", 1], ["Int64", 1], ["String", "Kettle"], "#
            + #"["UInt64", 2], ["UInt64", 0], ["UInt64", "#
        #expect(lines.contains { $0.hasPrefix(item) }, "\(outcome)")
    }
}
