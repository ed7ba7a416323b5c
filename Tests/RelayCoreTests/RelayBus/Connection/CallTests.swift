import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayBus
import RelayWire

@Suite("Calls over a bus", .heavy) struct CallTests {
    let fixture: BusFixture
    init() throws { fixture = try BusFixture() }

    /// Collects what completions say.
    private final class Outcomes: Sendable {
        private let list = Mutex<[RelayError.Code?]>([])
        var codes: [RelayError.Code?] { list.withLock { $0 } }
        func add(_ result: Result<BusReply, RelayError>) { list.withLock { $0.append(result.code) } }
    }

    @Test("the bus gives a unique name, answers, and a wrong expectation of its answer is an error") func bus()
        async throws
    {
        let peer = try await fixture.peer()
        #expect(peer.name.hasPrefix(":1."))
        let reply = try await peer.connection.call(.toBus("GetId"))
        #expect(reply.sender == "org.freedesktop.DBus")
        #expect(try reply.read("s") { try $0.string() }.utf8.count == 32)
        let error = #expect(throws: RelayError.self) { try reply.read("u") { try $0.uint32() } }
        #expect(error?.code == .schemaMismatch)
    }
    @Test("a service that is not there, and a method that the bus lacks, are errors with the remote name")
    func remoteErrors() async throws {
        let peer = try await fixture.peer()
        let absent = await #expect(throws: RelayError.self) {
            try await peer.connection.call(.test("org.example.Absent"))
        }
        #expect(absent?.code == .unavailable && absent?.mayHaveRun == false)
        #expect((absent?.cause as? RemoteError)?.name == "org.freedesktop.DBus.Error.ServiceUnknown")
        let unknown = await #expect(throws: RelayError.self) { try await peer.connection.call(.toBus("NoSuchMethod")) }
        #expect(unknown?.code == .notFound)
    }
    @Test("bad names are refused before libdbus sees them, which would end the process")
    func badNames() async throws {
        let peer = try await fixture.peer()
        let bad = [
            MethodCall(to: "not a name", path: "/", interface: "a.b", member: "C"),
            MethodCall(to: "", path: "/", interface: "a.b", member: "C"),
            MethodCall(to: "a.b", path: "", interface: "a.b", member: "C"),
            MethodCall(to: "a.b", path: "/a/", interface: "a.b", member: "C"),
            MethodCall(to: "a.b", path: "/", interface: "", member: "C"),
            MethodCall(to: "a.b", path: "/", interface: "a\0.b", member: "C"),
            MethodCall(to: "a.b", path: "/", interface: "a.b", member: ""),
            MethodCall(to: "a.b", path: "/", interface: "a.b", member: "ü"),
            MethodCall(to: "a.b", path: "/", interface: "org.freedesktop.DBus.Local", member: "Disconnected"),
            // A signature that its body does not keep.
            MethodCall(to: "a.b", path: "/", interface: "a.b", member: "C", signature: try Signature("s"), body: [1]),
            MethodCall(to: "a.b", path: "/", interface: "a.b", member: "C", body: [1]),
            MethodCall(
                to: "a.b", path: "/", interface: "a.b", member: "C", signature: try Signature("b"), body: [2, 0, 0, 0]),
        ]
        for call in bad {
            let error = await #expect(throws: RelayError.self) { try await peer.connection.call(call) }
            #expect(error?.code == .invalidArgument && error?.mayHaveRun == false, "\(call)")
        }
        _ = try await peer.connection.call(.toBus("GetId"))
    }
    @Test("no answer in time is an error, and the late answer is a stray") func timeout() async throws {
        let (peer, silent) = (try await fixture.peer(), try await fixture.peer())
        let error = await #expect(throws: RelayError.self) {
            try await peer.connection.call(.test(silent.name), timeout: .milliseconds(20))
        }
        #expect(error?.code == .timedOut && error?.mayHaveRun == true)
        #expect(await eventually { silent.handler.all.calls.count == 1 })
        #expect(peer.connection.strayReplies == 0)
        silent.connection.reply(to: try #require(silent.handler.all.calls.first))
        #expect(await eventually { peer.connection.strayReplies == 1 })
    }
    @Test("a cancelled task's call ends at once, and one cancelled before is never sent") func cancellation()
        async throws
    {
        let (peer, silent) = (try await fixture.peer(), try await fixture.peer())
        let task = Task { try await peer.connection.call(.test(silent.name)) }
        #expect(await eventually { silent.handler.all.calls.count == 1 })
        task.cancel()
        let error = await #expect(throws: RelayError.self) { try await task.value }
        #expect(error?.code == .cancelled && error?.mayHaveRun == true)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await peer.connection.call(.test(silent.name))
        }
        let earlyError = await #expect(throws: RelayError.self) { try await early.value }
        #expect(earlyError?.code == .cancelled && earlyError?.mayHaveRun == false)
        // Whatever was sent before this has come by the time it is answered.
        _ = try await silent.connection.call(.toBus("GetId"))
        #expect(silent.handler.all.calls.count == 1)
    }
    @Test("cancellation, answer and timeout race without a call that ends twice or never") func races() async throws {
        let (peer, echo) = (try await fixture.peer(), try await fixture.echo())
        let (connection, name) = (peer.connection, echo.name)
        let codes = await withTaskGroup(of: RelayError.Code?.self) { group in
            for number in 0..<400 {
                let task = Task {
                    try await connection.call(.test(name), timeout: .microseconds(200 + 7 * number))
                }
                if number % 3 == 0 { task.cancel() }
                group.addTask {
                    await task.result.mapError { $0 as? RelayError ?? RelayError(.internalFailure, "\($0)") }.code
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count == 400)
        #expect(codes.allSatisfy { [nil, .cancelled, .timedOut].contains($0) })
    }
    @Test("a stranger who knows the serial cannot answer in another's place") func spoofedReply() async throws {
        let (peer, server, stranger) = (try await fixture.peer(), try await fixture.peer(), try await fixture.peer())
        let task = Task { try await peer.connection.call(.test(server.name)) }
        #expect(await eventually { server.handler.all.calls.count == 1 })
        let call = try #require(server.handler.all.calls.first)
        #expect(call.serial >= 0x8000_0000)
        let forged = MessageHeader.methodReturn(to: call.serial, destination: peer.name, signature: try Signature("s"))
        try stranger.connection.send(
            forged,
            body: wire {
                $0.uint32(0); $0.byte(0)
            })
        #expect(await eventually { peer.connection.strayReplies == 1 })
        server.connection.reply(to: call, try Signature("u"), body: wire { $0.uint32(7) })
        let reply = try await task.value
        #expect(reply.sender == server.name)
        #expect(try reply.read("u") { try $0.uint32() } == 7)
    }
    @Test("signals and replies come in the order in which they were sent") func order() async throws {
        let (peer, server) = (try await fixture.peer(), try await fixture.peer())
        let name = peer.name
        server.handler.onCall.withLock {
            $0 = { [weak server] call in
                try? server?.connection.send(.test(name, "Before"))
                server?.connection.reply(to: call)
                try? server?.connection.send(.test(name, "After"))
            }
        }
        for _ in 0..<200 {
            peer.connection.send(.test(server.name)) { [handler = peer.handler] _ in handler.note("reply") }
        }
        #expect(await eventually { peer.handler.signals.count == 400 })
        let order = peer.handler.all.order.filter { $0 != "NameAcquired" }
        #expect(order == Array(repeating: ["Before", "reply", "After"], count: 200).flatMap { $0 })
    }
    @Test("an answer that D-Bus cannot carry becomes an error answer, never silence") func unsendableAnswers()
        async throws
    {
        let (peer, server) = (try await fixture.peer(), try await fixture.peer())
        let text = try Signature("s")
        server.handler.onCall.withLock {
            $0 = { [weak server] call in
                switch call.member {
                case "Large": server?.connection.reply(to: call, text, body: [UInt8](repeating: 0, count: 2 << 20))
                case "Broken": server?.connection.reply(to: call, text, body: [1])
                case "BadName": server?.connection.fail(call, "not a name", "why")
                case "NUL": server?.connection.fail(call, "org.example.Error.Odd", "a\0b")
                default: server?.connection.fail(call, "org.example.Error.Odd", String(repeating: "x", count: 2 << 20))
                }
            }
        }
        let expected: [(String, String)] = [
            ("Large", "org.eventrelay.Error.TooLarge"), ("Broken", "org.eventrelay.Error.InvalidArgument"),
            ("BadName", "org.eventrelay.Error.Internal"), ("NUL", "org.example.Error.Odd"),
            ("Long", "org.example.Error.Odd"),
        ]
        for (member, name) in expected {
            let error = await #expect(throws: RelayError.self) {
                try await peer.connection.call(.test(server.name, member))
            }
            #expect((error?.cause as? RemoteError)?.name == name, "\(member)")
        }
    }
    @Test("a peer that is gone before it answers ends the call") func calleeLeaves() async throws {
        let (peer, server) = (try await fixture.peer(), try await fixture.peer())
        let task = Task { try await peer.connection.call(.test(server.name)) }
        #expect(await eventually { server.handler.all.calls.count == 1 })
        server.connection.close()
        let error = await #expect(throws: RelayError.self) { try await task.value }
        #expect(error?.code == .unavailable && error?.mayHaveRun == true)
    }
    @Test("a connection whose handler is gone refuses calls") func noHandler() async throws {
        let peer = try await fixture.peer()
        let deaf = try await BusConnection.connect(to: fixture.bus.bus, on: fixture.loop, handler: RecordingHandler())
        let error = await #expect(throws: RelayError.self) { try await peer.connection.call(.test(deaf.uniqueName)) }
        #expect(error?.code == .notFound)
        deaf.close()
    }

    enum Ending: CaseIterable { case killedBus, close, closeOnLoop, loopStop, release }
    @Test("every waiting call ends, once, however the connection ends", arguments: Ending.allCases)
    func endings(_ ending: Ending) async throws {
        let silent = try await fixture.peer()
        let loop = try BusLoop(name: "ending")
        let outcomes = Outcomes()
        var peer: BusFixture.Peer? = try await fixture.peer(on: loop)
        let handler = try #require(peer?.handler)
        for _ in 0..<100 { peer?.connection.send(.test(silent.name)) { outcomes.add($0) } }
        #expect(await eventually { silent.handler.all.calls.count == 100 })
        switch ending {
        case .killedBus: fixture.bus.process.signal(9)
        case .close: peer?.connection.close()
        case .closeOnLoop: loop.execute { [connection = peer?.connection] in connection?.close() }
        case .loopStop: loop.stop()
        case .release: peer = nil
        }
        #expect(await eventually { outcomes.codes.count >= 100 })
        #expect(outcomes.codes == Array(repeating: .unavailable, count: 100))
        if ending == .killedBus {
            #expect(await eventually { handler.all.disconnects.count == 1 })
        } else {
            #expect(handler.all.disconnects.isEmpty)
        }
        // Later ones end too, with nobody to serve them.
        if let peer {
            let error = await #expect(throws: RelayError.self) { try await peer.connection.call(.test(silent.name)) }
            #expect(error?.code == .unavailable && error?.mayHaveRun == false)
            #expect(throws: RelayError.self) { try peer.connection.send(.test(silent.name)) }
            #expect(peer.connection.outgoingBytes == 0)
        }
        #expect(outcomes.codes.count == 100)
        loop.stop()
    }
}
