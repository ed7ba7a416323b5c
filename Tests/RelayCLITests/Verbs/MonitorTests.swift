import RelayCore
import RelayTool
import Synchronization
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("monitor", .tags(.g8))
struct MonitorTests {
    private static let service = "org.eventrelay.Service1"
    private static let interface = "org.eventrelay.Relocation1"
    private static let path = "/org/eventrelay/Relocation1"
    /// 09:15:04.000
    private static let start: UInt64 = 1_795_166_104_000_000

    private struct Run {
        var printer: MonitorPrinter
        var output = ByteBuffer()
        /// Of messages that are a millisecond apart.
        var now = MonitorTests.start

        init(json: Bool = false, all: Bool = false, owner: String? = ":1.5", learns: Bool = true) throws {
            printer = MonitorPrinter(
                service: MonitorTests.service, all: all, style: OutputStyle(json: json), clock: EventClock { _ in 0 },
                isUTF8: true)
            printer.owner = owner
            if learns { printer.learn(try Samples.catalogue()) }
        }
        @discardableResult mutating func take(_ message: MonitoredMessage) -> Bool {
            defer { now += 1_000 }
            return printer.take(message, now: now, to: &output)
        }
    }
    private func call(
        _ member: String, interface: String = Self.interface, to destination: String = Self.service,
        from sender: String = ":1.9", serial: UInt32 = 4, _ signature: String = "",
        _ write: (inout WireWriter) throws -> Void = { _ in }
    ) throws -> MonitoredMessage {
        var message = MonitoredMessage(.methodCall)
        (message.sender, message.destination, message.serial) = (sender, destination, serial)
        (message.path, message.interface, message.member) = (Self.path, interface, member)
        (message.signature, message.body) = (signature, try Samples.body(write))
        return message
    }
    private func reply(
        to destination: String = ":1.9", serial: UInt32 = 4, error: String? = nil, from sender: String = ":1.5",
        _ signature: String = "", _ write: (inout WireWriter) throws -> Void = { _ in }
    ) throws -> MonitoredMessage {
        var message = MonitoredMessage(error == nil ? .methodReturn : .error)
        (message.sender, message.destination, message.replySerial) = (sender, destination, serial)
        (message.errorName, message.signature, message.body) = (error, signature, try Samples.body(write))
        return message
    }
    private func signal(_ sequence: UInt64, from sender: String = ":1.5", title: String = "Kitchen") throws
        -> MonitoredMessage
    {
        let event = try Samples.boxProvisioned(sequence, title: title)
        var message = MonitoredMessage(.signal)
        (message.sender, message.path, message.interface, message.member) = (
            sender, Self.path, event.interface, event.name
        )
        (message.signature, message.body) = (event.signature, event.body)
        return message
    }
    private func order(_ serial: UInt32 = 4, to destination: String = Self.service) throws -> MonitoredMessage {
        try call("OrderBox", to: destination, serial: serial, "si") {
            try $0.string("Kitchen")
            $0.int32(10)
        }
    }
    private func ownerChange(_ owner: String) throws -> MonitoredMessage {
        var message = MonitoredMessage(.signal)
        (message.sender, message.interface) = ("org.freedesktop.DBus", "org.freedesktop.DBus")
        (message.member, message.signature) = ("NameOwnerChanged", "sss")
        message.body = try Samples.body { writer in
            for text in [Self.service, ":1.5", owner] { try writer.string(text) }
        }
        return message
    }

    @Test("events, calls, replies with their times, refusals and errors, by the names of the service's description")
    func people() throws {
        var run = try Run()
        run.take(try order())
        run.take(try signal(17))
        run.take(try reply("x") { $0.int64(3) })
        run.take(try order(5, to: ":1.5"))
        run.take(try reply(serial: 5, error: Self.interface + ".Error.NoRoom", "s") { try $0.string("no room") })
        run.take(try order(6))
        run.take(try reply(serial: 6, error: "org.freedesktop.DBus.Error.Failed"))
        run.take(try ownerChange(""))
        #expect(
            run.output.text == """
                09:15:04.000 call     OrderBox from :1.9: label="Kitchen" capacity=10
                09:15:04.001 event    #17 BoxProvisioned: boxID=3 capacity=10 title="Kitchen"
                09:15:04.002 reply    OrderBox to :1.9 in 2.0 ms: boxID=3
                09:15:04.003 call     OrderBox from :1.9: label="Kitchen" capacity=10
                09:15:04.004 refusal  OrderBox to :1.9 in 1.0 ms: org.eventrelay.Relocation1.Error.NoRoom: no room
                09:15:04.005 call     OrderBox from :1.9: label="Kitchen" capacity=10
                09:15:04.006 error    OrderBox to :1.9 in 1.0 ms: org.freedesktop.DBus.Error.Failed
                09:15:04.007 owner    org.eventrelay.Service1 went away

                """)
        #expect(run.printer.printed == 8)
    }
    @Test("as JSON, an object a line") func json() throws {
        var run = try Run(json: true)
        run.take(try order())
        run.take(try signal(17))
        run.take(try reply("x") { $0.int64(3) })
        run.take(try order(5))
        run.take(try reply(serial: 5, error: "a.b", "s") { try $0.string("no\u{1B}") })
        #expect(run.take(try ownerChange(":1.6")))
        #expect(
            run.output.text == #"""
                {"kind":"call","time":"2026-11-20T09:15:04.000000Z","interface":"org.eventrelay.Relocation1","name":"OrderBox","from":":1.9","fields":{"label":"Kitchen","capacity":10}}
                {"kind":"event","time":"2026-11-20T09:15:04.001000Z","interface":"org.eventrelay.Relocation1","name":"BoxProvisioned","sequence":17,"publishedAt":"2026-11-20T09:15:04.123456Z","fields":{"boxID":3,"capacity":10,"title":"Kitchen"}}
                {"kind":"reply","time":"2026-11-20T09:15:04.002000Z","interface":"org.eventrelay.Relocation1","name":"OrderBox","to":":1.9","microseconds":2000,"fields":{"boxID":3}}
                {"kind":"call","time":"2026-11-20T09:15:04.003000Z","interface":"org.eventrelay.Relocation1","name":"OrderBox","from":":1.9","fields":{"label":"Kitchen","capacity":10}}
                {"kind":"error","time":"2026-11-20T09:15:04.004000Z","interface":"org.eventrelay.Relocation1","name":"OrderBox","to":":1.9","microseconds":1000,"error":"a.b","message":"no\u001b"}
                {"kind":"owner","time":"2026-11-20T09:15:04.005000Z","service":"org.eventrelay.Service1","owner":":1.6"}

                """#)
    }
    @Test("a signal that the owner did not send, a reply that nobody awaits, and calls of others show nothing")
    func foreign() throws {
        var run = try Run()
        run.take(try signal(1, from: ":1.66"))
        run.take(try reply("x") { $0.int64(3) })
        run.take(try call("Hello", to: "org.freedesktop.DBus"))
        run.take(try order())
        run.take(try reply(from: ":1.66", "x") { $0.int64(3) })
        run.take(try reply(to: ":1.10", "x") { $0.int64(3) })
        #expect(run.output.text.split(separator: "\n").count == 1)
    }
    @Test("machinery is shown with --all only; what nothing is known of, by its types") func machinery() throws {
        let status = try call("Status", interface: Stream1.name)
        for all in [false, true] {
            var run = try Run(all: all)
            run.take(status)
            run.take(
                try call("Get", interface: "org.freedesktop.DBus.Properties", serial: 5, "s") { try $0.string("x") })
            #expect(
                run.output.text
                    == (all
                        ? "09:15:04.000 call     org.eventrelay.Stream1.Status from :1.9\n"
                            + "09:15:04.001 call     org.freedesktop.DBus.Properties.Get from :1.9: arg0=\"x\"\n" : ""))
        }
        var unknown = try Run(learns: false)
        unknown.take(try order())
        #expect(
            unknown.output.text
                == "09:15:04.000 call     org.eventrelay.Relocation1.OrderBox from :1.9: arg0=\"Kitchen\" arg1=10\n")
    }
    @Test("bodies that do not fit, and calls without end, cost lines and nothing else") func hostile() throws {
        var run = try Run()
        var cut = try signal(1)
        cut.body = [1, 2, 3]
        run.take(cut)
        var lying = try order()
        lying.body = [0xFF, 0xFF, 0xFF, 0xFF]
        run.take(lying)
        for serial: UInt32 in 10..<10_010 { run.take(try order(serial)) }
        run.take(try reply(serial: 10_009, "x") { $0.int64(3) })
        let lines = run.output.text.split(separator: "\n")
        #expect(lines.count == 10_003 && lines.allSatisfy { $0.hasPrefix("09:15:") })
        #expect(lines[0] == "09:15:04.000 signal   BoxProvisioned: arg0=… …" || lines[0].hasSuffix(" …"), "\(lines[0])")
        #expect(lines.last?.contains("reply    OrderBox to :1.9 in 1.0 ms: boxID=3") == true)
    }
    @Test("a bus that does not permit it is code 77, and says what else there is") func notPermitted() async {
        let (notes, pipe) = (Notes(), TestPipe())
        let output = pipe.writing
        let peer = FakePeer { call throws(RelayError) in throw FakePeer.refusal("Failed", "no", calling: call) }
        let code = await WaitingThread.run {
            guard let wakeup = try? Wakeup() else { return ExitCode.software }
            var tool = Tool.tested(output: output, notes, wakeup: wakeup, peer: peer) { _, _, _, _, _ in
                FakeFollowed(FakeService())
            }
            tool.facts.userID = 1_000
            tool.openMonitor = { (_, _, _) throws(RelayError) in
                throw RelayError(.notPermitted, "BecomeMonitor: rejected by policy")
            }
            return tool.run(["monitor"])
        }.value
        pipe.closeWriting()
        #expect(code == .notPermitted)
        #expect(
            notes.lines.withLock { $0 } == [
                "the session bus does not let user 1000 monitor it (BecomeMonitor: rejected by policy); run it as "
                    + "root or as the bus's user, or use 'watch', which needs no such permission"
            ])
        #expect(await pipe.readAll().isEmpty)
    }
}
