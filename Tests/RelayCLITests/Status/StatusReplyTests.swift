import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("The reply of Status, read by all verbs alike", .computing, .tags(.g3, .g8)) struct StatusReplyTests {
    private static let subscriberTypes: [DBusType] = [.string, .array(.string), .string, .uint64]

    private func body(_ entries: [(String, DBusValue)]) throws -> [UInt8] {
        try Samples.body { writer in
            try writer.value(
                .dictionary(
                    .dictionary(.string, .variant), entries.map { .init(key: .string($0.0), value: .variant($0.1)) }),
                as: .dictionary(.string, .variant))
        }
    }
    private func subscribers(_ all: [StatusSubscriber]) -> DBusValue {
        .array(
            .structure(Self.subscriberTypes),
            all.map { one in
                .structure([
                    .string(one.peer), .array(.string, one.names.map { .string($0) }), .string(one.transport),
                    .uint64(one.sequence),
                ])
            })
    }
    private func read<Value>(_ bytes: [UInt8], _ read: (inout WireReader) throws -> Value) throws -> Value {
        try bytes.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return try read(&reader)
        }
    }

    @Test("the three readers find the same in one reply, and pass over what they do not know") func alike() throws {
        let all = [
            StatusSubscriber(peer: ":1.5", names: ["*"], transport: "ring", sequence: 12),
            StatusSubscriber(peer: ":1.6", names: ["A", "B"], transport: "signal", sequence: 0),
        ]
        let body = try body([
            ("Head", .uint64(17)), ("Odd", .array(.string, [.string("x")])), ("RingOpen", .boolean(true)),
            ("SignalsPaused", .uint64(1)), ("Subscribers", subscribers(all)), ("Events", .uint64(9)),
        ])
        let status = try read(body) { try ServiceStatus.read(&$0) }
        let top = try read(body) { try TopStatus.read(&$0) }
        let monitored = try read(body) { try MonitoredStatus.read(&$0) }
        #expect(status.subscribers == StatusSubscribers(all) && top.subscribers == StatusSubscribers(all))
        #expect(status.head == 17 && top.head == 17 && monitored.numbers["Head"] == 17)
        #expect(status.ringIsOpen && top.ringIsOpen == true && monitored.flags == ["RingOpen": true])
        // Of another type than expected: as if it were not there. For programs it stands as it came.
        #expect(!status.signalsPause && top.signalsPaused == nil && status.events == 9)
        #expect(status.entries.map(\.name) == ["Head", "Odd", "RingOpen", "SignalsPaused", "Subscribers", "Events"])
        #expect(String(decoding: status.entries[1].value, as: UTF8.self) == #"["x"]"#)
    }
    @Test("of more subscribers, names and entries than are kept, the first are kept, and subscribers are counted")
    func bounds() throws {
        let most = StatusSubscribers.most
        let all = (0..<most + 7).map {
            StatusSubscriber(peer: ":1.\($0)", names: [], transport: "ring", sequence: UInt64($0))
        }
        let top = try read(try body([("Subscribers", subscribers(all)), ("Head", .uint64(5))])) {
            try TopStatus.read(&$0)
        }
        #expect(top.subscribers?.listed == Array(all.prefix(most)) && top.subscribers?.count == most + 7)
        #expect(top.subscribers?.others == 7 && top.head == 5)

        let names = (0...StatusSubscribers.mostNames).map { "N\($0)" }
        let one = StatusSubscriber(peer: ":1.1", names: names, transport: "ring", sequence: 1)
        let found = try read(try body([("Subscribers", subscribers([one]))])) { try ServiceStatus.read(&$0) }
        #expect(found.subscribers.listed.first?.names == names.dropLast() && found.subscribers.others == 0)

        let entries = (0..<StatusReply.mostEntries).map { ("E\($0)", DBusValue.uint64(UInt64($0))) }
        let many = try body(entries + [("Head", .uint64(3))])
        #expect(try read(many) { try TopStatus.read(&$0) }.head == nil)
        #expect(try read(many) { try ServiceStatus.read(&$0) }.entries.count == StatusReply.mostEntries)
        #expect(try read(many) { try MonitoredStatus.read(&$0) }.numbers.count == StatusReply.mostEntries)
    }
    @Test("a page of more subscribers than are listed says how many more there are") func page() throws {
        var status = ServiceStatus()
        status.subscribers = StatusSubscribers([
            StatusSubscriber(peer: ":1.5", names: ["*"], transport: "ring", sequence: 0)
        ])
        status.subscribers.count = 3
        var output = ByteBuffer()
        StatusPage(style: OutputStyle(), now: 0) { _ in nil }
            .append([InterfaceStatus(interface: "a.b", isDurable: false, status: status)], of: "a", to: &output)
        #expect(output.text.contains("\nMore than 1 subscriber; none is known to be behind.\n"), "\(output.text)")
        #expect(output.text.contains("subscribers  3\n    :1.5  ring;"), "\(output.text)")
        #expect(output.text.hasSuffix("    and 2 more\n"), "\(output.text)")
    }
    @Test("a damaged reply is read, or refused, by all of them") func damaged() throws {
        var generator = SeededGenerator(seed: 15)
        let whole = try body([
            ("Head", .uint64(17)), ("RingOpen", .boolean(true)),
            (
                "Subscribers",
                subscribers([StatusSubscriber(peer: ":1.5", names: ["A"], transport: "ring", sequence: 12)])
            ),
        ])
        var refused = 0
        for _ in 0..<TestForm.rounds(2_000, soak: 200_000) {
            var bytes = whole
            for _ in 0...generator.below(3) { bytes[generator.below(bytes.count)] = UInt8(generator.below(256)) }
            if generator.below(4) == 0 { bytes.removeLast(generator.below(bytes.count)) }
            let top = try? read(bytes) { try TopStatus.read(&$0) }
            let status = try? read(bytes) { try ServiceStatus.read(&$0) }
            let monitored = try? read(bytes) { try MonitoredStatus.read(&$0) }
            if top == nil { refused += 1 }
            // That of `status` also reads values that others only skip.
            if let status { #expect(top?.head == status.head && monitored != nil) }
        }
        #expect(refused > 100)
    }
}
